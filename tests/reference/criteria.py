"""The four split criteria in exact integers, written for clarity and not for speed.

Per sample there is a weight W_n >= 0 and a signed target A_n, and W_n == 0 implies A_n == 0.
A split sends x <= t to the left and x > t to the right. The four criteria take the integer sums
(W_L, A_L, W_R, A_R, Q), as Python ints or int64 arrays, and give an integer error: lower is
better. `error`, `gini` and `entropy` need |A_n| == W_n, `variance` takes any A_n.
"""

import numpy as np

THRESHOLDS = np.arange(255)
LOG2_TABLE = np.round(np.log2(1 + np.arange(2049) / 2048) * 2**26).astype(np.int64)


def classes(weight, target):
    """The weight P of the positive class and N of the negative one: W = P + N, A = P - N."""
    return (weight + target) // 2, (weight - target) // 2


def error(weight_left, target_left, weight_right, target_right, square=None):
    """Weight of the wrong samples under the better polarity [Appel 3.1]."""
    positive_left, negative_left = classes(weight_left, target_left)
    positive_right, negative_right = classes(weight_right, target_right)
    return np.minimum(positive_left + negative_right, negative_left + positive_right)


def gain(weight, target):
    """floor(A^2 / W), and 0 for a side without weight."""
    weight = np.asarray(weight, dtype=np.int64)
    target = np.asarray(target, dtype=np.int64)
    return np.where(weight > 0, target * target // np.maximum(weight, 1), 0)


def squares(weight, target):
    """Q = sum of ceil(A_n^2 / W_n) over the samples that have weight."""
    weight = np.asarray(weight, dtype=np.int64)
    target = np.asarray(target, dtype=np.int64)
    some = weight > 0
    return np.sum(-((-target[some] * target[some]) // weight[some]))


def variance(weight_left, target_left, weight_right, target_right, square):
    """Q - A_L^2 / W_L - A_R^2 / W_R, rounded so that it is never too low [Appel 7.2]."""
    return square - (gain(weight_left, target_left) + gain(weight_right, target_right))


def gini(weight_left, target_left, weight_right, target_right, square=None):
    """Twice the Gini impurity: sum over sides of W - A^2 / W [Appel 7.2].

    It is the variance with Q = W, since |A_n| == W_n makes A_n^2 / W_n equal to W_n.
    """
    total = weight_left + weight_right
    return variance(weight_left, target_left, weight_right, target_right, total)


def log2q(x):
    """The logarithm of x (1 .. 2^30) to base 2 in units of 2^-26, linear between 2049 points."""
    x = np.asarray(x, dtype=np.int64)
    k = sum((x >> j) > 0 for j in range(1, 31))  # bit_length(x) - 1
    m = (x << (30 - k)) - 2**30
    i = m >> 19
    r = m & (2**19 - 1)
    low, high = LOG2_TABLE[i], LOG2_TABLE[i + 1]
    return (k << 26) + low + (((high - low) * r) >> 19)


def x_log2q(x):
    """f(x) = x * log2q(x), and f(0) = 0."""
    return np.where(np.asarray(x) > 0, x * log2q(np.maximum(x, 1)), 0)


def entropy(weight_left, target_left, weight_right, target_right, square=None):
    """Sum over sides of f(W) - f(P) - f(N), the entropy times its mass [Appel 7.2]."""
    total = 0
    for weight, target in ((weight_left, target_left), (weight_right, target_right)):
        positive, negative = classes(weight, target)
        total = total + x_log2q(weight) - x_log2q(positive) - x_log2q(negative)
    return total


CRITERIA = {"error": error, "gini": gini, "variance": variance, "entropy": entropy}


def node_error(weight, target, criterion):
    """The error of a node that is not split: all its samples are on one side."""
    weight = np.asarray(weight, dtype=np.int64)
    target = np.asarray(target, dtype=np.int64)
    square = squares(weight, target)
    return int(CRITERIA[criterion](weight.sum(), target.sum(), 0, 0, square))


def split_errors(row, weight, target, criterion):
    """The error of one feature (`row`, its uint8 values) for every threshold: int64 (255,)."""
    weight = np.asarray(weight, dtype=np.int64)
    target = np.asarray(target, dtype=np.int64)
    left = row[None, :] <= THRESHOLDS[:, None]  # (255, samples)
    right = ~left
    sums = left @ weight, left @ target, right @ weight, right @ target
    return CRITERIA[criterion](*sums, squares(weight, target))


def best_split(table, weight, target, samples, criterion, features=None):
    """The lowest (error, feature, threshold) over the node's `samples` (indices).

    None means: do not split, as no error is strictly below the node's own.
    """
    weight, target = weight[samples], target[samples]
    best = None
    for k in range(len(table)) if features is None else features:
        errors = split_errors(table[k, samples], weight, target, criterion)
        t = int(np.argmin(errors))  # the first of equals
        candidate = int(errors[t]), int(k), t
        if best is None or candidate < best:
            best = candidate
    if best is None or best[0] >= node_error(weight, target, criterion):
        return None
    return best
