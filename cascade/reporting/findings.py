"""Findings: all that a report is drawn from, measured once on pictures that nothing was learned from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade.calibration import Bags
from cascade.dataset import Sample
from cascade.detector import Detector, Statistics
from cascade.evaluation import Curve, Evaluation, Found, Truth, curve_of, evaluate
from cascade.mining import random_negatives
from cascade.model import Model
from cascade.recipe import TrainingSettings
from cascade.reporting.paths import Paths
from cascade.template import Template
from cascade.work import fastest

IOU = 0.5
PICTURES, FEWEST = 300, 40  # that are measured on, at most, spread over all there are
PIXELS = 200_000_000  # of all of them together, unless that would be too few pictures
OBJECTS = 400  # whose windows are followed through the trees
BACKGROUNDS = 4000  # windows without an object that are
SCENES = 40  # pictures that these are taken from
NOT_MEASURED = -1.0


@dataclass(frozen=True)
class Findings:
    samples: list[Sample]  # that were measured on
    evaluation: Evaluation
    crops: bool  # objects were only to be had as crops: each counts as found if its own window is
    paths: Paths
    speed: Statistics | None  # of a usual picture
    size: tuple[int, int]  # of that picture


def findings(
    model: Model, held: Sequence[Sample], test: Sequence[Sample], settings: TrainingSettings,
    threads: int = 1,
) -> Findings:  # fmt: skip
    """Measure a model on held-out pictures; on test pictures where only crops were held out."""
    detector = Detector(model)
    scenes = _scenes(held)
    if not _shows_objects(scenes) and _shows_objects(_scenes(test)):
        scenes = _scenes(test)
    crops = not _shows_objects(scenes)
    scenes = _spread(scenes, _most(scenes))
    showing = _spread([sample for sample in held if _shows_objects([sample])], OBJECTS)
    template = Template.of_model(model)
    bags = Bags.of(template, showing, settings, threads)
    few = _spread(scenes, SCENES)
    others = random_negatives(template.empty(), few, BACKGROUNDS, settings.seed, threads).windows
    paths = Paths.of(model, bags.windows, others)
    if crops:
        samples = [*showing, *scenes]
        result = _of_crops(detector, showing, scenes, paths.best(bags.objects, len(showing)), threads)
    else:
        samples, result = scenes, evaluate(detector, scenes, iou=IOU, threads=threads)
    if not scenes:
        return Findings(samples, result, crops, paths, None, (0, 0))
    usual = scenes[len(scenes) // 2]
    height, width = usual.read().shape[:2]
    return Findings(samples, result, crops, paths, fastest(detector, usual), (width, height))


def _of_crops(
    detector: Detector, crops: Sequence[Sample], scenes: Sequence[Sample], best: NDArray[np.float64],
    threads: int,
) -> Evaluation:  # fmt: skip
    """An evaluation where no picture shows an object in its surroundings: a crop is found if one of its own
    windows is, and what is found in other pictures is false."""
    nothing = Found(np.empty((0, 4)), np.empty(0))
    truths = [Truth.of(sample) for sample in crops]
    found = [
        nothing if math.isnan(score) else Found(truth.xyxy[:1], np.array([score]))
        for truth, score in zip(truths, best, strict=True)
    ]
    there = evaluate(detector, scenes, iou=IOU, threads=threads) if scenes else None
    if there is not None:
        truths, found = truths + there.truths, found + there.found
    curve = curve_of(truths, found, IOU)
    price = curve.false_per_image * (len(truths) / max(1, len(scenes)))
    curve = Curve(curve.score, curve.recall, curve.precision, price)
    return Evaluation(
        images=len(truths), objects=len(crops), ap=NOT_MEASURED, ap50=NOT_MEASURED,
        log_average_miss_rate=curve.log_average_miss_rate(), recall_01=curve.recall_at(0.1),
        recall_1=curve.recall_at(1.0), ms_per_frame=there.ms_per_frame if there else math.nan,
        trees_per_window=there.trees_per_window if there else math.nan, curve=curve, truths=truths,
        found=found,
    )  # fmt: skip


def _most(scenes: Sequence[Sample]) -> int:
    """How many pictures to measure on: fewer where they are large, going by one of them."""
    if not scenes:
        return 0
    pixels = math.prod(scenes[len(scenes) // 2].read().shape[:2])
    return max(FEWEST, min(PICTURES, PIXELS // max(1, pixels)))


def _scenes(samples: Sequence[Sample]) -> list[Sample]:
    return [sample for sample in samples if not sample.crop]


def _shows_objects(samples: Sequence[Sample]) -> bool:
    return any(not box.ignore for sample in samples for box in sample.boxes)


def _spread(samples: Sequence[Sample], most: int) -> list[Sample]:
    """At most so many, from everywhere among them; those with objects first."""
    showing = [sample for sample in samples if _shows_objects([sample])]
    others = [sample for sample in samples if not _shows_objects([sample])]
    few = _every(showing, most)
    return [*few, *_every(others, most - len(few))]


def _every(samples: Sequence[Sample], most: int) -> list[Sample]:
    if len(samples) <= most:
        return list(samples)
    return [samples[i * len(samples) // most] for i in range(most)]
