"""Exported C finds what the Python detector finds, bit for bit, in as much room as it says."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from cascade.export import c
from cascade.export.search import Search
from cascade.export.sizes import most_visits, ram_bytes, table_bytes
from tests.export import device
from tests.test_detector import random_model

COMPILERS = [(compiler, level) for compiler in ("gcc", "clang") for level in ("-O0", "-O2", "-O3", "-Os")]
COUNT = 1000  # frames


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    models = device.models()
    seen = device.frames(COUNT, len(models))
    device.write(folder, models, seen)
    return folder, models, seen, device.expected(models, seen)


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_equal(made, compiler, level):
    folder, _, _, answers = made
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    program = device.build(folder, [compiler, level], f"{compiler}{level}")
    device.check(device.run(folder, [str(program)]), answers)


def test_the_frames_hold_something(made):
    """Otherwise the tests above would show little."""
    _, models, seen, answers = made
    boxes = np.array([len(found) for _, found in answers])
    for index in range(len(models)):
        mine = boxes[[frame.exported == index for frame in seen]]
        assert np.count_nonzero(mine) > len(mine) / 4
        assert mine.max() > 2


def test_equal_under_sanitizers_whatever_the_band(made):
    """Also with whole levels in memory, and row by row."""
    folder, _, _, answers = made
    some = ["cc", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    for band in (1, 32767):
        program = device.build(folder, [*some, f"-DCASCADE_BAND={band}"], f"sanitized{band}")
        device.check(device.run(folder, [str(program)]), answers)


def test_what_the_header_says_is_true(made):
    folder, models, seen, _ = made
    lines = device.run(folder, [str(device.build(folder, ["cc", "-O1"], "sizes"))])
    stated = [list(map(int, line.split()[1:])) for line in lines if line.startswith("model")]
    for one, (ram, colour_ram, tables, visits) in zip(models, stated, strict=True):
        assert ram == ram_bytes(one.model, one.search, 160, 120)
        assert colour_ram == ram_bytes(one.model, one.search, 160, 120, grey=False)
        assert visits >= most_visits(one.model, one.search, 160, 120)
        if one.search.max_size is None:
            assert visits == most_visits(one.model, one.search, 160, 120)
        assert tables >= table_bytes(one.model, one.search)  # pointers take 8 here
        assert tables <= table_bytes(one.model, one.search) + 64
    for frame, result in zip(seen, device.results(lines), strict=True):
        one, (height, width) = models[frame.exported], frame.pixels.shape[:2]
        assert result.ram == ram_bytes(one.model, one.search, width, height, grey=frame.format == device.GREY)
        assert result.visits <= most_visits(one.model, one.search, width, height)


@pytest.mark.parametrize(("compiler", "level"), [("gcc", "-O3"), ("clang", "-Os")])
@pytest.mark.parametrize("index", [0, 3, 6], ids=["cell", "colour", "haar"])
def test_what_ships_compiles_without_a_warning(made, tmp_path, compiler, level, index):
    """Example and self-test, which run as well."""
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    one = made[1][index]
    for file, text in c.sources(one.model, one.search).items():
        (tmp_path / file).write_text(text)
    for program in ("example", "selftest"):
        device.build(tmp_path, [compiler, level], program, f"{program}.c")
    subprocess.run(["./selftest"], cwd=tmp_path, check=True, capture_output=True)


def test_the_example_finds_the_same(tmp_path):
    model = random_model(9, window=(9, 9), prune="much", trees=20, name="thing")
    for file, text in c.sources(model, Search()).items():
        (tmp_path / file).write_text(text)
    subprocess.run(["cc", "-std=c99", "example.c", "-o", "example"], cwd=tmp_path, check=True)
    frame = device.photo(120, 160, 3)
    ran = subprocess.run(["./example"], cwd=tmp_path, input=frame.tobytes(), capture_output=True, check=True)
    found = Search().detector(model).detect(frame)
    rows = np.column_stack([found.xyxy.astype(int), found.score]).tolist()
    assert len(rows) > 2
    assert ran.stdout.decode().splitlines() == [f"{a} {b} {r} {d} score {s}" for a, b, r, d, s in rows]


@pytest.mark.parametrize("window", [(12, 12), (20, 20)])
def test_a_small_frame_takes_at_most_64_kb(window):
    """Besides the frame itself, for cells of 2 pixels."""
    model = random_model(window=window, trees=2)
    assert ram_bytes(model, Search(), 160, 120) <= 65536


def test_no_floats_and_no_allocation_in_what_ships():
    for file in ("cascade.h", "pipeline.h"):
        text = c.sources(random_model(), Search())[file]
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        assert not re.search(r"\b(float|double|malloc|calloc|alloca|printf)\b", code)
        included = re.findall(r"#include (\S+)", code)
        assert included in (["<stdint.h>", "<string.h>"], ["<limits.h>", '"cascade.h"'])
