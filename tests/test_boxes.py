"""Detections as values, and one box for each object whatever the order of the candidates."""

import json
import sys
from fractions import Fraction
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade import suppression
from cascade.boxes import Detection, Detections, group, suppress
from tests.reference import boxes as reference

FAR = 1 << 20
MEASURES = st.sampled_from(suppression.MEASURES)
OVERLAPS = st.one_of(st.integers(1, 256), st.sampled_from([1, 64, 128, 256]))


@st.composite
def candidates(draw, most=14):
    """Boxes that often meet, are often equal, sometimes without area, sometimes far out or huge."""
    side, scale = draw(st.sampled_from([(4, 1), (12, 1), (12, 1 << 16)]))
    origin = draw(st.sampled_from([(0, 0), (FAR, -FAR), (-FAR, FAR), (-FAR, -FAR)]))
    numbers = st.tuples(*[st.integers(0, 12)] * 2, *[st.integers(0, side)] * 2, st.integers(-2, 2))
    rows = draw(st.lists(numbers, max_size=most))
    boxes = [(x, y, x + w, y + h) for x, y, w, h, _ in rows]
    boxes = np.array(boxes, np.int32).reshape(-1, 4) * scale + np.tile(origin, 2)
    return boxes.astype(np.int32), np.array([row[4] for row in rows], np.int32)


def crowd(count, objects, seed=0):
    """Candidates around some objects of a 640x480 frame, as a detector finds them."""
    random = np.random.default_rng(seed)
    x, y, size = random.uniform((0, 0, 40), (640, 480, 200), (objects, 3)).T
    which = random.integers(0, objects, count)
    half = size[which] * np.exp(random.normal(0, 0.08, count)) / 2
    x, y = (centre[which] + 0.16 * half * random.normal(size=count) for centre in (x, y))
    boxes = np.stack([x - half, y - half, x + half, y + half], axis=1).astype(np.int32)
    return boxes, random.permutation(count).astype(np.int32)


def listed(boxes, scores):
    return boxes.tolist(), scores.tolist()


def groups(*arrays):
    return list(zip(*(array.tolist() for array in arrays), strict=True))


# Suppression


@pytest.mark.parametrize(
    ("boxes", "scores", "overlap", "measure", "kept"),
    [
        ([[0, 0, 4, 4]], [-9], 128, "iou", [0]),  # one box stays, whatever its score
        ([[0, 0, 4, 4], [9, 0, 13, 4]], [1, 2], 1, "iou", [1, 0]),  # apart: both stay, best first
        ([[0, 0, 4, 4], [4, 0, 8, 4]], [1, 2], 1, "iou", [1, 0]),  # to touch is not to overlap
        ([[0, 0, 4, 4], [0, 0, 4, 4]], [1, 2], 256, "iou", [1]),  # the same box: the better one stays
        ([[0, 0, 4, 4], [0, 0, 4, 4]], [2, 2], 256, "iou", [0]),  # and of equals the first
        ([[0, 0, 3, 4], [1, 0, 4, 4]], [2, 1], 128, "iou", [0]),  # IoU 1/2 is at least 128/256
        ([[0, 0, 3, 4], [1, 0, 4, 4]], [2, 1], 129, "iou", [0, 1]),  # but not 129/256
        ([[0, 0, 8, 8], [2, 2, 4, 4]], [1, 2], 128, "iou", [1, 0]),  # a part inside a whole: IoU 1/16
        ([[0, 0, 8, 8], [2, 2, 4, 4]], [1, 2], 256, "smaller", [1]),  # all of the smaller one is shared
        ([[0, 0, 4, 4], [2, 0, 6, 4], [4, 0, 8, 4]], [3, 2, 1], 80, "iou", [0, 2]),  # dropped boxes drop none
        ([[0, 0, 4, 4], [2, 0, 6, 4], [4, 0, 8, 4]], [1, 3, 1], 80, "iou", [1]),  # the middle one drops both
        ([[0, 9, 2, 11], [5, 0, 7, 2], [0, 0, 2, 2]], [7, 7, 7], 128, "iou", [2, 1, 0]),  # top, then left
        ([[0, 0, 3, 2], [0, 0, 2, 3], [0, 0, 2, 2]], [7, 7, 7], 255, "iou", [2, 1, 0]),  # width, then height
        ([[0, 0, 0, 4], [0, 0, 0, 4], [9, 9, 9, 9]], [1, 1, 1], 1, "iou", [0, 1, 2]),  # no area, no overlap
        ([[1, 1, 1, 3], [0, 0, 4, 4]], [1, 2], 1, "smaller", [1, 0]),  # not even inside another
        ([[0, 0, 1, 1], [9, 9, 10, 10]], [-(2**31), 2**31 - 1], 1, "iou", [1, 0]),  # scores at their limits
    ],
)
def test_suppression_by_hand(boxes, scores, overlap, measure, kept):
    found = suppress(np.array(boxes, np.int32), np.array(scores, np.int32), overlap, measure)
    assert found.tolist() == kept
    assert reference.suppress(boxes, scores, overlap, measure) == kept


