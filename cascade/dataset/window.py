"""The window: the size in pixels at which a detector looks at its object, proposed from the boxes of many."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cascade.dataset.sample import Box

SHORT = (24, 22, 20)  # pixels of the shorter side; the first that keeps the shape best
SHORTEST = 12  # below, there is too little to see
STEP = 2  # a window is a whole number of cells, of 2 pixels
LONGEST = 128
SMALL = 0.1  # this share of the objects may be smaller than the window


class Window(NamedTuple):
    width: int
    height: int
    why: str


def propose_window(boxes: Sequence[Box]) -> Window:
    """A window of the median shape, small enough for all but the smallest tenth of the objects."""
    if not boxes:
        return Window(24, 24, "no object to measure")
    sides = np.array([(box.width, box.height) for box in boxes])
    aspect = float(np.median(sides[:, 0] / sides[:, 1]))
    small = float(np.quantile(sides.min(axis=1), SMALL))
    choices = SHORT if small >= SHORT[-1] else (max(SHORTEST, int(small) // STEP * STEP),)
    long = max(aspect, 1 / aspect)
    short = min(choices, key=lambda side: (round(abs(_even(side * long) / side - long), 6), -side))
    pair = (_even(short * long), short)
    width, height = pair if aspect >= 1 else pair[::-1]
    shape = f"the median object is {aspect:.2f} times as wide as high"
    if small >= SHORT[-1]:
        size = f"{short} pixels show enough, and nine tenths of the objects are {small:.0f} or more across"
    elif small >= SHORTEST:
        size = f"a tenth of the objects are less than {small:.0f} pixels across"
    else:
        size = f"many objects are less than {SHORTEST} pixels across: larger pictures would show more"
    return Window(width, height, f"{shape}; {size}")


def _even(length: float) -> int:
    """The nearest whole number of cells."""
    return min(LONGEST, max(SHORTEST, int(length / STEP + 0.5) * STEP))
