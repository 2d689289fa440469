"""The fitted sigmoid against logistic regression, and where decisions are flawless."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cascade.sigmoid import Sigmoid


@pytest.mark.parametrize("weighted", [False, True])
def test_fit_is_the_likeliest_sigmoid(weighted):
    """Logistic regression on samples that count as both classes, as the smoothed targets say."""
    random = np.random.default_rng(0)
    decision = random.normal(0.5, 2, 500)
    labels = np.where(random.random(500) < 1 / (1 + np.exp(-1.5 * decision - 0.7)), 1, -1)
    weights = random.uniform(0.1, 2, 500) if weighted else np.ones(500)
    scaled = weights / weights.mean()
    positive, negative = (scaled[labels == sign].sum() for sign in (1, -1))
    target = np.where(labels > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
    oracle = LogisticRegression(C=1e12, solver="newton-cholesky", tol=1e-10).fit(
        np.tile(decision, 2)[:, None],
        np.repeat([1, 0], 500),
        np.concatenate([scaled * target, scaled * (1 - target)]),
    )
    fitted = Sigmoid.fit(decision, labels, weights)
    assert fitted.slope == pytest.approx(oracle.coef_[0, 0], rel=1e-5)
    assert fitted.intercept == pytest.approx(oracle.intercept_[0], rel=1e-4)
    assert fitted.slope == pytest.approx(1.5, abs=0.3)
    again = Sigmoid.fit(decision, labels, 0.37 * weights)
    assert (again.slope, again.intercept) == pytest.approx((fitted.slope, fitted.intercept))


@pytest.mark.parametrize("size", [0.0, 1e-6, 1.0, 1e6])
def test_fit_of_flawless_decisions_is_finite(size):
    labels = np.repeat([-1, 1], [5, 15])
    fitted = Sigmoid.fit(size * labels, labels, np.ones(20))
    assert fitted(np.array(size)) == pytest.approx(16 / 17 if size else (15 * 16 / 17 + 5 / 7) / 20, rel=1e-6)


def test_both_tails():
    assert Sigmoid(2.0)(np.array([-1000.0, 0.0, 1000.0])).tolist() == [0.0, 0.5, 1.0]
