"""COCO: one JSON file with images, annotations and categories; boxes are [x, y, width, height] in pixels."""

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from cascade.dataset.folder import Folder, part_of
from cascade.dataset.numbers import flag, number, shortened
from cascade.dataset.sample import UNNAMED, Box, Sample

MOST_BYTES = 1 << 28
IGNORE = ("iscrowd", "ignore", "isgroupof", "is_group_of", "difficult")


def recognise(folder: Folder) -> str | None:
    names = _files(folder)
    return f"{', '.join(names)}: COCO annotations" if names else None


def read(folder: Folder) -> list[Sample]:
    samples: list[Sample] = []
    for name in _files(folder):
        with folder.reporting(name):
            samples += _read_file(folder, name)
    return samples


def _files(folder: Folder) -> list[str]:
    """JSON files with images and, somewhere, annotations; captions and results of detectors are not meant."""
    found = []
    for name in folder.annotations(".json"):
        if folder.start(name).lstrip().startswith(b"{"):
            with folder.reporting(name):
                data = folder.raw(name, MOST_BYTES)
                if all(word in data for word in (b'"images"', b'"annotations"', b'"file_name"')):
                    found.append(name)
    return found


def _read_file(folder: Folder, name: str) -> list[Sample]:
    content = _parsed(folder.raw(name, MOST_BYTES))
    names = {_id(entry, "id"): str(entry.get("name") or UNNAMED) for entry in _entries(content, "categories")}
    boxes: dict[object, list[Box]] = {}
    annotations = list(_entries(content, "annotations"))
    if annotations and not any("bbox" in entry for entry in annotations):
        raise ValueError("none of its annotations has a bbox, so it is not about objects")
    for place, entry in enumerate(annotations):
        with folder.reporting(name, f"annotation {place}: "):
            boxes.setdefault(_id(entry, "image_id"), []).append(_box(entry, names))
    samples = []
    known = set()
    for place, entry in enumerate(_entries(content, "images")):
        with folder.reporting(name, f"image {place}: "):
            known.add(_id(entry, "id"))
            path = _picture(folder, name, entry)
            folder.declare(path, entry.get("width"), entry.get("height"))
            samples.append(Sample(path, tuple(boxes.get(_id(entry, "id"), ())), _part(folder, name, path)))
    strays = sum(len(found) for image, found in boxes.items() if image not in known)
    if strays:
        folder.report(folder.root / name, f"{strays} annotations are of images that it does not list")
    return samples


def _parsed(data: bytes) -> dict[str, Any]:
    def refuse(text: str) -> None:
        raise ValueError(f"expected finite numbers, got {text}")

    try:
        content = json.loads(data, parse_constant=refuse)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 text at byte {error.start}: save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not whole JSON: {error.msg} in line {error.lineno}") from None
    if not isinstance(content, dict):
        raise ValueError("expected an object with images, annotations and categories")
    return content


def _entries(content: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    entries = content.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"expected {key} to be a list of objects")
    yield from entries


def _id(entry: dict[str, Any], key: str) -> int | str:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"expected {key} to be a number, got {shortened(value)}")
    return value


def _box(entry: dict[str, Any], names: dict[int | str, str]) -> Box:
    sides = entry.get("bbox")
    if not isinstance(sides, list) or len(sides) != 4:
        raise ValueError("expected a bbox of four numbers")
    x, y, width, height = map(number, sides)
    ignore = any(flag(entry.get(word, 0)) for word in IGNORE)
    category = _id(entry, "category_id")
    if category not in names:
        raise ValueError(f"its category {shortened(category)} is not among the categories")
    return Box(x, y, width, height, names[category], ignore)


def _picture(folder: Folder, name: str, entry: dict[str, Any]) -> Path:
    file = entry.get("file_name")
    if not isinstance(file, str):
        raise ValueError(f"expected a file_name, got {shortened(file)}")
    home = PurePosixPath(name).parent
    bases = (home, home / "images", home.parent, home.parent / "images")
    return folder.picture(file, [str(base) for base in bases])


def _part(folder: Folder, name: str, path: Path) -> str:
    """By the annotation file's own name, its folders, and then the picture's."""
    home = PurePosixPath(name)
    seat = PurePosixPath(path.relative_to(folder.root).as_posix())
    return part_of(home.stem, *(parent.name for parent in (*home.parents, *seat.parents)))
