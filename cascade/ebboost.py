"""EBBoost's stumps: the baseline that VEB-Boost was made to improve on [VEB 2].

Its cost mixes sums of weights with sums of squared weights, so that no reweighting of single samples leads
to it and every stump has to be looked at.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade._ext import search as kernels
from cascade.layout import BINS, LANES
from cascade.leaves import Leaves, Sums, log_odds

BLOCK = 32 * LANES  # features at a time
UNIT = 2**30


@dataclass(frozen=True)
class SignedWeights:
    """y v in integers, v >= 0, and what is needed to turn sums of them back into sums of v."""

    values: NDArray[np.int64]
    negative: int  # sum of |y v| over the negative samples
    total: int
    unit: float

    @classmethod
    def of(
        cls, labels: NDArray[np.int8], v: NDArray[np.float64], samples: NDArray[np.int32]
    ) -> "SignedWeights":
        unit = math.fsum(v) / UNIT
        values = (labels * v / unit).astype(np.int64)
        used = values[samples]
        return cls(values, int(-used[used < 0].sum()), int(np.abs(used).sum()), unit)

    def sides(
        self, left: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What stumps with these signed sums on their left get right and wrong, left being negative."""
        wrong = self.negative + left
        return np.multiply(self.total - wrong, self.unit), np.multiply(wrong, self.unit)


def find_stump(
    table: NDArray[np.uint8],
    labels: NDArray[np.int8],
    weights: NDArray[np.float64],
    lam: float,
    samples: NDArray[np.int32],
    features: NDArray[np.int32],
    threads: int,
) -> tuple[int, int] | None:
    """(feature, threshold) of least cost, lowest first; None if a constant is as good.

    `weights` add up to 1. The cost is the same with the two sides of a stump exchanged.
    """
    linear = SignedWeights.of(labels, weights, samples)
    square = SignedWeights.of(labels, len(labels) * weights * weights, samples)

    def cost(left: NDArray[np.int64], left_square: NDArray[np.int64]) -> NDArray[np.float64]:
        (right, wrong), (right2, wrong2) = linear.sides(left), square.sides(left_square)
        a = (1 - lam) * right * right + lam * right2
        b = (1 - lam) * wrong * wrong + lam * wrong2
        return 2 * np.sqrt(a * b) + 2 * (1 - lam) * right * wrong

    nothing = np.zeros(1, np.int64)
    best, stump = float(cost(nothing, nothing)[0]), None
    pairs = ((square.values << 32) + linear.values)[samples]
    for start in range(0, len(features), BLOCK):
        block = features[start : start + BLOCK]
        hist = np.empty((-(-len(block) // LANES), BINS, LANES), np.int64)
        kernels.histograms["int64_t"](table, block, samples, pairs, hist, threads)
        sums = hist.swapaxes(1, 2).reshape(-1, BINS)[: len(block), :-1].cumsum(axis=1)
        low = sums.astype(np.int32).astype(np.int64)
        costs = cost(low, (sums - low) >> 32)
        at = int(np.argmin(costs))
        if costs.flat[at] < best:
            best, stump = float(costs.flat[at]), (int(block[at // (BINS - 1)]), at % (BINS - 1))
    return stump


def fit_stump_leaves(
    leaf: NDArray[np.uint8], labels: NDArray[np.int8], weights: NDArray[np.float64], lam: float
) -> Leaves:
    """+/- alpha with alpha = 1/4 ln(a / b) for the exact minimum of the cost along a stump [VEB 2]."""
    n = len(labels)
    linear = Sums.of(leaf, labels, weights, 2)
    square = Sums.of(leaf, labels, n * weights * weights, 2)
    signs = np.array([-1.0, 1.0])
    (right, wrong), (right2, wrong2) = (s.correct_and_wrong(signs) for s in (linear, square))
    a = (1 - lam) * right * right + lam * right2
    b = (1 - lam) * wrong * wrong + lam * wrong2
    alpha = 0.25 * log_odds(a, b)
    return Leaves(alpha * signs, min(wrong, right) / (wrong + right), alpha != 0.0)
