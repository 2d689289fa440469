"""Paths: how the scores of windows grow tree by tree, and where they meet the rejection trace."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cascade.detector import runtime
from cascade.model import NEVER_REJECT, Model
from cascade.sampling import Windows

UNCHECKED = np.iinfo(np.int64).min  # in a trace: every score exceeds it


@dataclass(frozen=True)
class Paths:
    """Scores (trees, windows) after each tree of windows of objects and of backgrounds."""

    objects: NDArray[np.int32]
    backgrounds: NDArray[np.int32]
    trace: NDArray[np.int64]  # what a window must exceed after each tree

    @classmethod
    def of(cls, model: Model, objects: Windows, backgrounds: Windows) -> "Paths":
        return cls(window_paths(model, objects), window_paths(model, backgrounds), trace_of(model))

    def depths(self, scores: NDArray[np.int32]) -> NDArray[np.intp]:
        """After how many trees each window is out; one more than there are if never."""
        out = scores <= self.trace[:, None]
        return np.where(out.any(axis=0), out.argmax(axis=0) + 1, len(scores) + 1).astype(np.intp)

    def best(self, numbers: NDArray[np.intp], count: int) -> NDArray[np.float64]:
        """The best score of each of so many objects, NaN for those that are rejected; `numbers` tells which
        object each window is of."""
        passes = self.depths(self.objects) > len(self.objects)
        best = np.full(count, -np.inf)
        np.maximum.at(best, numbers[passes], self.objects[-1, passes].astype(np.float64))
        return np.where(np.isinf(best), np.nan, best)


def trace_of(model: Model) -> NDArray[np.int64]:
    """The score after each tree that a window must exceed."""
    trace = model.reject.astype(np.int64) << model.reject_shift
    return np.where(model.reject == NEVER_REJECT, UNCHECKED, trace)


def window_paths(model: Model, windows: Windows) -> NDArray[np.int32]:
    """The scores (trees, windows) after each tree, whatever the trace says."""
    whole = runtime(replace(model, reject=np.full(len(model), NEVER_REJECT), accept=None))
    scores = np.empty((len(windows), len(model)), np.int32)
    for window, row in zip(windows, scores, strict=True):
        whole.trace(np.ascontiguousarray(window), row)
    return np.ascontiguousarray(scores.T)
