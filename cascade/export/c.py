"""A model as a folder of C: the runtime, the tables, an example and a self-test."""

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from cascade.export import golden
from cascade.export.failure import ExportError
from cascade.export.names import prefix
from cascade.export.search import Search
from cascade.export.tables import header
from cascade.export.template import filled
from cascade.model import Model

RUNTIME = "cascade.h", "pipeline.h"
PATIENCE = 300  # seconds for a compiler, and for the self-test


def sources(model: Model, search: Search) -> dict[str, str]:
    """The text of every file."""
    search.detector(model)  # complains of settings that no detector has
    name = prefix(model.name)
    texts = {file: (files("cascade") / "runtime" / file).read_text("utf-8") for file in RUNTIME}
    texts[f"{name}.h"] = header(model, search)
    words = {"name": name, "NAME": name.upper(), **_golden(model, search)}
    for file in ("example.c", "selftest.h", "selftest.c"):
        texts[file] = filled(file, words)
    return texts


def _golden(model: Model, search: Search) -> dict[str, str]:
    width, height = golden.size(model, search)
    answers = golden.answers(model, search)
    rows = []
    for answer in answers:
        best = answer.boxes or [[0] * 5]
        boxes = ", ".join(f"{{{{{', '.join(map(str, box))}}}, {score}}}" for *box, score in best)
        numbers = f"{answer.trees}, {answer.count}, {answer.visits}u, {len(answer.boxes)}"
        rows.append(f"    {{{numbers}, {{{boxes}}}}}")
    return {
        "width": str(width), "height": str(height), "count": str(len(answers)),
        "most": str(golden.MOST_BOXES), "answers": ",\n".join(rows),
    }  # fmt: skip


def checked(texts: Mapping[str, str]) -> str:
    """Compile and run the self-test, if this machine has a compiler; says what came of it."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return "not run: there is no C compiler here"
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, "utf-8")
        for command in ([compiler, "-std=c99", "-O1", "selftest.c", "-o", "selftest"], ["./selftest"]):
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
            if ran.returncode:
                raise ExportError(f"the exported C failed its self-test: {(ran.stdout + ran.stderr)[:2000]}")
    return f"passed, compiled with {Path(compiler).name}"
