"""No name can change the meaning of generated C."""

import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from cascade.export import c
from cascade.export.names import LONGEST, TAKEN, prefix, quoted, remark
from cascade.export.search import Search
from cascade.model import Model
from cascade.modelfile import text_problem
from tests.test_detector import random_model

COUNT = 10_000
PIECES = [
    "*/", "/*", "//", "\\", '"', "'", "??/", "??=", "%s", "%", "@name@", "@", "#include", "#define x", "\\n",
    "\\x", "\\123", "0", "9", "a", "Z", "_", "__", " ", "int", "static", "é", "ß", "İ", "字", "😀", "\u00a0",
    "{", "}", ";", "<", ">", "&", "$", "`", "(", ")", "...", "/", ":", "cascade", "stdint", "CON", ".h", "..",
    'R"(', "u8", "L", "main", "model",
]  # fmt: skip


def names(count: int) -> list[str]:
    """Pieces that mean something in C, and any other characters."""
    random = np.random.default_rng(0)
    made: list[str] = []
    while len(made) < count:
        pieces = [PIECES[k] for k in random.integers(0, len(PIECES), random.integers(1, 9))]
        pieces += [chr(k) for k in random.integers(32, 0x2FF, random.integers(0, 4))]
        name = "".join(pieces[k] for k in random.permutation(len(pieces)))
        if text_problem(name) is None:
            made.append(name)
    return made


def test_ten_thousand_names(tmp_path):
    """All of them as strings, comments and identifiers of one program, which prints them."""
    some = names(COUNT)
    lines = ["#include <stdio.h>"]
    for i, name in enumerate(some):
        lines += [f"/* {remark(name)} */", f"static const char {prefix(name)}_{i}_name[] = {quoted(name)};"]
    lines.append("int main(void) {")
    lines += [f"    puts({prefix(name)}_{i}_name);" for i, name in enumerate(some)]
    lines.append("    return 0;\n}\n")
    (tmp_path / "names.c").write_text("\n".join(lines), "ascii")
    command = ["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wtrigraphs", "-trigraphs", "-Werror"]
    ran = subprocess.run([*command, "names.c", "-o", "names"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[:2000]
    printed = subprocess.run([str(tmp_path / "names")], capture_output=True, check=True).stdout
    assert printed == "".join(f"{name}\n" for name in some).encode()


def test_prefixes_are_identifiers_and_files():
    for name in [*names(COUNT), *TAKEN, "cascade", "Cascade.h", "x" * 255]:
        found = prefix(name)
        assert re.fullmatch("[a-z][a-z0-9_]*", found)
        assert found not in TAKEN
        assert not found.startswith("cascade")
        assert len(found) <= LONGEST + len("model_")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("face", "face"),
        ("Face 24x24", "face_24x24"),
        ("24 faces", "model_24_faces"),
        ("stdint", "model_stdint"),
        ("cascade", "model_cascade"),
        ("字", "the_model"),
        ("model", "model_model"),
        ("__x__", "x"),
    ],
)
def test_prefix(name, expected):
    assert prefix(name) == expected


@pytest.mark.parametrize("name", ['*/ #error "out" /*', "??/", 'a" "b\\', "@name@ @NAME@", "stdint", "%d%s"])
def test_hostile_models_export(name):
    model: Model = replace(random_model(), name=name, classes=(name + "?",))
    texts = c.sources(model, Search())
    assert c.checked(texts).startswith(("passed", "not run"))
    assert all(text.isascii() for text in texts.values())
