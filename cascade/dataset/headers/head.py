"""The size of a picture, and how it is to be turned to stand upright."""

import struct
from typing import Any, NamedTuple

UPRIGHT = 1


class Head(NamedTuple):
    """Width and height as stored; `orientation` is EXIF's number, 1 to 8, for how to turn the picture."""

    width: int
    height: int
    orientation: int = UPRIGHT

    @property
    def turned(self) -> tuple[int, int]:
        """Width and height of the picture when it stands upright."""
        return (self.height, self.width) if self.orientation > 4 else (self.width, self.height)


class Short(ValueError):
    """The bytes end before the head does: read more, or the file is cut short."""

    def __init__(self) -> None:
        super().__init__("the file is cut short within its head")


def unpack(code: str, data: bytes, at: int) -> tuple[Any, ...]:
    """Like struct.unpack_from, but Short where the bytes end."""
    if at + struct.calcsize(code) > len(data):
        raise Short
    return struct.unpack_from(code, data, at)


def cut_short(missing: int) -> ValueError:
    """The error of a file that lacks so many bytes."""
    return ValueError(f"the file is cut short: {missing} bytes are missing at its end")
