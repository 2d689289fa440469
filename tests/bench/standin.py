"""A face detector for the benchmarks, trained in seconds on what scikit-image ships.

It stands in for the shipped face model until that exists: the work per frame is what counts here.
"""

from datetime import UTC, datetime

import cv2
import numpy as np
from numpy.typing import NDArray

from cascade.boosting import boost
from cascade.channels import Channels
from cascade.detector import Detector
from cascade.features import CellPool
from cascade.model import Model
from cascade.settings import Settings
from cascade.sigmoid import Sigmoid
from cascade.tools.faces import face_windows, photos
from cascade.trees import Trees

SIDE, CELL = 24, 2
CELLS = SIDE // CELL
UNIT = 1 / 256  # of a decision: what a leaf counts in
STAGES = (64, 256, 512)  # trees; negatives are mined between
RECALL = 0.95  # of the faces, what the rejection trace keeps
EARLY = 32  # trees in which it gives up most of the others


def face_model() -> Model:
    """Boost, mine what is wrongly found in photos without faces, and boost again."""
    faces, others = (crop(windows) for windows in split(*face_windows(5000, 10000, seed=0)))
    held, _ = (crop(windows) for windows in split(*face_windows(1000, 10, seed=1)))
    model = None
    for trees in STAGES:
        if model is not None:
            others = np.concatenate([others, mined(model)])
        table = np.concatenate([cells(faces), cells(others)], axis=1)
        labels = np.repeat([1, -1], [len(faces), len(others)])
        grown = boost(table, labels, Settings(rounds=trees, depth=2), threads=0).trees
        model = calibrated(grown, cells(held))
    assert model is not None
    return model


def split(windows: NDArray[np.uint8], labels: NDArray[np.int8]) -> tuple[NDArray[np.uint8], ...]:
    return windows[labels > 0], windows[labels < 0]


def crop(windows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(windows[:, :SIDE, :SIDE])


def blank(trees: Trees, reject: NDArray[np.int16], sigmoid: Sigmoid | None = None) -> Model:
    leaf = np.clip(np.rint(trees.leaf / UNIT), -32767, 32767).astype(np.int16)
    whole = CELLS * 256
    return Model(
        name="stand-in face", cell=CELL, window=(CELLS, CELLS), box=(0, 0, whole, whole),
        lambdas=(0, 7200, 7200), **CellPool(8, CELLS, CELLS).fields(trees), leaf=leaf,
        reject=reject, score_unit=UNIT, sigmoid=sigmoid, classes=("face",),
        metadata={"date": datetime.now(UTC).date().isoformat()},
    )  # fmt: skip


def cells(windows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The table (features, windows) of the bytes that the detector looks at."""
    channels = Channels(cell=CELL)
    planes = [channels.planes(window[None]) for window in windows]
    return CellPool(channels.count, CELLS, CELLS).values(np.stack(planes))


def calibrated(trees: Trees, faces: NDArray[np.uint8]) -> Model:
    """Reject as early as the faces to be kept allow; most of those given up are given up early
    [Bourdev & Brandt]."""
    rounded = Trees(trees.feature, trees.threshold, np.rint(trees.leaf / UNIT))
    alive = np.ones(faces.shape[1], bool)
    reject = []
    for t, scores in enumerate(rounded.staged(faces)):
        share = (1 - RECALL) * (1 - np.exp(-(t + 1) / EARLY))
        spare = int(share * len(alive)) - np.count_nonzero(~alive)
        lowest = np.sort(scores[alive])
        reject.append(lowest[max(spare, 0)] - 1)
        alive &= scores > reject[-1]
    return blank(trees, np.clip(reject, -32767, 32767).astype(np.int16), Sigmoid(2.0))


def mined(model: Model, most: int = 5000) -> NDArray[np.uint8]:
    """What the model wrongly finds in photos without faces."""
    detector = Detector(model, threads=0, overlap=0.8)
    crops = []
    for photo in photos():
        for x1, y1, x2, y2 in detector.detect(photo).xyxy[:500].astype(int):
            part = photo[max(y1, 0) : y2, max(x1, 0) : x2]
            crops.append(cv2.resize(part, (SIDE, SIDE), interpolation=cv2.INTER_AREA))
    return np.array(crops[:most], np.uint8).reshape(-1, SIDE, SIDE)
