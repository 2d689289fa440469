"""The curves of a report, from what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade.evaluation import MISS_POINTS, Curve
from cascade.model import Model
from cascade.reporting.charts import Axis, Line, Mark, chart, cumulative, histogram
from cascade.reporting.paths import UNCHECKED, Paths
from cascade.reporting.text import number, percent, table

PRICES = (0.01, 0.1, 1.0)  # false positives per image that have a row of their own
LEAST_LOSS = 1e-9
GROUPS, LEAST_GROUP = 8, 12  # of boxes, and how many a group has at least


@dataclass(frozen=True)
class Point:
    """A place on a curve: what is found, and at what price, from one score on."""

    score: float
    recall: float
    precision: float
    false_per_image: float

    @classmethod
    def at(cls, curve: Curve, index: int) -> "Point":
        return cls(
            float(curve.score[index]), float(curve.recall[index]), float(curve.precision[index]),
            float(curve.false_per_image[index]),
        )  # fmt: skip


def balanced(curve: Curve) -> Point | None:
    """Where precision and recall are best together; None where nothing was found at all."""
    both = curve.recall + curve.precision
    harmonic = np.divide(2 * curve.recall * curve.precision, both, out=np.zeros_like(both), where=both > 0)
    return Point.at(curve, int(harmonic.argmax())) if harmonic.any() else None


def at_price(curve: Curve, price: float) -> Point | None:
    """The most that is found for so many false positives per image."""
    within = np.flatnonzero(curve.false_per_image <= price)
    return Point.at(curve, int(within[-1])) if len(within) else None


def precision_recall(curve: Curve, average: float, point: Point | None) -> str:
    marks = [] if point is None else [Mark(point.recall, point.precision, "best balance")]
    drop = np.append(curve.precision, 0.0), np.append(curve.recall, curve.recall[-1:].sum())
    remark = f"Average precision {average:.3f}: the area below." if average >= 0 else ""
    return chart(
        "Precision and recall", f"Precision against recall, average precision {number(average)}",
        Axis("recall: objects that are found", 0, 1, share=True),
        Axis("precision: boxes that are right", 0, 1, share=True),
        [Line("", drop[1], drop[0], filled=True)], marks, remark,
    )  # fmt: skip


def miss_rate(curve: Curve) -> str:
    """Misses against their price, on two logarithmic axes as pedestrian papers draw it [Dollar 2012]."""
    low, high = 1e-3, 10.0
    miss, price = 1 - curve.recall, np.maximum(curve.false_per_image, low)
    least = max(1e-3, 0.5 * float(miss.min(initial=1.0)))
    steps = np.repeat(price, 2)[1:], np.repeat(miss, 2)[:-1]
    average = curve.log_average_miss_rate()
    points = [max(least, 1 - curve.recall_at(point)) for point in MISS_POINTS]
    return chart(
        "Misses and false alarms", f"Miss rate against false positives per image, log-average {average:.3f}",
        Axis("false positives per image", low, high, log=True),
        Axis("objects that are missed", least, 1.0, log=True, share=True),
        [Line("", steps[0], steps[1]), Line("", MISS_POINTS, points, "quiet")], (),
        f"Log-average miss rate {percent(average)}: the mean of 9 prices from 0.01 to 1 (dashed).",
    )  # fmt: skip


def prices(model: Model, curve: Curve, point: Point | None) -> str:
    """What to ask for, and what one gets."""
    rows = [(f"at most {price:g} false per picture", at_price(curve, price)) for price in PRICES]
    rows.append(("the best balance", point))
    cells = [
        [name, threshold(model, p.score), percent(p.recall), percent(p.precision),
         number(p.false_per_image, 2)]
        for name, p in rows
        if p is not None
    ]  # fmt: skip
    head = ["wanted", "threshold", "recall", "precision", "false per picture"]
    return table(head, cells, "Which threshold to detect with") if cells else ""


def probability(model: Model, score: float) -> float:
    """What a score means; 1 where a model does not say."""
    if model.sigmoid is None:
        return 1.0
    return float(model.sigmoid(np.array(score * model.score_unit)))


def threshold(model: Model, score: float) -> str:
    """The probability to ask for so that boxes of this score are kept."""
    chance = probability(model, score)
    return f"{np.floor(chance * 1e4) / 1e4:.4f}"  # rounded down: the box itself is to stay


def scores(paths: Paths, unit: float) -> str:
    """What all trees together say to windows of objects and of backgrounds."""
    a, b = paths.objects[-1] * unit, paths.backgrounds[-1] * unit
    both = np.concatenate([a, b, [0.0, 1.0]])
    low, high = float(np.floor(both.min())), float(np.ceil(both.max()))
    lines = [
        Line("windows of objects", *histogram(a, low, high), "a", filled=True),
        Line("windows of anything else", *histogram(b, low, high), "b", filled=True),
    ]
    top = max(float(np.max(line.y)) for line in lines)
    return chart(
        "Scores", f"Histogram of scores: {percent(float((a > 0).mean()))} of the windows of objects and "
        f"{percent(float((b > 0).mean()))} of the others are above 0",
        Axis("score of all trees", low, high), Axis("share of windows", 0, top * 1.05, share=True), lines,
        remark="What every window would score if no tree could reject it.",
    )  # fmt: skip


def traces(paths: Paths, unit: float) -> str:
    """How scores grow, and when windows are given up."""
    trees = len(paths.trace)
    x = np.arange(1, trees + 1)
    checked = np.where(paths.trace != UNCHECKED, paths.trace.astype(np.float64) * unit, np.nan)
    quantiles = [Line("objects, middle and lowest 2 %", x, _quantile(paths.objects, 50, unit), "a"),
                 Line("", x, _quantile(paths.objects, 2, unit), "a thin"),
                 Line("anything else, middle", x, _quantile(paths.backgrounds, 50, unit), "b"),
                 Line("rejection trace", x, checked, "c")]  # fmt: skip
    drawn = np.concatenate([np.asarray(line.y, np.float64) for line in quantiles])
    drawn = drawn[np.isfinite(drawn)]
    low, high = float(drawn.min(initial=-1.0)), float(drawn.max(initial=1.0))
    return chart(
        "The rejection trace",
        "Scores after each tree: those of objects rise, others fall below the trace and are rejected",
        Axis("trees looked at", 1, max(2, trees), log=True),
        Axis("score so far", low * 1.05, high * 1.05), quantiles,
        remark="A window whose score falls to the trace is given up at once.",
    )  # fmt: skip


def survival(paths: Paths) -> str:
    """How many windows are still looked at after so many trees."""
    trees = len(paths.trace)
    x = np.arange(1, trees + 1)
    lines = [
        Line(name, x, np.maximum(_left(paths.depths(group), trees), 1e-4), look)
        for name, group, look in (("objects", paths.objects, "a"), ("anything else", paths.backgrounds, "b"))
        if group.shape[1]
    ]
    mean = float(np.minimum(paths.depths(paths.backgrounds), trees).mean()) if paths.backgrounds.size else 0.0
    return chart(
        "Windows still in question", f"Share of windows left after each tree; {mean:.1f} trees on average",
        Axis("trees looked at", 1, max(2, trees), log=True),
        Axis("windows left", 1e-4, 1.0, log=True, share=True), lines,
        remark=f"A window without an object takes {mean:.1f} of {trees:,} trees on average. Of the windows "
        "of an object one is enough.",
    )  # fmt: skip


def reliability(model: Model, curve: Curve) -> str:
    """Whether boxes of a probability are right as often as it says."""
    if model.sigmoid is None or not len(curve.score):
        return ""
    right = np.diff(curve.recall, prepend=0.0) > 0
    chance = model.sigmoid(curve.score * model.score_unit)
    groups = np.array_split(np.arange(len(right)), min(GROUPS, max(1, len(right) // LEAST_GROUP)))
    x = [float(chance[group].mean()) for group in groups]
    y = [float(right[group].mean()) for group in groups]
    return chart(
        "What a probability means", "How often boxes are right against the probability they were given: "
        + ", ".join(f"{percent(b, 0)} at {a:.2f}" for a, b in zip(x, y, strict=True)),
        Axis("probability that the model gives", 0, 1), Axis("boxes that are right", 0, 1, share=True),
        [Line("ideal", [0, 1], [0, 1], "quiet"), Line("this model", x, y, dots=True)],
        remark=f"In groups of about {len(right) // len(groups):,} boxes.",
    )  # fmt: skip


def margins(paths: Paths, model: Model) -> str:
    """By how much the trees are right: the vote, scaled to 1 if all trees agree [Meir]."""
    whole = max(1.0, float(np.abs(model.leaf.astype(np.int64)).max(axis=1).sum()))
    lines = [
        Line("windows of objects", *cumulative(paths.objects[-1] / whole), "a"),
        Line("windows of anything else", *cumulative(-paths.backgrounds[-1] / whole), "b"),
    ]
    return chart(
        "Margins", "Cumulative distribution of margins; what lies left of 0 is wrong",
        Axis("margin: left of 0 is wrong, 1 is unanimous", -1, 1),
        Axis("share with at most this margin", 0, 1, share=True), lines,
        remark="The further right a curve rises, the surer the trees are.",
    )  # fmt: skip


def losses(stages: Sequence[Sequence[float]]) -> str:
    """The loss after each tree, a line a stage."""
    known = [max(LEAST_LOSS, value) for stage in stages for value in stage if np.isfinite(value)]
    if not known:
        return ""
    looks = ["quiet"] * (len(stages) - 1) + ["a"]
    names = [f"stage {i + 1}" for i in range(len(stages))]
    shown = [name if look == "a" else "" for name, look in zip(names, looks, strict=True)]
    if len(stages) > 1:
        shown[0] = "stages before"
    lines = [
        Line(name, np.arange(1, len(stage) + 1), np.maximum(stage, LEAST_LOSS), look)
        for name, stage, look in zip(shown, stages, looks, strict=True)
    ]
    most = max(len(stage) for stage in stages)
    return chart(
        "Loss", f"Training loss after each tree, {number(known[-1])} at the end",
        Axis("trees", 1, max(2, most), log=True),
        Axis("loss", min(known) * 0.8, max(1.0, *known), log=True), lines,
        remark="Each stage begins anew, on harder negatives: those that the one before took for objects.",
    )  # fmt: skip


def _quantile(scores: NDArray[np.int32], share: float, unit: float) -> NDArray[np.float64]:
    if not scores.shape[1]:
        return np.full(len(scores), np.nan)
    return np.asarray(np.percentile(scores, share, axis=1) * unit)


def _left(depths: NDArray[np.intp], trees: int) -> NDArray[np.float64]:
    """The share of windows that pass each tree."""
    gone = np.bincount(np.minimum(depths, trees + 1), minlength=trees + 2)[1:-1]
    return np.asarray(1 - np.cumsum(gone) / max(1, len(depths)))
