import numpy as np
from numpy.typing import NDArray

def apply(
    table: NDArray[np.uint8],
    feature: NDArray[np.int32],
    threshold: NDArray[np.uint8],
    depth: int,
    leaf: NDArray[np.uint8],
    threads: int,
) -> None: ...
def decide(
    table: NDArray[np.uint8],
    feature: NDArray[np.int32],
    threshold: NDArray[np.uint8],
    leaf: NDArray[np.float64],
    depth: int,
    decision: NDArray[np.float64],
    start: int,
    stop: int,
    threads: int,
) -> None: ...
