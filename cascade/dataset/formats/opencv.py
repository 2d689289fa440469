"""OpenCV: info.txt with lines `path n x y w h ...`, bg.txt with a path a line, and .vec files of crops.

Unlike with OpenCV's own tools, names may have spaces, an empty line ends nothing, and nobody needs to say how
many crops a .vec holds or how wide they are.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cascade.dataset.folder import Folder, part_of
from cascade.dataset.images import ImageError
from cascade.dataset.numbers import number
from cascade.dataset.roles import NEGATIVE, role
from cascade.dataset.sample import UNNAMED, Box, Sample
from cascade.dataset.vec import guess_shape, read_head

MOST_BYTES = 1 << 26
ENDINGS = (".txt", ".dat", ".lst", ".info", ".bg")
NUMBERS = re.compile(r"-?[0-9]{1,9}")


def recognise(folder: Folder) -> str | None:
    lists, vecs = _lists(folder), folder.annotations(".vec")
    if not lists and not vecs:
        return None
    what = "boxes listed" if lists else "crops"
    return f"{', '.join(lists or vecs)}: {what} as OpenCV's tools have them"


def read(folder: Folder) -> list[Sample]:
    samples: list[Sample] = []
    lists = _lists(folder)
    for name in lists:
        with folder.reporting(name):
            samples += _read_list(folder, name)
    for name in [] if lists else folder.annotations(".vec"):  # a .vec is made from a list
        with folder.reporting(name):
            samples += _read_vec(folder, name)
    backgrounds = _backgrounds(folder)
    for name in backgrounds:
        with folder.reporting(name):
            samples += _read_background(folder, name)
    if not backgrounds:
        taken = {sample.path for sample in samples}
        paths = (folder.root / name for name in folder.pictures() if role(name) == -1)
        samples += [Sample(path) for path in paths if path not in taken]
    return samples


def _lists(folder: Folder) -> list[str]:
    """Files whose first line is a picture and its boxes."""
    return [name for name in folder.annotations(*ENDINGS) if _starts_with(folder, name, boxes=True)]


def _backgrounds(folder: Folder) -> list[str]:
    """Files named like negatives, whose first line is a picture; also beside the one file the user named."""
    names = [name for name in folder.files if name.lower().endswith(ENDINGS) and name.count("/") < 2]
    named = [name for name in names if _words(name) & NEGATIVE]
    return [name for name in named if _starts_with(folder, name, boxes=False)]


def _words(name: str) -> set[str]:
    path = PurePosixPath(name)
    return set(re.findall("[a-z]+", path.stem.lower()))


def _starts_with(folder: Folder, name: str, boxes: bool) -> bool:
    lines = folder.start(name).decode("utf-8-sig", "replace").splitlines()
    line = next((line for line in lines if _says_something(line)), "")
    file = line.strip()
    if boxes:
        entry = _entry(line)
        if entry is None:
            return False
        file = entry[0]
    try:
        folder.picture(file, _bases(name))
    except ValueError:
        return False
    return True


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _bases(name: str) -> tuple[str, str]:
    return str(PurePosixPath(name).parent), ""


def _entry(line: str) -> tuple[str, list[str]] | None:
    """The path and the numbers of its boxes; the path may have spaces, so it ends where the count fits."""
    words = line.split()
    numbers = 0
    while numbers < len(words) and NUMBERS.fullmatch(words[-1 - numbers]):
        numbers += 1
    for at in range(max(1, len(words) - numbers), len(words)):
        if words[at].isdecimal() and int(words[at]) * 4 == len(words) - at - 1:
            return " ".join(words[:at]), words[at + 1 :]
    return None


def _read_list(folder: Folder, name: str) -> Iterator[Sample]:
    for place, line in enumerate(folder.text(name, MOST_BYTES).splitlines(), 1):
        if not _says_something(line):
            continue
        with folder.reporting(name, f"line {place}: "):
            entry = _entry(line)
            if entry is None:
                raise ValueError("expected a path, how many boxes, and x y w h of each")
            path = folder.picture(entry[0], _bases(name))
            values = [number(text) for text in entry[1]]
            sides = zip(*(values[i::4] for i in range(4)), strict=True)
            yield Sample(path, tuple(Box(x, y, w, h, UNNAMED) for x, y, w, h in sides), _part(name))


def _read_vec(folder: Folder, name: str) -> Iterator[Sample]:
    path = folder.root / name
    if not folder.inside(path):
        raise ValueError("is a link that leads out of the data folder: copy the file into it")
    try:
        count, _ = read_head(path)
        width, height = guess_shape(path)
    except ImageError as error:
        raise ValueError(error.sentence) from None
    box = Box(0.0, 0.0, float(width), float(height), UNNAMED)
    part = _part(name)
    return (Sample(path, (box,), part, crop=True, frame=i) for i in range(count))


def _read_background(folder: Folder, name: str) -> Iterator[Sample]:
    for place, line in enumerate(folder.text(name, MOST_BYTES).splitlines(), 1):
        if _says_something(line):
            with folder.reporting(name, f"line {place}: "):
                yield Sample(folder.picture(line.strip(), _bases(name)), (), _part(name))


def _part(name: str) -> str:
    path = PurePosixPath(name)
    return part_of(path.stem, *(parent.name for parent in path.parents))
