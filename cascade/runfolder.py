"""The run folder: the model, what it was trained with, what each stage did, and the report."""

import base64
import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cascade.checkpoint import write_atomically
from cascade.evaluation import Evaluation
from cascade.recipe import TrainingSettings
from cascade.report import Account, report
from cascade.reporting.findings import findings
from cascade.training import Trained
from cascade.version import VERSION

MODEL, ARGUMENTS, RESULTS, REPORT = "model.cascade", "args.json", "results.csv", "report.html"
LARGEST = 1 << 26  # bytes of arguments; ours are far below
MARK = 4  # bytes of a picture's digest: enough to tell most pictures from all that were trained on
FIGURES = (
    "ap50", "ap", "log_average_miss_rate", "recall_01", "recall_1", "ms_per_frame", "trees_per_window",
)  # fmt: skip


@dataclass(frozen=True)
class Arguments:
    """What a run folder tells about a training run."""

    settings: TrainingSettings
    trained_on: frozenset[bytes]  # marks of pictures

    def saw(self, digest: bytes) -> bool:
        """Whether a picture with these pixels was trained on."""
        return digest[:MARK] in self.trained_on


def write_run(folder: Path, trained: Trained, account: Account) -> Evaluation:
    """Write everything, the model first, so that nothing that comes after it can cost it."""
    folder.mkdir(parents=True, exist_ok=True)
    run = trained.run
    trained.model.save(folder / MODEL)
    write_atomically(folder / ARGUMENTS, arguments(trained, account).encode())
    write_atomically(folder / RESULTS, results(trained).encode())
    if run.file is not None:
        _clear(run.file.folder)
    measured = findings(trained.model, run.held, run.test, run.settings, run.threads)
    write_atomically(folder / RESULTS, results(trained, measured.evaluation).encode())
    write_atomically(folder / REPORT, report(trained, measured, account).encode())
    return measured.evaluation


def arguments(trained: Trained, account: Account) -> str:
    """Settings, names, and marks of the pictures that were trained on, so that nobody measures on them."""
    run = trained.run
    marks = b"".join(sorted({digest[:MARK] for digest in run.digests}))
    facts = {
        **run.settings.to_json(), "version": VERSION, "name": run.name, "data": account.data,
        "trained_on": base64.b64encode(marks).decode(),
    }  # fmt: skip
    return json.dumps(facts, indent=2) + "\n"


def results(trained: Trained, measured: Evaluation | None = None) -> str:
    """A row a stage; the figures of the final model, as far as they were measured, are in the last one."""
    rows: list[dict[str, Any]] = []
    for i, stage in enumerate(trained.stages):
        row = {name: value for name, value in vars(stage).items() if name != "losses"}
        rows.append({"stage": i + 1, **row, "seconds": f"{stage.seconds:.2f}"})
    if measured is not None and rows:
        figures = {name: getattr(measured, name) for name in FIGURES}
        rows[-1].update({name: f"{value:.6g}" for name, value in figures.items() if value >= 0})
    text = io.StringIO()
    names = ["stage", "trees", "loss", "positives", "negatives", "mined", "images", "accepted", "seconds"]
    table = csv.DictWriter(text, [*names, *FIGURES], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _clear(folder: Path) -> None:
    """The model is written: nothing is left to resume."""
    for path in folder.glob("stage-*"):
        path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def read_arguments(model: Path) -> Arguments | None:
    """What is known about a model's training, if it lies in a run folder."""
    path = Path(model).parent / ARGUMENTS
    if not path.is_file():
        return None
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"more than {LARGEST} bytes")
        facts = json.loads(path.read_bytes())
        known = {name: facts[name] for name in TrainingSettings().to_json() if name in facts}
        marks = base64.b64decode(facts["trained_on"], validate=True)
        seen = frozenset(marks[i : i + MARK] for i in range(0, len(marks), MARK))
        return Arguments(TrainingSettings(**known), seen)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"{path}: expected what `cascade train` writes there, got {error}") from None
