"""Feature pools: what a tree may look at inside a window, as bytes for the trainer and integers for a model.

A pool turns the planes of windows into a feature table, and the trees that were learnt from it into the
fields of a Model. What the trainer bins is what the detector compares: a node goes right for the same windows
in both. Haar features are in `cascade.haar`.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cascade.binning import Bins
from cascade.trees import Trees

UNSPLIT = 255  # as a threshold: no byte is above it
NEVER = 2**31 - 1  # likewise, no sum
BLOCK = 512  # windows whose sums are in work at a time


class Pool(Protocol):
    def __len__(self) -> int: ...

    def values(self, planes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The table (features, windows) of windows (windows, planes, height, width)."""

    def fields(self, trees: Trees) -> dict[str, Any]:
        """Kind, feature, threshold and rectangles of a Model with these trees."""


@dataclass(frozen=True)
class CellPool:
    """Every byte of every plane of a window."""

    planes: int
    width: int
    height: int

    def __len__(self) -> int:
        return self.planes * self.width * self.height

    def values(self, planes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The bytes themselves, a row for each cell."""
        check_planes(planes, (self.planes, self.height, self.width))
        return np.ascontiguousarray(planes.reshape(len(planes), -1).T)

    def fields(self, trees: Trees) -> dict[str, Any]:
        return {"kind": "cell", "feature": trees.feature, "threshold": trees.threshold}


@dataclass(frozen=True, eq=False)
class RectPool:
    """Sums of planes over rectangles of cells.

    A sum takes more than a byte, so each feature has edges of its own: as a byte, a sum is the number of
    edges below it. A model compares the sum with the edge itself.
    """

    planes: int
    width: int
    height: int
    rectangle: NDArray[np.uint8]  # (features, 5): plane, x, y, width, height
    edges: tuple[NDArray[np.int32], ...]  # of each feature, rising

    @classmethod
    def random(cls, planes: NDArray[np.uint8], count: int, seed: int) -> "RectPool":
        """`count` rectangles, every plane, place and size being equally likely, and the edges that tell these
        windows apart best."""
        _, depth, height, width = planes.shape
        random = np.random.default_rng(seed)
        x, y = (np.sort(_ends(random, side, count), axis=1) for side in (width, height))
        plane = random.integers(0, depth, count)
        rows = np.stack([plane, x[:, 0], y[:, 0], x[:, 1] - x[:, 0], y[:, 1] - y[:, 0]], axis=1)
        rectangle = np.unique(rows.astype(np.uint8), axis=0)
        pool = cls(depth, width, height, rectangle, ())
        edges = Bins.fit(pool.sums(planes).T).edges
        return cls(depth, width, height, rectangle, tuple(np.floor(e).astype(np.int32) for e in edges))

    def __len__(self) -> int:
        return len(self.rectangle)

    def sums(self, planes: NDArray[np.uint8]) -> NDArray[np.int32]:
        """The sum (features, windows) over each rectangle."""
        check_planes(planes, (self.planes, self.height, self.width))
        plane, x, y, width, height = self.rectangle.astype(np.intp).T
        sums = np.empty((len(self), len(planes)), np.int32)
        for start in range(0, len(planes), BLOCK):
            block = np.ascontiguousarray(np.moveaxis(integral(planes[start : start + BLOCK]), 0, -1))
            low, top = block[plane, y + height], block[plane, y]
            of = np.arange(len(self))
            sums[:, start : start + BLOCK] = low[of, x + width] - low[of, x] - top[of, x + width] + top[of, x]
        return sums

    def values(self, planes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """How many edges lie below each sum."""
        table = np.empty((len(self), len(planes)), np.uint8)
        for row, edges, sums in zip(table, self.edges, self.sums(planes), strict=True):
            row[:] = np.searchsorted(edges, sums)
        return table

    def fields(self, trees: Trees) -> dict[str, Any]:
        """Only rectangles that some node looks at."""
        used, feature = np.unique(trees.feature, return_inverse=True)
        nodes = zip(trees.feature.flat, trees.threshold.flat, strict=True)
        threshold = [self.edges[k][t] if t < len(self.edges[k]) else NEVER for k, t in nodes]
        return {
            "kind": "rect", "feature": feature.reshape(trees.feature.shape),
            "threshold": np.array(threshold, np.int32).reshape(trees.feature.shape),
            "rectangles": self.rectangle[used],
        }  # fmt: skip


def integral(image: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Sums over all pixels above and left of each place: (..., h, w) gives (..., h + 1, w + 1)."""
    *many, height, width = image.shape
    if height * width * 255 > np.iinfo(np.int32).max:
        raise ValueError(f"expected an image whose sum fits into 32 bits, got {width} x {height}")
    sums = np.zeros((*many, height + 1, width + 1), np.int32)
    inner = sums[..., 1:, 1:]
    np.cumsum(image, axis=-2, dtype=np.int32, out=inner)
    np.cumsum(inner, axis=-1, out=inner)
    return sums


def check_planes(planes: NDArray[np.uint8], shape: tuple[int, int, int]) -> None:
    """Complain if these are not the planes of windows of this shape."""
    if not isinstance(planes, np.ndarray) or planes.dtype != np.uint8 or planes.shape[1:] != shape:
        came = (
            f"{planes.dtype} of shape {planes.shape}"
            if isinstance(planes, np.ndarray)
            else type(planes).__name__
        )
        sides = ", ".join(map(str, shape))
        raise ValueError(f"expected the uint8 planes of windows, (n, {sides}), got {came}")


def _ends(random: np.random.Generator, side: int, count: int) -> NDArray[np.int64]:
    """Pairs of different numbers from 0 to `side`."""
    first = random.integers(0, side + 1, count)
    second = random.integers(0, side, count)
    return np.stack([first, second + (second >= first)], axis=1)
