"""The classifier keeps scikit-learn's conventions, and adds nothing to what boosting does."""

import copy
import functools
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from cascade.boosting import boost
from cascade.classifier import BoostedTreesClassifier, _spread
from cascade.settings import Settings
from cascade.trees import Trees
from tests.conftest import planted

LOSSES = [
    {},
    {"leaves": "real"},
    {"loss": "logitboost"},
    {"loss": "l2boost"},
    {"loss": "vebboost"},
    {"loss": "ebboost", "depth": 1},
]


def conformance():
    """scikit-learn's own checks; it warns of any estimator that is not made from its base class."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Estimator BoostedTreesClassifier does not inherit")
        for kind in LOSSES:
            estimator = BoostedTreesClassifier(**kind)
            for _, check in estimator_checks_generator(estimator):
                name = check.func.__name__ if isinstance(check, functools.partial) else check.__name__
                yield pytest.param(estimator, check, id=f"{estimator}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(conformance()))
def test_conforms_to_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(400, 8, n_informative=4, flip_y=0.1, random_state=0)
    return X, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def fitted(data):
    return BoostedTreesClassifier(rounds=20, criterion="gini").fit(*data)


# What it does.


@pytest.mark.parametrize("kind", LOSSES, ids=str)
def test_it_is_boosting(kind):
    """On bytes, the trees are those of `boost`, bit for bit."""
    table, labels = planted(300, 12, seed=3)
    weights = np.random.default_rng(0).random(300)
    model = BoostedTreesClassifier(rounds=15, **kind).fit(table.T, labels, weights)
    expected = boost(table, labels, Settings(rounds=15, **kind), weights=weights)
    assert model.trees_ == expected.trees
    np.testing.assert_array_equal(model.decision_function(table.T), expected.trees.decision(table))
    np.testing.assert_array_equal(model.classes_, [-1, 1])
    assert model.n_iter_ == len(model.trees_) == len(model.history_)


def test_parameters_are_those_of_the_settings():
    ours, theirs = BoostedTreesClassifier().get_params(), Settings().to_json()
    extra = {"validation_fraction": 0.1, "random_state": 0, "n_jobs": 1}
    assert theirs.pop("seed") == 0
    assert ours == theirs | {"criterion": None} | extra


def test_stages_end_at_the_whole(fitted, data):
    X, _ = data
    for staged, whole in (
        (fitted.staged_decision_function, fitted.decision_function),
        (fitted.staged_predict, fitted.predict),
        (fitted.staged_predict_proba, fitted.predict_proba),
    ):
        stages = list(staged(X))
        assert len(stages) == fitted.n_iter_
        np.testing.assert_array_equal(stages[-1], whole(X))


def test_score_is_the_weighted_accuracy(fitted, data):
    X, y = data
    right = fitted.predict(X) == y
    weights = np.random.default_rng(0).random(len(y))
    assert fitted.score(X, y) == pytest.approx(right.mean())
    assert fitted.score(X, y, weights) == pytest.approx(weights @ right / weights.sum())
    assert fitted.score(X, y) > 0.85


@pytest.mark.parametrize("jobs", [2, -1, -2, None, np.int64(2)])
def test_threads_do_not_matter(fitted, data, jobs):
    model = BoostedTreesClassifier(rounds=20, criterion="gini", n_jobs=jobs).fit(*data)
    assert model.trees_ == fitted.trees_
    np.testing.assert_array_equal(model.decision_function(data[0]), fitted.decision_function(data[0]))


def test_a_sample_without_weight_is_absent(fitted, data):
    X, y = data
    weights = np.concatenate([np.ones(len(y)), np.zeros(100)])
    noise = np.random.default_rng(0).standard_normal((100, X.shape[1]))
    model = clone(fitted).fit(np.concatenate([X, noise]), np.concatenate([y, y[:100]]), weights)
    assert model.trees_ == fitted.trees_
    np.testing.assert_array_equal(model.decision_function(noise), fitted.decision_function(noise))


@pytest.mark.parametrize("labels", [(False, True), (3, 7), (-1.0, 1.0), ("a", "b"), (0, 1)])
def test_any_two_labels(fitted, data, labels):
    X, y = data
    model = clone(fitted).fit(X, np.where(y == "yes", labels[1], labels[0]))
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.predict(X) == labels[1], fitted.predict(X) == "yes")


def test_constant_features_leave_it_undecided():
    model = BoostedTreesClassifier().fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.predict_proba(np.ones((1, 2))), [[0.5, 0.5]])
    np.testing.assert_array_equal(model.feature_importances_, [0, 0])


# Probabilities.


@pytest.mark.parametrize("kind", [{}, {"leaves": "real"}, {"loss": "logitboost"}], ids=str)
def test_probability_of_a_loss_that_has_one(kind, data):
    """p = 1 / (1 + exp(-2 H)) [Appel 7.1], or 1 / (1 + exp(-H)) for LogitBoost."""
    X, y = data
    model = BoostedTreesClassifier(rounds=10, **kind).fit(X, y)
    factor = 1 if kind.get("loss") == "logitboost" else 2
    expected = 1 / (1 + np.exp(-factor * model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])


@pytest.mark.parametrize("kind", LOSSES, ids=str)
def test_probabilities_are_sensible(kind):
    table, labels = planted(2000, 5, seed=0)
    X, unseen = np.split(table.T, 2)
    model = BoostedTreesClassifier(rounds=10, **kind).fit(X, labels[:1000])
    probability = model.predict_proba(unseen)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert log_loss(labels[1000:], probability) < 0.6  # guessing has 0.69


def test_sure_probabilities_do_not_overflow(data):
    model = BoostedTreesClassifier(rounds=300, leaves="real", depth=4).fit(*data)
    assert np.isfinite(np.log(model.predict_proba(data[0]))).all()


# Early stopping.


def test_patience_stops_early_and_repeatably(data):
    X, y = data
    options = {"leaves": "real", "depth": 4, "patience": 5, "validation_fraction": 0.3}
    model = BoostedTreesClassifier(**options).fit(X, y)
    losses = [r.validation_loss for r in model.history_]
    assert model.n_iter_ == 1 + np.argmin(losses)
    assert len(losses) == model.n_iter_ + 5
    assert BoostedTreesClassifier(**options).fit(X, y).trees_ == model.trees_
    assert BoostedTreesClassifier(**options, random_state=1).fit(X, y).trees_ != model.trees_


def test_the_sigmoid_is_fitted_to_held_out_samples(data):
    """On training samples, decisions of deep trees are far too good for that."""
    X, y = data
    options = {"loss": "l2boost", "depth": 6, "rounds": 30}
    on_training = BoostedTreesClassifier(**options).fit(X, y)
    held_out = BoostedTreesClassifier(**options, patience=30, validation_fraction=0.3).fit(X, y)
    assert held_out.sigmoid_.slope < 0.7 * on_training.sigmoid_.slope


@pytest.mark.parametrize("state", [None, np.random.RandomState(3), np.random.default_rng(3)])
def test_random_states(state, data):
    BoostedTreesClassifier(rounds=3, sample_fraction=0.5, random_state=state).fit(*data)


# Importance.


def test_importance_is_where_the_labels_come_from():
    table, labels = planted(500, 10, seed=0)
    importance = BoostedTreesClassifier(rounds=10, criterion="gini").fit(table.T, labels).feature_importances_
    assert importance.sum() == pytest.approx(1)
    assert importance[:3].min() > importance[3:].max()


def test_spread_by_hand():
    """A node counts by the leaves that can be reached below it; one that is not split, not at all."""
    trees = Trees(
        np.array([[4, 1, 2], [3, 0, 5]]),
        np.array([[9, 9, 9], [9, 255, 9]]),
        np.array([[-1.0, 1.0, 2.0, 2.5], [-1.0, 50.0, 0.0, 2.0]]),
    )
    np.testing.assert_array_equal(_spread(trees), [[3.5, 2, 0.5], [3, 0, 2]])


# Company.


def test_scikit_learn_is_not_needed():
    program = """
