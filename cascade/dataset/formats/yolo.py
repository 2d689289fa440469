"""YOLO: a text file for each picture, rows `class cx cy w h` in shares of its sides; data.yaml has the parts.

Pictures in images/ have their labels in labels/, others beside them; no file means no object. Rows of
polygons or turned boxes are taken as the upright box around them.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath

from cascade.dataset.datayaml import Value, parse
from cascade.dataset.folder import DatasetError, Folder, part_of
from cascade.dataset.numbers import number, shortened
from cascade.dataset.sample import Box, Sample

MOST_BYTES = 1 << 24
PARTS = {"train": "train", "val": "valid", "valid": "valid", "test": "test"}
NAMES = ("classes.txt", "obj.names", "labels/classes.txt", "images/classes.txt")
LOOKED_AT = 100  # label files, to see whether they are YOLO's


def recognise(folder: Folder) -> str | None:
    config = _config(folder)
    if config is not None:
        return f"{config} names the parts of a YOLO set"
    if folder.only is not None:
        return None
    labels = (_label_name(folder, name) for name in folder.pictures())
    for name in islice((label for label in labels if label is not None), LOOKED_AT):
        row = folder.start(name).split(b"\n")[0].decode("utf-8", "replace").split()
        if row and _is_row(row):
            return f"{name} and others are YOLO labels"
    return None


def read(folder: Folder) -> list[Sample]:
    config = _config(folder)
    samples = []
    if config is None:
        names = _listed_names(folder)
        listed = [(name, part_of(*_parents(name))) for name in folder.pictures()]
    else:
        try:
            settings = parse(folder.text(config, MOST_BYTES))
            names = _names(settings.get("names", []))
        except ValueError as error:
            raise DatasetError(folder.root / config, str(error)) from None
        listed = list(_listed(folder, config, settings))
    for name, part in listed:
        sample = _sample(folder, name, part, names)
        if sample is not None:
            samples.append(sample)
    return samples


def _config(folder: Folder) -> str | None:
    """The data.yaml, or another YAML file that says where train and val are."""
    for name in folder.annotations(".yaml", ".yml"):
        if any(line.startswith((b"names:", b"train:")) for line in folder.start(name).split(b"\n")):
            return name
    return None


def _names(value: Value) -> dict[int, str]:
    """Class names by number."""
    if isinstance(value, str):
        raise ValueError(f"expected names to be a list or a table, got {shortened(value)}")
    pairs = value.items() if isinstance(value, dict) else ((str(i), name) for i, name in enumerate(value))
    names = {}
    for key, name in pairs:
        if not key.isdecimal() or len(key) > 9:
            raise ValueError(f"expected names to be numbered, got {shortened(key)}")
        names[int(key)] = name
    return names


def _listed_names(folder: Folder) -> dict[int, str]:
    for name in NAMES:
        if name in folder.files:
            lines = folder.text(name, MOST_BYTES).splitlines()
            return {i: line.strip() for i, line in enumerate(lines) if line.strip()}
    return {}


def _listed(folder: Folder, config: str, settings: dict[str, Value]) -> Iterator[tuple[str, str]]:
    """The pictures of each part."""
    base = settings.get("path", "")
    home = PurePosixPath(config).parent
    bases = [str(home / base)] if isinstance(base, str) and base else []
    bases += [str(home), ""]
    for key, part in PARTS.items():
        entries = settings.get(key, [])
        for entry in entries if isinstance(entries, list) else [entries]:
            found = None
            if isinstance(entry, str) and entry:
                # Some tools write ../train/images for what lies beside the file.
                found = folder.find(entry, bases) or folder.find(entry.removeprefix("../"), bases)
            if found is None:
                folder.report(folder.root / config, f"{key}: {shortened(entry)} is not in the data folder")
                continue
            place = found.relative_to(folder.root).as_posix()
            if found.suffix.lower() == ".txt":
                yield from ((name, part) for name in _from_list(folder, place))
            else:
                under = "" if place == "." else f"{place}/"
                yield from ((name, part) for name in folder.pictures(under))


def _from_list(folder: Folder, name: str) -> Iterator[str]:
    home = str(PurePosixPath(name).parent)
    for line, text in enumerate(folder.text(name, MOST_BYTES).splitlines(), 1):
        if text.strip():
            with folder.reporting(name, f"line {line}: "):
                yield folder.picture(text.strip(), (home, "")).relative_to(folder.root).as_posix()


def _label_name(folder: Folder, picture: str) -> str | None:
    """The label file of a picture: in labels/ for images/, or beside it."""
    path = PurePosixPath(picture).with_suffix(".txt")
    parts = list(path.parts)
    for at in reversed(range(len(parts) - 1)):
        if parts[at] == "images":
            mirrored = "/".join([*parts[:at], "labels", *parts[at + 1 :]])
            if folder.has(mirrored):
                return mirrored
            break
    return str(path) if folder.has(str(path)) else None


def _sample(folder: Folder, name: str, part: str, names: dict[int, str]) -> Sample | None:
    path = folder.root / name
    size = folder.size(path)
    if size is None:
        return None
    label = _label_name(folder, name)
    boxes = []
    if label is not None:
        with folder.reporting(label, loss="its boxes are left out"):
            rows = folder.text(label, MOST_BYTES).splitlines()
            for line, row in enumerate(rows, 1):
                if row.strip():
                    with folder.reporting(label, f"line {line}: ", "the box is left out"):
                        boxes.append(_box(row.split(), size, names))
    return Sample(path, tuple(boxes), part)


def _is_row(row: list[str]) -> bool:
    try:
        _box(row, (1, 1), {})
    except ValueError:
        return False
    return True


def _box(row: list[str], size: tuple[int, int], names: dict[int, str]) -> Box:
    if not row[0].isdecimal() or len(row[0]) > 9:
        raise ValueError(f"expected the number of a class, got {shortened(row[0])}")
    number_of_class = int(row[0])
    if names and number_of_class not in names:
        raise ValueError(f"class {number_of_class} is not among the {len(names)} names")
    values = [number(text) for text in row[1:]]
    if any(not -1 <= value <= 2 for value in values):
        raise ValueError("expected shares of the picture's sides, 0 to 1")
    if len(values) == 4:
        middle_x, middle_y, width, height = values
        left, top = middle_x - width / 2, middle_y - height / 2
    elif len(values) >= 6 and len(values) % 2 == 0:
        left, top = min(values[::2]), min(values[1::2])
        width, height = max(values[::2]) - left, max(values[1::2]) - top
    else:
        raise ValueError(f"expected a class and 4 numbers, or a polygon, got {len(values)} numbers")
    label = names.get(number_of_class, str(number_of_class))
    return Box(left * size[0], top * size[1], width * size[0], height * size[1], label)


def _parents(name: str) -> list[str]:
    return [parent.name for parent in PurePosixPath(name).parents]
