"""What an exported detector takes of a device; the twin of CASCADE_ROOM in pipeline.h."""

from cascade.export.search import Search
from cascade.model import Model
from cascade.pyramid import Pyramid

BAND = 4  # CASCADE_BAND
OBJECT = 20  # bytes of a cascade_object
CODE, STACK = 8192, 1024  # CASCADE_CODE_BYTES, CASCADE_STACK_BYTES


def ram_bytes(model: Model, search: Search, width: int, height: int, *, grey: bool = True) -> int:
    """Bytes beside a frame of this size, grey or not."""
    width, height = wide(model, search, width, height)
    up, down = search.enlargement(model)
    base = width * up // down, height * up // down
    across, tall = base[0] // model.cell, base[1] // model.cell
    colours = 3 if model.planes == 10 else 1
    plain = grey and colours == 1 and not search.border_of(model)
    image = width // 2 * (height // 2) if plain else width * height
    if base != (width, height):
        image += base[0] * base[1]
    scratch = max(24 * base[0] + 64, 2 * _places(width, *base))
    work = max(scratch, _band_bytes(model, search, across, tall))
    planes = model.planes * across * tall
    row = 6 * across if model.kind == "cell" else 0
    return search.candidates * OBJECT + sum(map(_aligned, (row, work, planes, colours * image)))


def wide(model: Model, search: Search, width: int, height: int) -> tuple[int, int]:
    """The size of a frame whose edges go on."""
    edge = min(width, height) * search.border_of(model) >> 8
    return width + 2 * edge, height + 2 * edge


def _band_bytes(model: Model, search: Search, across: int, tall: int) -> int:
    width, height = across, tall
    if model.kind == "cell":
        ratio = search.scales(model)[1][0] if search.per_octave > 1 else 0
        width, height = across * ratio >> 16, tall * ratio >> 16
    rows = min(height, model.window[1] - 1 + BAND)
    places = _aligned(2 * _places(across, width, height))
    if model.kind == "cell":
        return places + model.planes * width * rows
    bands = model.planes + (model.kind == "haar")
    return places + width + 4 * bands * (width + 1) * (rows + 1)


def _places(width: int, to_width: int, to_height: int) -> int:
    return width + 1 + 3 * to_width + 2 * to_height


def _aligned(size: int) -> int:
    return -(-size // 4) * 4


def table_bytes(model: Model, search: Search) -> int:
    """Bytes of constant tables where pointers take 4."""
    nodes = model.feature.size
    looked_at = 4 * nodes if model.kind == "cell" else 6 * nodes + 6 * model.rectangles.size // 5
    checks = (1 if model.accept is None else 2) * len(model)
    return looked_at + 2 * (model.leaf.size + checks) + 12 * search.per_octave + 40 + 44


def most_visits(model: Model, search: Search, width: int, height: int) -> int:
    """Nodes looked at in a frame in which no window is rejected."""
    frame = wide(model, search, width, height)
    plan = Pyramid.plan(model, *frame, search.min_size, search.max_size, search.per_octave, search.stride)
    return plan.windows * len(model) * model.depth
