"""Haar features agree with a pixel-by-pixel twin, and do not see brightness."""

import math

import numpy as np
import pytest

from cascade import haar
from cascade.features import integral
from cascade.haar import HaarPool
from tests.reference import haar as reference


def noise(count, height, width, low=0, high=256, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(low, high, (count, height, width), dtype=np.uint8)


def values(pool, windows):
    return pool.values(windows[:, None])


@pytest.mark.parametrize(
    ("width", "height", "low", "high"),
    [
        (25, 25, 0, 256),  # the demo's faces
        (7, 19, 0, 256),  # not square
        (12, 5, 100, 104),  # flatter than the floor of the contrast
        (20, 1, 0, 256),  # a single row: no feature has cells above each other
    ],
)
def test_values_equal_the_pixel_loop(width, height, low, high):
    windows = noise(6, height, width, low, high)
    windows[0] = np.where(np.arange(width) < width // 2, low, high - 1)  # a step: clips
    pool = HaarPool.random(width, height, 20, seed=1)
    np.testing.assert_array_equal(values(pool, windows), reference.values(pool, windows))


def test_values_do_not_depend_on_blocks(monkeypatch):
    windows, pool = noise(23, 9, 9), HaarPool.random(9, 9, 50, seed=2)
    whole = values(pool, windows)
    monkeypatch.setattr(haar, "WINDOWS", 7)
    monkeypatch.setattr(haar, "FEATURES", 3)
    np.testing.assert_array_equal(values(pool, windows), whole)


def test_values_take_any_memory_order():
    windows, pool = noise(8, 10, 12), HaarPool.random(12, 10, 30, seed=3)
    turned = np.asfortranarray(windows)
    np.testing.assert_array_equal(values(pool, turned[::2]), values(pool, windows)[:, ::2])


def test_constant_windows_give_the_zero_byte():
    windows = np.arange(256, dtype=np.uint8)[:, None, None] * np.ones((1, 9, 11), dtype=np.uint8)
    assert (values(HaarPool.random(11, 9, 100, seed=4), windows) == 128).all()


def test_brightness_does_not_matter():
    windows, pool = noise(40, 16, 16, high=200), HaarPool.random(16, 16, 100, seed=5)
    np.testing.assert_array_equal(values(pool, windows), values(pool, windows + np.uint8(55)))


def test_contrast_matters_little_above_the_floor():
    windows, pool = noise(40, 16, 16, high=128), HaarPool.random(16, 16, 100, seed=6)
    once, twice = values(pool, windows).astype(int), values(pool, windows * np.uint8(2)).astype(int)
    assert np.abs(once - twice).max() <= 1  # the rounded root


def test_noise_in_flat_windows_stays_quiet():
    flat, rough = noise(40, 16, 16, 100, 102), noise(40, 16, 16, 0, 200)
    pool = HaarPool.random(16, 16, 100, seed=7)
    spread = [np.abs(values(pool, windows).astype(int) - 128).mean() for windows in (flat, rough)]
    assert spread[0] < spread[1] / 4


def test_inverted_windows_give_mirrored_values():
    windows, pool = noise(40, 10, 10), HaarPool.random(10, 10, 100, seed=8)
    total = values(pool, windows).astype(int) + values(pool, 255 - windows)
    assert set(np.unique(total)) <= {255, 256}  # 256, less one where floor rounds both down


@pytest.mark.parametrize("count", [1, 300])
def test_pool_is_decided_by_its_seed(count):
    pool = HaarPool.random(25, 25, count, seed=9)
    assert pool == HaarPool.random(25, 25, count, seed=9)
    assert pool != HaarPool.random(25, 25, count, seed=10)
    assert pool != "a pool"


def test_pool_can_hold_every_feature_once():
    with pytest.raises(ValueError, match=r"0 to the (\d+) features") as caught:
        HaarPool.random(6, 5, 10**6, seed=0)
    total = int(str(caught.value).split("to the ")[1].split()[0])
    pool = HaarPool.random(6, 5, total, seed=0)
    rows = np.concatenate([pool.rectangle.reshape(total, -1), pool.weight], axis=1)
    assert len(np.unique(rows, axis=0)) == len(pool) == total
    assert total == sum(1 for _ in every_feature(6, 5))


def every_feature(width, height):
    """Each (columns, rows, x, y, w, h) of at least 8 pixels, by plain counting."""
    for columns, rows in ((2, 1), (1, 2), (3, 1), (1, 3), (2, 2)):
        for w in range(1, width + 1):
            for h in range(1, height + 1):
                if w % columns == h % rows == 0 and w * h >= 8:
                    for x in range(width - w + 1):
                        for y in range(height - h + 1):
                            yield columns, rows, x, y, w, h


def test_pool_stays_within_the_window_and_balances():
    pool = HaarPool.random(20, 14, 2000, seed=11)
    x, y, w, h = np.moveaxis(pool.rectangle, -1, 0)
    assert x.min() == 0
    assert (x + w).max() == 20
    assert y.min() == 0
    assert (y + h).max() == 14
    assert (w * h)[:, 0].min() >= 8
    assert not (pool.weight * w * h).sum(axis=1).any()
    assert {tuple(row) for row in pool.weight.tolist()} == {(-1, 2, 0), (-1, 3, 0), (-1, 2, 2)}


def test_pool_cannot_be_changed():
    pool = HaarPool.random(8, 8, 3, seed=12)
    with pytest.raises(ValueError, match="read-only"):
        pool.weight[0, 0] = 5


def test_integral_equals_the_pixel_loop():
    images = noise(3, 5, 7)
    expected = np.stack([reference.integral(image) for image in images])
    np.testing.assert_array_equal(integral(images), expected)
    np.testing.assert_array_equal(integral(images[0]), expected[0])


def test_integer_root_is_exact_around_squares():
    roots = np.array([0, 1, 2, 3, 94906265, 94906266, 94906267, 3_037_000_498], dtype=np.int64)
    near = np.concatenate([roots**2 + offset for offset in (-1, 0, 1)])
    near = near[near >= 0]
    assert haar._isqrt(near).tolist() == [math.isqrt(x) for x in near.tolist()]


def test_empty_pools_and_tables():
    assert values(HaarPool.random(9, 9, 0, seed=0), noise(4, 9, 9)).shape == (0, 4)
    assert values(HaarPool.random(9, 9, 5, seed=0), noise(0, 9, 9)).shape == (5, 0)


@pytest.mark.parametrize(
    ("windows", "message"),
    [
        (noise(2, 9, 9)[:, None].astype(float), r"uint8 planes of windows, \(n, 1, 9, 9\), got float64"),
        (noise(2, 9, 8)[:, None], r"\(n, 1, 9, 9\), got uint8 of shape \(2, 1, 9, 8\)"),
        (noise(2, 9, 9), r"got uint8 of shape \(2, 9, 9\)"),
        (noise(2, 9, 9)[None], r"got uint8 of shape \(1, 2, 9, 9\)"),
        ([[1, 2], [3, 4]], "got list"),
    ],
)
def test_bad_windows(windows, message):
    with pytest.raises(ValueError, match=message):
        HaarPool.random(9, 9, 5, seed=0).values(windows)


@pytest.mark.parametrize(
    ("width", "height", "count"), [(0, 9, 1), (9, -1, 1), (9, 2000, 1), (9, 9, -1), (2, 2, 1)]
)
def test_bad_pools(width, height, count):
    with pytest.raises(ValueError, match="expected"):
        HaarPool.random(width, height, count, seed=0)


def one_feature(rectangles=((0, 0, 4, 2), (2, 0, 2, 2), (0, 0, 0, 0)), weights=(-1, 2, 0)):
    return HaarPool(8, 6, np.array([rectangles]), np.array([weights]))


def test_own_features_are_welcome():
    window = np.zeros((1, 6, 8), dtype=np.uint8)
    window[:, :, 2:4] = 100
    assert values(one_feature(), window).tolist() == reference.values(one_feature(), window).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": (-1, 1, 0)}, "balance"),
        ({"weights": (-1, 2)}, r"got \(1, 3, 4\) and \(1, 2\)"),
        ({"rectangles": ((5, 0, 4, 2), (7, 0, 2, 2), (0, 0, 0, 0))}, "within 8 x 6"),
        ({"rectangles": ((0, -1, 4, 2), (2, -1, 2, 2), (0, 0, 0, 0))}, "within 8 x 6"),
        ({"rectangles": ((0, 0, 0, 0), (2, 0, 0, 0), (0, 0, 0, 0))}, "within 8 x 6"),
    ],
)
def test_bad_features(arguments, message):
    with pytest.raises(ValueError, match=message):
        one_feature(**arguments)
