"""Directories of tags, as EXIF and TIFF have them."""

from collections.abc import Iterator

from cascade.dataset.headers.head import UPRIGHT, Short, unpack

ORIENTATION = 274
CODES = {1: ("B", 1), 3: ("H", 2), 4: ("I", 4)}  # the kinds of whole numbers: byte, short, long
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}  # of all kinds, in bytes
MOST_TAGS = 4096


def orientation(data: bytes) -> int:
    """How to turn the picture, 1 to 8; 1, upright, where that is not said or not in a sound way."""
    try:
        found = tags(data, {ORIENTATION}).get(ORIENTATION, ())
    except ValueError:
        return UPRIGHT  # a picture is no worse for a broken note about its camera
    return found[0] if len(found) == 1 and 1 <= found[0] <= 8 else UPRIGHT


def tags(data: bytes, wanted: set[int], most: int = 16) -> dict[int, tuple[int, ...]]:
    """The whole numbers of the tags wanted, from the first directory; at most so many of each."""
    found = {}
    for order, tag, kind, number, at in _entries(data):
        if tag in wanted and kind in CODES:
            found[tag] = _numbers(data, order, kind, number, at, most)
    return found


def end_of_values(data: bytes) -> int:
    """Where the last value of any tag ends."""
    end = 0
    for order, _, kind, number, at in _entries(data):
        size = SIZES.get(kind, 1) * number
        start = unpack(order + "I", data, at)[0] if size > 4 else at
        end = max(end, start + size)
    return end


def _entries(data: bytes) -> Iterator[tuple[str, int, int, int, int]]:
    """Byte order, tag, kind of value, number of values, and the place of the value or of its address."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(data[:4])
    if order is None:
        raise ValueError("has no directory of tags")
    (place,) = unpack(order + "I", data, 4)
    (count,) = unpack(order + "H", data, place)
    if count > MOST_TAGS:
        raise ValueError(f"has {count} tags, which no program writes")
    for at in range(place + 2, place + 2 + 12 * count, 12):
        yield order, *unpack(order + "HHI", data, at), at + 8


def _numbers(data: bytes, order: str, kind: int, number: int, at: int, most: int) -> tuple[int, ...]:
    code, size = CODES[kind]
    if number > most:
        raise ValueError(f"has a tag with {number} values, at most {most} are taken")
    if number * size > 4:
        (at,) = unpack(order + "I", data, at)
    if at + number * size > len(data):
        raise Short
    return unpack(f"{order}{number}{code}", data, at)
