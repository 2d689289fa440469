"""The batched, threaded detector against the plain core and the twin, bit for bit; frames, sizes, traces."""

import threading
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cascade import channels
from cascade._ext import detect as kernels
from cascade.boxes import Detections
from cascade.detector import MOST, Detector, runtime, spots_on
from cascade.detector import channels as channels_of
from cascade.model import NEVER_ACCEPT, NEVER_REJECT, Model
from cascade.pyramid import Pyramid
from cascade.sigmoid import Sigmoid
from cascade.suppression import best_first, group, suppress
from tests.reference import channels as reference

PRUNE = {"never": None, "little": -1.5, "much": 0.1, "all": 99.0}  # reject below so many deviations
LAMBDAS = (0, 7000, 9000)
MANY = 1000  # candidates, of which suppression takes long


def random_model(
    seed=0, *, depth=2, trees=12, window=(5, 4), cell=2, normalise=8, smooth=1, accepting=False,
    prune="little", shift=0, reach=100, every=1, kind="cell", channels="grey", **fields,
) -> Model:  # fmt: skip
    """Random trees with leaves up to `reach`, of which each `every`-th may reject."""
    random = np.random.default_rng(seed)
    nodes = 2**depth - 1
    if kind == "haar":
        cell, normalise = 1, 0
    planes = 1 if kind == "haar" else {"grey": 8, "colour": 10}[channels]
    rectangles = random_rectangles(random, kind, planes, window)
    count = len(rectangles) or planes * window[0] * window[1]
    leaf = random.integers(-reach, reach + 1, (trees, nodes + 1))
    leaf = np.clip(leaf - leaf.mean(axis=1, keepdims=True).astype(int), -reach, reach)
    spread = 0.5 * reach * np.sqrt(np.arange(1, trees + 1))  # of a random sum
    reject, accept = np.full(trees, NEVER_REJECT), np.full(trees, NEVER_ACCEPT)
    if PRUNE[prune] is not None:
        checked = np.arange(trees) % every == every - 1
        reject[checked] = np.clip((PRUNE[prune] * spread[checked]).astype(int) >> shift, -32767, 32000)
    some = random.random(trees) < 0.5
    accept[some] = np.clip((1.5 * spread[some]).astype(int) >> shift, np.maximum(reject[some], -9) + 1, 32766)
    values = {
        "name": "random", "kind": kind, "channels": channels, "cell": cell, "window": window,
        "classes": ("thing",), "box": (64, 32, 256 * window[0] - 100, 256 * window[1] - 32),
        "lambdas": LAMBDAS, "feature": random.integers(0, count, (trees, nodes)),
        "threshold": np.zeros((trees, nodes), int),
        "leaf": leaf, "reject": reject, "reject_shift": shift, "accept": accept if accepting else None,
        "normalise": normalise, "smooth": smooth, "rectangles": rectangles,
    }  # fmt: skip
    blank = Model(**{**values, **fields})
    return Model(**{**values, "threshold": thresholds(random, blank), **fields})


def random_rectangles(random, kind, planes, window):
    """Such as rect and haar models look at."""
    if kind == "cell":
        return []
    x, y = (np.sort([random.permutation(side + 1)[:2] for _ in range(60)]) for side in window)
    rows = np.stack([x[:, 0], y[:, 0], x[:, 1] - x[:, 0], y[:, 1] - y[:, 0]], axis=1)
    if kind == "rect":
        return np.column_stack([random.integers(0, planes, len(rows)), rows])
    weight = random.choice([-3, -2, -1, 1, 2, 3], len(rows))
    triples = np.column_stack([rows, weight]).reshape(-1, 3, 5)
    triples[::2, 2] = 0  # not used
    return triples


def thresholds(random, model):
    """Such as to tell windows apart: values in a photo; a few nodes are not split."""
    width, height = model.window
    image = reference.resize(twin_image(model, photo(48, 60, 7)), 8 * width, 8 * height)
    seen = reference.planes(image, model.cell, model.normalise, model.smooth)
    rows = random.integers(0, seen.shape[1] - height + 1, 5)
    columns = random.integers(0, seen.shape[2] - width + 1, 5)
    windows = [
        reference.Values(model, seen[:, y : y + height, x : x + width])
        for y, x in zip(rows, columns, strict=True)
    ]
    never = 2**31 - 1 if model.kind == "rect" else 255
    split = random.random(model.feature.shape) < 0.95
    found = [windows[random.integers(5)][int(feature)] for feature in model.feature.flat]
    return np.where(split, np.reshape(found, model.feature.shape), never)


def twin_image(model, frame):
    """A frame as the twin wants it."""
    if model.channels == "colour":
        return reference.colours(frame)
    return reference.grey(frame) if frame.ndim == 3 else frame


def coloured(height, width, seed=0):
    return np.stack([photo(height, width, 3 * seed + k) for k in range(3)], axis=-1)


