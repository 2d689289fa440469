"""The sample kernels against their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade._ext import samples as kernels
from cascade.subsets import Classes, Subsets, Weights
from tests.reference import samples as reference


def made(seed, count=200):
    random = np.random.default_rng(seed)
    weight = (2.0 ** random.uniform(-1, 22, count)).astype(np.int32)
    target = (weight * random.choice([-1, 1], count)).astype(np.int32)
    return random, Weights.of(weight, target, "error")


@given(st.lists(st.integers(0, 2**56), min_size=1, max_size=50))
def test_classes(masses):
    mass = np.array(sorted(masses))
    samples = np.arange(len(mass), dtype=np.int32)
    classes = Classes.classify(samples, mass)
    expected = [reference.weight_class(m) for m in mass]
    assert classes.of.tolist() == expected
    assert (np.diff(expected) >= 0).all()  # heavier is never in a lower class
    assert classes.counts.sum() == len(mass)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("even", [False, True])
def test_order_and_partition(seed, pooled, even):
    random, weights = made(seed)
    if even:  # all in one class: only their order tells them apart
        target = (1000 * np.sign(weights.target)).astype(np.int32)
        weights = Weights.of(np.full(200, 1000, np.int32), target, "error")
    samples = np.sort(random.permutation(200)[:150]).astype(np.int32)
    classes = Classes.classify(samples, weights.mass)
    twin, masses, counts = reference.classify(samples, weights.mass)
    assert np.array_equal(classes.of[samples], twin)
    assert np.array_equal(classes.masses, masses)
    assert np.array_equal(classes.counts, counts)

    marks = classes.marks((0.5, 0.8, 0.95))
    position = np.where(random.random(200) < 0.5, 3, -1).astype(np.int32)
    position = position if pooled else position[:0]
    subsets = Subsets.order(samples, weights, classes, marks, position)
    parts = (weights.weight, weights.target, weights.mass)
    columns, bounds, totals = reference.order(samples, twin, marks, position, *parts)
    assert np.array_equal(subsets.columns, columns)
    assert np.array_equal(subsets.bounds, bounds)
    assert np.array_equal(subsets.totals, totals)

    row = random.integers(0, 256, 200, dtype=np.uint8)
    expected = reference.partition(row, 100, columns, bounds, *parts)
    for mine, theirs in zip(subsets.partition(row, 100, weights), expected, strict=True):
        assert np.array_equal(mine.columns, theirs[0])
        assert np.array_equal(mine.bounds, theirs[1])
        assert np.array_equal(mine.totals, theirs[2])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_cutoffs_hold_their_share_and_no_class_more(share):
    _, weights = made(9)
    classes = Classes.classify(np.arange(200, dtype=np.int32), weights.mass)
    (mark,) = classes.marks((share,))
    cutoff = classes.cutoff(int(mark))
    assert classes.masses[cutoff:].sum() >= mark
    assert classes.masses[cutoff + 1 :].sum() < max(mark, 1)


@pytest.mark.parametrize("threads", [1, 3])
def test_gather(threads):
    random = np.random.default_rng(0)
    table = random.integers(0, 256, (13, 50), dtype=np.uint8)
    columns = np.array([3, 4, 49, 0], np.int32)
    out = np.zeros((13, 6), np.uint8)
    kernels.gather(table, columns, out, 2, 11, threads)
    assert np.array_equal(out[2:11, :4], table[2:11][:, columns])
    assert not out[:2].any()
    assert not out[11:].any()
    assert not out[:, 4:].any()
