"""The levels of a frame: which sizes are looked at, where their planes come from, and where windows lie.

Octaves are computed from pixels. The scales between two octaves are resampled from the larger one's planes,
times a gain that follows a power law [Dollar 2014], which takes a fraction of the time; an exact pyramid
computes them from pixels, too. All sizes and places are whole numbers computed from whole numbers, so that
any machine looks at the same windows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade._ext import detect as kernels
from cascade.channels import Image, halve, resize
from cascade.model import Model

UNIT = 256  # boxes inside a window are in 1/256 of a cell
GAP = 64  # bytes after a level's planes, for vector code may read a little further


@dataclass(frozen=True)
class Level:
    width: int  # of its planes, in cells
    height: int
    first: bool  # of its octave
    source: int  # the level whose planes it is made from, or -1
    gains: tuple[int, int, int]  # for colour, magnitude and orientations, in 1/128
    x_scale: tuple[int, int]  # pixels of the frame per cell, as a fraction
    y_scale: tuple[int, int]


@dataclass(frozen=True)
class Pyramid:
    """What to compute for frames of one size."""

    base: tuple[int, int]  # width and height of the first image
    levels: tuple[Level, ...]
    table: NDArray[np.int64]  # the levels, as the kernel wants them
    scales: NDArray[np.int64]  # of each level: windows in a row, and the fractions x_scale and y_scale
    plane_bytes: int
    windows: int

    @classmethod
    def plan(
        cls, model: Model, width: int, height: int, min_size: int | None, max_size: int | None,
        per_octave: int, step: int, exact: bool = False,
    ) -> "Pyramid":  # fmt: skip
        base = _base(model, width, height, min_size)
        levels: list[Level] = []
        image, halved = base, 1
        while min(image) >= model.cell:
            # An odd column or row is dropped when an image is halved: its scale is still exactly half.
            scales = (width * halved, base[0]), (height * halved, base[1])
            octave = _octave(model, scales, image, per_octave, None if exact else len(levels))
            fitting = [level for level in octave if _fits(model, level, max_size)]
            levels += fitting
            if len(fitting) < len(octave):
                break
            image, halved = (image[0] // 2, image[1] // 2), 2 * halved
        return cls._of(model, base, tuple(levels), step)

    @classmethod
    def _of(cls, model: Model, base: tuple[int, int], levels: tuple[Level, ...], step: int) -> "Pyramid":
        rows, planes, windows = [], 0, 0
        for level in levels:
            rows.append([level.width, level.height, level.source, *level.gains, step, planes, windows])
            planes += model.planes * level.width * level.height + GAP
            across, down = level.width - model.window[0] + 1, level.height - model.window[1] + 1
            windows += -(-across // step) * -(-down // step)
        scales = [(level.width - model.window[0] + 1, *level.x_scale, *level.y_scale) for level in levels]
        return cls(
            base, levels, np.array(rows, np.int64).reshape(-1, 9),
            np.array(scales, np.int64).reshape(-1, 5), planes, windows,
        )  # fmt: skip

    def boxes(
        self, model: Model, levels: NDArray[np.intp], windows: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Where the objects in some windows lie in the frame: x1, y1, x2, y2. Windows are numbered row by row
        in their level."""
        across, x_up, x_down, y_up, y_down = self.scales[levels].T
        y, x = np.divmod(windows, across)
        left, top, width, height = model.box
        columns = UNIT * x[:, None] + [left, left + width]
        rows = UNIT * y[:, None] + [top, top + height]
        boxes = np.empty((len(windows), 4), np.int32)
        boxes[:, 0::2] = _nearest(columns * x_up[:, None], UNIT * x_down[:, None])
        boxes[:, 1::2] = _nearest(rows * y_up[:, None], UNIT * y_down[:, None])
        return boxes

    def images(self, image: Image, cell: int) -> list[Image | None]:
        """The image of each level that has its own planes."""
        images: list[Image | None] = []
        current = resize(image, *self.base)
        for level in self.levels:
            if level.source >= 0:
                images.append(None)
                continue
            if level.first and images:
                current = halve(current)
            size = cell * level.width, cell * level.height
            images.append(current if level.first else resize(current, *size))
        return images


def _nearest(up: NDArray[np.int64], down: NDArray[np.int64]) -> NDArray[np.int64]:
    """up / down to the nearest whole number, halves up."""
    return (2 * up + down) // (2 * down)


def enlargement(model: Model, min_size: int | None) -> tuple[int, int]:
    """How the smallest objects come to fill a window: the frame times this fraction, at most twice."""
    side = min(model.box[2:]) * model.cell
    if min_size is None or side >= 2 * UNIT * min_size:
        return (1, 1) if min_size is None else (2, 1)
    return side, UNIT * min_size


def _base(model: Model, width: int, height: int, min_size: int | None) -> tuple[int, int]:
    up, down = enlargement(model, min_size)
    base = width * up // down, height * up // down
    if max(base) > kernels.WIDEST:
        raise ValueError(
            f"expected a frame of at most {kernels.WIDEST} pixels a side once scaled, got {base}; "
            "raise min_size or scale the frame down"
        )
    return base


def _octave(
    model: Model, scales: tuple[tuple[int, int], tuple[int, int]], image: tuple[int, int], per_octave: int,
    source: int | None,
) -> list[Level]:  # fmt: skip
    """The levels from one image down to the next octave; they are made from level `source`, if any."""
    cells = image[0] // model.cell, image[1] // model.cell
    levels = []
    for k in range(per_octave):
        ratio = step_ratio(k, per_octave)
        width, height = cells[0] * ratio >> 16, cells[1] * ratio >> 16
        if not width or not height:
            break
        gains = [step_gain(exponent, k, per_octave) for exponent in model.lambdas]
        levels.append(
            Level(
                width,
                height,
                k == 0,
                source if k and source is not None else -1,
                (gains[0], gains[1], gains[2]),
                (model.cell * scales[0][0] * cells[0], scales[0][1] * width),
                (model.cell * scales[1][0] * cells[1], scales[1][1] * height),
            )
        )
    return levels


def _fits(model: Model, level: Level, max_size: int | None) -> bool:
    if level.width < model.window[0] or level.height < model.window[1]:
        return False
    if max_size is None:
        return True
    sides = zip(model.box[2:], (level.x_scale, level.y_scale), strict=True)
    # Images have whole pixels, so sizes come out up to a pixel larger than asked for.
    return any(side * up < (max_size + 1) * UNIT * down for side, (up, down) in sides)


def step_ratio(k: int, per_octave: int) -> int:
    """The size of an octave's k-th level, in 1/65536 of the octave's."""
    ratio: float = 2.0 ** (-k / per_octave)
    return round(65536 * ratio)


def step_gain(exponent: int, k: int, per_octave: int) -> int:
    """The power law's factor in 1/128, at most 2."""
    factor: float = 2.0 ** (exponent / 65536 * k / per_octave)
    return min(256, round(128 * factor))
