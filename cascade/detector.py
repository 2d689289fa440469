"""Find objects in frames.

    detector = Detector(Model.load("face.cascade"), threads=0)
    for box, score, probability, *_ in detector.detect(frame, min_size=40):
        ...

A detector never changes, and any number of threads may use it at once.
"""

import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade._ext import detect as kernels
from cascade.boxes import Detections
from cascade.channels import Channels, Image, bordered, resize
from cascade.model import NEVER_REJECT, Model
from cascade.modelfile import KINDS
from cascade.pyramid import Pyramid
from cascade.suppression import best_first, group, suppress
from cascade.threads import thread_count

PLANS = 8  # frame sizes that are remembered
MOST = 5000  # windows that are told apart: a model that takes everything for an object must not take for ever


@dataclass(frozen=True)
class Trace:
    """Why a window was accepted or not: its score after each tree, and what it had to exceed."""

    scores: NDArray[np.int32]  # after each tree that was looked at
    reject: NDArray[np.int32]  # the score at or below which each of them would have rejected it
    accepted: bool
    trees: int  # of the model

    def __str__(self) -> str:
        count, score = len(self.scores), self.scores[-1]
        if self.accepted:
            return f"accepted after {count} trees: score {score}"
        return f"rejected by tree {count} of {self.trees}: score {score}, had to exceed {self.reject[-1]}"

    @property
    def rejected_by(self) -> int | None:
        """The tree that rejected it."""
        return None if self.accepted else len(self.scores) - 1


@dataclass(frozen=True)
class Statistics:
    """What finding objects in one frame took."""

    windows: int
    trees: int  # looked at in all windows together
    seconds: dict[str, float]  # pixels, channels, pyramid, scan, suppression


