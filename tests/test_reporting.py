"""What a report is made from: attention, examples, sizes, paths and findings, against plain definitions."""

import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from cascade.calibration import Bags
from cascade.channels import Channels
from cascade.dataset import Box
from cascade.detector import Detector
from cascade.evaluation import Curve, Found, Truth, evaluate
from cascade.recipe import TrainingSettings
from cascade.reporting import attention, curves
from cascade.reporting.examples import Examples, Gallery
from cascade.reporting.findings import NOT_MEASURED, findings
from cascade.reporting.paths import Paths, trace_of, window_paths
from cascade.reporting.pictures import THUMB, Outline, data_uri, thumbnail
from cascade.reporting.sizes import Sizes
from cascade.softcascade import paths as twin
from cascade.template import Template
from cascade.training import training_run
from cascade.trees import Trees
from tests.rings import QUICK, Shown, picture, place, rings

SETTINGS = TrainingSettings(**QUICK)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return training_run(rings(tmp_path_factory.mktemp("rings"), 36), SETTINGS, threads=1)


@pytest.fixture(scope="module")
def measured(trained):
    return findings(trained.model, trained.run.held, [], SETTINGS)


def test_paths_are_those_of_the_trainer(trained):
    """The C runtime, tree by tree, against the trees that the trainer walks."""
    model, template = trained.model, trained.run.template
    bags = Bags.of(template, [sample for sample in trained.run.held if sample.boxes], SETTINGS, 1)
    trees = Trees(model.feature.astype(np.int32), model.threshold, model.leaf.astype(np.float64))
    expected = twin(trees, model.leaf, template.pool.values(bags.windows))
    np.testing.assert_array_equal(window_paths(model, bags.windows), expected)


def test_depths_and_best():
    scores = np.array([[5, 1, 9], [6, 2, 8], [7, 9, 7]], np.int32)
    paths = Paths(scores, scores[:, :0], np.array([1, 1, 7]))
    assert paths.depths(scores).tolist() == [3, 1, 3]
    paths = Paths(scores, scores[:, :0], np.array([0, 1, 6]))
    assert paths.depths(scores).tolist() == [4, 4, 4]
    np.testing.assert_array_equal(paths.best(np.array([0, 2, 2]), 3), [7, np.nan, 9])


def test_a_trace_without_checks_rejects_nothing(trained):
    model = replace(trained.model, reject=np.full(len(trained.model), -32768))
    assert (np.iinfo(np.int32).min > trace_of(model)).all()
    shifted = replace(trained.model, reject=np.full(len(model), -3), reject_shift=4)
    assert (trace_of(shifted) == -48).all()


def test_attention_is_what_the_leaves_differ_by(trained):
    """One tree of depth 2: its root parts means of 1 and 5, the nodes below part 2 and 4, each for half."""
    one = trained.model
    model = replace(
        one, feature=np.array([[7, 3, 7]]), threshold=np.zeros((1, 3), np.uint8),
        leaf=np.array([[0, 2, 3, 7]]), reject=one.reject[:1],
    )  # fmt: skip
    heat = attention.attention(model).ravel()
    assert heat[7] == 4 + 4 / 2
    assert heat[3] == 2 / 2
    assert np.count_nonzero(heat) == 2


def test_attention_of_rectangles_spreads_over_them(trained):
    model = replace(
        trained.model, kind="rect", rectangles=np.array([[1, 2, 3, 2, 1]], np.uint8),
        feature=np.zeros_like(trained.model.feature), threshold=trained.model.threshold.astype(np.int32),
    )  # fmt: skip
    heat = attention.attention(model)
    assert heat.sum() == pytest.approx(attention.node_weights(model).sum())
    assert np.argwhere(heat).tolist() == [[1, 3, 2], [1, 3, 3]]


def test_the_mean_object_lies_where_the_window_has_it(trained):
    """A white square, grey around it: the mean has it at the model's box, whatever its size and place."""
    pictures = []
    for x, y, side in ((10, 20, 30), (40, 5, 44)):
        pixels = np.full((100, 120), 128, np.uint8)
        pixels[y : y + side, x : x + side] = 255
        pictures.append(Shown(pixels, (Box(x, y, side, side), Box(0, 0, 5, 5, ignore=True))))
    model = trained.model
    mean = attention.mean_object(model, pictures, 1.0)
    zoom = attention.PIXELS / (max(model.window) * 256)
    x, y, width, height = (round(part * zoom) for part in model.box)
    assert (mean[y + 4 : y + height - 4, x + 4 : x + width - 4] == 255).all()
    assert (mean[: max(1, y - 8), : max(1, x - 8)] == 128).all()
    assert attention.mean_object(model, [Shown(pixels)], 1.0) is None


def test_attention_is_drawn_for_those_who_cannot_see(trained):
    root = ET.fromstring(f"<div>{attention.drawn(trained.model, None)}</div>")
    assert len(list(root.iter("figure"))) == 1 + trained.model.planes
    assert all(svg.get("aria-label") for svg in root.iter("svg"))


