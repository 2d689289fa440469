"""Everything that decides which detector comes out of a training run; threads and places do not."""

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from cascade.settings import Settings


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """How a detector is trained. The defaults are meant for any rigid object."""

    # What a window is
    side: int = 20  # pixels of an object's shorter side in the window; less where most objects are smaller
    context: float = 0.0  # of an object's side, what the window shows around it, both sides together
    crop_share: float = 1.0  # of a crop's side, what the object takes; the rest is its surroundings
    channels: str = "auto"  # grey, or colour; auto is colour where the objects' pictures are
    border: float | None = None  # how far beyond a picture to look, as a share of its shorter side;
    # None: a quarter where pictures cut some objects off, else not at all
    cell: int = 2  # pixels a side: 2 or 4
    smooth: int = 1
    normalise: int = 8  # 0 for gradients as they are
    # What is boosted
    stages: tuple[int, ...] = (64, 256, 1024, 1024)  # trees; negatives are mined between
    depth: int = 2
    leaves: str = "discrete"  # or real
    positives: int = 12000  # windows of objects, drawn again and again with jitter
    draws: int = 16  # windows of one object, at most
    negatives: int = 12000  # new ones in each stage
    kept: int = 40000  # negatives, of all stages together
    per_image: int = 60  # mined in one picture at a time, at most
    # Jitter: how far objects are moved about, so that few stand for many
    flip: bool = True
    turn: float = 5.0  # degrees, one standard deviation
    stretch: float = 0.06  # logarithm of the size, either way: about half a step of the pyramid
    shift: float = 0.5  # cells, either way: half a step of the scan
    contrast: float = 0.5  # the least share of an object's contrast that is left
    brightness: float = 25.0  # grey levels, either way
    blur: float = 1.0  # pixels of the window, standard deviation at most, on half of the windows
    noise: float = 6.0  # grey levels, standard deviation at most, on half of the windows
    # What is promised
    recall: float = 0.99  # of the objects that all trees together accept, what the rejection trace keeps
    validation: float = 0.2  # of the pictures, held out if the data name none
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, field.name, value.item())
        object.__setattr__(self, "stages", tuple(self.stages))
        for name, low, high in WHOLE:
            _whole(name, getattr(self, name), low, high)
        for name, least, most in REAL:
            if name != "border" or self.border is not None:
                _real(name, getattr(self, name), least, most)
        if not self.stages:
            raise ValueError("stages must be numbers of trees, one a stage, got none")
        for trees in self.stages:
            _whole("stages", trees, 1, 65535)
        if self.channels not in ("auto", "grey", "colour"):
            raise ValueError(f"channels must be auto, grey or colour, got {self.channels!r}")
        if self.cell not in (2, 4):
            raise ValueError(f"cell must be 2 or 4, got {self.cell}")
        if not isinstance(self.flip, bool):
            raise ValueError(f"flip must be True or False, got {self.flip!r}")
        self.boosting(1)  # checks depth and leaves

    def boosting(self, trees: int) -> Settings:
        """One stage, as the booster wants it."""
        return Settings(rounds=trees, depth=self.depth, leaves=self.leaves, seed=self.seed, enough=ENOUGH)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "stages": list(self.stages)}


ENOUGH = 1e-6  # of the loss: trees that come later only make the model longer
WHOLE = (
    ("side", 4, 400), ("cell", 2, 4), ("smooth", 0, 1), ("normalise", 0, 255), ("depth", 1, 8),
    ("positives", 1, 10**7), ("draws", 1, 1000), ("negatives", 1, 10**7), ("kept", 1, 10**7),
    ("per_image", 1, 10**5), ("seed", 0, 2**63 - 1),
)  # fmt: skip
REAL = (
    ("context", -0.5, 4.0), ("border", 0.0, 0.5), ("crop_share", 0.1, 1.0), ("turn", 0.0, 90.0),
    ("stretch", 0.0, 0.5), ("shift", 0.0, 8.0), ("contrast", 0.05, 1.0), ("brightness", 0.0, 128.0),
    ("blur", 0.0, 5.0), ("noise", 0.0, 64.0), ("recall", 0.01, 1.0), ("validation", 0.01, 0.9),
)  # fmt: skip


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}, got {value!r}")


def _real(name: str, value: object, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low} to {high}, got {value!r}")
