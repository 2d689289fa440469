"""Haar features: what classic detectors look at, as bytes.

A Haar feature is the contrast between rectangles of a grey window, in units of the window's own
contrast. Values are found in integers only, so that every machine sees the same byte.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade.features import check_planes, integral
from cascade.trees import Trees

ZERO = 128  # the byte of a feature without contrast
GAIN = 64  # bytes for a response of one standard deviation
MIN_SIGMA = 4  # grey levels; flatter windows count as this contrasty, so that noise stays quiet
MIN_AREA = 8  # pixels; a smaller feature sees mostly noise
MAX_SIDE = 1024  # pixels; keeps every sum within its integers
RECTANGLES = 3  # of a feature at most; unused ones have weight 0
WINDOWS, FEATURES = 2048, 16  # in work at a time: their sums fit into a cache

# A feature is a grid of (columns, rows) equal cells. Its first rectangle is the whole grid with
# weight -1, and each (column, row, weight) adds one cell, such that the weighted areas cancel. In
# this classic form, four rectangles side by side need three weights, and two or three need two.
KINDS = (
    (2, 1, ((1, 0, 2),)),
    (1, 2, ((0, 1, 2),)),
    (3, 1, ((1, 0, 3),)),
    (1, 3, ((0, 1, 3),)),
    (2, 2, ((1, 0, 2), (0, 1, 2))),
)


@dataclass(frozen=True, eq=False)
class HaarPool:
    """Upright Haar features of 2, 3 and 4 rectangles in windows of one size."""

    width: int
    height: int
    rectangle: NDArray[np.int32]  # (features, RECTANGLES, 4): x, y, width, height
    weight: NDArray[np.int32]  # (features, RECTANGLES)

    def __post_init__(self) -> None:
        _check_size(self.width, self.height)
        for name in ("rectangle", "weight"):
            array = np.ascontiguousarray(getattr(self, name), np.int32).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        count = len(self.weight)
        shapes = self.rectangle.shape, self.weight.shape
        if shapes != ((count, RECTANGLES, 4), (count, RECTANGLES)):
            raise ValueError(
                f"expected rectangles (n, {RECTANGLES}, 4) and weights (n, {RECTANGLES}), "
                f"got {shapes[0]} and {shapes[1]}"
            )
        x, y, w, h = np.moveaxis(self.rectangle.astype(np.int64), -1, 0)
        inside = (x >= 0) & (y >= 0) & (x + w <= self.width) & (y + h <= self.height)
        if not (inside & (w >= 0) & (h >= 0)).all() or not (w * h)[:, 0].all():
            raise ValueError(f"expected rectangles within {self.width} x {self.height} pixels")
        if (self.weight * w * h).sum(axis=1).any():
            raise ValueError("expected weights that balance: a constant window must give 0")

    @classmethod
    def random(cls, width: int, height: int, count: int, seed: int) -> "HaarPool":
        """`count` distinct features; every kind, size and place is equally likely."""
        _check_size(width, height)
        kind, w, h = np.array(list(_sizes(width, height)), np.int64).reshape(-1, 3).T
        ends = np.cumsum((width - w + 1) * (height - h + 1))  # how many places each size has
        total = int(ends[-1]) if len(ends) else 0
        if not 0 <= count <= total:
            raise ValueError(
                f"expected a count from 0 to the {total} features of a window of "
                f"{width} x {height}, got {count}"
            )
        chosen = np.random.default_rng(seed).choice(total, count, replace=False)
        size = np.searchsorted(ends, chosen, side="right")
        y, x = np.divmod(ends[size] - 1 - chosen, width - w[size] + 1)
        places = np.stack([kind[size], x, y, w[size], h[size]], axis=1).tolist()
        rows = np.array([_feature(*place) for place in places], np.int32)
        rows = rows.reshape(count, RECTANGLES, 5)
        return cls(width, height, rows[..., :4], rows[..., 4])

    def __len__(self) -> int:
        return len(self.weight)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, HaarPool)
            and (self.width, self.height) == (other.width, other.height)
            and np.array_equal(self.rectangle, other.rectangle)
            and np.array_equal(self.weight, other.weight)
        )

    __hash__ = None  # type: ignore[assignment]

    def values(self, planes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The feature table (features, windows) of grey windows (windows, 1, height, width).

        A value is 128 + floor(64 r / (a s)), clipped to a byte: r is the weighted sum of the
        feature's pixels, a its area, and s the standard deviation of the window's pixels or
        MIN_SIGMA, whichever is more. n s is taken as an integer, n being the window's area.
        """
        check_planes(planes, (1, self.height, self.width))
        windows = planes[:, 0]
        table = np.empty((len(self), len(windows)), np.uint8)
        corners = self._corners()
        area = self.rectangle[:, 0, 2:].prod(axis=1, dtype=np.int64)[:, None]
        for start in range(0, len(windows), WINDOWS):
            block = windows[start : start + WINDOWS]
            sums = np.ascontiguousarray(integral(block).reshape(len(block), -1).T)
            spread = _spread(block)
            for k in range(0, len(self), FEATURES):
                part = slice(k, k + FEATURES)
                response = _response(sums, corners[part], self.weight[part])
                response *= GAIN * self.width * self.height
                response //= area[part] * spread
                response += ZERO
                table[part, start : start + WINDOWS] = response.clip(0, 255)
        return table

    def fields(self, trees: Trees) -> dict[str, Any]:
        """Only features that some node looks at."""
        used, feature = np.unique(trees.feature, return_inverse=True)
        return {
            "kind": "haar", "feature": feature.reshape(trees.feature.shape), "threshold": trees.threshold,
            "rectangles": np.dstack([self.rectangle[used], self.weight[used]]),
        }  # fmt: skip

    def _corners(self) -> NDArray[np.intp]:
        """Where each rectangle's corners are in a flat integral image, (features, R, 4)."""
        x, y, w, h = np.moveaxis(self.rectangle.astype(np.intp), -1, 0)
        top, bottom = y * (self.width + 1) + x, (y + h) * (self.width + 1) + x
        return np.stack([bottom + w, bottom, top + w, top], axis=-1)


