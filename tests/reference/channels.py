"""Twins of cascade/runtime/cascade.h: planes a formula at a time, windows one by one, levels after a plan."""

from fractions import Fraction
from math import floor

import numpy as np

NEVER_REJECT, NEVER_ACCEPT = -32768, 32767


def grey(frame):
    blue, green, red = np.moveaxis(frame.astype(int), 2, 0)
    return ((29 * blue + 150 * green + 77 * red + 128) >> 8).astype(np.uint8)


def halve(image):
    return ((cell_sums(image.astype(int), 2) + 2) >> 2).astype(np.uint8)


def resample(image, width, height, gain=128):
    """Rows are mixed first, times the gain of 0 to 256, and become bytes; then columns."""
    pixels = image.astype(int)
    upper, lower, part = places(image.shape[0], height)
    low = (part * gain) >> 7
    high = gain - low
    rows = np.minimum(255, (pixels[upper] * high[:, None] + pixels[lower] * low[:, None] + 64) >> 7)
    left, right, part = places(image.shape[1], width)
    return ((rows[:, left] * (128 - part) + rows[:, right] * part + 64) >> 7).astype(np.uint8)


def places(source, target):
    """Where each of `target` places lies in `source`: between which two, and how far in 1/128."""
    start, step = (source << 15) // target - 32768, (source << 16) // target
    place = np.maximum(start + step * np.arange(target), 0)
    left = np.minimum(place >> 16, source - 1)
    return left, np.minimum(left + 1, source - 1), (place >> 9) & 127


def resize(image, width, height):
    while image.shape[1] >= 2 * width and image.shape[0] >= 2 * height:
        image = halve(image)
    return image if image.shape == (height, width) else resample(image, width, height)


def planes(image, cell, normalise=0, smooth=0):
    """(8, height // cell, width // cell) bytes of a grey image."""
    bits = {2: 2, 4: 4}[cell]  # log2 of the pixels in a cell
    magnitude, orientation = gradients(image)
    out = np.stack(
        [rounded(cell_sums(image.astype(int), cell), bits), rounded(cell_sums(magnitude, cell), bits - 1)]
        + [rounded(cell_sums(magnitude * (orientation == o), cell), bits - 2) for o in range(6)]
    )
    if out.size and normalise:
        factor = 16384 // (local_means(out[1]) + normalise)
        out[1:] = np.minimum(255, (out[1:] * factor) >> 8)
    if out.size and smooth:
        out = smoothed(smoothed(out, 1), 2)
    return out.astype(np.uint8)


def gradients(image):
    """Magnitude and orientation of every pixel."""
    pixels = image.astype(int)
    dx = shifted(pixels, 1, 1) - shifted(pixels, 1, -1)
    dy = shifted(pixels, 0, 1) - shifted(pixels, 0, -1)
    a, b = np.maximum(abs(dx), abs(dy)), np.minimum(abs(dx), abs(dy))
    magnitude = np.minimum(255, np.maximum(a, a - (a >> 3) + (b >> 1)))
    steep = (64 * abs(dy) > 37 * abs(dx)).astype(int) + (64 * abs(dy) > 111 * abs(dx))
    return magnitude, np.where((dx ^ dy) < 0, 5 - steep, steep)


def shifted(values, axis, by):
    """What lies `by` places further, the last where there is nothing."""
    count = values.shape[axis]
    return np.take(values, np.clip(np.arange(count) + by, 0, count - 1), axis) if count else values


def cell_sums(values, cell):
    rows, columns = values.shape[0] // cell, values.shape[1] // cell
    whole = values[: rows * cell, : columns * cell]
    return whole.reshape(rows, cell, columns, cell).sum(axis=(1, 3))


def rounded(sums, bits):
    return np.minimum(255, (sums + (1 << bits >> 1)) >> bits)


def local_means(plane):
    """Over 7 x 7 cells."""
    rows = sum(shifted(plane, 0, by) for by in range(-3, 4))
    return (sum(shifted(rows, 1, by) for by in range(-3, 4)) * 1337) >> 16


