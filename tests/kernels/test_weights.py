"""The weight kernels against their twins, and the portable logarithm against the library's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade._ext import weights as kernels
from cascade.layout import LOSSES
from tests.reference import weights as reference


@given(st.floats(1e-300, 1e300))
def test_log(x):
    assert kernels.log(x) == pytest.approx(math.log(x), rel=1e-15, abs=1e-15)


@pytest.mark.parametrize("loss", ["adaboost", "logitboost", "l2boost", "vebboost"])
@pytest.mark.parametrize("spread", [0.1, 3.0, 30.0])
def test_gradients(loss, spread):
    random = np.random.default_rng(1)
    labels = random.choice(np.array([-1, 1], np.int8), 500)
    base = random.random(500)
    base /= base.sum()
    decision = spread * random.standard_normal(500)
    gradient, hessian = np.empty(500), np.empty(500)
    lam = 0.3 if loss == "vebboost" else 0.0
    value = kernels.gradients(LOSSES[loss], labels, base, decision, lam, gradient, hessian)
    expected = reference.gradients(loss, labels, base, decision, lam)
    assert value == pytest.approx(expected[0], rel=1e-11)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(hessian, expected[2], rtol=1e-9, atol=1e-12)
    assert kernels.loss_of(LOSSES[loss], labels, base, decision) == pytest.approx(value, rel=1e-11)
    wrong = (decision > 0) != (labels > 0)
    assert kernels.error_of(labels, base, decision) == pytest.approx(base[wrong].sum())


@pytest.mark.parametrize("decision", [1e3, -1e3, 1e300])
@pytest.mark.parametrize("loss", LOSSES)
def test_no_overflow(loss, decision):
    labels = np.array([1, -1], np.int8)
    base, gradient, hessian = np.full(2, 0.5), np.empty(2), np.empty(2)
    decisions = np.array([decision, decision / 2])
    if loss == "l2boost" and decision == 1e300:
        return  # its loss is the square, which no double holds
    kernels.gradients(LOSSES[loss], labels, base, decisions, 0.1, gradient, hessian)
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_quantise(regression, scale):
    random = np.random.default_rng(2)
    gradient = scale * random.standard_normal(300) * random.random(300) ** 20
    hessian = np.abs(gradient) * random.uniform(0.3, 3, 300)
    weight, target = np.empty(300, np.int32), np.empty(300, np.int32)
    kernels.quantise(gradient, hessian, regression, weight, target)
    unit = 2**30 / max(np.abs(gradient).sum(), hessian.sum() if regression else 0)
    np.testing.assert_allclose(target[weight > 0], gradient[weight > 0] * unit, atol=1.001)
    assert weight.sum(dtype=np.int64) <= 2**30
    assert np.abs(target).sum(dtype=np.int64) <= 2**30
    assert not target[weight == 0].any()
    if not regression:
        assert np.array_equal(weight, np.abs(target))


def test_quantise_nothing():
    weight, target = np.empty(3, np.int32), np.empty(3, np.int32)
    kernels.quantise(np.zeros(3), np.zeros(3), True, weight, target)
    assert not weight.any()
    assert not target.any()


def test_leaf_sums():
    random = np.random.default_rng(3)
    leaf = random.integers(0, 4, 100).astype(np.uint8)
    labels = random.choice(np.array([-1, 1], np.int8), 100)
    values = random.random(100)
    sums = np.empty((4, 2))
    kernels.leaf_sums(leaf, labels, values, sums)
    np.testing.assert_allclose(sums, reference.leaf_sums(leaf, labels, values, 4), rtol=1e-12)
