"""Crops: objects cut out, beside pictures without any.

Either folders or file names say which is which: pos*/ and neg*/, faces/ and nonfaces/, cars/ and background/,
or pos-1.png and neg-1.png in one folder. Where only negatives are named so, the folders beside them are
positives.
"""

from pathlib import PurePosixPath

from cascade.dataset.folder import Folder, part_of
from cascade.dataset.roles import folder_role, label, role
from cascade.dataset.sample import Box, Sample


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
            box = Box(0.0, 0.0, float(size[0]), float(size[1]), label(name))
            samples.append(Sample(path, (box,), _part(name), crop=True))
    samples += [Sample(folder.root / name, (), _part(name)) for name in negatives]
    return samples


def _sorted_out(folder: Folder) -> tuple[list[str], list[str]]:
    """The names of positive and of negative pictures."""
    roles = {name: role(name) for name in folder.pictures()}
    positives = [name for name, found in roles.items() if found == 1]
    negatives = [name for name, found in roles.items() if found == -1]
    if negatives and not positives:
        beside = {_negative_folder(name).parent for name in negatives}
        unknown = [name for name, found in roles.items() if found == 0 and "/" in name]
        positives = [name for name in unknown if PurePosixPath(name).parent.parent in beside]
    return positives, negatives


def _negative_folder(name: str) -> PurePosixPath:
    """The folder that made a picture negative."""
    path = PurePosixPath(name)
    return next((parent for parent in path.parents if folder_role(parent.name) == -1), path.parent)


def _part(name: str) -> str:
    return part_of(*(parent.name for parent in PurePosixPath(name).parents))
