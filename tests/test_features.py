"""Pools: tables that the trainer sees, and models that see the same in them."""

import numpy as np
import pytest

from cascade.boosting import boost
from cascade.channels import Channels, resize
from cascade.detector import Detector
from cascade.features import CellPool, RectPool, integral
from cascade.haar import HaarPool
from cascade.model import NEVER_REJECT, Model
from cascade.settings import Settings
from tests.reference import haar as reference

SIDE = 16  # pixels of a window


def windows(count, colours, seed=0):
    """Blobs and noise, (count, colours, SIDE, SIDE)."""
    random = np.random.default_rng(seed)
    blobs = random.integers(0, 200, (count, colours, 4, 4)).repeat(4, axis=2).repeat(4, axis=3)
    return (blobs + random.integers(0, 56, blobs.shape)).astype(np.uint8)


def pool_of(kind, planes):
    _, depth, height, width = planes.shape
    if kind == "cell":
        return CellPool(depth, width, height)
    if kind == "rect":
        return RectPool.random(planes, 200, seed=1)
    return HaarPool.random(width, height, 200, seed=1)


def grown(kind, mode, depth=2):
    """Windows, their channels, and trees on them that know them by heart, as trees and as a model."""
    channels = Channels("pixels", 1) if kind == "haar" else Channels(mode, 2, smooth=1, normalise=8)
    images = windows(300, 3 if mode == "colour" else 1)
    planes = np.stack([channels.planes(image) for image in images])
    pool = pool_of(kind, planes)
    labels = np.random.default_rng(0).choice([-1, 1], len(images))
    trees = boost(pool.values(planes), labels, Settings(rounds=25, depth=depth)).trees
    cells = SIDE // channels.cell
    model = Model(
        name=kind, channels=mode, cell=channels.cell, smooth=channels.smooth, normalise=channels.normalise,
        window=(cells, cells), box=(0, 0, 256 * cells, 256 * cells), lambdas=(0, 0, 0), classes=("thing",),
        leaf=np.rint(256 * trees.leaf).astype(int), reject=np.full(len(trees), NEVER_REJECT),
        **pool.fields(trees),
    )  # fmt: skip
    return pool, trees, model, channels


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(
    ("kind", "mode"),
    [("cell", "grey"), ("cell", "colour"), ("rect", "grey"), ("rect", "colour"), ("haar", "grey")],
)
def test_the_detector_compares_what_the_trainer_binned(kind, mode, depth):
    """Windows that were never trained on take the same leaves in the model as in the trees."""
    pool, trees, model, channels = grown(kind, mode, depth)
    assert (model.kind, model.channels) == (kind, mode)
    images = windows(200, 3 if mode == "colour" else 1, seed=5)
    planes = np.stack([channels.planes(image) for image in images])
    table, nodes = pool.values(planes), 2**depth - 1
    expected = sum(np.rint(256 * trees.leaf[t])[trees.apply(table, t)] for t in range(len(trees)))
    detector = Detector(model)
    frames = images[:, 0] if mode == "grey" else np.moveaxis(images, 1, -1)
    np.testing.assert_array_equal([detector.trace(frame).scores[-1] for frame in frames], expected)
    assert len(np.unique(expected)) > 20
    assert model.feature.shape == (25, nodes)
    if kind != "cell":
        assert len(model.rectangles) == len(np.unique(trees.feature)) <= len(pool)


def test_cells_are_the_bytes():
    planes = np.random.default_rng(0).integers(0, 256, (5, 8, 3, 4), np.uint8)
    pool = CellPool(8, 4, 3)
    assert len(pool) == 96
    table = pool.values(planes)
    assert table.shape == (96, 5)
    assert table[(2 * 3 + 1) * 4 + 3].tolist() == planes[:, 2, 1, 3].tolist()


def test_rectangles():
    planes = np.random.default_rng(0).integers(0, 256, (40, 8, 5, 7), np.uint8)
    pool = RectPool.random(planes, 300, seed=3)
    assert 250 < len(pool) <= 300
    plane, x, y, width, height = pool.rectangle.astype(int).T
    assert (width >= 1).all()
    assert (height >= 1).all()
    assert (x + width <= 7).all()
    assert (y + height <= 5).all()
    assert {(x + width).max(), width.max()} == {7}
    assert set(plane) == set(range(8))
    sums, table = pool.sums(planes), pool.values(planes)
    for k in range(len(pool)):
        part = planes[:, plane[k], y[k] : y[k] + height[k], x[k] : x[k] + width[k]]
        np.testing.assert_array_equal(sums[k], part.sum(axis=(1, 2)))
        edges = pool.edges[k]
        np.testing.assert_array_equal(table[k], (sums[k][:, None] > edges).sum(axis=1))
        assert len(np.unique(table[k])) == len(np.unique(sums[k]))  # few windows: all are told apart


def test_rectangles_are_decided_by_their_seed():
    planes = np.zeros((2, 8, 5, 7), np.uint8)
    one, same, other = (RectPool.random(planes, 99, seed).rectangle for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_rectangles_do_not_depend_on_blocks(monkeypatch):
    planes = np.random.default_rng(0).integers(0, 256, (40, 8, 5, 7), np.uint8)
    pool = RectPool.random(planes, 50, seed=3)
    whole = pool.values(planes)
    monkeypatch.setattr("cascade.features.BLOCK", 7)
    np.testing.assert_array_equal(pool.values(planes), whole)


def test_integral_equals_the_pixel_loop():
    images = np.random.default_rng(0).integers(0, 256, (3, 7, 5), np.uint8)
    expected = np.stack([reference.integral(image) for image in images])
    np.testing.assert_array_equal(integral(images), expected)
    np.testing.assert_array_equal(integral(images[0]), expected[0])


def test_integral_refuses_sums_beyond_32_bits():
    with pytest.raises(ValueError, match="fits into 32 bits"):
        integral(np.broadcast_to(np.uint8(255), (4096, 4096)))


@pytest.mark.parametrize("planes", [[1], np.zeros((2, 8, 3, 4)), np.zeros((2, 3, 4), np.uint8)])
def test_other_planes_are_refused(planes):
    with pytest.raises(ValueError, match=r"expected the uint8 planes of windows, \(n, 8, 3, 4\), got"):
        CellPool(8, 4, 3).values(planes)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mode": "rgb"}, "pixels, grey, colour, got 'rgb'"), ({"cell": 3}, "2 or 4 pixels.*got 3"),
        ({"smooth": 2}, "smooth 0 or 1"), ({"normalise": 256}, "normalise 0 to 255"),
        ({"mode": "pixels"}, "cells of 1 pixels"),
        ({"mode": "pixels", "cell": 1, "normalise": 1}, "normalise 0 to 0"),
    ],
)  # fmt: skip
def test_other_channels_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Channels(**given)


def test_a_frame_becomes_an_image():
    frame = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    np.testing.assert_array_equal(Channels("colour").image(frame), np.moveaxis(frame, 2, 0))
    np.testing.assert_array_equal(Channels("colour").image(frame[..., 0]), [frame[..., 0]] * 3)
    assert Channels("grey").image(frame).shape == (1, 2, 4)
    assert resize(Channels("colour").image(frame), 2, 1).shape == (3, 1, 2)
