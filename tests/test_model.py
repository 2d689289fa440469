"""Models as values: round trips, one form in bytes, nothing to change, bad values refused in words."""

import copy
import dataclasses
import errno
import os
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade import modelfile
from cascade.channels import PLANES
from cascade.model import NEVER_ACCEPT, NEVER_REJECT, Model, ModelFormatError
from cascade.sigmoid import Sigmoid

KINDS = modelfile.KINDS
FIELDS = [field.name for field in dataclasses.fields(Model)]
FINITE = st.floats(allow_nan=False, allow_infinity=False)
LETTERS = st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp", "Cf"])
TEXT = st.text(LETTERS, max_size=63)  # at most 252 bytes
NAME = st.text(LETTERS, min_size=1, max_size=63)


def example(kind: str = "cell", **changes) -> Model:
    """A tiny model by hand; `changes` replace its fields."""
    rectangles = {
        "cell": [],
        "rect": [[0, 0, 0, 1, 1], [7, 1, 2, 2, 1]],
        "haar": [[[0, 0, 2, 2, -1], [1, 0, 1, 2, 2], [0, 0, 0, 0, 0]]] * 2,
    }
    fields = {
        "name": "toy",
        "kind": kind,
        "cell": 1 if kind == "haar" else 4,
        "window": (3, 3),
        "box": (128, -64, 512, 700),
        "lambdas": (0, 7000, -7000),
        "feature": [[0], [1]],
        "threshold": [[10], [255]],
        "leaf": [[-5, 6], [7, -8]],
        "reject": [-3, NEVER_REJECT],
        "rectangles": rectangles[kind],
        "classes": ("face",),
        "metadata": {"date": "2026-01-02"},
    }
    return Model(**{**fields, **changes})


@st.composite
def rectangles_of(draw, kind: str, planes: int, window: tuple[int, int], random: np.random.Generator):
    """Random rectangles inside a window."""
    count = 0 if kind == "cell" else draw(st.integers(1, 5))
    x, y = (random.integers(0, side, (count, 3)) for side in window)
    width, height = random.integers(1, window[0] - x + 1), random.integers(1, window[1] - y + 1)
    if kind != "haar":
        plane = random.integers(0, planes, (count, 3))
        return np.stack([plane, x, y, width, height], axis=-1)[:, 0]
    weight = random.integers(1, 43, (count, 3)) * random.choice([-1, 1], (count, 3))
    rows = np.stack([x, y, width, height, weight], axis=-1)
    rows[random.random(count) < 0.5, 2] = 0
    return rows


