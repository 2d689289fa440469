"""Boosting: fit a tree to what the trees before it got wrong, weigh it, and go on.

    result = boost(table, labels, Settings(rounds=300, depth=2))
    result.trees.decision(table)

The table is uint8 (features, samples), labels are -1 and +1. The same data and settings give the same trees,
to the last bit, whatever the number of threads, the search, or how often the run was killed and resumed.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cascade import checkpoint as checkpoints
from cascade._ext import weights as kernels
from cascade.checkpoint import CheckpointError
from cascade.ebboost import find_stump, fit_stump_leaves
from cascade.layout import LOSSES, MAX_SAMPLES
from cascade.leaves import Leaves, fit_leaves
from cascade.quickboost import TreeGrower
from cascade.settings import Settings
from cascade.subsets import Classes
from cascade.trees import Trees
from cascade.version import VERSION

CHECKPOINT_SECONDS = 10.0


@dataclass(frozen=True)
class Round:
    """What is known after a round; losses and errors are weighted means."""

    number: int  # counted from 1
    tree_error: float  # eps of the round's tree [Appel 2.11]
    loss: float
    error: float
    validation_loss: float  # NaN without validation data
    validation_error: float
    updates: int  # histogram updates since the start
    seconds: float  # since the start, or since the run was resumed


@dataclass(frozen=True)
class Boosted:
    trees: Trees  # up to the round with the lowest validation loss, if `patience` was set
    history: list[Round]
    stopped: str  # why no more trees came

    @property
    def updates(self) -> int:
        """The cost of training in histogram updates [Appel 3.5]."""
        return self.history[-1].updates if self.history else 0

    @property
    def best_round(self) -> int:
        return len(self.trees)


@dataclass(frozen=True)
class Samples:
    """Checked training or validation data."""

    table: NDArray[np.uint8]
    labels: NDArray[np.int8]
    base: NDArray[np.float64]  # weights, scaled to a sum of 1


def boost(
    table: NDArray[np.uint8],
    labels: ArrayLike,
    settings: Settings | None = None,
    *,
    weights: ArrayLike | None = None,
    validation: tuple[Any, ...] | None = None,
    threads: int | None = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[Round], None] | None = None,
) -> Boosted:
    """Train trees on a table of bytes.

    `validation` is (table, labels) or (table, labels, weights); `threads` None or 0 takes all cores.
    `checkpoint` names a file: the run writes it as it goes and, if it is there, goes on from it. A checkpoint
    of other data or settings is refused. `progress` is called after each round.
    """
    settings = settings or Settings()
    training = check_samples(table, labels, weights)
    held_out = None if validation is None else check_samples(*validation, name="validation ")
    if held_out is not None and len(held_out.table) != len(training.table):
        raise ValueError(
            f"expected validation data with {len(training.table)} features, "
            f"got {len(held_out.table)}"
        )
    if settings.patience is not None and held_out is None:
        raise ValueError("patience needs validation data to watch; give validation=(table, labels)")
    run = BoostingRun(training, held_out, settings, thread_count(threads))
    file = None if checkpoint is None else Path(checkpoint)
    if file is not None and file.exists():
        run.restore(file)
    run.run(file, progress)
    return run.result()


class BoostingRun:
    """The state of one run between rounds."""

    def __init__(
        self, training: Samples, validation: Samples | None, settings: Settings, threads: int
    ) -> None:
        self.training, self.validation = training, validation
        self.settings, self.threads = settings, threads
        self.grower = TreeGrower(
            training.table,
            depth=settings.depth,
            criterion=settings.criterion or "error",
            quick=settings.search == "quick",
            schedule=settings.schedule,
            threads=threads,
        )
        count = len(training.labels)
        self.decision = np.zeros(count)
        self.held_decision = np.zeros(0 if validation is None else len(validation.labels))
        self.gradient, self.hessian = np.empty(count), np.empty(count)
        self.weight, self.target = np.empty(count, np.int32), np.empty(count, np.int32)
        self.trees: list[Trees] = []
        self.history: list[Round] = []
        self.stopped = ""
        self.started = time.perf_counter()
        self.loss = self._weigh()

    def run(self, file: Path | None, progress: Callable[[Round], None] | None) -> None:
        written = time.perf_counter()
        try:
            while not self.stopped:
                if len(self.trees) >= self.settings.rounds:
                    self.stopped = f"all {self.settings.rounds} rounds done"
                elif self._round() and progress is not None:
                    progress(self.history[-1])
                if file is not None and time.perf_counter() - written > CHECKPOINT_SECONDS:
                    self.save(file)
                    written = time.perf_counter()
        finally:  # also on Ctrl-C: what is done is kept
            if file is not None:
                self.save(file)

    def result(self) -> Boosted:
        trees = _joined(self.trees, self.settings.depth)
        if self.settings.patience is not None and self.history:
            trees = trees[: 1 + int(np.argmin([r.validation_loss for r in self.history]))]
        return Boosted(trees, list(self.history), self.stopped)

    def _round(self) -> bool:
        """Add a tree; False if there is none to add."""
        number = len(self.trees)
        split = self._grow(*self._draw(number))
        if split is None and self._draws():  # an unlucky draw is no reason to stop
            split = self._grow(*self._everything())
        if split is None:
            self.stopped = f"no split helps any more after {number} rounds"
            return False
        tree = Trees(split[0][None], split[1][None], np.zeros((1, 2**self.settings.depth)))
        leaf = tree.apply(self.training.table, 0, self.threads)
        leaves = self._fit(leaf)
        if not leaves.useful:
            self.stopped = f"no tree is better than guessing after {number} rounds"
            return False
        values = self.settings.shrinkage * leaves.values
        # One round at a time: nothing below may be half done when Ctrl-C comes.
        decision = self.decision + values[leaf]
        tree = Trees(tree.feature, tree.threshold, values[None])
        held = self.held_decision.copy()
        if self.validation is not None:
            tree.add_to(held, self.validation.table, self.threads)
        self._commit(tree, leaves, decision, held)
        return True

    def _commit(
        self,
        tree: Trees,
        leaves: Leaves,
        decision: NDArray[np.float64],
        held: NDArray[np.float64],
    ) -> None:
        self.decision, self.held_decision = decision, held
        self.trees.append(tree)
        self.loss = self._weigh()
        self.history.append(self._measure(leaves))
        if leaves.error == 0.0 and self.settings.loss in ("adaboost", "vebboost", "ebboost"):
            self.stopped = f"round {len(self.trees)} made no mistake at all"
        elif self._out_of_patience():
            self.stopped = f"no better on validation data for {self.settings.patience} rounds"

    def _weigh(self) -> float:
        """Gradients and hessians for the next round; returns the loss so far."""
        lam = self.settings.lam if self.settings.loss == "vebboost" else 0.0
        code, t = LOSSES[self.settings.loss], self.training
        loss = kernels.gradients(
            code, t.labels, t.base, self.decision, lam, self.gradient, self.hessian
        )
        return float(loss)

    def _grow(
        self, samples: NDArray[np.int32], features: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]] | None:
        """The splits of one tree, or None where not even the root can be split."""
        if self.settings.loss == "ebboost":
            stump = find_stump(
                self.training.table, self.training.labels, self.hessian, self.settings.lam,
                samples, features, self.threads,
            )  # fmt: skip
            self.grower.updates += len(samples) * len(features)
            if stump is None:
                return None
            return np.array(stump[:1], np.int32), np.array(stump[1:], np.uint8)
        feature, threshold = self.grower.grow(self.weight, self.target, samples, features)
        return (feature, threshold) if threshold[0] < 255 else None

    def _fit(self, leaf: NDArray[np.uint8]) -> Leaves:
        labels = self.training.labels
        if self.settings.loss == "ebboost":
            return fit_stump_leaves(leaf, labels, self.hessian, self.settings.lam)
        return fit_leaves(self.settings, leaf, labels, self.gradient, self.hessian)

    # Heuristics: which samples and features a round looks at. Each draw depends on the seed and the round
    # alone, so that a resumed run draws the same.

    def _draws(self) -> bool:
        s = self.settings
        return min(s.trim, s.feature_fraction, s.sample_fraction) < 1.0

    def _everything(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        features, samples = self.training.table.shape
        return np.arange(samples, dtype=np.int32), np.arange(features, dtype=np.int32)

    def _draw(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        regression = self.settings.criterion == "variance"
        kernels.quantise(self.gradient, self.hessian, regression, self.weight, self.target)
        samples, features = self._everything()
        if not self._draws():
            return samples, features
        random = np.random.default_rng([self.settings.seed, number])
        features = _fraction(features, self.settings.feature_fraction, random)
        samples = _fraction(samples, self.settings.sample_fraction, random)
        if self.settings.trim < 1.0:
            weight = self.weight.astype(np.int64)
            classes = Classes.classify(samples, weight)
            samples = samples[classes.of[samples] >= classes.cutoffs((self.settings.trim,))[0]]
        return samples, features

    # Measuring and stopping.

    def _measure(self, leaves: Leaves) -> Round:
        t, v, code = self.training, self.validation, LOSSES[self.settings.loss]
        nan = float("nan")
        return Round(
            number=len(self.trees),
            tree_error=leaves.error,
            loss=self.loss,
            error=kernels.error_of(t.labels, t.base, self.decision),
            validation_loss=nan
            if v is None
            else kernels.loss_of(code, v.labels, v.base, self.held_decision),
            validation_error=nan
            if v is None
            else kernels.error_of(v.labels, v.base, self.held_decision),
            updates=self.grower.updates,
            seconds=time.perf_counter() - self.started,
        )

    def _out_of_patience(self) -> bool:
        if self.settings.patience is None:
            return False
        best = int(np.argmin([r.validation_loss for r in self.history]))
        return len(self.history) - 1 - best >= self.settings.patience

    # Checkpoints.

    def _identity(self) -> dict[str, Any]:
        """What must be the same for a run to be resumed."""
        if not hasattr(self, "_digest"):
            t, v = self.training, self.validation
            held = () if v is None else (v.table, v.labels, v.base)
            self._digest = checkpoints.digest(t.table, t.labels, t.base, *held)
        return {"version": VERSION, "settings": self.settings.to_json(), "data": self._digest}

    def save(self, file: Path) -> None:
        trees = _joined(self.trees, self.settings.depth)
        rows = [[getattr(r, f.name) for f in fields(Round)] for r in self.history]
        checkpoints.save(
            file,
            {**self._identity(), "stopped": self.stopped, "grower": self.grower.state()},
            {
                "feature": trees.feature,
                "threshold": trees.threshold,
                "leaf": trees.leaf,
                "history": np.array(rows, np.float64).reshape(len(rows), len(fields(Round))),
                "heavy": self.grower.heavy.columns,
            },
        )

    def restore(self, file: Path) -> None:
        """Go back to where a checkpoint was written; trees are added one by one, as then."""
        facts, arrays = checkpoints.load(file)
        for name, mine in self._identity().items():
            theirs = facts.get(name)
            if theirs != _as_json(mine):
                raise CheckpointError(
                    f"{file} is of another run: its {name} differ{_difference(theirs, mine)}; "
                    "delete it or name another file"
                )
        trees = Trees(arrays["feature"], arrays["threshold"], arrays["leaf"])
        for t in range(len(trees)):
            tree = trees[t : t + 1]
            self.decision += tree.leaf[0][tree.apply(self.training.table, 0, self.threads)]
            if self.validation is not None:
                tree.add_to(self.held_decision, self.validation.table, self.threads)
            self.trees.append(tree)
        names = [f.name for f in fields(Round)]
        self.history = [_round_of(dict(zip(names, row, strict=True))) for row in arrays["history"]]
        self.stopped = facts["stopped"]
        self.grower.restore(facts["grower"], arrays["heavy"])
        self.loss = self._weigh()


def _round_of(row: dict[str, Any]) -> Round:
    whole = {"number", "updates"}
    return Round(**{name: int(x) if name in whole else float(x) for name, x in row.items()})


def _as_json(value: Any) -> Any:
    """As it comes back from a JSON file: tuples are lists there."""
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _difference(theirs: Any, mine: Any) -> str:
    if not isinstance(theirs, dict) or not isinstance(mine, dict):
        return ""
    names = [key for key in mine if theirs.get(key) != _as_json(mine[key])]
    return " in " + ", ".join(f"{key} ({theirs.get(key)!r}, now {mine[key]!r})" for key in names)


def _joined(trees: list[Trees], depth: int) -> Trees:
    if not trees:
        return Trees.empty(depth)
    return Trees(
        np.concatenate([tree.feature for tree in trees]),
        np.concatenate([tree.threshold for tree in trees]),
        np.concatenate([tree.leaf for tree in trees]),
    )


def _fraction(
    items: NDArray[np.int32], fraction: float, random: np.random.Generator
) -> NDArray[np.int32]:
    """A random share of the items, at least one, in rising order."""
    if fraction >= 1.0:
        return items
    count = max(1, round(fraction * len(items)))
    return np.sort(random.permutation(len(items))[:count].astype(np.int32))


def thread_count(threads: int | None) -> int:
    """How many threads to use: None or 0 means all cores this process may run on."""
    if threads is None or threads == 0:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 0:
        raise ValueError(f"threads must be a whole number, 0 for all cores, got {threads!r}")
    return threads


def check_samples(
    table: Any, labels: Any, weights: Any = None, *, name: str = ""
) -> Samples:
    """Refuse, in words, anything that cannot be trained on."""
    if not isinstance(table, np.ndarray) or table.dtype != np.uint8 or table.ndim != 2:
        came = (
            f"{table.dtype} of shape {table.shape}"
            if isinstance(table, np.ndarray)
            else type(table).__name__
        )
        raise ValueError(f"expected a {name}table of uint8 (features, samples), got {came}")
    if 0 in table.shape:
        raise ValueError(f"expected a {name}table with features and samples, got {table.shape}")
    samples = table.shape[1]
    if samples > MAX_SAMPLES or len(table) > MAX_SAMPLES:
        raise ValueError(f"expected a {name}table of at most {MAX_SAMPLES} a side, got {table.shape}")
    given = np.asarray(labels)
    if given.shape != (samples,):
        raise ValueError(f"expected {samples} {name}labels, one a sample, got shape {given.shape}")
    if given.dtype.kind not in "iuf" or not np.isin(given, (-1, 1)).all():
        others = [v for v in np.unique(given.astype(str)) if v not in ("-1", "1", "-1.0", "1.0")]
        raise ValueError(f"expected {name}labels of -1 and +1, got {', '.join(others[:3])}")
    if len(np.unique(given)) < 2:
        raise ValueError(f"expected {name}samples of both classes, got only label {given[0]:+.0f}")
    return Samples(
        np.ascontiguousarray(table),
        np.ascontiguousarray(given, np.int8),
        _check_weights(weights, samples, name),
    )


def _check_weights(weights: Any, samples: int, name: str) -> NDArray[np.float64]:
    if weights is None:
        return np.full(samples, 1.0 / samples)
    given = np.asarray(weights)
    if given.shape != (samples,) or given.dtype.kind not in "iuf":
        raise ValueError(
            f"expected {samples} {name}weights, got {given.dtype} of shape {given.shape}"
        )
    base: NDArray[np.float64] = np.array(given, np.float64)
    if not np.isfinite(base).all():
        raise ValueError(f"expected finite {name}weights, got {base[~np.isfinite(base)][0]}")
    if base.min() < 0:
        raise ValueError(f"expected {name}weights of at least 0, got {base.min()}")
    if not base.any():
        raise ValueError(f"expected some {name}weight above 0, got only zeros")
    base /= base.max()  # so that no sum overflows
    base /= kernels.total(base)
    return base
