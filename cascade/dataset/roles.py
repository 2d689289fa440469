"""Roles: whether a picture shows the object or not, by the names of folders and files."""

from pathlib import PurePosixPath

from cascade.dataset.folder import PART_WORDS, words
from cascade.dataset.sample import UNNAMED

NEGATIVE = {"neg", "negs", "negative", "negatives", "bg", "background", "backgrounds", "no", "not", "without"}
OWN = {"pos": 1, "positive": 1, "neg": -1, "negative": -1}
POSITIVE = {"pos", "positive", "positives", "crop", "crops"}
NAMELESS = POSITIVE | set(PART_WORDS) | {"image", "images", "img", "imgs", "data"}


def role(name: str) -> int:
    """1 positive, -1 negative, 0 unknown: the innermost folder that says it decides, or the file's name."""
    path = PurePosixPath(name)
    if not folder_role(path.parent.name) and _own_role(path):
        return _own_role(path)
    return next((found for parent in path.parents if (found := folder_role(parent.name))), 0)


def _own_role(path: PurePosixPath) -> int:
    """What the start of a file's name says."""
    return OWN.get("".join(words(path.stem)[:1]), 0)


def folder_role(name: str) -> int:
    """What one folder's name says."""
    found = words(name)
    if any(word in NEGATIVE or word.startswith("non") for word in found):
        return -1
    return int(any(word in POSITIVE for word in found))


def label(name: str) -> str:
    """The class of a crop, by its folder's name: train_faces holds faces, pos holds objects."""
    path = PurePosixPath(name)
    named = [word for word in words(path.parent.name) if word not in NAMELESS]
    return UNNAMED if _own_role(path) else " ".join(named) or UNNAMED
