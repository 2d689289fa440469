"""A trained detector as a value: everything that finding objects takes, and nothing that can change.

A model that exists is valid: whatever breaks a rule is refused when the model is made, be it from values or
from bytes. The rules and the file are described in `cascade.modelfile`.
"""

import errno
import math
import operator
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade import modelfile
from cascade.channels import PLANES
from cascade.checkpoint import write_atomically
from cascade.layout import MAX_DEPTH
from cascade.modelfile import Buffer, FieldError, Fields, ModelFormatError
from cascade.shipped import locate
from cascade.sigmoid import Sigmoid

__all__ = ["NEVER_ACCEPT", "NEVER_REJECT", "Model", "ModelFormatError"]

NEVER_REJECT, NEVER_ACCEPT = -32768, 32767  # in `reject` and `accept`: no check after this tree
INT32 = -(2**31), 2**31 - 1
MAX_LAMBDA = 4 << 16  # photos have 0 to 2; more could overflow what a channel is multiplied by
KEY = re.compile("[a-z0-9_]+")
Fault = tuple[str, str, NDArray[np.bool_]]  # what must hold, the rule, and which rows break it
BLOCK = 256  # rectangles checked at a time, so that checking takes little memory


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Model:
    """T trees of one depth D on integers that are computed from a window, and what surrounds them.

    A window's score is the sum of one leaf of each tree. Node i has the children 2i + 1, for values up to its
    threshold, and 2i + 2; an unsplit node has the largest threshold. After tree t the window is out when
    score <= reject[t] << reject_shift, and in for good when score >= accept[t] << reject_shift [Appel 2.2].
    Arrays are read-only, and share no memory that anyone can write to.
    """

    name: str
    kind: str  # cell: bytes of cells; rect: sums over rectangles of cells; haar: contrasts of grey pixels
    channels: str = "grey"  # or colour
    cell: int  # pixels a side: 2 or 4, and 1 for haar
    smooth: int = 0  # 1 if cells are smoothed
    normalise: int = 0  # the constant of local gradient normalisation, 0 for none
    window: tuple[int, int]  # width and height in cells
    box: tuple[int, int, int, int]  # the object in the window: x, y, width, height in 1/256 of a cell
    border: int = 0  # how far beyond a frame to look for what it cuts off, in 1/256 of its shorter side
    lambdas: tuple[int, ...]  # power-law exponents of colour, magnitude, orientations in 1/65536
    feature: NDArray[np.uint16]  # (T, 2^D - 1): (plane * height + y) * width + x, or a rectangle's number
    threshold: NDArray[np.uint8] | NDArray[np.int32]  # (T, 2^D - 1), bytes but for rect
    leaf: NDArray[np.int16]  # (T, 2^D)
    reject: NDArray[np.int16]  # (T,)
    reject_shift: int = 0
    accept: NDArray[np.int16] | None = None  # (T,)
    # rect: (n, 5) plane, x, y, width, height; haar: (n, 3, 5) x, y, width, height, weight
    rectangles: NDArray[np.uint8] | NDArray[np.int16] = field(default_factory=lambda: np.empty(0, np.uint8))
    score_unit: float = 1.0  # what a score of 1 is in the trainer's decision
    sigmoid: Sigmoid | None = None  # of score * score_unit
    classes: tuple[str, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)  # where it comes from, in words

    def __post_init__(self) -> None:
        given = dict(vars(self))
        for checked in (_checked_numbers(given), _checked_texts(given), _checked_arrays(given)):
            for name, value in checked.items():
                object.__setattr__(self, name, value)
        _check_accept(self.accept, self.reject)
        _check_features(self)
        _check_rectangles(self)

    @property
    def planes(self) -> int:
        """How many planes of cells the model looks at."""
        return _planes(self.kind, self.channels)

    @property
    def depth(self) -> int:
        """How many questions a tree asks."""
        return int(self.feature.shape[1]).bit_length()

    def __len__(self) -> int:
        """How many trees there are."""
        return len(self.feature)

    @classmethod
    def load(cls, source: str | os.PathLike[str] | Buffer) -> "Model":
        """Read a model from a file, from its bytes, or a shipped one by its name, as "face"; ModelFormatError
        if it is not one."""
        if isinstance(source, bytes | bytearray | memoryview):
            return cls.from_bytes(source)
        if not isinstance(source, str | os.PathLike):
            raise TypeError(f"expected a path or bytes, got {type(source).__name__}")
        try:
            return cls.from_bytes(modelfile.read_file(locate(os.fspath(source))))
        except ModelFormatError as error:
            raise ModelFormatError(error.offset, error.rule, error.reason, str(source)) from None

    @classmethod
    def from_bytes(cls, data: Buffer) -> "Model":
        """Read a model from the bytes of its file."""
        fields, places = modelfile.unpack(data)
        try:
            return cls(**fields)
        except FieldError as error:
            raise ModelFormatError(places[error.field][error.index], error.rule, str(error)) from None

    def coarsened(self, every: int) -> "Model":
        """The same trees, of which only each `every`-th and the last may reject: fewer checks, more trees."""
        every = _whole("every", every, 1, modelfile.MAX_TREES)
        kept = np.arange(1, len(self) + 1) % every == 0
        kept[-1] = True
        return replace(self, reject=np.where(kept, self.reject, NEVER_REJECT))

    def to_bytes(self) -> bytes:
        """The model's file; equal models have equal bytes."""
        return modelfile.pack(vars(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model's file, all at once."""
        path = Path(path)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "this is a folder; a model is one file", str(path))
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder to save in", str(path.parent))
        write_atomically(path, self.to_bytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Callable[[Buffer], "Model"], tuple[bytes]]:
        """Copies, also into other processes, go through the checked file format."""
        return Model.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.kind}, {len(self)} trees of depth {self.depth}>"

    def summary(self) -> str:
        """A few lines for people."""
        width, height = (side * self.cell for side in self.window)
        box = " x ".join(f"{side * self.cell / 256:.4g}" for side in self.box[2:])
        sees = "grey pixels" if self.kind == "haar" else f"{self.planes} {self.channels} planes"
        checks = np.count_nonzero(self.reject != NEVER_REJECT)
        lines = [
            f"{self.name}: finds {', '.join(self.classes)}",
            f"  trees     {len(self)} of depth {self.depth}, {checks} may reject",
            f"  features  {self.kind}, on {sees} in cells of {self.cell} x {self.cell}",
            f"  window    {width} x {height} pixels around an object of {box}",
            f"  file      {len(self.to_bytes()):,} bytes",
            *(f"  {key}: {value}" for key, value in self.metadata.items()),
        ]
        return "\n".join(lines)


