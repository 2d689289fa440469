"""Directories of tags, as EXIF and TIFF have them."""

from cascade.dataset.headers.head import UPRIGHT, Short, unpack

ORIENTATION = 274
CODES = {1: ("B", 1), 3: ("H", 2), 4: ("I", 4)}  # the kinds of whole numbers: byte, short, long
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
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(data[:4])
    if order is None:
        raise ValueError("has no directory of tags")
    (place,) = unpack(order + "I", data, 4)
    (count,) = unpack(order + "H", data, place)
    if count > MOST_TAGS:
        raise ValueError(f"has {count} tags, which no program writes")
    found = {}
    for at in range(place + 2, place + 2 + 12 * count, 12):
        tag, kind, number = unpack(order + "HHI", data, at)
        if tag in wanted and kind in CODES:
            found[tag] = _numbers(data, order, kind, number, at + 8, most)
    return found


def _numbers(data: bytes, order: str, kind: int, number: int, at: int, most: int) -> tuple[int, ...]:
    code, size = CODES[kind]
    if number > most:
        raise ValueError(f"has a tag with {number} values, at most {most} are taken")
    if number * size > 4:
        (at,) = unpack(order + "I", data, at)
    if at + number * size > len(data):
        raise Short
    return unpack(f"{order}{number}{code}", data, at)
