"""Shipped models: by name, from a folder of models and cards."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cascade import shipped
from cascade.__main__ import main
from cascade.detector import Detector
from cascade.model import Model, ModelFormatError
from cascade.tools import models
from tests.test_model import example

CARD = {
    "finds": "rings", "trained_on": "drawings", "command": "cascade train rings --out run",
    "figures": {"AP50": "0.9 | 0.8"}, "limits": "squares",
}  # fmt: skip


@pytest.fixture
def ring():
    return example()


@pytest.fixture
def home(tmp_path, monkeypatch, ring):
    home = tmp_path / "models"
    home.mkdir()
    ring.save(home / "ring.cascade")
    (home / "ring.json").write_text(json.dumps(CARD))
    monkeypatch.setattr(shipped, "folder", lambda: home)
    monkeypatch.chdir(tmp_path)
    return home


def test_a_name_loads_a_shipped_model(home, ring):
    assert Model.load("ring") == ring
    assert Model.load(Path("ring")) == ring


def test_a_file_of_that_name_comes_first(home, ring):
    other = replace(ring, name="mine")
    other.save("ring")
    assert Model.load("ring") == other


@pytest.mark.parametrize("name", ["./ring", "models/no", "ring.cascade", "../models/ring", "", ".", ".."])
def test_paths_are_no_names(home, name):
    with pytest.raises(OSError, match="Errno") as error:
        Model.load(name)
    assert "shipped" not in str(error.value)


def test_an_unknown_name_says_what_there_is(home):
    with pytest.raises(FileNotFoundError, match=r"shipped: ring.*'rong'"):
        Model.load("rong")


def test_a_broken_shipped_model_is_refused(home):
    (home / "ring.cascade").write_bytes(b"nonsense")
    with pytest.raises(ModelFormatError):
        Model.load("ring")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", json.dumps({**CARD, "finds": 3}), json.dumps({**CARD, "figures": []}), "[" * 100_000,
     json.dumps({**CARD, "figures": {"AP50": 0.9}}), json.dumps({**CARD, "limits": "x" * 70_000})],
)  # fmt: skip
def test_cards_are_checked(home, text, capsys):
    (home / "ring.json").write_text(text)
    assert models.main([]) == 1
    assert "ring.json: expected a card" in capsys.readouterr().err


def test_a_model_without_a_card_is_told(home, capsys):
    (home / "ring.json").unlink()
    assert models.main([]) == 1
    assert "ring.json" in capsys.readouterr().err


def test_the_command_lists_them(home, capsys):
    assert main(["models"]) == 0
    text = capsys.readouterr().out
    size = (home / "ring.cascade").stat().st_size
    assert f"ring ({size:,} bytes): finds rings" in text
    assert "  AP50: 0.9 | 0.8" in text
    assert "next: cascade evaluate ring DATA" in text
    assert main(["models", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"name": "ring", **CARD, "bytes": size}]
    assert main(["models", "--markdown"]) == 0
    page = capsys.readouterr().out
    assert f"| `ring` | rings | {size:,} | AP50 0.9 \\| 0.8 |" in page
    assert "    cascade train rings --out run" in page


def test_no_models_yet(home, capsys):
    for path in home.iterdir():
        path.unlink()
    assert models.main([]) == 0
    assert "cascade train" in capsys.readouterr().out


def test_the_page_of_the_models_is_made_from_their_cards():
    """If this fails: cascade models --markdown > models/README.md"""
    cards = shipped.cards()
    page = shipped.markdown(cards, {card.name: models.size(card) for card in cards})
    assert (Path(__file__).parent.parent / "models" / "README.md").read_text("utf-8") == page


def test_shipped_models_are_what_their_cards_say():
    for card in shipped.cards():
        assert Model.load(card.name).name == card.name
        assert card.command.startswith("cascade train ")


def test_the_face_model_finds_the_astronaut():
    data = pytest.importorskip("skimage.data")
    photo = np.ascontiguousarray(data.astronaut()[:, :, ::-1])
    found = Detector(Model.load("face")).detect(photo, min_size=40, threshold=0.95)
    assert len(found) == 1
    x1, y1, x2, y2 = found.xyxy[0]
    assert x1 < 222 < x2  # the nose
    assert y1 < 120 < y2
    assert 70 < x2 - x1 < 130
