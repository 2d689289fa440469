import numpy as np
from numpy.typing import NDArray

def log(x: float) -> float: ...
def total(values: NDArray[np.float64]) -> float: ...
def loss_of(
    loss: int, labels: NDArray[np.int8], base: NDArray[np.float64], decision: NDArray[np.float64]
) -> float: ...
def error_of(
    labels: NDArray[np.int8], base: NDArray[np.float64], decision: NDArray[np.float64]
) -> float: ...
def gradients(
    loss: int,
    labels: NDArray[np.int8],
    base: NDArray[np.float64],
    decision: NDArray[np.float64],
    lam: float,
    gradient: NDArray[np.float64],
    hessian: NDArray[np.float64],
) -> float: ...
def quantise(
    gradient: NDArray[np.float64],
    hessian: NDArray[np.float64],
    regression: bool,
    weight: NDArray[np.int32],
    target: NDArray[np.int32],
) -> None: ...
def leaf_sums(
    leaf: NDArray[np.uint8],
    labels: NDArray[np.int8],
    values: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None: ...
