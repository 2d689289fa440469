"""Checkpoints: one file, written atomically, that a killed run can be taken up from.

The file is a magic, the length of a JSON header, the header, raw little-endian arrays, and a SHA-256 of all
that. Nothing in it is executed, and anything that is not exactly as expected is refused.
"""

import hashlib
import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"CASCKPT1"
LIMIT = 1 << 30  # bytes; no checkpoint of ours comes near
DTYPES = ("<i4", "|u1", "<f8", "<i8")

Arrays = dict[str, NDArray[Any]]


class CheckpointError(ValueError):
    """The file is not a whole checkpoint, or not one of this run."""


def write_atomically(path: Path, data: bytes) -> None:
    """Put a file in place all at once: after a crash there is the old one or the new one.

    Nothing is retried: where fsync has failed once, the kernel may have dropped the data.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)  # left by a process of the same number that was killed
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return  # a system on which folders cannot be opened
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def save(path: Path, facts: Mapping[str, Any], arrays: Arrays) -> None:
    """Write facts (anything JSON knows) and arrays."""
    entries, blobs = [], []
    for name, array in arrays.items():
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        entries.append([name, little.dtype.str, list(little.shape)])
        blobs.append(little.tobytes())
    header = json.dumps({"facts": facts, "arrays": entries}, sort_keys=True).encode()
    body = b"".join([MAGIC, struct.pack("<I", len(header)), header, *blobs])
    write_atomically(path, body + hashlib.sha256(body).digest())


def load(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Read what `save` wrote; CheckpointError if it is anything else."""
    path = Path(path)
    if path.stat().st_size > LIMIT:
        raise CheckpointError(f"{path}: larger than any checkpoint ({LIMIT} bytes)")
    data = path.read_bytes()
    body, digest = data[:-32], data[-32:]
    if body[:8] != MAGIC or hashlib.sha256(body).digest() != digest:
        raise CheckpointError(f"{path}: not a checkpoint, or damaged; delete it to start afresh")
    try:
        return _parse(body)
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise CheckpointError(f"{path}: {error}") from error


def _parse(body: bytes) -> tuple[dict[str, Any], Arrays]:
    (length,) = struct.unpack_from("<I", body, 8)
    header = json.loads(body[12 : 12 + length])
    arrays: Arrays = {}
    at = 12 + length
    for name, code, shape in header["arrays"]:
        if code not in DTYPES or not all(isinstance(n, int) and n >= 0 for n in shape):
            raise ValueError(f"array {name!r} of type {code!r} and shape {shape!r}")
        count = int(np.prod(shape, dtype=object))
        size = count * np.dtype(code).itemsize
        if size > len(body) - at:
            raise ValueError(f"array {name!r} runs past the end of the file")
        arrays[name] = np.frombuffer(body, code, count, at).reshape(shape)
        at += size
    if at != len(body):
        raise ValueError(f"{len(body) - at} bytes too many")
    return dict(header["facts"]), arrays


def digest(*parts: NDArray[Any]) -> str:
    """A fingerprint of training data."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(f"{part.dtype.str}{part.shape}".encode())
        sha.update(np.ascontiguousarray(part).data)
    return sha.hexdigest()
