"""Windows for training: the same bytes as the detector's, the same whatever the threads."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from cascade.channels import Channels
from cascade.dataset import Box
from cascade.jitter import Draw
from cascade.recipe import TrainingSettings
from cascade.sampling import MARGIN, Rung, Sampler, object_windows, objects
from cascade.template import Template, completed, object_sizes
from tests.rings import Shown, picture, place

SETTINGS = TrainingSettings(side=16, context=0.25, channels="grey", border=0.0)


def template(settings=SETTINGS):
    return Template.around(16.0, 16.0, "grey", 0, settings)


def scene(seed=0):
    random = np.random.default_rng(seed)
    return picture(random, (place(random),))


@pytest.mark.parametrize("smooth", [0, 1])
def test_an_object_of_the_windows_size_is_cut_out_as_it_is(smooth):
    """Nothing to scale: the window is a part of the planes of its surroundings."""
    settings = replace(SETTINGS, smooth=smooth)
    one = template(settings)
    image = scene()
    window = Sampler(one, settings).window(image[None], Box(50, 40, 16, 16), Draw())
    cells, cell = one.window[0], one.cell
    start = 50 - 2 - MARGIN * cell, 40 - 2 - MARGIN * cell  # an eighth of the object is context on each side
    side = (cells + 2 * MARGIN) * cell
    part = image[start[1] : start[1] + side, start[0] : start[0] + side]
    planes = Channels("grey", cell, smooth, settings.normalise).planes(np.ascontiguousarray(part)[None])
    np.testing.assert_array_equal(window, planes[:, MARGIN:-MARGIN, MARGIN:-MARGIN])


def test_a_large_object_looks_like_a_small_one():
    image = scene()
    large = cv2.resize(image, None, fx=4, fy=4, interpolation=cv2.INTER_LINEAR)
    sampler = Sampler(template(), SETTINGS)
    small = sampler.window(image[None], Box(50, 40, 16, 16), Draw())
    scaled = sampler.window(large[None], Box(200, 160, 64, 64), Draw())
    assert abs(small[0].astype(int) - scaled[0]).max() <= 3  # intensity; a quarter of a pixel's blur


@pytest.mark.parametrize("rung", range(1, 8))
def test_rungs_show_the_same_place(rung):
    """Whatever size between two octaves an object comes by, it fills the window alike."""
    y, x = np.mgrid[:120, :160]
    sampler = Sampler(template(), SETTINGS)
    for slope in (x, y):  # a pixel too far is a grey level
        image = slope.astype(np.uint8)[None]
        first = sampler.window(image, Box(50, 40, 30, 30), Draw())
        other = sampler.window(image, Box(50, 40, 30, 30), Draw(), rung)
        assert abs(first[0].astype(int) - other[0]).max() <= 1
    assert Rung.of(template(), rung).before[0] >= Rung.of(template(), rung).after[0]


def test_a_flip_mirrors_the_window():
    image = scene()
    sampler = Sampler(template(), SETTINGS)
    plain = sampler.window(image[None], Box(50, 40, 16, 16), Draw())
    flipped = sampler.window(image[None], Box(50, 40, 16, 16), Draw(flip=True))
    np.testing.assert_array_equal(flipped[:2], plain[:2, :, ::-1])  # orientations change their names


def test_draws_stay_within_their_settings():
    random = np.random.default_rng(0)
    draws = [Draw.random(SETTINGS, random) for _ in range(500)]
    assert {draw.flip for draw in draws} == {True, False}
    assert max(abs(draw.shift[0]) for draw in draws) <= SETTINGS.shift * SETTINGS.cell
    assert 0.4 < np.mean([draw.blur > 0 for draw in draws]) < 0.6
    assert min(draw.contrast for draw in draws) >= SETTINGS.contrast
    still = replace(SETTINGS, flip=False, turn=0.0, stretch=0.0, shift=0.0, contrast=1.0, brightness=0.0,
                    blur=0.0, noise=0.0)  # fmt: skip
    assert replace(Draw.random(still, random), seed=0) == Draw()


def test_windows_depend_on_the_seed_alone():
    samples = [Shown(scene(i), (Box(20, 20, 30, 30), Box(60, 40, 25, 25, ignore=True))) for i in range(6)]
    samples.insert(2, Shown(scene(9)))

    def cut(threads, settings=SETTINGS, part=0):
        parts = object_windows(template(), samples, settings, 3, part=part, threads=threads)
        return np.concatenate(list(parts))

    one = cut(1)
    assert one.shape == (18, 8, 10, 10)  # what is ignored is not learned
    np.testing.assert_array_equal(one, cut(3))
    assert (one != cut(1, replace(SETTINGS, seed=1))).any()
    assert (one != cut(1, part=1)).any()


def test_the_object_in_a_crop():
    crop = Shown(scene(), (Box(0, 0, 160, 120),), crop=True)
    assert objects(crop, 0.5) == [Box(40, 30, 80, 60)]
    assert object_sizes([crop], 0.5).tolist() == [[80, 60]]


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        (Box(50, 40, 20, 20), Box(50, 40, 20, 20)),  # whole
        (Box(0, 40, 15, 20), Box(-5, 40, 20, 20)),  # cut on the left
        (Box(145, 40, 15, 20), Box(145, 40, 20, 20)),  # on the right
        (Box(50, 0, 20, 15), Box(50, -5, 20, 20)),  # at the top
        (Box(0, 0, 20, 20), None),  # in a corner
        (Box(0, 40, 8, 20), None),  # more than half is missing
        (Box(0, 40, 25, 20), Box(0, 40, 25, 20)),  # at the edge, but whole
    ],
)
def test_objects_that_a_picture_cuts_off(box, expected):
    assert completed(box, (160, 120), 1.0) == expected


def test_a_template_follows_the_objects():
    wide = [Shown(scene(i), (Box(10, 10, 100, 40),)) for i in range(3)]
    assert Template.of(wide, TrainingSettings()).window == (25, 10)
    small = [Shown(scene(i), (Box(10, 10, 12, 12),)) for i in range(3)]
    assert Template.of(small, TrainingSettings()).object_size == (12.0, 12.0)
    cut = [Shown(scene(i), (Box(0, 40, 30, 30),)) for i in range(3)]
    assert Template.of(cut, TrainingSettings()).border == 64
    blue = np.dstack([scene(), scene() // 2, scene() // 2])
    assert Template.of([Shown(blue, (Box(9, 9, 30, 30),))], TrainingSettings()).channels == "colour"
    with pytest.raises(ValueError, match="none with a box"):
        Template.of([Shown(scene())], TrainingSettings())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"recall": 2.0}, "recall must be a number from 0.01 to 1.0, got 2.0"),
        ({"stages": ()}, "stages must be numbers of trees"),
        ({"stages": (64, 0)}, "stages must be a whole number"),
        ({"cell": 3}, "cell must be 2 or 4, got 3"),
        ({"channels": "rgb"}, "channels must be auto, grey or colour"),
        ({"depth": 9}, "depth must be a whole number from 1 to 8"),
        ({"flip": 1}, "flip must be True or False"),
        ({"leaves": "big"}, "leaves must be one of"),
    ],
)
def test_settings_say_what_is_wrong(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        TrainingSettings(**changes)
