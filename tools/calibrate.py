"""`cascade calibrate`: give a model another rejection trace, without training it again."""

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from cascade.calibration import Calibrated, recalibrated
from cascade.dataset import DatasetError, Sample, load
from cascade.dataset.images import hush
from cascade.dataset.preflight import Report, check
from cascade.dataset.split import split
from cascade.model import Model
from cascade.recipe import TrainingSettings
from cascade.runfolder import Arguments, read_arguments
from cascade.shipped import locate
from cascade.threads import thread_count
from cascade.work import Work, work


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(prog="cascade calibrate", description=__doc__.split(": ", 1)[1])
    options.add_argument("model", metavar="MODEL", help="a model file, or the name of a shipped one")
    options.add_argument("data", type=Path, metavar="DATA", help="a folder of labelled pictures, or a list")
    options.add_argument("--recall", type=float, default=TrainingSettings.recall, metavar="R",
                         help="of the objects that all trees accept, the share to keep "
                         "(%(default)s)")  # fmt: skip
    options.add_argument("--out", type=Path, metavar="FILE",
                         help="where the new model goes; beside the old one if not given")  # fmt: skip
    options.add_argument("--format", help="of the labels; recognised if not given")
    options.add_argument("--class", dest="label", metavar="NAME", help="the one class of objects to find")
    options.add_argument("--part", choices=("train", "valid", "test"),
                         help="of the data; what the model was not trained on, if not given")  # fmt: skip
    options.add_argument("--threads", type=int, default=0, metavar="N", help="0 takes all cores")
    return options


def main(argv: list[str]) -> int:
    """Calibrate and print what that means; 1 if model or data cannot be used."""
    options = parser().parse_args(argv)
    hush()
    try:
        lines, out = run(options)
    except OSError as error:
        print(f"cascade calibrate: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"cascade calibrate: {error}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    label = [] if options.label is None else ["--class", options.label]
    print("\nnext: " + shlex.join(["cascade", "evaluate", str(out), str(options.data), *label]))
    return 0


def run(options: argparse.Namespace) -> tuple[list[str], Path]:
    """Write the new model; what to say about it, and where it is."""
    source = locate(options.model)
    model, known = Model.load(source), read_arguments(source)
    data = load(options.data, options.format)
    label = options.label or (model.classes[0] if model.classes[0] in data.classes else None)
    report = check(data if label is None else data.of_class(label), options.threads)
    samples, which = chosen(report, known, options.part)
    settings = replace(known.settings if known else TrainingSettings(), recall=options.recall)
    result = recalibrated(model, samples, settings, thread_count(options.threads))
    # A shipped model stays as it is; its new trace goes to where the command was given.
    folder = source.parent if str(source) == options.model else Path()
    out = options.out or folder / f"{source.stem}-recall-{options.recall:g}.cascade"
    result.model.save(out)
    scenes = [sample for sample in report.usable.samples if not sample.crop]
    return told(result, options.recall, which, work(model, scenes), work(result.model, scenes)), out


def chosen(report: Report, known: Arguments | None, part: str | None) -> tuple[list[Sample], str]:
    """Pictures that the model was not trained on, unless a part is asked for, and what to call them."""
    samples = report.usable.samples
    if part is not None:
        return list(report.usable.part(part)), f"those of {part}"
    if known is None:
        parts = split(samples, digests=report.digests)
        held = [sample for sample in parts if sample.part == "valid"]
        return held, "those that training would hold out (there is no args.json beside the model)"
    pairs = zip(samples, report.digests, strict=True)
    fresh = [sample for sample, digest in pairs if not known.saw(digest)]
    others = [sample for sample in fresh if sample.part != "test"]  # what is for measuring stays for that
    if any(sample.boxes for sample in others):
        return others, "those that it was not trained on"
    if any(sample.boxes for sample in fresh):
        return fresh, "those of the test part: do not measure on them any more"
    raise DatasetError(report.usable.root, "has no objects but those that the model was trained on")


def told(
    result: Calibrated, recall: float, which: str, before: Work | None, now: Work | None
) -> list[str]:
    """What was promised, what is kept, and what it buys."""
    promise = result.promise
    rows = [
        ("objects", f"{which}; all trees together accept {promise.objects:,} of them, {result.accepted:.1%}"),
        ("promised", f"to keep {recall:.4g} of these"),
        ("kept", f"{promise.kept:,} ({promise.recall:.4f}), each by a trace that others set"),
        ("bound", f"95 % sure of at least {promise.least:.4f} of objects like these"),
    ]
    if before is not None and now is not None:
        trees = len(result.model)
        saved = trees / max(now.trees_per_window, 1e-9)
        rows += [
            ("trees", f"{now.trees_per_window:.2f} per window instead of {before.trees_per_window:.2f}; "
                      f"without a trace {trees:,}, {saved:,.0f} times as many"),
            ("time", f"{now.milliseconds:.2f} ms a picture instead of {before.milliseconds:.2f}"),
        ]  # fmt: skip
        if now.trees_per_window > trees / 2:
            rows.append(("note", "hardly anything is rejected: are these objects that it was trained for?"))
    if promise.recall < recall:
        rows.append(("note", "the promise cannot be kept, not even by the loosest trace: give more objects"))
    return [f"{name:<10} {value}" for name, value in rows]