def _planes(kind: str, channels: str) -> int:
    return PLANES["pixels" if kind == "haar" else channels]


def _checked_numbers(given: Fields) -> Fields:
    """Everything that is neither text nor array, as plain numbers."""
    kind, channels = given["kind"], given["channels"]
    haar = kind == "haar"
    _check_choice("kind", kind, modelfile.KINDS)
    _check_choice("channels", channels, ("grey",) if haar else modelfile.CHANNELS)
    window = _wholes("window", given["window"], 2, 1, modelfile.MAX_SIDE)
    cells = math.prod(window) * _planes(kind, channels)
    if cells > modelfile.MAX_CELLS:
        reason = f"must have at most {modelfile.MAX_CELLS} cells in all planes, got {cells}"
        raise FieldError("window", reason, rule="limits")
    cell = _whole("cell", given["cell"], 1, 4)
    _check_choice("cell", cell, (1,) if haar else (2, 4))
    return {
        "window": window,
        "cell": cell,
        "box": _checked_box(given["box"], window),
        "smooth": _whole("smooth", given["smooth"], 0, 1),
        "normalise": _whole("normalise", given["normalise"], 0, 0 if haar else 255),
        "lambdas": _wholes("lambdas", given["lambdas"], 3, -MAX_LAMBDA, MAX_LAMBDA),
        "border": _whole("border", given["border"], 0, 128),
        "reject_shift": _whole("reject_shift", given["reject_shift"], 0, 15),
        "score_unit": _checked_unit(given["score_unit"]),
        "sigmoid": _checked_sigmoid(given["sigmoid"]),
    }


def _checked_box(value: object, window: tuple[int, ...]) -> tuple[int, ...]:
    """An object may reach out of its window, but only so far that no sum of places can overflow."""
    box = _wholes("box", value, 4, *INT32)
    for axis, side in enumerate(window):
        start, size, span = box[axis], box[axis + 2], 256 * side
        if size < 1 or start < -span or start + size > 2 * span:
            reason = f"must have a size and lie within {-span} to {2 * span}, got {size} from {start}"
            raise FieldError("box", reason, axis)
    return box