@pytest.mark.parametrize("angle", [15, 45, 75, 105, 135, 165])
def test_planes_are_called_what_they_show(angle):
    """A half-plane whose edge rises at this angle is strongest in the plane of that name."""
    y, x = np.mgrid[-32:32, -32:32]
    side = -np.sin(np.radians(angle)) * x - np.cos(np.radians(angle)) * y  # rows go down
    frame = np.clip(128 + 20 * side, 0, 255).astype(np.uint8)
    planes = Channels("grey").planes(frame[None])
    strongest = 2 + int(planes[2:].sum(axis=(1, 2), dtype=int).argmax())
    assert attention.NAMES[8][strongest] == f"edges at {angle}°"


def test_colours_are_called_what_they_show():
    for name, colour in (("blueness", (255, 0, 0)), ("redness", (0, 0, 255))):
        frame = np.broadcast_to(np.array(colour, np.uint8)[:, None, None], (3, 16, 16)).copy()
        strongest = int(Channels("colour").planes(frame)[1:3, 2, 2].argmax())
        assert attention.NAMES[10][1 + strongest] == name


def examples_of(least):
    truth = Truth(
        np.array([[0, 0, 10, 10], [50, 50, 90, 90], [200, 0, 210, 10.0]]), np.array([0, 0, 1], bool)
    )
    found = Found(
        np.array([[1, 0, 11, 10], [200, 0, 210, 10], [100, 100, 120, 120], [50, 50, 90, 91], [0, 0, 9, 9.0]]),
        np.array([9.0, 8, 7, 6, 5]),
    )
    curve = Curve(*np.zeros((4, 1)))
    result = type("Result", (), {"truths": [truth], "found": [found], "curve": curve})
    return Examples.of(result, least, 0.5)


def test_examples_are_told_apart():
    """The second object's box is good, but below the score; the ignored region counts nowhere."""
    examples = examples_of(6.5)
    assert [one.box for one in examples.found] == [[1, 0, 11, 10]]
    assert examples.found[0].truth == [0, 0, 10, 10]
    assert [one.box for one in examples.false] == [[100, 100, 120, 120]]
    assert [(one.box, one.score) for one in examples.missed] == [([50, 50, 90, 90], 6.0)]
    np.testing.assert_allclose(examples.pairs(), [[10, 10], [40, np.nan], [np.nan, 20]])
    everything = examples_of(-math.inf)
    assert [len(part) for part in (everything.found, everything.missed, everything.false)] == [2, 0, 2]
    assert math.isnan(examples_of(99).missed[-1].score) is False  # both objects have boxes, only too low


def test_sizes_are_counted_once_each():
    pairs = np.array([[10, 10], [10, 20], [40, 40], [np.nan, 11], [20, np.nan], [10.5, 10.5]])
    sizes = Sizes.of(pairs)
    assert sizes.counts.sum() == len(pairs)
    assert sizes.counts[-1].sum() == 1  # no object
    assert sizes.counts[:, -1].sum() == 1  # missed
    for true, found in pairs:
        row, column = (len(sizes.edges) - 1 if math.isnan(size) else
                       int(np.flatnonzero(sizes.edges <= size)[-1]) for size in (true, found))  # fmt: skip
        assert sizes.counts[row, column] > 0
    root = ET.fromstring(sizes.drawn())
    assert sum(int(cell.text) for cell in root.iter("td") if cell.text) == len(pairs)


@pytest.mark.parametrize("pairs", [np.empty((0, 2)), np.array([[5.0, 5.0]]), np.array([[1e-3, 1e5]])])
def test_sizes_of_any_range_make_a_small_table(pairs):
    sizes = Sizes.of(pairs)
    assert 2 <= len(sizes.edges) <= 10
    assert sizes.counts.sum() == len(pairs)


def test_thumbnails_show_the_box_in_a_square():
    frame = np.zeros((60, 100, 3), np.uint8)
    root = ET.fromstring(thumbnail(frame, [40, 20, 60, 40], [Outline([40, 20, 60, 40], "found")], "a <b>"))
    assert root.get("aria-label") == "a <b>"
    box = root.findall("rect")[-1]
    assert float(box.get("x")) + float(box.get("width")) / 2 == pytest.approx(THUMB / 2, abs=1)
    image = root.find("image")
    assert image.get("width") == image.get("height") == str(THUMB)
    assert image.get("href").startswith("data:image/jpeg;base64,")


@pytest.mark.parametrize(
    "about", [[-50, -50, -40, -40], [90, 50, 300, 300], [0, 0, 0, 0], [99, 59, 99.5, 59.5]]
)
def test_thumbnails_of_boxes_beyond_the_picture(about):
    """Boxes may reach out of the picture, or lie outside; what is shown does not."""
    root = ET.fromstring(thumbnail(np.zeros((60, 100), np.uint8), about, [], ""))
    image = root.find("image")
    assert 0 < int(image.get("width")) <= THUMB
    assert 0 < int(image.get("height")) <= THUMB