@given(candidates(), OVERLAPS, MEASURES)
def test_suppression_equals_the_twin(found, overlap, measure):
    twin = reference.suppress(*listed(*found), overlap, measure)
    assert suppress(*found, overlap, measure).tolist() == twin


@pytest.mark.parametrize("objects", [1, 12, 150])
@pytest.mark.parametrize("measure", suppression.MEASURES)
def test_suppression_of_a_crowd_equals_the_twin(objects, measure):
    found = crowd(300, objects)
    assert suppress(*found, 150, measure).tolist() == reference.suppress(*listed(*found), 150, measure)


@pytest.mark.parametrize("overlap", [40, 128, 200])
def test_suppression_agrees_with_opencv(overlap):
    boxes, scores = crowd(400, 30)
    sizes = np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]])
    just_below = float(np.nextafter(np.float32(overlap / 256), np.float32(0)))
    theirs = cv2.dnn.NMSBoxes(sizes.tolist(), (scores + 1.0).tolist(), 0.0, just_below)
    assert suppress(boxes, scores, overlap).tolist() == np.ravel(theirs).tolist()


@given(candidates(), OVERLAPS, MEASURES)
def test_kept_boxes_overlap_less_and_dropped_ones_more(found, overlap, measure):
    boxes, scores = listed(*found)
    kept = suppress(*found, overlap, measure).tolist()
    limit = Fraction(overlap, 256)

    def share(i, k):
        return reference.share(boxes[i], boxes[k], measure)

    assert all(share(i, k) < limit for i in kept for k in kept if i != k)
    for i in set(range(len(boxes))) - set(kept):
        assert any(share(i, k) >= limit and scores[k] >= scores[i] for k in kept)


@given(candidates(), OVERLAPS, MEASURES)
def test_the_best_box_is_kept_and_order_falls(found, overlap, measure):
    boxes, scores = listed(*found)
    ranks = [reference.rank(boxes[i], scores[i]) for i in suppress(*found, overlap, measure)]
    assert ranks == sorted(ranks)
    assert ranks[:1] == sorted(map(reference.rank, boxes, scores))[:1]


@given(candidates(), OVERLAPS, MEASURES, st.randoms(use_true_random=False))
def test_suppression_does_not_depend_on_the_order_of_candidates(found, overlap, measure, random):
    boxes, scores = found
    order = random.sample(range(len(boxes)), len(boxes))
    kept = suppress(boxes, scores, overlap, measure)
    again = suppress(boxes[order], scores[order], overlap, measure)
    assert boxes[order][again].tolist() == boxes[kept].tolist()
    assert scores[order][again].tolist() == scores[kept].tolist()


@given(candidates(), OVERLAPS, MEASURES)
def test_suppressing_twice_changes_nothing(found, overlap, measure):
    boxes, scores = found
    kept = suppress(boxes, scores, overlap, measure)
    assert suppress(boxes[kept], scores[kept], overlap, measure).tolist() == list(range(len(kept)))


