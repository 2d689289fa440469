"""From numbers to bytes: at most 256 bins a feature, and the edges that lead back.

The trainer sees bytes only. Bytes are taken as they are; any other number is replaced by the bin that it
falls in, and `edges` turns a tree's byte threshold back into one on the numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cascade.layout import BINS

BLOCK = 1 << 21  # values that are widened to floats at a time, 16 MB
BYTES = np.arange(BINS)


@dataclass(frozen=True, eq=False)
class Bins:
    """The edges between the bins of every feature.

    `x > edges[k][t]` holds exactly when the byte of x is above t, so a node that compares the byte of
    feature k with t compares the number with that edge.
    """

    edges: tuple[NDArray[np.float64], ...]  # of each feature, rising, at most 255

    def __post_init__(self) -> None:
        edges = tuple(_frozen(edges) for edges in self.edges)
        for k, rising in enumerate(edges):
            if rising.ndim != 1 or len(rising) >= BINS or not np.isfinite(rising).all():
                raise ValueError(f"expected at most {BINS - 1} finite edges for feature {k}, got {rising}")
            if (rising[1:] <= rising[:-1]).any():
                raise ValueError(f"expected rising edges for feature {k}, got {rising}")
        object.__setattr__(self, "edges", edges)

    @classmethod
    def fit(cls, X: ArrayLike, max_bins: int = BINS) -> "Bins":
        """Edges halfway between neighbouring values; only where there are too many, at quantiles.

        X is (samples, features). Bytes keep their values: with 256 bins their table is X transposed.
        """
        if not 2 <= max_bins <= BINS:
            raise ValueError(f"max_bins must be between 2 and {BINS}, got {max_bins}")
        X = _checked(X)
        if not len(X):
            raise ValueError(f"expected at least one sample to bin, got shape {X.shape}")
        if X.dtype == np.uint8 and max_bins == BINS:
            return cls((np.arange(BINS - 1) + 0.5,) * X.shape[1])
        return cls(tuple(_edges(column, max_bins) for column in _columns(X)))

    def transform(self, X: ArrayLike) -> NDArray[np.uint8]:
        """The table (features, samples) of the bins that the numbers X (samples, features) fall in."""
        X = _checked(X)
        if X.shape[1] != len(self.edges):
            raise ValueError(f"expected {len(self.edges)} features, got {X.shape[1]}")
        table = np.empty(X.shape[::-1], np.uint8)
        for row, edges, column in zip(table, self.edges, _columns(X), strict=True):
            if column.dtype == np.uint8:  # a look-up is all that a byte needs
                row[:] = np.searchsorted(edges, BYTES).astype(np.uint8)[column]
            else:
                row[:] = np.searchsorted(edges, column)
        return table

    def threshold(self, feature: int, byte: int) -> float:
        """The number that `value > byte` stands for; infinite where no bin lies above the byte."""
        edges = self.edges[feature]
        return float(edges[byte]) if byte < len(edges) else np.inf


def _edges(column: NDArray[Any], max_bins: int) -> NDArray[np.float64]:
    """Cuts between distinct values that leave about equally many samples in every bin."""
    values, counts = np.unique(column.astype(np.float64), return_counts=True)
    if len(values) > max_bins:
        below = np.cumsum(counts)[:-1] * max_bins  # samples up to each cut, in units of a bin's share
        shares = np.arange(1, max_bins) * len(column)
        cuts = np.unique(np.searchsorted(below, shares))
        cuts = cuts[cuts < len(below)]
    else:
        cuts = np.arange(len(values) - 1)
    return _between(values[cuts], values[cuts + 1])


def _between(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Midpoints, halved first so as not to overflow; between two adjacent floats, the lower one."""
    middle = low / 2 + high / 2
    return np.where((low <= middle) & (middle < high), middle, low)


def _columns(X: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Each feature as contiguous floats or bytes; a block at a time, for a row of X lies together."""
    dtype = np.uint8 if X.dtype == np.uint8 else np.float64
    step = max(1, BLOCK // max(1, len(X)))
    for start in range(0, X.shape[1], step):
        with np.errstate(over="ignore"):  # a number beyond float64 becomes infinite and is reported
            block = np.ascontiguousarray(X[:, start : start + step].T, dtype)
        if not np.isfinite(block).all():
            kind = "NaN" if np.isnan(block).any() else "infinity"
            raise ValueError(f"Input X contains {kind}; only finite numbers can be binned")
        yield from block


def _checked(X: ArrayLike) -> NDArray[Any]:
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "buif":
        raise ValueError(f"expected numbers of shape (samples, features), got {X.dtype} of shape {X.shape}")
    return X


def _frozen(edges: ArrayLike) -> NDArray[np.float64]:
    edges = np.array(edges, np.float64)
    edges.flags.writeable = False
    return edges
