"""The models that come with the package: `Model.load("face")` knows them by name.

Beside each <name>.cascade lies its card, <name>.json: what it finds, what it was trained on, by which
command, and how good it is.
"""

import errno
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]*")
LARGEST = 1 << 16  # bytes of a card
HEAD = """# Models

Each is a `.cascade` file with its card, made by one command. `Model.load("name")` loads one; `cascade models`
lists them. This page is made from the cards: `cascade models --markdown > models/README.md`.
"""


@dataclass(frozen=True)
class Card:
    """What a person should know before using a model."""

    name: str
    finds: str
    trained_on: str
    command: str  # that made it
    figures: Mapping[str, str]  # measured: what, how much
    limits: str  # what it is not for

    @classmethod
    def read(cls, path: Path) -> "Card":
        """The card in a file; ValueError, with what to do, if it is none."""
        try:
            if path.stat().st_size > LARGEST:
                raise ValueError(f"more than {LARGEST} bytes")
            facts = json.loads(path.read_text("utf-8"))
            words = {field.name: facts[field.name] for field in fields(cls) if field.name != "name"}
            figures = words.pop("figures")
            if not isinstance(figures, dict) or not _texts([*words.values(), *figures.values()]):
                raise ValueError("something that is no text")
            return cls(path.stem, figures=figures, **words)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            asked = ", ".join(field.name for field in fields(cls) if field.name != "name")
            raise ValueError(f"{path.name}: expected a card, JSON with {asked}; got {error}") from None


def folder() -> Path:
    """Where they are."""
    from importlib.resources import files  # here, because a program that loads a file does without it

    return Path(str(files("cascade.models")))


def names() -> list[str]:
    """The shipped models, sorted."""
    return sorted(path.stem for path in folder().glob("*.cascade"))


def cards() -> list[Card]:
    """The cards of all shipped models."""
    return [Card.read(folder() / f"{name}.json") for name in names()]


def locate(source: str) -> Path:
    """The file of a shipped model, if `source` is a name and not a file; else the path that it is."""
    path = Path(source)
    if not NAME.fullmatch(source) or path.exists():
        return path
    known = names()
    if source not in known:
        there = ", ".join(known) or "none"
        reason = f"there is neither such a file nor a shipped model of that name (shipped: {there})"
        raise FileNotFoundError(errno.ENOENT, reason, source)
    return folder() / f"{source}.cascade"


def markdown(cards: Sequence[Card], sizes: Mapping[str, int]) -> str:
    """The page models/README.md; `sizes` are those of the model files, in bytes."""
    lines = [HEAD]
    if cards:
        lines += ["| name | finds | bytes | measured |", "|---|---|---|---|"]
    for card in cards:
        figures = "; ".join(f"{name} {value}" for name, value in card.figures.items())
        lines.append(f"| `{card.name}` | {_cell(card.finds)} | {sizes[card.name]:,} | {_cell(figures)} |")
    for card in cards:
        lines += ["", f"## {card.name}", "", f"Trained on {card.trained_on}, by", "", f"    {card.command}"]
        lines += ["", f"Not for: {card.limits}"]
    return "\n".join(lines).rstrip("\n") + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _texts(values: Sequence[object]) -> bool:
    return all(isinstance(value, str) for value in values)
