"""A model as a C header of constant tables, for cascade/runtime/pipeline.h."""

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade.detector import node_bytes, rectangle_bytes
from cascade.export.names import prefix, quoted, remark
from cascade.export.search import WIDEST, Search
from cascade.export.sizes import most_visits, ram_bytes, table_bytes
from cascade.export.template import filled
from cascade.model import Model
from cascade.version import VERSION

KINDS = {"cell": "CASCADE_CELL", "rect": "CASCADE_RECT", "haar": "CASCADE_HAAR"}
FRAME = 160, 120  # for which the header says in numbers what it takes
OCTAVES = WIDEST.bit_length() - 1


def header(model: Model, search: Search) -> str:
    """The header of a model, named after it."""
    name = prefix(model.name)
    words = _description(model, search) | _macros(model, search, name)
    words |= {
        "name_text": quoted(model.name),
        "class_text": quoted(model.classes[0]),
        "arrays": "\n\n".join(_arrays(model, search, name)),
        "name": name,
        "NAME": name.upper(),
    }
    return filled("model.h", words)


def _description(model: Model, search: Search) -> dict[str, str]:
    """What a person reads first."""
    return {
        "title": remark(model.name),
        "class": remark(model.classes[0]),
        "version": VERSION,
        "kind": model.kind,
        "trees": str(len(model)),
        "depth": str(model.depth),
        "window": " x ".join(str(side * model.cell) for side in model.window),
        "tables": f"{table_bytes(model, search):,}",
        "frame": " x ".join(map(str, FRAME)),
        "ram": f"{ram_bytes(model, search, *FRAME):,}",
        "visits": f"{most_visits(model, search, *FRAME):,}",
    }


def _macros(model: Model, search: Search, name: str) -> dict[str, str]:
    """Sizes that are known when a program is compiled."""
    upper = name.upper()
    up, down = search.enlargement(model)
    ratios = [ratio for ratio, _ in search.scales(model)]
    room = model.cell, model.planes, model.window[1], (*ratios, 0)[1], search.candidates
    levels = (
        f"{upper}_SPAN(across, {ratio}u, {model.window[0]}) * {upper}_SPAN(down, {ratio}u, {model.window[1]})"
        for ratio in ratios
    )
    octaves = (f"{upper}_HALVED({times}, width, height)" for times in range(OCTAVES))
    return {
        "up": str(up),
        "down": str(down),
        "room": ", ".join([KINDS[model.kind], *map(str, room)]),
        "plain": str(int(model.planes != 10 and not search.border_of(model))),
        "border": str(search.border_of(model)),
        "sizes": _summed((f"sizeof {table}" for table in _tables(model, name)), 5),
        "stride": str(search.stride),
        "cell": str(model.cell),
        "levels": _summed(levels, 5),
        "octaves": _summed(octaves, 6),
        "per_window": str(len(model) * model.depth),
    }


def _summed(terms: Iterable[str], indent: int) -> str:
    """A sum in a macro, a line for each term."""
    return (" + \\\n" + " " * indent).join(terms)


def _tables(model: Model, name: str) -> list[str]:
    """The names of all that takes flash."""
    tables = ["nodes"] if model.kind == "cell" else ["features", "thresholds", "rects"]
    tables += ["leaves", "reject", *["accept"] * (model.accept is not None), "scales", "model", "search"]
    return [f"{name}_{table}" for table in tables]


def _arrays(model: Model, search: Search, name: str) -> Iterable[str]:
    if model.kind == "cell":
        yield _structs("cascade_node", f"{name}_nodes", node_bytes(model))
    else:
        yield _numbers("uint16_t", f"{name}_features", model.feature)
        yield _numbers("int32_t", f"{name}_thresholds", model.threshold)
        rects = rectangle_bytes(model).astype(np.int64)
        rects[:, 5] -= (rects[:, 5] > 127) * 256  # weights have a sign
        yield _structs("cascade_rect", f"{name}_rects", rects)
    yield _numbers("int16_t", f"{name}_leaves", model.leaf)
    yield _numbers("int16_t", f"{name}_reject", model.reject)
    if model.accept is not None:
        yield _numbers("int16_t", f"{name}_accept", model.accept)
    scales = (f"{{{ratio}u, {_braced(gains)}}}" for ratio, gains in search.scales(model))
    yield _definition("cascade_scale", f"{name}_scales[{search.per_octave}]", scales)
    yield _definition("cascade_model", f"{name}_model", _model(model, name))
    yield _definition("cascade_search", f"{name}_search", _search(model, search, name))


def _model(model: Model, name: str) -> Iterable[str]:
    """The fields of a cascade_model, in order."""
    numbers = (
        model.cell, model.smooth, model.normalise, model.planes, *model.window, model.depth,
        model.reject_shift, len(model),
    )  # fmt: skip
    there = _tables(model, name)
    tables = ("nodes", "features", "thresholds", "rects", "leaves", "reject", "accept")
    pointers = [f"{name}_{table}" if f"{name}_{table}" in there else "NULL" for table in tables]
    return [KINDS[model.kind], *map(str, numbers), *pointers]


def _search(model: Model, search: Search, name: str) -> Iterable[str]:
    """The fields of a cascade_search, in order."""
    overlap = max(1, round(256 * search.overlap))
    numbers = (
        *model.box, *search.enlargement(model), search.max_size or 0, search.least(model), search.candidates,
        overlap, int(search.measure == "smaller"), search.stride, search.per_octave, search.border_of(model),
    )  # fmt: skip
    return [*map(_number, numbers), f"{name}_scales"]


def _numbers(kind: str, name: str, values: NDArray[Any]) -> str:
    return _definition(kind, f"{name}[{values.size}]", map(_number, values.ravel().tolist()))


def _structs(kind: str, name: str, rows: NDArray[Any]) -> str:
    return _definition(kind, f"{name}[{len(rows)}]", map(_braced, rows.tolist()))


def _definition(kind: str, name: str, items: Iterable[str]) -> str:
    indent = "    "
    body = textwrap.fill(", ".join(items), 110, initial_indent=indent, subsequent_indent=indent)
    return f"static const {kind} {name} = {{\n{body}\n}};"


def _braced(row: list[int]) -> str:
    return "{" + ", ".join(map(str, row)) + "}"


def _number(value: int) -> str:
    return "(-2147483647 - 1)" if value == -(2**31) else str(value)
