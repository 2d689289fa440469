"""Negatives: windows without an object, first any, then those that the detector so far takes for one.

They are taken straight from the detector's planes, so the trainer sees the bytes that the detector saw.
Pictures are decoded once a pass, a few at a time.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from cascade.channels import bordered
from cascade.dataset import Sample
from cascade.detector import channels, runtime, spots_on, within
from cascade.evaluation import Truth, overlaps
from cascade.model import Model
from cascade.pyramid import Pyramid
from cascade.sampling import PER_OCTAVE, Windows
from cascade.suppression import suppress
from cascade.threads import ordered

RICH = 4  # times as many hard negatives are looked for as are kept
SCALES = (0.6, 1.1)  # of a picture, when it is looked through for negatives
NEAR = 0.3  # a window that overlaps an object by as much is no negative
APART = 128  # of 256: negatives of a picture share less than this part of the smaller one
LOOKED_AT = 20000  # the best windows of a picture that are told apart


@dataclass(frozen=True)
class Mined:
    windows: Windows
    images: int  # that were looked at, of all there are
    exhausted: bool  # all were looked at, and there was not enough to be found


@dataclass(frozen=True)
class Scan:
    """One picture as the detector sees it, and the windows that pass."""

    model: Model
    plan: Pyramid
    planes: NDArray[np.uint8]
    level: NDArray[np.intp]
    place: NDArray[np.int32]  # numbered row by row in their level
    score: NDArray[np.int32]
    edge: int  # pixels around the picture that were looked at, too
    size: tuple[int, int]  # width and height of the picture

    def boxes(self, which: NDArray[np.intp]) -> NDArray[np.int32]:
        boxes = self.plan.boxes(self.model, self.level[which], self.place[which]) - np.int32(self.edge)
        return within(boxes, *self.size)

    def windows(self, which: NDArray[np.intp]) -> Windows:
        width, height = self.model.window
        out = np.empty((len(which), self.model.planes, height, width), np.uint8)
        for window, level, place in zip(out, self.level[which], self.place[which], strict=True):
            size = self.plan.levels[level]
            start = self.plan.table[level, 7]
            planes = self.planes[start : start + self.model.planes * size.width * size.height]
            y, x = divmod(int(place), size.width - width + 1)
            cells = planes.reshape(-1, size.height, size.width)
            window[:] = cells[:, y : y + height, x : x + width]
        return out


class Best:
    """The windows with the best scores so far, in the order they came; never many more than wanted."""

    def __init__(self, count: int, shape: tuple[int, ...]) -> None:
        self.count = count
        self._windows = [np.empty((0, *shape), np.uint8)]
        self._scores = [np.empty(0, np.int32)]

    def add(self, windows: Windows, scores: NDArray[np.int32]) -> None:
        self._windows.append(windows)
        self._scores.append(scores)
        if sum(map(len, self._scores)) > 2 * self.count:
            self._prune()

    def windows(self) -> Windows:
        self._prune()
        return self._windows[0]

    def _prune(self) -> None:
        windows, scores = np.concatenate(self._windows), np.concatenate(self._scores)
        kept = np.sort(np.argsort(-scores.astype(np.int64), kind="stable")[: self.count])
        self._windows, self._scores = [windows[kept]], [scores[kept]]


class Scanner:
    """Runs a model over pictures and keeps what it saw. Any number of threads may use it at once."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._channels, self._border = channels(model), model.border
        self._runtime = runtime(model)
        self._rooms = threading.local()

    def scan(self, frame: NDArray[np.uint8]) -> Scan:
        """The windows of a picture. Its planes are valid until this thread scans the next."""
        image = self._channels.image(frame)
        _, height, width = image.shape
        image, edge = bordered(image, self._border)
        _, rows, columns = image.shape
        plan = Pyramid.plan(self.model, columns, rows, None, None, PER_OCTAVE, 1)
        planes, found = self._room(plan)
        counts, visits = np.zeros((2, len(plan.levels)), np.int64)
        if plan.levels:
            images = plan.images(image, self.model.cell)
            spots = spots_on(plan, self._runtime)
            self._runtime.detect(images, plan.table, spots, planes, found, counts, visits, 1)
        starts = plan.table[:, 8]
        parts = [found[2 * at : 2 * (at + n)] for at, n in zip(starts, counts, strict=True)]
        pairs = np.concatenate([np.empty(0, np.int32), *parts]).reshape(-1, 2)
        level = np.repeat(np.arange(len(counts)), counts)
        scores = np.ascontiguousarray(pairs[:, 1])
        return Scan(self.model, plan, planes, level, pairs[:, 0], scores, edge, (width, height))

    def _room(self, plan: Pyramid) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        planes, found = getattr(self._rooms, "arrays", (np.empty(0, np.uint8), np.empty(0, np.int32)))
        if len(planes) < plan.plane_bytes or len(found) < 2 * plan.windows:
            planes, found = np.empty(plan.plane_bytes, np.uint8), np.empty(2 * plan.windows, np.int32)
            self._rooms.arrays = planes, found
        return planes, found


