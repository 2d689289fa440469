"""`cascade evaluate`: how good a model is on labelled pictures."""

import argparse
import json
import sys
from pathlib import Path

from cascade.dataset import Dataset, DatasetError, Sample, load
from cascade.evaluation import Evaluation, evaluate
from cascade.model import Model, ModelFormatError


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(prog="cascade evaluate", description=__doc__.split(": ", 1)[1])
    options.add_argument("model", type=Path, metavar="MODEL")
    options.add_argument("data", type=Path, metavar="DATA", help="a folder of labelled pictures, or a list")
    options.add_argument("--format", help="of the labels; recognised if not given")
    options.add_argument("--class", dest="label", metavar="NAME", help="the class of objects to find; the "
                         "model's own if the data know it")  # fmt: skip
    options.add_argument("--part", choices=("train", "valid", "test"),
                         help="of the data; test, valid or train, the first that has pictures")  # fmt: skip
    options.add_argument("--iou", type=float, default=0.5, help="overlap that a match needs (%(default)s)")
    options.add_argument("--min-size", type=int, metavar="PIXELS", help="of an object's shorter side")
    options.add_argument("--threads", type=int, default=1, metavar="N", help="pictures at a time")
    options.add_argument("--json", action="store_true", help="print JSON")
    return options


def main(argv: list[str]) -> int:
    """Print the figures; 1 if model or data cannot be used."""
    options = parser().parse_args(argv)
    try:
        model = Model.load(options.model)
        data = load(options.data, options.format)
        samples = chosen(data, model, options)
        result = evaluate(model, samples, iou=options.iou, min_size=options.min_size, threads=options.threads)
    except (DatasetError, ModelFormatError, OSError, ValueError) as error:
        print(f"cascade evaluate: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result.to_json()) if options.json else text(result, options.iou))
    return 0


def chosen(data: Dataset, model: Model, options: argparse.Namespace) -> list[Sample]:
    """The pictures to measure on: scenes, for a crop has nothing to find an object in."""
    label = options.label
    if label is None and len(data.classes) > 1 and set(model.classes) < set(data.classes):
        label = model.classes[0]
    if label is not None:
        data = data.of_class(label)
    for part in [options.part] if options.part else ["test", "valid", "train"]:
        samples = [sample for sample in data.part(part) if not sample.crop]
        if any(sample.boxes for sample in samples):
            return samples
    raise DatasetError(f"{options.data}: no pictures with objects to measure on; crops do not do")


def text(result: Evaluation, iou: float) -> str:
    rows = [
        ("pictures", f"{result.images}, with {result.objects} objects"),
        (f"average precision at overlap {iou:g}", f"{result.ap50:.4f}"),
        ("average precision over 0.5 to 0.95", f"{result.ap:.4f}"),
        ("log-average miss rate", f"{result.log_average_miss_rate:.4f}"),
        ("recall at 0.1 false positives per image", f"{result.recall_01:.4f}"),
        ("recall at 1", f"{result.recall_1:.4f}"),
        ("time per frame", f"{result.ms_per_frame:.1f} ms"),
        ("trees per window", f"{result.trees_per_window:.2f}"),
    ]
    return "\n".join(f"{name:<40} {value}" for name, value in rows)