def _response(
    sums: NDArray[np.int32], corners: NDArray[np.intp], weight: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The weighted rectangle sums of some features in all windows."""
    response = np.zeros((len(weight), sums.shape[1]), np.int64)
    for i in range(RECTANGLES):
        used = np.flatnonzero(weight[:, i])
        a, b, c, d = corners[used, i].T
        response[used] += (sums[a] - sums[b] - sums[c] + sums[d]) * weight[used, i, None]
    return response


def _spread(windows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """n s of each window, rounded down: s is its standard deviation, n its number of pixels."""
    pixels = windows.reshape(len(windows), -1).astype(np.int64)
    n = pixels.shape[1]
    variance = n * np.einsum("wi,wi->w", pixels, pixels) - pixels.sum(axis=1) ** 2
    return np.maximum(_isqrt(variance), MIN_SIGMA * n)


def _isqrt(x: NDArray[np.int64]) -> NDArray[np.int64]:
    """floor(sqrt(x)); the float root is off by one at most, which integers then put right."""
    root = np.sqrt(x).astype(np.int64)
    root -= root * root > x
    root += (root + 1) * (root + 1) <= x
    return root


def _sizes(width: int, height: int) -> Iterator[tuple[int, int, int]]:
    """Every (kind, width, height) that fits into a window."""
    for kind, (columns, rows, _) in enumerate(KINDS):
        for w in range(columns, width + 1, columns):
            for h in range(rows, height + 1, rows):
                if w * h >= MIN_AREA:
                    yield kind, w, h


def _feature(kind: int, x: int, y: int, w: int, h: int) -> list[tuple[int, int, int, int, int]]:
    """The rectangles x, y, width, height, weight of one feature."""
    columns, rows, cells = KINDS[kind]
    cw, ch = w // columns, h // rows
    parts = [(x + i * cw, y + j * ch, cw, ch, weight) for i, j, weight in cells]
    unused = [(0, 0, 0, 0, 0)] * (RECTANGLES - 1 - len(parts))
    return [(x, y, w, h, -1), *parts, *unused]


def _check_size(width: int, height: int) -> None:
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise ValueError(
            f"expected a window of 1 to {MAX_SIDE} pixels a side, got {width} x {height}"
        )
