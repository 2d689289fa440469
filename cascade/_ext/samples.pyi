import numpy as np
from numpy.typing import NDArray

CLASSES: int

def classify(
    samples: NDArray[np.int32],
    mass: NDArray[np.int64],
    class_of: NDArray[np.uint16],
    masses: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None: ...
def order(
    samples: NDArray[np.int32],
    class_of: NDArray[np.uint16],
    masses: NDArray[np.int64],
    marks: NDArray[np.int64],
    position: NDArray[np.int32],
    weight: NDArray[np.int32],
    target: NDArray[np.int32],
    mass: NDArray[np.int64],
    subset_of: NDArray[np.uint8],
    columns: NDArray[np.int32],
    bounds: NDArray[np.int64],
    totals: NDArray[np.int64],
) -> None: ...
def partition(
    row: NDArray[np.uint8],
    threshold: int,
    columns: NDArray[np.int32],
    bounds: NDArray[np.int64],
    weight: NDArray[np.int32],
    target: NDArray[np.int32],
    mass: NDArray[np.int64],
    parts: NDArray[np.int32],
    part_bounds: NDArray[np.int64],
    totals: NDArray[np.int64],
) -> None: ...
def gather(
    table: NDArray[np.uint8],
    columns: NDArray[np.int32],
    out: NDArray[np.uint8],
    start: int,
    stop: int,
    threads: int,
) -> None: ...
