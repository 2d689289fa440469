"""`cascade export`: what it writes, says and refuses."""

import subprocess
from dataclasses import replace

import pytest

from cascade.__main__ import main
from cascade.model import Model
from cascade.sigmoid import Sigmoid
from tests.test_detector import FACES


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "face.cascade"
    replace(FACES, name="Face").save(path)
    return path


def export(model, to, out, *more):
    return main(["export", str(model), "--to", to, "--out", str(out), *more])


def test_c(model, tmp_path, capsys):
    out = tmp_path / "face"
    assert export(model, "c", out, "--min-size", "20") == 0
    said = capsys.readouterr().out
    for word in ("flash", "RAM", "stack", "work", "self-test"):
        assert word in said
    assert {file.name for file in out.iterdir()} == {
        "cascade.h", "pipeline.h", "face.h", "example.c", "selftest.h", "selftest.c",
    }  # fmt: skip
    subprocess.run(["cc", "-std=c99", "selftest.c", "-o", "selftest"], cwd=out, check=True)
    ran = subprocess.run(["./selftest"], cwd=out, capture_output=True, text=True, check=True)
    assert ran.stdout == "self-test: passed\n"


def test_the_self_test_finds_a_changed_leaf(model, tmp_path):
    out = tmp_path / "face"
    assert export(model, "c", out) == 0
    header = out / "face.h"
    text = header.read_text()
    start = text.index("face_leaves[80] = {\n    ") + len("face_leaves[80] = {\n    ")
    header.write_text(text[:start] + "9" + text[start:].lstrip("-"))
    subprocess.run(["cc", "-std=c99", "selftest.c", "-o", "selftest"], cwd=out, check=True)
    assert subprocess.run(["./selftest"], cwd=out, capture_output=True).returncode == 1


def test_json_and_back(model, tmp_path, capsys):
    text, again = tmp_path / "face.json", tmp_path / "again.cascade"
    assert export(model, "json", text) == 0
    assert export(text, "cascade", again) == 0
    assert again.read_bytes() == model.read_bytes()
    assert "read back and the same" in capsys.readouterr().out


def test_arduino(model, tmp_path, capsys):
    assert export(model, "arduino", tmp_path / "face.zip") == 0
    assert (tmp_path / "face.zip").read_bytes()[:2] == b"PK"
    assert "flash" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("to", "more", "words"),
    [
        ("c", ["--candidates", "0"], "candidates"),
        ("c", ["--per-octave", "0"], "per_octave must be"),
        ("c", ["--overlap", "0"], "overlap must be above 0"),
        ("json", [], "is a folder"),
        ("arduino", [], "is a folder"),
    ],
)
def test_refused_in_words_and_nothing_written(model, tmp_path, capsys, to, more, words):
    out = tmp_path / "out"
    if words == "is a folder":
        out.mkdir()
    assert export(model, to, out, *more) == 1
    assert words in capsys.readouterr().err
    assert not out.exists() or not any(out.iterdir())
    assert sorted(file.name for file in tmp_path.iterdir()) in (["face.cascade"], ["face.cascade", "out"])


def test_a_full_folder_is_left_alone(model, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("keep")
    assert export(model, "c", out) == 1
    assert "a new or empty folder" in capsys.readouterr().err
    assert [file.name for file in out.iterdir()] == ["mine"]
    (out / "mine").unlink()
    assert export(model, "c", out) == 0


def test_what_cannot_be_read(tmp_path, capsys):
    broken = tmp_path / "broken.cascade"
    broken.write_bytes(b"nothing")
    assert export(broken, "c", tmp_path / "out") == 1
    assert "magic" in capsys.readouterr().err
    assert export(tmp_path / "absent.json", "c", tmp_path / "out") == 1
    assert "absent.json" in capsys.readouterr().err


def test_a_threshold_that_cannot_be_had(tmp_path, capsys):
    path = tmp_path / "falling.cascade"
    falling: Model = replace(FACES, sigmoid=Sigmoid(-1.0))
    falling.save(path)
    assert export(path, "c", tmp_path / "out", "--threshold", "0.5") == 1
    assert "export without a threshold" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
