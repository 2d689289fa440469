"""The channel kernels against their twins: every small size, and images at the ends of the range."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade import channels
from cascade._ext import detect as kernels
from tests.reference import channels as reference

SIDES = [*range(1, 10), 12, 15, 16, 17, 23, 31, 32, 33, 40]
CELLS, CONSTANTS, SMOOTH = (2, 4), (0, 8, 255), (0, 1)
GUARD = 64  # bytes after a result that must stay as they are


def noise(height, width, seed=0):
    return np.random.default_rng(seed + 1000 * height + width).integers(0, 256, (height, width), np.uint8)


def guarded(*shape):
    """Room for a result, and the bytes behind it."""
    room = np.full(int(np.prod(shape)) + GUARD, 77, np.uint8)
    return room[:-GUARD].reshape(shape), room[-GUARD:]


def planes(image, cell, normalise, smooth):
    """By the kernel, of a grey image (height, width) or of one with three colours (3, height, width)."""
    count = 1 if cell == 1 else 8 if image.ndim == 2 else 10
    image = image[None] if image.ndim == 2 else image
    out, behind = guarded(count, image.shape[1] // cell, image.shape[2] // cell)
    kernels.planes(cell, smooth, normalise, np.ascontiguousarray(image), out)
    assert (behind == 77).all()
    return out


def check_planes(image, cell, normalise, smooth):
    expected = reference.planes(image, cell, normalise, smooth)
    np.testing.assert_array_equal(planes(image, cell, normalise, smooth), expected, str(image.shape))


@pytest.mark.parametrize("smooth", SMOOTH)
@pytest.mark.parametrize("normalise", CONSTANTS)
@pytest.mark.parametrize("cell", CELLS)
def test_planes_of_every_size(cell, normalise, smooth):
    for height, width in product(SIDES, SIDES):
        check_planes(noise(height, width), cell, normalise, smooth)


@pytest.mark.parametrize("smooth", SMOOTH)
@pytest.mark.parametrize("normalise", CONSTANTS)
@pytest.mark.parametrize("cell", CELLS)
def test_colour_planes_of_every_size(cell, normalise, smooth):
    for height, width in product(SIDES[::2], SIDES[1::2]):
        image = np.stack([noise(height, width, seed) for seed in range(3)])
        check_planes(image, cell, normalise, smooth)


def test_pixels_are_planes_too():
    for height, width, smooth in product(SIDES, SIDES[::3], SMOOTH):
        check_planes(noise(height, width), 1, 0, smooth)


def test_a_grey_frame_has_no_chroma():
    image = np.stack([noise(16, 20)] * 3)
    colour, grey = planes(image, 2, 8, 1), planes(image[0], 2, 8, 1)
    np.testing.assert_array_equal(colour[[0, *range(3, 10)]], grey)
    assert (colour[1:3] == 128).all()


def test_chroma_of_pure_colours():
    """By hand, from JPEG's formula in 1/256."""
    for bgr, expected in {
        (255, 0, 0): (29, 255, 107), (0, 255, 0): (149, 43, 21), (0, 0, 255): (77, 85, 255),
        (0, 0, 0): (0, 128, 128), (255, 255, 255): (255, 128, 128),
    }.items():  # fmt: skip
        image = np.broadcast_to(np.array(bgr, np.uint8)[:, None, None], (3, 4, 4))
        assert planes(image, 4, 0, 0)[:3, 0, 0].tolist() == list(expected)


@pytest.mark.parametrize("shape", [(97, 131), (64, 256), (3, 2000), (1500, 5), (240, 321)])
def test_planes_of_larger_images(shape):
    for cell, normalise, smooth in product(CELLS, CONSTANTS, SMOOTH):
        check_planes(noise(*shape), cell, normalise, smooth)


