"""Exponents of the power law: of images whose law is known, and such that approximation pays."""

import numpy as np
import pytest
from skimage import data

from cascade.channels import Channels, grey, resample, resize
from cascade.powerlaw import USUAL, exponents


def photos(colour=False):
    channels = Channels("colour" if colour else "grey")
    return [channels.image(np.ascontiguousarray(photo)) for photo in (data.astronaut(), data.chelsea())]


def test_steps_have_exponent_one():
    """A single edge: half the image has as many pixels of edge a row among half as many pixels."""
    image = np.zeros((1, 256, 256), np.uint8)
    image[:, :, 128:] = 100
    intensity, magnitude, orientations = exponents([image], Channels(cell=4))
    assert abs(intensity) < 0.02 * 65536
    assert abs(magnitude - 65536) < 0.15 * 65536
    assert abs(orientations - magnitude) < 0.05 * 65536


@pytest.mark.parametrize("colour", [False, True])
def test_photos_have_small_positive_exponents(colour):
    mode = "colour" if colour else "grey"
    intensity, magnitude, orientations = exponents(photos(colour), Channels(mode))
    assert abs(intensity) < 0.01 * 65536
    assert 0.02 * 65536 < magnitude < 0.5 * 65536
    assert 0.02 * 65536 < orientations < 0.5 * 65536


def test_the_law_brings_resampled_planes_closer():
    """What the detector does between octaves is nearer to the truth with the exponents than without."""
    channels, image = Channels(), grey(np.ascontiguousarray(data.astronaut()))[None]
    _, magnitude, _ = exponents(photos(), channels)
    planes = channels.planes(image)
    errors = []
    for exponent in (0, magnitude):
        error = 0.0
        for step in range(1, 8):
            cells = round(256 * 2 ** (-step / 8))
            truth = channels.planes(resize(image, 2 * cells, 2 * cells))[1].astype(int)
            gain = round(128 * 2 ** (exponent / 65536 * step / 8))
            error += abs(resample(planes[1:2], cells, cells, gain)[0] - truth).mean()
        errors.append(error)
    assert errors[1] < errors[0]


def test_too_little_to_tell():
    assert exponents([], Channels()) == USUAL
    assert exponents([np.zeros((1, 64, 64), np.uint8)], Channels()) == USUAL
    assert exponents([np.full((1, 20, 500), 9, np.uint8)], Channels(cell=4)) == USUAL
