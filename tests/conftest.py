"""Shared test data: small random tables whose labels depend on a few features; where real pictures lie."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")


def planted(samples: int, features: int, seed: int, noise: float = 0.1):
    """A table and labels that three of its features explain, but for some noise."""
    random = np.random.default_rng(seed)
    table = random.integers(0, 256, (features, samples), dtype=np.uint8)
    score = table[:3].astype(int).sum(axis=0) - 3 * 127
    labels = np.where(score > 0, 1, -1).astype(np.int8)
    flipped = random.random(samples) < noise
    labels[flipped] *= -1
    return table, labels


@pytest.fixture
def small():
    return planted(400, 30, seed=1)


@pytest.fixture
def compact(monkeypatch):
    """Use the compact copy of heavy samples on tables of any size."""
    monkeypatch.setattr("cascade.heavy.WORTHWHILE", 0)
    monkeypatch.setattr("cascade.heavy.SHARE", 0.5)


@pytest.fixture
def real():
    """Folders of real data, which are not part of the project: CASCADE_DATA says where they lie."""
    home = Path(os.environ.get("CASCADE_DATA", Path(__file__).parents[2] / "shared" / "data"))

    def folder(name: str) -> Path:
        if not (home / name).exists():
            pytest.skip(f"needs the data set {name}, which is not part of the project")
        return home / name

    return folder
