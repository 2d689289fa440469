"""Grow one tree on integer weights: exhaustively, or quickly by pruning features that cannot win.

Both searches find, at every node, the lowest (error, feature, threshold). Quick search rests on one bound:
the error of a feature on a subset of the samples, times the subset's mass, never exceeds that on a larger
subset [Appel 3.2]. So a feature whose preliminary error is already worse than another's final error is out.
Everything here is exact integer arithmetic: no schedule and no number of threads can change a tree.

What a round reads, it reads once:
- the first subset, the heaviest samples, comes from a compact copy of the table (cascade.heavy);
- of two children only the smaller one's histograms are filled, the other's are the parent's minus those;
- only features that are still in the race see more of the samples.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade._ext import search as kernels
from cascade.heavy import HeavySamples
from cascade.layout import BINS, CRITERIA, LANES, UNSPLIT
from cascade.subsets import Classes, Subsets, Weights

SLICE = 1 << 24  # histogram updates a thread does in one call: some 10 ms, then Ctrl-C is heard
SURVIVORS = 0.03  # share of the features that should see more than the first subset,
SURVIVORS_COMPACT = 0.05  # and where more of the samples lie in the compact copy
STRETCH = 0.3  # of what the first subset leaves out, how much more it may, to fit into the copy
LEADERS = 8  # features trained to the end first, to prune the others by
ENTROPY_SLACK = 32  # rounding of x log2 x, in units of the weight; see histogram.h

Histograms = NDArray[np.signedinteger]


def thesis_schedule(first: float = 0.9, steps: int = 20) -> tuple[float, ...]:
    """The subsets of [Appel 3.4]: `first` of the mass, then `steps` equal steps up to all of it."""
    return tuple(first + (1.0 - first) * i / steps for i in range(steps))


class AdaptiveSchedule:
    """A first subset just large enough that few features survive it.

    Early rounds prune well on half of the mass, late ones need nearly all of it, and no fixed share suits
    both. So the share follows the survivors: too many, and the next round's first subset grows.
    """

    REST = (0.5, 0.2)  # of the mass after the first subset, what each further one leaves

    def __init__(self) -> None:
        self.gap = 0.1  # the share of the mass that the first subset leaves out

    def shares(self) -> tuple[float, ...]:
        return tuple(1.0 - self.gap * rest for rest in (1.0, *self.REST))

    def learn(self, survivors: float, wanted: float) -> None:
        """Take in which share of the features outlived the first subset of a tree."""
        ratio = wanted / max(survivors, 1e-3)
        self.gap = min(0.6, max(0.01, self.gap * min(1.25, max(0.7, ratio**0.5))))


@dataclass(frozen=True)
class Split:
    error: int
    feature: int
    threshold: int


class TreeGrower:
    """Grows trees on one table; keeps its buffers and the copy of heavy samples between trees.

    `updates` counts the histogram updates so far, the unit of cost of [Appel 3.5].
    """

    def __init__(
        self,
        table: NDArray[np.uint8],
        *,
        depth: int,
        criterion: str,
        quick: bool = True,
        schedule: tuple[float, ...] | None = None,
        threads: int = 1,
    ) -> None:
        self.table = table
        self.depth = depth
        self.criterion = criterion
        self.quick = quick
        self.threads = threads
        self.updates = 0
        self.heavy = HeavySamples(table, threads)
        self._schedule = schedule
        self._adaptive = AdaptiveSchedule()
        self._code = CRITERIA[criterion]
        self._cell = np.int32 if criterion == "error" else np.int64
        cell = "int32_t" if criterion == "error" else "int64_t"
        self._kernel_first = kernels.first_subset[cell]
        self._kernel_siblings = kernels.sibling_subsets[cell]
        self._kernel_finish = kernels.finish[cell]
        self._sets: list[Histograms] = []
        self._none: Histograms = np.empty((0, BINS, LANES), self._cell)

    def effort(self) -> dict[str, float]:
        """What a resumed run needs to spend the same effort; the trees do not depend on it."""
        return {"updates": self.updates, "gap": self._adaptive.gap}

    def restore(self, effort: dict[str, float], heavy: NDArray[np.int32]) -> None:
        self.updates = int(effort["updates"])
        self._adaptive.gap = float(effort["gap"])
        if len(heavy):
            self.heavy.copy_columns(heavy)

    def grow(
        self,
        weight: NDArray[np.int32],
        target: NDArray[np.int32],
        samples: NDArray[np.int32],
        features: NDArray[np.int32],
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The features and thresholds of one tree, fitted to `samples` with `features`."""
        nodes = 2**self.depth - 1
        self._feature = np.zeros(nodes, np.int32)
        self._threshold = np.full(nodes, UNSPLIT, np.uint8)
        self._features = features
        self._weights = Weights.of(weight, target, self.criterion)
        self._values: Histograms = target
        if self.criterion != "error":
            self._values = (weight.astype(np.int64) << 32) + target
        if self.quick:
            self._grow_quickly(samples)
        else:
            self._compact, self._compact_rows = False, self.table
            self._exhaust(0, Subsets.whole(samples, self._weights))
        return self._feature, self._threshold

    def _exhaust(self, node: int, samples: Subsets) -> None:
        """Exhaustive search: bin every sample of the node for every feature."""
        everyone = np.ones(len(self._features), bool)
        split = self._finish(samples, self._none, everyone, self._unsplit(samples))
        for child, part in enumerate(self._split(node, samples, split), 2 * node + 1):
            self._exhaust(child, part)

    def _grow_quickly(self, samples: NDArray[np.int32]) -> None:
        mass = self._weights.mass
        classes = everyone = Classes.classify(samples, mass)
        if len(samples) < len(mass):
            everyone = Classes.classify(np.arange(len(mass), dtype=np.int32), mass)
        shares = self._schedule or self._adaptive.shares()
        marks = classes.marks((*shares, 1.0))  # at least three subsets: two compact, one not
        wanted = int(marks[0])
        if self._schedule is None:  # somewhat less is better than streaming the table
            fitting = int(classes.masses[everyone.fitting(self.heavy.limit) :].sum())
            spare = int(STRETCH * self._adaptive.gap * int(marks[-1]))
            marks[0] = min(wanted, fitting) if fitting >= wanted - spare else wanted
        self._compact = self.heavy.covers(everyone, classes, mass, classes.cutoff(int(marks[0])))
        self._compact_rows = self.heavy.rows if self._compact else self.table
        position = self.heavy.position if self._compact else self.heavy.position[:0]
        root = Subsets.order(samples, self._weights, classes, marks, position)
        self._survivors = self._raced = 0
        histograms = self._histogram_set(0)
        self._race(0, root, histograms, self._first(root, histograms))
        if len(root.first) < len(root.columns) and marks[0] == wanted:
            aim = SURVIVORS_COMPACT if self._compact else SURVIVORS
            self._adaptive.learn(self._survivors / self._raced, aim)

    def _race(
        self, node: int, samples: Subsets, histograms: Histograms, errors: NDArray[np.int64]
    ) -> None:
        """Split a node whose preliminary errors are known, then its children."""
        children = self._split(node, samples, self._best(samples, histograms, errors))
        if not children:
            return
        level = (node + 1).bit_length()
        small = int(len(children[0].first) > len(children[1].first))
        pair = children[small], children[1 - small]
        kept = self._histogram_set(level) if level + 1 < self.depth else self._none
        both = self._siblings(pair, histograms, kept)
        first = 2 * node + 1
        self._race(first + small, pair[0], kept, both[0])
        self._race(first + 1 - small, pair[1], histograms, both[1])

    def _first(self, samples: Subsets, histograms: Histograms) -> NDArray[np.int64]:
        """Fill the histograms over the first subset; preliminary errors of all features."""
        errors = np.empty(len(self._features), np.int64)
        columns, values = self._places(samples)[: samples.bounds[1]], self._values[samples.first]
        for start, stop in self._slices(self._groups(), len(columns)):
            self._kernel_first(
                self._compact_rows, self._features, columns, values, self._code,
                samples.totals[0], histograms, errors, start, stop, self.threads,
            )  # fmt: skip
        self.updates += len(columns) * len(self._features)
        return errors

    def _siblings(
        self, pair: tuple[Subsets, Subsets], histograms: Histograms, kept: Histograms
    ) -> NDArray[np.int64]:
        """The same for the smaller and the larger of two children, whose parent's histograms are known:
        they become the larger child's, and `kept`, if any, the smaller one's."""
        errors = np.empty((2, len(self._features)), np.int64)
        totals = np.stack([child.totals[0] for child in pair])
        columns, values = self._places(pair[0])[: pair[0].bounds[1]], self._values[pair[0].first]
        for start, stop in self._slices(self._groups(), len(columns)):
            self._kernel_siblings(
                self._compact_rows, self._features, columns, values, self._code,
                totals, histograms, kept, errors, start, stop, self.threads,
            )  # fmt: skip
        self.updates += len(columns) * len(self._features)
        return errors

    def _best(
        self, samples: Subsets, histograms: Histograms, errors: NDArray[np.int64]
    ) -> Split:
        """Quick stump training [Appel 3.4]: the leaders first, then whoever may still beat them."""
        best = self._unsplit(samples)
        racing = self._may_beat(errors, best, samples)
        runners = np.flatnonzero(racing)
        if len(runners) > LEADERS:
            bar = np.partition(errors[runners], LEADERS - 1)[LEADERS - 1]
            leaders = np.zeros_like(racing)
            leaders[runners[errors[runners] <= bar][:LEADERS]] = True
            best = self._finish(samples, histograms, leaders, best)
            racing = self._may_beat(errors, best, samples) & ~leaders
        self._raced += len(errors)
        self._survivors += int(np.count_nonzero(racing))
        return self._finish(samples, histograms, racing, best) if racing.any() else best

    def _finish(
        self, samples: Subsets, histograms: Histograms, racing: NDArray[np.bool_], best: Split
    ) -> Split:
        """Train the racing features to the end unless they drop out; the best split so far."""
        done = min(len(histograms), 1)  # the first subset is in the histograms already
        bounds = samples.bounds[done:]
        places, values = self._places(samples), self._values[samples.columns]
        lanes = np.packbits(racing, bitorder="little")
        groups = np.flatnonzero(lanes).astype(np.int32)
        errors = np.full(len(racing), np.iinfo(np.int64).max)
        thresholds = np.empty(len(racing), np.int32)
        updates = np.empty(len(groups), np.int64)
        slack = self._slack(samples)
        for start, stop in self._slices(len(groups), int(bounds[-1] - bounds[0])):
            self._kernel_finish(
                self.table, self._compact_rows, 2 * self._compact - done * self._compact,
                self._features, groups[start:stop], lanes, histograms, places, values,
                bounds, self._code, samples.totals[done:], best.error, best.feature, slack,
                errors, thresholds, updates[start:stop], self.threads,
            )  # fmt: skip
        self.updates += int(updates.sum())
        winner = int(np.argmin(errors))
        found = Split(int(errors[winner]), int(self._features[winner]), int(thresholds[winner]))
        return min(best, found, key=lambda split: (split.error, split.feature))

    def _unsplit(self, samples: Subsets) -> Split:
        """The node as it is: a split must be strictly better, so no feature can tie with it."""
        return Split(kernels.node_error(self._code, samples.totals[-1]), -1, UNSPLIT)

    def _slack(self, samples: Subsets) -> int:
        return ENTROPY_SLACK * int(samples.totals[-1, 0]) if self.criterion == "entropy" else 0

    def _may_beat(
        self, errors: NDArray[np.int64], best: Split, samples: Subsets
    ) -> NDArray[np.bool_]:
        """Which features may still turn out better than `best`, given their preliminary errors."""
        slack = self._slack(samples)
        if slack:
            return errors <= best.error + slack
        lower = np.searchsorted(self._features, best.feature)  # a tie goes to the lower feature
        return np.concatenate([errors[:lower] <= best.error, errors[lower:] < best.error])

    def _split(self, node: int, samples: Subsets, split: Split) -> tuple[Subsets, ...]:
        """Record a split and send the samples down it; no children where there are only leaves below."""
        if split.feature < 0:
            return ()
        self._feature[node], self._threshold[node] = split.feature, split.threshold
        if 2 * node + 1 >= len(self._feature):
            return ()
        return samples.partition(self.table[split.feature], split.threshold, self._weights)

    def _places(self, samples: Subsets) -> NDArray[np.int32]:
        """Where each sample is read from: the first two subsets lie in the compact copy, if any."""
        if not self._compact:
            return samples.columns
        places = samples.columns.copy()
        places[: samples.bounds[2]] = self.heavy.position[places[: samples.bounds[2]]]
        return places

    def _histogram_set(self, level: int) -> Histograms:
        """Room for the histograms of all features; kept, for fresh pages are slow."""
        groups = -(-len(self.table) // LANES)
        while len(self._sets) <= level:
            self._sets.append(np.empty((groups, BINS, LANES), self._cell))
        return self._sets[level]

    def _groups(self) -> int:
        return -(-len(self._features) // LANES)

    def _slices(self, groups: int, samples: int) -> Iterator[tuple[int, int]]:
        """Ranges of feature groups, each short enough that Ctrl-C is answered soon."""
        step = max(1, SLICE * self.threads // (LANES * max(samples, BINS)))
        for start in range(0, groups, step):
            yield start, min(groups, start + step)
