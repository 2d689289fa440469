"""Margins agree with the literal twin, and their plot is an image."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.boosting import boost
from cascade.margins import margins, plot_margins
from cascade.settings import Settings
from cascade.trees import Trees
from tests.conftest import planted
from tests.reference import margins as reference

KINDS = [
    {"criterion": "gini"},
    {"loss": "vebboost", "criterion": "gini", "shrinkage": 0.5},
    {"leaves": "real", "depth": 3},
    {"loss": "logitboost"},
    {"loss": "l2boost", "depth": 1},
]


def literal(trees):
    return list(zip(trees.feature, trees.threshold, trees.leaf, strict=True))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_margins_of_boosted_trees(kind, small):
    table, labels = small
    trees = boost(table, labels, Settings(rounds=20, **kind)).trees
    ours = margins(trees, table, labels)
    np.testing.assert_allclose(ours, reference.real_margins(table, labels, literal(trees)), atol=1e-14)
    np.testing.assert_array_equal(ours > 0, labels * trees.decision(table) > 0)
    if len(np.unique(np.abs(trees.leaf[0]))) == 1:
        discrete = reference.discrete_margins(table, labels, literal(trees))
        np.testing.assert_allclose(ours, discrete, atol=1e-14)


@given(st.integers(0, 2**32), st.integers(1, 20), st.integers(1, 4))
def test_margins_of_any_trees(seed, count, depth):
    random = np.random.default_rng(seed)
    table, labels = planted(30, 5, seed)
    trees = Trees(
        random.integers(0, 5, (count, 2**depth - 1), dtype=np.int32),
        random.integers(0, 256, (count, 2**depth - 1), dtype=np.uint8),
        random.standard_normal((count, 2**depth)) * 10.0 ** random.integers(-9, 9),
    )
    ours = margins(trees, table, labels)
    assert (np.abs(ours) <= 1).all()
    np.testing.assert_allclose(ours, reference.real_margins(table, labels, literal(trees)), atol=1e-12)
    np.testing.assert_array_equal(margins(trees, table, -labels), -ours)
    shrunk = Trees(trees.feature, trees.threshold, trees.leaf / 4)
    np.testing.assert_allclose(margins(shrunk, table, labels), ours, atol=1e-14)


def test_agreeing_trees_have_margin_one():
    """0.1 thirty times is not 3.0 in floats; the margin is 1 all the same."""
    trees = Trees(np.zeros((30, 1)), np.full((30, 1), 9), np.tile([-0.1, 0.1], (30, 1)))
    table = np.array([[5, 20]], np.uint8)
    np.testing.assert_array_equal(margins(trees, table, [-1, -1]), [1, -1])


@pytest.mark.parametrize(
    "trees", [Trees.empty(2), Trees(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 2)))]
)
def test_trees_that_say_nothing(trees):
    np.testing.assert_array_equal(margins(trees, np.zeros((1, 2), np.uint8), [1, -1]), [0, 0])


@pytest.mark.parametrize("labels", [[1], [1, 0], [1, 2], [[1, -1]], ["a", "b"]])
def test_labels_are_checked(labels):
    with pytest.raises(ValueError, match=r"expected 2 labels of -1 and \+1, got"):
        margins(Trees.empty(1), np.zeros((1, 2), np.uint8), labels)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plot(tmp_path, suffix):
    pytest.importorskip("matplotlib")
    random = np.random.default_rng(0)
    curves = {f"rounds {i}": np.tanh(random.normal(0.1 * i, 0.3, 200)) for i in range(6)}
    path = tmp_path / f"margins.{suffix}"
    plot_margins(curves, path)
    plot_margins({"one": [1.0, -1.0]}, str(tmp_path / "one.png"))
    image = path.read_bytes()
    assert image.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    assert len(image) > 10_000


@pytest.mark.parametrize("curves", [{}, {"a": []}, {"a": [0.0, 1.5]}, {"a": [np.nan]}])
def test_plot_refuses_what_are_no_margins(curves, tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="expected margins"):
        plot_margins(curves, tmp_path / "margins.png")
    assert not list(tmp_path.iterdir())


def test_plot_names_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plot_margins({"a": [0.0]}, tmp_path / "margins.png")
