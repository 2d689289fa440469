"""Words and numbers for a page; whatever comes from data or models is made harmless here."""

import html
import math

DASH, TIMES = "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"
SPACE, UNKNOWN = "\N{NO-BREAK SPACE}", "\N{REPLACEMENT CHARACTER}"
PERCENT = f"{SPACE}%"


def escaped(text: object) -> str:
    """Text for HTML, in elements and in attributes; what cannot be seen is shown as unknown."""
    seen = (char if char.isprintable() or char == SPACE else UNKNOWN for char in str(text))
    return html.escape("".join(seen), quote=True)


def number(value: float, digits: int = 3) -> str:
    """A number as people write it: 1,024 and 0.25; a dash for what is not known."""
    if not math.isfinite(value):
        return DASH
    if value == 0 or abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def percent(share: float, digits: int = 1) -> str:
    """A share in per cent; no more nines than were measured."""
    return f"{100 * share:.{digits}f}{PERCENT}" if math.isfinite(share) else DASH


def sides(width: float, height: float) -> str:
    """A size in pixels."""
    return f"{width:.0f} {TIMES} {height:.0f}"


def amount(count: int, noun: str, plural: str = "") -> str:
    """1 picture, 2 pictures."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def table(head: list[str], rows: list[list[str]], caption: str = "", plain: bool = False) -> str:
    """A table of text; the first column names the row. A plain one has words rather than numbers."""
    title = f"<caption>{escaped(caption)}</caption>" if caption else ""
    columns = "".join(f'<th scope="col">{escaped(name)}</th>' for name in head)
    lines = [
        f'<tr><th scope="row">{escaped(first)}</th>' + "".join(f"<td>{escaped(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    ]  # fmt: skip
    top = f"<thead><tr>{columns}</tr></thead>" if head else ""
    look = ' class="plain"' if plain else ""
    return f'<div class="wide"><table{look}>{title}{top}<tbody>{"".join(lines)}</tbody></table></div>'
