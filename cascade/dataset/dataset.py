"""Dataset: the samples of a folder, their classes, and what is wrong with them."""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from cascade.dataset.cleaning import checked, merged
from cascade.dataset.folder import DatasetError, Folder, Problem
from cascade.dataset.formats import FORMATS
from cascade.dataset.sample import Sample

CHUNK = 1 << 20
UNKNOWN = (
    "no labels of a known format were found. Expected one of: folders pos and neg; data.yaml,"
    " or images and labels (YOLO); a COCO .json; JPEGImages and Annotations (VOC); info.txt and bg.txt,"
    " or a .vec (OpenCV); an imglab .xml (dlib); a .csv with the header file,x,y,w,h. For pictures"
    " without objects, --format negatives"
)


@dataclass(frozen=True)
class Dataset:
    """Samples in a fixed order: by path, then by number within the file."""

    root: Path
    samples: tuple[Sample, ...]
    format: str = ""
    reason: str = ""  # how the format was recognised
    problems: tuple[Problem, ...] = ()
    unreadable: tuple[Problem, ...] = ()  # those of the problems that are of pictures left out

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The names of all classes, sorted."""
        return tuple(sorted({box.label for sample in self.samples for box in sample.boxes}))

    def part(self, name: str) -> tuple[Sample, ...]:
        """The samples of train, valid or test."""
        return tuple(sample for sample in self.samples if sample.part == name)

    def of_class(self, label: str) -> "Dataset":
        """Only objects of one class are to be found; pictures of others stay, without them."""
        if label not in self.classes:
            known = ", ".join(self.classes)
            raise DatasetError(self.root, f"has no objects of class {label!r}; there is: {known}")
        kept = []
        for sample in self.samples:
            boxes = tuple(box for box in sample.boxes if box.label == label)
            kept.append(replace(sample, boxes=boxes, crop=sample.crop and bool(boxes)))
        return replace(self, samples=tuple(kept))

    def joined(self, *others: "Dataset") -> "Dataset":
        """One dataset of several folders."""
        parts = (self, *others)
        return replace(
            self,
            samples=tuple(sample for part in parts for sample in part.samples),
            format=" + ".join(part.format for part in parts),
            reason="; ".join(part.reason for part in parts),
            problems=tuple(problem for part in parts for problem in part.problems),
            unreadable=tuple(problem for part in parts for problem in part.unreadable),
        )

    def digest(self) -> str:
        """A fingerprint of samples, labels and the bytes of every file; the same wherever the folder lies."""
        sha = hashlib.sha256()
        seen: dict[Path, str] = {}
        for sample in self.samples:
            if sample.path not in seen:
                seen[sample.path] = _file_digest(sample.path)
            place = os.path.relpath(sample.path, self.root).replace(os.sep, "/")
            boxes = [
                (box.x.hex(), box.y.hex(), box.width.hex(), box.height.hex(), box.label, box.ignore)
                for box in sample.boxes
            ]
            fact = (place, sample.frame, sample.part, sample.crop, seen[sample.path], boxes)
            sha.update(repr(fact).encode("utf-8", "surrogateescape"))
        return sha.hexdigest()


def load(path: Path | str, format: str | None = None) -> Dataset:
    """The data of a folder, or of one annotation file and the pictures beside it.

    DatasetError if there is nothing to be had at all; what is wrong with single files is in `problems`.
    """
    path = Path(path)
    if format is not None and format not in FORMATS:
        raise DatasetError(path, f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    if not path.exists():
        raise DatasetError(path, "there is no such folder or file")
    folder = Folder(path) if path.is_dir() else Folder(_home(path), only=path)
    if format is not None:
        return _made(folder, format, "as asked for", FORMATS[format].read(folder))
    found = _recognised(folder)
    if not found and path.is_dir():  # an archive often unpacks to one folder more
        inner = [Folder(Path(entry.path)) for entry in sorted(os.scandir(path), key=lambda e: e.name)
                 if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")]  # fmt: skip
        fitting = [(one, what) for one in inner if (what := _recognised(one))]
        if len(fitting) == 1:
            folder, found = fitting[0]
    if not found:
        raise DatasetError(path, UNKNOWN)
    return _read(folder, found)


def _home(file: Path) -> Path:
    """The data folder of an annotation file: where it lies, or above a folder named for annotations."""
    folder = file.absolute().parent if file.parent == Path() else file.parent
    return folder.parent if folder.name.lower() in ("annotations", "labels") else folder


def _recognised(folder: Folder) -> list[tuple[str, str]]:
    """Names of the formats that the folder may be in, and why."""
    found = []
    for name, format in FORMATS.items():
        reason = format.recognise(folder)
        if reason is not None:
            found.append((name, reason))
    return found


def _read(folder: Folder, found: list[tuple[str, str]]) -> Dataset:
    """The first format that has something to train on; what only tests, before it, comes along."""
    samples: list[Sample] = []
    names, reasons = [], []
    for name, reason in found:
        samples += FORMATS[name].read(folder)
        names.append(name)
        reasons.append(reason)
        if any(sample.part == "train" for sample in samples):
            break
    return _made(folder, " + ".join(names), "; ".join(reasons), samples)


def _made(folder: Folder, format: str, reason: str, samples: Iterable[Sample]) -> Dataset:
    found = (checked(folder, sample) for sample in merged(folder, samples))
    kept = tuple(sample for sample in found if sample is not None)
    if not kept:
        first = next(iter(folder.problems), Problem(folder.root, "it holds no pictures"))
        reason = f"read as {format}, it has no usable picture; first: {first.path}: {first.sentence}"
        raise DatasetError(folder.root, reason)
    problems = tuple(dict.fromkeys(folder.problems))
    return Dataset(folder.root, kept, format, reason, problems, tuple(folder.unreadable))


def _file_digest(path: Path) -> str:
    sha = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                sha.update(chunk)
    except OSError as error:
        return f"unreadable: {error.errno}"
    return sha.hexdigest()
