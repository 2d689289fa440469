"""`cascade demo`: learn to tell faces from everything else, quickly and then exhaustively."""

import argparse
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade.boosting import Boosted, boost
from cascade.haar import HaarPool
from cascade.margins import margins, plot_margins
from cascade.rounds import Round
from cascade.settings import Settings
from cascade.tools.faces import SIDE, face_windows, mean_face

FACES, PATCHES = 3000, 6000
HELD_OUT = 1000  # of each
FEATURES = 2500
SETTINGS = Settings(rounds=200, depth=2)
DRAWN = 8  # features in the picture
REDRAW = 0.1  # seconds between two states of the progress line


@dataclass(frozen=True)
class Samples:
    """One part of the data: what the features see in each window, and what it is."""

    table: NDArray[np.uint8]
    labels: NDArray[np.int8]

    @classmethod
    def make(cls, pool: HaarPool, faces: int, patches: int, part: str) -> "Samples":
        windows, labels = face_windows(faces, patches, seed=0, part=part)
        return cls(pool.values(windows[:, None]), labels)


class Progress:
    """One line that is rewritten on a terminal, and a few lines anywhere else."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.live = sys.stdout.isatty()
        self.shown = 0.0

    def __call__(self, now: Round) -> None:
        last = now.number == self.rounds
        if self.live:
            if last or time.perf_counter() - self.shown > REDRAW:
                self.shown = time.perf_counter()
                print(f"\r{self.line(now)}", end="\n" if last else "", flush=True)
        elif last or now.number % -(-self.rounds // 4) == 0:
            print(self.line(now), flush=True)

    def line(self, now: Round) -> str:
        left = now.seconds / now.number * (self.rounds - now.number)
        return (
            f"  round {now.number:>3} of {self.rounds}   loss {now.loss:.1e}"
            f"   error {now.error:7.2%}   {left:4.1f} s left "
        )


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(prog="cascade demo", description=__doc__.split(": ", 1)[1])
    options.add_argument("--out", type=Path, default=Path("build/demo"), metavar="DIR",
                         help="where the pictures go (default: %(default)s)")  # fmt: skip
    options.add_argument("--threads", type=_threads, default=0, metavar="N",
                         help="threads to train with; 0, the default, takes all cores")  # fmt: skip
    options.add_argument("--quick-only", action="store_true",
                         help="leave out the exhaustive search, the slow half")  # fmt: skip
    return options


def main(argv: list[str]) -> int:
    """Train, compare, draw; 0 if all went well and both searches agree."""
    options = parser().parse_args(argv)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        return run(options.out, options.threads, options.quick_only)
    except (ModuleNotFoundError, OSError) as error:
        print(f"cascade demo: {error}", file=sys.stderr)
        return 1


def run(out: Path, threads: int, quick_only: bool) -> int:
    pool = HaarPool.random(SIDE, SIDE, FEATURES, seed=0)
    training, held_out = make_data(pool)
    print("\nLoss is what boosting lowers; error is the share of training windows told wrongly.")
    quick = train("quick", training, threads)
    same = True
    if not quick_only:
        exhaustive = train("exhaustive", training, threads)
        same = quick.trees == exhaustive.trees
        compare(quick, exhaustive, same)
    report_errors(quick, training, held_out)
    draw(quick, pool, training, held_out, out)
    print("\nWhat next")
    if not quick_only:
        print("  cascade demo --quick-only     leaves out the slow half")
    print("  cascade demo --threads 1      the same trees, on one core")
    print("  cascade --help                what else there is")
    return 0 if same else 1


def make_data(pool: HaarPool) -> tuple[Samples, Samples]:
    started = time.perf_counter()
    training = Samples.make(pool, FACES, PATCHES, "train")
    held_out = Samples.make(pool, HELD_OUT, HELD_OUT, "test")
    features, samples = training.table.shape
    print("Faces against everything else")
    print(f"  training   {FACES:,} windows with a face, {PATCHES:,} without, {SIDE} x {SIDE} pixels")
    print(f"  held out   {HELD_OUT:,} and {HELD_OUT:,}, of other faces and other photos")
    print(f"  table      {features:,} Haar features x {samples:,} windows, a byte each")
    print(f"             made in {time.perf_counter() - started:.1f} s")
    return training, held_out


def train(search: str, training: Samples, threads: int) -> Boosted:
    settings = replace(SETTINGS, search=search)
    print(f"\nBoosting {settings.rounds} trees of depth {settings.depth}, {search} search")
    progress = Progress(settings.rounds)
    return boost(training.table, training.labels, settings, threads=threads, progress=progress)


def compare(quick: Boosted, exhaustive: Boosted, same: bool) -> None:
    """What quick search saves, and that it loses nothing."""
    seconds = quick.history[-1].seconds, exhaustive.history[-1].seconds
    updates = quick.updates, exhaustive.updates
    print("\nQuick against exhaustive       quick   exhaustive")
    print(f"  histogram updates, million {updates[0] / 1e6:7,.0f} {updates[1] / 1e6:12,.0f}"
          f"   {updates[1] / updates[0]:4.1f} times less work")  # fmt: skip
    print(f"  seconds                    {seconds[0]:7.2f} {seconds[1]:12.2f}"
          f"   {seconds[1] / seconds[0]:4.1f} times faster")  # fmt: skip
    verdict = "the same, to the last bit" if same else "DIFFERENT: please report this as a bug"
    print(f"  trees                      {len(quick.trees):7} {len(exhaustive.trees):12}   {verdict}")
    print("  An update counts one window for one feature: what the time of training goes into.")


def report_errors(quick: Boosted, training: Samples, held_out: Samples) -> None:
    print("\nHow often the trees are wrong")
    for name, part in (("training", training), ("held out", held_out)):
        faces = quick.trees.decision(part.table) > 0
        truth = part.labels > 0
        wrong, missed, false = faces != truth, ~faces[truth], faces[~truth]
        print(
            f"  {name}   {wrong.mean():6.2%} of all windows: {missed.mean():6.2%} of the faces"
            f" missed, {false.mean():6.2%} false alarms"
        )


def draw(quick: Boosted, pool: HaarPool, training: Samples, held_out: Samples, out: Path) -> None:
    """Two pictures; without matplotlib, a word about it."""
    print("\nPictures")
    try:
        parts = {"training": training, "held out": held_out}
        plot_margins(
            {name: margins(quick.trees, p.table, p.labels) for name, p in parts.items()},
            out / "margins.png",
        )
        draw_features(quick, pool, mean_face(), out / "features.png")
    except ImportError:
        print("  none without matplotlib; try: pip install matplotlib")
        return
    print(f"  {out / 'margins.png'}    how sure the trees are of each window: right of 0 is right")
    print(f"  {out / 'features.png'}   what the first trees look at, over the mean face")


def draw_features(quick: Boosted, pool: HaarPool, face: NDArray[np.float32], path: Path) -> None:
    """The features at the roots of the first trees: one colour counts against the other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.2), dpi=150, layout="constrained")
    panels = figure.subplots(2, DRAWN // 2).ravel()
    for number, (axes, tree) in enumerate(zip(panels, quick.trees.feature, strict=False), 1):
        axes.imshow(face, cmap="gray", extent=(0, SIDE, SIDE, 0), interpolation="bicubic")
        _draw_feature(axes, pool, int(tree[0]))
        axes.set_title(f"tree {number}", fontsize=9)
    for axes in panels:
        axes.axis("off")
    figure.suptitle("What the first trees look at: orange against blue, over the mean face")
    figure.savefig(path)


def _draw_feature(axes: Any, pool: HaarPool, feature: int) -> None:
    from matplotlib.patches import Rectangle

    for (x, y, w, h), weight in zip(pool.rectangle[feature], pool.weight[feature], strict=True):
        if weight:
            colour = "tab:orange" if weight > 0 else "tab:blue"
            axes.add_patch(Rectangle((x, y), w, h, color=colour, alpha=0.6, linewidth=0))


def _threads(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number, 0 for all cores, got {text!r}")
    return int(text)
