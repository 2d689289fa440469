"""TIFF: a directory of tags says where the strips or tiles of the first picture lie."""

from cascade.dataset.headers.exif import ORIENTATION, end_of_values, tags
from cascade.dataset.headers.head import Head, cut_short

SUFFIXES = (".tif", ".tiff")
WIDTH, HEIGHT, SAMPLES, TILE_WIDTH, TILE_HEIGHT = 256, 257, 277, 322, 323
PLACES = ((273, 279), (324, 325))  # offsets and lengths of strips, of tiles
MOST_PARTS = 1 << 20
MOST_TILE = 1 << 14  # pixels a side
SHAPE = {WIDTH, HEIGHT, SAMPLES, TILE_WIDTH, TILE_HEIGHT, ORIENTATION}


def looks(data: bytes) -> bool:
    return data[:4] in (b"II*\0", b"MM\0*")


def head(data: bytes) -> Head:
    found = {tag: values[0] for tag, values in tags(data, SHAPE).items() if len(values) == 1}
    if WIDTH not in found or HEIGHT not in found:
        raise ValueError("is a TIFF file that does not say how large its picture is")
    if found.get(SAMPLES, 1) not in (1, 2, 3, 4):
        raise ValueError(f"has {found[SAMPLES]} values a pixel, 1 to 4 are read: convert it to grey or RGB")
    if max(found.get(TILE_WIDTH, 1), found.get(TILE_HEIGHT, 1)) > MOST_TILE:
        raise ValueError(f"has tiles of more than {MOST_TILE} pixels a side: save it in strips")
    if found.get(ORIENTATION, 1) != 1:
        raise ValueError("is a TIFF picture to be turned, on which programs disagree: save it upright")
    return Head(found[WIDTH], found[HEIGHT])


def check_whole(data: bytes) -> None:
    found = tags(data, {tag for pair in PLACES for tag in pair}, MOST_PARTS)
    ends = [
        start + length
        for starts, lengths in PLACES
        for start, length in zip(found.get(starts, ()), found.get(lengths, ()), strict=False)
    ]
    if not ends:
        raise ValueError("is a TIFF file without a picture in it")
    end = max([*ends, end_of_values(data)])
    if end > len(data):
        raise cut_short(end - len(data))
