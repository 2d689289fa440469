"""Trees grown on integers by trying everything, and the bound by which QuickBoost tries less."""

import numpy as np

from tests.reference import criteria


def to_integers(weight, target):
    """Scale so that max(sum W, sum |A|) is 2^30 and truncate toward zero; W == 0 makes A 0."""
    total = max(weight.sum(), np.abs(target).sum())
    scale = 2.0**30 / total if total > 0 else 0.0
    weight = np.trunc(weight * scale).astype(np.int64)
    target = np.trunc(target * scale).astype(np.int64)
    return weight, np.where(weight > 0, target, 0)


def grow_tree(table, weight, target, depth, criterion, samples=None, features=None):
    """Grow a tree greedily, each node on its own samples (indices) [Appel 3.3].

    Returns feature int32 and threshold uint8 of the 2^depth - 1 nodes of a complete heap, where
    node i has children 2i + 1 (left) and 2i + 2 (right). A node that is not split, and all below
    it, keeps feature 0 and threshold 255, so that everything goes left.
    """
    feature = np.zeros(2**depth - 1, dtype=np.int32)
    threshold = np.full(2**depth - 1, 255, dtype=np.uint8)

    def grow(node, samples):
        if node >= len(feature):
            return  # a leaf
        split = criteria.best_split(table, weight, target, samples, criterion, features)
        if split is None:
            return
        _, feature[node], threshold[node] = split
        right = table[feature[node], samples] > threshold[node]
        grow(2 * node + 1, samples[~right])
        grow(2 * node + 2, samples[right])

    grow(0, np.arange(table.shape[1]) if samples is None else np.asarray(samples))
    return feature, threshold


def apply(table, feature, threshold):
    """The leaf that each sample reaches, uint8: leaf j is heap node 2^depth - 1 + j."""
    leaves = np.empty(table.shape[1], dtype=np.uint8)
    for n in range(table.shape[1]):
        node = 0
        while node < len(feature):
            goes_right = table[feature[node], n] > threshold[node]
            node = 2 * node + (2 if goes_right else 1)
        leaves[n] = node - len(feature)
    return leaves


def preliminary_error(row, weight, target, order, m, criterion):
    """Z_m * eps_m: the least error of one feature on the first m samples of `order`.

    It may only grow with m, whatever the order [Appel 3.2, 7.2]. In these integers that is exact
    for error, gini and variance. The rounded logarithm of `entropy` lets it fall, by less than
    10 times the weight of all samples.
    """
    subset = order[:m]
    return int(criteria.split_errors(row[subset], weight[subset], target[subset], criterion).min())
