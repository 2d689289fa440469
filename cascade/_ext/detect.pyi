import numpy as np
from numpy.typing import NDArray

WIDEST: int
PARTS: dict[str, int]

def grey(
    blue: NDArray[np.uint8], green: NDArray[np.uint8], red: NDArray[np.uint8], out: NDArray[np.uint8]
) -> None: ...
def halve(image: NDArray[np.uint8], out: NDArray[np.uint8]) -> None: ...
def resample(image: NDArray[np.uint8], out: NDArray[np.uint8], gain: int) -> None: ...
def planes(
    cell: int, smooth: int, normalise: int, image: NDArray[np.uint8], out: NDArray[np.uint8]
) -> None: ...

def suppress(
    boxes: NDArray[np.int32],
    scores: NDArray[np.int32],
    order: NDArray[np.int32],
    overlap: int,
    smaller: bool,
) -> int: ...

class Runtime:
    def __init__(
        self,
        kind: int,
        cell: int,
        smooth: int,
        normalise: int,
        planes: int,
        window: tuple[int, int],
        depth: int,
        reject_shift: int,
        nodes: NDArray[np.uint8],
        feature: NDArray[np.uint16],
        threshold: NDArray[np.int32],
        rects: NDArray[np.uint8],
        leaves: NDArray[np.int16],
        reject: NDArray[np.int16],
        accept: NDArray[np.int16],
        limits: NDArray[np.int32],
    ) -> None: ...
    @property
    def spots_a_level(self) -> int: ...
    def place(self, levels: NDArray[np.int64], spots: NDArray[np.int64]) -> None: ...
    def classify(
        self, planes: NDArray[np.uint8], scores: NDArray[np.int32], trees: NDArray[np.int32]
    ) -> None: ...
    def trace(self, planes: NDArray[np.uint8], scores: NDArray[np.int32]) -> int: ...
    def detect(
        self,
        images: list[NDArray[np.uint8] | None],
        levels: NDArray[np.int64],
        spots: NDArray[np.int64],
        planes: NDArray[np.uint8],
        found: NDArray[np.int32],
        counts: NDArray[np.int64],
        visits: NDArray[np.int64],
        threads: int,
        parts: int = ...,
    ) -> None: ...
