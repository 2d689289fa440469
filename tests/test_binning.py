"""Bins lose nothing that bytes can hold, and their edges lead back to the numbers."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cascade import binning
from cascade.binning import Bins
from cascade.layout import UNSPLIT

FINITE = st.floats(allow_nan=False, allow_infinity=False)
MATRICES = arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=FINITE)


def many(samples, seed=0):
    """More distinct values than there are bytes, one feature with a value that is half of all."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((samples, 3))
    X[: samples // 2, 1] = 0.0
    X[:, 2] = np.exp(5 * X[:, 2])
    return X


def assert_edges_agree(bins, X):
    table = bins.transform(X)
    for k, edges in enumerate(bins.edges):
        for t, edge in enumerate(edges):
            np.testing.assert_array_equal(X[:, k] > edge, table[k] > t)
        assert table[k].max(initial=0) <= len(edges)


@given(MATRICES, st.data())
def test_an_edge_splits_numbers_as_its_byte_does(X, data):
    bins = Bins.fit(X)
    assert_edges_agree(bins, X)
    other = data.draw(arrays(np.float64, (5, X.shape[1]), elements=FINITE))
    assert_edges_agree(bins, other)


@pytest.mark.parametrize("max_bins", [2, 3, 16, 255, 256])
def test_an_edge_splits_numbers_as_its_byte_does_with_quantiles(max_bins):
    X = many(2000)
    bins = Bins.fit(X, max_bins)
    assert_edges_agree(bins, X)
    assert_edges_agree(bins, many(500, seed=1))
    assert all(len(edges) < max_bins for edges in bins.edges)


@given(MATRICES)
def test_few_values_keep_apart(X):
    for column, row in zip(X.T, Bins.fit(X).transform(X), strict=True):
        values, ranks = np.unique(column, return_inverse=True)
        np.testing.assert_array_equal(row, ranks)
        assert row.max() == len(values) - 1


def test_256_values_keep_apart_and_257_do_not():
    for count, used in ((256, 256), (257, 256)):
        X = np.arange(count, dtype=np.float64)[:, None]
        assert len(np.unique(Bins.fit(X).transform(X))) == used


def test_quantiles_fill_bins_evenly():
    counts = np.bincount(Bins.fit(many(25_600)).transform(many(25_600))[0])
    assert len(counts) == 256
    assert counts.min() == counts.max() == 100


def test_a_frequent_value_has_a_bin_of_its_own():
    X = many(4000)
    row = Bins.fit(X).transform(X)[1]
    zero = row[X[:, 1] == 0.0]
    assert (zero == zero[0]).all()
    assert np.count_nonzero(row == zero[0]) <= 2000 + 4000 // 256


def test_order_of_samples_does_not_matter():
    X = many(3000)
    shuffled = np.random.default_rng(1).permutation(X)
    for one, other in zip(Bins.fit(X).edges, Bins.fit(shuffled).edges, strict=True):
        np.testing.assert_array_equal(one, other)


def test_bytes_are_taken_as_they_are():
    X = np.random.default_rng(0).integers(0, 256, (300, 4), dtype=np.uint8)
    X[:, 3] = 7
    bins = Bins.fit(X)
    table = bins.transform(X)
    np.testing.assert_array_equal(table, X.T)
    assert table.dtype == np.uint8
    assert table.flags.c_contiguous
    np.testing.assert_array_equal(bins.transform(X.astype(np.float32)), X.T)
    assert_edges_agree(bins, X)


@pytest.mark.parametrize("max_bins", [16, 256])
def test_bytes_and_floats_of_the_same_value_share_a_bin(max_bins):
    X = np.random.default_rng(0).integers(0, 256, (300, 4), dtype=np.uint8)
    bins = Bins.fit(X.astype(np.float64), max_bins)
    np.testing.assert_array_equal(bins.transform(X), bins.transform(X.astype(np.float64)))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint16, np.float32, np.longdouble])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_real_numbers_will_do(dtype, order):
    X = np.asarray(np.random.default_rng(0).integers(0, 2, (50, 3)), dtype, order=order)
    np.testing.assert_array_equal(Bins.fit(X).transform(X), X.T.astype(np.uint8))


def test_blocks_do_not_show(monkeypatch):
    X = many(500)
    whole = Bins.fit(X).transform(X)
    monkeypatch.setattr(binning, "BLOCK", 1)
    np.testing.assert_array_equal(Bins.fit(X).transform(X), whole)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_memory_stays_near_that_of_the_table(dtype, monkeypatch):
    monkeypatch.setattr(binning, "BLOCK", 1 << 14)
    X = np.random.default_rng(0).integers(0, 200, (10_000, 400)).astype(dtype)
    tracemalloc.start()
    table = Bins.fit(X).transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * table.nbytes


def test_extremes():
    """Midpoints neither overflow nor coincide with the upper value."""
    big, tiny = np.finfo(np.float64).max, np.nextafter(0.0, 1.0)
    X = np.array([-big, -tiny, 0.0, tiny, 1.0, np.nextafter(1.0, 2.0), big])[:, None]
    bins = Bins.fit(X)
    np.testing.assert_array_equal(bins.transform(X)[0], np.arange(7))
    assert_edges_agree(bins, X)


def test_thresholds_lead_back():
    bins = Bins.fit(np.array([[1.0], [2.0], [4.0]]))
    assert [bins.threshold(0, t) for t in (0, 1)] == [1.5, 3.0]
    assert bins.threshold(0, 2) == bins.threshold(0, UNSPLIT) == np.inf


def test_bins_are_frozen():
    edges = Bins.fit(np.array([[1.0], [2.0]])).edges
    with pytest.raises(ValueError, match="read-only"):
        edges[0][0] = 3.0


def test_no_samples_to_transform():
    assert Bins.fit(np.ones((2, 3))).transform(np.empty((0, 3))).shape == (3, 0)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_only_finite_numbers(value, word):
    bad = np.array([[1.0, 2.0], [3.0, value]])
    with pytest.raises(ValueError, match=f"contains {word}"):
        Bins.fit(bad)
    with pytest.raises(ValueError, match=f"contains {word}"):
        Bins.fit(np.ones((2, 2))).transform(bad)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Bins.fit(np.ones(3)), r"\(samples, features\), got float64 of shape \(3,\)"),
        (lambda: Bins.fit(np.array([["a"]])), "expected numbers"),
        (lambda: Bins.fit(np.ones((0, 3))), "at least one sample"),
        (lambda: Bins.fit(np.ones((2, 2)), 1), "between 2 and 256, got 1"),
        (lambda: Bins.fit(np.ones((2, 2)), 257), "between 2 and 256, got 257"),
        (lambda: Bins.fit(np.ones((2, 2))).transform(np.ones((2, 3))), "expected 2 features, got 3"),
        (lambda: Bins((np.arange(256.0),)), "at most 255 finite edges for feature 0"),
        (lambda: Bins((np.array([np.nan]),)), "finite edges"),
        (lambda: Bins((np.zeros(0), np.array([1.0, 1.0]))), "rising edges for feature 1"),
    ],
)
def test_errors_say_what_was_expected(call, message):
    with pytest.raises(ValueError, match=message):
        call()
