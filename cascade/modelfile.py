"""The file of a model: a reader that trusts none of its bytes, and a writer.

The README specifies the file, under "The model file". The words in bold there are the `rule` of a
ModelFormatError, the only error that bytes can cause.
"""

import errno
import math
import os
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cascade.layout import MAX_DEPTH
from cascade.sigmoid import Sigmoid

MAGIC: Final = b"\x89CAS\r\n\x1a\n"
VERSION: Final = 1
MAX_FILE: Final = 1 << 26
MAX_TREES: Final = 4096
MAX_SIDE: Final = 255
MAX_CELLS: Final = 65535
MAX_RECTANGLES: Final = 65535
MAX_CLASSES: Final = 255
MAX_METADATA: Final = 255
MAX_TEXT: Final = 255  # bytes of a string
KINDS: Final = ("cell", "rect", "haar")
CHANNELS: Final = ("grey", "colour")

START = struct.Struct("<8sHHI")  # magic, version, 0, size
SECTION = struct.Struct("<4sI")  # name, length
CHECKSUM = struct.Struct("<I")
SIGMOID = struct.Struct("<2d")
ARRAYS: Final = {
    "RECT": "rectangles", "FEAT": "feature", "THRE": "threshold", "LEAF": "leaf", "REJE": "reject",
    "ACCE": "accept",
}  # fmt: skip
SECTIONS: Final = ("HEAD", "TEXT", *ARRAYS, "SIGM")
HEAD: Final = (
    ("kind", "<B"), ("channels", "<B"), ("cell", "<B"), ("smooth", "<B"), ("normalise", "<B"),
    ("window", "<2B"), ("depth", "<B"), ("trees", "<H"), ("number of rectangles", "<H"),
    ("number of classes", "<B"), ("number of metadata entries", "<B"), ("reject_shift", "<B"),
    ("border", "<B"), ("score_unit", "<d"), ("box", "<4i"), ("lambdas", "<3i"),
)  # fmt: skip
PLAIN: Final = (
    "cell", "smooth", "normalise", "window", "reject_shift", "border", "score_unit", "box", "lambdas",
)  # fmt: skip
HEAD_SIZE: Final = sum(struct.calcsize(code) for _, code in HEAD)
LIMITS: Final = {
    "trees": (1, MAX_TREES), "depth": (1, MAX_DEPTH), "number of classes": (1, MAX_CLASSES),
    "kind": (0, len(KINDS) - 1), "channels": (0, len(CHANNELS) - 1),
}  # fmt: skip
# Control characters, those of lines and of writing direction among them.
FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

LOOKS: Final = (
    (b"PK\x03\x04", "a zip file (.npz and PyTorch files are zips too)"),
    (b"\x1f\x8b", "a gzip file; unpack it first"),
    (b"CASCKPT1", "a checkpoint of a training run, not the model that it makes"),
    (b"\x80", "a Python pickle, which cascade never reads"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"{", "JSON"),
)

Buffer = bytes | bytearray | memoryview
Fields = dict[str, Any]  # the fields of a Model
Places = dict[str, Sequence[int]]  # where in the file each element of a field is
Layout = dict[str, tuple[np.dtype[Any], tuple[int, ...]]]


class ModelFormatError(ValueError):
    """The bytes are not a model: which rule they break, where, and how in words."""

    def __init__(self, offset: int, rule: str, reason: str, source: str | None = None) -> None:
        super().__init__(offset, rule, reason, source)  # all of them, so that a copy can be made
        self.offset, self.rule, self.reason, self.source = offset, rule, reason, source

    def __str__(self) -> str:
        source = "" if self.source is None else f"{self.source}: "
        return f"{source}{self.reason} (byte {self.offset})"


class FieldError(ValueError):
    """A field has a value that no model may have; `index` is the element at fault."""

    def __init__(self, field: str, reason: str, index: int = 0, rule: str = "values") -> None:
        super().__init__(f"{field} {reason}")
        self.field, self.index, self.rule = field, index, rule


