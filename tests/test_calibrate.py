"""`cascade calibrate`: on which objects, what it says, where the model goes; and shipping one."""

import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from cascade import shipped
from cascade.dataset import load
from cascade.detector import Detector
from cascade.model import Model
from cascade.recipe import TrainingSettings
from cascade.report import Account
from cascade.runfolder import write_run
from cascade.tools import ship
from cascade.tools.calibrate import main
from cascade.training import training_run
from cascade.work import work
from tests.rings import QUICK, Shown, rings


def labelled(folder, pictures, seed=0):
    """A folder of rings with a list of them; no part is held out by name."""
    folder.mkdir()
    samples = rings(folder, pictures, seed).samples
    rows = [
        f"{sample.path.name},{box.x},{box.y},{box.width},{box.height},{box.label}"
        for sample in samples for box in sample.boxes
    ]  # fmt: skip
    (folder / "boxes.csv").write_text("\n".join(["file,x,y,w,h,label", *rows]) + "\n")
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return labelled(tmp_path_factory.mktemp("data") / "rings", 40)


@pytest.fixture(scope="module")
def trained(data):
    return training_run(load(data), TrainingSettings(**QUICK), name="rings", threads=1)


@pytest.fixture
def run(trained, tmp_path):
    write_run(tmp_path / "run", trained, Account("rings", 1.0))
    return tmp_path / "run"


def told(capsys):
    return dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line)


def held_objects(trained):
    return sum(len(sample.boxes) for sample in trained.run.held)


def test_only_what_was_held_out_counts(run, data, trained, capsys):
    """The same folder as in training: the objects are those that the trees have never seen."""
    assert main([str(run / "model.cascade"), str(data), "--recall", "0.9", "--threads", "1"]) == 0
    lines = told(capsys)
    accepted = int(re.search(r"accept (\d+) of them", lines["objects"])[1])
    assert 0 < accepted <= held_objects(trained) < 20
    assert "not trained on" in lines["objects"]
    assert lines["promised"] == "to keep 0.9 of these"
    assert "95 % sure of at least 0." in lines["bound"]
    assert lines["next:"].startswith(f"cascade evaluate {run / 'model-recall-0.9.cascade'}")
    model = Model.load(run / "model-recall-0.9.cascade")
    np.testing.assert_array_equal(model.leaf, trained.model.leaf)
    assert float(model.metadata["recall_kept"]) >= 0.9


def test_other_pictures_all_count(run, tmp_path, trained, capsys):
    other = labelled(tmp_path / "other", 30, seed=9)
    out = tmp_path / "new.cascade"
    assert main([str(run / "model.cascade"), str(other), "--recall", "0.9", "--out", str(out)]) == 0
    assert out.exists()
    accepted = int(re.search(r"accept (\d+) of them, ([\d.]+)%", told(capsys)["objects"])[1])
    assert accepted > held_objects(trained)


def test_nothing_but_training_pictures_is_refused(run, data, trained, tmp_path, capsys):
    seen = tmp_path / "seen"
    shutil.copytree(data, seen)
    kept = {sample.path.name for sample in trained.run.training}
    head, *rows = (seen / "boxes.csv").read_text().splitlines()
    rows = [row for row in rows if row.split(",")[0] in kept]
    (seen / "boxes.csv").write_text("\n".join([head, *rows]) + "\n")
    for path in seen.glob("*.png"):
        if path.name not in kept:
            path.unlink()
    assert main([str(run / "model.cascade"), str(seen), "--recall", "0.9"]) == 1
    assert "has no objects but those that the model was trained on" in capsys.readouterr().err
    assert not list(run.glob("*recall*"))


def test_without_a_run_folder_it_says_what_it_took(run, data, tmp_path, capsys):
    alone = tmp_path / "alone.cascade"
    shutil.copy(run / "model.cascade", alone)
    assert main([str(alone), str(data), "--recall", "0.9"]) == 0
    assert "there is no args.json beside the model" in told(capsys)["objects"]
    assert main([str(alone), str(data), "--part", "train"]) == 0
    assert "those of train" in told(capsys)["objects"]
    assert (tmp_path / "alone-recall-0.99.cascade").exists()


def test_a_shipped_model_stays_as_it_is(run, data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shipped, "folder", lambda: run)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert main(["model", str(data), "--recall", "0.9"]) == 0
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["model-recall-0.9.cascade"]
    assert not list(run.glob("*recall*"))


def test_a_model_of_something_else_is_noticed(trained, data, tmp_path, capsys):
    blind = replace(trained.model, leaf=-np.abs(trained.model.leaf.astype(int)) - 1)
    blind.save(tmp_path / "blind.cascade")
    assert main([str(tmp_path / "blind.cascade"), str(data)]) == 0
    assert "are these objects that it was trained for?" in told(capsys)["note"]


@pytest.mark.parametrize(
    ("model", "folder", "said"),
    [("nothing", "rings", "shipped model of that name"), ("run/model.cascade", "nowhere", "no such folder"),
     ("rings/boxes.csv", "rings", "magic")],
)  # fmt: skip
def test_what_is_wrong_is_said(run, data, tmp_path, monkeypatch, capsys, model, folder, said):
    shutil.copytree(data, tmp_path / "rings")
    monkeypatch.chdir(tmp_path)
    assert main([model, folder, "--recall", "0.9"]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert "Errno" not in error


def test_work_is_what_the_detector_counts(trained):
    pictures = [Shown(sample.read()) for sample in trained.run.held[:3]]
    runs = [Detector(trained.model).statistics(shown.pixels) for shown in pictures]
    expected = sum(run.trees for run in runs) / sum(run.windows for run in runs)
    measured = work(trained.model, pictures)
    assert measured.trees_per_window == expected
    assert measured.milliseconds > 0
    assert work(trained.model, []) is None


def test_a_run_is_shipped(run, data, tmp_path, monkeypatch, trained):
    """File, card, log and curve, and the name leads to them."""
    home = tmp_path / "models"
    home.mkdir()
    monkeypatch.setattr(shipped, "folder", lambda: home)
    flags = ["--finds", "rings", "--trained-on", "drawings", "--command", "cascade train", "--limits", "none"]
    assert ship.main([str(run), str(data), "--name", "ring", *flags]) == 0
    assert {path.suffix for path in home.glob("ring.*")} == {".cascade", ".json", ".csv", ".svg"}
    assert Model.load("ring") == replace(trained.model, name="ring")
    [card] = shipped.cards()
    assert card.finds == "rings"
    assert 0.5 < float(card.figures["AP50"]) <= 1
    drawing = ET.parse(home / "ring.svg").getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert "Miss rate" in drawing.get("aria-label")
    assert "`ring`" in (home / "README.md").read_text()
    assert ship.main([str(run), str(data), "--name", "../ring", *flags]) == 1
