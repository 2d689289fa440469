"""From pixels to planes of byte cells: what the trainer learns from and the detector looks at, alike.

All integers, by the functions of cascade/runtime/cascade.h. Each byte of a plane stands for a cell of 2 x 2
or 4 x 4 pixels. An image in work is (colours, height, width): grey levels, or blue, green and red.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade._ext import detect as kernels

LARGEST = 32767  # pixels a side that resampling can do
PLANES = {"pixels": 1, "grey": 8, "colour": 10}
Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Channels:
    """Which planes an image becomes.

    `mode` is grey (intensity, gradient magnitude, magnitude in six orientations), colour (luma, two chroma,
    magnitude and orientations of the strongest of the colours), or pixels (the grey levels themselves).
    """

    mode: str = "grey"
    cell: int = 2  # pixels a side
    smooth: int = 0  # 1: cells are smoothed with 1 2 1
    normalise: int = 0  # the constant of local gradient normalisation, 0 for none

    def __post_init__(self) -> None:
        if self.mode not in PLANES:
            raise ValueError(f"expected a mode of {', '.join(PLANES)}, got {self.mode!r}")
        cells = (1,) if self.mode == "pixels" else (2, 4)
        most = 0 if self.mode == "pixels" else 255
        if self.cell not in cells or self.smooth not in (0, 1) or not 0 <= self.normalise <= most:
            raise ValueError(
                f"expected cells of {' or '.join(map(str, cells))} pixels, smooth 0 or 1 and "
                f"normalise 0 to {most} with {self.mode}, got {self.cell}, {self.smooth} and {self.normalise}"
            )

    @property
    def count(self) -> int:
        """How many planes there are."""
        return PLANES[self.mode]

    def image(self, frame: Any) -> Image:
        """A frame, grey or blue-green-red, of any strides, as a contiguous image of what is looked at."""
        return colours(frame) if self.mode == "colour" else grey(frame)[None]

    def planes(self, image: Image) -> NDArray[np.uint8]:
        """The planes (count, height // cell, width // cell) of an image."""
        shape = self.count, image.shape[1] // self.cell, image.shape[2] // self.cell
        out = np.empty(shape, np.uint8)
        kernels.planes(self.cell, self.smooth, self.normalise, image, out)
        return out


def grey(frame: Any) -> NDArray[np.uint8]:
    """A frame as contiguous grey levels (height, width)."""
    frame = _checked(frame)
    if frame.ndim == 2:
        return np.ascontiguousarray(frame)
    image = np.empty(frame.shape[:2], np.uint8)
    if image.size:
        blue, green, red = _split(frame)
        kernels.grey(blue, green, red, image)
    return image


def colours(frame: Any) -> Image:
    """A frame as contiguous planes of blue, green and red; they are the same for a grey one."""
    frame = _checked(frame)
    if frame.ndim == 2:
        return np.ascontiguousarray(np.broadcast_to(frame, (3, *frame.shape)))
    return np.stack(_split(frame)) if frame.size else np.empty((3, *frame.shape[:2]), np.uint8)


def bordered(image: Image, share: int) -> tuple[Image, int]:
    """An image whose edges go on by `share` / 256 of its shorter side, and how many pixels that is."""
    edge = min(image.shape[1:]) * share >> 8
    if edge < 1:
        return image, 0
    return np.pad(image, ((0, 0), (edge, edge), (edge, edge)), mode="edge"), edge


def halve(image: Image) -> Image:
    """Half the size, by means of 2 x 2 pixels."""
    out = np.empty((len(image), image.shape[1] // 2, image.shape[2] // 2), np.uint8)
    for colour, half in zip(image, out, strict=True):
        kernels.halve(colour, half)
    return out


def resample(image: Image, width: int, height: int, gain: int = 128) -> Image:
    """Another size, bilinearly; values times gain / 128."""
    for name, sides in (("an image", image.shape[1:]), ("a size", (height, width))):
        if not all(1 <= side <= LARGEST for side in sides):
            raise ValueError(f"expected {name} of 1 to {LARGEST} pixels a side, got {sides}")
    out = np.empty((len(image), height, width), np.uint8)
    for colour, scaled in zip(image, out, strict=True):
        kernels.resample(colour, scaled, gain)
    return out


def resize(image: Image, width: int, height: int) -> Image:
    """Another size, at least 1 x 1, halved first as often as it takes for every pixel to count."""
    width, height = max(width, 1), max(height, 1)
    while image.shape[2] >= 2 * width and image.shape[1] >= 2 * height:
        image = halve(image)
    if image.shape[1:] == (height, width):
        return image
    return resample(image, width, height)


def _checked(frame: Any) -> NDArray[np.uint8]:
    """A frame of shape (height, width) or (height, width, 3)."""
    if not isinstance(frame, np.ndarray) or frame.dtype != np.uint8:
        came = frame.dtype if isinstance(frame, np.ndarray) else type(frame).__name__
        raise ValueError(f"expected a frame of uint8 pixels, got {came}")
    if frame.ndim == 3 and frame.shape[2] == 1:
        frame = frame[:, :, 0]
    if frame.ndim != 2 and (frame.ndim != 3 or frame.shape[2] != 3):
        raise ValueError(
            f"expected a frame of shape (height, width) or (height, width, 3), got {frame.shape}"
            + ("; drop the alpha channel: frame[:, :, :3]" if frame.shape[2:] == (4,) else "")
        )
    checked: NDArray[np.uint8] = frame
    return checked


def _split(frame: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    import cv2  # here, for grey frames do without it

    return [np.asarray(part, np.uint8) for part in cv2.split(frame)]