@pytest.mark.parametrize("limit", [FAR, suppression.LIMIT])
@pytest.mark.parametrize("measure", suppression.MEASURES)
def test_huge_boxes_do_not_overflow(limit, measure):
    """All of the plane, and halves and quarters of it: IoU 1/2 and 1/4, to the last unit."""
    boxes = np.array([[-limit] * 2 + [limit] * 2, [-limit, -limit, 0, limit], [0, 0, limit, limit]], np.int32)
    scores = np.array([3, 2, 1], np.int32)
    for overlap in (64, 65, 128, 129, 256):
        twin = reference.suppress(*listed(boxes, scores), overlap, measure)
        assert suppress(boxes, scores, overlap, measure).tolist() == twin
        twin = reference.group(*listed(boxes, scores), 0, overlap)
        assert groups(*group(boxes, scores, 0, overlap)) == twin


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.int64, np.uint64])
def test_any_integers_will_do(dtype):
    boxes, scores = np.array([[0, 0, 200, 250], [4, 4, 200, 250], [250, 0, 255, 9]], int), np.array([1, 2, 3])
    found = boxes.clip(0, 120).astype(dtype), scores.astype(dtype)
    assert suppress(*found, np.uint64(128)).tolist() == reference.suppress(*listed(*found))
    assert groups(*group(*found, np.int8(0))) == reference.group(*listed(*found), 0)


# Grouping


@pytest.mark.parametrize(
    ("boxes", "scores", "neighbours", "overlap", "expected"),
    [
        ([[0, 0, 4, 4]], [5], 0, 128, [([0, 0, 4, 4], 5, 1)]),  # no neighbour asked for
        ([[0, 0, 4, 4]], [5], 1, 128, []),  # one asked for, none there
        ([[0, 0, 4, 4], [0, 0, 4, 4]], [5, 6], 1, 128, [([0, 0, 4, 4], 6, 2)]),  # each is the other's
        ([[0, 0, 4, 4], [0, 0, 4, 4]], [5, 6], 2, 128, []),  # as with OpenCV, two boxes are one neighbour
        ([[0, 0, 8, 8], [1, 1, 8, 8]], [1, 2], 0, 128, [([1, 1, 8, 8], 2, 2)]),  # the mean 1/2 becomes 1
        ([[-1, 0, 7, 8], [0, 0, 7, 8]], [1, 2], 0, 128, [([0, 0, 7, 8], 2, 2)]),  # the mean -1/2 becomes 0
        ([[-2, 0, 7, 8], [-1, 0, 7, 8]], [1, 2], 0, 128, [([-1, 0, 7, 8], 2, 2)]),  # and -3/2 becomes -1
        ([[0, 0, 6, 6], [0, 2, 6, 8], [0, 4, 6, 10]], [1, 3, 2], 2, 128, [([0, 2, 6, 8], 3, 3)]),  # linked
        ([[0, 0, 6, 6], [0, 4, 6, 10]], [1, 2], 1, 128, []),  # the same without the link
        ([[0, 0, 3, 4], [1, 0, 4, 4]], [1, 2], 1, 129, []),  # IoU 1/2 is below 129/256
        ([[7, 0, 9, 2], [0, 0, 2, 2]], [4, 4], 0, 128, [([0, 0, 2, 2], 4, 1), ([7, 0, 9, 2], 4, 1)]),  # left
        ([[7, 0, 9, 2], [0, 0, 2, 2]], [4, 3], 0, 128, [([7, 0, 9, 2], 4, 1), ([0, 0, 2, 2], 3, 1)]),  # best
        ([[1, 1, 1, 5], [1, 1, 1, 5]], [1, 1], 0, 1, [([1, 1, 1, 5], 1, 1)] * 2),  # no area, no neighbour
    ],
)
def test_grouping_by_hand(boxes, scores, neighbours, overlap, expected):
    arrays = group(np.array(boxes, np.int32), np.array(scores, np.int32), neighbours, overlap)
    assert groups(*arrays) == expected
    assert reference.group(boxes, scores, neighbours, overlap) == expected
    assert all(array.dtype == np.int32 for array in arrays)


