"""AdaBoost, LogitBoost, L2Boost, VEB-Boost and EBBoost in plain floats, one round at a time.

Where a formula divides by the weight of the wrong samples and there are none, SMOOTHING of the whole
weight stands in for it.
"""

import math

import numpy as np

from tests.reference import criteria, quickboost

SMOOTHING = 1e-4


def exponential(s, y, H):
    """w = s exp(-y H), divided by its sum."""
    w = s * np.exp(-y * H)
    return w / w.sum()


def gradients(loss, s, y, H, lam):
    """Gradient g and hessian h of each sample, given its weight s, label y and decision H."""
    if loss == "adaboost":  # [Appel 2.10]
        w = s * np.exp(-y * H)
        return y * w, w
    if loss == "logitboost":  # ln(1 + exp(-y H)); |g| <= 4 h [Meir]
        p = 1 / (1 + np.exp(-H))
        h = s * p * (1 - p)
        return np.clip(s * ((1 + y) / 2 - p), -4 * h, 4 * h), h
    if loss == "l2boost":  # (y - H)^2 [Meir]
        return s * (y - H), s
    if loss == "vebboost":  # u of figure 1 [VEB]
        w = exponential(s, y, H)
        u = lam * len(w) * w**2 + (1 - lam) * w
        return y * u, u
    raise ValueError(f"unknown loss {loss!r}")


def discrete_leaves(index, count, g, factor):
    """Leaves alpha * f, f = +1 or -1 per leaf; None if alpha <= 0 [Appel 2.12, VEB lemma 1]."""
    f = np.where(np.bincount(index, g, count) > 0, 1.0, -1.0)
    total = np.abs(g).sum()
    wrong = np.abs(g)[f[index] * g < 0].sum() or SMOOTHING * total
    eps = wrong / total
    alpha = factor * math.log((1 - eps) / eps)
    return alpha * f if alpha > 0 else None


def real_leaves(index, count, g):
    """Leaves 1/2 ln((P + c) / (N + c)), c = SMOOTHING * total, P and N the weights per class."""
    c = SMOOTHING * np.abs(g).sum()
    positive = np.bincount(index, np.maximum(g, 0), count)
    negative = np.bincount(index, np.maximum(-g, 0), count)
    return 0.5 * np.log((positive + c) / (negative + c))


def newton_leaves(index, count, g, h):
    """Leaves sum g / sum h, and 0 where no weight arrives."""
    g, h = np.bincount(index, g, count), np.bincount(index, h, count)
    return np.where(h > 0, g / np.where(h > 0, h, 1), 0.0)


def tree_round(table, g, h, loss, depth, criterion, leaves):
    """One tree (feature, threshold, leaf) on integers, or None if none helps."""
    weight, target = quickboost.to_integers(h if criterion == "variance" else np.abs(g), g)
    feature, threshold = quickboost.grow_tree(table, weight, target, depth, criterion)
    index, count = quickboost.apply(table, feature, threshold), 2**depth
    if loss in ("logitboost", "l2boost"):
        leaf = newton_leaves(index, count, g, h)
    elif loss == "adaboost" and leaves == "real":
        leaf = real_leaves(index, count, g)
    else:
        leaf = discrete_leaves(index, count, g, 0.25 if loss == "vebboost" else 0.5)
    return None if leaf is None else (feature, threshold, leaf)


def eb_terms(w, correct, lam):
    """a, b and the least cost of EBBoost, 2 sqrt(a b) + 2 (1 - l) (sum_I w)(sum_J w)."""
    right, wrong = w[correct], w[~correct]
    a = (1 - lam) * right.sum() ** 2 + lam * len(w) * (right**2).sum()
    b = (1 - lam) * wrong.sum() ** 2 + lam * len(w) * (wrong**2).sum()
    return a, b, 2 * math.sqrt(a * b) + 2 * (1 - lam) * (right.sum() * wrong.sum())


def eb_round(table, w, y, lam):
    """The stump of least cost over all features and thresholds, or None if none helps.

    The cost is the same for both polarities, so only "right is positive" is tried, with
    alpha = 1/4 ln(a / b).
    """
    best, least = None, eb_terms(w, y > 0, lam)[2]  # a stump must beat the constant
    for k in range(len(table)):
        for t in criteria.THRESHOLDS:
            a, b, cost = eb_terms(w, (table[k] > t) == (y > 0), lam)
            if cost < least:
                best, least = (k, t, a, b), cost
    if best is None or best[2] == best[3]:
        return None
    k, t, a, b = best
    floor = SMOOTHING * (a + b)  # used only where one of them is 0
    alpha = 0.25 * math.log((a or floor) / (b or floor))
    leaf = np.array([-alpha, alpha])  # a negative alpha turns the stump around
    return np.array([k], dtype=np.int32), np.array([t], dtype=np.uint8), leaf


def boost(table, labels, loss, rounds, depth, criterion, weights=None, leaves="discrete",
          lam=0.5, shrinkage=1.0):
    """Boost for at most `rounds`; a list of (feature, threshold, leaf), shrinkage included.

    `leaves` concerns AdaBoost only; EBBoost takes depth 1 and has its own criterion.
    """
    y = labels.astype(np.float64)
    s = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    s = s / s.sum()
    H = np.zeros(len(y))
    trees = []
    for _ in range(rounds):
        if loss == "ebboost":
            tree = eb_round(table, exponential(s, y, H), y, lam)
        else:
            tree = tree_round(table, *gradients(loss, s, y, H, lam), loss, depth, criterion, leaves)
        if tree is None:
            break
        feature, threshold, leaf = tree
        if threshold[0] == 255 and trees and trees[-1][1][0] == 255:
            break  # one tree without a split evens out the classes, two are one too many
        trees.append((feature, threshold, shrinkage * leaf))
        H = H + trees[-1][2][quickboost.apply(table, feature, threshold)]
    return trees
