"""Twins of the kernels in cython_ext/weights.pyx, in plain floats."""

import numpy as np


def gradients(loss, labels, base, decision, lam):
    """(loss, gradient, hessian) as the papers write them."""
    margin = labels * decision
    if loss == "logitboost":
        p = 1 / (1 + np.exp(-decision))
        hessian = base * p * (1 - p)
        gradient = base * ((labels > 0) - p)
        gradient = np.clip(gradient, -4 * hessian, 4 * hessian)
        return (base * np.log1p(np.exp(-margin))).sum(), gradient, hessian
    if loss == "l2boost":
        residual = labels - decision
        return (base * residual**2).sum(), base * residual, base
    w = base * np.exp(-margin)
    u = w / w.sum()
    if loss == "vebboost":
        u = lam * len(u) * u**2 + (1 - lam) * u
    return w.sum(), labels * u, u


def leaf_sums(leaf, labels, values, leaves):
    """(leaves, 2): sums over the negative and over the positive samples of each leaf."""
    return np.stack(
        [np.bincount(leaf[labels == y], values[labels == y], leaves) for y in (-1, 1)], axis=1
    )
