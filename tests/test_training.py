"""Training end to end on pictures drawn here: it works, repeats itself, resumes, and says what is wrong."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import cv2
import numpy as np
import pytest

from cascade.boosting import boost
from cascade.checkpoint import CheckpointError
from cascade.dataset import Box, Dataset, Sample
from cascade.evaluation import evaluate
from cascade.model import NEVER_REJECT, Model
from cascade.recipe import TrainingSettings
from cascade.tools import calibrate as calibrate_tool
from cascade.tools import evaluate as evaluate_tool
from cascade.tools import train as train_tool
from cascade.training import train, training_run
from tests.rings import QUICK, rings

SETTINGS = TrainingSettings(**QUICK)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return rings(tmp_path_factory.mktemp("rings"), 36)


@pytest.fixture(scope="module")
def trained(data):
    return training_run(data, SETTINGS, threads=1)


def test_it_learns_to_find_rings(data, trained, tmp_path):
    other = rings(tmp_path, 30, seed=5)
    result = evaluate(trained.model, other.samples, threads=2)
    assert result.ap50 > 0.8
    assert result.objects == 15
    assert result.trees_per_window < 16
    assert trained.model.classes == ("ring",)
    assert all(0 < stage.trees <= most for stage, most in zip(trained.stages, (16, 32), strict=True))


def test_threads_do_not_show(data, trained):
    assert training_run(data, SETTINGS, threads=3).model == trained.model


def test_a_seed_shows(data, trained):
    assert train(data, **{**QUICK, "seed": 1}) != trained.model


def test_the_promise_is_kept_in_the_model(trained):
    promise = trained.calibration.promise
    assert promise.recall >= SETTINGS.recall
    assert promise.least < promise.recall
    assert trained.model.metadata["recall_least"] == f"{promise.least:.4f}"
    assert trained.model.reject.max() > -(2**15)


def test_probabilities_follow_scores(data, trained):
    from cascade.detector import Detector

    sample = next(sample for sample in data.part("valid") if sample.boxes)
    found = Detector(trained.model).detect(sample.read())
    assert found.probability[0] > 0.5
    assert (np.diff(found.probability) <= 0).all()


@pytest.mark.parametrize("when", [3, 20, 40])
def test_an_interrupted_run_is_taken_up_to_the_same_bytes(data, trained, tmp_path, when, monkeypatch):
    """Stopped while boosting either stage, or while mining: the same model comes out."""
    count = 0

    def stop(now):
        nonlocal count
        count += 1
        if count == when:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training_run(data, SETTINGS, threads=1, folder=tmp_path, progress=stop)
    assert any(tmp_path.iterdir())
    assert training_run(data, SETTINGS, threads=2, folder=tmp_path).model == trained.model


def test_a_run_of_other_settings_or_data_is_refused(data, tmp_path):
    training_run(data, SETTINGS, threads=1, folder=tmp_path)
    with pytest.raises(CheckpointError, match="other settings"):
        training_run(data, replace(SETTINGS, seed=9), threads=1, folder=tmp_path)
    fewer = replace(data, samples=data.samples[:-2])
    with pytest.raises(CheckpointError, match="other data"):
        training_run(fewer, SETTINGS, threads=1, folder=tmp_path)


def test_killed_at_any_moment_it_resumes(data, trained, tmp_path):
    """kill -9 while it runs; what is left is enough to end at the same bytes."""
    program = (
        "import sys; from pathlib import Path; from tests.rings import *; from cascade.training import *\n"
        "import tests.rings as r\n"
        f"data = r.rings(Path({str(tmp_path / 'pictures')!r}), 36)\n"
        f"training_run(data, TrainingSettings(**QUICK), threads=1, folder={str(tmp_path / 'run')!r}, "
        "progress=lambda now: print(now.step, flush=True))\n"
    )
    (tmp_path / "pictures").mkdir()
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    for line in run.stdout:
        if line.startswith("mining"):
            break
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    again = rings(tmp_path / "pictures", 36)
    assert (tmp_path / "run" / "stage-0.negatives").exists()
    assert training_run(again, SETTINGS, threads=1, folder=tmp_path / "run").model == trained.model


def test_broken_pictures_are_named_and_change_nothing(data, trained, tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    samples = (*data.samples[:3], Sample(broken, (Box(1, 1, 20, 20, "ring"),)), *data.samples[3:])
    result = training_run(replace(data, samples=samples), SETTINGS, threads=2)
    assert any("broken.png" in note for note in result.notes)
    assert result.model == trained.model


def test_negatives_that_run_out_end_it_early(tmp_path):
    """Flat grounds are told from rings at once: there is nothing to mine, and it says so."""
    random = np.random.default_rng(0)
    samples = []
    for i in range(12):
        image = np.full((90, 120), 100 + i, np.uint8)
        boxes = ()
        if i % 2:
            x, y = (int(number) for number in random.integers(5, 50, 2))
            cv2.circle(image, (x + 15, y + 15), 13, 255, 3)
            boxes = (Box(x, y, 30, 30),)
        path = tmp_path / f"{i:02}.png"
        cv2.imwrite(str(path), image)
        samples.append(Sample(path, boxes, "valid" if i % 4 > 1 else "train"))
    result = training_run(Dataset(tmp_path, tuple(samples)), replace(SETTINGS, negatives=50000), threads=1)
    assert "stopped early" in result.notes[-1]
    assert len(result.stages) == 1


def test_without_backgrounds_it_says_what_to_add(tmp_path):
    samples = []
    for i in range(6):
        path = tmp_path / f"{i}.png"
        cv2.imwrite(str(path), np.full((30, 30), 20 * i, np.uint8))
        samples.append(Sample(path, (Box(0, 0, 30, 30),), crop=True))
    with pytest.raises(ValueError, match="add some without objects"):
        training_run(Dataset(tmp_path, tuple(samples)), SETTINGS, threads=1)


def test_a_loss_next_to_nothing_ends_boosting(small):
    from cascade.settings import Settings

    result = boost(*small, Settings(rounds=400, depth=3, enough=0.05))
    assert "below 0.05" in result.stopped
    assert result.history[-1].loss < 0.05 <= result.history[-2].loss


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same pictures as a list that people have."""
    folder = tmp_path_factory.mktemp("listed")
    data = rings(folder, 36)
    rows = ["file,x,y,w,h,label"]
    for sample in data.samples:
        for box in sample.boxes:
            rows.append(f"{sample.path.name},{box.x},{box.y},{box.width},{box.height},ring")
    (folder / "boxes.csv").write_text("\n".join(rows) + "\n")
    return folder


