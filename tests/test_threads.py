"""The thread pool: shared by the program's threads, alive after a fork, never a reason for other trees."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from cascade.boosting import boost
from cascade.settings import Settings
from cascade.threads import thread_count
from tests.conftest import planted

SETTINGS = Settings(rounds=15, depth=3)


def test_several_threads_of_a_program_may_train_at_once():
    data = [planted(600, 70, seed) for seed in range(6)]
    alone = [boost(*d, SETTINGS).trees for d in data]
    with ThreadPoolExecutor(6) as executor:
        together = list(executor.map(lambda d: boost(*d, SETTINGS, threads=3).trees, data))
    assert together == alone


@pytest.mark.parametrize("threads", [2, 7, 64, 1000])
def test_more_threads_than_cores_or_work(threads, small):
    assert boost(*small, SETTINGS, threads=threads).trees == boost(*small, SETTINGS).trees


FORK = """
import os, sys
sys.path.insert(0, {root!r})
from cascade.boosting import boost
from tests.test_threads import SETTINGS
from tests.conftest import planted
trees = boost(*planted(600, 70, 1), SETTINGS, threads=2).trees
child = os.fork()
again = boost(*planted(600, 70, 1), SETTINGS, threads=2).trees
if child == 0:
    os._exit(0 if again == trees else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or again != trees)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_trains_too():
    """Its helpers did not come along; waiting for them would take for ever."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = FORK.format(root=root)
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_thread_count():
    assert thread_count(3) == 3
    assert thread_count(0) == thread_count(None) >= 1
    for bad in (-1, 1.5, True, "2"):
        with pytest.raises(ValueError, match="threads must be a whole number"):
            thread_count(bad)
