"""Pascal VOC: an XML file for each picture, JPEGImages/ Annotations/ ImageSets/, or side by side.

Corners are taken as they stand, though the first VOC sets count pixels from 1: most tools that write the
format count from 0.
"""

from pathlib import Path, PurePosixPath

from cascade.dataset.folder import Folder, part_of
from cascade.dataset.markup import Element, read_elements, root_tag
from cascade.dataset.numbers import flag, number
from cascade.dataset.sample import UNNAMED, Box, Sample

MOST_BYTES = 1 << 24
LOOKED_AT = 20  # files, to see whether they are VOC's
LISTS = {"trainval": "train", "train": "train", "val": "valid", "test": "test"}
CORNERS = ("xmin", "ymin", "xmax", "ymax")


def recognise(folder: Folder) -> str | None:
    for name in _annotations(folder)[:LOOKED_AT]:
        if root_tag(folder.start(name)) == "annotation":
            return f"{name} and others are Pascal VOC annotations"
    return None


def read(folder: Folder) -> list[Sample]:
    parts = _lists(folder)
    samples, left_out = [], 0
    for name in _annotations(folder):
        part = parts.get(PurePosixPath(name).stem) if parts else part_of(*_parents(name))
        if part is None:
            left_out += 1
            continue
        with folder.reporting(name, loss="the picture is left out"):
            samples.append(_read_file(folder, name, part))
    if left_out:
        what = f"{left_out} annotated pictures are in none of its lists and are left out"
        folder.report(folder.root / "ImageSets", what)
    return samples


def _annotations(folder: Folder) -> list[str]:
    """XML files in a folder of annotations, or else all."""
    names = folder.annotations(".xml", deepest=3)
    return [name for name in names if "annotations" in name.lower().split("/")[:-1]] or names


def _parents(name: str) -> list[str]:
    return [parent.name for parent in PurePosixPath(name).parents]


def _lists(folder: Folder) -> dict[str, str]:
    """Which part each picture is in, by ImageSets/Main/train.txt and its like; the later part counts."""
    parts: dict[str, str] = {}
    for stem, part in LISTS.items():
        for name in folder.files:
            if name.endswith(f"ImageSets/Main/{stem}.txt"):
                lines = folder.text(name, MOST_BYTES).split("\n")
                parts |= {line.split()[0]: part for line in lines if line.strip()}
    return parts


def _read_file(folder: Folder, name: str, part: str) -> Sample:
    data = folder.raw(name, MOST_BYTES)
    roots = read_elements(data, "annotation")
    if len(roots) != 1:
        raise ValueError("expected one <annotation>")
    path = _picture(folder, name, roots[0].value("filename"))
    size = roots[0].child("size")
    if size is not None:
        folder.declare(path, size.value("width"), size.value("height"))
    boxes = []
    objects = [child for child in roots[0].children if child.tag == "object"]
    for place, element in enumerate(objects, 1):
        with folder.reporting(name, f"object {place}: "):
            boxes.append(_box(element))
    return Sample(path, tuple(boxes), part)


def _box(element: Element) -> Box:
    corners = element.child("bndbox")
    if corners is None:
        raise ValueError("expected a <bndbox>")
    left, top, right, bottom = (number(corners.value(tag)) for tag in CORNERS)
    ignore = flag(element.value("difficult")) or flag(element.value("ignore"))
    return Box(left, top, right - left, bottom - top, element.value("name") or UNNAMED, ignore)


def _picture(folder: Folder, name: str, filename: str) -> Path:
    """The picture: by the name in the file, else by the name of the file."""
    home = PurePosixPath(name).parent
    bases = [str(base) for base in (home.parent / "JPEGImages", home.parent / "images", home, home.parent)]
    found = folder.find(filename, bases)
    if found is None:
        same = folder.by_stem.get(PurePosixPath(name).stem, ())
        found = next((folder.root / one for one in same if str(PurePosixPath(one).parent) in bases), None)
    return folder.picture(filename, bases) if found is None else found