def text_problem(text: str) -> str | None:
    """What is wrong with a string, None if nothing is."""
    if FORBIDDEN.search(text):
        return f"must have no control characters, got {text[:80]!r}"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return f"must be Unicode text, got {text[:80]!r}"
    return f"must take at most {MAX_TEXT} bytes as UTF-8, got {size}" if size > MAX_TEXT else None


def array_layout(kind: str, depth: int, trees: int, rectangles: int) -> Layout:
    """Type and shape of every array of a model, as its file has them."""
    nodes = 2**depth - 1
    i16 = np.dtype("<i2")
    return {
        "rectangles": (np.dtype("u1"), (rectangles, 3, 5) if kind == "haar" else (rectangles, 5)),
        "feature": (np.dtype("<u2"), (trees, nodes)),
        "threshold": (np.dtype("<i4" if kind == "rect" else "u1"), (trees, nodes)),
        "leaf": (i16, (trees, nodes + 1)),
        "reject": (i16, (trees,)),
        "accept": (i16, (trees,)),
    }


def frozen(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array as one over bytes: unlike a flag, that cannot be undone, and it need not be copied again."""
    whole = array.flags.c_contiguous and array.flags.aligned
    if whole and isinstance(array.base, bytes) and array.dtype == dtype:
        return array
    return np.ndarray(array.shape, dtype, array.astype(dtype, copy=False).tobytes())


def pack(fields: Mapping[str, Any]) -> bytes:
    """The file of a model with these fields, which must be valid."""
    trees, nodes = fields["feature"].shape
    layout = array_layout(fields["kind"], nodes.bit_length(), trees, len(fields["rectangles"]))
    sigmoid = fields["sigmoid"]
    contents = [_packed_head(fields), _packed_text(fields)]
    for field in ARRAYS.values():
        array = fields[field]
        contents.append(b"" if array is None else array.astype(layout[field][0]).tobytes())
    contents.append(b"" if sigmoid is None else SIGMOID.pack(sigmoid.slope, sigmoid.intercept))
    parts = [b""]
    for name, content in zip(SECTIONS, contents, strict=True):
        parts += SECTION.pack(name.encode(), len(content)), content
    size = START.size + sum(map(len, parts)) + CHECKSUM.size
    parts[0] = START.pack(MAGIC, VERSION, 0, size)
    body = b"".join(parts)
    return body + CHECKSUM.pack(zlib.crc32(body))


def _packed_head(fields: Mapping[str, Any]) -> bytes:
    trees, nodes = fields["feature"].shape
    values = {
        **fields,
        "kind": KINDS.index(fields["kind"]),
        "channels": CHANNELS.index(fields["channels"]),
        "depth": nodes.bit_length(),
        "trees": trees,
        "number of rectangles": len(fields["rectangles"]),
        "number of classes": len(fields["classes"]),
        "number of metadata entries": len(fields["metadata"]),
    }
    parts = []
    for field, code in HEAD:
        value = values[field]
        parts.append(struct.pack(code, *(value if isinstance(value, tuple) else (value,))))
    return b"".join(parts)


def _packed_text(fields: Mapping[str, Any]) -> bytes:
    pairs = sorted(fields["metadata"].items())
    strings = [fields["name"], *fields["classes"], *(text for pair in pairs for text in pair)]
    encoded = [text.encode() for text in strings]
    return b"".join(bytes([len(text)]) + text for text in encoded)


def read_file(path: Path) -> bytes:
    """The bytes of a file that may be a model; errors say what else it may be."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; a model is one file", str(path))
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, "there is no model file of this name", str(path))
    if not path.is_file():
        raise OSError(errno.EINVAL, "a model is a regular file, this is something else", str(path))
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= MAX_FILE:
            return file.read(size + 1)
        _check_magic(memoryview(file.read(1 << 13)))
        raise ModelFormatError(0, "size", f"size must be at most {MAX_FILE} bytes, the file has {size}")


