"""What a model looks at: how much each cell of each plane says, over the mean of the objects."""

from collections.abc import Iterable, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from cascade.dataset import Box, ImageError, Sample
from cascade.model import Model
from cascade.reporting.pictures import Frame, data_uri
from cascade.reporting.text import escaped, percent
from cascade.sampling import objects
from cascade.template import UNIT

PIXELS = 240  # of the longer side of the mean object
SMALL = 96  # of a plane
SEEN = 300  # objects that the mean is taken of, at most
HEAT = (40, 90, 240)  # blue, green, red
OPAQUE, GAMMA = 230, 0.75  # how little of the object shows through, at most, and how fast it does
# The middle of each orientation, as the edge itself is seen: 0 is level, 90 upright.
GRADIENTS = ["edges of any kind", *(f"edges at {(90 - 15 - 30 * i) % 180}°" for i in range(6))]
NAMES = {
    1: ["grey levels"],
    8: ["brightness", *GRADIENTS],
    10: ["brightness", "blueness", "redness", *GRADIENTS],
}


def attention(model: Model) -> NDArray[np.float64]:
    """How much each cell (planes, height, width) moves the score: the spread of the leaves below each node
    that asks for it, less for deeper nodes, which fewer windows come to."""
    width, height = model.window
    heat = np.zeros((model.planes, height, width))
    weights = node_weights(model)
    if model.kind == "cell":
        np.add.at(heat.reshape(-1), model.feature.astype(np.intp), weights)
        return heat
    of = np.bincount(model.feature.ravel().astype(np.intp), weights.ravel(), len(model.rectangles))
    for weight, rows in zip(of, np.asarray(model.rectangles, np.int64).reshape(len(of), -1, 5), strict=True):
        for row in rows:
            plane, x, y, w, h = (0, *row[:4]) if model.kind == "haar" else row
            heat[plane, y : y + h, x : x + w] += weight / max(1, w * h * len(rows))
    return heat


def node_weights(model: Model) -> NDArray[np.float64]:
    """By how much the two sides of each node (trees, nodes) differ, times the share of windows it is for."""
    means = model.leaf.astype(np.float64)
    levels = []
    for level in reversed(range(model.depth)):
        pairs = means.reshape(len(model), -1, 2)
        levels.append(np.abs(pairs[:, :, 1] - pairs[:, :, 0]) / 2**level)
        means = pairs.mean(axis=2)
    return np.concatenate(levels[::-1], axis=1)


def mean_object(model: Model, samples: Iterable[Sample], crop_share: float) -> Frame | None:
    """The mean of objects as the model's window frames them, colour where there is some; None without any."""
    width, height = (side * model.cell for side in model.window)
    zoom = PIXELS / max(width, height)
    size = max(1, round(width * zoom)), max(1, round(height * zoom))
    total, count = np.zeros((size[1], size[0], 3)), 0
    for sample in samples:
        if count >= SEEN:
            break
        boxes = objects(sample, crop_share)
        if not boxes:
            continue
        try:
            frame = sample.read()
        except ImageError:
            continue
        for box in boxes[: SEEN - count]:
            cut = _framed(model, frame, box, zoom, size)
            total += cut if cut.ndim == 3 else cut[:, :, None]
            count += 1
    return np.rint(total / count).astype(np.uint8) if count else None


def _framed(model: Model, frame: Frame, box: Box, zoom: float, size: tuple[int, int]) -> Frame:
    """One object where the model's window has it, `zoom` times as large."""
    x, y, w, h = (side * model.cell * zoom / UNIT for side in model.box)
    across, up = w / box.width, h / box.height
    # Pixels are places from their middle on; boxes from their corner on.
    start = x - across * (box.x - 0.5) - 0.5, y - up * (box.y - 0.5) - 0.5
    matrix = np.array([[across, 0.0, start[0]], [0.0, up, start[1]]])
    cut = cv2.warpAffine(frame, matrix, size, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REFLECT_101)
    return np.asarray(cut, np.uint8)


def drawn(model: Model, mean: Frame | None) -> str:
    """The mean object, what all planes together look at, and each plane by itself."""
    heat = attention(model)
    width, height = model.window
    whole = f"{'The mean object, and over it' if mean is not None else 'A map of'} where the trees look"
    figures = [_overlay(heat.sum(axis=0), mean, whole, "all planes together", "large")]
    if mean is not None:
        nothing = np.zeros((height, width))
        figures.insert(0, _overlay(nothing, mean, "The mean object", "the mean object", "large"))
    share = heat.sum(axis=(1, 2)) / max(heat.sum(), 1e-9)
    most = float(heat.max())
    names: Sequence[str] = NAMES.get(model.planes, [f"plane {i + 1}" for i in range(model.planes)])
    small = [
        _overlay(plane, mean, f"Where trees look for {name}", f"{name}, {percent(part, 0)}", "small", most)
        for plane, name, part in zip(heat, names, share, strict=True)
    ]
    return f'<div class="row">{"".join(figures)}</div><div class="row">{"".join(small)}</div>'


def _overlay(
    heat: NDArray[np.float64], mean: Frame | None, words: str, caption: str, look: str, most: float = 0.0
) -> str:
    """A figure of two pictures on top of each other: the object, and heat that lets it through."""
    height, width = heat.shape
    zoom = (PIXELS if look == "large" else SMALL) / max(width, height)
    layers = [] if mean is None else [data_uri(_dimmed(mean, look))]
    if heat.any():
        layers.append(data_uri(_glow(heat, most or float(heat.max())), lossless=True))
    size = f'width="{width * zoom:.0f}" height="{height * zoom:.0f}" preserveAspectRatio="none"'
    drawn = "".join(f'<image {size} href="{layer}"/>' for layer in layers)
    return (
        f'<figure class="{look}"><svg viewBox="0 0 {width * zoom:.0f} {height * zoom:.0f}" role="img" '
        f'aria-label="{escaped(words)}">{drawn}</svg>'
        f"<figcaption>{escaped(caption)}</figcaption></figure>"
    )


def _glow(heat: NDArray[np.float64], most: float) -> NDArray[np.uint8]:
    """One colour, the less transparent the hotter."""
    layer = np.zeros((*heat.shape, 4), np.uint8)
    layer[:, :, :3] = HEAT
    layer[:, :, 3] = np.rint(OPAQUE * np.minimum(1.0, heat / most) ** GAMMA).astype(np.uint8)
    return layer


def _dimmed(mean: Frame, look: str) -> Frame:
    """Grey and small behind a plane; as it is where it is large."""
    if look == "large":
        return mean
    scale = SMALL / max(mean.shape[:2])
    size = max(1, round(mean.shape[1] * scale)), max(1, round(mean.shape[0] * scale))
    grey = cv2.cvtColor(cv2.resize(mean, size, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY)
    return np.asarray(grey, np.uint8)
