"""Rejection traces: what they keep, how tight they are, and what may be promised."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.model import NEVER_REJECT
from cascade.softcascade import (
    Promise,
    backward,
    constant,
    lower_bound,
    paths,
    promised,
    pruned,
    quantised,
    stored,
    survivors,
)
from cascade.trees import Trees


def walks(trees, windows, seed, drift=0):
    steps = np.random.default_rng(seed).integers(-20, 21, (trees, windows)) + drift
    return np.cumsum(steps, axis=0).astype(np.int32)


def kept_objects(scores, objects, trace):
    """By definition: an object is kept if one of its windows is above the trace after every tree."""
    alive = [all(scores[t, i] > trace[t] for t in range(len(trace))) for i in range(scores.shape[1])]
    return {int(objects[i]) for i in range(len(alive)) if alive[i]}


@given(seed=st.integers(0, 10**6), recall=st.floats(0.3, 1.0), bag=st.integers(1, 4))
def test_pruned_keeps_what_is_asked_for(seed, recall, bag):
    scores, objects = walks(12, 10 * bag, seed), np.arange(10 * bag) // bag
    kept = kept_objects(scores, objects, pruned(scores, objects, recall))
    assert len(kept) >= np.ceil(10 * recall - 1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_a_full_trace_is_the_tightest_that_keeps_all(seed):
    scores = walks(8, 6, seed, drift=-5)  # low enough for the cap not to matter
    objects = np.arange(6)
    trace = pruned(scores, objects, 1.0)
    np.testing.assert_array_equal(trace, np.minimum(backward(scores), 0))
    for t in np.flatnonzero(trace < 0):
        tighter = trace.copy()
        tighter[t] += 1
        assert len(kept_objects(scores, objects, tighter)) < 6


def test_one_window_of_an_object_is_enough():
    scores = np.array([[-10, -90], [-20, -95]], np.int32)
    np.testing.assert_array_equal(pruned(scores, np.array([0, 0]), 1.0), [-11, -21])
    np.testing.assert_array_equal(pruned(scores, np.array([0, 1]), 1.0), [-91, -96])


def test_no_accepted_score_is_rejected():
    high = walks(20, 5, 0, drift=100)
    assert pruned(high, np.arange(5), 1.0).max() == 0


def test_objects_are_given_up_early():
    scores = walks(200, 400, 3, drift=-2)
    trace = pruned(scores, np.arange(400), 0.8)
    lost_early = 400 - survivors(scores[:100], trace[:100]).sum()
    lost = 400 - survivors(scores, trace).sum()
    assert 0.8 * lost < lost_early <= lost <= 80


def test_no_objects_no_rejection():
    trace = pruned(np.empty((3, 0), np.int32), np.empty(0, np.intp), 0.9)
    np.testing.assert_array_equal(trace, NEVER_REJECT)


def test_a_promise_is_measured_on_others():
    """With few wild paths a trace fits only those that set it, and has to give way for the others."""
    scores = walks(60, 40, 5, drift=-3)
    objects = np.arange(40)
    tight = pruned(scores, objects, 0.95)
    trace, held = promised(scores, objects, 0.95)
    assert held.recall >= 0.95
    assert (trace <= tight).all()
    assert (trace < tight).any()


def test_quantised_paths_are_the_running_sums_of_leaves():
    random = np.random.default_rng(0)
    table = random.integers(0, 256, (5, 7), dtype=np.uint8)
    trees = Trees(random.integers(0, 5, (4, 3)), random.integers(0, 255, (4, 3)), random.normal(size=(4, 4)))
    leaf = quantised(trees, 1 / 256)
    expected = np.zeros(7, int)
    for t, scores in enumerate(paths(trees, leaf, table)):
        expected += leaf[t][trees.apply(table, t)]
        np.testing.assert_array_equal(scores, expected)


def test_quantised_leaves_stay_in_range():
    trees = Trees(np.zeros((1, 1)), np.zeros((1, 1)), np.array([[1e9, -1e9]]))
    assert quantised(trees, 1 / 256).tolist() == [[32767, -32767]]


def test_stored_rejects_nothing_more():
    trace = np.array([-100_000, -70_001, NEVER_REJECT, 0], np.int32)
    reject, shift = stored(trace)
    assert reject[2] == NEVER_REJECT
    assert shift == 2
    others = [0, 1, 3]
    restored = reject.astype(np.int32) << shift
    assert (restored[others] <= trace[others]).all()
    assert (trace[others] - restored[others] < 1 << shift).all()
    assert stored(np.array([-5, 3], np.int32))[0].tolist() == [-5, 3]


def test_constant_is_in_units():
    assert constant(3, -1.5, 1 / 256).tolist() == [-384] * 3


@pytest.mark.parametrize(
    ("successes", "trials", "bound"),
    [(0, 10, 0.0), (10, 10, 0.05 ** (1 / 10)), (1, 1, 0.05), (95, 100, 0.8977)],
)  # the last from tables of Clopper and Pearson's bound
def test_lower_bound(successes, trials, bound):
    assert lower_bound(successes, trials) == pytest.approx(bound, abs=1e-4)


def test_lower_bound_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    for successes, trials in [(3, 7), (50, 60), (999, 1000), (12, 5000)]:
        expected = stats.beta.ppf(0.05, successes, trials - successes + 1)
        assert lower_bound(successes, trials) == pytest.approx(expected, abs=1e-9)


def test_impossible_counts_are_refused():
    with pytest.raises(ValueError, match="0 to 3 successes, got 4"):
        lower_bound(4, 3)
    assert Promise.of(0, 0).recall == 1.0
