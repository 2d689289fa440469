"""What quick search saves on 17,000 windows x 5,100 Haar features, 300 trees of depth 2.

Everything is timed in turns in one run, so that a machine that slows down slows all alike; a ratio
is the median of the ratios of all turns.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import lightgbm
import numpy as np
from numpy.typing import NDArray

from cascade.boosting import Boosted, boost
from cascade.haar import HaarPool
from cascade.quickboost import thesis_schedule
from cascade.settings import Settings
from cascade.tools.faces import SIDE, face_windows
from cascade.trees import Trees

FACES, PATCHES, FEATURES = 5000, 12000, 5100
TREES, DEPTH = 300, 2
TURNS = 5
LIGHTGBM_WARM_UP, LIGHTGBM_TREES = 10, 50  # the second in each turn
TARGETS = {  # at least, aim
    "quickboost_cost_ratio": (10.0, 15.0),
    "quickboost_speedup": (6.0, 12.0),
    "quickboost_vs_lightgbm": (4.0, 10.0),
    "quickboost_threads": (1.6, 1.9),
    "quickboost_memory": (1.5, 1.2),  # at most
}
# ru_maxrss counts the memory of the process that started this one; the mark in /proc does not.
MEMORY = """
import resource, sys
from pathlib import Path
import numpy as np
from cascade.boosting import boost
from cascade.settings import Settings

def peak():
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes, where there is no /proc

