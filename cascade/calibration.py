"""From trees to a model: leaves rounded first, then a rejection trace that keeps its promise, then
probabilities. The calibrated model is the shipped model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cascade.dataset import Sample
from cascade.mining import hard_negatives
from cascade.model import NEVER_REJECT, Model
from cascade.recipe import TrainingSettings
from cascade.sampling import Windows, object_windows, objects
from cascade.sigmoid import Sigmoid
from cascade.softcascade import Promise, paths, promised, pruned, quantised, stored, survivors
from cascade.template import SCORE_UNIT, Template
from cascade.trees import Trees

GRID = 12  # windows of the scan that come close to an object
REFUSED = 0.005  # of the objects, what all trees together may refuse
MOST = 40000  # windows whose paths are held at a time
MINING_RECALL = 0.995  # of single windows: the trace of a stage loses next to nothing, and is fast
USUAL = Sigmoid(2.0)  # what AdaBoost's decisions mean if they are right: half the log odds


@dataclass(frozen=True)
class Bags:
    """Windows of held-out objects, with the jitter of training: as the scan may meet them."""

    windows: Windows
    objects: NDArray[np.intp]  # which object each window shows, from 0 on

    @classmethod
    def of(cls, template: Template, samples: Sequence[Sample], settings: TrainingSettings,
           threads: int) -> "Bags":  # fmt: skip
        count = sum(len(objects(sample, settings.crop_share)) for sample in samples)
        draws = max(1, min(GRID, MOST // max(1, count)))
        parts = object_windows(template, samples, settings, draws, part=1, threads=threads)
        windows = np.concatenate([np.empty((0, *template.shape), np.uint8), *parts])[:MOST]
        return cls(windows, np.arange(len(windows)) // draws)

    def accepted(self, template: Template, trees: Trees) -> float:
        """The share of the objects of which some window has a positive decision."""
        found = self.objects[trees.decision(template.pool.values(self.windows)) > 0]
        return len(np.unique(found)) / max(1, len(np.unique(self.objects)))


@dataclass(frozen=True)
class Calibrated:
    model: Model
    promise: Promise
    accepted: float  # the share of the held-out objects that all trees together accept


def mining_model(template: Template, trees: Trees, bags: Bags) -> Model:
    """What a stage's negatives are mined with."""
    leaf = quantised(trees, SCORE_UNIT)
    scores = paths(trees, leaf, template.pool.values(bags.windows))
    trace = pruned(scores, np.arange(scores.shape[1]), MINING_RECALL)
    reject, shift = stored(np.minimum(trace, round(-2 / SCORE_UNIT)))
    return template.model(trees, leaf, reject, shift=shift)


def calibrated(
    template: Template, trees: Trees, bags: Bags, negatives: Windows, recall: float, *,
    name: str = "untitled", classes: tuple[str, ...] = ("object",),
    metadata: Mapping[str, str] | None = None,
) -> Calibrated:  # fmt: skip
    """The model that ships. `negatives` are held-out windows that were taken for objects."""
    leaf = quantised(trees, SCORE_UNIT)
    scores = paths(trees, leaf, template.pool.values(bags.windows))
    level = acceptance(scores[-1], bags.objects)
    accepted = scores[-1] > level
    kept, numbers = scores[:, accepted], _renumbered(bags.objects[accepted])
    trace, held = promised(kept, numbers, recall)
    reject, shift = stored(np.where(trace < round(-100 / SCORE_UNIT), NEVER_REJECT, trace))
    best = _best(scores, bags.objects, trace)
    wrong = paths(trees, leaf, template.pool.values(negatives))[-1] if len(negatives) else np.empty(0)
    sigmoid = fitted(best, wrong)
    facts = {**(metadata or {}), "recall_kept": f"{held.recall:.4f}", "recall_least": f"{held.least:.4f}"}
    model = template.model(trees, leaf, reject, shift=shift, sigmoid=sigmoid, name=name, classes=classes,
                           metadata=facts)  # fmt: skip
    total = len(np.unique(bags.objects))
    return Calibrated(model, held, len(np.unique(bags.objects[accepted])) / total if total else 0.0)


def acceptance(scores: NDArray[np.int32], objects: NDArray[np.intp]) -> int:
    """The score above which all trees together accept: 0, or less where many objects do not reach that."""
    if not len(scores):
        return 0
    best = np.full(int(objects.max()) + 1, np.iinfo(np.int32).min)
    np.maximum.at(best, objects, scores)
    return min(0, int(np.sort(best)[int(REFUSED * len(best))]) - 1)


def recalibrated(
    model: Model, samples: Sequence[Sample], settings: TrainingSettings, threads: int = 1
) -> Calibrated:
    """The same trees with a trace for another recall, and probabilities, from other objects."""
    template = Template.of_model(model)
    settings = replace(settings, crop_share=_crop_share(model))
    leaf = model.leaf.astype(np.float64) * model.score_unit
    trees = Trees(model.feature.astype(np.int32), model.threshold.astype(np.uint8), leaf)
    if model.score_unit != SCORE_UNIT:
        raise ValueError(f"expected a model with scores in units of {SCORE_UNIT}, got {model.score_unit}")
    bags = Bags.of(template, [sample for sample in samples if sample.boxes], settings, threads)
    if not len(bags.windows):
        raise ValueError("expected pictures with objects to calibrate on, got none")
    found = hard_negatives(mining_model(template, trees, bags), samples, settings.negatives,
                           settings.per_image, settings.seed, threads)  # fmt: skip
    return calibrated(template, trees, bags, found.windows, settings.recall, name=model.name,
                      classes=model.classes, metadata=model.metadata)  # fmt: skip


def _crop_share(model: Model) -> float:
    """Of a crop's side, what the object takes, as the model was trained."""
    try:
        share = float(model.metadata.get("crop_share", "1"))
    except ValueError:
        return 1.0
    return share if 0.1 <= share <= 1.0 else 1.0


def fitted(objects: NDArray[np.float64], others: NDArray[np.float64]) -> Sigmoid:
    """Probabilities of scores: of objects at their best, and of what was taken for one."""
    if not len(objects) or not len(others):
        return USUAL
    decision = np.concatenate([objects, others]).astype(np.float64) * SCORE_UNIT
    labels = np.repeat(np.array([1, -1], np.int8), [len(objects), len(others)])
    return Sigmoid.fit(decision, labels, np.ones(len(labels)))


def _renumbered(objects: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.unique(objects, return_inverse=True)[1].astype(np.intp)


def _best(
    scores: NDArray[np.int32], objects: NDArray[np.intp], trace: NDArray[np.int32]
) -> NDArray[np.float64]:
    """The best score of each object that is found at all."""
    passes = survivors(scores, trace)
    if not passes.any():
        return np.empty(0)
    numbers = _renumbered(objects[passes])
    best = np.full(int(numbers.max()) + 1, -np.inf)
    np.maximum.at(best, numbers, scores[-1, passes].astype(np.float64))
    return best
