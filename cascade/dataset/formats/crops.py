"""Crops: objects cut out, beside pictures without any.

Either folders or file names say which is which: pos*/ and neg*/, faces/ and nonfaces/, cars/ and background/,
or pos-1.png and neg-1.png in one folder. Where only negatives are named so, the folders beside them are
positives.
"""

from pathlib import PurePosixPath

from cascade.dataset.folder import PART_WORDS, Folder, part_of, words
from cascade.dataset.sample import UNNAMED, Box, Sample

NEGATIVE = {"neg", "negs", "negative", "negatives", "bg", "background", "backgrounds", "no", "not", "without"}
POSITIVE = {"pos", "poss", "positive", "positives", "crop", "crops"}
NAMELESS = POSITIVE | set(PART_WORDS) | {"image", "images", "img", "imgs", "data"}


def recognise(folder: Folder) -> str | None:
    if folder.only is not None:
        return None
    positives, negatives = _sorted_out(folder)
    if not positives:
        return None
    return f"names tell {len(positives)} positive crops from {len(negatives)} negative pictures"


def read(folder: Folder) -> list[Sample]:
    positives, negatives = _sorted_out(folder)
    samples = []
    for name in positives:
        path = folder.root / name
        size = folder.size(path)
        if size is not None:
            box = Box(0.0, 0.0, float(size[0]), float(size[1]), _label(name))
            samples.append(Sample(path, (box,), _part(name), crop=True))
    samples += [Sample(folder.root / name, (), _part(name)) for name in negatives]
    return samples


def _sorted_out(folder: Folder) -> tuple[list[str], list[str]]:
    """The names of positive and of negative pictures."""
    pictures = folder.pictures()
    roles = {name: _role(name) for name in pictures}
    positives = [name for name in pictures if roles[name] == 1]
    negatives = [name for name in pictures if roles[name] == -1]
    if negatives and not positives:
        beside = {_negative_folder(name).parent for name in negatives}
        positives = [
            name for name in pictures
            if roles[name] == 0 and PurePosixPath(name).parent.parent in beside and "/" in name
        ]  # fmt: skip
    return positives, negatives


def _role(name: str) -> int:
    """1 positive, -1 negative, 0 unknown: the innermost folder that says it decides, or the file's name."""
    path = PurePosixPath(name)
    first = next(iter(words(path.stem)), "")
    if path.parent.name == "" or not _folder_role(path.parent.name):
        if first in ("pos", "positive"):
            return 1
        if first in ("neg", "negative"):
            return -1
    for parent in path.parents:
        role = _folder_role(parent.name)
        if role:
            return role
    return 0


def _folder_role(name: str) -> int:
    found = words(name)
    if any(word in NEGATIVE or word.startswith("non") for word in found):
        return -1
    return int(any(word in POSITIVE for word in found))


def _negative_folder(name: str) -> PurePosixPath:
    """The folder that made a picture negative."""
    path = PurePosixPath(name)
    return next((parent for parent in path.parents if _folder_role(parent.name) == -1), path.parent)


def _label(name: str) -> str:
    """The class, by the folder's name: train_faces holds faces, pos holds objects."""
    named = [word for word in words(PurePosixPath(name).parent.name) if word not in NAMELESS]
    return " ".join(named) or UNNAMED


def _part(name: str) -> str:
    return part_of(*(parent.name for parent in PurePosixPath(name).parents))
