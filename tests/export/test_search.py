"""Settings of an exported detector as whole numbers."""

from dataclasses import replace

import numpy as np
import pytest

from cascade.export.failure import ExportError
from cascade.export.search import LOWEST, Search
from cascade.sigmoid import Sigmoid
from tests.test_detector import FACES, photo, random_model


@pytest.mark.parametrize("threshold", [1e-9, 0.1, 0.5, 0.55, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("sigmoid", [Sigmoid(0.01, 0.1), Sigmoid(3.0, -7.0), Sigmoid(1e-6, 0.2)])
def test_least_is_the_threshold(threshold, sigmoid):
    """Exactly the scores at or above it have the probability."""
    model = replace(FACES, sigmoid=sigmoid, score_unit=0.5)
    search = Search(threshold=threshold)
    least = search.least(model)
    reach = int(np.abs(model.leaf.astype(int)).max(axis=1).sum())
    scores = np.arange(-reach, reach + 1, dtype=np.int32)
    likely = search.detector(model).probability(scores) >= threshold
    np.testing.assert_array_equal(scores >= least, likely)


def test_least_without_a_threshold():
    assert Search().least(FACES) == LOWEST
    assert Search(threshold=0.5).least(replace(FACES, sigmoid=None)) == LOWEST


def test_a_threshold_needs_a_sigmoid_that_rises():
    with pytest.raises(ExportError, match="slope is -1"):
        Search(threshold=0.5).least(replace(FACES, sigmoid=Sigmoid(-1.0)))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"candidates": 0}, "1 to 5000 candidates"),
        ({"candidates": 5001}, "1 to 5000 candidates"),
        ({"min_size": 0}, "a min_size of 1"),
        ({"max_size": 9000}, "a max_size of 1"),
        ({"threshold": 1.5}, "from 0 to 1"),
    ],
)
def test_bad_settings_are_refused_in_words(settings, words):
    with pytest.raises(ExportError, match=words):
        Search(**settings)


def test_most_keeps_the_best():
    """Room for fewer candidates than pass: the best stay, as on a device."""
    model = random_model(1, prune="never", trees=5)
    image = photo(40, 50)
    every = Search(candidates=5000, overlap=1.0, measure="iou").detector(model).detect(image)
    few = Search(candidates=20, overlap=1.0, measure="iou").detector(model).detect(image)
    assert len(every) > 100
    assert len(few) == 20
    assert few == every[:20]
