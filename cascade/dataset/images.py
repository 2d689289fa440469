"""Reading pictures that nobody has vouched for.

Size and wholeness are checked before anything is decoded: decoders fill in what a cut file lacks without a
word, and a PNG of a hundred kilobytes can ask for gigabytes. Pictures are turned upright as their EXIF note
says, since browsers and labelling tools show them so, and labels were drawn on what people saw. We turn them
ourselves: releases of OpenCV differ in which kinds of files they look for the note in.
"""

import errno
import os
import stat
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
from numpy.typing import NDArray

from cascade.dataset.headers import Head, Short, kind_of

MOST_PIXELS = 100_000_000
MOST_BYTES = 1 << 28  # of a file
FIRST_BYTES = 1 << 16  # where nearly every head ends
DECODE = cv2.IMREAD_ANYCOLOR | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION

# EXIF orientation: whether to swap rows and columns, then to flip upside down, then left to right.
TURNS = {
    1: (False, False, False), 2: (False, False, True), 3: (False, True, True), 4: (False, True, False),
    5: (True, False, False), 6: (True, False, True), 7: (True, True, True), 8: (True, True, False),
}  # fmt: skip


class ImageError(ValueError):
    """A file that is not a whole picture of a kind that is read."""

    def __init__(self, path: Path, sentence: str) -> None:
        super().__init__(f"{path}: {sentence}")
        self.path = path
        self.sentence = sentence


def read_image(path: Path) -> NDArray[np.uint8]:
    """A picture as bytes, (h, w) if it is grey, else (h, w, 3), BGR; ImageError if that cannot be had."""
    path = Path(path)
    data = read_file(path, MOST_BYTES)
    try:
        kind, head = _head(data, path.suffix)
        kind.check_whole(data)
        return _turned(_decoded(data, head), head.orientation)
    except ValueError as error:
        raise ImageError(path, str(error)) from None


def image_size(path: Path) -> tuple[int, int]:
    """Width and height of the upright picture, mostly from the first few kilobytes of the file."""
    path = Path(path)
    try:
        try:
            return _head(read_file(path, MOST_BYTES, FIRST_BYTES), path.suffix)[1].turned
        except Short:
            return _head(read_file(path, MOST_BYTES), path.suffix)[1].turned
    except ImageError:
        raise
    except ValueError as error:
        raise ImageError(path, str(error)) from None


def read_file(path: Path, most: int, first: int | None = None) -> bytes:
    """The bytes of a regular file of at most so many bytes, or the first of them; never waits for a pipe."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise ImageError(path, _why_not(path, error)) from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            folder = stat.S_ISDIR(found.st_mode)
            raise ImageError(path, "is a folder, not a file" if folder else "is not a regular file")
        if found.st_size > most:
            raise ImageError(path, f"has {found.st_size} bytes, at most {most} are read")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(most if first is None else first)
    except OSError as error:
        raise ImageError(path, f"cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def hush() -> None:
    """Keep the decoder from writing to the terminal, in a program that names broken pictures itself."""
    cv2.utils.logging.setLogLevel(0)


def _why_not(path: Path, error: OSError | ValueError) -> str:
    if isinstance(error, ValueError):
        return "has a name that no file can have"
    if error.errno == errno.ELOOP:
        return "is a link that leads in a circle"
    if error.errno == errno.ENOENT and path.is_symlink():
        return "is a link to a file that is not there"
    if error.errno == errno.ENOENT:
        return "is not there"
    return f"cannot be read: {error.strerror}"


def _head(data: bytes, suffix: str) -> tuple[ModuleType, Head]:
    kind = kind_of(data, suffix)
    head: Head = kind.head(data)
    if head.width <= 0 or head.height <= 0:
        raise ValueError(f"is {head.width} x {head.height} pixels by its head: it is damaged")
    if head.width * head.height > MOST_PIXELS:
        most = f"at most {MOST_PIXELS // 1_000_000} million are read"
        raise ValueError(f"is {head.width} x {head.height} pixels, {most}: make it smaller")
    return kind, head


def _decoded(data: bytes, head: Head) -> NDArray[np.uint8]:
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), DECODE)
    except (cv2.error, MemoryError):
        image = None
    if image is None:
        raise ValueError("cannot be decoded: it is damaged, or of a rare kind; save it anew as PNG")
    if image.shape[:2] != (head.height, head.width):
        raise ValueError(f"is {head.width} x {head.height} pixels by its head only: it is damaged")
    if image.dtype == np.uint16:
        image = np.right_shift(image.view(np.uint16), 8)
    elif image.dtype != np.uint8:
        raise ValueError(f"has values of type {image.dtype}, bytes or 16 bits are read: save it as 8-bit PNG")
    if image.ndim == 3:
        image = image[..., 0] if image.shape[2] == 1 else image[..., :3]
    return np.ascontiguousarray(image, np.uint8)


def _turned(image: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    swap, down, across = TURNS[orientation]
    if swap:
        image = image.swapaxes(0, 1)
    return np.ascontiguousarray(image[:: -1 if down else 1, :: -1 if across else 1])