@given(candidates(), st.integers(0, 3), OVERLAPS)
def test_grouping_equals_the_twin(found, neighbours, overlap):
    twin = reference.group(*listed(*found), neighbours, overlap)
    assert groups(*group(*found, neighbours, overlap)) == twin


@pytest.mark.parametrize("objects", [1, 12, 150])
@pytest.mark.parametrize("block", [1, 1000, suppression.BLOCK])
def test_grouping_of_a_crowd_equals_the_twin(objects, block, monkeypatch):
    monkeypatch.setattr(suppression, "BLOCK", block)
    found = crowd(300, objects)
    assert groups(*group(*found, 1, 150)) == reference.group(*listed(*found), 1, 150)


@pytest.mark.parametrize("block", [1, suppression.BLOCK])
def test_a_long_chain_is_one_group(block, monkeypatch):
    """In an order that links it from its ends, its middle and between."""
    monkeypatch.setattr(suppression, "BLOCK", block)
    left = np.random.default_rng(0).permutation(500) * 2
    boxes = np.stack([left * 0, left, left * 0 + 6, left + 6], axis=1)
    assert groups(*group(boxes, left, 499, 128)) == [([0, 499, 6, 505], 998, 500)]


def test_of_groups_with_the_same_box_and_score_the_larger_is_first():
    """A box, and four bars that frame it: their mean is that very box."""
    box = [-5, -5, 6, 6]
    bars = [[-10, -10, 10, -8], [8, -10, 10, 10], [-10, 8, 10, 10], [-10, -10, -8, 10]]
    assert groups(*group(np.array([box, *bars]), np.ones(5, int), 0, 10)) == [(box, 1, 4), (box, 1, 1)]
    assert groups(*group(np.array([*bars, box]), np.ones(5, int), 0, 10)) == [(box, 1, 4), (box, 1, 1)]


@given(candidates(), OVERLAPS, st.randoms(use_true_random=False))
def test_grouping_does_not_depend_on_the_order_of_candidates(found, overlap, random):
    boxes, scores = found
    order = random.sample(range(len(boxes)), len(boxes))
    assert groups(*group(boxes[order], scores[order], 0, overlap)) == groups(*group(*found, 0, overlap))


@given(candidates(), st.integers(0, 4), OVERLAPS)
def test_every_box_counts_once_and_neighbours_only_drop(found, neighbours, overlap):
    everything = groups(*group(*found, 0, overlap))
    assert sum(count for *_, count in everything) == len(found[0])
    some = [one for one in everything if one[2] > neighbours]
    assert groups(*group(*found, neighbours, overlap)) == some


@given(candidates(), st.integers(-50, 50), st.integers(-50, 50))
def test_results_move_with_the_boxes(found, x, y):
    boxes, scores = found
    moved = boxes + np.array([x, y, x, y], np.int32)
    assert suppress(moved, scores).tolist() == suppress(boxes, scores).tolist()
    means, highest, counts = group(boxes, scores, 0)
    assert groups(*group(moved, scores, 0)) == groups(means + [x, y, x, y], highest, counts)


def test_nothing_becomes_nothing():
    nothing = np.empty((0, 4), np.int32), np.empty(0, np.int32)
    assert suppress(*nothing).tolist() == []
    assert suppress(*nothing).dtype == np.intp
    assert [array.shape for array in group(*nothing, 0)] == [(0, 4), (0,), (0,)]


