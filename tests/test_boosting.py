"""Boosting against its literal twin, its settings, and what it refuses."""

import dataclasses

import numpy as np
import pytest

from cascade.boosting import boost
from cascade.quickboost import thesis_schedule
from cascade.settings import Settings
from tests.conftest import planted
from tests.reference import boosting as reference

LOSSES = ["adaboost", "logitboost", "l2boost", "vebboost", "ebboost"]
VARIANTS = [
    {"loss": "adaboost", "criterion": "error"},
    {"loss": "adaboost", "criterion": "gini"},
    {"loss": "adaboost", "criterion": "entropy"},
    {"loss": "adaboost", "criterion": "error", "leaves": "real"},
    {"loss": "logitboost", "criterion": "variance"},
    {"loss": "logitboost", "criterion": "error"},
    {"loss": "l2boost", "criterion": "variance"},
    {"loss": "vebboost", "criterion": "error", "lam": 0.3},
    {"loss": "ebboost", "criterion": "error", "lam": 0.3, "depth": 1},
]
HEURISTICS = [{"trim": 0.9}, {"feature_fraction": 0.5}, {"sample_fraction": 0.5}]


def facts(result):
    """All that must not depend on threads or luck: everything but the clock."""
    rounds = [dataclasses.replace(r, seconds=0.0) for r in result.history]
    return result.trees.tobytes(), repr(rounds), result.stopped


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: "-".join(map(str, v.values())))
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_twin(variant, weighted):
    table, labels = planted(160, 14, seed=7)
    weights = np.random.default_rng(7).uniform(0.5, 2, 160) if weighted else None
    variant = {"depth": 2, "shrinkage": 0.7, **variant}
    result = boost(table, labels, Settings(rounds=6, **variant), weights=weights)
    expected = reference.boost(table, labels, rounds=6, weights=weights, **variant)
    assert len(result.trees) == len(expected)
    for t, (feature, threshold, leaf) in enumerate(expected):
        assert np.array_equal(result.trees.feature[t], feature)
        assert np.array_equal(result.trees.threshold[t], threshold)
        reached = np.unique(result.trees.apply(table, t))
        np.testing.assert_allclose(result.trees.leaf[t][reached], leaf[reached], rtol=1e-7)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: "-".join(map(str, v.values())))
@pytest.mark.parametrize("heuristic", [{}, *HEURISTICS], ids=str)
def test_search_and_threads_change_nothing(variant, heuristic, compact):
    table, labels = planted(500, 40, seed=8)
    common = {"rounds": 12, **variant, **heuristic}
    exhaustive = boost(table, labels, Settings(search="exhaustive", **common))
    quick = boost(table, labels, Settings(**common))
    threaded = boost(table, labels, Settings(**common), threads=3)
    thesis = boost(table, labels, Settings(schedule=thesis_schedule(), **common), threads=2)
    assert quick.trees == exhaustive.trees == thesis.trees
    assert facts(quick) == facts(threaded)


@pytest.mark.parametrize("loss", LOSSES)
def test_decision_is_what_training_saw(loss, small):
    table, labels = small
    result = boost(table, labels, Settings(loss=loss, depth=1, rounds=10))
    decision = result.trees.decision(table)
    assert result.history[-1].error == pytest.approx(((decision > 0) != (labels > 0)).mean())
    *_, last = result.trees.staged(table)
    assert np.array_equal(last, decision)


@pytest.mark.parametrize("heuristic", HEURISTICS, ids=str)
def test_heuristics_cost_less_and_draw_by_seed(heuristic, small):
    table, labels = small
    plain = boost(table, labels, Settings(search="exhaustive", rounds=20))
    one, again, other = (
        boost(table, labels, Settings(search="exhaustive", rounds=20, seed=seed, **heuristic))
        for seed in (1, 1, 2)
    )
    assert one.updates < plain.updates
    assert facts(one) == facts(again)
    if "trim" not in heuristic:
        assert one.trees != other.trees


