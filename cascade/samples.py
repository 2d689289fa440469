"""Training and validation data: a table of bytes, labels and weights, checked."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade._ext import weights as kernels
from cascade.layout import MAX_SAMPLES


@dataclass(frozen=True)
class Samples:
    """Data that can be trained on; `check_samples` makes it."""

    table: NDArray[np.uint8]
    labels: NDArray[np.int8]
    base: NDArray[np.float64]  # weights, scaled to a sum of 1


def check_samples(
    table: Any, labels: Any, weights: Any = None, *, name: str = ""
) -> Samples:
    """Refuse, in words, anything that cannot be trained on."""
    if not isinstance(table, np.ndarray) or table.dtype != np.uint8 or table.ndim != 2:
        came = (
            f"{table.dtype} of shape {table.shape}"
            if isinstance(table, np.ndarray)
            else type(table).__name__
        )
        raise ValueError(f"expected a {name}table of uint8 (features, samples), got {came}")
    if 0 in table.shape:
        raise ValueError(f"expected a {name}table with features and samples, got {table.shape}")
    samples = table.shape[1]
    if samples > MAX_SAMPLES or len(table) > MAX_SAMPLES:
        raise ValueError(f"expected a {name}table of at most {MAX_SAMPLES} a side, got {table.shape}")
    given = np.asarray(labels)
    if given.shape != (samples,):
        raise ValueError(f"expected {samples} {name}labels, one a sample, got shape {given.shape}")
    if given.dtype.kind not in "iuf" or not ((given == 1) | (given == -1)).all():
        others = [v for v in np.unique(given.astype(str)) if v not in ("-1", "1", "-1.0", "1.0")]
        raise ValueError(f"expected {name}labels of -1 and +1, got {', '.join(others[:3])}")
    if given.min() == given.max():
        raise ValueError(f"expected {name}samples of both classes, got only label {given[0]:+.0f}")
    return Samples(
        np.ascontiguousarray(table),
        np.ascontiguousarray(given, np.int8),
        _check_weights(weights, samples, name),
    )


def _check_weights(weights: Any, samples: int, name: str) -> NDArray[np.float64]:
    if weights is None:
        return np.full(samples, 1.0 / samples)
    given = np.asarray(weights)
    if given.shape != (samples,) or given.dtype.kind not in "iuf":
        raise ValueError(
            f"expected {samples} {name}weights, got {given.dtype} of shape {given.shape}"
        )
    base: NDArray[np.float64] = np.array(given, np.float64)
    if not np.isfinite(base).all():
        raise ValueError(f"expected finite {name}weights, got {base[~np.isfinite(base)][0]}")
    if base.min() < 0:
        raise ValueError(f"expected {name}weights of at least 0, got {base.min()}")
    if not base.any():
        raise ValueError(f"expected some {name}weight above 0, got only zeros")
    base /= base.max()  # so that no sum overflows
    base /= kernels.total(base)
    return base