def test_inputs_are_left_alone():
    boxes, scores = crowd(50, 5)
    before = boxes.copy(), scores.copy()
    boxes.flags.writeable = scores.flags.writeable = False
    suppress(boxes, scores)
    group(boxes, scores, 1)
    np.testing.assert_array_equal(boxes, before[0])
    np.testing.assert_array_equal(scores, before[1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"boxes": np.zeros((1, 4))}, r"integer boxes of shape \(n, 4\), got float64 of shape \(1, 4\)"),
        ({"boxes": np.zeros((1, 5), int)}, r"got int64 of shape \(1, 5\)"),  # not four corners
        ({"boxes": np.zeros(4, int)}, r"got int64 of shape \(4,\)"),  # one box is not a list of boxes
        ({"scores": np.zeros(2, int)}, r"scores of shape \(1,\), got int64 of shape \(2,\)"),  # one too many
        ({"scores": np.zeros(1)}, "got float64"),  # scores are integers
        ({"scores": np.array([1 << 31])}, "fit into int32, got 2147483648"),  # beyond int32
        ({"boxes": np.array([[0, 0, 1 << 26, 1]])}, "within .* got 0 to 67108864"),  # areas would overflow
        ({"boxes": np.array([[-(1 << 31), 0, 1, 1]])}, "got -2147483648 to 1"),  # whose negative overflows
        ({"boxes": np.array([[5, 0, 4, 1]])}, r"got \[5, 0, 4, 1\] in row 0"),  # right of its right edge
        ({"overlap": 0.5}, r"overlap \(in 1/256\) to be an integer from 1 to 256, got 0.5"),  # a likely slip
        ({"overlap": 0}, "got 0"),  # would drop all but one
        ({"overlap": 257}, "got 257"),  # would drop nothing
        ({"overlap": True}, "got True"),  # not a number
    ],
)
def test_candidates_that_cannot_be(changes, message):
    good = {"boxes": np.array([[0, 0, 4, 4]]), "scores": np.array([1])}
    with pytest.raises(ValueError, match=message):
        suppress(**{**good, **changes})
    with pytest.raises(ValueError, match=message):
        group(**{**good, **changes}, neighbours=1)


def test_choices_that_cannot_be():
    good = np.array([[0, 0, 4, 4]]), np.array([1])
    with pytest.raises(ValueError, match=r"measure out of \('iou', 'smaller'\), got 'giou'"):
        suppress(*good, measure="giou")
    for neighbours in (-1, 1.0):
        with pytest.raises(ValueError, match=f"neighbours to be an integer from 0 .* got {neighbours}"):
            group(*good, neighbours)


# Detections


def detections(count=3, class_names=("face", "naïve cat")):
    """Some boxes with as many different values as there are fields."""
    start = np.arange(count)[:, None] * [10.0, 20.0]
    return Detections(
        xyxy=np.hstack([start, start + [5.25, 8.126]]),
        score=100 - np.arange(count),
        probability=1 / (2 + np.arange(count)),
        class_id=np.arange(count) % max(1, len(class_names)),
        class_names=class_names,
    )


GOOD = {"xyxy": [[0, 1, 2, 3]], "score": [4], "probability": [0.5], "class_id": [0], "class_names": ("face",)}


def test_fields_have_their_types_and_cannot_be_changed():
    found = detections()
    types = [(found.xyxy, np.float32), (found.score, np.int32), (found.probability, np.float32),
             (found.class_id, np.int32)]  # fmt: skip
    for array, dtype in types:
        assert array.dtype == dtype
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        found.score = None
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)


def test_detections_keep_a_copy():
    mine = np.array([4], np.int32)
    found = Detections(**{**GOOD, "score": mine})
    mine[0] = 5
    assert found.score.tolist() == [4]


def test_one_after_the_other():
    found = detections()
    assert len(found) == len(list(found)) == 3
    assert found[1] == list(found)[1] == found[np.int64(-2)]
    assert found[1] == Detection((10.0, 20.0, 15.25, float(np.float32(28.126))), 99, float(np.float32(1 / 3)),
                                 1, "naïve cat")  # fmt: skip
    assert [type(value) for value in found[1]] == [tuple, int, float, int, str]
    with pytest.raises(IndexError, match="out of bounds"):
        found[3]


@pytest.mark.parametrize(
    ("part", "scores"),
    [
        (slice(None), [100, 99, 98]),  # all
        (slice(1, None), [99, 98]),  # from the second on
        (slice(None, None, -1), [98, 99, 100]),  # backwards
        (slice(7, 9), []),  # beyond the end
        (np.array([2, 0, 2]), [98, 100, 98]),  # any order, also twice
        ([1, -1], [99, 98]),  # a list; counted from the end
        ([], []),  # none
        (np.array([True, False, True]), [100, 98]),  # a mask
        ([False, True, False], [99]),  # a mask as a list
        (np.zeros(3, bool), []),  # a mask that fits nothing
    ],
)
def test_parts(part, scores):
    found = detections()
    chosen = found[part]
    assert chosen.score.tolist() == scores
    assert list(chosen) == [one for score in scores for one in found if one.score == score]
    assert chosen.class_names == found.class_names


