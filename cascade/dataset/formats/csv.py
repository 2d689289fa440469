"""CSV with a header: file,x,y,w,h[,label], or corners xmin,ymin,xmax,ymax; one row an object.

A row whose numbers are empty names a picture without objects. Columns `ignore` (or difficult, iscrowd,
isgroupof) and `part` (or split) are honoured.
"""

import csv
import io
from collections.abc import Iterator
from pathlib import PurePosixPath

from cascade.dataset.folder import Folder, part_of
from cascade.dataset.numbers import flag, number
from cascade.dataset.sample import UNNAMED, Box, Sample

MOST_BYTES = 1 << 26
FILE = ("file", "filename", "file_name", "image", "path", "image_path", "imagename")
LABEL = ("label", "class", "class_name", "name", "category")
IGNORE = ("ignore", "difficult", "iscrowd", "isgroupof")
PART = ("part", "split", "set", "subset")
CORNERS = (("xmin", "x1", "left"), ("ymin", "y1", "top"), ("xmax", "x2", "right"), ("ymax", "y2", "bottom"))
SIDES = (("x", "xmin", "left"), ("y", "ymin", "top"), ("w", "width"), ("h", "height"))


def recognise(folder: Folder) -> str | None:
    tables = _tables(folder)
    return f"{', '.join(tables)} has the columns of a table of boxes" if tables else None


def read(folder: Folder) -> list[Sample]:
    samples: list[Sample] = []
    for name in _tables(folder):
        with folder.reporting(name):
            samples += _read_table(folder, name)
    return samples


def _tables(folder: Folder) -> list[str]:
    found = []
    for name in folder.annotations(".csv"):
        first = folder.start(name).decode("utf-8-sig", "replace").splitlines()
        if first and _columns(_cells(first[0], _delimiter(first[0]))) is not None:
            found.append(name)
    return found


def _read_table(folder: Folder, name: str) -> Iterator[Sample]:
    text = folder.text(name, MOST_BYTES)
    start = text.partition("\n")[0]
    delimiter = _delimiter(start)
    columns = _columns(_cells(start.rstrip("\r"), delimiter))
    if columns is None:
        raise ValueError(f"expected a first line file,x,y,w,h[,label], got {start[:80]!r}")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        next(rows)
        for row in rows:
            if row:
                with folder.reporting(name, f"line {rows.line_num}: "):
                    yield _read_row(folder, name, row, columns)
    except csv.Error as error:
        rest = f"line {rows.line_num}: {error}; the rest of the file is left out"
        folder.report(folder.root / name, rest)


def _read_row(folder: Folder, name: str, row: list[str], columns: dict[str, int]) -> Sample:
    cells = {column: row[place].strip() for column, place in columns.items() if place < len(row)}
    base = PurePosixPath(name).parent
    path = folder.picture(cells.get("file", ""), (str(base), "", str(base / "images")))
    told = PurePosixPath(path.relative_to(folder.root))
    part = part_of(cells.get("part", ""), PurePosixPath(name).stem, *(folder.name for folder in told.parents))
    places = [cells.get(str(i), "") for i in range(4)]
    if not any(places):
        return Sample(path, (), part)
    x, y, width, height = (number(text) for text in places)
    ignore = flag(cells.get("ignore", ""))
    if "corners" in columns:
        width, height = width - x, height - y
    return Sample(path, (Box(x, y, width, height, cells.get("label") or UNNAMED, ignore),), part)


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip().strip('"').lower() for cell in line.split(delimiter)]


def _columns(names: list[str]) -> dict[str, int] | None:
    """Where each column is; 0 to 3 are the numbers of the box, corners if both are given. None if one lacks.
    """
    places = {name: place for place, name in reversed(list(enumerate(names)))}

    def of(choices: tuple[str, ...]) -> int | None:
        return next((places[choice] for choice in choices if choice in places), None)

    for kind, choices in (("corners", CORNERS), ("sides", SIDES)):
        found = {str(i): of(choice) for i, choice in enumerate(choices)}
        optional = {"label": of(LABEL), "ignore": of(IGNORE), "part": of(PART)}
        wanted = {**found, "file": of(FILE)}
        if None not in wanted.values():
            all_found = {**wanted, **optional, kind: 1 << 30}
            return {name: place for name, place in all_found.items() if place is not None}
    return None