import sys
sys.modules["sklearn"] = None
import numpy as np
from cascade.classifier import BoostedTreesClassifier
X = np.arange(20.0).reshape(-1, 1)
model = BoostedTreesClassifier(rounds=2)
try:
    model.predict(X)
except (ValueError, AttributeError) as error:
    assert "not fitted" in str(error)
assert model.fit(X, X[:, 0] > 9).score(X, X[:, 0] > 9) == 1.0
assert not [name for name in sys.modules if name.startswith("sklearn.")]
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_tools_of_scikit_learn(data):
    X, y = data
    model = BoostedTreesClassifier(rounds=10, criterion="gini")
    assert is_classifier(model)
    assert cross_val_score(model, X, y, cv=3, scoring="roc_auc").mean() > 0.85
    grid = {"boostedtreesclassifier__rounds": np.array([1, 10]), "boostedtreesclassifier__depth": [1, 3]}
    search = GridSearchCV(make_pipeline(StandardScaler(), model), grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_["boostedtreesclassifier__rounds"] == 10
    assert search.score(X, y) > 0.85


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])  # noqa: S301
def test_copies_predict_the_same(twin, fitted, data):
    other = twin(fitted)
    np.testing.assert_array_equal(other.predict_proba(data[0]), fitted.predict_proba(data[0]))
    assert other.get_params() == fitted.get_params()
    assert [r.loss for r in other.history_] == [r.loss for r in fitted.history_]