def test_early_stopping_keeps_the_best_round():
    table, labels = planted(300, 30, seed=1, noise=0.25)
    held = planted(300, 30, seed=2, noise=0.25)
    settings = Settings(rounds=200, depth=3, patience=10)
    result = boost(table, labels, settings, validation=held)
    losses = [r.validation_loss for r in result.history]
    assert len(result.trees) == 1 + int(np.argmin(losses))
    assert len(losses) == len(result.trees) + 10 < 200
    assert "validation" in result.stopped
    decision = result.trees.decision(held[0])
    assert losses[len(result.trees) - 1] == pytest.approx(np.exp(-held[1] * decision).mean())


def test_shrinkage_scales_the_first_tree(small):
    whole, half = (boost(*small, Settings(rounds=1, shrinkage=s)) for s in (1.0, 0.5))
    assert np.array_equal(half.trees.leaf, 0.5 * whole.trees.leaf)


def test_weights_count_like_repeated_samples(small):
    table, labels = small
    weights = np.random.default_rng(0).integers(1, 4, len(labels))
    repeated = np.repeat(np.arange(len(labels)), weights)
    one = boost(table, labels, Settings(rounds=5), weights=weights)
    many = boost(np.ascontiguousarray(table[:, repeated]), labels[repeated], Settings(rounds=5))
    assert np.array_equal(one.trees.feature, many.trees.feature)
    np.testing.assert_allclose(one.trees.leaf, many.trees.leaf, rtol=1e-6)


def test_a_flawless_tree_ends_the_run():
    table = np.array([[0, 1, 8, 9]], np.uint8)
    result = boost(table, [-1, -1, 1, 1], Settings(rounds=50))
    assert len(result.trees) == 1
    assert "no mistake" in result.stopped
    assert np.isfinite(result.trees.leaf).all()


def test_a_table_that_tells_nothing_gives_the_odds_of_the_classes():
    result = boost(np.zeros((4, 6), np.uint8), [1, -1, 1, -1, 1, 1], Settings(rounds=5))
    assert len(result.trees) == 1
    assert result.trees.decision(np.zeros((4, 1), np.uint8)) == pytest.approx(0.5 * np.log(2))
    assert "no split helps" in result.stopped


def test_classes_of_uneven_weight_do_not_end_the_run():
    """Where no split of all samples beats the constant, the constant comes first and then splits do."""
    random = np.random.default_rng(0)
    table = random.integers(0, 256, (10, 2000), dtype=np.uint8)
    far = (np.abs(table.astype(int) - 128) ** 2).sum(axis=0)
    labels = np.where(far > np.quantile(far, 0.8), 1, -1)
    result = boost(table, labels, Settings(rounds=60, depth=1))
    assert len(result.trees) == 60
    assert result.history[-1].error < 0.2 * 0.8


def test_progress_hears_of_every_round(small):
    heard = []
    result = boost(*small, Settings(rounds=7), progress=heard.append)
    assert heard == result.history
    assert [r.number for r in heard] == list(range(1, 8))
    assert all(np.diff([r.updates for r in heard]) > 0)


GOOD = np.arange(12, dtype=np.uint8).reshape(3, 4)
LABELS = [1, -1, 1, -1]


