"""Exported models in C against the Python detector: one program with all of them, run over many frames."""

import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cascade import Model
from cascade.export import c
from cascade.export.names import prefix
from cascade.export.search import Search
from cascade.export.template import fill
from cascade.sigmoid import Sigmoid
from tests.test_detector import coloured, photo, random_model

STRICT = (
    "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wvla",
    "-Werror",
)  # fmt: skip
GREY, BGR, RGB565, SWAPPED = range(4)
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Exported:
    model: Model
    search: Search


@dataclass(frozen=True)
class Frame:
    exported: int  # which model looks at it
    format: int
    pixels: NDArray[np.uint8]  # (height, width), or (height, width, 3 or 2)

    def for_python(self) -> NDArray[np.uint8]:
        """What the Python detector looks at: 5 and 6 bits become 8 by repeating the highest."""
        if self.format in (GREY, BGR):
            return self.pixels
        low, high = np.moveaxis(self.pixels, -1, 0).astype(int)
        if self.format == SWAPPED:
            low, high = high, low
        word = high << 8 | low
        blue, green, red = word & 31, word >> 5 & 63, word >> 11
        wide = blue << 3 | blue >> 2, green << 2 | green >> 4, red << 3 | red >> 2
        return np.stack(wide, axis=-1).astype(np.uint8)


def models() -> list[Exported]:
    """All kinds, channels and settings, small."""
    model = random_model
    some = [
        (model(0, window=(9, 8), trees=24, prune="much"), Search()),
        (model(1, window=(6, 7), cell=4, depth=3, smooth=0, border=40), Search(stride=2, candidates=5000)),
        (model(2, window=(5, 9), normalise=0, depth=1, accepting=True),
         Search(per_octave=5, min_size=9, max_size=40)),
        (model(3, window=(7, 7), channels="colour", prune="much", shift=2, reach=9000),
         Search(min_size=23, measure="iou", border=90)),
        (model(4, window=(6, 5), kind="rect", smooth=0), Search(min_size=6, overlap=0.3, border=128)),
        (model(5, window=(5, 6), kind="rect", channels="colour", cell=4), Search(candidates=7, max_size=60)),
        (model(6, window=(15, 12), kind="haar", prune="much", lambdas=(-3000, 7000, 9000)),
         Search(stride=3)),
        (model(7, window=(11, 13), kind="haar", smooth=0, depth=3, sigmoid=Sigmoid(0.01, 0.1)),
         Search(per_octave=1, min_size=30, threshold=0.6)),
    ]  # fmt: skip
    return [Exported(replace(one, name=f"device {k}"), search) for k, (one, search) in enumerate(some)]


def frames(count: int, exported: int, largest: tuple[int, int] = (100, 80), seed: int = 0) -> list[Frame]:
    """Of any size and format, for every model in turn."""
    random = np.random.default_rng(seed)
    made = []
    for i in range(count):
        width, height = (int(random.integers(0 if i % 9 == 0 else 12, side + 1)) for side in largest)
        kind = (GREY, GREY, BGR, RGB565, SWAPPED)[i // exported % 5]
        if kind == GREY:
            pixels = photo(height, width, i)
        elif kind == BGR:
            pixels = coloured(height, width, i)
        else:
            pixels = coloured(height, width, i)[..., :2]
        made.append(Frame(i % exported, kind, np.ascontiguousarray(pixels)))
    return made


def write(folder: Path, exported: Sequence[Exported], seen: Sequence[Frame]) -> None:
    """The sources of all models, the harness and its frames."""
    rows = []
    for one in exported:
        name = prefix(one.model.name)
        upper = name.upper()
        rows.append(
            f"    {{&{name}_model, &{name}_search, {upper}_RAM_BYTES(160, 120), "
            f"{upper}_COLOUR_RAM_BYTES(160, 120), {upper}_TABLE_BYTES, {upper}_MOST_VISITS(160, 120)}}"
        )
        for file, text in c.sources(one.model, one.search).items():
            (folder / file).write_text(text)
    includes = "\n".join(f'#include "{prefix(one.model.name)}.h"' for one in exported)
    words = {"includes": includes, "models": ",\n".join(rows)}
    (folder / "harness.c").write_text(fill((HERE / "harness.c").read_text(), words))
    with (folder / "frames.bin").open("wb") as file:
        for frame in seen:
            height, width = frame.pixels.shape[:2]
            file.write(struct.pack("<BBHH", frame.exported, frame.format, width, height))
            file.write(frame.pixels.tobytes())


def build(folder: Path, command: Sequence[str], program: str, source: str = "harness.c") -> Path:
    """Compile the harness; warnings are errors."""
    whole = [*command, *STRICT, source, "-o", program]
    ran = subprocess.run(whole, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[:3000]
    return folder / program


def run(folder: Path, command: Sequence[str], **options) -> list[str]:
    """What the harness prints, whole."""
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, **options)
    lines = ran.stdout.splitlines()
    assert ran.returncode == 0, (ran.returncode, ran.stderr[:2000])
    assert lines[-1] == "end"
    return lines[:-1]


def expected(exported: Sequence[Exported], seen: Sequence[Frame]) -> list[tuple[int, list[list[int]]]]:
    """Of each frame: nodes looked at, and boxes with scores, by the Python detector."""
    detectors = [one.search.detector(one.model) for one in exported]
    answers = []
    for frame in seen:
        one, detector = exported[frame.exported], detectors[frame.exported]
        image, search = frame.for_python(), one.search
        sizes = {"min_size": search.min_size, "max_size": search.max_size}
        found = detector.detect(image, **sizes, threshold=search.threshold)
        visits = detector.statistics(image, **sizes).trees * one.model.depth
        answers.append((visits, np.column_stack([found.xyxy.astype(int), found.score]).tolist()))
    return answers


@dataclass(frozen=True)
class Result:
    """What the harness said about one frame."""

    candidates: int
    visits: int
    ram: int
    stack: int
    ticks: int
    boxes: list[list[int]]


def results(lines: Sequence[str]) -> list[Result]:
    found: list[Result] = []
    for line in lines:
        first, *rest = line.split()
        if first == "frame":
            found.append(Result(*map(int, rest), []))
        elif first != "model":
            found[-1].boxes.append([int(first), *map(int, rest)])
    return found


def check(lines: Sequence[str], answers: Sequence[tuple[int, list[list[int]]]]) -> None:
    """Not a bit differs."""
    found = results(lines)
    assert len(found) == len(answers)
    for i, (one, (visits, boxes)) in enumerate(zip(found, answers, strict=True)):
        assert one.boxes == boxes, i
        assert one.visits == visits, i
