"""Numbers as annotation files have them: finite, and of a size that pictures have."""

import math

LARGEST = 1e7  # pixels; ten times the longest picture there is


def number(value: object) -> float:
    """A float from text or from a JSON number; ValueError for anything that is no place in a picture."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"expected a number, got {shortened(value)}")
    if isinstance(value, str) and len(value) > 64:
        raise ValueError(f"expected a number, got {shortened(value)}")
    try:
        result = float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"expected a number, got {shortened(value)}") from None
    if not math.isfinite(result) or abs(result) > LARGEST:
        raise ValueError(f"expected a number up to {LARGEST:.0f}, got {shortened(value)}")
    return result


def flag(value: object) -> bool:
    """A yes or no: 1, 0, true, false, yes, no, or nothing."""
    text = str(value).strip().lower() if isinstance(value, str | int) else None
    if text in ("1", "true", "yes"):
        return True
    if text in ("0", "false", "no", "", "unspecified"):
        return False
    raise ValueError(f"expected 0 or 1, got {shortened(value)}")


def shortened(value: object) -> str:
    """A value in a sentence, never a page of it."""
    if isinstance(value, int) and abs(value) > 1 << 64:
        return "a huge number"
    if not isinstance(value, str | int | float | None):
        return f"a {type(value).__name__}"
    shown = repr(value)
    return shown if len(shown) <= 120 else shown[:120] + "..."
