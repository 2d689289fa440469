"""The samples of a node, ordered into growing subsets from heavy to light [Appel 3.3]."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade._ext import samples as kernels


@dataclass(frozen=True)
class Weights:
    """What one round asks of each sample, in integers; `mass` is the error that it can cause at most."""

    weight: NDArray[np.int32]
    target: NDArray[np.int32]
    mass: NDArray[np.int64]

    @classmethod
    def of(
        cls, weight: NDArray[np.int32], target: NDArray[np.int32], criterion: str
    ) -> "Weights":
        mass = weight.astype(np.int64)
        if criterion == "variance":
            # ceil(A^2 / W) keeps the bound of [Appel 3.2] exact; who has a weight has some mass, for only
            # samples without any are left out.
            square = target.astype(np.int64) ** 2
            mass = np.maximum(-(-square // np.maximum(mass, 1)), mass > 0)
        return cls(weight, target, mass)


@dataclass(frozen=True)
class Classes:
    """Samples sorted by mass, to the resolution of a class; takes one pass."""

    of: NDArray[np.uint16]  # for every sample of the table; 0 for those not asked about
    masses: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def classify(cls, samples: NDArray[np.int32], mass: NDArray[np.int64]) -> "Classes":
        classes = cls(
            np.zeros(len(mass), np.uint16),
            np.empty(kernels.CLASSES, np.int64),
            np.empty(kernels.CLASSES, np.int64),
        )
        kernels.classify(samples, mass, classes.of, classes.masses, classes.counts)
        return classes

    def marks(self, shares: tuple[float, ...]) -> NDArray[np.int64]:
        """The mass that makes up each share of all of it."""
        total = int(self.masses.sum())
        return np.array([int(share * total) for share in shares])

    def cutoff(self, mark: int) -> int:
        """The class that, with all above it, first holds this much; at least class 1."""
        held = np.cumsum(self.masses[:0:-1])  # from the heaviest class down to class 1
        return max(1, len(held) - int(np.searchsorted(held, mark)))

    def fitting(self, limit: int) -> int:
        """The lowest class that has, with all above it, at most `limit` samples; at least class 1."""
        heavier = np.cumsum(self.counts[::-1])[::-1]
        return max(1, int(np.searchsorted(-heavier, -limit)))


@dataclass(frozen=True)
class Subsets:
    columns: NDArray[np.int32]
    bounds: NDArray[np.int64]  # subset i adds columns[bounds[i]:bounds[i + 1]]
    totals: NDArray[np.int64]  # weight, target and mass up to and with subset i

    @classmethod
    def order(
        cls,
        samples: NDArray[np.int32],
        weights: Weights,
        classes: Classes,
        marks: NDArray[np.int64],
        position: NDArray[np.int32],
    ) -> "Subsets":
        """The heaviest samples first; if `position` is given, those that have one before the others."""
        columns = np.empty(len(samples), np.int32)
        bounds = np.empty(len(marks) + 2, np.int64)
        totals = np.empty((len(marks) + 1, 3), np.int64)
        kernels.order(
            samples, classes.of, classes.masses, marks, position,
            weights.weight, weights.target, weights.mass,
            np.empty(len(classes.of), np.uint8), columns, bounds, totals,
        )  # fmt: skip
        return cls(columns[: bounds[-1]], bounds, totals)

    @classmethod
    def whole(cls, samples: NDArray[np.int32], weights: Weights) -> "Subsets":
        """All samples in one subset, as exhaustive search takes them."""
        parts = (weights.weight, weights.target, weights.mass)
        totals = np.array([[int(part[samples].sum(dtype=np.int64)) for part in parts]])
        return cls(samples, np.array([0, len(samples)]), totals)

    @property
    def first(self) -> NDArray[np.int32]:
        return self.columns[: self.bounds[1]]

    def partition(
        self, row: NDArray[np.uint8], threshold: int, weights: Weights
    ) -> tuple["Subsets", "Subsets"]:
        """What goes left and what goes right; the children keep their parent's subsets."""
        parts = np.empty((2, len(self.columns)), np.int32)
        bounds = np.empty((2, len(self.bounds)), np.int64)
        totals = np.empty((2, *self.totals.shape), np.int64)
        kernels.partition(
            row, threshold, self.columns, self.bounds,
            weights.weight, weights.target, weights.mass, parts, bounds, totals,
        )  # fmt: skip
        left, right = (Subsets(parts[i, : bounds[i, -1]], bounds[i], totals[i]) for i in (0, 1))
        return left, right