print(peak())
boost(np.load(sys.argv[1]), np.load(sys.argv[2]), Settings(rounds={trees}, depth={depth}))
print(peak())
"""


def run(pictures: Path) -> dict[str, float]:
    """Every figure of the topic by name."""
    table, labels = make_table()
    quick = train(table, labels, search="quick")
    exhaustive = train(table, labels, search="exhaustive")
    if quick.trees != exhaustive.trees:
        raise RuntimeError("quick and exhaustive search gave different trees")
    results = costs(table, labels, quick, exhaustive)
    return results | memory(table, labels) | timings(table, labels)


def make_table() -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    windows, labels = face_windows(FACES, PATCHES, seed=0)
    return HaarPool.random(SIDE, SIDE, FEATURES, seed=0).values(windows[:, None]), labels


def train(
    table: NDArray[np.uint8], labels: NDArray[np.int8], *, threads: int = 1, **settings: object
) -> Boosted:
    return boost(table, labels, Settings(rounds=TREES, depth=DEPTH, **settings), threads=threads)


def costs(
    table: NDArray[np.uint8], labels: NDArray[np.int8], quick: Boosted, exhaustive: Boosted
) -> dict[str, float]:
    """Histogram updates of exhaustive search for each one of quick search, in several settings."""
    everything, subtraction = exhaustive_updates(quick.trees, table)
    if everything != exhaustive.updates:
        raise RuntimeError(f"exhaustive search took {exhaustive.updates} updates, not {everything}")
    results = {
        "quickboost_cost_ratio": exhaustive.updates / quick.updates,
        "quickboost_cost_ratio_vs_subtraction": subtraction / quick.updates,
    }
    variants = {
        "thesis_schedule": {"schedule": thesis_schedule()},
        "gini": {"criterion": "gini"},
        "entropy": {"criterion": "entropy"},
        "variance": {"criterion": "variance"},
        "logitboost": {"loss": "logitboost"},
    }
    for name, settings in variants.items():
        say(f"cost of {name}")
        result = train(table, labels, **settings)
        all_updates = exhaustive_updates(result.trees, table)[0]
        results[f"quickboost_cost_ratio_{name}"] = all_updates / result.updates
    return results


def exhaustive_updates(trees: Trees, table: NDArray[np.uint8]) -> tuple[int, int]:
    """What these trees cost an exhaustive search that bins every sample of every node, and one that
    of two children bins only the smaller and gets the other by subtraction from the parent."""
    plain = subtraction = 0
    for t in range(len(trees)):
        leaf = trees.apply(table, t)
        plain += len(leaf)
        subtraction += len(leaf)
        for level in range(1, trees.depth):
            sizes = np.bincount(leaf >> (trees.depth - level), minlength=2**level).reshape(-1, 2)
            parents = slice(2 ** (level - 1) - 1, 2**level - 1)
            sizes = sizes[trees.threshold[t, parents] < 255]
            plain += int(sizes.sum())
            subtraction += int(sizes.min(axis=1).sum())
    return plain * len(table), subtraction * len(table)


def memory(table: NDArray[np.uint8], labels: NDArray[np.int8]) -> dict[str, float]:
    """The most that a fresh process holds to load the table and train on one thread, in tables;
    as a whole, and without what Python and NumPy hold before the table comes."""
    say("memory")
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, name)) for name in ("table.npy", "labels.npy")]
        np.save(files[0], table)
        np.save(files[1], labels)
        command = [sys.executable, "-c", MEMORY.format(trees=TREES, depth=DEPTH), *files]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    before, peak = map(int, output.split())
    return {
        "quickboost_memory": peak / table.nbytes,
        "quickboost_memory_above_python": (peak - before) / table.nbytes,
    }


def timings(table: NDArray[np.uint8], labels: NDArray[np.int8]) -> dict[str, float]:
    """Milliseconds per tree in turns, and the ratios between them."""
    candidates: dict[str, Callable[[], float]] = {
        "quick": lambda: ours(table, labels, search="quick"),
        "quick_2_threads": lambda: ours(table, labels, search="quick", threads=2),
        "quick_thesis_schedule": lambda: ours(table, labels, schedule=thesis_schedule()),
        "exhaustive": lambda: ours(table, labels, search="exhaustive"),
        "lightgbm": lightgbm_timer(table, labels),
    }
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(TURNS):
        say(f"timing, turn {turn + 1} of {TURNS}")
        for name, measure in candidates.items():
            times[name].append(measure())
    return {
        "quickboost_speedup": ratio(times["exhaustive"], times["quick"]),
        "quickboost_vs_lightgbm": ratio(times["lightgbm"], times["quick"]),
        "quickboost_threads": ratio(times["quick"], times["quick_2_threads"]),
    } | {f"ms_per_tree_{name}": median(values) for name, values in times.items()}


def ours(table: NDArray[np.uint8], labels: NDArray[np.int8], **settings: object) -> float:
    """Milliseconds per tree of a whole run, set-up included."""
    started = time.perf_counter()
    result = train(table, labels, **settings)
    return 1000 * (time.perf_counter() - started) / len(result.trees)


def lightgbm_timer(table: NDArray[np.uint8], labels: NDArray[np.int8]) -> Callable[[], float]:
    """Measures the next trees of a LightGBM run on one thread, in its faster memory layout."""
    data = lightgbm.Dataset(
        np.ascontiguousarray(table.T, np.float32),
        label=(labels > 0).astype(np.float32),
        params={"max_bin": 255, "verbose": -1, "num_threads": 1},
        free_raw_data=True,
    ).construct()
    layouts = [lightgbm_booster(data, layout) for layout in ("force_col_wise", "force_row_wise")]
    seconds = [lightgbm_trees(booster, LIGHTGBM_WARM_UP) for booster in layouts]
    booster = layouts[int(np.argmin(seconds))]

    def measure() -> float:
        return 1000 * lightgbm_trees(booster, LIGHTGBM_TREES) / LIGHTGBM_TREES

    return measure


def lightgbm_booster(data: lightgbm.Dataset, layout: str) -> lightgbm.Booster:
    """A booster that has grown a few trees already, so that it is warm."""
    params = {
        "objective": "binary", "num_leaves": 2**DEPTH, "max_depth": DEPTH, "max_bin": 255,
        "num_threads": 1, "verbose": -1, layout: True,
    }  # fmt: skip
    booster = lightgbm.Booster(params, data)
    lightgbm_trees(booster, LIGHTGBM_WARM_UP)
    return booster


def lightgbm_trees(booster: lightgbm.Booster, count: int) -> float:
    """Seconds for some more trees; every one of them must be a whole tree."""
    started = time.perf_counter()
    for _ in range(count):
        booster.update()
    seconds = time.perf_counter() - started
    leaves = [tree["num_leaves"] for tree in booster.dump_model()["tree_info"][-count:]]
    if min(leaves) < 2**DEPTH:
        raise RuntimeError(f"LightGBM grew trees of {min(leaves)} leaves; the timing means nothing")
    return seconds


def ratio(slow: list[float], fast: list[float]) -> float:
    return median(a / b for a, b in zip(slow, fast, strict=True))


def say(text: str) -> None:
    print(f"bench: quickboost: {text}", flush=True)