def smoothed(values, axis):
    return (shifted(values, axis, -1) + 2 * values + shifted(values, axis, 1) + 2) >> 2


def classify(model, planes, step=1):
    """Score of every `step`-th window, and the trees it took, below 0 if the last of them rejected it."""
    width, height = model.window
    down = range(0, planes.shape[1] - height + 1, step)
    across = range(0, planes.shape[2] - width + 1, step)
    scores, trees = np.zeros((2, len(down), len(across)), np.int32)
    cells, parts = planes.tolist(), unpacked(model)
    for i, y in enumerate(down):
        for j, x in enumerate(across):
            sums, out = running(parts, cells, x, y)
            scores[i, j], trees[i, j] = sums[-1], -len(sums) if out else len(sums)
    return scores, trees


def trace(model, planes):
    """The first window's score after each tree that it takes, and whether the last one rejects it."""
    return running(unpacked(model), planes.tolist(), 0, 0)


def unpacked(model):
    """Of each tree: nodes as (plane, y, x, threshold), leaves, and the scores to be out and in."""
    width, height = model.window
    accept = [NEVER_ACCEPT] * len(model) if model.accept is None else model.accept.tolist()
    parts = []
    for t, reject in enumerate(model.reject.tolist()):
        nodes = [
            (feature // (width * height), feature // width % height, feature % width, threshold)
            for feature, threshold in zip(model.feature[t].tolist(), model.threshold[t].tolist(), strict=True)
        ]
        out = -(2**40) if reject == NEVER_REJECT else reject << model.reject_shift
        into = 2**40 if accept[t] == NEVER_ACCEPT else accept[t] << model.reject_shift
        parts.append((nodes, model.leaf[t].tolist(), out, into))
    return parts


def running(parts, cells, left, top):
    score, sums = 0, []
    for nodes, leaves, out, into in parts:
        node = 0
        while node < len(nodes):
            plane, y, x, threshold = nodes[node]
            node = 2 * node + 1 + (cells[plane][top + y][left + x] > threshold)
        score += leaves[node - len(nodes)]
        sums.append(score)
        if score <= out:
            return sums, True
        if score >= into:
            break
    return sums, False


def level_planes(model, image, pyramid):
    """The planes of every level: computed from its image, or resampled from those of its source."""
    made = []
    current = None
    for level in pyramid.levels:
        if level.source < 0:
            current = resize(image, *pyramid.base) if current is None else halve(current)
            made.append(planes(current, model.cell, model.normalise, model.smooth))
        else:
            gains = [level.gains[0], level.gains[1], *[level.gains[2]] * 6]
            made.append(
                np.stack(
                    [
                        resample(plane, level.width, level.height, gain)
                        for plane, gain in zip(made[level.source], gains, strict=True)
                    ]
                )
            )
    return made


def box_of(model, level, x, y):
    """Where the object in a window lies in the frame, in pixels, halves rounded up."""
    left, top, width, height = model.box
    horizontal = Fraction(*level.x_scale) / 256, 256 * x + left
    vertical = Fraction(*level.y_scale) / 256, 256 * y + top
    return [
        floor(scale * (start + size) + Fraction(1, 2))
        for size_x, size_y in ((0, 0), (width, height))
        for (scale, start), size in ((horizontal, size_x), (vertical, size_y))
    ]


def detect(model, image, pyramid):
    """Boxes and scores of all windows that pass, level by level and row by row; trees looked at per level."""
    boxes, scores, visits = [], [], []
    made = level_planes(model, image, pyramid)
    for level, step, cells in zip(pyramid.levels, pyramid.table[:, 6].tolist(), made, strict=True):
        assert cells.shape == (8, level.height, level.width)
        score, trees = classify(model, cells, step)
        visits.append(int(abs(trees).sum()))
        for i, j in np.argwhere(trees > 0).tolist():
            boxes.append(box_of(model, level, j * step, i * step))
            scores.append(int(score[i, j]))
    return np.array(boxes, np.int64).reshape(-1, 4), np.array(scores, np.int64), visits
