"""Folders of real data are recognised and read; paths cannot leave them."""

from collections import Counter
from pathlib import Path

import pytest

from cascade.dataset import DatasetError, load

DATA = Path("/work/shared/data")


def real(name: str) -> Path:
    if not (DATA / name).exists():
        pytest.skip(f"needs the data set {name}, which is not here")
    return DATA / name


def counts(data):
    return Counter((sample.part, sample.crop, bool(sample.boxes)) for sample in data.samples)


def test_uiuc_cars():
    data = load(real("uiuc_cars"))
    assert counts(data) == {
        ("train", True, True): 550, ("train", False, False): 500, ("test", False, True): 170,
    }  # fmt: skip
    assert sum(len(sample.boxes) for sample in data.part("test")) == 200
    assert not data.problems
    assert data.samples[-1].read().shape == (40, 100)


def test_bccd():
    data = load(real("bccd"))
    assert counts(data) == {("train", False, True): 205, ("valid", False, True): 87}
    assert data.classes == ("Platelets", "RBC", "WBC")
    assert [problem.sentence for problem in data.problems] == [
        "the box at (504, 337) of 0 x 0 is empty; it is left out",
        "the box at (181, 329) of 0 x 0 is empty; it is left out",
    ]


def test_unknown_folder(tmp_path):
    with pytest.raises(DatasetError, match="no labels of a known format"):
        load(tmp_path)
