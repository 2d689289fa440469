"""Margins: by how much, and not only whether, an ensemble is right about each sample [Meir]."""

import os
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cascade.trees import Trees

STYLES = ("-", "--", "-.", ":")  # told apart in print and by the colour-blind


def margins(trees: Trees, table: NDArray[np.uint8], labels: ArrayLike) -> NDArray[np.float64]:
    """y f(x), f being the vote of the trees scaled to [-1, 1]: 1 is right with every tree behind it.

    The scale is the sum of |alpha|, or of each tree's largest |leaf| where leaves are real, so that
    ensembles of any length and shrinkage compare. Trees that say nothing have margins of 0.
    """
    decision = trees.decision(table)
    signs = np.asarray(labels)
    if signs.shape != decision.shape or not np.isin(signs, (-1, 1)).all():
        raise ValueError(
            f"expected {len(decision)} labels of -1 and +1, "
            f"got shape {signs.shape} with values {np.unique(signs)[:4]}"
        )
    scale = float(np.abs(trees.leaf).max(axis=1).sum())
    if scale == 0.0:
        return np.zeros_like(decision)
    return np.clip(signs * decision / scale, -1.0, 1.0)  # rounding may step over by a hair


def plot_margins(margins_by_name: Mapping[str, ArrayLike], path: str | os.PathLike[str]) -> None:
    """Draw which share of the samples has at most each margin, a curve a name, into an image file.

    What lies left of 0 is wrong; the further right a curve rises, the surer the ensemble is.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plot_margins needs matplotlib: pip install matplotlib") from error
    if not margins_by_name:
        raise ValueError("expected margins of at least one ensemble to draw, got none")
    figure = Figure(figsize=(6.4, 4.2), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    axes.axvspan(-1, 0, color="0.95", zorder=0)
    for middle, side in ((-0.5, "wrong"), (0.5, "right")):
        axes.text(middle, 1.02, side, color="0.4", ha="center")
    for i, (name, values) in enumerate(margins_by_name.items()):
        style = STYLES[i % len(STYLES)]
        axes.step(*_cumulative(name, values), style, where="post", linewidth=1.6, label=name)
    axes.set(xlim=(-1, 1), ylim=(0, 1), xlabel="margin", ylabel="cumulative share of samples")
    axes.set_xticks([-1, -0.5, 0, 0.5, 1])
    axes.grid(color="0.88", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(0.0, 0.6))
    figure.savefig(path)


def _cumulative(name: str, values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The steps of the empirical distribution, from margin -1 to margin 1."""
    rising = np.sort(np.asarray(values, np.float64), axis=None)
    if not rising.size or not (np.abs(rising) <= 1).all():
        raise ValueError(f"expected margins of {name!r} between -1 and 1, got {rising}")
    shares = np.arange(1, rising.size + 1) / rising.size
    return np.concatenate([[-1.0], rising, [1.0]]), np.concatenate([[0.0], shares, [1.0]])
