"""Trees as values: shapes, slices, equality, and the way a sample takes."""

import numpy as np
import pytest

from cascade.boosting import boost
from cascade.settings import Settings
from cascade.trees import Trees
from tests.reference.quickboost import apply


def test_a_tree_by_hand():
    trees = Trees([[1, 0, 0]], [[10, 255, 5]], [[-1.0, 9.0, 2.0, 3.0]])
    table = np.array([[0, 5, 6, 200], [10, 11, 11, 9]], np.uint8)
    assert trees.depth == 2
    assert trees.apply(table, 0).tolist() == [0, 2, 3, 0]
    assert trees.decision(table).tolist() == [-1, 2, 3, -1]


@pytest.mark.parametrize("depth", range(1, 9))
def test_apply_and_decision_equal_the_twin(depth):
    random = np.random.default_rng(depth)
    table = random.integers(0, 256, (20, 97), dtype=np.uint8)
    nodes = 2**depth - 1
    trees = Trees(
        random.integers(0, 20, (5, nodes)),
        random.integers(0, 256, (5, nodes)),
        random.normal(size=(5, nodes + 1)),
    )
    expected = np.zeros(97)
    for t in range(5):
        leaf = apply(table, trees.feature[t], trees.threshold[t])
        for threads in (1, 3):
            assert np.array_equal(trees.apply(table, t, threads), leaf)
        expected += trees.leaf[t][leaf]
    for threads in (1, 3):
        assert np.array_equal(trees.decision(table, threads), expected)
    assert np.array_equal(list(trees.staged(table))[-1], expected)


def test_slices_join_up(small):
    table, labels = small
    trees = boost(table, labels, Settings(rounds=6)).trees
    assert len(trees[:2]) == 2
    assert trees[:6] == trees
    assert trees[:5] != trees
    decision = trees[:2].decision(table)
    trees[2:].add_to(decision, table)
    assert np.array_equal(decision, trees.decision(table))


def test_trees_cannot_be_changed(small):
    trees = boost(*small, Settings(rounds=2)).trees
    with pytest.raises(ValueError, match="read-only"):
        trees.leaf[0, 0] = 1
    with pytest.raises(AttributeError):
        trees.leaf = None


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (([[0, 0]], [[0, 0]], [[0.0] * 3]), "2.depth - 1 nodes"),
        (([[0] * 511], [[0] * 511], [[0.0] * 512]), "depth 1 to 8"),
        (([[0]], [[0, 0, 0]], [[0.0, 0.0]]), "expected threshold"),
        (([[0]], [[0]], [[0.0]]), "expected threshold"),
        (([[-1]], [[0]], [[0.0, 0.0]]), "counted from 0"),
    ],
)
def test_impossible_trees_are_refused(arrays, words):
    with pytest.raises(ValueError, match=words):
        Trees(*arrays)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.zeros((9, 3)), "uint8"),
        (np.zeros((2, 3), np.uint8), "feature 5, the table has 2"),
        (np.zeros((3, 9), np.uint8).T, "C-contiguous"),
        ([[1]], "list"),
        (np.zeros(9, np.uint8), r"\(9,\)"),
    ],
)
def test_tables_that_do_not_fit_are_refused(table, words):
    trees = Trees([[5]], [[0]], [[0.0, 1.0]])
    for use in (trees.decision, lambda t: trees.apply(t, 0), lambda t: list(trees.staged(t))):
        with pytest.raises(ValueError, match=words):
            use(table)