def _checked_unit(value: object) -> float:
    unit = _finite("score_unit", value)
    if unit <= 0:
        raise FieldError("score_unit", f"must be above 0, got {unit}")
    return unit


def _checked_sigmoid(value: object) -> Sigmoid | None:
    if value is None:
        return None
    if not isinstance(value, Sigmoid):
        raise FieldError("sigmoid", f"must be a Sigmoid or None, got {type(value).__name__}")
    return Sigmoid(_finite("sigmoid", value.slope), _finite("sigmoid", value.intercept))


def _checked_texts(given: Fields) -> Fields:
    """All strings; metadata in the order of their keys, and sealed."""
    classes, metadata = given["classes"], given["metadata"]
    most = modelfile.MAX_CLASSES
    if not isinstance(classes, tuple | list) or not 1 <= len(classes) <= most:
        raise FieldError("classes", f"must be 1 to {most} names, got {classes!r:.80}", rule="limits")
    names = tuple(_text("classes", name, i) for i, name in enumerate(classes))
    for i, name in enumerate(names):
        if name in names[:i]:
            raise FieldError("classes", f"must differ, got {name!r} twice", i, "text")
    most = modelfile.MAX_METADATA
    if not isinstance(metadata, Mapping) or len(metadata) > most:
        raise FieldError("metadata", f"must be a dict of at most {most}, got {metadata!r:.80}", rule="limits")
    pairs = {}
    for i, (key, value) in enumerate(metadata.items()):
        if not KEY.fullmatch(_text("metadata", key, i)):
            raise FieldError("metadata", f"keys must be made of a-z, 0-9 and _, got {key!r}", i, "text")
        pairs[str(key)] = _text("metadata", value, i, may_be_empty=True)
    sealed = MappingProxyType(dict(sorted(pairs.items())))
    return {"name": _text("name", given["name"], 0), "classes": names, "metadata": sealed}


def _text(field: str, value: object, index: int, may_be_empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or may_be_empty):
        raise FieldError(field, f"must be text, got {value!r:.80}", index, "text")
    problem = modelfile.text_problem(value)
    if problem is not None:
        raise FieldError(field, problem, index, "text")
    return str(value)


def _checked_arrays(given: Fields) -> Fields:
    """All arrays, in types of their own and over memory that cannot be written to."""
    kind = given["kind"]
    trees, depth = _size_of_trees(given["feature"])
    count = len(_integers("rectangles", given["rectangles"]))
    most = 0 if kind == "cell" else modelfile.MAX_RECTANGLES
    if count > most:
        reason = f"must be at most {most} in a {kind} model, got {count}"
        raise FieldError("rectangles", reason, rule="limits")
    arrays: Fields = {}
    for name, (dtype, shape) in modelfile.array_layout(kind, depth, trees, count).items():
        if name == "accept" and given[name] is None:
            continue
        if name == "rectangles" and kind == "haar":
            dtype = np.dtype(np.int16)  # holds both places and weights
        arrays[name] = _checked_array(name, given[name], dtype.newbyteorder("="), shape)
    return arrays


def _size_of_trees(feature: object) -> tuple[int, int]:
    """How many trees there are, and how deep they are."""
    shape = _integers("feature", feature).shape
    trees, nodes = shape if len(shape) == 2 else (0, 0)
    if (nodes + 1).bit_count() != 1 or not 1 <= nodes < 2**MAX_DEPTH:
        reason = f"must have the shape (trees, 2^depth - 1) with depth 1 to {MAX_DEPTH}, got {shape}"
        raise FieldError("feature", reason, rule="limits")
    if not 1 <= trees <= modelfile.MAX_TREES:
        reason = f"must be of 1 to {modelfile.MAX_TREES} trees, got {trees}"
        raise FieldError("feature", reason, rule="limits")
    return trees, nodes.bit_length()


def _integers(field: str, value: object) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise FieldError(field, f"must be an array of whole numbers: {error}") from None
    if array.ndim == 0 or (array.size and array.dtype.kind not in "iu"):
        what = f"{array.dtype} of shape {array.shape}"
        raise FieldError(field, f"must be an array of whole numbers, got {what}")
    return array


