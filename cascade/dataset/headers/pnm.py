"""PBM, PGM and PPM: size and largest value as text, then the values, as bytes or as text."""

import re

import numpy as np

from cascade.dataset.headers.head import Head, Short, cut_short

SUFFIXES = (".pgm", ".ppm", ".pnm", ".pbm")
SPACE = rb"(?:\s|#[^\r\n]{0,1000}[\r\n])+"
NUMBER = SPACE + rb"([0-9]{1,9})"
START = re.compile(rb"P([2356])" + NUMBER * 3 + rb"\s")
LONGEST_HEAD = 8192  # bytes, most of which are comments
MOST_TEXT = 1 << 26  # bytes of values written as text
BITS = re.compile(rb"P([14])" + NUMBER * 2 + rb"\s")


def looks(data: bytes) -> bool:
    return re.match(rb"P[1-6][\s#]", data) is not None


def head(data: bytes) -> Head:
    width, height = _start(data)[1:3]
    return Head(width, height)


def check_whole(data: bytes) -> None:
    kind, width, height, largest, start = _start(data)
    if kind <= 3 and len(data) > MOST_TEXT:
        raise ValueError(f"has {len(data)} bytes of text, at most {MOST_TEXT} are read: save it as PNG")
    if kind == 1:
        found, needed = sum(data.count(digit, start) for digit in (b"0", b"1")), width * height
    elif kind in (2, 3):
        space = np.frombuffer(data, np.uint8, offset=start) <= ord(" ")
        found = int(np.count_nonzero(space[:-1] & ~space[1:])) + int(len(space) > 0 and not space[0])
        needed = width * height * (3 if kind == 3 else 1)
    else:
        row = (width + 7) // 8 if kind == 4 else width * (3 if kind == 6 else 1) * (1 if largest < 256 else 2)
        found, needed = len(data) - start, row * height
    if found < needed:
        raise cut_short(needed - found)


def _start(data: bytes) -> tuple[int, int, int, int, int]:
    """The kind, width, height, largest value, and where the values start."""
    found = (BITS if data[1:2] in b"14" else START).match(data, 0, LONGEST_HEAD)
    if found is None:
        if len(data) < LONGEST_HEAD:
            raise Short
        raise ValueError("is damaged: width, height and largest value were expected at its start")
    kind, width, height, *rest = map(int, found.groups())
    largest = rest[0] if rest else 1
    if not 1 <= largest <= 65535:
        raise ValueError(f"is damaged: its largest value is given as {largest}, it must be 1 to 65535")
    return kind, width, height, largest, found.end()
