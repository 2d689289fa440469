"""`cascade train`: a detector from a folder of pictures."""

import argparse
import shlex
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

from cascade.checkpoint import CheckpointError
from cascade.dataset import Dataset, DatasetError, ImageError, load
from cascade.recipe import TrainingSettings
from cascade.report import Account
from cascade.runfolder import MODEL, REPORT, write_run
from cascade.training import Progress, Trained, training_run

REDRAW = 0.2  # seconds between two states of the progress line
HELP = {
    "side": "pixels of an object's shorter side in the window",
    "context": "of an object's side, what the window shows around it",
    "crop_share": "of a crop's side, what the object takes",
    "stages": "trees of each stage, as 64,256,1024",
    "recall": "of the objects that the trees accept, the share that early rejection keeps",
    "seed": "of all that is drawn at random",
}


class Line:
    """One line that is rewritten on a terminal, and a line for each step anywhere else."""

    def __init__(self) -> None:
        self.live, self.shown, self.step = sys.stdout.isatty(), 0.0, ""

    def __call__(self, now: Progress) -> None:
        step = f"{now.step} {now.stage}"
        if self.live and (step != self.step or time.perf_counter() - self.shown > REDRAW):
            print(f"\r{self.text(now):<100}", end="", flush=True)
            self.shown = time.perf_counter()
        elif not self.live and step != self.step:
            print(self.text(now), flush=True)
        self.step = step

    def text(self, now: Progress) -> str:
        parts = [f"stage {now.stage} of {now.stages}: {now.step}"]
        parts += [f"{now.trees} trees"] if now.trees else []
        parts += [f"loss {now.loss:.1e}"] if now.loss == now.loss else []
        parts += [f"{now.negatives} negatives"] if now.negatives else []
        parts += [f"{now.seconds_left:.0f} s left"] if now.seconds_left == now.seconds_left else []
        return "  " + ", ".join(parts)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(prog="cascade train", description=__doc__.split(": ", 1)[1])
    options.add_argument("data", type=Path, metavar="DATA", help="a folder of labelled pictures, or a list")
    options.add_argument("--out", type=Path, required=True, metavar="RUN", help="where the run goes")
    options.add_argument("--format", help="of the labels; recognised if not given")
    options.add_argument("--class", dest="label", metavar="NAME", help="the one class of objects to find")
    options.add_argument("--backgrounds", type=Path, action="append", default=[], metavar="DIR",
                         help="more pictures, without objects")  # fmt: skip
    options.add_argument("--name", help="of the model; the data's folder if not given")
    options.add_argument("--threads", type=int, default=0, metavar="N", help="0 takes all cores")
    options.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    settings = options.add_argument_group("settings")
    for field in fields(TrainingSettings):
        flag = "--" + field.name.replace("_", "-")
        if isinstance(field.default, bool):
            settings.add_argument(flag, action=argparse.BooleanOptionalAction, default=field.default)
        else:
            settings.add_argument(flag, type=_reader(field.default), default=field.default,
                                  metavar=field.name.upper(), help=HELP.get(field.name))  # fmt: skip
    return options


def main(argv: list[str]) -> int:
    """Train and write the run folder; 0 if there is a model, 1 if there cannot be, 2 on bad use."""
    options = parser().parse_args(argv)
    folder = options.out / "checkpoint"
    if folder.exists() and any(folder.iterdir()) and not options.resume:
        print(f"cascade train: {options.out} holds an unfinished run; add --resume, or delete it",
              file=sys.stderr)  # fmt: skip
        return 2
    try:
        settings = TrainingSettings(**{field.name: getattr(options, field.name)
                                       for field in fields(TrainingSettings)})  # fmt: skip
        data = dataset(options)
        start = time.perf_counter()
        name = options.name or options.data.resolve().stem
        result = training_run(data, settings, name=name, threads=options.threads, progress=Line(),
                              folder=folder)  # fmt: skip
    except (DatasetError, CheckpointError, ValueError) as error:
        print(f"cascade train: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\ncascade train: interrupted; to go on, give the same command with --resume "
              f"(what is done is in {folder})", file=sys.stderr)  # fmt: skip
        return 130
    seconds = time.perf_counter() - start
    try:
        write_run(options.out, result, account(options, seconds))
    except (ImageError, OSError, ValueError) as error:
        print(f"cascade train: could not write all of {options.out}: {error}", file=sys.stderr)
        return 1
    tell(options, result, seconds)
    return 0


def account(options: argparse.Namespace, seconds: float) -> Account:
    """What the report says about where the run came from and what to do next."""
    model, data = (shlex.quote(str(path)) for path in (options.out / MODEL, options.data))
    label = f" --class {shlex.quote(options.label)}" if options.label is not None else ""
    commands = f"evaluate {model} {data}{label}", f"calibrate {model} {data}{label} --recall 0.95"
    return Account(options.data.resolve().name, seconds, str(options.out / MODEL),
                   tuple(f"cascade {command}" for command in commands))  # fmt: skip


def dataset(options: argparse.Namespace) -> Dataset:
    """The data, with what the options change about it."""
    data = load(options.data, options.format)
    if options.label is not None:
        data = data.of_class(options.label)
    more = [load(folder, "negatives") for folder in options.backgrounds]
    return data.joined(*more) if more else data


def tell(options: argparse.Namespace, result: Trained, seconds: float) -> None:
    promise = result.calibration.promise
    for note in result.notes:
        print(f"  note: {note}")
    print(f"\n{result.model.summary()}\n  trained in {seconds:.0f} s")
    print(f"  early rejection keeps {promise.kept} of {promise.objects} held-out objects that the trees "
          f"accept (95 % sure of at least {promise.least:.1%})")  # fmt: skip
    print(f"\nreport: {options.out / REPORT}\nnext: {account(options, seconds).next[0]}")


def _reader(default: Any) -> Any:
    """From what was typed to a setting like its default."""
    if isinstance(default, tuple):
        return lambda text: tuple(int(part) for part in text.split(","))
    return float if default is None else type(default)
