"""The theorems of the papers, as properties of what the trainer does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade._ext import weights as kernels
from cascade.boosting import boost
from cascade.layout import LOSSES
from cascade.leaves import fit_leaves
from cascade.settings import Settings
from tests.conftest import planted
from tests.reference.quickboost import preliminary_error

CRITERIA = ["error", "gini", "variance", "entropy"]


def weights_of(labels, decision):
    weight = np.exp(-labels * decision)
    return weight / weight.sum()


@pytest.mark.parametrize("criterion", CRITERIA)
@given(st.integers(2, 40), st.integers(0, 2**32), st.floats(0, 6))
def test_preliminary_error_never_falls(criterion, samples, seed, skew):
    """Z_r eps_r <= Z_m eps_m for every r <= m, in any order of the samples [Appel 3.2, 7.2]."""
    random = np.random.default_rng(seed)
    row = random.integers(0, random.integers(1, 256), samples).astype(np.uint8)
    weight = np.exp(skew * random.standard_normal(samples))
    weight = (weight / weight.sum() * 2**29).astype(np.int64)
    target = weight * random.choice([-1, 1], samples)
    if criterion == "variance":
        target = (target * random.uniform(0.0, 2.0, samples)).astype(np.int64)
    order = random.permutation(samples)
    errors = [
        preliminary_error(row, weight, target, order, m, criterion) for m in range(1, samples + 1)
    ]
    # The logarithm of `entropy` is rounded; quick search allows for as much.
    slack = 10 * int(weight.sum()) if criterion == "entropy" else 0
    highest = np.maximum.accumulate(errors)
    assert (highest - errors <= slack).all()


def test_rounded_entropy_can_fall_but_never_below_the_slack():
    """A case in which it does fall, so that the slack of quick search is known to be needed."""
    weight = np.array([8559, 1, 1])
    target = weight * [1, -1, 1]
    row, order = np.zeros(3, np.uint8), np.arange(3)
    two, three = (preliminary_error(row, weight, target, order, m, "entropy") for m in (2, 3))
    assert 0 < two - three <= 10 * weight.sum()


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_training_error_bound(depth, seed):
    """error <= prod 2 sqrt(e (1 - e)) <= exp(-2 sum gamma^2), gamma = 1/2 - e [Appel 2.13]."""
    table, labels = planted(300, 20, seed)
    result = boost(table, labels, Settings(rounds=25, depth=depth))
    errors = np.array([r.tree_error for r in result.history])
    product = np.cumprod(2 * np.sqrt(errors * (1 - errors)))
    bound = np.exp(-2 * np.cumsum((0.5 - errors) ** 2))
    training = np.array([r.error for r in result.history])
    loss = np.array([r.loss for r in result.history])
    assert (training <= product * (1 + 1e-12)).all()
    assert (product <= bound * (1 + 1e-12)).all()
    np.testing.assert_allclose(loss, product, rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_new_weights_are_uncorrelated_with_the_last_tree(seed):
    table, labels = planted(300, 20, seed)
    result = boost(table, labels, Settings(rounds=25))
    before = np.zeros(300)
    for after in result.trees.staged(table):
        vote = np.sign(after - before)
        assert abs((weights_of(labels, after) * labels * vote).sum()) < 1e-9
        before = after


def veb_cost(labels, decision, lam):
    """The cost that VEB-Boost minimises: squared mean plus lam times variance [VEB 2]."""
    loss = np.exp(-labels * decision)
    square = loss.sum() ** 2
    return square + lam * (len(loss) * (loss**2).sum() - square)


@pytest.mark.parametrize("lam", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_vebboost_lowers_its_cost_every_round(lam, depth, seed):
    table, labels = planted(250, 15, seed)
    result = boost(table, labels, Settings(loss="vebboost", lam=lam, rounds=30, depth=depth))
    costs = [veb_cost(labels, np.zeros(250), lam)]
    costs += [veb_cost(labels, decision, lam) for decision in result.trees.staged(table)]
    assert len(costs) > 10
    assert (np.diff(costs) < 0).all()


def boost_with_learners_of_error(loss, labels, error, rounds, above, random):
    """Boost with made-up learners that are wrong on random samples of weight `error`, no less if `above`."""
    settings = Settings(loss=loss, lam=0.0, depth=1)
    n = len(labels)
    decision, gradient, hessian = np.zeros(n), np.empty(n), np.empty(n)
    for _ in range(rounds):
        kernels.gradients(LOSSES[loss], labels, np.full(n, 1 / n), decision, 0.0, gradient, hessian)
        order = random.permutation(n)
        wrong = order[: np.searchsorted(np.cumsum(hessian[order]), error) + above]
        vote = labels.copy()
        vote[wrong] *= -1
        leaf = (vote > 0).astype(np.uint8)
        decision += fit_leaves(settings, leaf, labels, gradient, hessian).values[leaf]
    return decision


@pytest.mark.parametrize("error", [0.05, 0.2, 0.3, 0.4])
@pytest.mark.parametrize("rounds", [1, 3, 10])
def test_vebboost_at_lambda_zero_needs_at_most_twice_the_rounds_of_adaboost(error, rounds):
    """[VEB theorem 3], which is about learners of a fixed error rate."""
    random = np.random.default_rng(rounds)
    labels = random.choice(np.array([-1, 1], np.int8), 5000)
    ada = boost_with_learners_of_error("adaboost", labels, error, rounds, True, random)
    veb = boost_with_learners_of_error("vebboost", labels, error, 2 * rounds, False, random)
    assert veb_cost(labels, veb, 0.0) <= veb_cost(labels, ada, 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_vebboost_at_lambda_zero_on_real_trees(seed):
    """The same for trained trees, against AdaBoost with learners as poor as the poorest of them."""
    table, labels = planted(300, 20, seed)
    veb = boost(table, labels, Settings(loss="vebboost", lam=0.0, rounds=24))
    worst = max(r.tree_error for r in veb.history)
    goal = 300**2 * (4 * worst * (1 - worst)) ** 12
    assert veb_cost(labels, veb.trees.decision(table), 0.0) <= goal


@pytest.mark.parametrize("seed", range(3))
def test_ebboost_is_adaboost_at_lambda_zero(seed):
    table, labels = planted(250, 15, seed)
    eb = boost(table, labels, Settings(loss="ebboost", lam=0.0, depth=1, rounds=15))
    ada = boost(table, labels, Settings(depth=1, rounds=15))
    assert np.array_equal(eb.trees.feature, ada.trees.feature)
    assert np.array_equal(eb.trees.threshold, ada.trees.threshold)
    np.testing.assert_allclose(eb.trees.leaf, ada.trees.leaf, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_ebboost_and_vebboost_agree_at_lambda_one(seed):
    """There the variational bound is tight: both weigh samples by w^2."""
    table, labels = planted(250, 15, seed)
    eb = boost(table, labels, Settings(loss="ebboost", lam=1.0, depth=1, rounds=15))
    veb = boost(table, labels, Settings(loss="vebboost", lam=1.0, depth=1, rounds=15))
    assert np.array_equal(eb.trees.feature, veb.trees.feature)
    assert np.array_equal(eb.trees.threshold, veb.trees.threshold)
    np.testing.assert_allclose(eb.trees.leaf, veb.trees.leaf, rtol=1e-9)


@pytest.mark.parametrize(("loss", "shrinkage"), [("adaboost", 1), ("l2boost", 1), ("logitboost", 0.5)])
def test_training_loss_falls_every_round(loss, shrinkage):
    """Exactly minimised losses do; a whole Newton step of LogitBoost may overshoot, half of one not."""
    table, labels = planted(300, 20, seed=4)
    history = boost(table, labels, Settings(loss=loss, rounds=30, shrinkage=shrinkage)).history
    assert (np.diff([r.loss for r in history]) < 0).all()
