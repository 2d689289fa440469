"""Tables, labels and weights as scikit-learn's users hand them over, checked and in plain arrays.

The wording of some errors is scikit-learn's, for its tools look for it.
"""

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray


def matrix(X: Any) -> NDArray[Any]:
    """X as an array of numbers (samples, features); bytes stay bytes."""
    if hasattr(X, "tocsr"):
        raise TypeError("Sparse data was passed for X, but dense data is required; use X.toarray()")
    array = np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: expected real numbers, got {array.dtype}")
    if array.dtype.kind not in "buifO":
        raise ValueError(f"expected X to hold numbers, got {array.dtype}")
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array of shape {array.shape} instead. Reshape your "
            "data: X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one sample"
        )
    for count, thing in zip(array.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {thing}(s) (shape={array.shape}) while a minimum of 1 is required."
            )
    return array.astype(np.float64) if array.dtype.kind == "O" else array


def target(y: Any, samples: int) -> NDArray[Any]:
    """y as one label for each sample."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None")
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. "
            "Please change the shape of y to (n_samples,), for example using ravel().",
            scikit("DataConversionWarning", UserWarning),
            stacklevel=4,
        )
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
    if len(array) != samples:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[samples, len(array)]}"
        )
    return array


def two_classes(y: Any, samples: int) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """The two labels, and -1 or +1 for each sample."""
    array = target(y, samples)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            kind = "NaN" if np.isnan(array).any() else "infinity"
            raise ValueError(f"Input y contains {kind}; expected two different labels")
        if (array != np.floor(array)).any():
            raise ValueError(
                "Unknown label type: continuous. Expected two different labels, "
                f"got fractions like {array[array != np.floor(array)][0]}"
            )
    try:
        classes, positions = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise TypeError(f"expected labels y of one type, so that they have an order: {error}") from error
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"got {len(classes)} classes"
        )
    if len(classes) < 2:
        raise ValueError(f"expected labels of two classes, got 1 class: {classes[0]!r}")
    return classes, (2 * positions - 1).astype(np.int8)


def weights_of(sample_weight: Any, samples: int) -> NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(samples)
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != (samples,):
        raise ValueError(f"expected sample_weight of shape {(samples,)}, one a sample, got {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("expected sample_weight to be finite and not negative")
    if not weights.any():
        raise ValueError("expected some sample_weight above 0, got only zeros")
    return weights


def feature_names(X: Any) -> NDArray[Any] | None:
    """The column names of a data frame, if they are names and not numbers."""
    columns = getattr(X, "columns", None)
    names = np.asarray([] if columns is None else columns, dtype=object)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        raise TypeError(
            "Feature names are only supported if all input features have string names, "
            f"but your input has {sorted({type(name).__name__ for name in names})} as feature name / "
            "column name types."
        )
    return names if any(texts) else None


def name_mismatch(fitted: list[str], names: list[str]) -> str:
    lines = ["The feature names should match those that were passed during fit."]
    unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
    if unseen:
        lines += ["Feature names unseen at fit time:", *(f"- {name}" for name in unseen)]
    if missing:
        lines += [
            "Feature names seen at fit time, yet now missing:",
            *(f"- {name}" for name in missing),
        ]
    if not unseen and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    return "\n".join(lines) + "\n"


def scikit(name: str, otherwise: Any) -> Any:
    """An exception or warning of scikit-learn's if it is in use, for its tools know no other."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, otherwise)


class NotFittedError(ValueError, AttributeError):
    """Where scikit-learn is not installed."""
