"""WebP: a RIFF file of chunks; the size is in the first."""

from cascade.dataset.headers.exif import orientation
from cascade.dataset.headers.head import UPRIGHT, Head, Short, cut_short, unpack

SUFFIXES = (".webp",)
MOST_CHUNKS = 1 << 16
HAS_EXIF = 0x08


def looks(data: bytes) -> bool:
    return data[:4] == b"RIFF" and data[8:12] == b"WEBP"


def head(data: bytes) -> Head:
    if len(data) < 30:
        raise Short
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        return Head(width, height, _turn(data) if data[20] & HAS_EXIF else UPRIGHT)
    if kind == b"VP8L":
        (bits,) = unpack("<I", data, 21)
        return Head((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = unpack("<HH", data, 26)
        return Head(width & 0x3FFF, height & 0x3FFF)
    raise ValueError("is damaged: the size of the picture was expected in its first chunk")


def _turn(data: bytes) -> int:
    """EXIF comes last, so all of the file is needed to find it."""
    at = 12
    for _ in range(MOST_CHUNKS):
        name, length = unpack("<4sI", data, at)
        if name == b"EXIF":
            content = data[at + 8 : at + 8 + length]
            if len(content) < length:
                raise Short
            return orientation(content.removeprefix(b"Exif\0\0"))
        at += 8 + length + length % 2
    return UPRIGHT


def check_whole(data: bytes) -> None:
    (size,) = unpack("<I", data, 4)
    if size + 8 > len(data):
        raise cut_short(size + 8 - len(data))
