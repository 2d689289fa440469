"""What training costs and what it brings, for every heuristic with quick and exhaustive search.

Draws the thesis's figures 3.6 (cost against loss and test error) and 3.8 (speed-up on the way to the
lowest test error) for one data set, faces [Appel 3.5].
"""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from cascade.boosting import Boosted, boost
from cascade.haar import HaarPool
from cascade.settings import Settings
from cascade.tools.faces import SIDE, face_windows

FACES, PATCHES, HELD_OUT, FEATURES, TREES = 3000, 6000, 3000, 2500, 200
TARGETS: dict[str, tuple[float, float]] = {}
HEURISTICS = {  # as in the thesis; a name for the picture, then the settings
    "adaboost": ("AdaBoost", {}),
    "trim_99": ("Weight trimming 99 %", {"trim": 0.99}),
    "trim_90": ("Weight trimming 90 %", {"trim": 0.9}),
    "lazy_90": ("LazyBoost 90 %", {"feature_fraction": 0.9}),
    "lazy_50": ("LazyBoost 50 %", {"feature_fraction": 0.5}),
    "stochastic_50": ("StochasticBoost 50 %", {"sample_fraction": 0.5}),
}
COLOURS = ("#1b1b1b", "#d1495b", "#edae49", "#00798c", "#30bced", "#7b5ea7")


@dataclass(frozen=True)
class Curve:
    """One heuristic; both searches give the same trees, hence the same loss and test error."""

    name: str
    colour: str
    loss: NDArray[np.float64]  # after each round
    test_error: NDArray[np.float64]
    quick: NDArray[np.int64]  # histogram updates up to each round
    exhaustive: NDArray[np.int64]
    seconds: tuple[float, float]  # of the whole run, quick and exhaustive

    @property
    def best(self) -> int:
        """The first round with the lowest test error."""
        return int(np.argmin(self.test_error))

    @property
    def cost_ratio(self) -> float:
        return float(self.exhaustive[self.best] / self.quick[self.best])

    @property
    def speedup(self) -> float:
        return self.seconds[1] / self.seconds[0]


def run(pictures: Path) -> dict[str, float]:
    """Draws curves.png and speedup.png; the figures of the topic by name."""
    pool = HaarPool.random(SIDE, SIDE, FEATURES, seed=0)
    windows, labels = face_windows(FACES, PATCHES, seed=0)
    held_windows, held_labels = face_windows(HELD_OUT, HELD_OUT, seed=0, part="test")
    table, held_table = pool.values(windows[:, None]), pool.values(held_windows[:, None])
    curves = {
        key: measure(*HEURISTICS[key], colour, table, labels, held_table, held_labels)
        for key, colour in zip(HEURISTICS, COLOURS, strict=True)
    }
    draw_curves(list(curves.values()), pictures / "curves.png")
    draw_speedup(list(curves.values()), pictures / "speedup.png")
    results = {f"curves_cost_ratio_{key}": curve.cost_ratio for key, curve in curves.items()}
    errors = {f"curves_test_error_{key}": c.test_error[c.best] for key, c in curves.items()}
    return results | {name: float(error) for name, error in errors.items()}


def measure(
    name: str,
    options: dict[str, float],
    colour: str,
    table: NDArray[np.uint8],
    labels: NDArray[np.int8],
    held_table: NDArray[np.uint8],
    held_labels: NDArray[np.int8],
) -> Curve:
    print(f"bench: curves: {name}", flush=True)
    runs: list[Boosted] = []
    seconds = []
    for search in ("quick", "exhaustive"):
        settings = Settings(rounds=TREES, search=search, **options)
        started = time.perf_counter()
        runs.append(boost(table, labels, settings))
        seconds.append(time.perf_counter() - started)
    quick, exhaustive = runs
    if quick.trees != exhaustive.trees:
        raise RuntimeError(f"{name}: quick and exhaustive search gave different trees")
    decisions = quick.trees.staged(held_table)
    return Curve(
        name,
        colour,
        np.array([r.loss for r in quick.history]),
        np.array([area_over_roc(decision, held_labels) for decision in decisions]),
        np.array([r.updates for r in quick.history]),
        np.array([r.updates for r in exhaustive.history]),
        (seconds[0], seconds[1]),
    )


def area_over_roc(decision: NDArray[np.float64], labels: NDArray[np.int8]) -> float:
    """How often a negative is at least as sure as a positive, ties counting half."""
    negatives = np.sort(decision[labels < 0])
    positives = decision[labels > 0]
    below = np.searchsorted(negatives, positives, side="left")
    up_to = np.searchsorted(negatives, positives, side="right")
    return 1.0 - float((below + up_to).mean()) / (2 * len(negatives))


def draw_curves(curves: list[Curve], path: Path) -> None:
    figure = Figure(figsize=(10, 4.8), dpi=150, layout="constrained")
    left, right = figure.subplots(1, 2)
    for curve in curves:
        for axes, values in ((left, curve.loss), (right, lowest(curve.test_error))):
            axes.plot(curve.exhaustive, values, color=curve.colour, linewidth=1.4)
            axes.plot(curve.quick, values, "--", color=curve.colour, linewidth=1.4)
    left.set(title="training loss", xscale="log", yscale="log")
    right.set(title="test error so far (area over the ROC curve)", xscale="log", yscale="log")
    for axes in (left, right):
        axes.set_xlabel("histogram updates")
        plain(axes)
    right.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:g} %"))
    right.yaxis.set_minor_formatter(FuncFormatter(lambda y, _: ""))
    handles = [Line2D([], [], color=curve.colour, label=curve.name) for curve in curves]
    handles += [
        Line2D([], [], color="0.4", linestyle="-", label="exhaustive search"),
        Line2D([], [], color="0.4", linestyle="--", label="quick search, same trees"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path)


def draw_speedup(curves: list[Curve], path: Path) -> None:
    figure = Figure(figsize=(7.2, 3.6), dpi=150, layout="constrained")
    axes = figure.subplots()
    rows = np.arange(len(curves))
    kinds = {
        "histogram updates, up to the lowest test error": [curve.cost_ratio for curve in curves],
        "seconds, whole run": [curve.speedup for curve in curves],
    }
    for offset, alpha, (label, values) in zip((-0.2, 0.2), (1.0, 0.45), kinds.items(), strict=True):
        colours = [curve.colour for curve in curves]
        bars = axes.barh(rows + offset, values, 0.38, color=colours, alpha=alpha, label=label)
        axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=8)
    axes.set_yticks(rows, [curve.name for curve in curves])
    axes.invert_yaxis()
    axes.set_xlabel("times less with quick search")
    axes.axvline(1.0, color="0.6", linewidth=0.8, zorder=0.5)
    axes.margins(x=0.08)
    plain(axes)
    axes.grid(False, axis="y")
    handles = [
        Line2D([], [], color="0.2", alpha=alpha, linewidth=6, label=label)
        for alpha, label in zip((1.0, 0.45), kinds, strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    figure.savefig(path)


def lowest(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The best that was reached so far, for a curve that can be read."""
    return np.minimum.accumulate(values)


def plain(axes: Axes) -> None:
    """Few lines, so that the data stands out."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
