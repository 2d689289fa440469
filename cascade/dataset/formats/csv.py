"""CSV with a header: file,x,y,w,h[,label], or corners xmin,ymin,xmax,ymax; one row an object.

A row whose numbers are empty names a picture without objects. Columns `ignore` (or difficult, iscrowd,
isgroupof) and `part` (or split) are honoured.
"""

import csv
import io
from collections.abc import Iterator
from pathlib import PurePosixPath

from cascade.dataset.folder import DatasetError, Folder, part_of
from cascade.dataset.numbers import flag, number
from cascade.dataset.sample import UNNAMED, Box, Sample

MOST_BYTES = 1 << 28
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
    samples = []
    for name in _tables(folder):
        samples += list(_read_table(folder, name))
    return samples


def _tables(folder: Folder) -> list[str]:
    found = []
    for name in folder.annotations(".csv"):
        try:
            first = folder.bytes(name, MOST_BYTES, 4096).decode("utf-8-sig", "replace").splitlines()
        except DatasetError:
            continue
        if first and _columns(_cells(first[0], _delimiter(first[0]))) is not None:
            found.append(name)
    return found


def _read_table(folder: Folder, name: str) -> Iterator[Sample]:
    text = folder.text(name, MOST_BYTES)
    start = text.partition("\n")[0]
    delimiter = _delimiter(start)
    columns = _columns(_cells(start.rstrip("\r"), delimiter))
    if columns is None:
        what = f"expected a first line file,x,y,w,h[,label], got {start[:80]!r}"
        raise DatasetError(f"{folder.root / name}: {what}")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    path = folder.root / name
    try:
        next(rows)
        for row in rows:
            sample = _read_row(folder, name, rows.line_num, row, columns) if row else None
            if sample is not None:
                yield sample
    except csv.Error as error:
        folder.report(path, f"line {rows.line_num}: {error}; the rest of the file is left out")


def _read_row(
    folder: Folder, name: str, line: int, row: list[str], columns: dict[str, int]
) -> Sample | None:
    cells = {column: row[place].strip() for column, place in columns.items() if place < len(row)}
    file = cells.get("file", "")
    base = PurePosixPath(name).parent
    path = folder.find(file, (str(base), "", str(base / "images"))) if file else None
    if path is None:
        what = folder.missing(file) if file else "names no file"
        folder.report(folder.root / name, f"line {line}: {what}")
        return None
    told = PurePosixPath(path.relative_to(folder.root))
    part = part_of(cells.get("part", ""), PurePosixPath(name).stem, *(folder.name for folder in told.parents))
    places = [cells.get(str(i), "") for i in range(4)]
    if not any(places):
        return Sample(path, (), part)
    try:
        x, y, width, height = (number(text) for text in places)
        ignore = flag(cells.get("ignore", ""))
    except ValueError as error:
        folder.report(folder.root / name, f"line {line}: {error}; the box is left out")
        return Sample(path, (), part)
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
