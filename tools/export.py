"""`cascade export`: write a model as C for a device, or as JSON for people."""

import argparse
import sys
from pathlib import Path

from cascade.checkpoint import write_atomically
from cascade.export import arduino, c, json
from cascade.export.failure import ExportError
from cascade.export.folder import write_folder
from cascade.export.search import Search
from cascade.export.sizes import CODE, STACK, most_visits, ram_bytes, table_bytes
from cascade.export.tables import FRAME
from cascade.model import Model
from cascade.tools.check import printable

FORMATS = {
    "c": "a folder: runtime, tables, example and self-test in C99",
    "arduino": "a zip: a library for Arduino, PlatformIO and ESP-IDF",
    "json": "one file, readable, from which the model can be had back",
    "cascade": "a model file again, from JSON",
}


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(
        prog="cascade export", description=__doc__.split(": ", 1)[1],
        epilog="formats: " + "; ".join(f"{name}: {what}" for name, what in FORMATS.items()),
    )  # fmt: skip
    options.add_argument("model", type=Path, metavar="MODEL", help="a .cascade file, or its JSON")
    options.add_argument("--to", required=True, choices=FORMATS, help="the format")
    options.add_argument("--out", required=True, type=Path, metavar="PATH", help="the new folder or file")
    search = options.add_argument_group("where a device looks; the defaults are those of Detector")
    for name, kind, what in (
        ("per_octave", int, "sizes to look at from one to twice that"),
        ("stride", int, "cells from window to window"),
        ("min_size", int, "pixels of the shorter side of the smallest object"),
        ("max_size", int, "and of the largest"),
        ("border", int, "1/256 of the shorter side to look beyond the frame; left out: as the model learnt"),
        ("threshold", float, "the least probability"),
        ("overlap", float, "boxes that overlap a better one by this share are dropped"),
        ("candidates", int, "windows that there is room for before that"),
    ):
        default = getattr(Search, name)
        search.add_argument(f"--{name.replace('_', '-')}", dest=name, type=kind, default=default, help=what)
    search.add_argument("--measure", choices=("smaller", "iou"), default=Search.measure,
                        help="share of the smaller box, or of the union of both")  # fmt: skip
    return options


def main(argv: list[str]) -> int:
    """Read, write, check, print; 0 if done, 1 if the model or a setting was not to be had."""
    options = vars(parser().parse_args(argv))
    source, to, out = options.pop("model"), options.pop("to"), options.pop("out")
    try:
        model = json.read(source) if source.suffix == ".json" else Model.load(source)
        told = export(model, to, out, Search(**options))
    except (ValueError, OSError) as error:
        print(f"cascade export: {printable(str(error))}", file=sys.stderr)
        return 1
    for line in told:
        print(printable(line))
    return 0


def export(model: Model, to: str, out: Path, search: Search) -> list[str]:
    """Write one format; returns what there is to say about it."""
    if to == "c":
        texts = c.sources(model, search)
        outcome = c.checked(texts)
        write_folder(out, texts)
        return [*sizes(model, search), f"  self-test  {outcome}", f"  written    {out}: {', '.join(texts)}"]
    if out.is_dir():
        raise ExportError(f"expected a file to write, {out} is a folder")
    if to == "arduino":
        outcome = c.checked(c.sources(model, search))
        write_atomically(out, arduino.archive(model, arduino.library(model, search)))
        return [*sizes(model, search), f"  self-test  {outcome}", f"  written    {out}"]
    data = model.to_bytes() if to == "cascade" else json.to_json(model).encode()
    again = Model.load(data) if to == "cascade" else json.from_json(data)
    if again != model:
        raise ExportError("what was to be written does not read as the same model: please report this")
    write_atomically(out, data)
    return [f"{model.name}: {len(data):,} bytes, read back and the same", f"  written    {out}"]


def sizes(model: Model, search: Search) -> list[str]:
    """What the detector takes of a device."""
    frame = " x ".join(map(str, FRAME))
    return [
        f"{model.name}: {len(model)} trees of depth {model.depth}",
        f"  flash      {table_bytes(model, search):,} bytes of tables, at most {CODE:,} of code",
        f"  RAM        {ram_bytes(model, search, *FRAME):,} bytes beside a grey frame of {frame}",
        f"  stack      at most {STACK:,} bytes",
        f"  work       at most {most_visits(model, search, *FRAME):,} nodes in such a frame",
    ]
