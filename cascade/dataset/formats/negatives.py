"""Negatives: a folder of pictures that show no object; never guessed, only read as such when asked for."""

from cascade.dataset.folder import Folder
from cascade.dataset.sample import Sample


def recognise(folder: Folder) -> str | None:
    return None


def read(folder: Folder) -> list[Sample]:
    return [Sample(folder.root / name) for name in folder.pictures()]
