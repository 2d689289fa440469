"""The report of a training run: one page that says what was trained, how good it is, and why.

    page = report(trained, findings(...), Account(data="photos", seconds=40.0))
"""

from dataclasses import dataclass, fields

from cascade.dataset import Sample
from cascade.detector import Detector
from cascade.model import Model
from cascade.recipe import TrainingSettings
from cascade.reporting import attention, curves
from cascade.reporting.examples import Examples, Gallery, summary
from cascade.reporting.findings import IOU, Findings
from cascade.reporting.page import Section, headline, listed, page, paragraph, typed
from cascade.reporting.sizes import Sizes
from cascade.reporting.text import DASH, PERCENT, SPACE, amount, number, percent, sides, table
from cascade.training import Trained
from cascade.version import VERSION

NOTES = 40  # that are shown; the rest are counted
COLOURS = (
    "Dashed white: the label. Green: what was found. Dashed orange: missed. Red: nothing is labelled there; "
    "look twice, for labels are often incomplete."
)
LEAST_SCORE = float("-inf")


@dataclass(frozen=True)
class Account:
    """What a run does not know about itself."""

    data: str  # what the pictures are called
    seconds: float  # that training took
    model: str = "model.cascade"  # where the model lies
    next: tuple[str, ...] = ()  # commands to type


def report(trained: Trained, measured: Findings, account: Account) -> str:
    """The page, as HTML."""
    model = trained.model
    point = curves.balanced(measured.evaluation.curve)
    least = LEAST_SCORE if point is None else point.score
    examples = Examples.of(measured.evaluation, least, IOU)
    sections = [
        Section("How well it finds", _accuracy(model, measured, point)),
        Section("What it found, and what not", _pictures(model, measured, examples)),
        Section("Sizes", _sizes(examples, measured)),
        Section("What it looks at", _attention(trained)),
        Section("How it decides", _decisions(trained, measured)),
        Section("How it learned", _learning(trained, measured)),
        Section("Speed and bytes", _cost(model, measured)),
        Section("Settings", _settings(trained.run.settings)),
        Section("Next", _next(account, point, model)),
    ]
    return page(
        f"{model.name}: a detector of {_plural(model.classes)}",
        _lead(trained, account), headline(_headline(model, measured)) + _verdict(measured), sections,
        f"Written by cascade {VERSION}. Everything on this page is in this one file.",
    )  # fmt: skip


def _lead(trained: Trained, account: Account) -> str:
    model, run = trained.model, trained.run
    width, height = (side * model.cell for side in model.window)
    return (
        f"Trained in {_duration(account.seconds)} on {amount(_objects(run.training), 'object')} in "
        f"{amount(len(run.training), 'picture')} of {account.data}: {amount(len(model), 'tree')} of depth "
        f"{model.depth} that look at {sides(width, height)} pixels."
    )


def _headline(model: Model, measured: Findings) -> list[tuple[str, str]]:
    result = measured.evaluation
    figures = [
        ("of the objects found at 1 false positive per image", percent(result.recall_1)),
        ("at 0.1 false positives per image", percent(result.recall_01)),
    ]
    if not measured.crops:
        figures.insert(0, ("average precision at an overlap of 0.5", f"{result.ap50:.3f}"))
        figures.append(("log-average miss rate", percent(result.log_average_miss_rate)))
    if measured.speed is not None:
        spent = 1000 * sum(measured.speed.seconds.values())
        figures.append((f"a picture of {sides(*measured.size)}, one thread", f"{number(spent, 2)}{SPACE}ms"))
    return [*figures, ("model file", f"{len(model.to_bytes()) / 1000:,.1f}{SPACE}KB")]


def _verdict(measured: Findings) -> str:
    result = measured.evaluation
    seen = f"Measured on {amount(result.images, 'picture')} with {amount(result.objects, 'object')}"
    if measured.crops:
        return paragraph(
            f"{seen} that were held out: no tree has seen them, but they set the rejection trace and the "
            "probabilities. The objects were only to be had as crops: one counts as found if a window cut "
            "out around it passes. Label whole pictures to know how well it finds them there."
        )
    part = "that were held out: no tree has seen them, but they set the rejection trace and the probabilities"
    if measured.samples[0].part == "test":
        part = "of the test part: nothing was learned from them"
    few = " These are few: expect other figures on other pictures." if result.objects < 50 else ""
    return paragraph(f"{seen} {part}.{few}")


def _accuracy(model: Model, measured: Findings, point: curves.Point | None) -> str:
    curve = measured.evaluation.curve
    if not len(curve.score):
        return paragraph("It found nothing at all, right or wrong.")
    drawn = curves.precision_recall(curve, measured.evaluation.ap50, point) + curves.miss_rate(curve)
    return f'<div class="charts">{drawn}</div>{curves.prices(model, curve, point)}'


