"""Texts with gaps, which lie in the folder templates."""

import re
from collections.abc import Mapping
from importlib.resources import files


def filled(name: str, words: Mapping[str, str]) -> str:
    """The template of this name, with each @word@ put in; what is put in is not looked at again."""
    return fill((files("cascade.export") / "templates" / name).read_text("utf-8"), words)


def fill(template: str, words: Mapping[str, str]) -> str:
    return re.sub("@([A-Za-z_]+)@", lambda gap: words[gap[1]], template)
