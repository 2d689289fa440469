"""A classifier with scikit-learn's manners: numbers in, any two labels out.

It follows the conventions without needing the package: scikit-learn is imported only when it asks for its
tags, and its exceptions and warnings are used if it is loaded anyway.
"""

import inspect
import warnings
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cascade.binning import Bins
from cascade.boosting import boost
from cascade.layout import UNSPLIT
from cascade.settings import Settings
from cascade.sigmoid import Sigmoid
from cascade.tabular import (
    NotFittedError,
    feature_names,
    matrix,
    name_mismatch,
    scikit,
    target,
    two_classes,
    weights_of,
)
from cascade.threads import thread_count
from cascade.trees import Trees

# How a decision H becomes the log odds of the positive class, slope * H [Appel 7.1] [Meir]. The other
# losses do not estimate a probability; theirs is fitted afterwards.
SLOPES = {"adaboost": 2.0, "logitboost": 1.0}


class BoostedTreesClassifier:
    """Boosted shallow trees for two classes, on features binned to bytes.

    Parameters
    ----------
    loss : {"adaboost", "logitboost", "l2boost", "vebboost", "ebboost"}
        What the trees drive down.
    leaves : {"discrete", "real"}
        What a tree of adaboost says: plus or minus one weight, or a confidence for each leaf.
    criterion : {"error", "gini", "entropy", "variance"} or None
        What a split drives down; None takes the loss's usual one.
    rounds : int
        How many trees to grow at most.
    depth : int
        How many questions a tree asks, 1 to 8.
    shrinkage : float
        What each tree is multiplied by, above 0 and at most 1.
    lam : float
        The weight of the variance in vebboost and ebboost, 0 to 1.
    search : {"quick", "exhaustive"}
        How splits are found: the same trees, at very different cost.
    schedule : tuple of float or None
        Shares of the mass that quick search looks at in turn; None adapts by itself.
    trim, feature_fraction, sample_fraction : float
        The share of the weight, the features and the samples that a round looks at.
    patience : int or None
        Stop after so many rounds without a lower loss on samples held out for that.
    validation_fraction : float
        The share of each class that is held out if `patience` is set.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        Decides every draw; None draws anew each time.
    n_jobs : int or None
        Threads; -1 takes all cores, None takes one. The result is the same.

    Attributes
    ----------
    classes_ : the two labels, sorted; a positive decision stands for the second one.
    n_features_in_ : how many features were seen.
    feature_names_in_ : their names, if X was a data frame with names.
    feature_importances_ : how much each feature decides; sums to 1.
    trees_ : the trees, on bytes.
    bins_ : what turns numbers into those bytes.
    n_iter_ : how many trees there are.
    history_ : what was measured after each round.
    sigmoid_ : what turns a decision into a probability.
    """

    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    trees_: Trees
    bins_: Bins
    sigmoid_: Sigmoid

    def __init__(
        self,
        *,
        loss: str = "adaboost",
        leaves: str = "discrete",
        criterion: str | None = None,
        rounds: int = 256,
        depth: int = 2,
        shrinkage: float = 1.0,
        lam: float = 0.1,
        search: str = "quick",
        schedule: tuple[float, ...] | None = None,
        trim: float = 1.0,
        feature_fraction: float = 1.0,
        sample_fraction: float = 1.0,
        enough: float = 0.0,
        patience: int | None = None,
        validation_fraction: float = 0.1,
        random_state: Any = 0,
        n_jobs: int | None = 1,
    ) -> None:
        self.loss = loss
        self.leaves = leaves
        self.criterion = criterion
        self.rounds = rounds
        self.depth = depth
        self.shrinkage = shrinkage
        self.lam = lam
        self.search = search
        self.schedule = schedule
        self.trim = trim
        self.feature_fraction = feature_fraction
        self.sample_fraction = sample_fraction
        self.enough = enough
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Training.

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (samples, features) and labels y; a sample of weight 0 is as good as absent."""
        seed = _seed(self.random_state)
        settings = self._settings(seed)
        threads = _threads(self.n_jobs)
        names = feature_names(X)
        numbers = matrix(X)
        classes, labels = two_classes(y, len(numbers))
        weights = weights_of(sample_weight, len(numbers))
        if not weights.all():
            used = weights > 0
            numbers, labels, weights = numbers[used], labels[used], weights[used]
        if abs(int(labels.sum(dtype=np.int64))) == len(labels):
            raise ValueError("expected samples of two classes with a weight above 0, got 1 class")
        bins = Bins.fit(numbers)
        training: tuple[Any, ...] = (bins.transform(numbers), labels, weights)
        validation = None
        if settings.patience is not None:
            training, validation = _hold_out(training, self.validation_fraction, seed)
        table, labels, weights = training
        result = boost(table, labels, settings, weights=weights, validation=validation, threads=threads)
        if self.loss in SLOPES:
            self.sigmoid_ = Sigmoid(SLOPES[self.loss])
        else:
            table, labels, weights = validation or training
            self.sigmoid_ = Sigmoid.fit(result.trees.decision(table, threads), labels, weights)
        self.classes_, self.n_features_in_, self.bins_ = classes, numbers.shape[1], bins
        self.trees_, self.history_, self.n_iter_ = result.trees, result.history, len(result.trees)
        vars(self).pop("feature_names_in_", None)  # of an earlier fit
        if names is not None:
            self.feature_names_in_ = names
        return self

    def _settings(self, seed: int) -> Settings:
        names = [field.name for field in fields(Settings) if field.name != "seed"]
        return Settings(seed=seed, **{name: _plain(getattr(self, name)) for name in names})

    # Predicting.

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """The trees' confidence in the second class; below 0 it is one in the first."""
        table = self._table(X)
        return self.trees_.decision(table, _threads(self.n_jobs))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label on whose side the decision is."""
        return self._label(self.decision_function(X))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The probability of either class, (samples, 2).

        AdaBoost's decision is half the log odds [Appel 7.1], LogitBoost's is the log odds; for the other
        losses a sigmoid is fitted to the decisions, on held-out samples where there are some [Platt]. Such
        a sigmoid may move the even odds a little away from decision 0, which `predict` goes by.
        """
        return self._probability(self.decision_function(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[NDArray[np.float64]]:
        """The decisions after each tree."""
        table = self._table(X)
        return self.trees_.staged(table, _threads(self.n_jobs))

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """The labels after each tree."""
        return map(self._label, self.staged_decision_function(X))

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[NDArray[np.float64]]:
        """The probabilities after each tree, by the sigmoid of the whole ensemble."""
        return map(self._probability, self.staged_decision_function(X))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The weighted share of the samples that are labelled right."""
        labels = self.predict(X)
        right = labels == target(y, len(labels))
        return float(np.average(right, weights=weights_of(sample_weight, len(labels))))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How often a feature is asked for, by how far apart the answers below it lie."""
        self._check_fitted()
        shares = np.bincount(self.trees_.feature.ravel(), _spread(self.trees_).ravel(), self.n_features_in_)
        return np.asarray(shares / (shares.sum() or 1.0), np.float64)

    def _table(self, X: ArrayLike) -> NDArray[np.uint8]:
        self._check_fitted()
        self._check_names(feature_names(X))
        numbers = matrix(X)
        if numbers.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {numbers.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return self.bins_.transform(numbers)

    def _label(self, decision: NDArray[np.float64]) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[(decision > 0).astype(np.intp)]
        return labels

    def _probability(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([self.sigmoid_.other(decision), self.sigmoid_(decision)], axis=1)

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise scikit("NotFittedError", NotFittedError)(
                f"This {type(self).__name__} instance is not fitted yet. "
                "Call 'fit' with appropriate arguments before using this estimator."
            )

    def _check_names(self, names: NDArray[Any] | None) -> None:
        """Columns in another order would go unnoticed and give nonsense."""
        fitted, me = getattr(self, "feature_names_in_", None), type(self).__name__
        if fitted is None and names is not None:
            warnings.warn(f"X has feature names, but {me} was fitted without feature names", stacklevel=4)
        elif fitted is not None and names is None:
            warnings.warn(
                f"X does not have valid feature names, but {me} was fitted with feature names",
                stacklevel=4,
            )
        elif fitted is not None and names is not None and list(fitted) != list(names):
            raise ValueError(name_mismatch(list(fitted), list(names)))

    # Manners.

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; `deep` is there for tools that ask, nothing is nested."""
        return {name: getattr(self, name) for name in sorted(self._defaults())}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name."""
        known = sorted(self._defaults())
        for name in params:
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known}."
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """The call that makes this estimator, without what is as usual."""
        usual = self._defaults()
        told = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(usual[name])
        ]
        return f"{type(self).__name__}({', '.join(told)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trees_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            transformer_tags=None,
            classifier_tags=ClassifierTags(multi_class=False),
            regressor_tags=None,
            input_tags=InputTags(),
        )


def _plain(value: Any) -> Any:
    """NumPy's numbers, as a parameter grid holds them, as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _seed(random_state: Any) -> int:
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    seed = _plain(random_state)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(
            f"random_state must be a whole number, a NumPy generator or None, got {random_state!r}"
        )
    return seed


def _threads(n_jobs: Any) -> int:
    """Threads as joblib counts them: None is one, -1 all cores, -2 all but one."""
    jobs = 1 if n_jobs is None else _plain(n_jobs)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {n_jobs!r}")
    return jobs if jobs > 0 else max(1, thread_count(0) + 1 + jobs)


def _hold_out(samples: tuple[Any, ...], fraction: Any, seed: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Part of each class for training and part for validation, at least one sample each."""
    fraction = _plain(fraction)
    if not isinstance(fraction, float) or not 0.0 < fraction < 1.0:
        raise ValueError(f"validation_fraction must be between 0 and 1, got {fraction!r}")
    table, labels, weights = samples
    random = np.random.default_rng(seed)
    held = np.zeros(len(labels), bool)
    for label in (-1, 1):
        members = random.permutation(np.flatnonzero(labels == label))
        if len(members) < 2:
            raise ValueError("patience holds samples out, so it needs at least two samples of each class")
        held[members[: min(len(members) - 1, max(1, round(fraction * len(members))))]] = True
    return (
        (np.ascontiguousarray(table[:, ~held]), labels[~held], weights[~held]),
        (np.ascontiguousarray(table[:, held]), labels[held], weights[held]),
    )


def _spread(trees: Trees) -> NDArray[np.float64]:
    """For every node, how far apart the leaves below it lie; 0 where it is not split."""
    highest = lowest = trees.leaf
    spread = np.empty(trees.feature.shape)
    for level in reversed(range(trees.depth)):
        nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
        split = trees.threshold[:, nodes] != UNSPLIT
        highest = np.where(split, np.maximum(highest[:, ::2], highest[:, 1::2]), highest[:, ::2])
        lowest = np.where(split, np.minimum(lowest[:, ::2], lowest[:, 1::2]), lowest[:, ::2])
        spread[:, nodes] = highest - lowest
    return spread
