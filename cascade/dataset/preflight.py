"""Preflight: what is in a dataset, what is wrong with it, and what to expect of training on it.

Pictures are decoded one at a time in each thread; what stays of one is a digest and its size.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cascade.dataset.dataset import Dataset
from cascade.dataset.folder import Problem
from cascade.dataset.sample import PARTS, Box, Sample
from cascade.dataset.survey import Seen, survey
from cascade.dataset.window import Window, propose_window

FEW_OBJECTS = 50
UNEVEN = 2.0  # the widest tenth of the shapes against the narrowest
QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)
# What training holds in memory: a table of bytes, half as much again to work on it, and the picture at hand.
NEGATIVES = 20_000  # windows without an object
VIEWS = 4  # windows of each object
PLANES = 8  # channels of a cell
CELL = 2  # pixels a side
PICTURE = 32  # bytes a pixel of the picture at hand, for its channels at all scales


@dataclass(frozen=True)
class Report:
    """What a preflight found; `usable` is what to train on."""

    usable: Dataset
    digests: tuple[bytes, ...]  # of the pixels of each usable sample
    counts: dict[str, dict[str, int]]  # by part
    unreadable: tuple[Problem, ...]
    problems: tuple[Problem, ...]  # everything else that is wrong
    duplicates: tuple[tuple[str, ...], ...]  # names of samples with the same pixels
    leaked: tuple[str, ...]  # training samples that valid or test have too; not usable
    sizes: dict[str, list[float]]  # quantiles of objects' width, height and aspect, of pictures' sides
    window: Window
    advice: tuple[str, ...]
    memory: int  # bytes, about
    seconds: float | None = field(default=None)  # None while nobody can tell

    def to_json(self) -> dict[str, Any]:
        """All of it in plain values."""
        return {
            "format": self.usable.format,
            "reason": self.usable.reason,
            "classes": list(self.usable.classes),
            "counts": self.counts,
            "unreadable": [[str(path), sentence] for path, sentence in self.unreadable],
            "problems": [[str(path), sentence] for path, sentence in self.problems],
            "duplicates": [list(group) for group in self.duplicates],
            "leaked": list(self.leaked),
            "sizes": self.sizes,
            "window": self.window._asdict(),
            "advice": list(self.advice),
            "memory": self.memory,
            "seconds": self.seconds,
        }


def check(
    dataset: Dataset, threads: int = 0, expected_seconds: Callable[[Report], float] | None = None
) -> Report:
    """Look at every picture and every box; `expected_seconds` tells how long training on them takes."""
    seen = list(survey(dataset.samples, threads))
    broken = [
        Problem(sample.path, _numbered(sample, one.error))
        for sample, one in zip(dataset.samples, seen, strict=True)
        if one.error is not None
    ]
    duplicates, leaked, contradictions = _duplicates(dataset.samples, seen)
    dropped = {i for i, one in enumerate(seen) if one.error is not None} | set(leaked)
    kept = [i for i in range(len(seen)) if i not in dropped]
    usable = replace(dataset, samples=tuple(dataset.samples[i] for i in kept))
    boxes = _boxes(usable)
    window = propose_window(boxes)
    largest = max((one.width * one.height for one in seen), default=0)
    report = Report(
        usable=usable,
        digests=tuple(seen[i].digest for i in kept),
        counts=_counts(usable, [seen[i] for i in kept]),
        unreadable=tuple(dict.fromkeys([*dataset.unreadable, *broken])),
        problems=(*_others(dataset), *contradictions),
        duplicates=tuple(tuple(dataset.samples[i].name for i in group) for group in duplicates),
        leaked=tuple(dataset.samples[i].name for i in leaked),
        sizes=_sizes(boxes, [seen[i] for i in kept]),
        window=window,
        advice=tuple(_advice(usable, boxes)),
        memory=_memory(window, len(boxes), largest),
    )
    return report if expected_seconds is None else replace(report, seconds=expected_seconds(report))


def _numbered(sample: Sample, sentence: str | None) -> str:
    return f"crop {sample.frame}: {sentence}" if sample.in_vec else str(sentence)


def _others(dataset: Dataset) -> list[Problem]:
    unreadable = set(dataset.unreadable)
    return [problem for problem in dataset.problems if problem not in unreadable]


def _duplicates(
    samples: Sequence[Sample], seen: Sequence[Seen]
) -> tuple[list[list[int]], list[int], list[Problem]]:
    """Groups with the same pixels; of those, what is in train and elsewhere; and labels that contradict."""
    groups: dict[bytes, list[int]] = {}
    for i, one in enumerate(seen):
        if one.error is None:
            groups.setdefault(one.digest, []).append(i)
    several = [group for group in groups.values() if len(group) > 1]
    leaked, contradictions = [], []
    for group in several:
        trained = [i for i in group if samples[i].part == "train"]
        if len(trained) < len(group):
            leaked += trained
        first = samples[group[0]]
        for i in group[1:]:
            if bool(samples[i].boxes) != bool(first.boxes):
                what = f"is the same picture as {first.name}, but only one of them has objects: correct one"
                contradictions.append(Problem(samples[i].path, what))
    return several, sorted(leaked), contradictions


def _boxes(dataset: Dataset) -> list[Box]:
    """The objects to learn from; those of all parts if there is no training part."""
    samples = dataset.part("train") or dataset.samples
    return [box for sample in samples for box in sample.boxes if not box.ignore]


def _counts(dataset: Dataset, seen: list[Seen]) -> dict[str, dict[str, int]]:
    counts = {}
    for name in PARTS:
        part = [pair for pair in zip(dataset.samples, seen, strict=True) if pair[0].part == name]
        boxes = [(box, picture) for sample, picture in part for box in sample.boxes]
        if part:
            counts[name] = {
                "pictures": len(part),
                "crops": sum(sample.crop for sample, _ in part),
                "without objects": sum(not sample.boxes for sample, _ in part),
                "objects": sum(not box.ignore for box, _ in boxes),
                "ignored": sum(box.ignore for box, _ in boxes),
                "reaching out": sum(_reaches_out(box, picture) for box, picture in boxes),
            }
    return counts


def _reaches_out(box: Box, picture: Seen) -> bool:
    return min(box.x, box.y) < 0 or box.x + box.width > picture.width or box.y + box.height > picture.height


def _sizes(boxes: list[Box], seen: list[Seen]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = {
        "object width": [box.width for box in boxes],
        "object height": [box.height for box in boxes],
        "object aspect": [box.width / box.height for box in boxes],
        "picture width": [one.width for one in seen],
        "picture height": [one.height for one in seen],
    }
    return {
        name: np.quantile(values, QUANTILES).round(3).tolist() for name, values in columns.items() if values
    }


def _advice(dataset: Dataset, boxes: list[Box]) -> list[str]:
    """What to do about data that can be read but will not train well."""
    advice = []
    train = dataset.part("train")
    if not train:
        advice.append("there is no training part: this data can only test a detector")
    elif not boxes:
        advice.append("no object is labelled: there is nothing to learn")
    elif len(boxes) < FEW_OBJECTS:
        advice.append(f"{len(boxes)} objects are few: a hundred and more make a better detector")
    if boxes and all(sample.crop for sample in train):
        advice.append("there are only crops: add a folder of pictures without the object, named neg")
    if boxes:
        low, high = np.quantile([box.width / box.height for box in boxes], (0.1, 0.9))
        if high > UNEVEN * low:
            crops = " (are the crops cut out tightly?)" if any(sample.crop for sample in train) else ""
            shapes = f"shapes differ much, from {low:.2f} to {high:.2f} times as wide as high{crops}"
            advice.append(f"{shapes}: one detector for each kind or side of the object does better")
    return advice


def _memory(window: Window, objects: int, largest: int) -> int:
    cells = (window.width // CELL) * (window.height // CELL) * PLANES
    table = cells * (VIEWS * objects + NEGATIVES)
    return table + table // 2 + largest * PICTURE
