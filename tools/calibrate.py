"""`cascade calibrate`: set how early a model rejects, and what its scores mean, without training again."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from cascade.calibration import recalibrated
from cascade.dataset import DatasetError, load
from cascade.detector import Detector
from cascade.evaluation import SAMPLED
from cascade.model import Model, ModelFormatError
from cascade.recipe import TrainingSettings
from cascade.threads import thread_count


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(prog="cascade calibrate", description=__doc__.split(": ", 1)[1])
    options.add_argument("model", type=Path, metavar="MODEL")
    options.add_argument("data", type=Path, metavar="DATA", help="labelled pictures it was not trained on")
    options.add_argument("--recall", type=float, default=TrainingSettings.recall,
                         help="of the objects that all trees together accept, the share to keep "
                         "(%(default)s)")  # fmt: skip
    options.add_argument("--out", type=Path, help="the new model; MODEL itself if not given")
    options.add_argument("--format", help="of the labels; recognised if not given")
    options.add_argument("--class", dest="label", metavar="NAME", help="the class of objects to find")
    options.add_argument("--part", choices=("train", "valid", "test"), default="valid", help="of the data")
    options.add_argument("--threads", type=int, default=0, metavar="N", help="0 takes all cores")
    return options


def main(argv: list[str]) -> int:
    """Write the calibrated model and say what it promises; 1 if model or data cannot be used."""
    options = parser().parse_args(argv)
    try:
        model, data = Model.load(options.model), load(options.data, options.format)
        if options.label is not None:
            data = data.of_class(options.label)
        samples = data.part(options.part) or data.samples
        settings = replace(TrainingSettings(), recall=options.recall)
        result = recalibrated(model, samples, settings, thread_count(options.threads))
        result.model.save(options.out or options.model)
    except (DatasetError, ModelFormatError, OSError, ValueError) as error:
        print(f"cascade calibrate: {error}", file=sys.stderr)
        return 1
    promise = result.promise
    print(f"keeps {promise.kept} of {promise.objects} objects that the trees accept, {promise.recall:.1%}; "
          f"95 % sure of at least {promise.least:.1%}")  # fmt: skip
    scenes = [sample for sample in samples if not sample.crop][:SAMPLED]
    if scenes:
        work = [Detector(result.model).statistics(sample.read()) for sample in scenes]
        each = sum(one.trees for one in work) / max(1, sum(one.windows for one in work))
        print(f"looks at {each:.2f} of {len(model)} trees per window: {len(model) / max(each, 1):.0f} times "
              "less than without early rejection")  # fmt: skip
    return 0
