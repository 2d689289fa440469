"""XML of annotation files: small trees, without document types, entities or depth."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from xml.parsers import expat

MOST_ELEMENTS = 5_000_000
DEEPEST = 32
MOST_TEXT = 4096  # characters of one element; names and numbers are shorter


class MarkupError(ValueError):
    """XML that is damaged, or more than an annotation file needs."""


class _Enough(Exception):
    """What was asked for has been seen."""


@dataclass
class Element:
    """One element; children only where they were asked for."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def child(self, tag: str) -> "Element | None":
        return next((child for child in self.children if child.tag == tag), None)

    def value(self, tag: str, default: str = "") -> str:
        """The text of a child, or of an attribute."""
        child = self.child(tag)
        return self.attributes.get(tag, default) if child is None else child.text.strip()


class _Builder:
    """Collects the elements of one tag, each with all that is in it."""

    def __init__(self, wanted: str, take: Callable[[Element], None]) -> None:
        self.wanted = wanted
        self.take = take
        self.open: list[Element] = []  # from the wanted element inwards
        self.depth = 0
        self.elements = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        if self.depth > DEEPEST or self.elements > MOST_ELEMENTS:
            raise MarkupError(f"has more than {MOST_ELEMENTS} elements, or {DEEPEST} within each other")
        if self.open or tag == self.wanted:
            element = Element(tag, attributes)
            if self.open:
                self.open[-1].children.append(element)
            self.open.append(element)

    def text(self, text: str) -> None:
        if self.open:
            element = self.open[-1]
            if len(element.text) < MOST_TEXT:
                element.text += text[:MOST_TEXT]

    def end(self, tag: str) -> None:
        self.depth -= 1
        if self.open:
            element = self.open.pop()
            if not self.open:
                self.take(element)


def read_elements(data: bytes, wanted: str) -> list[Element]:
    """All elements of one tag; MarkupError, a ValueError, for XML that is not as it should be."""
    found: list[Element] = []
    builder = _Builder(wanted, found.append)
    parser = _parser()
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    _run(parser, data, True)
    return found


def root_tag(data: bytes) -> str | None:
    """The tag of the outermost element, from the first bytes of a file; None if it is not XML.

    A document type names it too, and is not read further: whoever reads the file will refuse it.
    """
    found: list[str] = []

    def start(tag: str, *_: object) -> None:
        found.append(tag)
        raise _Enough

    parser = _parser()
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = start
    with suppress(_Enough, MarkupError):
        _run(parser, data, False)
    return found[0] if found else None


def _parser() -> expat.XMLParserType:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    return parser


def _refuse(*_: object) -> None:
    raise MarkupError("has a document type (<!DOCTYPE ...>), which annotation files do not need: delete it")


def _run(parser: expat.XMLParserType, data: bytes, final: bool) -> None:
    try:
        parser.Parse(data, final)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise MarkupError(f"is not whole XML: {reason} in line {error.lineno}") from None
    except (LookupError, UnicodeError) as error:
        raise MarkupError(f"is in an encoding that is not known: {error}; save it as UTF-8") from None
