"""JPEG: segments of a marker and a length, coded data after each start of scan, and an end marker."""

import re
from collections.abc import Iterator

from cascade.dataset.headers.exif import orientation
from cascade.dataset.headers.head import UPRIGHT, Head, Short, unpack

SUFFIXES = (".jpg", ".jpeg", ".jpe", ".jfif")
SIZES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # start of frame, in its many kinds
SCAN, END, EXIF, FILL = 0xDA, 0xD9, 0xE1, 0xFF
ALONE = {0x01, *range(0xD0, 0xD8)}  # markers without a length
MOST_SEGMENTS = 1 << 16
MOST_SCANS = 200  # progressive pictures have about ten; each costs a pass over all pixels
# Within coded data, FF is followed by 00, by a restart marker, or by more FF; anything else is a marker.
MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


def looks(data: bytes) -> bool:
    return data[:3] == b"\xff\xd8\xff"


def head(data: bytes) -> Head:
    turn = UPRIGHT
    for marker, at, length in _segments(data):
        if marker == EXIF and data[at : at + 6] == b"Exif\0\0":
            turn = orientation(data[at + 6 : at + length])
        elif marker in SIZES:
            height, width = unpack(">HH", data, at + 1)
            return Head(width, height, turn)
        elif marker in (SCAN, END):
            break
    raise ValueError("is a JPEG file without a picture in it")


def check_whole(data: bytes) -> None:
    """Decoders fill in grey for what is missing at the end, and say nothing."""
    scans = 0
    try:
        for marker, _, _ in _segments(data):
            scans += marker == SCAN
            if scans > MOST_SCANS:
                raise ValueError(f"has more than {MOST_SCANS} scans, which no camera writes: save it anew")
            if marker == END:
                break
    except Short:
        raise ValueError("the file is cut short: its end-of-image marker is missing") from None
    if not scans:
        raise ValueError("is a JPEG file without a picture in it")


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Marker, place and length of what each segment holds; coded data is stepped over."""
    at = 2
    for _ in range(MOST_SEGMENTS):
        prefix, marker = unpack("BB", data, at)
        if prefix != FILL:
            raise ValueError(f"is damaged: a marker was expected at byte {at}")
        if marker == FILL:
            at += 1
        elif marker == END:
            yield marker, at + 2, 0
            return
        elif marker in ALONE:
            at += 2
        else:
            (length,) = unpack(">H", data, at + 2)
            if length < 2:
                raise ValueError(f"is damaged: a segment of length {length} at byte {at}")
            yield marker, at + 4, length - 2
            at += 2 + length
            if marker == SCAN:
                found = MARKER.search(data, at)
                if found is None:
                    raise Short
                at = found.start()
    raise ValueError(f"has more than {MOST_SEGMENTS} segments, which no program writes: save it anew")
