"""What a tree says at its leaves, given its splits: exact sums in one fixed order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade._ext import weights as kernels
from cascade.settings import Settings

# Weight that no sample has, as a share of all: it does not depend on how many samples there are, so that a
# sample of weight two is the same as two samples.
SMOOTHING = 1e-4


@dataclass(frozen=True)
class Leaves:
    values: NDArray[np.float64]
    error: float  # weighted error of the tree's sign, eps of [Appel 2.11]
    useful: bool  # better than guessing


@dataclass(frozen=True)
class Sums:
    """Of each leaf: the weight of its negative and of its positive samples."""

    negative: NDArray[np.float64]
    positive: NDArray[np.float64]

    @classmethod
    def of(
        cls, leaf: NDArray[np.uint8], labels: NDArray[np.int8], values: NDArray[np.float64], n: int
    ) -> "Sums":
        sums = np.empty((n, 2))
        kernels.leaf_sums(leaf, labels, values, sums)
        return cls(sums[:, 0], sums[:, 1])

    @property
    def signs(self) -> NDArray[np.float64]:
        """The vote of each leaf; one that no sample reaches has none."""
        return np.sign(self.positive - self.negative)

    def correct_and_wrong(self, signs: NDArray[np.float64]) -> tuple[float, float]:
        """Weight on the right and on the wrong side of the votes; a leaf without one is half wrong."""
        right = wrong = 0.0
        for negative, positive, sign in zip(self.negative, self.positive, signs, strict=True):
            votes = ((1 + sign) / 2, (1 - sign) / 2)
            right += positive * votes[0] + negative * votes[1]
            wrong += positive * votes[1] + negative * votes[0]
        return float(right), float(wrong)


def fit_leaves(
    settings: Settings,
    leaf: NDArray[np.uint8],
    labels: NDArray[np.int8],
    gradient: NDArray[np.float64],
    hessian: NDArray[np.float64],
) -> Leaves:
    """The leaf values that the loss asks for, before shrinkage."""
    n = 2**settings.depth
    if settings.loss in ("logitboost", "l2boost"):
        return _newton(leaf, labels, gradient, hessian, n)
    sums = Sums.of(leaf, labels, hessian, n)
    if settings.leaves == "real":
        return _real(sums)
    return _discrete(sums, 0.5 if settings.loss == "adaboost" else 0.25)


def log_odds(right: float, wrong: float) -> float:
    """ln(right / wrong); where a side has nothing, it counts as if it had next to nothing."""
    trace = SMOOTHING * (right + wrong)
    return kernels.log((right or trace) / (wrong or trace))


def _discrete(sums: Sums, factor: float) -> Leaves:
    """+/- alpha: 1/2 log odds for AdaBoost [Appel 2.12], 1/4 for VEB-Boost [VEB lemma 1]."""
    right, wrong = sums.correct_and_wrong(sums.signs)
    alpha = factor * log_odds(right, wrong)
    return Leaves(alpha * sums.signs, wrong / (right + wrong), alpha > 0.0)


def _real(sums: Sums) -> Leaves:
    """Half the log odds of each leaf, smoothed so that small and pure leaves stay modest [Appel 7.1]."""
    right, wrong = sums.correct_and_wrong(sums.signs)
    trace = SMOOTHING * (right + wrong)
    pairs = zip(sums.negative, sums.positive, strict=True)
    values = [
        0.5 * kernels.log((positive + trace) / (negative + trace)) for negative, positive in pairs
    ]
    return Leaves(np.array(values), wrong / (right + wrong), any(values))


def _newton(
    leaf: NDArray[np.uint8],
    labels: NDArray[np.int8],
    gradient: NDArray[np.float64],
    hessian: NDArray[np.float64],
    n: int,
) -> Leaves:
    """Sum of gradients over sum of hessians: LogitBoost's Newton step, L2Boost's mean [Meir]."""
    tops, bottoms = (Sums.of(leaf, labels, values, n) for values in (gradient, hessian))
    top, bottom = tops.negative + tops.positive, bottoms.negative + bottoms.positive
    values = np.divide(top, bottom, out=np.zeros(n), where=bottom > 0)
    right, wrong = bottoms.correct_and_wrong(np.sign(values))
    return Leaves(values, wrong / (right + wrong) if right + wrong else 0.0, bool(values.any()))