def unpack(data: Buffer) -> tuple[Fields, Places]:
    """The fields of a model and where they lie: sizes, codes and text are checked, other values are not yet.

    Arrays still lie in `data`, but for Haar rectangles, and those are made when all sizes add up.
    """
    view = memoryview(data)
    if view.format != "B" or view.ndim != 1 or not view.c_contiguous:
        view = memoryview(view.tobytes())
    sections = _sections(view, _checked_frame(view))
    head, places = _head(view, sections["HEAD"])
    kind = KINDS[head["kind"]]
    fields = {field: head[field] for field in PLAIN}
    fields |= {"kind": kind, "channels": CHANNELS[head["channels"]]}
    layout = array_layout(kind, head["depth"], head["trees"], head["number of rectangles"])
    for name, field in ARRAYS.items():
        fields[field] = _array(view, name, sections[name], *layout[field])
        row = {"rect": 5, "haar": 15}.get(kind, 1) if name == "RECT" else layout[field][0].itemsize
        places[field] = range(sections[name].start, sections[name].stop + 1, row)  # also of none, a place
    fields["sigmoid"] = _sigmoid(view, sections["SIGM"])
    places["sigmoid"] = [sections["SIGM"].start]
    counts = head["number of classes"], head["number of metadata entries"]
    fields |= _text(view, sections["TEXT"], *counts, places)
    if kind == "haar":
        fields["rectangles"] = _with_signed_weights(fields["rectangles"])
    return fields, places


def _checked_frame(view: memoryview) -> int:
    """Where the sections end, in a file that is whole."""
    _check_magic(view)
    if len(view) < START.size + CHECKSUM.size:
        raise ModelFormatError(len(view), "size", f"size is {len(view)} bytes: the file is cut short")
    size: int
    _, version, reserved, size = START.unpack_from(view)
    if version != VERSION:
        raise ModelFormatError(8, "version", f"version is {version}, this cascade reads {VERSION}")
    if reserved != 0:
        raise ModelFormatError(10, "values", f"reserved must be 0, got {reserved}")
    if size > MAX_FILE:
        raise ModelFormatError(12, "size", f"size must be at most {MAX_FILE} bytes, got {size}")
    if size != len(view):
        what = "it is cut short" if size > len(view) else "it has bytes too many"
        raise ModelFormatError(12, "size", f"size is given as {size}, the file has {len(view)} bytes: {what}")
    end = size - CHECKSUM.size
    (given,), found = CHECKSUM.unpack_from(view, end), zlib.crc32(view[:end])
    if found != given:
        reason = f"checksum is given as {given:08x}, the bytes have {found:08x}: the file is damaged"
        raise ModelFormatError(end, "checksum", reason)
    return end


def _check_magic(view: memoryview) -> None:
    if view[: len(MAGIC)].tobytes() == MAGIC:
        return
    start = view[: 1 << 13].tobytes()
    if not start:
        raise ModelFormatError(0, "magic", "magic is missing: the file is empty")
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    looks = next((looks for prefix, looks in LOOKS if text.startswith(prefix)), None)
    if text.startswith(b"<"):
        looks = "an OpenCV XML file" if b"opencv_storage" in text or b"<cascade" in text else "XML or HTML"
    elif start[1:4] == MAGIC[1:4] or MAGIC.startswith(start):
        looks = "a model that was damaged on its way: copied as text, or cut short"
    what = "" if looks is None else f"; this looks like {looks}"
    raise ModelFormatError(0, "magic", f"magic is not that of a cascade model{what}")


def _sections(view: memoryview, end: int) -> dict[str, range]:
    """Where the content of each section lies."""
    places = {}
    at = START.size
    for name in SECTIONS:
        if end - at < SECTION.size:
            raise ModelFormatError(at, "sections", f"{name} is missing")
        found, length = SECTION.unpack_from(view, at)
        if found != name.encode():
            raise ModelFormatError(at, "sections", f"{name} was expected, got {found!r}")
        if length > end - at - SECTION.size:
            raise ModelFormatError(at + 4, "sections", f"{name} has a length of {length}, beyond the end")
        places[name] = range(at + SECTION.size, at + SECTION.size + length)
        at += SECTION.size + length
    if at != end:
        raise ModelFormatError(at, "sections", f"SIGM is the last section, {end - at} bytes follow it")
    return places


