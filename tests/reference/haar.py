"""Haar features pixel by pixel in Python integers, without integral images."""

import math

import numpy as np


def integral(image):
    """The sum of all pixels above and left of each place, one place at a time."""
    height, width = image.shape
    sums = np.zeros((height + 1, width + 1), dtype=np.int64)
    for y in range(height + 1):
        for x in range(width + 1):
            sums[y, x] = int(image[:y, :x].astype(np.int64).sum())
    return sums


def spread(window):
    """n times the standard deviation of a window of n pixels, rounded down."""
    pixels = [int(pixel) for pixel in window.ravel()]
    square = sum(pixel * pixel for pixel in pixels)
    return math.isqrt(len(pixels) * square - sum(pixels) ** 2)


def response(window, rectangles, weights):
    """The weighted sum of the pixels in some rectangles x, y, width, height."""
    total = 0
    for (x, y, w, h), weight in zip(rectangles, weights, strict=True):
        for row in range(y, y + h):
            for column in range(x, x + w):
                total += int(weight) * int(window[row, column])
    return total


def value(window, rectangles, weights):
    """128 + floor(64 r / (a s)), clipped to a byte; s is at least 4 grey levels."""
    n = window.size
    area = int(rectangles[0][2]) * int(rectangles[0][3])
    contrast = max(spread(window), 4 * n)
    quotient = 64 * n * response(window, rectangles, weights) // (area * contrast)
    return min(255, max(0, 128 + quotient))


def values(pool, windows):
    """The feature table (features, windows) of a pool."""
    table = np.empty((len(pool), len(windows)), dtype=np.uint8)
    for k in range(len(pool)):
        for n, window in enumerate(windows):
            table[k, n] = value(window, pool.rectangle[k], pool.weight[k])
    return table