@st.composite
def models(draw, kinds: tuple[str, ...] = KINDS, deepest: int = 8) -> Model:
    """Any valid model with few trees; what fills the large arrays comes from a seed, for speed."""
    kind = draw(st.sampled_from(kinds))
    channels = "grey" if kind == "haar" else draw(st.sampled_from(["grey", "colour"]))
    planes = 1 if kind == "haar" else PLANES[channels]
    width = draw(st.integers(1, 255))
    window = width, draw(st.integers(1, min(255, 65535 // (planes * width))))
    starts = [draw(st.integers(-256 * side, 512 * side - 1)) for side in window]
    sizes = [draw(st.integers(1, 512 * side - start)) for side, start in zip(window, starts, strict=True)]
    trees, nodes = draw(st.integers(1, 4)), 2 ** draw(st.integers(1, deepest)) - 1
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    rectangles = draw(rectangles_of(kind, planes, window, random))
    count = len(rectangles) or planes * width * window[1]
    span = (-(2**31), 2**31 - 1) if kind == "rect" else (0, 255)
    reject = random.integers(-32768, 32767, trees)
    accept = np.where(reject == NEVER_REJECT, 0, random.integers(reject + 1, 32768))
    return Model(
        name=draw(NAME),
        kind=kind,
        channels=channels,
        cell=1 if kind == "haar" else draw(st.sampled_from([2, 4])),
        smooth=draw(st.integers(0, 1)),
        border=draw(st.integers(0, 128)),
        normalise=0 if kind == "haar" else draw(st.integers(0, 255)),
        window=window,
        box=(*starts, *sizes),
        lambdas=tuple(draw(st.integers(-(2**18), 2**18)) for _ in range(3)),
        feature=random.integers(0, count, (trees, nodes)),
        threshold=random.integers(*span, (trees, nodes), endpoint=True),
        leaf=random.integers(-32768, 32768, (trees, nodes + 1)),
        reject=reject,
        reject_shift=draw(st.integers(0, 15)),
        accept=draw(st.sampled_from([None, accept])),
        rectangles=rectangles,
        score_unit=draw(st.floats(min_value=0, exclude_min=True, allow_infinity=False)),
        sigmoid=draw(st.none() | st.builds(Sigmoid, FINITE, FINITE)),
        classes=tuple(draw(st.lists(NAME, min_size=1, max_size=4, unique=True))),
        metadata=draw(st.dictionaries(st.from_regex("[a-z0-9_]{1,40}", fullmatch=True), TEXT, max_size=4)),
    )


def assert_same(one: Model, other: Model) -> None:
    """Equal field by field, types and signs of zeros too."""
    for field in FIELDS:
        a, b = getattr(one, field), getattr(other, field)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype, field
            assert np.array_equal(a, b), field
        else:
            assert type(a) is type(b), field
            assert repr(a) == repr(b), field


@given(models())
def test_round_trip(model):
    data = model.to_bytes()
    again = Model.from_bytes(data)
    assert_same(again, model)
    assert again == model
    assert hash(again) == hash(model)
    assert again.to_bytes() == data


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", range(1, 9))
def test_types_and_shapes(kind, depth):
    nodes = 2**depth - 1
    zeros = np.zeros((5, nodes), int)
    model = example(kind, feature=zeros, threshold=zeros, leaf=np.zeros((5, nodes + 1), int), reject=[0] * 5)
    model = Model.from_bytes(model.to_bytes())
    assert (len(model), model.depth) == (5, depth)
    assert model.planes == (1 if kind == "haar" else 8)
    assert (model.feature.dtype, model.feature.shape) == (np.uint16, (5, nodes))
    assert model.threshold.dtype == (np.int32 if kind == "rect" else np.uint8)
    assert model.threshold.shape == (5, nodes)
    assert (model.leaf.dtype, model.leaf.shape) == (np.int16, (5, nodes + 1))
    assert (model.reject.dtype, model.reject.shape) == (np.int16, (5,))
    assert model.rectangles.dtype == (np.int16 if kind == "haar" else np.uint8)
    assert model.rectangles.shape == {"cell": (0, 5), "rect": (2, 5), "haar": (2, 3, 5)}[kind]


def test_a_large_model_takes_less_than_40_000_bytes():
    random = np.random.default_rng(0)
    words = {
        "command": "cascade train faces --kind cell --depth 2 --trees 2048 --seed 0 --out face.cascade " * 2,
        "data": "sha256 " + "0123456789abcdef" * 4,
        "date": "2026-01-02T03:04:05Z",
        "metrics": "average precision 0.912 on 2,845 photos; 0.87 at 0.1 false alarms a photo; " * 2,
    }
    model = example(
        window=(20, 20),
        box=(0, 0, 5120, 5120),
        feature=random.integers(0, 3200, (2048, 3)),
        threshold=random.integers(0, 256, (2048, 3)),
        leaf=random.integers(-32768, 32768, (2048, 4)),
        reject=random.integers(-32768, 32768, 2048),
        sigmoid=Sigmoid(1.0, -2.0),
        metadata=words,
    )
    assert len(model.to_bytes()) <= 40_000
    assert len(Model.from_bytes(model.to_bytes())) == 2048


def test_coarsening():
    """Only every M-th tree and the last one may reject; nothing else changes."""
    ones = np.ones((7, 1), int)
    whole = example("cell", feature=ones, threshold=ones, leaf=np.ones((7, 2), int), reject=range(-7, 0))
    assert whole.coarsened(1) == whole
    off = NEVER_REJECT
    assert whole.coarsened(3).reject.tolist() == [off, off, -5, off, off, -2, -1]
    assert whole.coarsened(99).reject.tolist() == [off] * 6 + [-1]
    assert whole.coarsened(3).leaf.tolist() == whole.leaf.tolist()
    for every in (0, -1, 1.5, True, "2"):
        with pytest.raises(ValueError, match=r"every.*got"):
            whole.coarsened(every)


def test_the_largest_model_can_be_saved_and_read():
    ones = np.ones((4096, 255), int)
    haar = np.tile([[0, 0, 2, 2, -1], [1, 0, 1, 2, 2], [0, 0, 1, 1, 127]], (65535, 1, 1))
    model = example(
        "haar", feature=65534 * ones, threshold=ones, leaf=np.ones((4096, 256), int), reject=ones[:, 0],
        accept=2 * ones[:, 0], rectangles=haar, classes=[f"{i:0255}" for i in range(255)],
        metadata={f"{i:0255}": "x" * 255 for i in range(255)}, name="\U0001f600" * 63,
    )  # fmt: skip
    data = model.to_bytes()
    assert len(data) < modelfile.MAX_FILE
    assert Model.from_bytes(data).to_bytes() == data


def test_layout_of_the_bytes():
    """Where everything is, in the words of the format, so that others can read it."""
    data = example(score_unit=0.5, accept=[4, NEVER_ACCEPT], sigmoid=Sigmoid(2.0, 3.0)).to_bytes()
    assert data[:16] == b"\x89CAS\r\n\x1a\n" + struct.pack("<HHI", 1, 0, len(data))
    assert data[16:24] == b"HEAD" + struct.pack("<I", 52)
    assert data[24:40] == bytes([0, 0, 4, 0, 0, 3, 3, 1]) + struct.pack("<2H4B", 2, 0, 1, 1, 0, 0)
    assert data[40:76] == struct.pack("<d4i3i", 0.5, 128, -64, 512, 700, 0, 7000, -7000)
    expected = [
        (b"TEXT", b"\x03toy\x04face\x04date\x0a2026-01-02"),
        (b"RECT", b""),
        (b"FEAT", struct.pack("<2H", 0, 1)),
        (b"THRE", bytes([10, 255])),
        (b"LEAF", struct.pack("<4h", -5, 6, 7, -8)),
        (b"REJE", struct.pack("<2h", -3, -32768)),
        (b"ACCE", struct.pack("<2h", 4, 32767)),
        (b"SIGM", struct.pack("<2d", 2, 3)),
    ]
    at = 76
    for name, content in expected:
        assert data[at : at + 8 + len(content)] == name + struct.pack("<I", len(content)) + content
        at += 8 + len(content)
    assert at + 4 == len(data)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["a", "ab"])  # an even and an odd place for what follows
def test_nothing_can_be_changed(kind, name):
    source = {field: np.array(getattr(example(kind), field)) for field in ("feature", "leaf", "rectangles")}
    words = {"date": "today"}
    model = example(kind, **source, metadata=words, name=name)
    data = model.to_bytes()
    for array in source.values():
        array[...] = 1
    words["date"] = "tomorrow"
    assert model.to_bytes() == data
    for same in (model, Model.from_bytes(data), Model.from_bytes(bytearray(data))):
        for field in ("feature", "threshold", "leaf", "reject", "rectangles"):
            array = getattr(same, field)
            assert array.flags.c_contiguous
            assert array.flags.aligned
            assert array.dtype.isnative
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
        with pytest.raises(AttributeError):
            same.name = "other"
        with pytest.raises(TypeError):
            same.metadata["date"] = "never"


def test_bytes_that_change_later_do_not_matter():
    data = bytearray(example("haar").to_bytes())
    model = Model.from_bytes(data)
    before = model.to_bytes()
    data[:] = bytes(len(data))
    assert model.to_bytes() == before


def test_equal_by_what_it_says():
    model = example()
    assert model == example()
    assert model != example(name="other")
    assert model != "toy"
    assert len({model, example(), example(name="other")}) == 2
    assert example(metadata={"a": "1", "b": "2"}) == example(metadata={"b": "2", "a": "1"})
    assert list(example(metadata={"b": "2", "a": "1"}).metadata) == ["a", "b"]
    assert example(feature=np.array([[0], [1]], ">i8"), leaf=np.asfortranarray([[-5, 6], [7, -8]])) == model
    numbers = {"cell": np.int64(4), "window": np.array([3, 3]), "score_unit": np.float32(1)}
    assert_same(example(**numbers, classes=["face"], name=np.str_("toy")), model)


def test_copies_go_through_the_format():
    model = example("haar", sigmoid=Sigmoid(1.5, -0.0))
    assert_same(copy.deepcopy(model), model)
    assert_same(pickle.loads(pickle.dumps(model)), model)  # noqa: S301
    assert_same(dataclasses.replace(model, name="toy"), model)


def test_summary_is_for_people():
    words = {"date": "today", "by": "me"}
    model = example("rect", reject=[-3, 5], channels="colour", window=(4, 3), metadata=words)
    assert model.summary().splitlines() == [
        "toy: finds face",
        "  trees     2 of depth 1, 2 may reject",
        "  features  rect, on 10 colour planes in cells of 4 x 4",
        "  window    16 x 12 pixels around an object of 8 x 10.94",
        f"  file      {len(model.to_bytes())} bytes",
        "  by: me",
        "  date: today",
    ]
    assert "haar, on grey pixels in cells of 1 x 1" in example("haar").summary()
    assert repr(model) == "<Model 'toy': rect, 2 trees of depth 1>"


HAAR = [0, 0, 2, 2, -1], [1, 0, 1, 2, 2]
NOT_USED = [0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "name must be text, got ''"),
        ({"name": 7}, "name must be text, got 7"),
        ({"name": "a\nb"}, r"name must have no control characters, got 'a\\nb'"),
        ({"name": "a\x7f"}, "name must have no control"),
        ({"name": "a\x85"}, "name must have no control"),
        ({"name": "a\u2028"}, "name must have no control"),
        ({"name": "a\u202eb"}, "name must have no control"),
        ({"name": "\ud800"}, "name must be Unicode"),
        ({"name": "x" * 256}, "name must take at most 255 bytes as UTF-8, got 256"),
        ({"name": "\u00e9" * 128}, "at most 255 bytes as UTF-8, got 256"),
        ({"classes": ()}, "classes must be 1 to 255 names"),
        ({"classes": "face"}, "classes must be 1 to 255 names, got 'face'"),
        ({"classes": [f"{i}" for i in range(256)]}, "classes must be 1 to 255 names"),
        ({"classes": ("a", "")}, "classes must be text"),
        ({"classes": ("a", "b", "a")}, "classes must differ, got 'a' twice"),
        ({"metadata": None}, "metadata must be a dict"),
        ({"metadata": {f"{i}": "" for i in range(256)}}, "metadata must be a dict of at most 255"),
        ({"metadata": {"Date": ""}}, "metadata keys must be made of a-z, 0-9 and _, got 'Date'"),
        ({"metadata": {"date\n": ""}}, "metadata must have no control"),
        ({"metadata": {"": ""}}, "metadata must be text"),
        ({"metadata": {1: ""}}, "metadata must be text, got 1"),
        ({"metadata": {"a": None}}, "metadata must be text, got None"),
        ({"metadata": {"a": "\x1b[2J"}}, "metadata must have no control"),
        ({"kind": "hog"}, "kind must be cell or rect or haar, got 'hog'"),
        ({"kind": None}, "kind must be cell"),
        ({"channels": "rgb"}, "channels must be grey or colour, got 'rgb'"),
        ({"cell": 3}, "cell must be 2 or 4, got 3"),
        ({"cell": 1}, "cell must be 2 or 4, got 1"),
        ({"cell": 2.0}, "cell must be a whole number, 1 to 4, got 2.0"),
        ({"cell": True}, "cell must be a whole number"),
        ({"smooth": 2}, "smooth must be a whole number, 0 to 1, got 2"),
        ({"normalise": 256}, "normalise must be a whole number, 0 to 255, got 256"),
        ({"window": (3, 0)}, "window must be a whole number, 1 to 255, got 0"),
        ({"window": (256, 3)}, "window must be a whole number, 1 to 255, got 256"),
        ({"window": 3}, "window must be 2 whole numbers, got 3"),
        ({"window": (91, 91)}, "window must have at most 65535 cells in all planes, got 66248"),
        ({"box": (0, 0, 0, 5)}, "box must have a size"),
        ({"box": (0, 0, 5, -5)}, "box must have a size"),
        ({"box": (-769, 0, 5, 5)}, "box .* within -768 to 1536, got 5 from -769"),
        ({"box": (0, 1000, 5, 537)}, "box .* within -768 to 1536, got 537 from 1000"),
        ({"box": (0, 2**31, 5, 5)}, "box must be a whole number"),
        ({"box": (0, 0, 5)}, "box must be 4 whole numbers"),
        ({"lambdas": (0, 0)}, "lambdas must be 3 whole numbers"),
        ({"lambdas": (0, 0, -(2**18) - 1)}, "lambdas must be a whole number, -262144 to 262144, got -262145"),
        ({"lambdas": (2**18 + 1, 0, 0)}, "lambdas must be a whole number, -262144 to 262144, got 262145"),
        ({"feature": [[0], [72]]}, "feature must be one of the 72 cells of the window, got 72"),
        ({"feature": [[0], [65536]]}, "feature must be 0 to 65535, got 0 to 65536"),
        ({"feature": [[0], [-1]]}, "feature must be 0 to 65535, got -1 to 0"),
        ({"feature": [[0.0], [1.0]]}, "feature must be an array of whole numbers, got float64"),
        ({"feature": [[0], [1, 2]]}, "feature must be an array of whole numbers"),
        ({"feature": None}, "feature must be an array of whole numbers"),
        ({"feature": [0, 1]}, r"feature must have the shape \(trees, 2\^depth - 1\)"),
        ({"feature": [[0, 0], [0, 0]]}, r"depth 1 to 8, got \(2, 2\)"),
        ({"feature": np.zeros((1, 511), int)}, r"depth 1 to 8, got \(1, 511\)"),
        ({"feature": np.zeros((0, 1), int)}, "feature must be of 1 to 4096 trees, got 0"),
        ({"feature": np.zeros((4097, 1), int)}, "feature must be of 1 to 4096 trees, got 4097"),
        ({"threshold": [[0], [256]]}, "threshold must be 0 to 255"),
        ({"threshold": [[0]]}, r"threshold must have the shape \(2, 1\), got \(1, 1\)"),
        ({"leaf": [[0], [0]]}, r"leaf must have the shape \(2, 2\)"),
        ({"leaf": []}, r"leaf must have the shape \(2, 2\), got \(0,\)"),
        ({"leaf": [[0, 0], [0, 32768]]}, "leaf must be -32768 to 32767"),
        ({"leaf": [[0, 0], [0, 2**70]]}, "leaf must be an array of whole numbers, got object"),
        ({"leaf": [[True, False], [True, True]]}, "leaf must be an array of whole numbers, got bool"),
        ({"reject": [0]}, r"reject must have the shape \(2,\)"),
        ({"reject": 0}, "reject must be an array"),
        ({"reject_shift": 16}, "reject_shift must be a whole number, 0 to 15, got 16"),
        ({"accept": [0]}, r"accept must have the shape \(2,\)"),
        ({"accept": [-3, 0]}, "accept must be above reject, got -3 and -3 after tree 0"),
        ({"rectangles": [[0, 0, 0, 1, 1]]}, "rectangles must be at most 0 in a cell model, got 1"),
        ({"score_unit": 0.0}, "score_unit must be above 0"),
        ({"score_unit": -1}, "score_unit must be above 0"),
        ({"score_unit": float("nan")}, "score_unit must be a finite number, got nan"),
        ({"score_unit": float("inf")}, "score_unit must be a finite number"),
        ({"score_unit": "1"}, "score_unit must be a finite number, got '1'"),
        ({"score_unit": None}, "score_unit must be a finite number"),
        ({"score_unit": 10**400}, "score_unit must be a finite number"),
        ({"sigmoid": (1.0, 0.0)}, "sigmoid must be a Sigmoid or None, got tuple"),
        ({"sigmoid": Sigmoid(float("nan"))}, "sigmoid must be a finite number"),
        ({"sigmoid": Sigmoid(1.0, float("-inf"))}, "sigmoid must be a finite number"),
        ({"kind": "rect"}, "feature must be one of the 0 rectangles, got 1"),
        ({"kind": "haar"}, "cell must be 1, got 4"),
        ({"kind": "haar", "cell": 1, "channels": "colour"}, "channels must be grey, got 'colour'"),
        ({"kind": "haar", "cell": 1, "normalise": 1}, "normalise must be a whole number, 0, got 1"),
    ],
)
def test_bad_values_are_refused_in_words(changes, words):
    model = example()
    with pytest.raises(ValueError, match=words) as caught:
        dataclasses.replace(model, **changes)
    assert not isinstance(caught.value, ModelFormatError)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([8, 0, 0, 1, 1], r"must have a plane below 8, got \[8, 0, 0, 1, 1\] as number 300"),
        ([0, 1, 0, 3, 3], r"must lie in the window, got \[0, 1, 0, 3, 3\] as number 300"),
        ([0, 0, 1, 3, 3], "must lie in the window"),
        ([0, 0, 0, 0, 3], "must lie in the window"),
        ([0, 0, 0, 3, 0], "must lie in the window"),
        ([0, 0, 255, 3, 255], "must lie in the window"),
        ([0, 0, 0, -1, 3], "rectangles must be 0 to 255, got -1 to 3"),
        ([0, 0, 0, 3, 256], "rectangles must be 0 to 255, got 0 to 256"),
    ],
)
def test_bad_rectangles_are_refused_in_words(row, words):
    with pytest.raises(ValueError, match=words):
        example("rect", rectangles=[[0, 0, 0, 3, 3]] * 300 + [row])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([HAAR[0], NOT_USED, HAAR[1]], "must lie in the window"),
        ([NOT_USED, *HAAR], "must lie in the window"),
        ([HAAR[0], NOT_USED, NOT_USED], "must lie in the window"),
        ([*HAAR, [0, 0, 0, 0, 1]], "must lie in the window"),
        ([*HAAR, [2, 0, 2, 1, 1]], "must lie in the window"),
        ([*HAAR, [-1, 0, 2, 1, 1]], "must lie in the window"),
        ([*HAAR, [0, -1, 1, 2, 1]], "must lie in the window"),
        ([*HAAR, [0, 0, 1, 1, 0]], "must have weights of -128 to 127 other than 0"),
        ([*HAAR, [0, 0, 1, 1, 128]], "must have weights of -128 to 127"),
        ([*HAAR, [0, 0, 1, 1, -129]], "must have weights of -128 to 127"),
        ([*HAAR, [0, 0, 1, 1, 2**15]], "must be -32768 to 32767"),
    ],
)
def test_bad_haar_features_are_refused_in_words(rows, words):
    good = [*HAAR, NOT_USED]
    with pytest.raises(ValueError, match=f"rectangles {words}"):
        example("haar", rectangles=[good] * 300 + [rows])


