"""Negatives: the detector's own bytes, away from objects, and an end when there are no more."""


import numpy as np
import pytest

from cascade.channels import bordered
from cascade.dataset import Box
from cascade.detector import Detector, runtime
from cascade.evaluation import Truth, overlaps
from cascade.mining import NEAR, Best, Scanner, hard_negatives, random_negatives, varied
from cascade.model import NEVER_REJECT
from cascade.recipe import TrainingSettings
from cascade.template import Template
from cascade.trees import Trees
from tests.rings import Shown, picture, place

TEMPLATE = Template.around(16.0, 16.0, "grey", 0, TrainingSettings(context=0.25))


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(0)
    kept = []
    for i in range(8):
        boxes = (place(random),) if i % 2 else ()
        kept.append(Shown(picture(random, boxes), boxes))
    return kept


def model(threshold, seed=0):
    """Random trees that a share of the windows passes."""
    random = np.random.default_rng(seed)
    trees = Trees(random.integers(0, len(TEMPLATE.pool), (6, 3)), random.integers(0, 120, (6, 3)),
                  random.normal(size=(6, 4)))  # fmt: skip
    leaf = random.integers(-100, 101, (6, 4)).astype(np.int16)
    reject = np.full(6, NEVER_REJECT, np.int16)
    reject[-1] = threshold
    return TEMPLATE.model(trees, leaf, reject)


def test_a_scan_keeps_the_bytes_that_were_scored(samples):
    scan = Scanner(model(100)).scan(samples[0].read())
    which = np.arange(0, len(scan.score), 7)
    assert len(which) > 20
    windows = scan.windows(which)
    core = runtime(scan.model)
    scores, trees = np.empty((1, 1), np.int32), np.empty((1, 1), np.int32)
    for window, score in zip(windows, scan.score[which], strict=True):
        core.classify(np.ascontiguousarray(window), scores, trees)
        assert scores[0, 0] == score


def test_a_scan_finds_what_the_detector_finds(samples):
    frame = samples[1].read()
    scan = Scanner(model(150)).scan(frame)
    found = Detector(model(150), overlap=1.0, measure="iou").detect(frame)
    boxes = scan.boxes(np.arange(len(scan.score)))
    assert {tuple(box) for box in found.xyxy.astype(int).tolist()} <= {tuple(box) for box in boxes.tolist()}
    assert scan.score.max() == found.score.max()


@pytest.mark.parametrize("hard", [True, False])
def test_negatives_are_the_same_whatever_the_threads(samples, hard):
    def mined(threads, seed=3):
        if hard:
            return hard_negatives(model(50), samples, 60, 12, seed, threads)
        return random_negatives(TEMPLATE.empty(), samples, 60, seed, threads)

    one, three = mined(1), mined(3)
    np.testing.assert_array_equal(one.windows, three.windows)
    assert one.windows.shape == (60, 8, 10, 10)
    assert (one.windows != mined(1, seed=4).windows).any()


def test_negatives_stay_away_from_objects(samples):
    """A picture that is all object has no negatives; with the object ignored neither."""
    for ignore in (False, True):
        covered = [Shown(sample.pixels, (Box(-50, -50, 300, 300, ignore=ignore),)) for sample in samples]
        found = hard_negatives(model(50), covered, 1000, 50, 0)
        free = hard_negatives(model(50), samples, 1000, 50, 0)
        assert len(found.windows) < len(free.windows)
        if ignore:
            assert len(found.windows) == 0


def test_mined_boxes_are_near_no_object(samples, monkeypatch):
    """All that is chosen, seen from outside: no window may overlap its picture's object."""
    seen = []
    original = Scanner.scan

    def spy(self, frame):
        scan = original(self, frame)
        windows = type(scan).windows

        def watched(which):
            seen.append(scan.boxes(which))
            return windows(scan, which)

        object.__setattr__(scan, "windows", watched)
        return scan

    monkeypatch.setattr(Scanner, "scan", spy)
    sample = samples[1]
    hard_negatives(model(-200), [sample], 1000, 500, 7)
    truth = varied(sample.read(), Truth.of(sample), [7, 0])[1]
    shared = overlaps(seen[0].astype(float), truth)
    assert len(shared) > 20
    assert shared.max() < NEAR


def test_varied_pictures_take_their_boxes_along():
    image = np.zeros((60, 80), np.uint8)
    image[20:40, 10:30] = 255
    truth = Truth(np.array([[10.0, 20, 30, 40]]), np.array([False]))
    mirrored = set()
    for seed in range(12):
        frame, moved = varied(image, truth, [seed])
        x1, y1, x2, y2 = moved.xyxy[0].round().astype(int)
        assert frame[y1 + 1 : y2 - 1, x1 + 1 : x2 - 1].min() == 255
        outside = frame.astype(int)
        outside[max(0, y1 - 1) : y2 + 1, max(0, x1 - 1) : x2 + 1] = 0
        assert outside.max() == 0
        mirrored.add(bool(x1 > frame.shape[1] / 2))
    assert mirrored == {True, False}


def test_mining_ends_when_there_is_no_more(samples):
    none = hard_negatives(model(600), samples, 10, 5, 0)  # no score is that high
    assert (len(none.windows), none.images, none.exhausted) == (0, 8, True)
    some = hard_negatives(model(50), samples, 5, 5, 0)
    assert (len(some.windows), some.exhausted) == (5, False)
    assert some.images < 8


def test_the_best_are_kept_in_order():
    random = np.random.default_rng(1)
    best = Best(5, (1,))
    scores = random.integers(0, 20, 60).astype(np.int32)
    for start in range(0, 60, 4):
        part = np.arange(start, start + 4, dtype=np.uint8)[:, None]
        best.add(part, scores[start : start + 4])
    expected = sorted(sorted(range(60), key=lambda i: (-scores[i], i))[:5])
    assert best.windows()[:, 0].tolist() == expected


def test_crops_have_no_background(samples):
    crops = [Shown(sample.pixels, (Box(0, 0, 160, 120),), crop=True) for sample in samples]
    assert len(random_negatives(TEMPLATE.empty(), crops, 10, 0).windows) == 0


def test_a_border_is_the_edge_going_on():
    image = np.arange(24, dtype=np.uint8).reshape(1, 4, 6)
    wide, edge = bordered(image, 64)
    assert edge == 1
    np.testing.assert_array_equal(wide[0], np.pad(image[0], 1, mode="edge"))
    assert bordered(image, 0)[0] is image
    assert bordered(image[:, :1, :1], 128)[1] == 0


def test_a_border_finds_what_the_frame_cuts_off(samples):
    """With a border a detector sees more windows; what it finds is clipped to the frame."""
    frame = samples[0].read()
    plain, wide = (Detector(model(0), overlap=1.0, border=border) for border in (0, 64))
    assert wide.statistics(frame).windows > plain.statistics(frame).windows
    found = wide.detect(frame).xyxy
    assert len(found)
    assert found.min() >= 0
    assert found[:, 2].max() == 160  # one reaches the edge from beyond it
    assert found[:, 3].max() <= 120