class Clock:
    """How long the parts of something took."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name], self._last = now - self._last, now


class Detector:
    """A model, ready to run.

    Parameters
    ----------
    threads : how many to use; 0 or None for all cores. Results are the same.
    per_octave : how many sizes to look at from one to twice that.
    exact : compute the channels of every size from pixels, which is slower, instead of those of octaves only.
    stride : cells from one window to the next.
    overlap : boxes that overlap a better one by at least this share are dropped.
    measure : "iou", or "smaller" for the share of the smaller box.
    border : how far beyond the frame to look for objects that it cuts off, in 1/256 of its shorter side;
        None is what the model was trained for.
    neighbours : if given, boxes that overlap are averaged instead, and a box needs so many others beside it.
    most : windows that are told apart at all, the best; a device has room for fewer.
    """

    def __init__(
        self,
        model: Model,
        threads: int | None = 1,
        *,
        per_octave: int = 8,
        exact: bool = False,
        stride: int = 1,
        overlap: float = 0.5,
        measure: str = "smaller",
        border: int | None = None,
        neighbours: int | None = None,
        most: int = MOST,
    ) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"expected a Model, got {type(model).__name__}; see Model.load")
        self.model = model
        self.threads = thread_count(threads)
        self.per_octave = _whole("per_octave", per_octave, 1, 64)
        self.exact = bool(exact)
        self.stride = _whole("stride", stride, 1, 255)
        self.neighbours = None if neighbours is None else _whole("neighbours", neighbours, 0, 2**20)
        self.most = _whole("most", most, 1, MOST)
        _share("overlap", overlap)
        if overlap == 0:
            raise ValueError("overlap must be above 0, for all boxes overlap by nothing, got 0")
        self._overlap = max(1, round(256 * overlap))  # in the integers that boxes are compared in
        self._measure = measure
        self.border = model.border if border is None else _whole("border", border, 0, 128)
        suppress(np.empty((0, 4), np.int32), np.empty(0, np.int32), self._overlap, measure)  # check both
        self._channels = channels(model)
        self._runtime = runtime(model)
        self._plans: dict[tuple[Any, ...], tuple[Pyramid, NDArray[np.int64]]] = {}
        self._lock = threading.Lock()
        self._rooms = threading.local()

    def detect(
        self,
        frame: NDArray[np.uint8],
        *,
        min_size: int | None = None,
        max_size: int | None = None,
        threshold: float = 0.0,
        roi: tuple[int, int, int, int] | None = None,
    ) -> Detections:
        """The objects in a frame, best first.

        `frame` is grey or blue-green-red. Sizes are those of an object's shorter side, in pixels; by default
        nothing smaller than the model's window is looked for. `threshold` is the least probability. `roi` is
        x, y, width, height of the part of the frame to look at.
        """
        _share("threshold", threshold)
        image, x, y = _region(self._channels.image(frame), roi)
        wide, edge = bordered(image, self.border)
        boxes, scores = self._candidates(wide, _size("min_size", min_size), _size("max_size", max_size))
        if edge:
            boxes = within(boxes - edge, image.shape[2], image.shape[1])
        if threshold > 0:
            likely = self.probability(scores) >= threshold
            boxes, scores = boxes[likely], scores[likely]
        boxes, scores = self._merged(boxes, scores)
        return Detections(
            xyxy=(boxes + [x, y, x, y]).astype(np.float32),
            score=scores,
            probability=self.probability(scores),
            class_id=np.zeros(len(scores), np.int32),
            class_names=self.model.classes,
        )

    def statistics(
        self, frame: NDArray[np.uint8], *, min_size: int | None = None, max_size: int | None = None
    ) -> Statistics:
        """What a frame costs: windows, trees and time, part by part."""
        clock = Clock()
        image, _ = bordered(self._channels.image(frame), self.border)
        sizes = _size("min_size", min_size), _size("max_size", max_size)
        plan, spots = self._plan(image.shape[2], image.shape[1], *sizes)
        images = plan.images(image, self.model.cell) if plan.levels else []
        planes, found = self._room(plan)
        counts, visits = np.zeros((2, len(plan.levels)), np.int64)
        clock.lap("pixels")
        for part, number in kernels.PARTS.items():
            if plan.levels:
                results = found, counts, visits
                self._runtime.detect(images, plan.table, spots, planes, *results, self.threads, number)
            clock.lap(part)
        self._merged(*self._boxes(plan, found, counts))
        clock.lap("suppression")
        return Statistics(plan.windows, int(visits.sum()), clock.laps)

    def trace(self, window: NDArray[np.uint8]) -> Trace:
        """Run one window tree by tree: the object and what the model wants to see around it.

        A window of another size than the model's is scaled to it.
        """
        image = self._channels.image(window)
        if not image.size:
            raise ValueError(f"expected a window with pixels, got shape {window.shape}")
        width, height = (side * self.model.cell for side in self.model.window)
        planes = self._channels.planes(resize(image, width, height))
        scores = np.empty(len(self.model), np.int32)
        taken = self._runtime.trace(planes, scores)
        reject = self.model.reject.astype(np.int32) << self.model.reject_shift
        return Trace(scores[: abs(taken)], reject[: abs(taken)], taken > 0, len(self.model))

    def _candidates(
        self, image: Image, min_size: int | None, max_size: int | None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Boxes and scores of all windows that pass."""
        plan, spots = self._plan(image.shape[2], image.shape[1], min_size, max_size)
        if not plan.levels:
            return np.empty((0, 4), np.int32), np.empty(0, np.int32)
        planes, found = self._room(plan)
        counts, visits = np.empty((2, len(plan.levels)), np.int64)
        images = plan.images(image, self.model.cell)
        self._runtime.detect(images, plan.table, spots, planes, found, counts, visits, self.threads)
        return self._boxes(plan, found, counts)

    def _boxes(
        self, plan: Pyramid, found: NDArray[np.int32], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        starts = plan.table[:, 8]
        parts = [found[2 * at : 2 * (at + n)] for at, n in zip(starts, counts, strict=True) if n]
        if not parts:
            return np.empty((0, 4), np.int32), np.empty(0, np.int32)
        pairs = np.concatenate(parts).reshape(-1, 2)
        levels = np.repeat(np.arange(len(counts)), counts)
        return plan.boxes(self.model, levels, pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])

    def _merged(
        self, boxes: NDArray[np.int32], scores: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """One box for each object, best first."""
        if len(scores) > self.most:
            best = best_first(boxes, scores)[: self.most]
            boxes, scores = boxes[best], scores[best]
        if self.neighbours is not None:
            return group(boxes, scores, self.neighbours, self._overlap)[:2]
        kept = suppress(boxes, scores, self._overlap, self._measure)
        return boxes[kept], scores[kept]

    def _plan(
        self, width: int, height: int, min_size: int | None, max_size: int | None
    ) -> tuple[Pyramid, NDArray[np.int64]]:
        """The levels of frames of one size, and where the trees' nodes look on them."""
        key = width, height, min_size, max_size
        with self._lock:
            if key not in self._plans:
                if len(self._plans) >= PLANS:
                    self._plans.pop(next(iter(self._plans)))
                plan = Pyramid.plan(self.model, *key, self.per_octave, self.stride, self.exact)
                self._plans[key] = plan, spots_on(plan, self._runtime)
            return self._plans[key]

    def _room(self, plan: Pyramid) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Room for planes and finds, kept by each thread, for fresh pages are slow."""
        planes, found = getattr(self._rooms, "arrays", (np.empty(0, np.uint8), np.empty(0, np.int32)))
        if len(planes) < plan.plane_bytes or len(found) < 2 * plan.windows:
            planes, found = np.empty(plan.plane_bytes, np.uint8), np.empty(2 * plan.windows, np.int32)
            self._rooms.arrays = planes, found
        return planes, found

    def probability(self, scores: NDArray[np.int32]) -> NDArray[np.float32]:
        """How likely windows with these scores hold an object."""
        if self.model.sigmoid is None:
            return np.ones(len(scores), np.float32)
        with np.errstate(all="ignore"):  # a strange but valid model may overflow here, which hurts nobody
            probability = self.model.sigmoid(scores.astype(np.float64) * self.model.score_unit)
        return np.nan_to_num(probability).astype(np.float32)


def within(boxes: NDArray[np.int32], width: int, height: int) -> NDArray[np.int32]:
    """The parts of boxes that a frame shows."""
    return np.clip(boxes, 0, [width, height, width, height]).astype(np.int32)


def channels(model: Model) -> Channels:
    """The planes that a model looks at."""
    mode = "pixels" if model.kind == "haar" else model.channels
    return Channels(mode, model.cell, model.smooth, model.normalise)


def runtime(model: Model) -> kernels.Runtime:
    """The model as the C runtime wants it."""
    accept = np.empty(0, np.int16) if model.accept is None else model.accept
    return kernels.Runtime(
        KINDS.index(model.kind), model.cell, model.smooth, model.normalise, model.planes, model.window,
        model.depth, model.reject_shift, node_bytes(model), model.feature, model.threshold.astype(np.int32),
        rectangle_bytes(model), model.leaf, model.reject, accept, rejection(model),
    )  # fmt: skip


def spots_on(plan: Pyramid, core: kernels.Runtime) -> NDArray[np.int64]:
    """Where the nodes of a model look on the levels of a frame."""
    spots = np.empty(len(plan.levels) * core.spots_a_level, np.int64)
    core.place(plan.table, spots)
    return spots


def rejection(model: Model) -> NDArray[np.int32]:
    """The score at or below which a window is out, after each tree."""
    never = np.iinfo(np.int32).min
    return np.where(model.reject == NEVER_REJECT, never, model.reject.astype(np.int32) << model.reject_shift)


def node_bytes(model: Model) -> NDArray[np.uint8]:
    """Place, plane and threshold of every node of a cell model."""
    if model.kind != "cell":
        return np.empty((0, 4), np.uint8)
    width, height = model.window
    plane, place = np.divmod(model.feature.astype(np.int64), width * height)
    y, x = np.divmod(place, width)
    nodes = np.stack([x, y, plane, model.threshold], axis=-1).astype(np.uint8)
    return np.ascontiguousarray(nodes.reshape(-1, 4))


def rectangle_bytes(model: Model) -> NDArray[np.uint8]:
    """Plane, x, y, width, height and weight of every rectangle, a byte each."""
    rows = np.asarray(model.rectangles, np.int16).reshape(-1, 5)
    plane, x, y, width, height, weight = (
        (0 * rows[:, 0], *rows.T) if model.kind == "haar" else (*rows.T, 0 * rows[:, 0] + 1)
    )
    rects = np.stack([plane, x, y, width, height, weight], axis=-1)
    return np.ascontiguousarray((rects & 255).astype(np.uint8))


def _region(
    image: Image, roi: tuple[int, int, int, int] | None
) -> tuple[Image, int, int]:
    if roi is None:
        return image, 0, 0
    if not _whole_numbers(roi) or min(roi[2:]) < 0:
        raise ValueError(f"expected a region x, y, width, height in whole pixels, got {roi!r}")
    x, y, width, height = (int(part) for part in roi)
    _, rows, columns = image.shape
    left, top = min(max(x, 0), columns), min(max(y, 0), rows)
    right, bottom = max(left, min(x + width, columns)), max(top, min(y + height, rows))
    return np.ascontiguousarray(image[:, top:bottom, left:right]), left, top


def _whole_numbers(roi: Any) -> bool:
    return (
        isinstance(roi, tuple | list | np.ndarray)
        and len(roi) == 4
        and all(isinstance(part, int | np.integer) for part in roi)
    )


def _share(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be a share between 0 and 1, got {value!r}")


def _size(name: str, value: Any) -> int | None:
    return None if value is None else _whole(name, value, 1, 2**20)


def _whole(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}, got {value!r}")
    return int(value)
