"""The search kernels against the criteria's twins, for one thread and several."""

import numpy as np
import pytest

from cascade._ext import search as kernels
from cascade.layout import BINS, CRITERIA, LANES
from cascade.subsets import Subsets, Weights
from tests.reference import criteria

FEATURES, SAMPLES = 21, 120  # the last group of eight is not full
CELLS = [("error", "int32_t"), ("gini", "int64_t"), ("variance", "int64_t"), ("entropy", "int64_t")]


class Case:
    """A random table and weights, and the arguments that kernels take for them."""

    def __init__(self, criterion, cell, seed=0):
        random = np.random.default_rng(seed)
        self.table = random.integers(0, 256, (FEATURES, SAMPLES), dtype=np.uint8)
        weight = (2.0 ** np.sort(random.uniform(0, 22, SAMPLES))[::-1]).astype(np.int32)
        target = (weight * random.choice([-1, 1], SAMPLES)).astype(np.int32)
        self.table[4] = np.where(target > 0, 130, 120) + random.integers(-7, 7, SAMPLES)
        self.weights = Weights.of(weight, target, criterion)
        pairs = (weight.astype(np.int64) << 32) + target
        self.values = target if cell == "int32_t" else pairs
        self.features = np.arange(FEATURES, dtype=np.int32)
        self.code, self.criterion = CRITERIA[criterion], criterion
        groups = -(-FEATURES // LANES)
        self.hist = np.empty((groups, BINS, LANES), self.values.dtype)

    def totals(self, columns):
        return Subsets.whole(columns, self.weights).totals

    def errors(self, columns):
        """The twin's least error of each feature, or the node's own where no split is better."""
        w, t = self.weights.weight[columns], self.weights.target[columns]
        own = criteria.node_error(w, t, self.criterion)
        splits = [criteria.split_errors(row[columns], w, t, self.criterion) for row in self.table]
        return [min(own, int(split.min())) for split in splits]


@pytest.mark.parametrize(("criterion", "cell"), CELLS)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 50, SAMPLES])
def test_first_subset(criterion, cell, threads, count):
    case = Case(criterion, cell)
    columns = np.sort(np.random.default_rng(1).permutation(SAMPLES)[:count]).astype(np.int32)
    errors = np.full(FEATURES, -1)
    kernels.first_subset[cell](
        case.table, case.features, columns, case.values[columns], case.code,
        case.totals(columns)[0], case.hist, errors, 0, len(case.hist), threads,
    )  # fmt: skip
    assert errors.tolist() == case.errors(columns)
    for k, row in enumerate(case.table):
        expected = np.zeros(BINS, np.int64)
        np.add.at(expected, row[columns], case.values[columns])
        assert np.array_equal(case.hist[k // LANES, :, k % LANES], expected)


@pytest.mark.parametrize(("criterion", "cell"), CELLS)
@pytest.mark.parametrize("keep", [False, True])
def test_siblings_add_up_to_their_parent(criterion, cell, keep):
    case = Case(criterion, cell)
    everyone = np.arange(SAMPLES, dtype=np.int32)
    small, large = everyone[::3], np.delete(everyone, np.s_[::3])
    kernels.histograms[cell](case.table, case.features, everyone, case.values, case.hist, 1)
    parent, kept = case.hist.copy(), np.empty_like(case.hist) if keep else case.hist[:0].copy()
    errors = np.empty((2, FEATURES), np.int64)
    totals = np.concatenate([case.totals(small), case.totals(large)])
    kernels.sibling_subsets[cell](
        case.table, case.features, np.ascontiguousarray(small), case.values[small], case.code,
        totals, case.hist, kept, errors, 0, len(case.hist), 2,
    )  # fmt: skip
    assert errors[0].tolist() == case.errors(small)
    assert errors[1].tolist() == case.errors(large)
    if keep:
        lanes = np.s_[: FEATURES // LANES]
        assert np.array_equal((kept + case.hist)[lanes], parent[lanes])


@pytest.mark.parametrize(("criterion", "cell"), CELLS)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("begun", [False, True])
def test_finish_completes_the_best_and_prunes_the_rest(criterion, cell, threads, begun):
    case = Case(criterion, cell)
    everyone = np.arange(SAMPLES, dtype=np.int32)
    bounds = np.array([0, 40, 80, SAMPLES])
    totals = np.concatenate([case.totals(everyone[:end]) for end in bounds[1:]])
    final = case.errors(everyone)
    best = sorted(final)[1]
    best_feature = final.index(best)
    hist = case.hist[:0]
    if begun:
        hist = case.hist
        kernels.histograms[cell](case.table, case.features, everyone[:40], case.values[:40], hist, 1)
    errors, thresholds = np.full(FEATURES, -1), np.full(FEATURES, -1, np.int32)
    slack = 32 * int(totals[-1, 0]) if criterion == "entropy" else 0
    updates = np.empty(3, np.int64)
    kernels.finish[cell](
        case.table, case.table, 1, case.features, np.arange(3, dtype=np.int32),
        np.full(3, 255, np.uint8), hist, everyone, case.values, bounds[int(begun) :], case.code,
        np.ascontiguousarray(totals[int(begun) :]), best, best_feature, slack, errors, thresholds, updates,
        threads,
    )  # fmt: skip
    updates = updates.sum()
    full = FEATURES * (SAMPLES - 40 * begun)
    assert 0 < updates <= full
    assert updates < full or criterion == "entropy"
    for k in range(FEATURES):
        if (final[k], k) <= (best, best_feature):
            assert errors[k] == final[k]
            split = criteria.split_errors(
                case.table[k], case.weights.weight, case.weights.target, criterion
            )
            assert thresholds[k] == int(np.argmin(split))
        else:
            assert errors[k] in (-1, final[k])


@pytest.mark.parametrize(("criterion", "cell"), CELLS)
def test_sums_of_2_to_the_30_do_not_overflow(criterion, cell):
    case = Case(criterion, cell)
    weight = np.full(SAMPLES, 2**30 // SAMPLES, np.int32)
    target = np.where(np.arange(SAMPLES) < 2, -weight, weight).astype(np.int32)
    case.weights = Weights.of(weight, target, criterion)
    case.values = target if cell == "int32_t" else (weight.astype(np.int64) << 32) + target
    everyone = np.arange(SAMPLES, dtype=np.int32)
    errors = np.empty(FEATURES, np.int64)
    kernels.first_subset[cell](
        case.table, case.features, everyone, case.values, case.code,
        case.totals(everyone)[0], case.hist, errors, 0, len(case.hist), 1,
    )  # fmt: skip
    assert errors.tolist() == case.errors(everyone)
