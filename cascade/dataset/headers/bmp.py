"""BMP: a head of fixed fields, then rows of pixels, each a multiple of four bytes."""

from cascade.dataset.headers.head import Head, cut_short, unpack

SUFFIXES = (".bmp", ".dib")
PLAIN = (0, 3, 6)  # not compressed; with masks for the colours


def looks(data: bytes) -> bool:
    return data[:2] == b"BM"


def head(data: bytes) -> Head:
    (size,) = unpack("<I", data, 14)
    width, height = unpack("<HH" if size == 12 else "<ii", data, 18)
    return Head(width, abs(height))  # a negative height: the rows come from top to bottom


def check_whole(data: bytes) -> None:
    (start,) = unpack("<I", data, 10)
    (size,) = unpack("<I", data, 14)
    bits, compression = unpack("<H", data, 24) + (0,) if size == 12 else unpack("<HI", data, 28)
    width, height, _ = head(data)
    end = start + (width * bits + 31) // 32 * 4 * height
    if compression in PLAIN and end > len(data):
        raise cut_short(end - len(data))
