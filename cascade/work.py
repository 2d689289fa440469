"""Work: what finding objects takes, measured on pictures."""

from collections.abc import Sequence
from dataclasses import dataclass

from cascade.dataset import Sample
from cascade.detector import Detector, Statistics
from cascade.model import Model

MEASURED, RUNS = 8, 3  # pictures that are looked at, and how often: the fastest run counts


@dataclass(frozen=True)
class Work:
    """Of a model, on average over pictures."""

    trees_per_window: float
    milliseconds: float  # a picture, on one thread


def work(model: Model, samples: Sequence[Sample]) -> Work | None:
    """Measured on a few pictures from everywhere among these; None without any."""
    if not samples:
        return None
    detector = Detector(model)
    runs = [fastest(detector, sample) for sample in samples[:: -(-len(samples) // MEASURED)]]
    windows = sum(run.windows for run in runs)
    return Work(sum(run.trees for run in runs) / max(1, windows), 1000 * sum(map(seconds, runs)) / len(runs))


def fastest(detector: Detector, sample: Sample) -> Statistics:
    """The fastest of a few runs over one picture."""
    frame = sample.read()
    return min((detector.statistics(frame) for _ in range(RUNS)), key=seconds)


def seconds(run: Statistics) -> float:
    return sum(run.seconds.values())
