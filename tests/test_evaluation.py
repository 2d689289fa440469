"""Evaluation against pycocotools, and against counting by hand."""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest

from cascade.evaluation import (
    COCO_IOUS,
    FALSE,
    HIT,
    IGNORED,
    Found,
    Truth,
    average_precision,
    curve_of,
    match,
    overlaps,
)


def truth(*rows, ignored=()):
    flags = np.zeros(len(rows), bool)
    flags[list(ignored)] = True
    return Truth(np.array(rows, np.float64).reshape(-1, 4), flags)


def found(*rows):
    rows = sorted(rows, key=lambda row: -row[4])
    table = np.array(rows, np.float64).reshape(-1, 5)
    return Found(table[:, :4], table[:, 4])


def scene(seed, images=30):
    """Pictures whose boxes are found, missed, doubled and imagined; some are to be ignored."""
    random = np.random.default_rng(seed)
    truths, boxes = [], []
    for _ in range(images):
        corner, size = random.uniform(0, 200, (4, 2)), random.uniform(20, 80, (4, 2))
        whole = np.hstack([corner, corner + size])[: random.integers(0, 5)]
        ignored = random.random(len(whole)) < 0.25
        near = np.repeat(whole, random.integers(0, 3, len(whole)), axis=0)
        near = near + random.normal(0, 3, near.shape)
        stray = random.uniform(0, 150, (random.integers(0, 4), 2))
        rows = np.concatenate([near, np.hstack([stray, stray + 50])])
        score = random.integers(0, 40, len(rows))  # with ties
        truths.append(Truth(whole, ignored))
        order = np.argsort(-score, kind="stable")
        boxes.append(Found(rows[order], score[order].astype(float)))
    return truths, boxes


def coco_precision(truths, boxes):
    """AP and AP50 by COCO's own program; what is to be ignored is a crowd there."""
    coco = pytest.importorskip("pycocotools.coco")
    cocoeval = pytest.importorskip("pycocotools.cocoeval")
    labels, results = [], []
    for image, (one, other) in enumerate(zip(truths, boxes, strict=True)):
        for (x1, y1, x2, y2), ignored in zip(one.xyxy.tolist(), one.ignored.tolist(), strict=True):
            labels.append({"id": len(labels) + 1, "image_id": image, "category_id": 1,
                           "iscrowd": int(ignored), "bbox": [x1, y1, x2 - x1, y2 - y1],
                           "area": (x2 - x1) * (y2 - y1)})  # fmt: skip
        for (x1, y1, x2, y2), score in zip(other.xyxy.tolist(), other.score.tolist(), strict=True):
            results.append({"image_id": image, "category_id": 1, "bbox": [x1, y1, x2 - x1, y2 - y1],
                            "score": score})  # fmt: skip
    with redirect_stdout(io.StringIO()):
        data = coco.COCO()
        data.dataset = {"info": {}, "images": [{"id": i} for i in range(len(truths))], "annotations": labels,
                        "categories": [{"id": 1}]}  # fmt: skip
        data.createIndex()
        run = cocoeval.COCOeval(data, data.loadRes(results), "bbox")
        run.evaluate()
        run.accumulate()
        run.summarize()
    return run.stats[0], run.stats[1]


@pytest.mark.parametrize("seed", range(4))
def test_average_precision_is_cocos(seed):
    truths, boxes = scene(seed)
    ap, ap50 = coco_precision(truths, boxes)
    assert 0.05 < ap < ap50 < 0.95  # neither trivial
    ours = [average_precision(truths, boxes, iou) for iou in COCO_IOUS]
    assert np.mean(ours) == pytest.approx(ap, abs=1e-6)
    assert ours[0] == pytest.approx(ap50, abs=1e-6)


def test_overlaps_by_hand():
    boxes = np.array([[0.0, 0, 10, 10], [5, 5, 15, 15], [20, 20, 30, 30]])
    shared = overlaps(boxes, truth((0, 0, 10, 10), (0, 0, 20, 20), ignored=[1]))
    np.testing.assert_allclose(shared, [[1, 1], [25 / 175, 1], [0, 0]])
    assert overlaps(boxes, truth()).shape == (3, 0)


def test_an_object_is_found_once():
    one = truth((0, 0, 10, 10))
    flags = match(one, np.array([[0.0, 0, 10, 10], [0, 0, 10, 9]]), 0.5)
    assert flags.tolist() == [HIT, FALSE]


def test_a_box_takes_the_nearest_object():
    two = truth((0, 0, 10, 10), (2, 0, 12, 10))
    flags = match(two, np.array([[2.0, 0, 12, 10], [2, 0, 12, 10]]), 0.5)
    assert flags.tolist() == [HIT, HIT]  # the second is left with the other object, at 8 / 12


def test_ignored_regions_take_any_number_of_boxes():
    crowd = truth((0, 0, 100, 100), ignored=[0])
    boxes = np.array([[10.0, 10, 20, 20], [50, 50, 60, 60], [95, 95, 120, 120]])
    assert match(crowd, boxes, 0.5).tolist() == [IGNORED, IGNORED, FALSE]


def test_curve_by_hand():
    truths = [truth((0, 0, 10, 10)), truth((0, 0, 10, 10))]
    boxes = [found((0, 0, 10, 10, 9), (50, 0, 60, 10, 8)), found((0, 0, 10, 10, 7), (30, 0, 40, 10, 6))]
    curve = curve_of(truths, boxes, 0.5)
    assert curve.recall.tolist() == [0.5, 0.5, 1.0, 1.0]
    assert curve.false_per_image.tolist() == [0.0, 0.5, 0.5, 1.0]
    assert curve.precision.tolist() == [1.0, 0.5, 2 / 3, 0.5]
    assert (curve.recall_at(0.1), curve.recall_at(1.0)) == (0.5, 1.0)
    # 0.5 is missed at the seven prices below 0.5, nothing at 0.56 and 1
    assert curve.log_average_miss_rate() == pytest.approx((0.5**7 * 1e-20) ** (1 / 9))


def test_nothing_found_and_nothing_there():
    nothing = Found(np.empty((0, 4)), np.empty(0))
    assert average_precision([truth((0, 0, 1, 1))], [nothing], 0.5) == 0.0
    assert average_precision([truth()], [nothing], 0.5) == -1.0
    assert curve_of([truth((0, 0, 1, 1))], [nothing], 0.5).recall_at(1.0) == 0.0