def extremes(height, width):
    """Images that reach the ends of what sums and differences may be, and every orientation."""
    y, x = np.mgrid[:height, :width]
    yield np.zeros((height, width), int)
    yield np.full((height, width), 255)
    for size in (1, 2, 3, 4):
        yield 255 * ((x // size + y // size) % 2)  # checkerboard
        yield 255 * (x // size % 2)  # stripes
        yield 255 * (y // size % 2)
    yield np.where((x == width // 2) & (y == height // 2), 255, 0)
    for angle in np.linspace(0, 2 * np.pi, 25):  # ramps, soft and hard
        slope = (x - width / 2) * np.cos(angle) + (y - height / 2) * np.sin(angle)
        yield np.clip(128 + 9 * slope, 0, 255)
        yield np.where(slope > 0, 255, 0)


@pytest.mark.parametrize("smooth", SMOOTH)
@pytest.mark.parametrize("normalise", CONSTANTS)
@pytest.mark.parametrize("cell", CELLS)
def test_planes_of_extreme_images(cell, normalise, smooth):
    for image in extremes(29, 38):
        check_planes(image.astype(np.uint8), cell, normalise, smooth)


def test_planes_of_every_gradient():
    """All 511 x 511 pairs of differences that a pixel can have, one for each cell of 4 x 4."""
    steps = np.arange(-255, 256)
    for dy in np.array_split(steps, 8):
        image = np.zeros((len(dy), 4, len(steps), 4), np.uint8)  # rows, pixels of a cell, columns, pixels
        image[:, 1, :, 0] = np.maximum(-steps, 0)
        image[:, 1, :, 2] = np.maximum(steps, 0)
        image[:, 0, :, 1] = np.maximum(-dy, 0)[:, None]
        image[:, 2, :, 1] = np.maximum(dy, 0)[:, None]
        image = image.reshape(4 * len(dy), 4 * len(steps))
        for cell in CELLS:
            check_planes(image, cell, 0, 0)


@given(st.data())
def test_planes_of_any_image(data):
    shape = data.draw(st.tuples(st.integers(1, 30), st.integers(1, 30)))
    levels = data.draw(st.sampled_from([[0, 255], [0, 1], [254, 255], [0, 127, 128, 255], range(256)]))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    image = random.choice(np.array(levels, np.uint8), shape)
    cell, smooth = data.draw(st.sampled_from(CELLS)), data.draw(st.sampled_from(SMOOTH))
    check_planes(image, cell, data.draw(st.integers(0, 255)), smooth)


def test_known_planes():
    """By hand: a vertical edge of 40 between columns 1 and 2, which rows 0 and 1 see with dx = 40 at both."""
    image = np.full((2, 4), 10, np.uint8)
    image[:, 2:] = 50
    expected = np.zeros((8, 1, 2), np.uint8)
    expected[0, 0] = 10, 50
    expected[1, 0] = 40, 40  # sums of 80 over four pixels, halved
    expected[2, 0] = 80, 80
    np.testing.assert_array_equal(planes(image, 2, 0, 0), expected)


def test_grey():
    for height, width in product([0, 1, 2, 17, 40], repeat=2):
        frame = np.random.default_rng(width).integers(0, 256, (height, width, 3), np.uint8)
        turned = np.ascontiguousarray(frame[::-1, :, ::-1])[::-1, :, ::-1]
        for same in (frame, np.asfortranarray(frame), turned):
            np.testing.assert_array_equal(channels.grey(same), reference.grey(frame))


def test_grey_of_every_colour():
    """A step of 5 reaches both ends; grey stays grey."""
    levels = np.arange(0, 256, 5, dtype=np.uint8)
    frame = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(len(levels), -1, 3)
    np.testing.assert_array_equal(channels.grey(frame), reference.grey(frame))
    ramp = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(channels.grey(np.stack([ramp] * 3, axis=-1)[None]), ramp[None])


def test_halve():
    for height, width in product([0, *SIDES], repeat=2):
        image = noise(height, width)
        out, behind = guarded(height // 2, width // 2)
        kernels.halve(image, out)
        np.testing.assert_array_equal(out, reference.halve(image))
        np.testing.assert_array_equal(channels.halve(image[None])[0], out)
        assert (behind == 77).all()
    assert (channels.halve(np.full((1, 6, 8), 255, np.uint8)) == 255).all()


def check_resample(image, width, height, gain):
    out, behind = guarded(height, width)
    kernels.resample(image, out, gain)
    message = f"{image.shape} to {out.shape} times {gain}"
    np.testing.assert_array_equal(out, reference.resample(image, width, height, gain), message)
    assert (behind == 77).all()


@pytest.mark.parametrize("gain", [0, 1, 64, 127, 128, 129, 235, 256])
def test_resample(gain):
    sides = [1, 2, 3, 5, 8, 13, 21, 40]
    for height, to_height in product(sides, sides):
        for width, to_width in product(sides[::2], sides[1::2]):
            check_resample(noise(height, width), to_width, to_height, gain)
            check_resample(noise(to_width, to_height), height, width, gain)
    check_resample(np.full((9, 11), 255, np.uint8), 7, 8, gain)


@pytest.mark.parametrize("shape", [(90, 120), (2, 4000), (999, 3)])
@pytest.mark.parametrize("to", [(64, 88), (1, 3668), (1998, 2)])
def test_resample_larger(shape, to):
    for gain in (100, 128, 150):
        check_resample(noise(*shape), to[1], to[0], gain)


def test_resample_to_the_same_size_changes_nothing():
    image = noise(23, 31)
    np.testing.assert_array_equal(channels.resample(image[None], 31, 23)[0], image)


def test_resample_a_very_wide_image():
    """As wide as the kernel has room for."""
    check_resample(noise(1, kernels.WIDEST), kernels.WIDEST - 7, 1, 128)
    check_resample(noise(1, kernels.WIDEST - 7), kernels.WIDEST, 1, 128)


def test_resize():
    for height, width in product([1, 2, 5, 16, 33, 70], repeat=2):
        for to_height, to_width in product([1, 2, 5, 16, 33], repeat=2):
            image = noise(height, width)
            expected = reference.resize(image, to_width, to_height)
            np.testing.assert_array_equal(channels.resize(image[None], to_width, to_height)[0], expected)