FLAGS = ["--side", "12", "--stages", "16,32", "--positives", "400", "--negatives", "400", "--per-image", "20",
         "--context", "0.2"]  # fmt: skip


def test_the_commands(folder, tmp_path, capsys):
    out = tmp_path / "run"
    assert train_tool.main([str(folder), "--out", str(out), *FLAGS]) == 0
    told = capsys.readouterr().out
    assert "next: cascade evaluate" in told
    assert "stage 2 of 2: boosting" in told
    written = {"model.cascade", "args.json", "results.csv", "report.html"}
    assert {path.name for path in out.iterdir()} == written
    assert json.loads((out / "args.json").read_text())["stages"] == [16, 32]
    assert len((out / "results.csv").read_text().splitlines()) == 3
    model = str(out / "model.cascade")
    assert evaluate_tool.main([model, str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ap50"] > 0.8
    assert evaluate_tool.main([model, str(folder)]) == 0
    assert "log-average miss rate" in capsys.readouterr().out


def test_the_commands_say_what_is_wrong(folder, tmp_path, capsys):
    assert train_tool.main([str(tmp_path / "none"), "--out", str(tmp_path / "run")]) == 1
    assert "no such folder" in capsys.readouterr().err
    assert train_tool.main([str(folder), "--out", str(tmp_path / "run"), "--recall", "7"]) == 1
    assert "recall must be" in capsys.readouterr().err
    left = tmp_path / "left" / "checkpoint"
    left.mkdir(parents=True)
    (left / "stage-0.negatives").touch()
    assert train_tool.main([str(folder), "--out", str(tmp_path / "left")]) == 2
    assert "--resume" in capsys.readouterr().err
    assert evaluate_tool.main([str(tmp_path / "no.cascade"), str(folder)]) == 1
    assert "no.cascade" in capsys.readouterr().err


def test_time_left_is_told(data):
    seen = []
    training_run(data, SETTINGS, threads=1, progress=seen.append)
    left = [now.seconds_left for now in seen if now.step == "boosting" and now.trees >= 8]
    assert left
    assert all(seconds >= 0 for seconds in left)
    assert {now.step for now in seen} == {"sampling", "boosting", "mining", "calibrating"}


def test_a_model_is_calibrated_anew(folder, trained, data, tmp_path, capsys):
    """A model that rejects nothing early learns to; trees and leaves stay."""
    old, new = tmp_path / "old.cascade", tmp_path / "new.cascade"
    never = np.full(len(trained.model), NEVER_REJECT)
    replace(trained.model, reject=never).save(old)
    assert calibrate_tool.main([str(old), str(folder), "--recall", "0.7", "--out", str(new)]) == 0
    assert "95 % sure" in capsys.readouterr().out
    model = Model.load(new)
    for name in ("feature", "threshold", "leaf"):
        np.testing.assert_array_equal(getattr(model, name), getattr(trained.model, name))
    assert (model.reject != NEVER_REJECT).all()
    assert calibrate_tool.main([str(new), str(folder), "--recall", "0"]) == 1
    assert "recall must be" in capsys.readouterr().err
