"""From pixels to planes of byte cells: what the trainer learns from and the detector looks at, alike.

All integers, by the functions of cascade/runtime/cascade.h. Grey: intensity, gradient magnitude, and
magnitude in six orientations; each byte of a plane stands for a cell of 2 x 2 or 4 x 4 pixels.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade._ext import detect as kernels

LARGEST = 32767  # pixels a side that resampling can do


def grey(frame: Any) -> NDArray[np.uint8]:
    """A frame, grey or blue-green-red, of any strides, as contiguous grey levels."""
    if not isinstance(frame, np.ndarray) or frame.dtype != np.uint8:
        came = frame.dtype if isinstance(frame, np.ndarray) else type(frame).__name__
        raise ValueError(f"expected a frame of uint8 pixels, got {came}")
    if frame.ndim == 3 and frame.shape[2] == 1:
        frame = frame[:, :, 0]
    if frame.ndim == 2:
        return np.ascontiguousarray(frame)
    if frame.ndim != 3 or frame.shape[2] != 3:
        raise ValueError(
            f"expected a frame of shape (height, width) or (height, width, 3), got {frame.shape}"
            + ("; drop the alpha channel: frame[:, :, :3]" if frame.shape[2:] == (4,) else "")
        )
    image = np.empty(frame.shape[:2], np.uint8)
    if image.size:
        import cv2  # here, for grey frames do without it

        blue, green, red = (np.asarray(part, np.uint8) for part in cv2.split(frame))
        kernels.grey(blue, green, red, image)
    return image


def halve(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Half the size, by means of 2 x 2 pixels."""
    out = np.empty((image.shape[0] // 2, image.shape[1] // 2), np.uint8)
    kernels.halve(image, out)
    return out


def resample(image: NDArray[np.uint8], width: int, height: int, gain: int = 128) -> NDArray[np.uint8]:
    """Another size, bilinearly; values times gain / 128."""
    for name, sides in (("an image", image.shape), ("a size", (height, width))):
        if not all(1 <= side <= LARGEST for side in sides):
            raise ValueError(f"expected {name} of 1 to {LARGEST} pixels a side, got {sides}")
    out = np.empty((height, width), np.uint8)
    kernels.resample(image, out, gain)
    return out


def resize(image: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Another size, at least 1 x 1, halved first as often as it takes for every pixel to count."""
    width, height = max(width, 1), max(height, 1)
    while image.shape[1] >= 2 * width and image.shape[0] >= 2 * height:
        image = halve(image)
    if image.shape == (height, width):
        return image
    return resample(image, width, height)
