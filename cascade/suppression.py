"""One box for each object: greedy non-maximum suppression, and grouping by neighbours.

Boxes and scores are integers and all that is compared is whole, so every machine keeps the same boxes in
the same order. Equal scores are told apart by the boxes themselves, hence the order in which candidates
were found does not matter either.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cascade._ext import detect as kernels

WHOLE: Final = 256  # an overlap is given in 1/256
LIMIT: Final = 1 << 25  # of a coordinate: WHOLE times the areas of two boxes stays below 2^62
INT32: Final = np.iinfo(np.int32)
MEASURES: Final = ("iou", "smaller")
BLOCK: Final = 1 << 16  # pairs that are compared at a time: they fit into a cache


def suppress(
    boxes: NDArray[np.integer[Any]],
    scores: NDArray[np.integer[Any]],
    overlap: int = WHOLE // 2,
    measure: str = "iou",
) -> NDArray[np.intp]:
    """Indices of the boxes that no better one overlaps, best first.

    Boxes are (n, 4): left, top, right, bottom. The best box is kept, all that overlap it by at least
    `overlap` / 256 are dropped, and so on. Best is the highest score, then the topmost, the leftmost, the
    narrowest, the flattest and the first box. Two boxes share their intersection over their union, or with
    measure "smaller", over the area of the smaller one, which also drops a part inside a whole. A box without
    area overlaps nothing.
    """
    boxes, scores = _checked(boxes, scores)
    overlap = _whole("overlap (in 1/256)", overlap, 1, WHOLE)
    if measure not in MEASURES:
        raise ValueError(f"expected a measure out of {MEASURES}, got {measure!r}")
    order = np.arange(len(boxes), dtype=np.int32)
    kept = kernels.suppress(boxes, scores, order, overlap, measure == "smaller")
    return order[:kept].astype(np.intp)


def group(
    boxes: NDArray[np.integer[Any]],
    scores: NDArray[np.integer[Any]],
    neighbours: int,
    overlap: int = WHOLE // 2,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Mean boxes, highest scores and sizes of the groups of more than `neighbours` boxes, best first.

    Boxes whose intersection is at least `overlap` / 256 of their union belong together, and so do those
    that others link. A true object is found several times, a chance hit often once: asking for some
    neighbours besides the box itself, as OpenCV's minNeighbors does, drops the latter. Coordinates are
    rounded to the nearest integer, halves up.
    """
    boxes, scores = _checked(boxes, scores)
    overlap = _whole("overlap (in 1/256)", overlap, 1, WHOLE)
    neighbours = _whole("neighbours", neighbours, 0, INT32.max)
    boxes, scores, starts, counts = _gathered(boxes, scores, overlap)
    sums = np.add.reduceat(boxes, starts, axis=0, dtype=np.int64)
    means = ((2 * sums + counts[:, None]) // (2 * counts[:, None])).astype(np.int32)
    highest = np.maximum.reduceat(scores, starts)
    best = best_first(means, highest, counts)
    best = best[counts[best] > neighbours]
    return means[best], highest[best], counts[best].astype(np.int32)


def best_first(
    boxes: NDArray[np.int32], scores: NDArray[np.int32], counts: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Score falling, then top, left, width and height rising, then counts falling, then index."""
    left, top, right, bottom = boxes.T
    keys = (bottom, right, left, top, -scores.astype(np.int64))
    return np.lexsort(keys if counts is None else (-counts, *keys))


def _gathered(
    boxes: NDArray[np.int32], scores: NDArray[np.int32], overlap: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.intp], NDArray[np.intp]]:
    """Boxes and scores, one group after the other; where groups start, and how many boxes each has."""
    by_left = np.argsort(boxes[:, 0], kind="stable")
    label = _connected(np.ascontiguousarray(boxes[by_left].T), overlap)
    order = np.argsort(label, kind="stable")
    _, starts, counts = np.unique(label[order], return_index=True, return_counts=True)
    return boxes[by_left[order]], scores[by_left[order]], starts, counts


def _connected(corners: NDArray[np.int32], overlap: int) -> NDArray[np.intp]:
    """For boxes (4, n) by rising left edge, the first box of the group that each belongs to.

    Boxes that overlap by half reach beyond each other's middle from every side; few other pairs do. So
    that is asked first, and only of pairs that are not in one group already.
    """
    left, top, right, bottom = corners
    across, down = _needed(right - left, overlap), _needed(bottom - top, overlap)
    label = np.arange(len(left))
    step = max(1, BLOCK // max(1, len(left)))
    for start in range(0, len(left), step):
        rows = slice(start, start + step)
        reach = (right - across)[rows, None]
        columns = slice(start, int(np.searchsorted(left, reach.max(), side="right")))
        near = left[columns] <= reach
        near &= right[columns] >= (left + across)[rows, None]
        near &= top[columns] <= (bottom - down)[rows, None]
        near &= bottom[columns] >= (top + down)[rows, None]
        near &= label[columns] != label[rows, None]
        one, other = (index + start for index in np.nonzero(near))
        met = _overlapping(corners[:, one], corners[:, other], overlap)
        label = _joined(label, one[met], other[met])
    return label


def _needed(side: NDArray[np.int32], overlap: int) -> NDArray[np.int32]:
    """How much of a side a box must share, at least, to share this much of its area."""
    return (side.astype(np.int64) * overlap // WHOLE).astype(np.int32)


def _joined(label: NDArray[np.intp], one: NDArray[np.intp], other: NDArray[np.intp]) -> NDArray[np.intp]:
    """Labels after linking each `one` to its `other`: roots hook onto lower roots until all links agree."""
    while True:
        one, other = label[one], label[other]
        apart = one != other
        if not apart.any():
            return label
        one, other = one[apart], other[apart]
        np.minimum.at(label, np.maximum(one, other), np.minimum(one, other))
        while (label[label] != label).any():
            label = label[label]


def _overlapping(a: NDArray[np.int32], b: NDArray[np.int32], overlap: int) -> NDArray[np.bool_]:
    """Whether boxes (4, n) share at least overlap / 256 of their union, cross-multiplied."""
    width = np.maximum(np.minimum(a[2], b[2]) - np.maximum(a[0], b[0]), 0)
    height = np.maximum(np.minimum(a[3], b[3]) - np.maximum(a[1], b[1]), 0)
    shared = np.multiply(width, height, dtype=np.int64)
    whole = _area(a) + _area(b) - shared
    result: NDArray[np.bool_] = WHOLE * shared >= np.maximum(overlap * whole, 1)  # 1: nothing shares nothing
    return result


def _area(corners: NDArray[np.int32]) -> NDArray[np.int64]:
    area: NDArray[np.int64] = np.multiply(corners[2] - corners[0], corners[3] - corners[1], dtype=np.int64)
    return area


def _checked(
    boxes: NDArray[np.integer[Any]], scores: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    boxes, scores = np.asarray(boxes), np.asarray(scores)
    if boxes.ndim != 2 or boxes.shape[1] != 4 or boxes.dtype.kind not in "iu":
        raise ValueError(f"expected integer boxes of shape (n, 4), got {boxes.dtype} of shape {boxes.shape}")
    if scores.shape != (len(boxes),) or scores.dtype.kind not in "iu":
        raise ValueError(
            f"expected integer scores of shape {(len(boxes),)}, got {scores.dtype} of shape {scores.shape}"
        )
    if boxes.size and (boxes.min() < -LIMIT or boxes.max() > LIMIT):
        raise ValueError(f"expected coordinates within +/-{LIMIT}, got {boxes.min()} to {boxes.max()}")
    turned = (boxes[:, :2] > boxes[:, 2:]).any(axis=1)
    if turned.any():
        row = int(turned.argmax())
        raise ValueError(f"expected left, top, right, bottom, got {boxes[row].tolist()} in row {row}")
    if scores.size and (scores.min() < INT32.min or scores.max() > INT32.max):
        raise ValueError(f"expected scores that fit into int32, got {scores.min()} to {scores.max()}")
    return np.ascontiguousarray(boxes, np.int32), np.ascontiguousarray(scores, np.int32)


def _whole(name: str, number: int, low: int, high: int) -> int:
    if not isinstance(number, int | np.integer) or isinstance(number, bool) or not low <= number <= high:
        raise ValueError(f"expected {name} to be an integer from {low} to {high}, got {number!r}")
    return int(number)
