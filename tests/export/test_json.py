"""JSON: everything, and back again without loss; what is wrong is said in words."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade.export.json import JsonError, from_json, read, to_json
from cascade.model import Model
from cascade.sigmoid import Sigmoid
from tests.test_detector import KINDS, random_model
from tests.test_golden import FOLDER, GOLDEN

PLAIN = json.loads(to_json(random_model()))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_models(name):
    data = (FOLDER / f"{name}.cascade").read_bytes()
    assert from_json(to_json(Model.load(data))).to_bytes() == data


@settings(max_examples=40)
@given(st.data())
def test_any_model(data):
    draw = data.draw
    kind, mode = draw(st.sampled_from(KINDS))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    text = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=20)
    model = random_model(
        draw(st.integers(0, 99)), kind=kind, channels=mode, depth=draw(st.integers(1, 8)), trees=3,
        accepting=draw(st.booleans()), prune=draw(st.sampled_from(["never", "much"])), name=draw(text),
        sigmoid=draw(st.none() | st.builds(Sigmoid, finite, finite)),
        score_unit=draw(st.floats(1e-300, 1e300)),
        metadata=draw(st.dictionaries(st.from_regex("[a-z_]{1,9}", fullmatch=True), text, max_size=3)),
    )  # fmt: skip
    text = to_json(model)
    assert from_json(text).to_bytes() == model.to_bytes()
    assert from_json(text.encode()) == model
    assert to_json(from_json(text)) == text


def test_a_line_for_each_tree():
    model = random_model(trees=7)
    lines = to_json(model).splitlines()
    assert sum(line.startswith('  {"nodes": [[') for line in lines) == 7
    assert max(map(len, lines)) < 150


def test_places_are_those_of_the_window():
    """Plane, x and y of a node are what a person would count."""
    model = random_model()
    width, height = model.window
    for nodes, features in zip([tree["nodes"] for tree in PLAIN["trees"]], model.feature, strict=True):
        assert [(plane * height + y) * width + x for plane, x, y, _ in nodes] == features.tolist()


def changed(**fields):
    return json.dumps({**PLAIN, **fields})


def tree(**fields):
    return [{**PLAIN["trees"][0], **fields}, *PLAIN["trees"][1:]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "in JSON"),
        ("[]", "expected an object"),
        ("{", "in JSON"),
        ("[" * 100_000, "without end"),
        (b"\xff\xfe\xfd", "UTF-8"),
        ('{"format": "cascade-model", "version": 1}', "to have accepts"),
        ('{"format": "cascade-model", "format": "cascade-model"}', "every key once"),
        (changed(version=2), '"version": 1'),
        (changed(extra=1), "extra"),
        (changed(score_unit=float("nan")), "finite"),
        (changed(score_unit=10**400), "finite"),
        (changed(score_unit="1"), "finite"),
        (changed(cell=2.0), "cell must be"),
        (changed(cell=True), "cell must be"),
        (changed(window=5), "a list as window"),
        (changed(window=[5]), "window"),
        (changed(window=["5", 4]), "window of two sides"),
        (changed(classes="face"), "a list as classes"),
        (changed(metadata=[]), "metadata must be"),
        (changed(kind=[]), "nodes of 2"),
        (changed(kind="rect"), "nodes of 2"),
        (changed(accepts=1), "true or false"),
        (changed(sigmoid=3), "sigmoid"),
        (changed(sigmoid={"slope": None, "intercept": 1}), "finite"),
        (changed(rectangles=[[1, 2, 3, 4, 5]]), "rectangles must be at most 0"),
        (changed(trees=[]), "a list of trees"),
        (changed(trees=[3]), "tree 0"),
        (changed(trees=tree(accept=3)), "tree 0"),
        (changed(trees=tree(leaf=[1, 2, 3])), "one length in leaf"),
        (changed(trees=tree(leaf=[1, 2, 3, 40000])), "leaf must be"),
        (changed(trees=tree(leaf=[1, 2, 3, True])), "whole numbers"),
        (changed(trees=tree(leaf=[1, 2, 3, 1.5])), "whole numbers"),
        (changed(trees=tree(leaf=[1, 2, 3, 10**30])), "whole numbers"),
        (changed(trees=tree(reject=[1])), "one length in reject"),
        (changed(trees=tree(nodes=[[0, 5, 0, 1]] * 3)), "in the window"),
        (changed(trees=tree(nodes=[[0, 0, -1, 1]] * 3)), "in the window"),
        (changed(trees=tree(nodes=[[8, 0, 0, 1]] * 3)), "feature must be one of"),
        (changed(trees=tree(nodes=[[0, 0, 0, 256]] * 3)), "threshold must be"),
        (changed(trees=tree(nodes=[[]] * 3)), "nodes of 4 numbers"),
    ],
)
def test_bad_text_is_refused_in_words(text, words):
    with pytest.raises(JsonError, match=re.escape(words)):
        from_json(text)


def test_files(tmp_path):
    model = random_model()
    path = tmp_path / "model.json"
    path.write_text(to_json(model), "utf-8")
    assert read(path) == model
    path.write_bytes(b"{}")
    with pytest.raises(JsonError, match=r"model\.json: expected an object"):
        read(path)


def test_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("cascade.export.json.MOST", 1000)
    with pytest.raises(JsonError, match="at most 1000 bytes"):
        from_json(to_json(random_model()))
