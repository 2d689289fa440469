"""Names from a model as C: whatever they hold, they change nothing but themselves."""

import re

LONGEST = 32  # characters of a prefix: C99 tells 63 of an identifier apart
# Stems of files that others include by name, or that cannot exist on Windows.
TAKEN = frozenset({
    "arduino", "assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits",
    "locale", "malloc", "math", "memory", "new", "setjmp", "signal", "stdarg", "stdbool", "stddef", "stdint",
    "stdio", "stdlib", "string", "strings", "tgmath", "time", "types", "unistd", "wchar", "wctype",
    "con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)),
    "pipeline", "example", "selftest", "model",
})  # fmt: skip
PLAIN = re.compile("[A-Za-z0-9 _.,:;()+-]")


def prefix(name: str) -> str:
    """What the files and identifiers of a model begin with: a-z, 0-9 and _."""
    stem = re.sub("[^a-z0-9]+", "_", name.lower()).strip("_")[:LONGEST].rstrip("_")
    if not stem or stem in TAKEN or stem[0].isdigit() or stem.startswith("cascade"):
        stem = f"model_{stem}".rstrip("_")
    return "the_model" if stem == "model" else stem


def quoted(text: str) -> str:
    """A C string of these UTF-8 bytes. Octal escapes have three digits, so none runs into what follows."""
    parts = (chr(byte) if PLAIN.fullmatch(chr(byte)) else f"\\{byte:03o}" for byte in text.encode())
    return '"' + "".join(parts) + '"'


def remark(text: str) -> str:
    """Text for a comment: nothing in it can end one."""
    return "".join(char if PLAIN.fullmatch(char) else "_" for char in text)
