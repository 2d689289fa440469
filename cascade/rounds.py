"""The rounds of boosting: draw, grow, fit, weigh, measure."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade._ext import weights as kernels
from cascade.ebboost import find_stump, fit_stump_leaves
from cascade.layout import LOSSES, UNSPLIT
from cascade.leaves import Leaves, fit_leaves
from cascade.quickboost import TreeGrower
from cascade.samples import Samples
from cascade.settings import Settings
from cascade.subsets import Classes
from cascade.trees import Trees


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
class Progress:
    """Where a run stands after a round. It is replaced as a whole, so that an interrupt at any moment leaves
    either the state before the round or the one after it."""

    rounds: int
    stopped: str  # why no more trees come, or nothing
    effort: dict[str, Any]  # of the tree grower
    heavy: NDArray[np.int32]


class BoostingRun:
    """One run of boosting, a round at a time."""

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
        self._gradient, self._hessian = np.empty(count), np.empty(count)
        self._weight, self._target = np.empty(count, np.int32), np.empty(count, np.int32)
        self._trees: list[Trees] = []
        self._history: list[Round] = []
        self._started = time.perf_counter()
        self.progress = self._progress("")
        self._loss = self._weigh()

    @property
    def trees(self) -> Trees:
        return Trees.joined(self._trees[: self.progress.rounds], self.settings.depth)

    @property
    def history(self) -> list[Round]:
        return self._history[: self.progress.rounds]

    def step(self) -> None:
        """Add a tree, or say in `progress.stopped` why there is none to add."""
        number = self.progress.rounds
        if number >= self.settings.rounds:
            return self._stop(f"all {number} rounds done")
        feature, threshold = self._grow(*self._draw(number))
        if threshold[0] == UNSPLIT and self._draws():  # the draw may have been unlucky
            feature, threshold = self._grow(*self._everything())
        # A tree that is not split evens out the weights of the classes; a second one would do nothing.
        if threshold[0] == UNSPLIT and number and self._trees[-1].threshold[0, 0] == UNSPLIT:
            return self._stop(f"no split helps any more after {number} rounds")
        tree = Trees(feature[None], threshold[None], np.zeros((1, 2**self.settings.depth)))
        leaves = self._fit(tree.apply(self.training.table, 0, self.threads))
        if not leaves.useful:
            return self._stop(f"no tree is better than guessing after {number} rounds")
        values = self.settings.shrinkage * leaves.values[None]
        self.add(Trees(tree.feature, tree.threshold, values))
        self._history.append(self._measure(leaves.error))
        self.progress = self._progress(self._reason_to_stop(leaves.error))

    def add(self, tree: Trees) -> None:
        """Take in one tree, new or from a checkpoint: to the last bit the same."""
        tree.add_to(self.decision, self.training.table, self.threads)
        if self.validation is not None:
            tree.add_to(self.held_decision, self.validation.table, self.threads)
        self._trees.append(tree)
        self._loss = self._weigh()

    def resume(self, trees: Trees, history: list[Round], progress: Progress) -> None:
        """Go to where a checkpoint was written."""
        for t in range(len(trees)):
            self.add(trees[t : t + 1])
        self._history = history
        self.grower.restore(progress.effort, progress.heavy)
        self.progress = progress

    def _progress(self, stopped: str) -> Progress:
        return Progress(
            len(self._history), stopped, self.grower.effort(), self.grower.heavy.columns
        )

    def _stop(self, reason: str) -> None:
        self.progress = self._progress(reason)

    def _weigh(self) -> float:
        """Gradients and hessians for the next round; returns the loss so far."""
        lam = self.settings.lam if self.settings.loss == "vebboost" else 0.0
        code, t = LOSSES[self.settings.loss], self.training
        return kernels.gradients(
            code, t.labels, t.base, self.decision, lam, self._gradient, self._hessian
        )

    def _grow(
        self, samples: NDArray[np.int32], features: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The features and thresholds of one tree; of one node that is not split, where none helps."""
        if self.settings.loss != "ebboost":
            return self.grower.grow(self._weight, self._target, samples, features)
        t = self.training
        stump = find_stump(
            t.table, t.labels, self._hessian, self.settings.lam, samples, features, self.threads
        )
        self.grower.updates += len(samples) * len(features)
        feature, threshold = stump or (0, UNSPLIT)
        return np.array([feature], np.int32), np.array([threshold], np.uint8)

    def _fit(self, leaf: NDArray[np.uint8]) -> Leaves:
        labels = self.training.labels
        if self.settings.loss == "ebboost":
            return fit_stump_leaves(leaf, labels, self._hessian, self.settings.lam)
        return fit_leaves(self.settings, leaf, labels, self._gradient, self._hessian)

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
        kernels.quantise(self._gradient, self._hessian, regression, self._weight, self._target)
        samples, features = self._everything()
        if not self._draws():
            return samples, features
        random = np.random.default_rng([self.settings.seed, number])
        features = _fraction(features, self.settings.feature_fraction, random)
        samples = _fraction(samples, self.settings.sample_fraction, random)
        if self.settings.trim < 1.0:
            classes = Classes.classify(samples, self._weight.astype(np.int64))
            cutoff = classes.cutoff(int(classes.marks((self.settings.trim,))[0]))
            samples = samples[classes.of[samples] >= cutoff]
        return samples, features

    # Measuring and stopping.

    def _measure(self, tree_error: float) -> Round:
        t, v, code = self.training, self.validation, LOSSES[self.settings.loss]
        held_loss = held_error = float("nan")
        if v is not None:
            held_loss = kernels.loss_of(code, v.labels, v.base, self.held_decision)
            held_error = kernels.error_of(v.labels, v.base, self.held_decision)
        return Round(
            number=len(self._trees),
            tree_error=tree_error,
            loss=self._loss,
            error=kernels.error_of(t.labels, t.base, self.decision),
            validation_loss=held_loss,
            validation_error=held_error,
            updates=self.grower.updates,
            seconds=time.perf_counter() - self._started,
        )

    def _reason_to_stop(self, tree_error: float) -> str:
        if tree_error == 0.0 and self.settings.loss in ("adaboost", "vebboost", "ebboost"):
            return f"round {len(self._trees)} made no mistake at all"
        if self._loss < self.settings.enough:
            return f"the training loss is below {self.settings.enough:g}"
        patience = self.settings.patience
        if patience is not None and len(self._history) - best_round(self._history) >= patience:
            return f"no better on validation data for {patience} rounds"
        return ""


def best_round(history: list[Round]) -> int:
    """The round of the lowest validation loss, counted from 1."""
    return 1 + int(np.argmin([r.validation_loss for r in history]))


def _fraction(
    items: NDArray[np.int32], fraction: float, random: "np.random.Generator"
) -> NDArray[np.int32]:
    """A random share of the items, at least one, in rising order.

    The type is in quotes, because NumPy loads its random numbers (6 MB) when they are first mentioned.
    """
    if fraction >= 1.0:
        return items
    count = max(1, round(fraction * len(items)))
    return np.sort(random.permutation(len(items))[:count].astype(np.int32))