@pytest.mark.parametrize(
    ("kind", "rectangles", "words"),
    [
        ("rect", np.zeros((65536, 5), int), "rectangles must be at most 65535 in a rect model, got 65536"),
        ("rect", [[0, 0, 0, 1]], r"rectangles must have the shape \(1, 5\), got \(1, 4\)"),
        ("haar", [[*HAAR]], r"rectangles must have the shape \(1, 3, 5\), got \(1, 2, 5\)"),
        ("rect", [], "feature must be one of the 0 rectangles, got 1"),
        ("haar", [[*HAAR, NOT_USED]], "feature must be one of the 1 rectangles, got 1"),
    ],
)
def test_bad_tables_of_rectangles_are_refused_in_words(kind, rectangles, words):
    with pytest.raises(ValueError, match=words):
        example(kind, rectangles=rectangles)


def test_sums_that_may_overflow_are_refused():
    """Twice 255 x weight x 255 x 255 must stay below 2^31."""
    for weight in (64, -64):
        example("haar", window=(255, 255), rectangles=[[[0, 0, 255, 255, weight]] * 2 + [NOT_USED]] * 2)
    with pytest.raises(ValueError, match="rectangles must have sums that fit into 32 bits"):
        example("haar", window=(255, 255), rectangles=[[[0, 0, 255, 255, 65]] * 2 + [NOT_USED]] * 2)


