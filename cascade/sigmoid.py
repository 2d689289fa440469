"""From decisions to probabilities: a sigmoid, known beforehand or fitted [Platt]."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEPS = 100
PRECISION = 1e-10


@dataclass(frozen=True)
class Sigmoid:
    """The probability 1 / (1 + exp(-(slope * decision + intercept)))."""

    slope: float
    intercept: float = 0.0

    def __call__(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        return _logistic(self.slope * decision + self.intercept)

    def other(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of the other class, exact where it is tiny."""
        return _logistic(-(self.slope * decision + self.intercept))

    @classmethod
    def fit(
        cls, decision: NDArray[np.float64], labels: NDArray[np.int8], weights: NDArray[np.float64]
    ) -> "Sigmoid":
        """The likeliest sigmoid, by Newton's method with backtracking [Platt].

        Labels count as slightly uncertain, by their number in each class, so that flawless decisions do not
        make the slope infinite. Whole weights say how often a sample was seen; others are scaled to a mean
        of 1.
        """
        if (weights != np.floor(weights)).any():
            weights = weights / weights.mean()
        positive, negative = weights[labels > 0].sum(), weights[labels < 0].sum()
        target = np.where(labels > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
        design = np.stack([decision, np.ones_like(decision)])

        def loss(line: NDArray[np.float64]) -> float:
            odds = line @ design
            return float(weights @ (np.logaddexp(0.0, odds) - target * odds))

        line = np.array([0.0, np.log((positive + 1) / (negative + 1))])
        for _ in range(STEPS):
            guess = _logistic(line @ design)
            slope = design @ (weights * (guess - target))
            curve = (design * (weights * guess * (1 - guess))) @ design.T
            step = np.linalg.solve(curve + 1e-12 * np.eye(2), slope)
            while loss(line - step) > loss(line) and np.abs(step).max() > PRECISION:
                step = step / 2
            line = line - step
            if np.abs(step).max() <= PRECISION:
                break
        return cls(float(line[0]), float(line[1]))


def _logistic(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(-odds)), exact in both tails."""
    return np.exp(-np.logaddexp(0.0, -odds))