def _head(view: memoryview, place: range) -> tuple[Fields, Places]:
    """The numbers of HEAD, counts and codes within their limits."""
    _check_length("HEAD", place, HEAD_SIZE)
    values: Fields = {}
    places: Places = {}
    at = place.start
    for field, code in HEAD:
        found = struct.unpack_from(code, view, at)
        low, high = LIMITS.get(field, (None, None))
        if low is not None and not low <= found[0] <= high:
            rule = "values" if field in ("kind", "channels") else "limits"
            raise ModelFormatError(at, rule, f"{field} must be {low} to {high}, got {found[0]}")
        size = struct.calcsize(code)
        places[field] = range(at, at + size, size // len(found))
        values[field] = found if len(found) > 1 else found[0]
        at += size
    return values, places


def _array(
    view: memoryview, name: str, place: range, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> NDArray[Any] | None:
    """One array, still in the file; None where there may be none and is none."""
    if name == "ACCE" and len(place) == 0:
        return None
    _check_length(name, place, math.prod(shape) * dtype.itemsize)
    return np.ndarray(shape, dtype, view, place.start)


def _with_signed_weights(rectangles: NDArray[np.uint8]) -> NDArray[np.int16]:
    signed = rectangles.astype(np.int16)
    signed[..., 4] = rectangles[..., 4].view(np.int8)
    return frozen(signed, signed.dtype)


def _sigmoid(view: memoryview, place: range) -> Sigmoid | None:
    if len(place) == 0:
        return None
    _check_length("SIGM", place, SIGMOID.size)
    return Sigmoid(*SIGMOID.unpack_from(view, place.start))


def _check_length(name: str, place: range, expected: int) -> None:
    if len(place) != expected:
        raise ModelFormatError(
            place.start - 4, "sections", f"{name} must have a length of {expected}, got {len(place)}"
        )


def _text(view: memoryview, place: range, classes: int, entries: int, places: Places) -> Fields:
    """Name, classes and metadata."""
    fields = ["name", *["classes"] * classes, *["metadata"] * (2 * entries)]
    at = place.start
    strings, starts = [], []
    for field in fields:
        starts.append(at)
        strings.append(_string(view, at, place.stop, field))
        at += 1 + view[at]
    if at != place.stop:
        raise ModelFormatError(at, "text", f"TEXT has {place.stop - at} bytes too many")
    keys, values = strings[1 + classes :: 2], strings[2 + classes :: 2]
    places |= {"name": starts[:1], "classes": starts[1 : 1 + classes], "metadata": starts[1 + classes :: 2]}
    for i, (key, following) in enumerate(pairwise(keys)):
        if key >= following:
            reason = f"metadata keys must rise, got {key!r} before {following!r}"
            raise ModelFormatError(places["metadata"][i + 1], "text", reason)
    metadata = dict(zip(keys, values, strict=True))
    return {"name": strings[0], "classes": tuple(strings[1 : 1 + classes]), "metadata": metadata}


def _string(view: memoryview, at: int, end: int, field: str) -> str:
    if at >= end or view[at] > end - at - 1:
        raise ModelFormatError(at, "text", f"{field} runs past the end of TEXT")
    try:
        text = str(view[at + 1 : at + 1 + view[at]], "utf-8")
    except UnicodeDecodeError as error:
        at += 1 + error.start
        raise ModelFormatError(at, "text", f"{field} must be UTF-8: {error.reason}") from None
    problem = text_problem(text)
    if problem is not None:
        raise ModelFormatError(at, "text", f"{field} {problem}")
    return text
