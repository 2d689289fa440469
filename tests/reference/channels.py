"""Twins of cascade/runtime/cascade.h: planes a formula at a time, windows one by one, levels after a plan."""

from fractions import Fraction
from math import floor

import numpy as np

from tests.reference import haar

NEVER_REJECT, NEVER_ACCEPT = -32768, 32767


def grey(frame):
    blue, green, red = np.moveaxis(frame.astype(int), 2, 0)
    return ((29 * blue + 150 * green + 77 * red + 128) >> 8).astype(np.uint8)


def colours(frame):
    """Blue, green and red, one after the other."""
    return np.moveaxis(frame, 2, 0) if frame.ndim == 3 else np.stack([frame] * 3)


def each_colour(function):
    """Images of several colours are done one by one."""

    def of(image, *arguments):
        if image.ndim == 2:
            return function(image, *arguments)
        return np.stack([function(colour, *arguments) for colour in image])

    return of


@each_colour
def halve(image):
    return ((cell_sums(image.astype(int), 2) + 2) >> 2).astype(np.uint8)


@each_colour
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


@each_colour
def resize(image, width, height):
    while image.shape[1] >= 2 * width and image.shape[0] >= 2 * height:
        image = halve(image)
    return image if image.shape == (height, width) else resample(image, width, height)


def planes(image, cell, normalise=0, smooth=0):
    """The bytes (8, height // cell, width // cell) of a grey image, or (10, ...) of three colours; with
    cells of a pixel, the image."""
    if cell == 1:
        out = image[None].astype(int)
    else:
        out = np.concatenate([intensities(image, cell), gradient_planes(image, cell, normalise)])
    if out.size and smooth:
        out = smoothed(smoothed(out, 1), 2)
    return out.astype(np.uint8)


def intensities(image, cell):
    bits = {2: 2, 4: 4}[cell]  # log2 of the pixels in a cell
    if image.ndim == 2:
        return rounded(cell_sums(image.astype(int), cell), bits)[None]
    blue, green, red = (rounded(cell_sums(colour.astype(int), cell), bits) for colour in image)
    luma = (29 * blue + 150 * green + 77 * red + 128) // 256
    first = 128 + (128 * blue - 85 * green - 43 * red + 128) // 256
    second = 128 + (128 * red - 107 * green - 21 * blue + 128) // 256
    return np.minimum(255, [luma, first, second])


def gradient_planes(image, cell, normalise):
    bits = {2: 2, 4: 4}[cell]
    magnitude, orientation = gradients(image) if image.ndim == 2 else strongest(image)
    out = np.stack(
        [rounded(cell_sums(magnitude, cell), bits - 1)]
        + [rounded(cell_sums(magnitude * (orientation == o), cell), bits - 2) for o in range(6)]
    )
    if out.size and normalise:
        factor = 16384 // (local_means(out[0]) + normalise)
        out = np.minimum(255, (out * factor) >> 8)
    return out


def strongest(image):
    """Magnitude and orientation of the colour with the largest magnitude, the first of equals."""
    magnitudes, orientations = zip(*(gradients(colour) for colour in image), strict=True)
    best = np.argmax(magnitudes, axis=0)[None]
    return (np.take_along_axis(np.array(values), best, axis=0)[0] for values in (magnitudes, orientations))


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
    for i, y in enumerate(down):
        for j, x in enumerate(across):
            sums, out = trace(model, planes[:, y : y + height, x : x + width])
            scores[i, j], trees[i, j] = sums[-1], -len(sums) if out else len(sums)
    return scores, trees


def trace(model, window):
    """A window's score after each tree that it takes, and whether the last one rejects it."""
    values, score, sums = Values(model, window), 0, []
    for t, (leaves, reject) in enumerate(zip(model.leaf.tolist(), model.reject.tolist(), strict=True)):
        node, nodes = 0, len(leaves) - 1
        while node < nodes:
            node = 2 * node + 1 + (values[int(model.feature[t, node])] > int(model.threshold[t, node]))
        score += leaves[node - nodes]
        sums.append(score)
        if reject != NEVER_REJECT and score <= reject << model.reject_shift:
            return sums, True
        accept = NEVER_ACCEPT if model.accept is None else int(model.accept[t])
        if accept != NEVER_ACCEPT and score >= accept << model.reject_shift:
            break
    return sums, False


class Values(dict):
    """What each feature of a model is in a window."""

    def __init__(self, model, window):
        super().__init__()
        self.model, self.window = model, window.astype(int)

    def __missing__(self, feature):
        self[feature] = getattr(self, self.model.kind)(feature)
        return self[feature]

    def cell(self, feature):
        return int(self.window.flat[feature])

    def rect(self, feature):
        plane, x, y, width, height = self.model.rectangles[feature].tolist()
        return int(self.window[plane, y : y + height, x : x + width].sum())

    def haar(self, feature):
        rows = self.model.rectangles[feature].tolist()
        return haar.value(self.window[0], [row[:4] for row in rows], [row[4] for row in rows])


def level_planes(model, image, pyramid):
    """The planes of every level: computed from its image, or resampled from those of its source."""
    made = []
    current = None
    for level in pyramid.levels:
        if level.source < 0:
            if level.first:
                current = resize(image, *pyramid.base) if current is None else halve(current)
                own = current
            else:
                own = resize(current, model.cell * level.width, model.cell * level.height)
            made.append(planes(own, model.cell, model.normalise, model.smooth))
        else:
            pairs = zip(made[level.source], gains_of(model, level), strict=True)
            made.append(np.stack([resample(plane, level.width, level.height, gain) for plane, gain in pairs]))
    return made


def gains_of(model, level):
    """What each plane is multiplied by: only chroma has no power law, since its zero is not 0."""
    if model.kind == "haar":
        return level.gains[:1]
    chroma = [128, 128] if model.channels == "colour" else []
    return [level.gains[0], *chroma, level.gains[1], *[level.gains[2]] * 6]


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
        assert cells.shape == (model.planes, level.height, level.width)
        score, trees = classify(model, cells, step)
        visits.append(int(abs(trees).sum()))
        for i, j in np.argwhere(trees > 0).tolist():
            boxes.append(box_of(model, level, j * step, i * step))
            scores.append(int(score[i, j]))
    return np.array(boxes, np.int64).reshape(-1, 4), np.array(scores, np.int64), visits
