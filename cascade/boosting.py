"""Boosting: fit a tree to what the trees before it got wrong, weigh it, and go on.

    result = boost(table, labels, Settings(rounds=300, depth=2))
    result.trees.decision(table)

The table is uint8 (features, samples), labels are -1 and +1. The same data and settings give the same trees,
to the last bit, whatever the number of threads, the search, or how often the run was killed and resumed.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cascade.rounds import BoostingRun, Round, best_round
from cascade.samples import check_samples
from cascade.settings import Settings
from cascade.threads import thread_count
from cascade.trees import Trees

if TYPE_CHECKING:
    from cascade.resume import RunFile

CHECKPOINT_SECONDS = 10.0


@dataclass(frozen=True)
class Boosted:
    trees: Trees  # up to the round with the lowest validation loss, if `patience` was set
    history: list[Round]
    stopped: str  # why no more trees came

    @property
    def updates(self) -> int:
        """The cost of training in histogram updates [Appel 3.5]."""
        return self.history[-1].updates if self.history else 0


def boost(
    table: NDArray[np.uint8],
    labels: ArrayLike,
    settings: Settings | None = None,
    *,
    weights: ArrayLike | None = None,
    validation: tuple[Any, ...] | None = None,
    threads: int | None = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[Round], None] | None = None,
) -> Boosted:
    """Train trees on a table of bytes.

    `validation` is (table, labels) or (table, labels, weights); `threads` None or 0 takes all cores.
    `checkpoint` names a file: the run writes it as it goes and, if it is there, goes on from it. A checkpoint
    of other data or settings is refused. `progress` is called after each round.
    """
    settings = settings or Settings()
    training = check_samples(table, labels, weights)
    held_out = None if validation is None else check_samples(*validation, name="validation ")
    if held_out is not None and len(held_out.table) != len(training.table):
        raise ValueError(
            f"expected validation data with {len(training.table)} features, got {len(held_out.table)}"
        )
    if settings.patience is not None and held_out is None:
        raise ValueError("patience needs validation data to watch; give validation=(table, labels)")
    run = BoostingRun(training, held_out, settings, thread_count(threads))
    file = None if checkpoint is None else _checkpoint(Path(checkpoint), run)
    _run(run, file, progress)
    trees, history = run.trees, run.history
    if settings.patience is not None and history:
        trees = trees[: best_round(history)]
    return Boosted(trees, history, run.progress.stopped)


def _checkpoint(path: Path, run: BoostingRun) -> "RunFile":
    from cascade.resume import RunFile  # here, because hashing loads 4 MB of OpenSSL

    file = RunFile(path, run)
    if path.exists():
        file.restore()
    return file


def _run(run: BoostingRun, file: "RunFile | None", progress: Callable[[Round], None] | None) -> None:
    written = time.perf_counter()
    try:
        while not run.progress.stopped:
            before = run.progress.rounds
            run.step()
            if progress is not None and run.progress.rounds > before:
                progress(run.history[-1])
            if file is not None and time.perf_counter() - written > CHECKPOINT_SECONDS:
                file.save()
                written = time.perf_counter()
    finally:  # also on Ctrl-C: what is done is kept
        if file is not None:
            file.save()