def test_what_just_fits_is_accepted():
    example(box=(-768, 0, 2304, 1536), lambdas=(2**18, -(2**18), 0))
    example(name="\u00e9" * 127 + "x", window=(91, 90), accept=[-2, -32768])
    example(channels="colour", feature=[[0], [89]])


def test_save_and_load(tmp_path):
    path = tmp_path / "toy.cascade"
    model = example("rect")
    model.save(path)
    assert path.read_bytes() == model.to_bytes()
    data = path.read_bytes()
    for source in (path, str(path), data, bytearray(data), memoryview(data), memoryview(data[::-1])[::-1]):
        assert Model.load(source) == model
    assert list(tmp_path.iterdir()) == [path]


def test_save_is_atomic(tmp_path, monkeypatch):
    path = tmp_path / "toy.cascade"
    example().save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(errno.ENOSPC, "no space")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(OSError, match="no space"):
                example("haar").save(path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]


def test_places_without_a_model_are_told_in_words(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no model file of this name.*nothing\.cascade"):
        Model.load(tmp_path / "nothing.cascade")
    with pytest.raises(IsADirectoryError, match="this is a folder; a model is one file"):
        Model.load(tmp_path)
    with pytest.raises(IsADirectoryError, match="this is a folder"):
        example().save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no such folder to save in.*missing"):
        example().save(tmp_path / "missing" / "toy.cascade")
    with pytest.raises(TypeError, match="expected a path or bytes, got int"):
        Model.load(7)  # type: ignore[arg-type]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="regular file"):
            Model.load(tmp_path / "pipe")


OPENCV = b'<?xml version="1.0"?>\n<!-- a long licence ' + b"x" * 3000 + b" -->\n<opencv_storage>\n<cascade>"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (OPENCV, "looks like an OpenCV XML file"),
        (b"<opencv_storage><haar>", "looks like an OpenCV XML file"),
        (b"<cascade>", "looks like an OpenCV XML file"),
        (b"\xef\xbb\xbf  <html>", "looks like XML or HTML"),
        (b"PK\x03\x04" + bytes(50), "looks like a zip file"),
        (b"\x1f\x8b\x08" + bytes(50), "looks like a gzip file"),
        (b"\x80\x04\x95" + bytes(50), "looks like a Python pickle"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "looks like a PNG image"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "looks like a JPEG image"),
        (b'{"format": 1}', "looks like JSON"),
        (b"CASCKPT1" + bytes(50), "looks like a checkpoint of a training run"),
        (example().to_bytes().replace(b"\r\n", b"\n"), "damaged on its way: copied as text"),
        (bytes(byte & 127 for byte in example().to_bytes()), "damaged on its way"),
        (b"\x89CAS\r", "damaged on its way.*cut short"),
        (b"something else", "magic is not that of a cascade model \\(byte 0\\)"),
    ],
)
def test_other_files_are_recognised(tmp_path, data, words):
    path = tmp_path / "face.cascade"
    path.write_bytes(data)
    with pytest.raises(ModelFormatError, match=words) as caught:
        Model.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert (caught.value.offset, caught.value.rule) == (0, "magic")


def test_huge_files_are_not_read(tmp_path):
    path = tmp_path / "face.cascade"
    for start, words in ((modelfile.MAGIC, "size must be at most 67108864"), (b"PK\x03\x04", "zip")):
        with path.open("wb") as file:
            file.write(start)
            file.truncate(modelfile.MAX_FILE + 1)
        with pytest.raises(ModelFormatError, match=words):
            Model.load(path)


def test_errors_can_be_copied():
    error = ModelFormatError(3, "size", "size is wrong", "a.cascade")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), again.offset, again.rule) == ("a.cascade: size is wrong (byte 3)", 3, "size")
