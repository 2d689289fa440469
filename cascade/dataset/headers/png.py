"""PNG: chunks of length, name, content and checksum, from IHDR to IEND."""

import zlib

from cascade.dataset.headers.exif import orientation
from cascade.dataset.headers.head import UPRIGHT, Head, Short, unpack

SUFFIXES = (".png",)
MAGIC = b"\x89PNG\r\n\x1a\n"
MOST_CHUNKS = 1 << 17


def looks(data: bytes) -> bool:
    return data.startswith(MAGIC)


def head(data: bytes) -> Head:
    length, name, width, height = unpack(">I4sII", data, len(MAGIC))
    if (length, name) != (13, b"IHDR"):
        raise ValueError("is damaged: it does not start with its size")
    return Head(width, height, _turn(data))


def _turn(data: bytes) -> int:
    """EXIF comes before the pixels or not at all."""
    at = len(MAGIC)
    for _ in range(MOST_CHUNKS):
        length, name = unpack(">I4s", data, at)
        if name == b"eXIf":
            if at + 8 + length > len(data):
                raise Short
            return orientation(data[at + 8 : at + 8 + length])
        if name in (b"IDAT", b"IEND"):
            break
        at += 12 + length
    return UPRIGHT


def check_whole(data: bytes) -> None:
    """Every chunk is there and as it was written."""
    view = memoryview(data)
    at = len(MAGIC)
    pixels = False
    try:
        for _ in range(MOST_CHUNKS):
            length, name = unpack(">I4s", data, at)
            (checksum,) = unpack(">I", data, at + 8 + length)
            if zlib.crc32(view[at + 4 : at + 8 + length]) != checksum:
                raise ValueError(f"is damaged: the checksum of a chunk at byte {at} is wrong")
            pixels |= name == b"IDAT"
            if name == b"IEND":
                break
            at += 12 + length
        else:
            raise ValueError(f"has more than {MOST_CHUNKS} chunks, which no program writes: save it anew")
    except Short:
        raise ValueError("the file is cut short: its last chunk, IEND, is missing") from None
    if not pixels:
        raise ValueError("is a PNG file without a picture in it")