@pytest.mark.parametrize(
    ("table", "labels", "weights", "words"),
    [
        (GOOD.astype(float), LABELS, None, "uint8.*float64"),
        (GOOD.tolist(), LABELS, None, "uint8.*list"),
        (GOOD[0], LABELS, None, r"features, samples.*\(4,\)"),
        (GOOD[:, :0], [], None, r"\(3, 0\)"),
        (GOOD[:0], LABELS, None, r"\(0, 4\)"),
        (GOOD, [1, -1], None, "4 labels.*2"),
        (GOOD, [0, 1, 0, 1], None, "-1 and .1, got 0"),
        (GOOD, ["a", "b", "a", "b"], None, "-1 and .1, got a"),
        (GOOD, [1.0, -1.0, np.nan, 1.0], None, "-1 and .1, got nan"),
        (GOOD, [1, 1, 1, 1], None, "both classes.*1"),
        (GOOD, LABELS, [1, 1, 1], "4 weights.*3"),
        (GOOD, LABELS, [1, 1, 1, -2], "at least 0, got -2"),
        (GOOD, LABELS, [1, 1, 1, np.inf], "finite.*inf"),
        (GOOD, LABELS, [1, 1, 1, np.nan], "finite.*nan"),
        (GOOD, LABELS, [0, 0, 0, 0], "above 0"),
        (GOOD, LABELS, ["x"] * 4, "4 weights"),
    ],
)
def test_bad_input_is_refused_in_words(table, labels, weights, words):
    with pytest.raises(ValueError, match=words):
        boost(table, labels, weights=weights)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"loss": "hinge"}, "loss must be one of adaboost.*hinge"),
        ({"criterion": "luck"}, "criterion must be one of"),
        ({"depth": 0}, "depth must be a whole number, 1 to 8, got 0"),
        ({"depth": 9}, "1 to 8, got 9"),
        ({"depth": 2.0}, "whole number"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": True}, "rounds"),
        ({"shrinkage": 0.0}, "shrinkage must be above 0"),
        ({"trim": 1.5}, "trim"),
        ({"feature_fraction": float("nan")}, "feature_fraction"),
        ({"lam": -0.1}, "lam must be between 0 and 1"),
        ({"seed": -1}, "seed"),
        ({"patience": 0}, "patience"),
        ({"loss": "ebboost", "depth": 2}, "stumps"),
        ({"loss": "l2boost", "leaves": "real"}, "real leaves"),
        ({"schedule": (0.9, 0.5)}, "rising"),
        ({"schedule": ()}, "rising"),
    ],
)
def test_bad_settings_are_refused_in_words(setting, words):
    with pytest.raises(ValueError, match=words):
        Settings(**setting)


def test_patience_without_validation_and_other_misuse(small):
    with pytest.raises(ValueError, match=r"validation=\(table, labels"):
        boost(*small, Settings(patience=3))
    with pytest.raises(ValueError, match="30 features, got 3"):
        boost(*small, validation=(GOOD, LABELS))
    with pytest.raises(ValueError, match="threads"):
        boost(*small, threads=-1)


@pytest.mark.parametrize("view", ["transposed", "strided", "reversed"])
def test_any_strides(view, small):
    table, labels = small
    views = {
        "transposed": np.ascontiguousarray(table.T).T,
        "strided": np.repeat(table, 2, axis=1)[:, ::2],
        "reversed": np.ascontiguousarray(table[::-1])[::-1],
    }
    settings = Settings(rounds=3)
    assert boost(views[view], labels, settings).trees == boost(table, labels, settings).trees


def test_read_only_input(small):
    table, labels = small
    table.flags.writeable = labels.flags.writeable = False
    assert len(boost(table, labels, Settings(rounds=3)).trees) == 3


@pytest.mark.parametrize("shape", [(1, 2), (1, 300), (300, 2), (9, 3), (8, 257), (7, 8)])
@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_crashes_whatever_the_shape(shape, loss):
    random = np.random.default_rng(sum(shape))
    table = random.integers(0, 256, shape, dtype=np.uint8)
    labels = np.where(np.arange(shape[1]) % 2, 1, -1)
    depth = 1 if loss == "ebboost" else 8
    result = boost(table, labels, Settings(loss=loss, rounds=5, depth=depth))
    assert np.isfinite(result.trees.leaf).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_extreme_weights(loss, small):
    table, labels = small
    weights = 10.0 ** np.random.default_rng(0).uniform(-300, 300, len(labels))
    result = boost(table, labels, Settings(loss=loss, rounds=20, depth=1), weights=weights)
    assert np.isfinite(result.trees.leaf).all()
    assert np.isfinite([r.loss for r in result.history]).all()
