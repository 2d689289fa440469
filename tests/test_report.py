"""The report and the run folder: whole, self-contained, readable by all, safe from what data are called."""

import csv
import io
import json
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path

import cv2
import numpy as np
import pytest

from cascade.dataset import Dataset
from cascade.evaluation import evaluate
from cascade.model import Model
from cascade.recipe import TrainingSettings
from cascade.report import Account, report
from cascade.reporting.findings import findings
from cascade.runfolder import read_arguments, results, write_run
from cascade.training import training_run
from tests.rings import QUICK, Shown, rings

SETTINGS = TrainingSettings(**QUICK)
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&\u202e"
VOID = {"meta", "br"}
DRAWN = {"path", "circle", "rect", "image"}  # of SVG, which close themselves


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in DRAWN
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return training_run(rings(tmp_path_factory.mktemp("rings"), 36), SETTINGS, name="rings", threads=1)


@pytest.fixture(scope="module")
def measured(trained):
    return findings(trained.model, trained.run.held, [], SETTINGS)


@pytest.fixture(scope="module")
def text(trained, measured):
    return report(trained, measured, Account("photos", 12.3, "run/model.cascade", ("cascade evaluate a b",)))


def test_one_page_holds_everything(text):
    """Nothing is fetched, nothing runs."""
    page = Page(text)
    assert not page.open
    assert not {"script", "link", "iframe", "object", "form", "a"} & set(page.tags)
    for tag, name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("src", "href"):
            assert value.startswith("data:image/"), tag
    assert "url(" not in text
    assert "@import" not in text
    assert "//" not in "".join(page.words).replace("https://", "//")


def test_it_tells_the_whole_story(text, trained):
    page = Page(text)
    words = " ".join(page.words)
    for title in (
        "Precision and recall", "Misses and false alarms", "Scores", "The rejection trace", "Margins", "Loss",
        "Sizes", "What it looks at", "Speed and bytes", "Found: the surest", "What a probability means",
    ):  # fmt: skip
        assert title in words
    assert "cascade evaluate a b" in words
    assert f"{len(trained.model.to_bytes()):,} bytes" in words
    assert words.rindex("cascade evaluate a b") > words.rindex("Settings")  # what to type next comes last
    assert "nan" not in words.lower().split()


