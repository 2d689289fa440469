"""Examples: the objects found best and barely, those missed, and what was wrongly taken for one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade.dataset import Box, ImageError, Sample
from cascade.detector import Detector
from cascade.evaluation import NOTHING, Evaluation, Found, Truth, assigned, overlaps
from cascade.jitter import Draw
from cascade.recipe import TrainingSettings
from cascade.reporting.paths import Paths
from cascade.reporting.pictures import Corners, Frame, Outline, thumbnail
from cascade.reporting.text import amount, escaped, number, sides
from cascade.sampling import PER_OCTAVE, Sampler
from cascade.template import Template

SHOWN = 8  # of a kind
NEAR = 0.1  # overlap that is worth a word


@dataclass(frozen=True)
class Example:
    picture: int
    box: Corners  # what it is about
    score: float  # of a missed one, that of the box that was left out for its score; NaN if there is none
    truth: Corners | None = None
    overlap: float = 0.0


@dataclass(frozen=True)
class Examples:
    """All objects and mistakes at one least score, best first; missed ones largest first."""

    found: list[Example]
    missed: list[Example]
    false: list[Example]
    score: float  # the least that counts

    @classmethod
    def of(cls, result: Evaluation, score: float, iou: float) -> "Examples":
        found: list[Example] = []
        missed: list[Example] = []
        false: list[Example] = []
        for picture, (truth, boxes) in enumerate(zip(result.truths, result.found, strict=True)):
            hits, wrong, left = _told_apart(picture, truth, boxes, score, iou)
            found, false, missed = found + hits, false + wrong, missed + left
        return cls(
            sorted(found, key=lambda example: -example.score),
            sorted(missed, key=lambda example: -_area(example.box)),
            sorted(false, key=lambda example: -example.score),
            score,
        )

    def pairs(self) -> NDArray[np.float64]:
        """True and found sizes, NaN for what has none."""
        rows = [(_size(one.truth or one.box), _size(one.box)) for one in self.found]
        rows += [(_size(one.box), np.nan) for one in self.missed]
        rows += [(np.nan, _size(one.box)) for one in self.false]
        return np.array(rows, np.float64).reshape(-1, 2)


def _told_apart(
    picture: int, truth: Truth, boxes: Found, least: float, iou: float
) -> tuple[list[Example], list[Example], list[Example]]:
    """Of one picture: found, false and missed."""
    taken, shared = assigned(truth, boxes.xyxy, iou), overlaps(boxes.xyxy, truth)
    hits, wrong, low = [], [], {}
    for i, (box, score, object_) in enumerate(zip(boxes.xyxy, boxes.score, taken, strict=True)):
        if score < least:
            low[int(object_)] = float(score)
        elif object_ >= 0:
            there = truth.xyxy[object_].tolist()
            hits.append(Example(picture, box.tolist(), float(score), there, float(shared[i, object_])))
        elif object_ == NOTHING:
            overlap = float(shared[i].max(initial=0))
            wrong.append(Example(picture, box.tolist(), float(score), overlap=overlap))
    found = set(taken[boxes.score >= least].tolist())
    nearest = shared.max(axis=0, initial=0)
    left = [
        Example(picture, truth.xyxy[k].tolist(), low.get(k, np.nan), overlap=float(nearest[k]))
        for k in np.flatnonzero(~truth.ignored).tolist()
        if k not in found
    ]
    return hits, wrong, left


class Gallery:
    """Shows examples with their pictures."""

    def __init__(self, detector: Detector, samples: Sequence[Sample], examples: Examples) -> None:
        self.detector, self.samples, self.examples = detector, samples, examples

    def found(self) -> str:
        best = self.examples.found[:SHOWN]
        return self._strip(best, "Found", [self._said(one) for one in best])

    def barely(self) -> str:
        """Those found with the lowest scores, unless they were shown already."""
        rest = self.examples.found[SHOWN:][-SHOWN:][::-1]
        return self._strip(rest, "Barely found", [self._said(one) for one in rest])

    def missed(self) -> str:
        missed = _spread_out(self.examples.missed)
        return self._strip(missed, "Missed", [self._why(one) for one in missed])

    def false(self) -> str:
        false = self.examples.false[:SHOWN]
        words = [
            self._said(one) + (f", overlaps an object by {_down(one.overlap)}" if one.overlap >= NEAR else "")
            for one in false
        ]
        return self._strip(false, "False", words)

    def _said(self, one: Example) -> str:
        sigmoid, unit = self.detector.model.sigmoid, self.detector.model.score_unit
        if sigmoid is None:
            return f"score {number(one.score)}"
        return f"probability {float(sigmoid(np.array(one.score * unit))):.3f}"

    def _why(self, one: Example) -> str:
        """Why an object was not found: what the model says to its very window."""
        frame = self._frame(one)
        if frame is None:
            return ""
        if np.isfinite(one.score):
            return f"{self._said(one)}, too low"
        if one.overlap >= NEAR:
            return f"a box overlaps it by {_down(one.overlap)} only"
        trees, depth = len(self.detector.model), self.reach(frame, one.box)
        if depth > trees:
            return "passed over between two steps"
        return f"rejected by tree {depth:,} of {trees:,}"

    def reach(self, frame: Frame, box: Corners) -> int:
        """Which tree rejects the window that gets furthest around a box, of sizes and places such as the scan
        has; one more than there are if none does."""
        model = self.detector.model
        sampler = Sampler(Template.of_model(model), TrainingSettings())
        image = sampler.channels.image(frame)
        whole = Box(box[0], box[1], max(1.0, box[2] - box[0]), max(1.0, box[3] - box[1]))
        step = model.cell / 2
        draws = [Draw(shift=(step * x, step * y)) for x in (0, -1, 1) for y in (0, -1, 1)]
        windows = np.stack(
            [sampler.window(image, whole, draw, rung) for draw in draws for rung in range(PER_OCTAVE)]
        )
        paths = Paths.of(model, windows, windows[:0])
        return int(paths.depths(paths.objects).max())

    def _strip(self, examples: list[Example], title: str, words: list[str]) -> str:
        figures = [self._figure(one, title, said) for one, said in zip(examples, words, strict=True)]
        return f'<div class="strip">{"".join(figures)}</div>' if figures else ""

    def _figure(self, one: Example, title: str, said: str) -> str:
        frame = self._frame(one)
        if frame is None:
            return ""
        name = self.samples[one.picture].path.name
        outlines = [Outline(one.truth, "true")] if one.truth is not None else []
        outlines.append(Outline(one.box, {"Missed": "missed", "False": "false"}.get(title, "found")))
        size = sides(one.box[2] - one.box[0], one.box[3] - one.box[1])
        picture = thumbnail(frame, one.box, outlines, f"{title} in {name}, {size} pixels; {said}")
        return (
            f'<figure>{picture}<figcaption>{escaped(said)}<br><small title="{escaped(name)}">{escaped(name)}'
            f"</small></figcaption></figure>"
        )

    def _frame(self, one: Example) -> Frame | None:
        try:
            return self.samples[one.picture].read()
        except ImageError:  # it was there a moment ago
            return None


def summary(examples: Examples, pictures: int) -> str:
    objects = len(examples.found) + len(examples.missed)
    return (
        f"{len(examples.found):,} of {amount(objects, 'object')} found, {len(examples.missed):,} missed, and "
        f"{amount(len(examples.false), 'false alarm')} in {amount(pictures, 'picture')}."
    )


def _spread_out(examples: list[Example]) -> list[Example]:
    """A few of all sizes."""
    step = max(1.0, len(examples) / SHOWN)
    return [examples[int(i * step)] for i in range(min(SHOWN, len(examples)))]


def _down(overlap: float) -> str:
    """Rounded down: 0.496 is not the 0.5 that would do."""
    return f"{np.floor(100 * overlap) / 100:.2f}"


def _area(box: Corners) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _size(box: Corners) -> float:
    return float(np.sqrt(max(_area(box), 1e-6)))
