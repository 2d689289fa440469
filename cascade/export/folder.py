"""Put a folder in place all at once, or not at all."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from cascade.checkpoint import write_atomically
from cascade.export.failure import ExportError


def write_folder(path: Path, texts: Mapping[str, str]) -> None:
    """Write these files into a new folder; one that exists must be empty."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ExportError(f"expected a new or empty folder, got {path}: remove it, or give another --out")
    if not path.absolute().parent.is_dir():
        raise ExportError(f"expected a folder to write into, there is no {path.absolute().parent}")
    temporary = path.absolute().with_name(f".{path.absolute().name}.{os.getpid()}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)  # left by a process of the same number that was killed
    temporary.mkdir()
    try:
        for name, text in texts.items():
            write_atomically(temporary / name, text.encode())
        if path.exists():
            path.rmdir()
        os.replace(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