def random_negatives(
    model: Model, samples: Sequence[Sample], count: int, seed: int, threads: int = 1
) -> Mined:
    """Windows of any size at any place, where no object is; `model` lets all pass."""
    per_image = -(-count // max(1, len(backgrounds(samples))))

    def choose(scan: Scan, truth: Truth, number: int) -> NDArray[np.intp]:
        random = np.random.default_rng([seed, 0, number])
        counts = np.bincount(scan.level, minlength=len(scan.plan.levels))
        starts = np.cumsum(counts) - counts
        levels = random.integers(0, len(counts), 2 * per_image)
        places = (random.uniform(0, 1, len(levels)) * counts[levels]).astype(np.intp)
        which = starts[levels] + places
        return which[_apart(scan.boxes(which), truth)][:per_image]

    return _collect(model, samples, count, choose, seed, threads)


def hard_negatives(
    model: Model, samples: Sequence[Sample], count: int, per_image: int, seed: int, threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Mined:  # fmt: skip
    """The windows that a model wrongly passes, the best of each picture. Pictures come in random order until
    several times as many are found; the best of all are kept. `progress` is told how many pictures were
    looked at and how many windows found."""

    def choose(scan: Scan, truth: Truth, number: int) -> NDArray[np.intp]:
        which = np.argsort(-scan.score.astype(np.int64), kind="stable")[:LOOKED_AT]
        boxes = scan.boxes(which)
        far = _apart(boxes, truth)
        which, boxes = which[far], boxes[far]
        return which[suppress(boxes, scan.score[which], APART, "smaller")[:per_image]]

    return _collect(model, samples, count, choose, seed, threads, progress, RICH)


def varied(
    frame: NDArray[np.uint8], truth: Truth, seed: list[int]
) -> tuple[NDArray[np.uint8], Truth]:
    """A picture a little smaller or larger, or mirrored, so that each pass shows other windows."""
    random = np.random.default_rng(seed)
    scale, mirrored = random.uniform(*SCALES), random.uniform() < 0.5
    height, width = (max(1, round(scale * side)) for side in frame.shape[:2])
    resized = np.asarray(cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    xyxy = truth.xyxy * ([width / frame.shape[1], height / frame.shape[0]] * 2)
    if mirrored:
        resized = resized[:, ::-1]
        xyxy = np.stack([width - xyxy[:, 2], xyxy[:, 1], width - xyxy[:, 0], xyxy[:, 3]], axis=1)
    return np.ascontiguousarray(resized), Truth(xyxy, truth.ignored)


def backgrounds(samples: Sequence[Sample]) -> list[tuple[int, Sample]]:
    """The pictures that show more than one object cut out, numbered."""
    return [(i, sample) for i, sample in enumerate(samples) if not sample.crop]


def _apart(boxes: NDArray[np.int32], truth: Truth) -> NDArray[np.bool_]:
    """Which boxes are away from all objects and from what is to be ignored."""
    if not len(truth.xyxy):
        return np.ones(len(boxes), bool)
    return np.asarray((overlaps(boxes.astype(np.float64), truth) < NEAR).all(axis=1))


def _collect(
    model: Model, samples: Sequence[Sample], count: int,
    choose: Callable[[Scan, Truth, int], NDArray[np.intp]], seed: int, threads: int,
    progress: Callable[[int, int], None] | None = None, rich: int = 1,
) -> Mined:  # fmt: skip
    """Windows of pictures in an order drawn from the seed, until there are `rich` times enough to choose
    from: the best scores are kept, and of equals the first."""
    scanner, pictures = Scanner(model), backgrounds(samples)

    def look(numbered: tuple[int, Sample]) -> tuple[Windows, NDArray[np.int32]]:
        number, sample = numbered
        frame, truth = varied(sample.read(), Truth.of(sample), [seed, number])
        scan = scanner.scan(frame)
        which = choose(scan, truth, number) if len(scan.level) else np.empty(0, np.intp)
        return scan.windows(which), scan.score[which]

    order = np.random.default_rng([seed, len(pictures)]).permutation(len(pictures))
    best = Best(count, (model.planes, *model.window[::-1]))
    found = seen = 0
    for windows, scores in ordered(look, (pictures[i] for i in order), threads):
        best.add(windows, scores)
        found, seen = found + len(windows), seen + 1
        if progress is not None:
            progress(seen, min(found, count))
        if found >= rich * count:
            break
    return Mined(best.windows(), seen, found < count)
