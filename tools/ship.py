"""Put a trained model among those that come with cascade: its file, card, log and curve.

    python -m cascade.tools.ship RUN DATA --name NAME --finds ... --trained-on ... --command ... --limits ...

For those who work on cascade itself. The figures of the card are measured on DATA.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from cascade import shipped
from cascade.checkpoint import write_atomically
from cascade.dataset import load
from cascade.evaluation import Evaluation, evaluate
from cascade.model import Model
from cascade.reporting.curves import miss_rate
from cascade.reporting.page import alone
from cascade.runfolder import MODEL, RESULTS
from cascade.tools import evaluate as evaluation
from cascade.tools import models


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(
        prog="python -m cascade.tools.ship", description=__doc__.split(":", 1)[0]
    )
    options.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    options.add_argument("data", type=Path, metavar="DATA", help="pictures to measure on")
    options.add_argument("--name", required=True)
    for flag, what in (("--finds", "what it finds"), ("--trained-on", "which pictures"),
                       ("--command", "that trained it"), ("--limits", "what it is not for")):  # fmt: skip
        options.add_argument(flag, required=True, help=what)
    options.add_argument("--into", type=Path, metavar="DIR", help="the folder of models, unless it is ours")
    options.add_argument("--format")
    options.add_argument("--class", dest="label", metavar="NAME")
    options.add_argument("--part", choices=("train", "valid", "test"))
    options.add_argument("--iou", type=float, default=0.5)
    return options


def main(argv: list[str]) -> int:
    """Measure and write; 1 if the run or the data cannot be used."""
    options = parser().parse_args(argv)
    folder = options.into or shipped.folder()
    try:
        if not shipped.NAME.fullmatch(options.name):
            raise ValueError(f"a name is made of letters, digits, - and _, got {options.name!r}")
        model = replace(Model.load(options.run / MODEL), name=options.name)
        samples = evaluation.chosen(load(options.data, options.format), model, options)
        result = evaluate(model, samples, iou=options.iou, threads=1)
        model.save(folder / f"{options.name}.cascade")
        write_atomically(folder / f"{options.name}.csv", (options.run / RESULTS).read_bytes())
        write_atomically(folder / f"{options.name}.svg", alone(miss_rate(result.curve)).encode())
        write_atomically(folder / f"{options.name}.json", card(options, result).encode())
    except (OSError, ValueError) as error:
        print(f"ship: {error}", file=sys.stderr)
        return 1
    if options.into is None:  # ours has a page of all models
        cards = shipped.cards()
        text = shipped.markdown(cards, {one.name: models.size(one) for one in cards})
        write_atomically(folder / "README.md", text.encode())
    return 0


def card(options: argparse.Namespace, result: Evaluation) -> str:
    """What is said about it, and what was measured."""
    figures = {
        "measured on": f"{result.images:,} pictures with {result.objects:,} objects",
        "AP50" if options.iou == 0.5 else f"AP at {options.iou:g}": f"{result.ap50:.3f}",
        "recall at 0.1 false positives per image": f"{result.recall_01:.3f}",
        "recall at 1": f"{result.recall_1:.3f}",
        "log-average miss rate": f"{result.log_average_miss_rate:.3f}",
        "trees per window": f"{result.trees_per_window:.1f}",
    }
    words = {name: getattr(options, name) for name in ("finds", "trained_on", "command", "limits")}
    return json.dumps({**words, "figures": figures}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
