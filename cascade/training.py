"""Train a detector: boost trees on objects and backgrounds, mine what they get wrong, and boost again.

    model = train("photos", recall=0.95)

The same data, settings and seed give the same bytes, whatever the threads and however often the run was
killed and resumed.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cascade.boosting import Boosted, boost
from cascade.calibration import Bags, Calibrated, calibrated, mining_model
from cascade.dataset import Dataset, Sample, load
from cascade.dataset.preflight import check
from cascade.dataset.split import split
from cascade.mining import hard_negatives, random_negatives
from cascade.model import Model
from cascade.recipe import TrainingSettings
from cascade.rounds import Round
from cascade.sampling import Windows, object_windows, objects
from cascade.template import Template
from cascade.threads import thread_count
from cascade.trainingfile import TrainingFile

WARM = 8  # trees after which their time can be told; the first take longer
ENOUGH = 0.005  # of the negatives wanted: a stage that finds fewer new ones is the last but one


@dataclass(frozen=True)
class Progress:
    """Where a run is."""

    step: str  # sampling, boosting, mining, calibrating
    stage: int  # from 1 on
    stages: int
    trees: int = 0
    loss: float = float("nan")
    negatives: int = 0
    seconds_left: float = float("nan")


@dataclass(frozen=True)
class Stage:
    """What one stage did."""

    trees: int
    loss: float
    positives: int
    negatives: int
    mined: int  # for the next stage
    images: int  # that were looked at for them
    accepted: float  # of the held-out objects, the share that its trees accept
    seconds: float
    losses: list[float] = field(repr=False)  # after each tree


@dataclass(frozen=True)
class Trained:
    model: Model
    calibration: Calibrated
    stages: list[Stage]
    notes: list[str]  # what a person should know: files left out, negatives that ran out
    run: "Run" = field(repr=False)  # the pictures and settings it came from


@dataclass
class Run:
    """A training run."""

    template: Template
    training: list[Sample]
    held: list[Sample]
    settings: TrainingSettings
    threads: int = 1
    file: TrainingFile | None = None
    tell: Callable[[Progress], None] = lambda progress: None
    name: str = "untitled"
    classes: tuple[str, ...] = ("object",)
    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    mining_seconds: float = 0.0
    test: list[Sample] = field(default_factory=list)  # pictures that nothing was learned from
    digests: list[bytes] = field(default_factory=list)  # of the pixels of the training pictures
    clock: float = field(default_factory=time.perf_counter)  # when the stage began

    def finish(self) -> Trained:
        """Go through all stages, from the last one begun."""
        s = self.settings
        self.tell(Progress("sampling", 1, len(s.stages)))
        positives = self._positives()
        bags = Bags.of(self.template, [x for x in self.held if x.boxes], s, self.threads)
        first, negatives = self._begin()
        for stage in range(first, len(s.stages)):
            grown = self._boost(stage, positives, negatives)
            if stage + 1 == len(s.stages):
                self._note_stage(grown, bags, positives, negatives, 0, 0)
                break
            found, images = self._mine(stage, grown, bags)
            self._note_stage(grown, bags, positives, negatives, len(found), images)
            if len(found) < ENOUGH * s.negatives:
                self.notes.append(
                    f"stage {stage + 1} of {len(s.stages)} found only {len(found)} new negatives in {images} "
                    "pictures: stopped early; more pictures without objects would help"
                )
                break
            negatives = np.concatenate([negatives, found])[-s.kept :]
            self._save(stage + 1, negatives)
        self.tell(Progress("calibrating", len(self.stages), len(s.stages), len(grown.trees)))
        result = self._calibrate(grown, bags)
        return Trained(result.model, result, self.stages, self.notes, self)

    def _begin(self) -> tuple[int, Windows]:
        """The first stage to do, and its negatives."""
        restored = None if self.file is None else self.file.restore(len(self.settings.stages))
        if restored is not None:
            stage, negatives, facts = restored
            self.stages = [Stage(**row) for row in facts["stages"]]
            return stage, negatives
        mined = random_negatives(
            self.template.empty(), self.training, self.settings.negatives, self.settings.seed, self.threads
        )
        if not len(mined.windows):
            raise ValueError(
                "expected pictures that show more than the objects, got none larger than a window of "
                f"{' x '.join(str(side * self.template.cell) for side in self.template.window)} pixels; "
                "add some without objects"
            )
        self._save(0, mined.windows)
        return 0, mined.windows

    def _positives(self) -> Windows:
        count = sum(len(objects(sample, self.settings.crop_share)) for sample in self.training)
        draws = max(1, min(self.settings.draws, round(self.settings.positives / count)))
        parts = object_windows(self.template, self.training, self.settings, draws, threads=self.threads)
        return np.concatenate(list(parts))

    def _boost(self, stage: int, positives: Windows, negatives: Windows) -> Boosted:
        """Trees from nothing, on all there is so far; objects and others weigh the same."""
        counts = [len(positives), len(negatives)]
        start = time.perf_counter()

        def report(now: Round) -> None:
            each = (time.perf_counter() - start) / now.number if now.number >= WARM else float("nan")
            left = each * (sum(self.settings.stages[stage:]) - now.number)
            left += self.mining_seconds * (len(self.settings.stages) - 1 - stage)
            self.tell(Progress("boosting", stage + 1, len(self.settings.stages), now.number, now.loss,
                               counts[1], left))  # fmt: skip

        return boost(
            self.template.pool.values(np.concatenate([positives, negatives])),
            np.repeat([1, -1], counts),
            self.settings.boosting(self.settings.stages[stage]),
            weights=np.repeat([0.5 / count for count in counts], counts),
            threads=self.threads,
            checkpoint=None if self.file is None else self.file.boosting(stage),
            progress=report,
        )

    def _mine(self, stage: int, grown: Boosted, bags: Bags) -> tuple[Windows, int]:
        model = mining_model(self.template, grown.trees, bags)
        start, s = time.perf_counter(), self.settings

        def report(images: int, found: int) -> None:
            self.tell(Progress("mining", stage + 1, len(s.stages), len(grown.trees), negatives=found))

        mined = hard_negatives(
            model, self.training, s.negatives, s.per_image, s.seed + stage + 1, self.threads, report
        )
        self.mining_seconds = time.perf_counter() - start
        return mined.windows, mined.images

    def _calibrate(self, grown: Boosted, bags: Bags) -> Calibrated:
        """What the final trees wrongly find in held-out pictures tells what their scores mean."""
        model = mining_model(self.template, grown.trees, bags)
        s = self.settings
        held = hard_negatives(model, self.held, s.negatives, s.per_image, s.seed, self.threads)
        return calibrated(
            self.template, grown.trees, bags, held.windows, s.recall, name=self.name, classes=self.classes,
            metadata={"crop_share": f"{s.crop_share:g}"} if s.crop_share != 1.0 else {},
        )  # fmt: skip

    def _note_stage(
        self, grown: Boosted, bags: Bags, positives: Windows, negatives: Windows, mined: int, images: int
    ) -> None:
        losses = [row.loss for row in grown.history]
        self.stages.append(Stage(
            len(grown.trees), losses[-1] if losses else float("nan"), len(positives), len(negatives), mined,
            images, bags.accepted(self.template, grown.trees), time.perf_counter() - self.clock, losses,
        ))  # fmt: skip
        self.clock = time.perf_counter()

    def _save(self, stage: int, negatives: Windows) -> None:
        if self.file is not None:
            self.file.save(stage, negatives, {"stages": [vars(row) for row in self.stages]})


def train(
    data: Dataset | Path | str, *, name: str = "untitled", threads: int | None = 0,
    progress: Callable[[Progress], None] | None = None, folder: Path | str | None = None, **settings: Any,
) -> Model:  # fmt: skip
    """A detector for the objects of a dataset. `folder` is where an interrupted run is taken up from."""
    return training_run(
        data, TrainingSettings(**settings), name=name, threads=threads, progress=progress, folder=folder
    ).model


def training_run(
    data: Dataset | Path | str, settings: TrainingSettings, *, name: str = "untitled",
    threads: int | None = 0, progress: Callable[[Progress], None] | None = None,
    folder: Path | str | None = None,
) -> Trained:  # fmt: skip
    """`train`, with all that there is to tell about it."""
    dataset = data if isinstance(data, Dataset) else load(data)
    workers = thread_count(threads)
    report = check(dataset, workers)
    notes = [f"{path}: {sentence}" for path, sentence in report.unreadable]
    samples = split(report.usable.samples, settings.validation, settings.seed, report.digests)
    training, held = divided(samples, settings.validation, settings.seed)
    seen = set(map(id, training))
    template = Template.of(training, settings)
    file = None
    if folder is not None:
        file = TrainingFile(Path(folder), report.usable.digest(), settings)
    run = Run(
        template, training, held, settings, workers, file, progress or (lambda now: None), name,
        (_class_name(dataset.classes),), notes=notes,
        test=[sample for sample in samples if sample.part == "test"],
        digests=[digest for sample, digest in zip(samples, report.digests, strict=True)
                 if id(sample) in seen],
    )  # fmt: skip
    return run.finish()


def divided(samples: Sequence[Sample], share: float, seed: int) -> tuple[list[Sample], list[Sample]]:
    """Training and held-out pictures. Where only crops are held out, some pictures with backgrounds are too:
    what is found in them tells what a score means."""
    training = [sample for sample in samples if sample.part == "train"]
    held = [sample for sample in samples if sample.part == "valid"]
    if any(map(_shows_background, held)):
        return training, held
    scenes = [i for i, sample in enumerate(training) if _shows_background(sample)]
    random = np.random.default_rng([seed, len(scenes)])
    drawn = set(random.permutation(scenes)[: round(share * len(scenes))].tolist())
    held += [sample for i, sample in enumerate(training) if i in drawn]
    return [sample for i, sample in enumerate(training) if i not in drawn], held


def _class_name(classes: Sequence[str]) -> str:
    """What to call what is found; objects of several classes are found alike, and told apart later."""
    return classes[0] if len(classes) == 1 and classes[0] else "object"


def _shows_background(sample: Sample) -> bool:
    return not sample.crop
