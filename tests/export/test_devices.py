"""The exported C on other processors and on Cortex-M boards: not a bit differs. For `make test-devices`."""

import os

import pytest

from cascade.export.search import Search
from cascade.export.sizes import CODE, STACK, table_bytes
from tests.export import boards, device
from tests.test_detector import random_model

pytestmark = pytest.mark.skipif(
    "CASCADE_DEVICES" not in os.environ, reason="needs cross compilers and emulators: make test-devices"
)
COUNT = 1000  # frames


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("devices")
    models = device.models()
    seen = device.frames(COUNT, len(models), seed=1)
    device.write(folder, models, seen)
    return folder, device.expected(models, seen)


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3", "-Os"])
@pytest.mark.parametrize("processor", boards.PROCESSORS)
def test_equal_on_processors(made, processor, level):
    folder, answers = made
    device.check(boards.run_processor(folder, processor, level), answers)


@pytest.mark.parametrize("level", ["-O2", "-O3", "-Os"])
@pytest.mark.parametrize("board", boards.BOARDS)
def test_equal_on_boards(made, board, level):
    folder, answers = made
    board = boards.Board(board)
    lines = board.run(folder, board.build(folder, level))
    device.check(lines, answers)
    deepest = max(result.stack for result in device.results(lines))
    assert 100 < deepest <= STACK


@pytest.mark.parametrize("kind", ["cell", "rect", "haar"])
@pytest.mark.parametrize("board", boards.BOARDS)
def test_flash(tmp_path, board, kind):
    """Tables are as large as stated, and code is not larger."""
    model, search = random_model(kind=kind, window=(9, 9), trees=40, name="thing"), Search()
    code, tables = boards.Board(board).flash(tmp_path, device.Exported(model, search))
    assert tables == table_bytes(model, search)
    assert 2000 < code <= CODE


def test_nothing_is_written_to_but_memory_of_the_caller(tmp_path):
    """No variables of its own, and of libraries only these functions."""
    model = random_model(window=(9, 9), name="thing")
    written, needed = boards.Board("m4").links(tmp_path, device.Exported(model, Search()))
    assert not written
    assert needed <= {"memcpy", "memmove", "memset", "__aeabi_ldivmod", "__aeabi_uldivmod"}


def test_instructions_are_counted(made):
    """The same number in every run."""
    folder, _ = made
    board = boards.Board("m4")
    few = device.Exported(random_model(window=(9, 9), name="thing"), Search())
    device.write(folder, [few], [device.Frame(0, device.GREY, device.photo(40, 60))])
    program = board.build(folder, "-Os")
    ticks = [device.results(board.run(folder, program, counting=True))[0].ticks for _ in range(2)]
    assert ticks[0] == ticks[1] > 1000
