"""data.yaml of YOLO sets: the small part of YAML that these files use, for the keys that matter.

Texts, lists and tables one level deep, in a line or in a block. Other keys may hold anything and are skipped.
"""

import re

KEYS = ("path", "train", "val", "valid", "test", "names", "nc")
KEY = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s+(.*))?$")
PAIR = re.compile(r"""("[^"]*"|'[^']*'|[^\s:'"][^:]*?)\s*:\s+(.+)$""")
STRANGE = ("&", "*", "!", "|", ">", "@", "`", "%")  # anchors, tags, blocks of text: no set needs them here
MOST_LINES = 200_000
LONGEST = 1000  # characters of a numbered name

Value = str | list[str] | dict[str, str]


def parse(text: str) -> dict[str, Value]:
    """The keys that matter; ValueError, with the line, for what is not understood."""
    values: dict[str, Value] = {}
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        raise ValueError(f"has {len(lines)} lines, at most {MOST_LINES} are read")
    at = 0
    while at < len(lines):
        start, line = at, _bare(lines[at])
        at += 1
        if not line.strip() or line.strip() in ("---", "..."):
            continue
        found = KEY.match(line)
        block = []
        while at < len(lines) and (not _bare(lines[at]).strip() or lines[at][:1] in " \t-"):
            block.append(_bare(lines[at]))
            at += 1
        if found is None:
            raise ValueError(f"line {start + 1}: expected `key: value`, got {line[:60]!r}")
        if found[1] in KEYS:
            try:
                values[found[1]] = _value((found[2] or "").strip(), block)
            except ValueError as error:
                raise ValueError(f"line {start + 1}, {found[1]}: {error}") from None
    return values


def _bare(line: str) -> str:
    """Without a comment; # counts after a space and outside quotes."""
    quote = ""
    for at, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and (at == 0 or line[at - 1] in " \t"):
            return line[:at].rstrip()
    return line.rstrip()


def _value(start: str, block: list[str]) -> Value:
    lines = [line.strip() for line in block if line.strip()]
    if start[:1] in ("[", "{"):
        return _flow(" ".join([start, *lines]))
    if start:
        if lines:
            raise ValueError("expected one line, or a list below it")
        return _scalar(start)
    if all(line.startswith("- ") for line in lines):
        return [_scalar(line[2:].strip()) for line in lines]
    return _pairs(lines)


def _flow(text: str) -> Value:
    """[a, b] or {0: a, 1: b}."""
    if text[-1] != {"[": "]", "{": "}"}[text[0]]:
        raise ValueError(f"expected a closing bracket at the end of {text[:60]!r}")
    items = [item.strip() for item in re.findall(r"""((?:"[^"]*"|'[^']*'|[^,'"])+)""", text[1:-1])]
    items = [item for item in items if item]
    return [_scalar(item) for item in items] if text[0] == "[" else _pairs(items)


def _pairs(lines: list[str]) -> dict[str, str]:
    pairs = {}
    for line in lines:
        found = PAIR.match(line) if len(line) <= LONGEST else None
        if found is None:
            raise ValueError(f"expected `- item` or `number: name`, got {line[:60]!r}")
        pairs[_scalar(found[1])] = _scalar(found[2])
    return pairs


def _scalar(text: str) -> str:
    if text[:1] in ("'", '"'):
        if len(text) < 2 or text[-1] != text[0] or text[0] in text[1:-1]:
            raise ValueError(f"expected a closing quote in {text[:60]!r}")
        return text[1:-1]
    if text.startswith((*STRANGE, "[", "{")):
        raise ValueError(f"expected plain text, got {text[:60]!r}; put it in quotes if it is a name")
    return text
