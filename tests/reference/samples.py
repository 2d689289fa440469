"""Twins of the kernels in cython_ext/samples.pyx."""

import numpy as np


def weight_class(mass):
    """Eight classes for every doubling of the mass; small masses have one each."""
    mass = int(mass)
    if mass < 16:
        return mass
    power = mass.bit_length() - 4
    return 8 * power + (mass >> power)


def classify(samples, mass):
    """The class of each sample, and mass and number of samples in each class."""
    classes = np.array([weight_class(mass[n]) for n in samples], int)
    masses = np.bincount(classes, mass[samples], 512).astype(np.int64)
    return classes, masses, np.bincount(classes, minlength=512)


def order(samples, classes, marks, position, weight, target, mass):
    """Samples with mass, from the heaviest class down, cut where they hold as much as the marks say;
    bounds, and totals up to each subset."""
    parts = [[] for _ in range(len(marks) + 1)]
    held = 0
    for place in np.lexsort((samples, -classes)):
        n, c = samples[place], classes[place]
        subset = int(np.searchsorted(marks, held, side="right"))
        held += int(mass[n])
        if len(position):
            subset = min(subset, 1) if position[n] >= 0 else max(subset, 2)
        if c:
            parts[subset].append(n)
    parts = [sorted(part) for part in parts]
    bounds = np.cumsum([0, *map(len, parts)])
    columns = np.array([n for part in parts for n in part], int)
    return columns, bounds, totals(columns, bounds, weight, target, mass)


def totals(columns, bounds, weight, target, mass):
    stack = np.stack([weight, target, mass], axis=1).astype(np.int64)
    return np.array([stack[columns[:end]].sum(axis=0) for end in bounds[1:]])


def partition(row, threshold, columns, bounds, weight, target, mass):
    """(columns, bounds, totals) of the left and of the right child."""
    children = []
    for right in (False, True):
        goes = (row[columns] > threshold) == right
        ends = np.concatenate([[0], np.cumsum(goes)])[bounds]
        part = columns[goes]
        children.append((part, ends, totals(part, ends, weight, target, mass)))
    return children
