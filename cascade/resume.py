"""What a run of boosting writes into its checkpoint, and how it goes on from there."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from cascade import checkpoint
from cascade.checkpoint import CheckpointError
from cascade.rounds import BoostingRun, Progress, Round
from cascade.trees import Trees
from cascade.version import VERSION

NAMES = [field.name for field in fields(Round)]


class RunFile:
    """The checkpoint file of one run."""

    def __init__(self, path: Path, run: BoostingRun) -> None:
        self.path, self.run = path, run
        parts = [part for part in (run.training, run.validation) if part is not None]
        data = [array for part in parts for array in (part.table, part.labels, part.base)]
        self.identity = {  # what must be the same for the run to be resumed
            "version": VERSION,
            "settings": run.settings.to_json(),
            "data": checkpoint.digest(*data),
        }

    def save(self) -> None:
        trees, progress = self.run.trees, self.run.progress
        rows = [[getattr(row, name) for name in NAMES] for row in self.run.history]
        checkpoint.save(
            self.path,
            {**self.identity, "stopped": progress.stopped, "effort": progress.effort},
            {
                "feature": trees.feature,
                "threshold": trees.threshold,
                "leaf": trees.leaf,
                "history": np.array(rows, np.float64).reshape(-1, len(NAMES)),
                "heavy": progress.heavy,
            },
        )

    def restore(self) -> None:
        facts, arrays = checkpoint.load(self.path)
        for name, mine in self.identity.items():
            if facts.get(name) != mine:
                raise CheckpointError(
                    f"{self.path} is of another run: its {name} {_difference(facts.get(name), mine)}; "
                    "delete it or name another file"
                )
        trees = Trees(arrays["feature"], arrays["threshold"], arrays["leaf"])
        history = [_round(dict(zip(NAMES, row, strict=True))) for row in arrays["history"]]
        progress = Progress(len(trees), facts["stopped"], facts["effort"], arrays["heavy"])
        self.run.resume(trees, history, progress)


def _round(row: dict[str, Any]) -> Round:
    row = {name: float(x) for name, x in row.items()}
    return Round(**{**row, "number": int(row["number"]), "updates": int(row["updates"])})


def _difference(theirs: Any, mine: Any) -> str:
    if not isinstance(theirs, dict) or not isinstance(mine, dict):
        return "differ"
    changed = [key for key in mine if theirs.get(key) != mine[key]]
    return "differ: " + ", ".join(f"{key} was {theirs.get(key)!r}, is {mine[key]!r}" for key in changed)
