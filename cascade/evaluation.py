"""How good a detector is on labelled pictures.

    result = evaluate(model, samples)
    result.ap50, result.recall_1, result.log_average_miss_rate

Average precision is COCO's: 101 recalls, the best 100 boxes of a picture, each object found once. A box that
lies in an ignored region counts neither for nor against.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade.boxes import Detections
from cascade.dataset import Sample
from cascade.detector import Detector
from cascade.model import Model
from cascade.threads import ordered, thread_count

COCO_IOUS = tuple((50 + 5 * i) / 100 for i in range(10))
RECALLS = np.linspace(0.0, 1.0, 101)
MOST = 100  # boxes of a picture that count in average precision
MISS_POINTS = tuple(10 ** (-2 + i / 4) for i in range(9))  # false positives per image, as ACF has them
SAMPLED = 8  # pictures on which the work per window is counted
HIT, FALSE, IGNORED = 1, 0, -1
NOTHING, IN_IGNORED = -1, -2  # instead of the number of an object

@dataclass(frozen=True)
class Truth:
    """The objects of one picture: x1, y1, x2, y2, and which of them are only to be ignored."""

    xyxy: NDArray[np.float64]
    ignored: NDArray[np.bool_]

    @classmethod
    def of(cls, sample: Sample) -> "Truth":
        rows = [(box.x, box.y, box.x + box.width, box.y + box.height) for box in sample.boxes]
        ignored = [box.ignore for box in sample.boxes]
        return cls(np.array(rows, np.float64).reshape(-1, 4), np.array(ignored, bool))


@dataclass(frozen=True)
class Found:
    """The boxes found in one picture, best first."""

    xyxy: NDArray[np.float64]
    score: NDArray[np.float64]

    @classmethod
    def of(cls, detections: Detections) -> "Found":
        order = np.argsort(-detections.score.astype(np.int64), kind="stable")
        return cls(detections.xyxy[order].astype(np.float64), detections.score[order].astype(np.float64))


@dataclass(frozen=True)
class Curve:
    """What is found, and at what price, as the least score goes down: one value a detection."""

    score: NDArray[np.float64]
    recall: NDArray[np.float64]
    precision: NDArray[np.float64]
    false_per_image: NDArray[np.float64]

    def recall_at(self, false_per_image: float) -> float:
        """The share of the objects found for so many false positives per image."""
        within = np.flatnonzero(self.false_per_image <= false_per_image)
        return float(self.recall[within[-1]]) if len(within) else 0.0

    def log_average_miss_rate(self) -> float:
        """The geometric mean of what is missed at 9 prices [Dollar 2012]."""
        misses = [max(1e-10, 1 - self.recall_at(price)) for price in MISS_POINTS]
        return float(np.exp(np.mean(np.log(misses))))


@dataclass(frozen=True)
class Evaluation:
    images: int
    objects: int
    ap: float  # mean over overlaps of 0.5 to 0.95
    ap50: float  # at the overlap asked for, 0.5 unless told
    log_average_miss_rate: float
    recall_01: float  # at 0.1 false positives per image
    recall_1: float  # at 1
    ms_per_frame: float
    trees_per_window: float
    curve: Curve = field(repr=False)
    truths: list[Truth] = field(repr=False)  # of each picture, and what was found in it
    found: list[Found] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if isinstance(value, int | float)}


def evaluate(
    model: Model | Detector,
    samples: Iterable[Sample],
    *,
    iou: float = 0.5,
    min_size: int | None = None,
    threads: int | None = 0,
) -> Evaluation:
    """Run a model over labelled pictures and compare."""
    if not 0.0 < iou <= 1.0:
        raise ValueError(f"iou must be above 0 and at most 1, got {iou!r}")
    detector = model if isinstance(model, Detector) else Detector(model)
    truths, found, clock, windows, trees = [], [], [], 0, 0

    def look(numbered: tuple[int, Sample]) -> tuple[Truth, Found, float, tuple[int, int]]:
        number, sample = numbered
        frame = sample.read()
        start = time.perf_counter()
        boxes = detector.detect(frame, min_size=min_size)
        seconds = time.perf_counter() - start
        work = detector.statistics(frame, min_size=min_size) if number < SAMPLED else None
        return Truth.of(sample), Found.of(boxes), seconds, (work.windows, work.trees) if work else (0, 0)

    for truth, boxes, seconds, work in ordered(look, enumerate(samples), thread_count(threads)):
        truths.append(truth)
        found.append(boxes)
        clock.append(seconds)
        windows, trees = windows + work[0], trees + work[1]
    if not truths:
        raise ValueError("expected pictures to evaluate on, got none")
    curve = curve_of(truths, found, iou)
    return Evaluation(
        images=len(truths),
        objects=sum(int((~truth.ignored).sum()) for truth in truths),
        ap=float(np.mean([average_precision(truths, found, overlap) for overlap in COCO_IOUS])),
        ap50=average_precision(truths, found, iou),
        log_average_miss_rate=curve.log_average_miss_rate(),
        recall_01=curve.recall_at(0.1),
        recall_1=curve.recall_at(1.0),
        ms_per_frame=1000 * float(np.median(clock)),
        trees_per_window=trees / windows if windows else 0.0,
        curve=curve,
        truths=truths,
        found=found,
    )


def curve_of(truths: Sequence[Truth], found: Sequence[Found], iou: float) -> Curve:
    score, flag = _flags(truths, found, iou, None)
    objects = max(1, sum(int((~truth.ignored).sum()) for truth in truths))
    hits, false = np.cumsum(flag == HIT), np.cumsum(flag == FALSE)
    return Curve(score, hits / objects, hits / np.maximum(hits + false, 1), false / len(truths))


def average_precision(truths: Sequence[Truth], found: Sequence[Found], iou: float) -> float:
    """COCO's average precision at one overlap; -1, as there, where there is nothing to find."""
    objects = sum(int((~truth.ignored).sum()) for truth in truths)
    if not objects:
        return -1.0
    _, flag = _flags(truths, found, iou, MOST)
    hits, false = np.cumsum(flag == HIT), np.cumsum(flag == FALSE)
    precision = hits / (hits + false + np.spacing(1))
    precision = np.maximum.accumulate(precision[::-1])[::-1]  # the best that is had at this recall or more
    place = np.searchsorted(hits / objects, RECALLS, side="left")
    return float(np.append(precision, 0.0)[np.minimum(place, len(precision))].mean())


