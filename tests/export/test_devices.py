"""The exported C on other processors and on Cortex-M boards: not a bit differs. For `make test-devices`."""

import os

import pytest

from tests.export import boards, device

pytestmark = pytest.mark.skipif(
    "CASCADE_DEVICES" not in os.environ, reason="needs cross compilers and emulators: make test-devices"
)
COUNT = 1000  # frames
STACK = 1024  # CASCADE_STACK_BYTES


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
