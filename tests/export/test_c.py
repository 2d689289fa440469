"""Exported C finds what the Python detector finds, bit for bit, in as much room as it says."""

import shutil

import numpy as np
import pytest

from cascade.export.sizes import most_visits, ram_bytes
from tests.export import device

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
    for one, (ram, colour_ram, _, visits) in zip(models, stated, strict=True):
        assert ram == ram_bytes(one.model, one.search, 160, 120)
        assert colour_ram == ram_bytes(one.model, one.search, 160, 120, grey=False)
        assert visits >= most_visits(one.model, one.search, 160, 120)
        if one.search.max_size is None:
            assert visits == most_visits(one.model, one.search, 160, 120)
    for frame, result in zip(seen, device.results(lines), strict=True):
        one, (height, width) = models[frame.exported], frame.pixels.shape[:2]
        assert result.ram == ram_bytes(one.model, one.search, width, height, grey=frame.format == device.GREY)
        assert result.visits <= most_visits(one.model, one.search, width, height)
