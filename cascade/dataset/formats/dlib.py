"""dlib's imglab: one XML file with a list of images and the boxes in each.

Some sets come with a second file for the same pictures, with landmarks and slightly other boxes. Taking both
would count objects twice, so the first file that lists a picture has the say.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from cascade.dataset.folder import Folder, part_of
from cascade.dataset.markup import Element, read_elements, root_tag
from cascade.dataset.numbers import flag, number
from cascade.dataset.sample import UNNAMED, Box, Sample

MOST_BYTES = 1 << 26
SIDES = ("left", "top", "width", "height")


def recognise(folder: Folder) -> str | None:
    names = _lists(folder)
    return f"{', '.join(names)}: dlib's image lists" if names else None


def read(folder: Folder) -> list[Sample]:
    samples: dict[Path, Sample] = {}
    for name in _lists(folder):
        with folder.reporting(name):
            found = list(_read_list(folder, name))
            again = sum(sample.path in samples for sample in found)
            if again:
                what = f"{again} of its pictures are in an earlier list, which has the say"
                folder.report(folder.root / name, what)
            samples = {sample.path: sample for sample in found} | samples
    return list(samples.values())


def _read_list(folder: Folder, name: str) -> Iterator[Sample]:
    for element in read_elements(folder.raw(name, MOST_BYTES), "image"):
        with folder.reporting(name):
            yield _sample(folder, name, element)


def _lists(folder: Folder) -> list[str]:
    return [name for name in folder.annotations(".xml") if root_tag(folder.start(name)) == "dataset"]


def _sample(folder: Folder, name: str, element: Element) -> Sample:
    file = element.attributes.get("file", "")
    home = PurePosixPath(name)
    path = folder.picture(file, (str(home.parent), ""))
    folder.declare(path, element.attributes.get("width"), element.attributes.get("height"))
    boxes = []
    for child in element.children:
        if child.tag == "box":
            with folder.reporting(name, f"{file}: "):
                boxes.append(_box(child))
    return Sample(path, tuple(boxes), part_of(home.stem, *(parent.name for parent in home.parents)))


def _box(element: Element) -> Box:
    x, y, width, height = (number(element.attributes.get(side, "")) for side in SIDES)
    ignore = any(flag(element.attributes.get(word, "0")) for word in ("ignore", "difficult"))
    return Box(x, y, width, height, element.value("label") or UNNAMED, ignore)
