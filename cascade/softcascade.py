"""When a window may be given up: the score after each tree at or below which it is rejected [Appel 2.2].

A trace is set from the paths of objects, their scores after each tree. `constant` is ACF's one number for
all trees. `backward` keeps every path [direct backward pruning]. `pruned` wants only one window of each
object to get through, and gives up a promised share of the objects, most of them early, where a lost object
saves most [multiple-instance pruning; Bourdev & Brandt].
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade.model import NEVER_REJECT
from cascade.trees import Trees

CONFIDENCE = 0.95
FOLDS = 4  # parts of the objects that are held against the trace of the others
EASING = 16  # steps in which a trace gives way
EARLY = 32.0  # trees in which most of the objects that are given up are given up


@dataclass(frozen=True)
class Promise:
    """What a trace keeps, measured on objects that did not set it."""

    objects: int  # that all trees together accept
    kept: int
    recall: float  # kept / objects
    least: float  # with 95 % confidence, at least this share of objects like these is kept

    @classmethod
    def of(cls, kept: int, objects: int) -> "Promise":
        return cls(objects, kept, kept / objects if objects else 1.0, lower_bound(kept, objects))


def quantised(trees: Trees, unit: float) -> NDArray[np.int16]:
    """Leaves as they ship: whole numbers of `unit`."""
    return np.clip(np.rint(trees.leaf / unit), -32767, 32767).astype(np.int16)


def paths(trees: Trees, leaf: NDArray[np.int16], table: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The scores (trees, windows) after each tree, with the leaves that ship."""
    whole = Trees(trees.feature, trees.threshold, leaf.astype(np.float64))
    scores = np.empty((len(trees), table.shape[1]), np.int32)
    for t, score in enumerate(whole.staged(table)):  # exact: whole numbers far below 2^53
        scores[t] = score
    return scores


def constant(trees: int, level: float, unit: float) -> NDArray[np.int32]:
    """The same score for all trees, as ACF has it."""
    return np.full(trees, round(level / unit), np.int32)


def backward(scores: NDArray[np.int32]) -> NDArray[np.int32]:
    """The tightest trace that keeps each of these paths."""
    trace: NDArray[np.int32] = scores.min(axis=1) - np.int32(1)
    return trace


def pruned(
    scores: NDArray[np.int32], objects: NDArray[np.intp], recall: float
) -> NDArray[np.int32]:
    """The tightest trace that keeps at least this share of the objects.

    Column i of `scores` is a window of object number `objects[i]`; an object is kept while one of its windows
    is. After tree t, 1 - exp(-t / EARLY) of what may be lost in all may have been lost. No score above 0
    is rejected: the worst object known is not the worst there is.
    """
    trees, count = len(scores), int(objects.max()) + 1 if len(objects) else 0
    if not count:
        return np.full(trees, NEVER_REJECT, np.int32)
    spare = _spare(count, recall)
    trace = np.empty(trees, np.int32)
    alive = np.ones(len(objects), bool)
    for t in range(trees):
        best = np.full(count, np.iinfo(np.int32).min)
        np.maximum.at(best, objects[alive], scores[t, alive])
        lost = np.count_nonzero(best == np.iinfo(np.int32).min)
        share = 1 - math.exp(-(t + 1) / EARLY)
        given_up = max(int(lost), int(spare * share + 1e-9))
        trace[t] = min(int(np.sort(best)[given_up]) - 1, 0)
        alive &= scores[t] > trace[t]
    return trace


def _spare(objects: int, recall: float) -> int:
    """How many may be lost for the others to be at least this share."""
    return min(objects - 1, math.floor(objects * (1 - recall) + 1e-9))


def survivors(scores: NDArray[np.int32], trace: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which paths stay above the trace all the way."""
    return np.asarray((scores > trace[:, None]).all(axis=0))


def promised(
    scores: NDArray[np.int32], objects: NDArray[np.intp], recall: float
) -> tuple[NDArray[np.int32], Promise]:
    """A trace that keeps this share also of objects that did not set it, and what it keeps of them.

    Each part of the objects is held against the trace that the others set. While too few get through, the
    trace gives way: first it gives up fewer objects, then it is lowered, step by step.
    """
    for share, slack in _easing(recall, scores):
        held = _held(scores, objects, share, slack)
        if held.recall >= recall:
            break
    return pruned(scores, objects, share) - np.int32(slack), held


def _easing(recall: float, scores: NDArray[np.int32]) -> Iterator[tuple[float, int]]:
    """Shares to keep and amounts to lower the trace by, from tight to loose."""
    for part in (0.0, 0.5, 0.75, 1.0):
        yield recall + (1 - recall) * part, 0
    reach = int(np.ptp(scores)) if scores.size else 0
    for step in range(1, EASING + 1):
        yield 1.0, reach * step * step // EASING**2


def _held(
    scores: NDArray[np.int32], objects: NDArray[np.intp], share: float, slack: int
) -> Promise:
    """What traces keep of objects that did not set them."""
    kept = total = 0
    for held, rest in _folds(objects, FOLDS):
        _, numbers = np.unique(objects[rest], return_inverse=True)
        trace = pruned(scores[:, rest], numbers, share) - np.int32(slack)
        passes = survivors(scores[:, held], trace)
        kept += len(np.unique(objects[held][passes]))
        total += len(np.unique(objects[held]))
    return Promise.of(kept, total)


def _folds(
    objects: NDArray[np.intp], folds: int
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    for fold in range(folds):
        held = objects % folds == fold
        if held.any() and not held.all():
            yield held, ~held


def stored(trace: NDArray[np.int32]) -> tuple[NDArray[np.int16], int]:
    """A trace as a model file has it: int16 and a shift, rounded down, so that nothing more is rejected."""
    checked = trace[trace != NEVER_REJECT]
    reach = int(max(abs(checked.min()), abs(checked.max()))) if len(checked) else 0
    shift = 0
    while reach >> shift > 32766:
        shift += 1
    kept = np.where(trace == NEVER_REJECT, NEVER_REJECT, np.clip(trace >> shift, -32767, 32767))
    return kept.astype(np.int16), shift


def lower_bound(successes: int, trials: int, confidence: float = CONFIDENCE) -> float:
    """The least rate that such a count is not surprising for, one-sided [Clopper & Pearson 1934]."""
    if not 0 <= successes <= trials:
        raise ValueError(f"expected 0 to {trials} successes, got {successes}")
    if successes == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_least(successes, trials, middle) < 1 - confidence:
            low = middle
        else:
            high = middle
    return low


def _at_least(successes: int, trials: int, rate: float) -> float:
    """The chance of so many successes or more."""
    if not 0.0 < rate < 1.0:
        return float(rate >= 1.0)
    k = np.arange(successes, trials + 1)
    ways = math.lgamma(trials + 1) - np.array(
        [math.lgamma(i + 1) + math.lgamma(trials - i + 1) for i in k.tolist()]
    )
    return float(np.exp(ways + k * math.log(rate) + (trials - k) * math.log1p(-rate)).sum())
