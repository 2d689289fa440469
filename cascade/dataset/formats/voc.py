"""Pascal VOC: an XML file for each picture, JPEGImages/ Annotations/ ImageSets/, or side by side.

Corners are taken as they stand, though the first VOC sets count pixels from 1: most tools that write the
format count from 0.
"""

from pathlib import Path, PurePosixPath

from cascade.dataset.folder import DatasetError, Folder, part_of
from cascade.dataset.markup import Element, read_elements, root_tag
from cascade.dataset.numbers import flag, number
from cascade.dataset.sample import UNNAMED, Box, Sample

MOST_BYTES = 1 << 24
LISTS = {"trainval": "train", "train": "train", "val": "valid", "test": "test"}
CORNERS = ("xmin", "ymin", "xmax", "ymax")


def recognise(folder: Folder) -> str | None:
    first = next(iter(_annotations(folder)), None)
    if first is None or root_tag(folder.bytes(first, MOST_BYTES)) != "annotation":
        return None
    return f"{first} and others are Pascal VOC annotations"


def read(folder: Folder) -> list[Sample]:
    parts = _lists(folder)
    samples, left_out = [], 0
    for name in _annotations(folder):
        part = parts.get(PurePosixPath(name).stem) if parts else part_of(*_parents(name))
        if part is None:
            left_out += 1
            continue
        try:
            sample = _read_file(folder, name, part)
        except (DatasetError, ValueError) as error:
            folder.report(folder.root / name, f"{error}; the picture is left out")
            continue
        if sample is not None:
            samples.append(sample)
    if left_out:
        what = f"{left_out} annotated pictures are in none of its lists and are left out"
        folder.report(folder.root / "ImageSets", what)
    return samples


def _annotations(folder: Folder) -> list[str]:
    """XML files in a folder of annotations, or else all."""
    names = folder.annotations(".xml", deepest=3)
    return [name for name in names if "annotations" in name.lower().split("/")[:-1]] or names


def _parents(name: str) -> list[str]:
    return [parent.name for parent in PurePosixPath(name).parents]


def _lists(folder: Folder) -> dict[str, str]:
    """Which part each picture is in, by ImageSets/Main/train.txt and its like; the later part counts."""
    parts: dict[str, str] = {}
    for stem, part in LISTS.items():
        for name in folder.files:
            if name.endswith(f"ImageSets/Main/{stem}.txt"):
                lines = folder.text(name, MOST_BYTES).split("\n")
                parts |= {line.split()[0]: part for line in lines if line.strip()}
    return parts


def _read_file(folder: Folder, name: str, part: str) -> Sample | None:
    data = folder.bytes(name, MOST_BYTES)
    roots = read_elements(data, "annotation")
    if len(roots) != 1:
        raise ValueError("expected one <annotation>")
    path = _picture(folder, name, roots[0].value("filename"))
    if path is None:
        folder.report(folder.root / name, folder.missing(roots[0].value("filename")))
        return None
    size = roots[0].child("size")
    if size is not None:
        folder.declare(path, size.value("width"), size.value("height"))
    boxes = []
    for number_, element in enumerate((child for child in roots[0].children if child.tag == "object"), 1):
        try:
            boxes.append(_box(element))
        except ValueError as error:
            folder.report(folder.root / name, f"object {number_}: {error}; it is left out")
    return Sample(path, tuple(boxes), part)


def _box(element: Element) -> Box:
    corners = element.child("bndbox")
    if corners is None:
        raise ValueError("expected a <bndbox>")
    left, top, right, bottom = (number(corners.value(tag)) for tag in CORNERS)
    ignore = flag(element.value("difficult")) or flag(element.value("ignore"))
    return Box(left, top, right - left, bottom - top, element.value("name") or UNNAMED, ignore)


def _picture(folder: Folder, name: str, filename: str) -> Path | None:
    """The picture: by the name in the file, else by the name of the file."""
    home = PurePosixPath(name).parent
    bases = [str(base) for base in (home.parent / "JPEGImages", home.parent / "images", home, home.parent)]
    found = folder.find(filename, bases) if filename else None
    if found is None:
        stem = PurePosixPath(name).stem
        beside = {str(PurePosixPath(base)) for base in bases}
        same = folder.by_stem.get(stem, ())
        found = next((folder.root / one for one in same if str(PurePosixPath(one).parent) in beside), None)
    return found