def test_it_can_be_read_by_all(text):
    """Headings in order, a word for each picture, light and dark, narrow and wide."""
    page = Page(text)
    levels = [int(tag[1]) for tag in page.tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert (np.diff(levels) <= 1).all()
    assert page.tags.count("svg") == sum(
        tag == "svg" and name == "aria-label" and bool(value) for tag, name, value in page.attributes
    )
    assert ("html", "lang", "en") in page.attributes
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text


def test_names_cannot_break_the_page(trained, measured, tmp_path):
    """Of the model, its class, the data, files and notes."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    samples = []
    for i, sample in enumerate(measured.samples):
        path = folder / f"{i}{HOSTILE.replace('/', '')}\udc80.png"
        path.write_bytes(sample.path.read_bytes())
        samples.append(replace(sample, path=path))
    harmless = HOSTILE.replace("\u202e", "")
    model = replace(trained.model, name=harmless, classes=(harmless,), metadata={"note": harmless})
    told = replace(trained, model=model, notes=[HOSTILE])
    text = report(
        told, replace(measured, samples=samples), Account(HOSTILE, 1.0, HOSTILE, (HOSTILE, "\x00\x1b[31m"))
    )
    page = Page(text)
    text.encode()
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert not any(name.startswith("on") for _, name, _ in page.attributes)
    assert text.count("&lt;script&gt;") > 5
    assert not {"\x00", "\x1b", "\u202e", "\udc80"} & set(text)


def test_a_model_that_finds_nothing_has_a_report(trained):
    """Nor does it need a sigmoid, or pictures without objects."""
    model = replace(trained.model, leaf=-np.abs(trained.model.leaf.astype(int)) - 1, sigmoid=None)
    held = [sample for sample in trained.run.held if sample.boxes]
    measured = findings(model, held, [], SETTINGS)
    page = Page(report(replace(trained, model=model), measured, Account("x", 1.0)))
    assert "It found nothing at all" in " ".join(page.words)
    assert not page.open


def test_a_model_that_takes_everything_has_a_report(trained):
    reject = np.full(len(trained.model), -32768)
    model = replace(trained.model, leaf=np.abs(trained.model.leaf.astype(int)) + 1, reject=reject)
    measured = findings(model, trained.run.held, [], SETTINGS)
    assert not Page(report(replace(trained, model=model), measured, Account("x", 1.0))).open


def test_crops_alone_have_a_report(trained):
    """Sizes are left out, and the page says what was measured instead."""
    held = [Shown(np.full((24, 24), 90, np.uint8), sample.boxes[:1], crop=True) for sample in trained.run.held
            if sample.boxes]  # fmt: skip
    for shown in held:
        object.__setattr__(shown, "path", Path("crop.png"))
    measured = findings(trained.model, held, [], SETTINGS)
    words = " ".join(Page(report(trained, measured, Account("x", 1.0))).words)
    assert "only to be had as crops" in words
    assert "average precision" not in words.lower()
    last = list(csv.DictReader(io.StringIO(results(trained, measured.evaluation))))[-1]
    assert last["ap50"] == last["ms_per_frame"] == ""  # there was nothing to measure them on
    assert last["recall_1"] == "0"


@pytest.fixture(scope="module")
def folder(trained, tmp_path_factory):
    out = tmp_path_factory.mktemp("run")
    write_run(out, trained, Account("photos", 1.0))
    return out


def test_the_run_folder_is_whole(folder, trained):
    names = {"model.cascade", "args.json", "results.csv", "report.html"}
    assert {path.name for path in folder.iterdir()} == names
    assert Model.load(folder / "model.cascade") == trained.model
    assert (folder / "report.html").read_text("utf-8").startswith("<!doctype html>")


def test_results_have_a_row_a_stage(folder, trained):
    rows = list(csv.DictReader(io.StringIO((folder / "results.csv").read_text())))
    assert [int(row["trees"]) for row in rows] == [stage.trees for stage in trained.stages]
    assert [float(row["loss"]) for row in rows] == [stage.loss for stage in trained.stages]
    assert all(0 <= float(row["accepted"]) <= 1 and float(row["seconds"]) >= 0 for row in rows)
    expected = evaluate(trained.model, trained.run.held, threads=1)
    assert float(rows[-1]["ap50"]) == pytest.approx(expected.ap50, abs=1e-5)
    assert rows[0]["ap50"] == ""


def test_stages_keep_their_losses(trained):
    for stage in trained.stages:
        assert len(stage.losses) == stage.trees
        assert stage.losses[-1] == stage.loss
        assert stage.losses[0] > stage.losses[-1]


def test_the_folder_knows_what_was_trained_on(folder, trained):
    known = read_arguments(folder / "model.cascade")
    assert known.settings == SETTINGS
    assert len(trained.run.digests) == len(trained.run.training)
    assert all(known.saw(digest) for digest in trained.run.digests)
    assert not known.saw(b"another picture!")
    assert read_arguments(folder / "elsewhere" / "model.cascade") is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"trained_on": 7}', '{"trained_on": "?"}', '{"trained_on": "", "depth": 99}',
     '{"trained_on": "", "stages": "many"}', "[" * 100_000, "\ud800".encode("utf-8", "surrogatepass")],
)  # fmt: skip
def test_arguments_are_untrusted(tmp_path, text):
    (tmp_path / "args.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=r"args\.json: expected what `cascade train` writes"):
        read_arguments(tmp_path / "model.cascade")


def test_arguments_hold_every_setting(folder):
    facts = json.loads((folder / "args.json").read_text())
    assert {field.name for field in fields(TrainingSettings)} <= set(facts)


def test_a_checkpoint_goes_when_the_model_is_there(trained, tmp_path):
    data = rings(tmp_path, 12)
    out = tmp_path / "run"
    result = training_run(data, SETTINGS, threads=1, folder=out / "checkpoint")
    assert any((out / "checkpoint").iterdir())
    (out / "checkpoint" / "mine.txt").write_text("keep")
    write_run(out, result, Account("x", 1.0))
    assert [path.name for path in (out / "checkpoint").iterdir()] == ["mine.txt"]


def test_a_picture_that_is_gone_costs_only_its_own_place(trained, measured, tmp_path):
    """Pictures are read again to be shown; those that vanished meanwhile are left out."""
    samples = [replace(sample, path=tmp_path / sample.path.name) for sample in measured.samples]
    some = samples[0].path
    cv2.imwrite(str(some), measured.samples[0].read())
    page = Page(report(trained, replace(measured, samples=samples), Account("x", 1.0)))
    assert not page.open
    assert Dataset(tmp_path, tuple(samples)).samples[0].read() is not None