def _flags(
    truths: Sequence[Truth], found: Sequence[Found], iou: float, most: int | None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Scores and verdicts over all pictures, best first, without what is ignored."""
    score = np.concatenate([boxes.score[:most] for boxes in found])
    flag = np.concatenate(
        [match(truth, boxes.xyxy[:most], iou) for truth, boxes in zip(truths, found, strict=True)]
    )
    order = np.argsort(-score, kind="stable")
    order = order[flag[order] != IGNORED]
    return score[order], flag[order]


def match(truth: Truth, boxes: NDArray[np.float64], iou: float) -> NDArray[np.int8]:
    """Which boxes, best first, find an object."""
    taken = assigned(truth, boxes, iou)
    return np.where(taken >= 0, HIT, np.where(taken == IN_IGNORED, IGNORED, FALSE)).astype(np.int8)


def assigned(truth: Truth, boxes: NDArray[np.float64], iou: float) -> NDArray[np.intp]:
    """The number of the object that each box, best first, finds: each takes the free object it overlaps most,
    an ignored region only if there is none."""
    taken = np.full(len(boxes), NOTHING, np.intp)
    shared = overlaps(boxes, truth)
    free = ~truth.ignored
    for i, row in enumerate(shared):
        wanted = np.where(free, row, -1.0)
        best = len(row) - 1 - int(np.argmax(wanted[::-1])) if len(row) else 0  # of equals the last, as COCO
        if len(row) and wanted[best] >= min(iou, 1 - 1e-10):
            taken[i], free[best] = best, False
        elif (row[truth.ignored] >= min(iou, 1 - 1e-10)).any():
            taken[i] = IN_IGNORED
    return taken


def overlaps(boxes: NDArray[np.float64], truth: Truth) -> NDArray[np.float64]:
    """Intersection over union (boxes, objects); of ignored regions, over the box alone."""
    a, b = boxes[:, None], truth.xyxy[None]
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    shared = np.maximum(sides, 0.0).prod(axis=2)
    mine = (a[..., 2:] - a[..., :2]).prod(axis=2)
    whole = np.where(truth.ignored, mine, mine + (b[..., 2:] - b[..., :2]).prod(axis=2) - shared)
    result: NDArray[np.float64] = np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0)
    return result