def test_clone_is_unfitted(fitted):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clone(fitted).predict([[0.0] * 8])
    assert not hasattr(clone(fitted), "feature_importances_")


def test_representation():
    assert repr(BoostedTreesClassifier()) == "BoostedTreesClassifier()"
    model = BoostedTreesClassifier(rounds=10, loss="l2boost", shrinkage=1.0)
    assert repr(model) == "BoostedTreesClassifier(loss='l2boost', rounds=10)"
    assert eval(repr(model)).get_params() == model.get_params()  # noqa: S307


def test_parameters_can_be_changed():
    model = BoostedTreesClassifier().set_params(depth=3, loss="logitboost")
    assert (model.depth, model.loss) == (3, "logitboost")
    with pytest.raises(ValueError, match="Invalid parameter 'max_depth'"):
        model.set_params(depth=4, max_depth=3)
    assert model.depth == 3


def test_data_frames(fitted, data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=[f"f{i}" for i in range(8)])
    model = clone(fitted).fit(frame, pandas.Series(y))
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    np.testing.assert_array_equal(model.predict(frame), fitted.predict(X))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        fitted.predict(frame)
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")


# Refusals.

TEN = np.arange(10.0)[:, None]
HALVES = [0, 1] * 5


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((TEN, np.arange(10)), {}, "Only binary classification is supported.*10 classes"),
        ((TEN, np.ones(10)), {}, "two classes, got 1 class"),
        ((TEN, HALVES, HALVES), {}, "two classes with a weight above 0, got 1 class"),
        ((TEN, HALVES[:9]), {}, r"inconsistent numbers of samples: \[10, 9\]"),
        ((TEN, TEN[:, 0] + 0.5), {}, "Unknown label type: continuous.*0.5"),
        ((TEN, [np.nan] + [1.0] * 9), {}, "Input y contains NaN"),
        ((TEN, np.ones((10, 2))), {}, "y should be a 1d array"),
        ((TEN.astype(str), HALVES), {}, "expected X to hold numbers, got <U"),
        ((TEN + [[0, np.inf]], HALVES), {}, "Input X contains infinity"),
        ((TEN, HALVES, -np.ones(10)), {}, "not negative"),
        ((TEN, HALVES, np.zeros(10)), {}, "only zeros"),
        ((TEN, HALVES, np.ones(9)), {}, r"shape \(10,\), one a sample, got \(9,\)"),
        ((TEN, HALVES), {"depth": 9}, "depth must be a whole number, 1 to 8, got 9"),
        ((TEN, HALVES), {"loss": "hinge"}, "loss must be one of .*got 'hinge'"),
        ((TEN, HALVES), {"n_jobs": 0}, "n_jobs must be"),
        ((TEN, HALVES), {"random_state": "a"}, "random_state must be"),
        ((TEN, HALVES), {"random_state": -1}, "random_state must be"),
        ((TEN, HALVES), {"patience": 3, "validation_fraction": 1.0}, "between 0 and 1, got 1.0"),
        ((TEN, [0] * 9 + [1]), {"patience": 3}, "at least two samples of each class"),
    ],
)
def test_errors_say_what_was_expected(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        BoostedTreesClassifier(**options).fit(*arguments)


def test_labels_need_an_order():
    with pytest.raises(TypeError, match="labels y of one type"):
        BoostedTreesClassifier().fit(TEN, np.array([1, "a"] * 5, dtype=object))