@pytest.mark.parametrize(
    ("part", "error"),
    [
        (np.array([True, False]), IndexError),  # a mask of another length
        ([5], IndexError),  # beyond the end
        (np.array([0.0]), IndexError),  # not an index
        (np.array([[0, 1]]), ValueError),  # two-dimensional
        ((0, 1), IndexError),  # there is one axis only
    ],
)
def test_parts_that_are_not_there(part, error):
    with pytest.raises(error):
        detections()[part]


def test_suppressed_indices_choose_detections():
    boxes, scores = np.array([[0, 0, 9, 9], [1, 0, 9, 9], [20, 0, 29, 9]]), np.array([1, 2, 3])
    found = Detections(boxes, scores, scores / 4, [0, 0, 0], ("face",))
    assert found[suppress(boxes, scores)].score.tolist() == [3, 2]


@pytest.mark.parametrize(
    ("changes", "equal"),
    [
        ({}, True),  # the same values
        ({"xyxy": np.array([[0, 1, 2, 3]], np.float64)}, True),  # as other types
        ({"class_names": ["face"]}, True),  # as a list
        ({"xyxy": [[0, 1, 2, 4]]}, False),  # another box
        ({"score": [5]}, False),  # another score
        ({"probability": [0.25]}, False),  # another probability
        ({"class_names": ("cat",)}, False),  # another name
        ({"class_names": ("face", "cat")}, False),  # one more name
    ],
)
def test_equality(changes, equal):
    assert (Detections(**GOOD) == Detections(**{**GOOD, **changes})) is equal


def test_equality_with_other_things():
    assert detections(3) != detections(2)
    assert detections(2)[:1] != detections(2)[1:]
    assert Detections.empty() != []
    assert Detections.empty() == Detections.empty()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"xyxy": [0, 1, 2, 3]}, r"expected xyxy of shape \(n, 4\), got \(4,\)"),  # one box, not a list
        ({"xyxy": [[0, 1, 2]]}, r"expected xyxy of shape \(n, 4\), got \(1, 3\)"),  # three corners
        ({"xyxy": []}, r"expected xyxy of shape \(n, 4\), got \(0,\)"),  # no corners at all
        ({"xyxy": 7}, r"expected xyxy of shape \(n, 4\), got \(\)"),  # a number
        ({"score": [4, 4]}, r"expected score of shape \(1,\), got \(2,\)"),  # one too many
        ({"probability": []}, r"expected probability of shape \(1,\), got \(0,\)"),  # one too few
        ({"class_id": [[0]]}, r"expected class_id of shape \(1,\), got \(1, 1\)"),  # a column
        ({"score": [0.5]}, "expected score as int32, got float64"),  # would be cut off
        ({"score": [1 << 31]}, "expected score that fits into int32, got 2147483648 in row 0"),  # would wrap
        ({"xyxy": [["a"] * 4]}, "expected xyxy as float32, got <U1"),  # not numbers
        ({"xyxy": [[0, 0, np.nan, 1]]}, "expected xyxy as finite .* nan, 1.0. in row 0"),  # not a number
        ({"xyxy": [[0, 0, 1e300, 1]]}, "expected xyxy as finite .* inf, 1.0. in row 0"),  # beyond float32
        ({"xyxy": [[3, 0, 2, 1]]}, "left, top, right, bottom, got .3.0, 0.0, 2.0, 1.0. in row 0"),  # turned
        ({"probability": [1.5]}, "expected probability from 0 to 1, got 1.5 in row 0"),  # above 1
        ({"probability": [np.nan]}, "expected probability from 0 to 1, got nan in row 0"),  # not a number
        ({"class_id": [1]}, "class_id that counts 1 class_names from 0, got 1 in row 0"),  # no such name
        ({"class_id": [-1]}, "class_id that counts 1 class_names from 0, got -1 in row 0"),  # nor this
        ({"class_names": ()}, "class_id that counts 0 class_names from 0, got 0 in row 0"),  # no names
        ({"class_names": "face"}, "class_names as a tuple of texts, got 'face'"),  # letters are no names
        ({"class_names": (1,)}, "class_names as a tuple of texts, got"),  # nor are numbers
    ],
)
def test_impossible_detections_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Detections(**{**GOOD, **changes})