def photo(height, width, seed=0):
    """Blobs and noise: neighbouring windows differ, but not in everything."""
    random = np.random.default_rng(seed)
    blobs = random.integers(0, 256, (height // 7 + 1, width // 7 + 1)).repeat(7, axis=0).repeat(7, axis=1)
    noisy = blobs[:height, :width] + random.integers(-30, 31, (height, width))
    return np.clip(noisy, 0, 255).astype(np.uint8)


def plan_of(model, image, stride=1, per_octave=8, min_size=None, max_size=None, exact=False):
    return Pyramid.plan(model, image.shape[1], image.shape[0], min_size, max_size, per_octave, stride, exact)


def scanned(model, image, plan, threads=1):
    """Boxes, scores and visited trees of each level, by the batched kernel; nothing is written elsewhere."""
    if not plan.levels:
        return np.empty((0, 4), int), np.empty(0, int), []
    planes = np.full(plan.plane_bytes + 64, 77, np.uint8)
    found = np.full(2 * plan.windows + 16, -77, np.int32)
    counts, visits = np.empty((2, len(plan.levels)), np.int64)
    images = plan.images(channels_of(model).image(image), model.cell)
    core = runtime(model)
    core.detect(images, plan.table, spots_on(plan, core), planes, found, counts, visits, threads)
    assert (planes[-64:] == 77).all()
    assert (found[-16:] == -77).all()
    pairs = np.concatenate(
        [
            found[2 * start : 2 * (start + count)].reshape(-1, 2)
            for start, count in zip(plan.table[:, 8], counts, strict=True)
        ]
    )
    levels = np.repeat(np.arange(len(counts)), counts)
    return plan.boxes(model, levels, pairs[:, 0]), pairs[:, 1], visits.tolist()


def plain(model, image, plan):
    """The same, window by window, by the plain core."""
    core, made = runtime(model), []
    boxes, scores, visits = [np.empty((0, 4), int)], [np.empty(0, int)], []
    images = plan.images(channels_of(model).image(image), model.cell) if plan.levels else []
    for index, (level, own, step) in enumerate(zip(plan.levels, images, plan.table[:, 6], strict=True)):
        if own is not None:
            planes = channels_of(model).planes(own)
        else:
            pairs = zip(made[level.source], reference.gains_of(model, level), strict=True)
            sizes = level.width, level.height
            planes = np.concatenate([channels.resample(plane[None], *sizes, gain) for plane, gain in pairs])
        made.append(planes)
        shape = level.height - model.window[1] + 1, level.width - model.window[0] + 1
        score, trees = np.empty((2, *shape), np.int32)
        core.classify(planes, score, trees)
        looked = np.zeros(shape, bool)
        looked[::step, ::step] = True
        windows = np.flatnonzero(looked & (trees > 0)).astype(np.int32)
        boxes.append(plan.boxes(model, np.full(len(windows), index), windows))
        scores.append(score.ravel()[windows])
        visits.append(int(abs(trees[looked]).sum()))
    return np.concatenate(boxes), np.concatenate(scores), visits


def check_same(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def check(model, image, threads=(1, 2, 5), twin=True, **planning):
    """The kernel finds what the plain core and the twin find, with any number of threads."""
    plan = plan_of(model, image, **planning)
    expected = plain(model, image, plan)
    if twin:
        check_same(expected, reference.detect(model, twin_image(model, image), plan))
    for count in threads:
        check_same(scanned(model, image, plan, count), expected)
    return expected


def after_suppression(model, candidates, overlap=256, measure="iou"):
    """What the detector must return for these candidates."""
    boxes, scores, _ = candidates
    kept = suppress(boxes.astype(np.int32), scores.astype(np.int32), overlap, measure)
    decision = scores[kept] * model.score_unit
    odds = np.ones(len(kept)) if model.sigmoid is None else model.sigmoid(decision)
    classes = np.zeros(len(kept), np.int32)
    return Detections(boxes[kept], scores[kept], odds.astype(np.float32), classes, model.classes)


FACES = random_model(11, prune="much", trees=20, sigmoid=Sigmoid(0.01, 0.1), score_unit=0.5)


# ---- Equal to the plain core and the twin ----------------------------------------------------------------


@pytest.mark.parametrize("prune", PRUNE)
@pytest.mark.parametrize("accept", [False, True], ids=["", "accept"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_equal(depth, accept, prune):
    for seed, (stride, shift) in enumerate([(1, 0), (2, 0), (3, 1), (1, 4)]):
        model = random_model(
            seed, depth=depth, accepting=accept, prune=prune, shift=shift, every=1 + seed % 3,
            cell=(2, 4)[seed % 2], smooth=seed % 2, normalise=(0, 8, 255)[seed % 3],
            window=((5, 4), (3, 7), (6, 6), (8, 2))[seed],
        )  # fmt: skip
        image = photo(50, 62, seed)
        expected = check(model, image, stride=stride)
        for threads in (1, 2, 5):
            detector = Detector(model, threads, stride=stride, overlap=1.0, measure="iou")
            assert detector.detect(image) == after_suppression(model, expected)


KINDS = [(kind, mode) for kind, mode in product(("cell", "rect", "haar"), ("grey", "colour"))][:-1]


@pytest.mark.parametrize("exact", [False, True], ids=["", "exact"])
@pytest.mark.parametrize(("kind", "mode"), KINDS)
def test_equal_for_every_kind(kind, mode, exact):
    """Grey and colour frames alike; batches of depth 2 and others."""
    variants = [(2, "little", 2), (2, "much", 4), (1, "never", 2), (3, "much", 2)]
    for seed, (depth, prune, cell) in enumerate(variants):
        window = (9, 7) if kind == "haar" else (5, 4)
        model = random_model(
            seed, kind=kind, channels=mode, depth=depth, prune=prune, cell=cell, smooth=seed % 2,
            normalise=(0, 8, 30)[seed % 3], window=window, lambdas=(-3000, 7000, 9000),
        )  # fmt: skip
        for image in (photo(34, 41, seed), coloured(33, 36, seed)):
            expected = check(model, image, stride=1 + seed % 2, exact=exact)
            detector = Detector(model, 2, stride=1 + seed % 2, overlap=1.0, measure="iou", exact=exact)
            assert detector.detect(image) == after_suppression(model, expected)


@settings(max_examples=60)
@given(st.data())
def test_equal_for_any_model_of_any_kind(data):
    draw = data.draw
    kind, mode = draw(st.sampled_from(KINDS))
    model = random_model(
        draw(st.integers(0, 999)), kind=kind, channels=mode, depth=draw(st.integers(1, 3)),
        trees=draw(st.integers(1, 20)), window=draw(st.tuples(st.integers(1, 9), st.integers(1, 9))),
        cell=draw(st.sampled_from([2, 4])), normalise=draw(st.sampled_from([0, 8, 255])),
        smooth=draw(st.integers(0, 1)), accepting=draw(st.booleans()),
        prune=draw(st.sampled_from(list(PRUNE))), reach=draw(st.sampled_from([1, 100, 12000])),
        every=draw(st.integers(1, 4)),
    )  # fmt: skip
    make = draw(st.sampled_from([photo, coloured]))
    image = make(draw(st.integers(0, 60)), draw(st.integers(0, 80)), draw(st.integers(0, 99)))
    steps = {"stride": draw(st.integers(1, 3)), "per_octave": draw(st.sampled_from([1, 3, 8]))}
    check(model, image, twin=image.size < 1500, exact=draw(st.booleans()), **steps)


def test_equal_at_the_ends_of_contrast():
    """Flat windows, the largest contrast, and responses exactly at a threshold."""
    board = np.indices((24, 24)).sum(axis=0) // 4 % 2 * 255
    for image in (board, board // 128 + 100, 0 * board, 0 * board + 255, np.indices((24, 24))[0] * 10):
        for threshold in (0, 1, 127, 128, 129, 191, 192, 254, 255):
            model = random_model(
                1, kind="haar", window=(8, 8), trees=3, smooth=0, prune="never",
                threshold=np.full((3, 3), threshold),
            )
            check(model, image.astype(np.uint8), threads=(1,), per_octave=1)


def test_exact_levels_are_those_of_scaled_frames():
    """Planes between octaves are those of the frame at that size, not resampled ones."""
    model, image = random_model(), photo(64, 64)
    plan = plan_of(model, image, exact=True)
    assert [level.source for level in plan.levels] == [-1] * len(plan.levels)
    for level, own in zip(plan.levels[:8], plan.images(image[None], 2), strict=False):
        np.testing.assert_array_equal(own[0], reference.resize(image, 2 * level.width, 2 * level.height))


def test_the_models_do_prune():
    """Otherwise the tests above would show little."""
    shares = []
    for prune in PRUNE:
        model = random_model(1, prune=prune, trees=30)
        plan = plan_of(model, photo(90, 120))
        boxes, _, visits = plain(model, photo(90, 120), plan)
        shares.append(len(boxes) / plan.windows)
        assert sum(visits) >= plan.windows
    never, little, much, everything = shares
    assert never == 1.0
    assert 0.5 < little < 0.99
    assert 0.001 < much < 0.1
    assert everything == 0.0


@settings(max_examples=150)
@given(st.data())
def test_equal_for_any_model_and_frame(data):
    draw = data.draw
    model = random_model(
        draw(st.integers(0, 999)), depth=draw(st.integers(1, 4)), trees=draw(st.integers(1, 40)),
        window=draw(st.tuples(st.integers(1, 9), st.integers(1, 9))), cell=draw(st.sampled_from([2, 4])),
        normalise=draw(st.sampled_from([0, 8, 255])), smooth=draw(st.integers(0, 1)),
        accepting=draw(st.booleans()), prune=draw(st.sampled_from(list(PRUNE))),
        shift=draw(st.integers(0, 15)), reach=draw(st.sampled_from([1, 100, 3000, 12000, 32767])),
        every=draw(st.integers(1, 4)),
    )  # fmt: skip
    width, height = draw(st.integers(0, 120)), draw(st.integers(0, 90))
    sizes = {side: draw(st.none() | st.integers(1, 60)) for side in ("min_size", "max_size")}
    steps = {"stride": draw(st.integers(1, 3)), "per_octave": draw(st.sampled_from([1, 3, 8, 13]))}
    image = photo(height, width, draw(st.integers(0, 99)))
    expected = check(model, image, twin=width * height < 1500, **steps, **sizes)
    if len(expected[0]) < MANY:
        detector = Detector(model, draw(st.sampled_from([1, 2, 5])), **steps)
        assert detector.detect(image, **sizes) == after_suppression(model, expected, 128, "smaller")


def test_equal_for_every_small_frame():
    model = random_model(3, window=(3, 2), trees=6, prune="much")
    found = 0
    for height, width in product([*range(12), 17, 26], repeat=2):
        found += len(check(model, photo(height, width, width), threads=(2,))[0])
    assert found


@pytest.mark.parametrize("reach", [1, 2047, 2048, 8191, 8192, 16383, 32766, 32767])
def test_equal_where_scores_leave_16_bits(reach):
    """How many trees the batch may do depends on the largest sum that they can reach."""
    for seed, prune in enumerate(PRUNE):
        model = random_model(seed, trees=20, reach=reach, prune=prune, shift=4)
        check(model, photo(30, 40, seed))


@pytest.mark.parametrize("leaf", [32767, 32766, 16383, -16383, -16384, -32766, -32767, -32768])
def test_equal_with_extreme_leaves(leaf):
    """Sums at the very ends of 16 bits, and beyond."""
    trees = 5
    for shift, reject in product((0, 1, 15), (NEVER_REJECT, -32767, -16384, -1, 0, 16383, 32767)):
        model = random_model(
            trees=trees, leaf=np.full((trees, 4), leaf), reject=np.full(trees, reject), reject_shift=shift
        )
        check(model, photo(14, 16), threads=(1,))


def test_equal_when_exactly_rejected_or_accepted():
    """At the threshold a window is out, or in; one unit further it is not."""
    for score, reject in product((-3, -2, -1), (-3, -2, -1)):
        model = random_model(trees=1, leaf=[[score] * 4], reject=[reject])
        boxes, scores, _ = check(model, photo(20, 20))
        assert bool(len(boxes)) == (score > reject)
        assert (scores == score).all()
    for score, accept in product((1, 2, 3), (1, 2, 3)):
        model = random_model(
            trees=2, leaf=[[score] * 4, [10] * 4], reject=[NEVER_REJECT] * 2, accept=[accept, NEVER_ACCEPT]
        )
        _, scores, _ = check(model, photo(20, 20))
        assert (scores == (score if score >= accept else score + 10)).all()


@pytest.mark.parametrize("stride", [1, 2, 3, 16, 17, 40])
@pytest.mark.parametrize("prune", ["little", "much"])
def test_equal_on_rows_wider_than_the_batch(stride, prune):
    """A batch is 512 windows; also widths right at its ends."""
    model = random_model(1, window=(2, 1), prune=prune, trees=8, box=(0, 0, 512, 256))
    expected = check(model, photo(4, 16000), twin=False, stride=stride)
    assert len(expected[0])
    for cells in (511, 512, 513, 514, 1023, 1026):
        check(model, photo(2, 2 * cells, cells), threads=(1,), twin=False, stride=stride)
    check(model, photo(2, 8300), threads=(1,), stride=stride)


@pytest.mark.parametrize("stride", [1, 2, 3, 7, 255])
def test_stride(stride):
    model = random_model(2, prune="never", trees=2)
    image = photo(40, 60)
    plan = plan_of(model, image, stride=stride)
    assert len(check(model, image, stride=stride)[0]) == plan.windows
    assert len(Detector(model, stride=stride, overlap=1.0, measure="iou").detect(image)) <= plan.windows


def test_a_larger_frame():
    model = random_model(8, trees=60, window=(9, 9), prune="much")
    expected = check(model, photo(240, 320), twin=False)
    assert len(expected[0]) > 50
    assert sum(expected[2]) > 10000


@pytest.mark.parametrize("exponent", [-(2**18), -65536, 65536, 70000, 2**18])
def test_equal_with_any_power_law(exponent):
    """Gains stay within 0 and 2, what the kernel has room for."""
    for lambdas in ((exponent, 0, 0), (0, exponent, 0), (0, 0, exponent)):
        plan = plan_of(random_model(lambdas=lambdas), photo(40, 50))
        assert all(0 <= gain <= 256 for level in plan.levels for gain in level.gains)
        check(random_model(lambdas=lambdas), photo(40, 50), threads=(1,))


def test_statistics():
    image = photo(60, 80)
    expected = plain(FACES, image, plan_of(FACES, image, min_size=12))
    statistics = Detector(FACES, 2).statistics(image, min_size=12)
    assert statistics.windows == plan_of(FACES, image, min_size=12).windows
    assert statistics.trees == sum(expected[2])
    assert list(statistics.seconds) == ["pixels", "channels", "pyramid", "scan", "suppression"]
    assert min(statistics.seconds.values()) >= 0
    assert Detector(FACES).statistics(photo(0, 9)).windows == 0


# ---- Frames ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def detector():
    return Detector(FACES)


def test_best_first(detector):
    found = detector.detect(photo(60, 80))
    assert len(found) > 3
    assert (np.diff(found.score) <= 0).all()
    candidates = plain(FACES, photo(60, 80), plan_of(FACES, photo(60, 80)))
    assert found == after_suppression(FACES, candidates, 128, "smaller")
    np.testing.assert_array_equal(
        found.probability, (1 / (1 + np.exp(-(0.005 * found.score + 0.1)))).astype(np.float32)
    )
    assert found.class_names == ("thing",)


@pytest.mark.parametrize("shape", [(0, 0), (0, 9), (9, 0), (1, 1), (7, 90), (90, 9), (8, 9)], ids=str)
@pytest.mark.parametrize("colours", [(), (1,), (3,)], ids=str)
def test_frames_too_small_hold_nothing(detector, shape, colours):
    found = detector.detect(np.zeros((*shape, *colours), np.uint8))
    assert len(found) == 0
    assert found.xyxy.shape == (0, 4)
    assert found.class_names == ("thing",)


def test_the_smallest_frame_that_holds_a_window():
    model = random_model(prune="never", window=(5, 4))
    assert len(Detector(model).detect(photo(8, 10))) == 1


def test_frames_of_any_layout(detector):
    colour = np.random.default_rng(1).integers(0, 256, (60, 80, 3), np.uint8)
    grey = reference.grey(colour)
    expected = detector.detect(grey)
    assert len(expected)
    wide = np.zeros((120, 240, 3), np.uint8)
    wide[::2, ::3] = colour
    sealed = colour.copy()
    sealed.flags.writeable = False
    same = [
        colour, sealed, np.asfortranarray(colour), wide[::2, ::3], colour[::-1][::-1],
        np.ascontiguousarray(colour[..., ::-1])[..., ::-1],
        np.ascontiguousarray(colour[::-1, ::-1])[::-1, ::-1],
        np.ascontiguousarray(colour.transpose(2, 0, 1)).transpose(1, 2, 0),
        np.dstack([colour, grey])[:, :, :3],
        grey, grey[:, :, None], np.asfortranarray(grey), np.dstack([grey, grey])[:, :, 1],
        np.frombuffer(grey.tobytes(), np.uint8).reshape(grey.shape),  # read-only
    ]  # fmt: skip
    for number, frame in enumerate(same):
        before = frame.copy()
        assert detector.detect(frame) == expected, number
        np.testing.assert_array_equal(frame, before)


def test_repeated_values_as_a_frame(detector):
    """Strides of zero."""
    flat = np.broadcast_to(np.uint8(90), (60, 80))
    assert detector.detect(flat) == detector.detect(flat.copy())
    stripes = np.broadcast_to(photo(1, 80), (60, 80))
    assert detector.detect(stripes) == detector.detect(stripes.copy())


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (np.zeros((40, 40), np.float32), "uint8.*float32"),
        (np.zeros((40, 40, 3)), "uint8.*float64"),
        (np.zeros((40, 40), np.int8), "uint8.*int8"),
        (np.zeros((40, 40), np.uint16), "uint8.*uint16"),
        (np.zeros((40, 40), bool), "uint8.*bool"),
        (np.zeros((40, 40, 4), np.uint8), r"\(40, 40, 4\).*alpha"),
        (np.zeros((40, 40, 2), np.uint8), r"\(40, 40, 2\)"),
        (np.zeros((40, 40, 0), np.uint8), r"\(40, 40, 0\)"),
        (np.zeros((2, 40, 40, 3), np.uint8), r"\(2, 40, 40, 3\)"),
        (np.zeros(40, np.uint8), r"\(40,\)"),
        (np.array(3, np.uint8), r"\(\)"),
        ([[0] * 40] * 40, "uint8.*list"),
        (None, "uint8.*None"),
        (b"abc", "uint8.*bytes"),
        ("frame.jpg", "uint8.*str"),
    ],
)
def test_other_frames_are_refused(detector, frame, words):
    with pytest.raises(ValueError, match=words):
        detector.detect(frame)
    with pytest.raises(ValueError, match=words):
        detector.trace(frame)


def test_frames_beyond_the_widest_are_refused(detector):
    with pytest.raises(ValueError, match=r"at most 16384.*min_size"):
        detector.detect(np.zeros((8, kernels.WIDEST + 1), np.uint8))
    with pytest.raises(ValueError, match=r"at most 16384"):
        detector.detect(np.zeros((10, 9000), np.uint8), min_size=1)


def test_a_frame_beyond_the_widest_is_scaled_down_first():
    model = random_model(1, window=(4, 4), box=(0, 0, 1024, 1024), trees=40, prune="much")  # 8 pixels
    image = photo(11, 20000)
    plan = plan_of(model, image, min_size=10)
    assert plan.base == (16000, 8)
    assert len(check(model, image, threads=(1,), min_size=10)[0])


# ---- Region, sizes, threshold ----------------------------------------------------------------------------


@given(
    st.tuples(st.integers(-50, 130), st.integers(-50, 100), st.integers(0, 150), st.integers(0, 150)),
    st.sampled_from([None, 7, 15]),
)
@example((0, 0, 80, 60), None)
@example((80, 60, 5, 5), None)
@example((-(2**40), -(2**40), 2**41, 2**41), None)
def test_region(roi, min_size):
    """The same as the part cut out, moved to where it was."""
    detector, image = Detector(FACES), photo(60, 80)
    x, y, width, height = roi
    left, top = min(max(x, 0), 80), min(max(y, 0), 60)
    part = image[top : max(y + height, 0), left : max(x + width, 0)]
    found = detector.detect(image, roi=roi, min_size=min_size)
    alone = detector.detect(part, min_size=min_size)
    np.testing.assert_array_equal(found.xyxy, alone.xyxy + np.array([left, top] * 2, np.float32))
    np.testing.assert_array_equal(found.score, alone.score)


def sides_of(found):
    return (found.xyxy[:, 2:] - found.xyxy[:, :2]).min(axis=1)


@pytest.mark.parametrize("window", [(4, 4), (4, 6), (8, 4)], ids=str)
@given(
    st.tuples(st.integers(30, 120), st.integers(30, 90)), st.none() | st.integers(1, 50),
    st.none() | st.integers(1, 70), st.sampled_from([1, 3, 8]), st.sampled_from([2, 4]),
)  # fmt: skip
@example((198, 129), 13, 100, 8, 2)  # few rows of cells: heights grow in larger steps than widths
@example((129, 198), 13, 100, 8, 2)
def test_sizes(window, shape, min_size, max_size, per_octave, cell):
    """The shorter sides of all boxes are as asked for."""
    box = (0, 0, 256 * window[0], 256 * window[1])
    model = random_model(prune="never", trees=1, cell=cell, window=window, box=box)
    detector = Detector(model, per_octave=per_octave, overlap=1.0, measure="iou", stride=2)
    sides = sides_of(detector.detect(photo(*shape[::-1]), min_size=min_size, max_size=max_size))
    least = max(min_size, 2 * cell) if min_size else 4 * cell  # upsampled at most to twice the size
    assert (sides >= least - 1).all()
    if max_size is not None:
        assert (sides <= max_size + 1).all()
    if least <= min(max_size or 99, min(shape) // 3):
        assert len(sides)
        assert sides.min() <= 1.3 * least + 1  # the smallest are looked for


def test_no_sizes_are_left_between_bounds_that_cross(detector):
    assert len(detector.detect(photo(60, 80), min_size=30, max_size=20)) == 0
    assert len(detector.detect(photo(60, 80), min_size=2**20)) == 0


@pytest.mark.parametrize("max_size", [30, 41, 60])
def test_no_size_is_left_out(max_size):
    """From the smallest to the largest, the next one is at most a little larger."""
    model = random_model(prune="never", trees=1, window=(4, 4), box=(0, 0, 1024, 1024))
    detector = Detector(model, overlap=1.0, measure="iou")
    sizes = np.unique(sides_of(detector.detect(photo(128, 128), min_size=12, max_size=max_size)))
    assert sizes[0] <= 13
    assert sizes[-1] >= max_size / 2 ** (1 / 8) - 2
    assert (sizes[1:] <= sizes[:-1] * 2 ** (1 / 8) + 3).all()


def test_small_objects_are_found_by_upsampling():
    """A bright square smaller than the window: only looked for if asked to."""
    model = random_model(
        trees=1, depth=1, window=(8, 8), box=(512, 512, 1024, 1024), normalise=0, smooth=0,
        feature=[[3 * 8 + 3]], threshold=[[200]], leaf=[[-1, 1]], reject=[-1],
    )  # fmt: skip
    image = np.zeros((40, 40), np.uint8)
    image[18:22, 18:22] = 255  # half the size of the object in the model
    detector = Detector(model, overlap=1.0, measure="iou")
    small = detector.detect(image, min_size=4, max_size=4)
    assert len(small)
    assert set(sides_of(small)) <= {4, 5}
    assert (abs(small.xyxy.mean(axis=0) - [18, 18, 22, 22]) <= 2).all()
    assert (sides_of(detector.detect(image)) >= 8).all()
    assert detector.detect(image, min_size=1) == detector.detect(image, min_size=4)  # twice is the most


def test_boxes_lie_where_the_object_is():
    """A bright square at any place and size is found there."""
    model = random_model(
        trees=2, depth=1, window=(6, 6), box=(256, 256, 1024, 1024), normalise=0, smooth=0,
        feature=[[2 * 6 + 2], [0]], threshold=[[250], [5]], leaf=[[-9, 1], [1, -9]], reject=[-1, -1],
    )  # fmt: skip
    detector = Detector(model, overlap=1.0, measure="iou")
    for side, x, y in [(8, 10, 20), (16, 50, 30), (32, 60, 40), (24, 7, 61), (50, 33, 44)]:
        image = np.zeros((121, 143), np.uint8)
        image[y : y + side, x : x + side] = 255
        found = detector.detect(image)
        assert len(found)
        truth = np.array([x, y, x + side, y + side])
        assert abs(found.xyxy - truth).max(axis=1).min() <= 2 + side // 8


def test_threshold_is_the_least_probability(detector):
    everything = Detector(FACES, overlap=1.0, measure="iou").detect(photo(60, 80))
    for least in (0.0, 0.3, 0.52, 0.6, 1.0):
        found = Detector(FACES, overlap=1.0, measure="iou").detect(photo(60, 80), threshold=least)
        assert found == everything[everything.probability >= np.float32(least)]
    assert 0 < len(detector.detect(photo(60, 80), threshold=0.52)) < len(everything)


def test_no_sigmoid_means_certain():
    found = Detector(random_model()).detect(photo(40, 40), threshold=1.0)
    assert len(found)
    assert (found.probability == 1.0).all()


# ---- Why a window was or was not found -------------------------------------------------------------------


@given(
    st.integers(0, 99), st.integers(1, 3), st.booleans(), st.sampled_from(list(PRUNE)), st.integers(0, 15),
    st.integers(1, 3), st.sampled_from([2, 4]),
)  # fmt: skip
def test_trace(seed, depth, accept, prune, shift, every, cell):
    model = random_model(
        seed, depth=depth, accepting=accept, prune=prune, shift=shift, every=every, cell=cell, trees=20
    )
    window = photo(4 * cell, 5 * cell, seed)
    trace = Detector(model).trace(window)
    planes = reference.planes(window, cell, model.normalise, model.smooth)
    sums, out = reference.trace(model, planes)
    np.testing.assert_array_equal(trace.scores, sums)
    np.testing.assert_array_equal(trace.reject, [int(value) << shift for value in model.reject[: len(sums)]])
    assert trace.accepted is not out
    assert trace.rejected_by == (len(sums) - 1 if out else None)
    found = Detector(model).detect(window)
    assert len(found) == (not out)
    if not out:
        assert found.score[0] == trace.scores[-1]


def test_trace_by_hand():
    leaf = [[5, 5], [-7, -7], [1, 1]]
    model = random_model(depth=1, trees=3, leaf=leaf, reject=[0, -1, -9], reject_shift=1)
    trace = Detector(model).trace(photo(8, 10))
    assert (trace.scores.tolist(), trace.reject.tolist()) == ([5, -2], [0, -2])
    assert (trace.accepted, trace.rejected_by) == (False, 1)
    model = random_model(depth=1, trees=3, leaf=leaf, reject=[0, -2, -9])
    trace = Detector(model).trace(photo(8, 10))
    assert trace.rejected_by == 1
    model = random_model(depth=1, trees=3, leaf=leaf, reject=[0, -3, -9])
    trace = Detector(model).trace(photo(8, 10))
    assert (trace.scores.tolist(), trace.accepted, trace.rejected_by) == ([5, -2, -1], True, None)
    model = random_model(
        depth=1, trees=3, leaf=leaf, reject=[0, -3, -9], accept=[5, NEVER_ACCEPT, NEVER_ACCEPT]
    )
    trace = Detector(model).trace(photo(8, 10))
    assert (trace.scores.tolist(), trace.accepted, trace.rejected_by) == ([5], True, None)


def test_trace_takes_frames_like_detect(detector):
    colour = np.random.default_rng(3).integers(0, 256, (8, 10, 3), np.uint8)
    expected = detector.trace(reference.grey(colour))
    for window in (colour, np.asfortranarray(colour), np.ascontiguousarray(colour[::-1])[::-1]):
        np.testing.assert_array_equal(detector.trace(window).scores, expected.scores)


@pytest.mark.parametrize("shape", [(8, 9), (10, 8), (1, 1), (16, 20), (100, 3)])
def test_trace_scales_a_window_of_another_size(detector, shape):
    expected = detector.trace(reference.resize(photo(*shape), 10, 8))
    np.testing.assert_array_equal(detector.trace(photo(*shape)).scores, expected.scores)


def test_trace_needs_pixels(detector):
    with pytest.raises(ValueError, match="with pixels, got shape"):
        detector.trace(np.zeros((0, 7), np.uint8))


def test_trace_says_why(detector):
    model = random_model(depth=1, trees=2, leaf=[[5, 5], [-7, -7]], reject=[0, -1])
    assert str(Detector(model).trace(photo(8, 10))) == "rejected by tree 2 of 2: score -2, had to exceed -1"
    model = random_model(depth=1, trees=2, leaf=[[5, 5], [-7, -7]], reject=[0, -3])
    assert str(Detector(model).trace(photo(8, 10))) == "accepted after 2 trees: score -2"


def test_only_the_best_of_very_many_candidates_are_told_apart():
    """A model that takes every window for an object, as a hostile one may, ends in time."""
    model = random_model(3, prune="never", trees=3, window=(2, 2))
    candidates = plain(model, photo(200, 300), plan_of(model, photo(200, 300)))
    boxes, scores = (part.astype(np.int32) for part in candidates[:2])
    assert len(boxes) > 2 * MOST
    best = best_first(boxes, scores)[:MOST]
    kept = best[suppress(boxes[best], scores[best], 128, "smaller")]
    found = Detector(model).detect(photo(200, 300))
    np.testing.assert_array_equal(found.xyxy, boxes[kept])
    np.testing.assert_array_equal(found.score, scores[kept])


@pytest.mark.parametrize("shape", [(60, 80), (81, 50), (3, 3), (0, 5)], ids=str)
def test_objects_that_a_frame_cuts_off_are_looked_for_beyond_it(shape):
    """As in a frame whose edges go on; boxes end where the frame does."""
    image = photo(*shape)
    for border in (0, 1, 64, 128):
        edge = min(shape) * border // 256
        padded = np.pad(image, edge, mode="edge")
        wide = Detector(FACES, overlap=1.0, measure="iou", border=0).detect(padded)
        boxes = np.clip(wide.xyxy - edge, 0, [*shape[::-1]] * 2) if image.size else wide.xyxy
        for detector in (Detector(FACES, border=border), Detector(replace(FACES, border=border))):
            found = detector.detect(image)
            kept = suppress(boxes.astype(np.int32), wide.score, 128, "smaller")
            np.testing.assert_array_equal(found.xyxy, boxes[kept])
            np.testing.assert_array_equal(found.score, wide.score[kept])


def test_grouping(detector):
    """Boxes that overlap are averaged, and those that stand alone dropped."""
    boxes, scores, _ = plain(FACES, photo(60, 80), plan_of(FACES, photo(60, 80)))
    counts = []
    for neighbours in (0, 2, 99999):
        means, highest, _ = group(boxes.astype(np.int32), scores.astype(np.int32), neighbours, 128)
        found = Detector(FACES, neighbours=neighbours).detect(photo(60, 80))
        np.testing.assert_array_equal(found.xyxy, means)
        np.testing.assert_array_equal(found.score, highest)
        counts.append(len(found))
    assert counts[0] > counts[1] > counts[2] == 0


# ---- Sharing, arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_shared_by_threads(threads):
    """More frame sizes than are remembered, in another order in every thread."""
    detector = Detector(FACES, threads)
    images = [photo(30 + 3 * i, 60 - i, i) for i in range(20)]
    alone = [Detector(FACES).detect(image) for image in images]
    wrong, barrier = [], threading.Barrier(8)

    def run(seed):
        barrier.wait()
        for _ in range(3):
            for i in np.random.default_rng(seed).permutation(len(images)):
                if detector.detect(images[i]) != alone[i]:
                    wrong.append(i)

    workers = [threading.Thread(target=run, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
    assert sum(map(len, alone)) > 20


def test_results_outlive_the_next_frame():
    """Room is used again, results are not."""
    detector = Detector(FACES)
    first = detector.detect(photo(60, 80, 1))
    kept = Detections.concatenate([first])  # a copy
    for seed in range(3):
        detector.detect(photo(60, 80, seed + 2))
        detector.detect(photo(90, 120, seed))
    assert first == kept
    assert detector.detect(photo(60, 80, 1)) == kept


def test_any_number_of_threads():
    expected = Detector(FACES, 1).detect(photo(90, 120))
    for threads in (None, 0, 3, 64, 100):
        assert Detector(FACES, threads).detect(photo(90, 120)) == expected


@pytest.mark.parametrize(
    "name", ["threads", "per_octave", "stride", "overlap", "measure", "neighbours", "border", "most"]
)
@pytest.mark.parametrize("value", [-1, 1.5, "2", 10**30, float("nan")])
def test_bad_settings_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}.*got"):
        Detector(FACES, **{name: value})


def test_other_models_are_refused():
    with pytest.raises(TypeError, match=r"expected a Model, got str.*Model.load"):
        Detector("face.cascade")


@pytest.mark.parametrize("name", ["min_size", "max_size"])
@pytest.mark.parametrize("value", [0, -1, 2.5, "9", True, 2**20 + 1, float("nan")])
def test_bad_sizes_are_refused(detector, name, value):
    with pytest.raises(ValueError, match=f"{name} must be a whole number.*got"):
        detector.detect(photo(20, 20), **{name: value})


@pytest.mark.parametrize(
    "roi", [(0, 0, -1, 5), (0, 0, 5, -1), (0, 0, 5), (0, 0, 5, 5, 5), "abcd", 5, (0, 0, 1.5, 5),
            (0, 0, None, 5), (0, 0, float("nan"), 5), (0, 0, float("inf"), 5)],
)  # fmt: skip
def test_bad_regions_are_refused(detector, roi):
    with pytest.raises(ValueError, match=r"x, y, width, height.*got"):
        detector.detect(photo(20, 20), roi=roi)


@pytest.mark.parametrize("threshold", ["high", None, float("nan"), -0.1, 1.1])
def test_bad_thresholds_are_refused(detector, threshold):
    with pytest.raises(ValueError, match=r"threshold.*got"):
        detector.detect(photo(20, 20), threshold=threshold)


def test_a_model_of_very_many_nodes_runs_on_the_plain_core():
    """Room for its nodes on every level would be hundreds of megabytes."""
    model = random_model(prune="much", trees=300, depth=8)
    image = photo(40, 50)
    expected = reference.detect(model, image, Detector(model)._plan(50, 40, None, None)[0])
    boxes, scores = Detector(model, threads=2)._candidates(image[None], None, None)
    assert 300 * 255 > 1 << 16
    np.testing.assert_array_equal(boxes, expected[0])
    np.testing.assert_array_equal(scores, expected[1])


def test_statistics_of_a_frame_without_windows(detector):
    statistics = detector.statistics(photo(20, 20), min_size=1000)
    assert (statistics.windows, statistics.trees) == (0, 0)
