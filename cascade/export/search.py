"""Where an exported detector looks, and what it keeps: settings of the Python detector, as whole numbers."""

from dataclasses import dataclass

import numpy as np

from cascade.detector import MOST, Detector
from cascade.export.failure import ExportError
from cascade.model import Model
from cascade.pyramid import enlargement, step_gain, step_ratio

LOWEST = -(2**31)  # a score that no window has
WIDEST = 8192  # CASCADE_WIDEST


@dataclass(frozen=True)
class Search:
    """The settings of `cascade.Detector` and `Detector.detect` that a device knows."""

    per_octave: int = 8
    stride: int = 1
    overlap: float = 0.5
    measure: str = "smaller"
    min_size: int | None = None
    max_size: int | None = None
    threshold: float = 0.0
    border: int | None = None  # in 1/256 of the frame's shorter side; what the model was trained for if None
    candidates: int = 256  # windows that there is room for before suppression

    def __post_init__(self) -> None:
        if not 1 <= self.candidates <= MOST:
            raise ExportError(f"expected room for 1 to {MOST} candidates, got {self.candidates}")
        for name, size in (("min_size", self.min_size), ("max_size", self.max_size)):
            if size is not None and not 1 <= size <= WIDEST:
                raise ExportError(f"expected a {name} of 1 to {WIDEST} pixels, got {size}")
        if not 0.0 <= self.threshold <= 1.0:
            raise ExportError(f"expected a threshold from 0 to 1, got {self.threshold}")

    def detector(self, model: Model) -> Detector:
        """The detector that finds the same."""
        return Detector(
            model, per_octave=self.per_octave, stride=self.stride, overlap=self.overlap, measure=self.measure,
            border=self.border, most=self.candidates,
        )  # fmt: skip

    def border_of(self, model: Model) -> int:
        """How far beyond the frame to look, in 1/256 of its shorter side."""
        return model.border if self.border is None else self.border

    def enlargement(self, model: Model) -> tuple[int, int]:
        """The first octave's image is the frame times this fraction."""
        return enlargement(model, self.min_size)

    def scales(self, model: Model) -> list[tuple[int, list[int]]]:
        """Of the levels of an octave: size in 1/65536, and three gains in 1/128."""
        steps = range(self.per_octave)
        return [
            (step_ratio(k, self.per_octave), [step_gain(e, k, self.per_octave) for e in model.lambdas])
            for k in steps
        ]

    def least(self, model: Model) -> int:
        """The lowest score whose probability is the threshold or more."""
        if self.threshold == 0 or model.sigmoid is None:
            return LOWEST
        if model.sigmoid.slope <= 0:
            raise ExportError(
                "expected a sigmoid that rises with the score, for a threshold must become a lowest score; "
                f"its slope is {model.sigmoid.slope}: export without a threshold, or calibrate the model anew"
            )
        detector = self.detector(model)
        high = int(np.abs(model.leaf.astype(np.int64)).max(axis=1).sum()) + 1
        low = -high
        while low < high:  # the lowest score above which all pass
            middle = (low + high) // 2
            if detector.probability(np.array([middle], np.int32))[0] >= self.threshold:
                high = middle
            else:
                low = middle + 1
        return low
