"""Detections: what was found in a frame, as parallel arrays; and how many boxes become one."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cascade.suppression import group, suppress

__all__ = ["Detection", "Detections", "group", "suppress"]

COLUMNS = (("xyxy", np.float32, (4,)), ("score", np.int32, ()), ("probability", np.float32, ()),
           ("class_id", np.int32, ()))  # fmt: skip


class Detection(NamedTuple):
    """One object, in plain numbers."""

    xyxy: tuple[float, float, float, float]  # left, top, right, bottom, in pixels
    score: int
    probability: float
    class_id: int
    class_name: str


@dataclass(frozen=True, eq=False)
class Detections:
    """n objects, one a row; neither the arrays nor the names can be changed.

    Indexing with a number gives one Detection, with a slice, indices or a mask the Detections chosen:
    `found[found.probability > 0.9]`.
    """

    xyxy: NDArray[np.float32]  # (n, 4): left, top, right, bottom, in pixels
    score: NDArray[np.int32]  # (n,): what the trees add up to, the same on every machine
    probability: NDArray[np.float32]  # (n,)
    class_id: NDArray[np.int32]  # (n,): index into class_names
    class_names: tuple[str, ...]

    def __post_init__(self) -> None:
        count = len(np.atleast_1d(self.xyxy))
        for name, dtype, tail in COLUMNS:
            object.__setattr__(self, name, _column(name, getattr(self, name), dtype, (count, *tail)))
        object.__setattr__(self, "class_names", _names(self.class_names))
        upright = np.isfinite(self.xyxy).all(axis=1) & np.all(self.xyxy[:, :2] <= self.xyxy[:, 2:], axis=1)
        _check("xyxy", self.xyxy, upright, "as finite left, top, right, bottom")
        chance = (self.probability >= 0) & (self.probability <= 1)
        _check("probability", self.probability, chance, "from 0 to 1")
        named = (self.class_id >= 0) & (self.class_id < len(self.class_names))
        _check("class_id", self.class_id, named, f"that counts {len(self.class_names)} class_names from 0")

    @classmethod
    def empty(cls, class_names: Sequence[str] = ()) -> "Detections":
        """Nothing was found."""
        return _built((np.empty((0, *tail), dtype) for _, dtype, tail in COLUMNS), tuple(class_names))

    @classmethod
    def concatenate(cls, parts: Sequence["Detections"]) -> "Detections":
        """One after the other; the parts share their class names, or have none."""
        names = {part.class_names: None for part in parts if part.class_names}
        if len(names) > 1:
            raise ValueError(f"expected parts with the same class_names, got {list(names)}")
        parts = [cls.empty(), *parts]
        arrays = (np.concatenate([getattr(part, name) for part in parts]) for name, _, _ in COLUMNS)
        return _built(arrays, next(iter(names), ()))

    def __len__(self) -> int:
        return len(self.xyxy)

    def __iter__(self) -> Iterator[Detection]:
        rows = zip(*(getattr(self, name).tolist() for name, _, _ in COLUMNS), strict=True)
        for xyxy, score, probability, class_id in rows:
            yield Detection(tuple(xyxy), score, probability, class_id, self.class_names[class_id])

    @overload
    def __getitem__(self, part: int) -> Detection: ...
    @overload
    def __getitem__(self, part: slice | Sequence[int] | NDArray[Any]) -> "Detections": ...

    def __getitem__(self, part: int | slice | Sequence[int] | NDArray[Any]) -> "Detection | Detections":
        if isinstance(part, int | np.integer):
            return next(iter(self[[int(part)]]))
        return _built((getattr(self, name)[part] for name, _, _ in COLUMNS), self.class_names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Detections):
            return NotImplemented
        return self.class_names == other.class_names and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name, _, _ in COLUMNS
        )

    __hash__ = None  # type: ignore[assignment]

    def to_coco(
        self, image_id: int | str, category_ids: Sequence[int] | None = None
    ) -> list[dict[str, Any]]:
        """Rows of a COCO results file; class k is category k + 1 unless category_ids says otherwise."""
        if category_ids is None:
            category_ids = range(1, len(self.class_names) + 1)
        if len(category_ids) != len(self.class_names):
            raise ValueError(f"expected {len(self.class_names)} category_ids, got {len(category_ids)}")
        corners = self.xyxy.astype(np.float64)
        xywh = _rounded(np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]]))
        return [
            {"image_id": image_id, "category_id": category_ids[one.class_id], "bbox": bbox,
             "score": one.probability}
            for bbox, one in zip(xywh, self, strict=True)
        ]  # fmt: skip

    def to_json(self) -> str:
        """A list of objects with the fields of Detection; coordinates to 0.01 of a pixel."""
        corners = _rounded(self.xyxy.astype(np.float64))
        rows = zip(corners, self, strict=True)
        return json.dumps([{**one._asdict(), "xyxy": xyxy} for xyxy, one in rows], ensure_ascii=False)

    def to_supervision(self) -> Any:
        """As `supervision.Detections`, to draw, track or count with that package."""
        try:
            supervision = import_module("supervision")
        except ImportError as error:
            raise ImportError("to_supervision needs another package: pip install supervision") from error
        return supervision.Detections(
            xyxy=self.xyxy.copy(),
            confidence=self.probability.copy(),
            class_id=self.class_id.astype(int),
            data={"class_name": np.array([one.class_name for one in self], dtype=np.str_)},
        )


def _built(columns: Iterable[NDArray[Any]], class_names: tuple[str, ...]) -> Detections:
    xyxy, score, probability, class_id = columns
    return Detections(xyxy, score, probability, class_id, class_names)


def _column(name: str, values: ArrayLike, dtype: type[np.generic], shape: tuple[int, ...]) -> NDArray[Any]:
    """A read-only copy, so that nobody who holds the original can change it."""
    array = np.asarray(values)
    if array.shape != shape:
        wanted = "(n, 4)" if name == "xyxy" else shape
        raise ValueError(f"expected {name} of shape {wanted}, got {array.shape}")
    whole = np.issubdtype(dtype, np.integer)
    if array.size and array.dtype.kind not in ("iu" if whole else "iuf"):
        raise ValueError(f"expected {name} as {np.dtype(dtype)}, got {array.dtype}")
    with np.errstate(over="ignore"):  # a coordinate beyond float32 becomes infinite and is reported
        column = array.astype(dtype)
    if whole:
        _check(name, array, column == array, f"that fits into {np.dtype(dtype)}")
    column.flags.writeable = False
    return column


def _check(name: str, values: NDArray[Any], right: NDArray[np.bool_], wanted: str) -> None:
    """The first row that is not right is the one to report; there may be thousands."""
    if not right.all():
        row = int(right.argmin())
        raise ValueError(f"expected {name} {wanted}, got {values[row].tolist()} in row {row}")


def _names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"expected class_names as a tuple of texts, got {names!r}")
    return tuple(names)


def _rounded(boxes: NDArray[np.float64]) -> list[list[float]]:
    """To 0.01, without negative zeros."""
    rounded: list[list[float]] = (np.round(boxes, 2) + 0.0).tolist()
    return rounded