def _checked_array(field: str, value: object, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    array = _integers(field, value)
    if array.size == 0 and math.prod(shape) == 0:
        array = array.reshape(shape)
    if array.shape != shape:
        raise FieldError(field, f"must have the shape {shape}, got {array.shape}")
    span = np.iinfo(dtype)
    if array.size and not span.min <= array.min() <= array.max() <= span.max:
        raise FieldError(field, f"must be {span.min} to {span.max}, got {array.min()} to {array.max()}")
    return modelfile.frozen(array, dtype)


def _check_accept(accept: NDArray[np.int16] | None, reject: NDArray[np.int16]) -> None:
    """No window may be out and in at once."""
    if accept is None:
        return
    both = (reject != NEVER_REJECT) & (accept != NEVER_ACCEPT) & (reject >= accept)
    if both.any():
        t = int(both.argmax())
        raise FieldError("accept", f"must be above reject, got {accept[t]} and {reject[t]} after tree {t}", t)


def _check_features(model: Model) -> None:
    """Every feature exists, also those of unsplit nodes: they are looked at all the same."""
    if model.kind == "cell":
        count, what = math.prod(model.window) * model.planes, "cells of the window"
    else:
        count, what = len(model.rectangles), "rectangles"
    worst = int(model.feature.argmax())
    if model.feature.flat[worst] >= count:
        reason = f"must be one of the {count} {what}, got {model.feature.flat[worst]}"
        raise FieldError("feature", reason, worst, "indices")


def _check_rectangles(model: Model) -> None:
    for start in range(0, len(model.rectangles), BLOCK):
        rows = model.rectangles[start : start + BLOCK].astype(np.int64)
        faults = _haar_faults(rows, model) if model.kind == "haar" else _rect_faults(rows, model)
        for reason, rule, wrong in faults:
            if wrong.any():
                i = start + int(wrong.argmax())
                got = f"got {model.rectangles[i].tolist()} as number {i}"
                raise FieldError("rectangles", f"must {reason}, {got}", i, rule)


def _rect_faults(rows: NDArray[np.int64], model: Model) -> list[Fault]:
    return [
        (f"have a plane below {model.planes}", "indices", rows[:, 0] >= model.planes),
        ("lie in the window", "indices", _outside(rows[:, 1:], model.window)),
    ]


def _haar_faults(rows: NDArray[np.int64], model: Model) -> list[Fault]:
    """Two or three rectangles with weights, whose sum fits into 32 bits whatever the pixels are."""
    weight = rows[..., 4]
    used = rows.any(axis=2) | np.array([True, True, False])
    outside = _outside(rows[..., :4], model.window) & used
    weightless = ((weight == 0) | (weight < -128) | (weight > 127)) & used
    largest = 255 * (abs(weight) * rows[..., 2] * rows[..., 3]).sum(axis=1)
    return [
        ("lie in the window", "indices", outside.any(axis=1)),
        ("have weights of -128 to 127 other than 0", "values", weightless.any(axis=1)),
        ("have sums that fit into 32 bits", "values", largest > INT32[1]),
    ]


def _outside(places: NDArray[np.int64], window: tuple[int, int]) -> NDArray[np.bool_]:
    """Which of x, y, width, height are not rectangles in the window."""
    x, y, width, height = np.moveaxis(places, -1, 0)
    wrong = (x < 0) | (y < 0) | (width < 1) | (height < 1)
    return np.asarray(wrong | (x + width > window[0]) | (y + height > window[1]))


def _check_choice(field: str, value: object, choices: tuple[object, ...]) -> None:
    if not isinstance(value, str | int) or value not in choices:
        allowed = " or ".join(map(str, choices))
        raise FieldError(field, f"must be {allowed}, got {value!r:.80}")


def _whole(field: str, value: Any, low: int, high: int, index: int = 0) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if isinstance(value, bool) or not low <= number <= high:
        span = f"{low}" if low == high else f"{low} to {high}"
        raise FieldError(field, f"must be a whole number, {span}, got {value!r:.80}", index)
    return number


def _wholes(field: str, value: Any, count: int, low: int, high: int) -> tuple[int, ...]:
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != count:
        raise FieldError(field, f"must be {count} whole numbers, got {value!r:.80}")
    return tuple(_whole(field, number, low, high, i) for i, number in enumerate(value))


def _finite(field: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, str | bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise FieldError(field, f"must be a finite number, got {value!r:.80}")
    return number
