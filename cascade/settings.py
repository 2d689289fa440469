"""What a boosting run may be told, and what makes sense together."""

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from cascade.layout import CRITERIA, LOSSES, MAX_DEPTH


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides which trees come out; the number of threads does not."""

    loss: str = "adaboost"  # adaboost, logitboost, l2boost, vebboost, ebboost
    leaves: str = "discrete"  # adaboost only: discrete (+/- alpha) or real
    criterion: str | None = None  # error, gini, entropy, variance; None is the loss's usual one
    rounds: int = 256
    depth: int = 2
    shrinkage: float = 1.0
    lam: float = 0.1  # vebboost and ebboost: the weight of the variance, 0 to 1
    search: str = "quick"  # quick or exhaustive: the same trees, at very different cost
    schedule: tuple[float, ...] | None = None  # rising shares of the mass; None adapts by itself
    trim: float = 1.0  # weight trimming: the share of the mass that a round looks at
    feature_fraction: float = 1.0  # LazyBoost: the share of the features that a round looks at
    sample_fraction: float = 1.0  # StochasticBoost: the share of the samples
    seed: int = 0
    enough: float = 0.0  # stop once the training loss is below this
    patience: int | None = None  # stop after so many rounds without a lower validation loss

    def __post_init__(self) -> None:
        for field in fields(self):  # numbers from a NumPy grid are numbers too
            value = getattr(self, field.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, field.name, value.item())
        _one_of("loss", self.loss, LOSSES)
        _one_of("leaves", self.leaves, ("discrete", "real"))
        _one_of("search", self.search, ("quick", "exhaustive"))
        if self.criterion is None:
            newton = self.loss in ("logitboost", "l2boost")
            object.__setattr__(self, "criterion", "variance" if newton else "error")
        _one_of("criterion", self.criterion, CRITERIA)
        _whole("rounds", self.rounds, 1, None)
        _whole("depth", self.depth, 1, MAX_DEPTH)
        _whole("seed", self.seed, 0, None)
        if self.patience is not None:
            _whole("patience", self.patience, 1, None)
        _share("shrinkage", self.shrinkage)
        for name in ("trim", "feature_fraction", "sample_fraction"):
            _share(name, getattr(self, name))
        if not _number(self.enough) or not 0.0 <= self.enough < 1.0:
            raise ValueError(f"enough must be a loss from 0 to below 1, got {self.enough!r}")
        if not _number(self.lam) or not 0.0 <= self.lam <= 1.0:
            raise ValueError(f"lam must be between 0 and 1, got {self.lam!r}")
        if self.loss == "ebboost" and self.depth != 1:
            raise ValueError(f"ebboost enumerates stumps: depth must be 1, got {self.depth}")
        if self.leaves == "real" and self.loss != "adaboost":
            raise ValueError(f"real leaves belong to adaboost, got loss {self.loss!r}")
        if self.schedule is not None:
            object.__setattr__(self, "schedule", _rising(self.schedule))

    def to_json(self) -> dict[str, Any]:
        schedule = None if self.schedule is None else list(self.schedule)
        return {**asdict(self), "schedule": schedule}


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_of(name: str, value: object, choices: Any) -> None:
    if value not in tuple(choices):
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def _whole(name: str, value: object, low: int, high: int | None) -> None:
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= low
    if not fits or (high is not None and isinstance(value, int) and value > high):
        span = f"{low} or more" if high is None else f"{low} to {high}"
        raise ValueError(f"{name} must be a whole number, {span}, got {value!r}")


def _share(name: str, value: Any) -> None:
    if not _number(value) or not 0.0 < value <= 1.0:
        raise ValueError(f"{name} must be above 0 and at most 1, got {value!r}")


def _rising(schedule: Any) -> tuple[float, ...]:
    shares = tuple(float(share) for share in schedule)
    steps = zip((0.0, *shares), (*shares, 1.0), strict=True)
    if not shares or not all(low < high or low == high == 1.0 for low, high in steps):
        raise ValueError(f"schedule must be shares of the mass rising within 0..1, got {shares}")
    if len(shares) > 200:
        raise ValueError(f"schedule must have at most 200 steps, got {len(shares)}")
    return shares