def _pictures(model: Model, measured: Findings, examples: Examples) -> str:
    gallery = Gallery(Detector(model), measured.samples, examples)
    result = measured.evaluation
    scenes = result.images - result.objects if measured.crops else result.images
    parts = [paragraph(f"At the best balance: {summary(examples, scenes)}")]
    for title, strip in (
        ("Found: the surest", gallery.found()),
        ("Found: the least sure", gallery.barely()),
        ("Missed", gallery.missed()),
        ("False alarms: the surest", gallery.false()),
    ):
        parts += [f"<h3>{title}</h3>{strip}"] if strip else []
    return "".join(parts) + f'<p class="legend">{COLOURS}</p>'


def _sizes(examples: Examples, measured: Findings) -> str:
    if measured.crops or not len(examples.pairs()):
        return ""
    return paragraph(
        "Whether large and small objects are found alike, and found as large as they are. A size is the "
        "square root of a box's area."
    ) + Sizes.of(examples.pairs()).drawn()


def _attention(trained: Trained) -> str:
    run = trained.run
    mean = attention.mean_object(trained.model, run.training, run.settings.crop_share)
    return paragraph(
        "The warmer a place, the more what is there moves the score. Each small picture is one plane of "
        "bytes that the trees may ask about, with its share of all that they ask; edges at 0° are level, at "
        "90° upright."
    ) + attention.drawn(trained.model, mean)


def _decisions(trained: Trained, measured: Findings) -> str:
    model, paths, promise = trained.model, measured.paths, trained.calibration.promise
    if not paths.objects.size or not paths.backgrounds.size:
        return ""
    kept = (
        f"The rejection trace was asked to keep {100 * trained.run.settings.recall:g}{PERCENT} of the "
        f"objects that all trees together accept. It keeps {promise.kept:,} of {promise.objects:,} that did "
        f"not set it; with 95{PERCENT} confidence at least {percent(promise.least)} of others like them."
    )
    drawn = (
        curves.scores(paths, model.score_unit) + curves.traces(paths, model.score_unit)
        + curves.survival(paths) + curves.reliability(model, measured.evaluation.curve)
    )  # fmt: skip
    return f'{paragraph(kept)}<div class="charts">{drawn}</div>'


def _learning(trained: Trained, measured: Findings) -> str:
    rows = [
        [f"{i + 1}", f"{stage.trees:,}", f"{stage.loss:.1e}", f"{stage.positives:,}", f"{stage.negatives:,}",
         f"{stage.mined:,}" if stage.images else DASH, percent(stage.accepted), f"{stage.seconds:.1f}"]
        for i, stage in enumerate(trained.stages)
    ]  # fmt: skip
    head = ["stage", "trees", "loss", "objects", "negatives", "mined", "held-out accepted", "seconds"]
    notes = trained.notes[:NOTES]
    if len(trained.notes) > NOTES:
        notes = [*notes, f"and {len(trained.notes) - NOTES:,} more"]
    drawn = curves.losses([stage.losses for stage in trained.stages])
    drawn += curves.margins(measured.paths, trained.model)
    return (
        f'<div class="charts">{drawn}</div>{table(head, rows)}'
        + (f"<h3>To know</h3>{listed(notes)}" if notes else "")
    )  # fmt: skip


def _cost(model: Model, measured: Findings) -> str:
    rows = [
        ["model file", f"{len(model.to_bytes()):,} bytes"],
        ["trees", f"{len(model):,} of depth {model.depth}, {model.kind} features"],
    ]
    if measured.speed is not None:
        speed = measured.speed
        spent = 1000 * sum(speed.seconds.values())
        rows += [
            ["picture", f"{sides(*measured.size)} pixels, {speed.windows:,} windows of all sizes"],
            ["time", f"{number(spent)} ms on one thread, {number(1000 / spent)} pictures a second"],
            ["of which", ", ".join(f"{name} {percent(1000 * part / spent, 0)}"
                                   for name, part in speed.seconds.items())],
            ["trees per window", f"{speed.trees / max(1, speed.windows):.1f} of {len(model):,}"],
        ]  # fmt: skip
    return table([], rows, plain=True)


def _settings(settings: TrainingSettings) -> str:
    values = settings.to_json()
    usual = TrainingSettings().to_json()
    rows = [
        [field.name, _written(values[field.name]), "" if values[field.name] == usual[field.name] else
         f"usually {_written(usual[field.name])}"]
        for field in fields(settings)
    ]  # fmt: skip
    changed = sum(bool(row[2]) for row in rows)
    title = f"{amount(changed, 'setting')} other than usual" if changed else "All settings as usual"
    return f"<details><summary>{title}</summary>{table([], rows, plain=True)}</details>"


def _next(account: Account, point: curves.Point | None, model: Model) -> str:
    threshold = "" if point is None else f", threshold={curves.threshold(model, point.score)}"
    program = [
        "from cascade import Detector, Model",
        f"detector = Detector(Model.load({account.model!r}))",
        f"found = detector.detect(frame{threshold})",
    ]
    asked = paragraph("To go on, type:") + typed(account.next) if account.next else ""
    return paragraph("In a program:") + typed(program) + asked


def _plural(classes: tuple[str, ...]) -> str:
    return "objects" if classes == ("object",) else ", ".join(classes)


def _written(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "by itself" if value is None else str(value)


def _objects(samples: list[Sample]) -> int:
    return sum(not box.ignore for sample in samples for box in sample.boxes)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