def test_pictures_are_data():
    with pytest.raises(ValueError, match="with pixels"):
        data_uri(np.zeros((0, 0), np.uint8))


def test_what_is_found_is_not_said_to_be_rejected(trained, measured):
    """Windows around boxes that were found pass, all but a few; those around nothing do not."""
    examples = Examples.of(measured.evaluation, 0.0, 0.5)
    gallery = Gallery(Detector(trained.model), measured.samples, examples)
    trees = len(trained.model)
    passed = [
        gallery.reach(measured.samples[one.picture].read(), one.box) > trees for one in examples.found
    ]
    assert np.mean(passed) > 0.8
    assert gallery.reach(np.full((100, 100), 90, np.uint8), [30, 30, 60, 60]) <= trees


def test_findings_agree_with_evaluate(trained, measured):
    scenes = [sample for sample in trained.run.held if not sample.crop]
    expected = evaluate(trained.model, scenes, threads=1)
    assert measured.evaluation.ap50 == expected.ap50
    assert measured.evaluation.objects == expected.objects
    assert not measured.crops
    assert measured.paths.objects.shape[0] == len(trained.model)
    assert measured.paths.backgrounds.shape[1] > 100
    assert measured.speed.windows > 0


def test_threads_do_not_show_in_findings(trained, measured):
    other = findings(trained.model, trained.run.held, [], SETTINGS, threads=3)
    np.testing.assert_array_equal(other.paths.objects, measured.paths.objects)
    np.testing.assert_array_equal(other.paths.backgrounds, measured.paths.backgrounds)
    np.testing.assert_array_equal(other.evaluation.curve.score, measured.evaluation.curve.score)


def test_crops_count_by_their_own_windows(trained):
    """Only crops and pictures without objects: what passes counts, per picture without objects."""
    random = np.random.default_rng(3)
    box = place(random)
    pixels = picture(random, [box])
    corner, side = (int(box.x), int(box.y)), int(box.width)
    cut = np.ascontiguousarray(pixels[corner[1] : corner[1] + side, corner[0] : corner[0] + side])
    crops = [Shown(cut, (Box(0.0, 0.0, float(side), float(side)),), crop=True, part="valid")] * 2
    blank = Shown(np.full((side, side), 90, np.uint8), crops[0].boxes, crop=True, part="valid")
    scenes = [Shown(picture(random, []), part="valid") for _ in range(3)]
    result = findings(trained.model, [*crops, blank, *scenes], [], SETTINGS)
    assert result.crops
    assert result.evaluation.ap50 == NOT_MEASURED
    assert result.evaluation.objects == 3
    assert result.evaluation.curve.recall[-1] == pytest.approx(2 / 3)
    false = sum(len(found.score) for found in result.evaluation.found[3:])
    assert result.evaluation.curve.false_per_image[-1] == pytest.approx(false / 3)


def test_test_pictures_stand_in_where_only_crops_were_held_out(trained):
    held = [replace(sample, crop=True) for sample in trained.run.held if sample.boxes]
    test = [replace(sample, part="test") for sample in trained.run.held]
    result = findings(trained.model, held, test, SETTINGS)
    assert not result.crops
    assert {sample.part for sample in result.samples} == {"test"}


def test_the_balance_and_the_prices():
    curve = Curve(
        np.array([9.0, 8, 7, 6]), np.array([0.5, 0.5, 1, 1]), np.array([1, 0.5, 2 / 3, 0.5]),
        np.array([0, 0.5, 0.5, 1.0]),
    )  # fmt: skip
    assert curves.balanced(curve).score == 7
    assert curves.at_price(curve, 0.4).score == 9
    assert curves.at_price(curve, 0.5).score == 7
    assert curves.balanced(Curve(*np.zeros((4, 3)))) is None
    assert curves.at_price(Curve(*np.ones((4, 3))), 0.5) is None


def test_a_threshold_keeps_its_own_box(trained):
    for score in np.linspace(-900, 900, 37):
        asked = float(curves.threshold(trained.model, score))
        assert asked <= curves.probability(trained.model, score)
        assert curves.probability(trained.model, score) - asked < 1e-4


def test_a_gallery_says_why(trained, measured):
    examples = Examples.of(measured.evaluation, math.inf, 0.5)  # everything is missed
    gallery = Gallery(Detector(trained.model), measured.samples, examples)
    assert "too low" in gallery.missed()
    assert gallery.found() == gallery.false() == ""
    nothing = replace(examples, missed=[replace(examples.missed[0], score=math.nan, overlap=0.3)])
    assert "overlaps it by 0.30 only" in Gallery(gallery.detector, measured.samples, nothing).missed()


def test_templates_of_models_draw_the_same_windows(trained):
    assert Template.of_model(trained.model) == trained.run.template