def test_the_first_wrong_row_is_named():
    with pytest.raises(ValueError, match=r"got 2\.0 in row 1"):
        Detections(np.zeros((4, 4)), [0] * 4, [0, 2, 0, 3], [0] * 4, ("face",))


def test_empty():
    nothing = Detections.empty(["face"])
    assert (len(nothing), list(nothing), nothing.class_names) == (0, [], ("face",))
    assert nothing == detections(class_names=("face",))[:0]
    assert Detections.empty().class_names == ()
    assert nothing.to_coco(1) == []
    assert nothing.to_json() == "[]"


def test_concatenate():
    found = detections()
    assert Detections.concatenate([found[:1], found[1:1], found[1:]]) == found
    assert Detections.concatenate([Detections.empty(), found]) == found
    assert Detections.concatenate([]) == Detections.empty()
    assert list(Detections.concatenate([found, found])) == [*found, *found]
    with pytest.raises(ValueError, match=r"same class_names, got \[\('face', 'naïve cat'\), \('dog',\)\]"):
        Detections.concatenate([found, detections(1, ("dog",))])


def test_to_coco():
    rows = detections().to_coco(7)
    assert rows[1] == {"image_id": 7, "category_id": 2, "bbox": [10.0, 20.0, 5.25, 8.13],
                       "score": np.float32(1 / 3)}  # fmt: skip
    assert [row["category_id"] for row in rows] == [1, 2, 1]
    assert [row["category_id"] for row in detections().to_coco("a", [18, 90])] == [18, 90, 18]
    assert json.loads(json.dumps(rows)) == rows  # plain numbers only
    with pytest.raises(ValueError, match="expected 2 category_ids, got 1"):
        detections().to_coco(7, [18])


def test_numbers_are_rounded_for_people():
    found = Detections(**{**GOOD, "xyxy": [[-0.001, 0.1, 1234.567, 0.1]]})
    assert json.dumps(found.to_coco(1)[0]["bbox"]) == "[0.0, 0.1, 1234.57, 0.0]"
    assert '"xyxy": [0.0, 0.1, 1234.57, 0.1]' in found.to_json()


def test_to_json():
    text = detections().to_json()
    assert "naïve cat" in text
    rows = json.loads(text)
    assert len(rows) == 3
    assert rows[1] == {"xyxy": [10.0, 20.0, 15.25, 28.13], "score": 99, "probability": np.float32(1 / 3),
                       "class_id": 1, "class_name": "naïve cat"}  # fmt: skip


def test_to_supervision():
    supervision = pytest.importorskip("supervision", reason="supervision is not installed")
    theirs = detections().to_supervision()
    assert isinstance(theirs, supervision.Detections)
    np.testing.assert_array_equal(theirs.xyxy, detections().xyxy)
    assert theirs.data["class_name"].tolist() == ["face", "naïve cat", "face"]
    assert len(theirs[theirs.confidence > 0.3]) == 2
    assert len(Detections.empty().to_supervision()) == 0


def test_what_supervision_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "supervision", SimpleNamespace(Detections=dict))
    found = detections()
    given = found.to_supervision()
    assert list(given) == ["xyxy", "confidence", "class_id", "data"]
    np.testing.assert_array_equal(given["confidence"], found.probability)
    given["xyxy"][0] = 0  # theirs to change
    assert given["class_id"].tolist() == found.class_id.tolist()
    assert given["data"]["class_name"].tolist() == ["face", "naïve cat", "face"]


def test_without_supervision(monkeypatch):
    monkeypatch.setitem(sys.modules, "supervision", None)
    with pytest.raises(ImportError, match="pip install supervision"):
        detections().to_supervision()
