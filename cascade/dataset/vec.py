"""OpenCV's .vec: grey crops of one size in one file.

A head of 12 bytes: the number of crops (int32), values a crop (int32), and two int16 that are 0. Each crop is
a zero byte and its grey levels as int16, row by row. Width and height are not in it, only their product.
"""

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cascade.dataset.images import ImageError, read_file

HEAD = struct.Struct("<iihh")
MOST_BYTES = 1 << 32
MOST_CROPS = 1_000_000
MOST_VALUES = 1 << 20  # of a crop
MOST_LOOKED_AT = 200, 1 << 22  # crops and values, to find out how wide the crops are


def read_head(path: Path) -> tuple[int, int]:
    """The number of crops and the number of values in each; ImageError if the file is not as long as that."""
    head = read_file(path, MOST_BYTES, HEAD.size)
    if len(head) < HEAD.size:
        raise ImageError(path, f"is not a .vec file: it has {len(head)} bytes, its head has {HEAD.size}")
    count, values, _, _ = HEAD.unpack(head)
    if not 0 <= count <= MOST_CROPS or not 1 <= values <= MOST_VALUES:
        raise ImageError(path, f"is not a .vec file: its head says {count} crops of {values} values")
    size = path.stat().st_size
    if size < HEAD.size + count * _stride(values):
        whole = (size - HEAD.size) // _stride(values)
        raise ImageError(path, f"is cut short: {count} crops are announced, {whole} are there")
    return count, values


def read_frame(path: Path, frame: int, width: int, height: int) -> NDArray[np.uint8]:
    """One crop."""
    count, values = read_head(path)
    if width * height != values or not 0 <= frame < count:
        raise ImageError(path, f"has {count} crops of {values} values, not a {frame}th of {width} x {height}")
    return np.asarray(_frames(path, values, [frame])[0].reshape(height, width))


def guess_shape(path: Path) -> tuple[int, int]:
    """Width and height: of all that multiply to the values, those that make neighbouring rows most alike."""
    count, values = read_head(path)
    most, most_values = MOST_LOOKED_AT
    most = max(1, min(most, most_values // values))
    step = max(1, count // most)
    frames = _frames(path, values, list(range(0, count, step))[:most]).astype(np.int16)
    shapes = [(values // h, h) for h in range(1, values + 1) if values % h == 0]
    shapes = [shape for shape in shapes if max(shape) <= 8 * min(shape)] or shapes

    def unlike(shape: tuple[int, int]) -> tuple[float, int]:
        width = shape[0]  # the value below is a row's width further on
        below = np.abs(frames[:, width:] - frames[:, :-width])
        return float(below.mean()) if below.size else 0.0, abs(width - shape[1])

    return min(shapes, key=unlike)


def _stride(values: int) -> int:
    return 1 + 2 * values


def _frames(path: Path, values: int, chosen: list[int]) -> NDArray[np.uint8]:
    frames = np.zeros((len(chosen), values), np.uint8)
    with path.open("rb") as file:
        for row, frame in zip(frames, chosen, strict=True):
            file.seek(HEAD.size + frame * _stride(values) + 1)
            grey = np.frombuffer(file.read(2 * values), "<i2")
            if len(grey) != values:
                raise ImageError(path, "became shorter while it was read")
            row[:] = grey.clip(0, 255)
    return frames
