"""What all formats have in common once read: pictures named twice become one, impossible boxes go."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from cascade.dataset.folder import Folder
from cascade.dataset.sample import PARTS, Box, Sample


def merged(folder: Folder, samples: Iterable[Sample]) -> list[Sample]:
    """Each picture once, sorted, with the boxes of all that was said about it."""
    found: dict[tuple[Path, int], Sample] = {}
    for sample in samples:
        key = (sample.path, sample.frame)
        before = found.get(key)
        if before is None:
            found[key] = sample
            continue
        if before.part != sample.part:
            parts = sorted({before.part, sample.part}, key=PARTS.index)
            folder.report(sample.path, f"is listed in {parts[0]} and in {parts[1]}; it counts as {parts[1]}")
            before = replace(before, part=parts[1])
        found[key] = replace(before, boxes=(*before.boxes, *sample.boxes))
    return [found[key] for key in sorted(found, key=lambda key: (key[0].as_posix(), key[1]))]


def checked(folder: Folder, sample: Sample) -> Sample | None:
    """The sample with the boxes that can be; None, and a problem reported, if its picture cannot be read."""
    if sample.in_vec:
        return sample
    size = folder.size(sample.path)
    if size is None:
        return None
    declared = folder.declared.get(sample.path, size)
    if declared != size:
        folder.report(sample.path, _other_size(declared, size))
        return None
    boxes = []
    for box in dict.fromkeys(sample.boxes):  # some files say the same twice
        wrong = _impossible(box, size)
        if wrong is None:
            boxes.append(box)
        else:
            folder.report(sample.path, wrong)
    return replace(sample, boxes=tuple(boxes))


def _impossible(box: Box, size: tuple[int, int]) -> str | None:
    place = f"the box at ({box.x:g}, {box.y:g}) of {box.width:g} x {box.height:g}"
    if box.width <= 0 or box.height <= 0:
        return f"{place} is empty; it is left out"
    if box.x >= size[0] or box.y >= size[1] or box.x + box.width <= 0 or box.y + box.height <= 0:
        return f"{place} lies outside the picture of {size[0]} x {size[1]}; it is left out"
    return None


def _other_size(declared: tuple[int, int], size: tuple[int, int]) -> str:
    what = f"its labels are for a picture of {declared[0]} x {declared[1]}, this one is {size[0]} x {size[1]}"
    if declared == size[::-1]:
        return f"{what}, turned upright by its EXIF note: save it turned and label it anew; it is left out"
    return f"{what}: put the picture back that was labelled; it is left out"
