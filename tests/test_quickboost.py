"""Quick search, exhaustive search and the literal twin grow the same trees, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.quickboost import TreeGrower, thesis_schedule
from tests.conftest import planted
from tests.reference import quickboost as reference

CRITERIA = ["error", "gini", "variance", "entropy"]
SCHEDULES = [None, thesis_schedule(), (0.5,), (0.2, 0.4, 0.6, 0.8), (0.9, 0.95), (1.0,)]


def integers(labels, random, criterion, skew):
    """Weights as boosting makes them: a few heavy samples, many light ones, some of no weight."""
    weight = np.exp(skew * random.standard_normal(len(labels)))
    weight[random.random(len(labels)) < 0.1] = 0
    weight = (weight / max(weight.sum(), 1e-9) * 2**29).astype(np.int32)
    target = weight * labels
    if criterion == "variance":
        target = (target * random.uniform(0.1, 2.0, len(labels))).astype(np.int32)
        target[(weight == 0) | (random.random(len(labels)) < 0.1)] = 0
    return weight, target.astype(np.int32)


def grow(table, weight, target, depth, criterion, samples=None, features=None, **options):
    everyone = np.arange(table.shape[1], dtype=np.int32)
    everything = np.arange(len(table), dtype=np.int32)
    grower = TreeGrower(table, depth=depth, criterion=criterion, **options)
    return grower.grow(
        weight,
        target,
        everyone if samples is None else samples,
        everything if features is None else features,
    )


def same(one, other):
    return np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_all_searches_equal_the_twin(criterion, depth):
    for seed in range(4):
        random = np.random.default_rng(seed)
        table, labels = planted(150, 21, seed)
        table //= np.uint8(random.integers(1, 60))  # coarse values make ties
        weight, target = integers(labels, random, criterion, skew=seed)
        expected = reference.grow_tree(table, weight, target, depth, criterion)
        assert same(grow(table, weight, target, depth, criterion, quick=False), expected)
        assert same(grow(table, weight, target, depth, criterion, quick=True), expected)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("threads", [1, 3])
def test_quick_equals_exhaustive_over_many_rounds(criterion, schedule, threads, compact):
    table, labels = planted(900, 60, seed=5)
    random = np.random.default_rng(5)
    options = {"depth": 3, "criterion": criterion, "threads": threads}
    quick = TreeGrower(table, schedule=schedule, **options)
    exhaustive = TreeGrower(table, quick=False, **options)
    samples, features = np.arange(900, dtype=np.int32), np.arange(60, dtype=np.int32)
    weights = [integers(labels, random, criterion, skew=s) for s in np.linspace(0, 5, 12)]
    for weight, target in weights:
        trees = [g.grow(weight, target, samples, features) for g in (quick, exhaustive)]
        assert same(*trees)
    assert 0 < quick.updates < exhaustive.updates
    assert quick.heavy.builds > 0 or schedule == (1.0,)  # so that the copy is tested too


@given(
    st.integers(1, 60), st.integers(1, 20), st.integers(0, 2**32), st.sampled_from(CRITERIA),
    st.integers(1, 4), st.sampled_from(SCHEDULES),
)  # fmt: skip
def test_any_shape_and_any_ties(samples, features, seed, criterion, depth, schedule):
    random = np.random.default_rng(seed)
    table = random.integers(0, random.integers(1, 256), (features, samples), dtype=np.uint8)
    labels = random.choice([-1, 1], samples)
    weight, target = integers(labels, random, criterion, skew=random.uniform(0, 4))
    expected = reference.grow_tree(table, weight, target, depth, criterion)
    for quick in (True, False):
        tree = grow(table, weight, target, depth, criterion, quick=quick, schedule=schedule)
        assert same(tree, expected)


@pytest.mark.parametrize("quick", [True, False])
def test_only_the_given_samples_and_features_count(quick):
    table, labels = planted(200, 17, seed=3)
    random = np.random.default_rng(3)
    weight, target = integers(labels, random, "error", skew=2)
    samples = np.sort(random.permutation(200)[:90]).astype(np.int32)
    features = np.array([2, 3, 5, 7, 8, 11, 12, 13, 14, 16], np.int32)
    expected = reference.grow_tree(table, weight, target, 2, "error", samples, features)
    tree = grow(table, weight, target, 2, "error", samples, features, quick=quick)
    assert same(tree, expected)


@pytest.mark.parametrize("quick", [True, False])
def test_ties_go_to_the_lowest_feature_and_threshold(quick):
    row = np.array([10, 10, 20, 20], np.uint8)
    table = np.stack([np.zeros(4, np.uint8), row, row, 255 - row])
    labels = np.array([-1, -1, 1, 1])
    weight = np.full(4, 1000, np.int32)
    feature, threshold = grow(table, weight, (weight * labels).astype(np.int32), 1, "error", quick=quick)
    assert (feature[0], threshold[0]) == (1, 10)


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_node_that_no_split_helps_stays_whole(quick, criterion):
    table = np.full((9, 6), 7, np.uint8)
    weight = np.full(6, 100, np.int32)
    target = (weight * [1, -1, 1, -1, 1, 1]).astype(np.int32)
    feature, threshold = grow(table, weight, target, 2, criterion, quick=quick)
    assert not feature.any()
    assert (threshold == 255).all()


def test_exhaustive_cost_is_every_sample_for_every_feature():
    table, labels = planted(300, 20, seed=2)
    weight = np.full(300, 1000, np.int32)
    grower = TreeGrower(table, depth=2, criterion="error", quick=False)
    samples, features = np.arange(300, dtype=np.int32), np.arange(20, dtype=np.int32)
    grower.grow(weight, (weight * labels).astype(np.int32), samples, features)
    assert grower.updates == 2 * 300 * 20  # both levels see every sample once


def test_a_planted_split_is_found_at_every_threshold_and_polarity():
    random = np.random.default_rng(0)
    table = random.integers(0, 256, (12, 512), dtype=np.uint8)
    table[9] = np.repeat(np.arange(256, dtype=np.uint8), 2)
    weight = np.full(512, 1000, np.int32)
    for at in (0, 1, 100, 253, 254):
        for sign in (-1, 1):
            target = np.where(table[9] > at, sign, -sign).astype(np.int32) * 1000
            for criterion in CRITERIA:
                feature, threshold = grow(table, weight, target, 1, criterion)
                assert (feature[0], threshold[0]) == (9, at)


def test_thesis_schedule():
    shares = thesis_schedule(0.9, 20)
    assert len(shares) == 20
    assert shares[0] == 0.9
    assert shares[-1] == pytest.approx(0.995)
