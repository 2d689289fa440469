"""Charts as SVG: lines between two axes. Colours come from the page, so they suit light and dark."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cascade.reporting.text import PERCENT, escaped

WIDTH, HEIGHT = 360, 244  # of the drawing, in its own units
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 24, 38  # around the plot
POINTS = 240  # of a line: more than the eye, or the screen, can tell apart
STEPS = (1, 2, 2.5, 5, 10)  # between the ticks of an axis, times a power of ten


@dataclass(frozen=True)
class Axis:
    """What a direction means."""

    label: str
    low: float
    high: float
    log: bool = False
    share: bool = False  # ticks in per cent

    def place(self, values: ArrayLike) -> NDArray[np.float64]:
        """Values as shares of the axis, kept within it."""
        numbers, low, high = np.asarray(values, np.float64), self.low, self.high
        if self.log:
            numbers, low, high = np.log(np.maximum(numbers, low)), math.log(low), math.log(high)
        return np.asarray(np.clip((numbers - low) / (high - low), 0.0, 1.0))

    def ticks(self) -> list[tuple[float, str]]:
        """A few round values and how they are written."""
        values = self._powers() if self.log else self._steps()
        return [(value, self._written(value)) for value in values]

    def _powers(self) -> list[float]:
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        if last - first < 2:
            many = [m * 10.0**e for e in range(first - 1, last + 1) for m in (1, 2, 5)]
            return [value for value in many if self.low * 0.999 <= value <= self.high * 1.001]
        return [10.0**e for e in range(first, last + 1, 1 + (last - first) // 6)]

    def _steps(self) -> list[float]:
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * size for size in STEPS if power * size >= rough * 0.99)
        first = math.ceil(self.low / step - 1e-9)
        return [step * i for i in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def _written(self, value: float) -> str:
        if self.share:
            return f"{100 * value:g}{PERCENT}"
        if self.log and not 1e-3 <= value < 1e5:
            return f"1e{round(math.log10(value))}"
        return f"{value:,.10g}".replace("-", "\N{MINUS SIGN}")


@dataclass(frozen=True)
class Line:
    """One curve; `look` is its style on the page: a, b, c, or quiet."""

    name: str  # nothing keeps it out of the legend
    x: ArrayLike
    y: ArrayLike
    look: str = "a"
    filled: bool = False  # down to the axis
    dots: bool = False  # at its corners, where these are few


@dataclass(frozen=True)
class Mark:
    """A place that is worth a word."""

    x: float
    y: float
    word: str


def chart(
    title: str, about: str, x: Axis, y: Axis, lines: Sequence[Line], marks: Sequence[Mark] = (),
    remark: str = "",
) -> str:  # fmt: skip
    """A figure; `about` says in a sentence what it shows, for those who cannot see it."""
    drawn = "".join([*_grid(x, y), *(_line(line, x, y) for line in lines), *(_mark(m, x, y) for m in marks)])
    named = [line for line in lines if line.name]
    legend = "".join(f'<span class="key {line.look}">{escaped(line.name)}</span>' for line in named)
    return (
        f"<figure><h3>{escaped(title)}</h3>"
        + (f'<p class="legend">{legend}</p>' if len(named) > 1 else "")
        + f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escaped(about)}">{drawn}</svg>'
        + (f"<figcaption>{escaped(remark)}</figcaption>" if remark else "")
        + "</figure>"
    )


def histogram(values: ArrayLike, low: float, high: float, bins: int = 48) -> tuple[list[float], list[float]]:
    """The outline of a histogram of shares, as corners of a line."""
    numbers = np.clip(np.asarray(values, np.float64), low, high)
    counts, edges = np.histogram(numbers, bins, (low, high))
    shares = counts / max(1, len(numbers))
    return np.repeat(edges, 2)[1:-1].tolist(), np.repeat(shares, 2).tolist()


def cumulative(values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Which share of the values is at most x."""
    rising = np.sort(np.asarray(values, np.float64))
    return rising, np.arange(1, len(rising) + 1) / max(1, len(rising))


def thinned(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Corners that can be told apart: of many on one spot of x, the first, lowest, highest and last."""
    if len(x) <= 2 * POINTS:
        return list(zip(x.tolist(), y.tolist(), strict=True))
    spot = np.round(x * POINTS).astype(np.intp)
    kept: set[int] = set()
    for part in np.split(np.arange(len(x)), np.flatnonzero(np.diff(spot)) + 1):
        kept |= {int(part[0]), int(part[-1]), int(part[y[part].argmin()]), int(part[y[part].argmax()])}
    return [(float(x[i]), float(y[i])) for i in sorted(kept)]


def _across(share: float) -> str:
    return f"{LEFT + share * (WIDTH - LEFT - RIGHT):.1f}"


def _up(share: float) -> str:
    return f"{HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM):.1f}"


def _grid(x: Axis, y: Axis) -> list[str]:
    parts = []
    for value, word in y.ticks():
        at = _up(float(y.place(value)))
        parts.append(f'<path class="grid" d="M{_across(0)} {at}H{_across(1)}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at}" dy="4" text-anchor="end">{word}</text>')
    for value, word in x.ticks():
        at = _across(float(x.place(value)))
        parts.append(f'<path class="grid" d="M{at} {_up(0)}v4"/>')
        parts.append(f'<text x="{at}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{word}</text>')
    parts.append(f'<path class="axis" d="M{_across(0)} {_up(0)}H{_across(1)}"/>')
    middle = _across(0.5)
    parts.append(f'<text class="what" x="{middle}" y="{HEIGHT - 5}" text-anchor="middle">'
                 f"{escaped(x.label)}</text>")  # fmt: skip
    if y.label:
        parts.append(f'<text class="what" x="{LEFT}" y="{TOP - 11}">{escaped(y.label)}</text>')
    return parts


def _line(line: Line, x: Axis, y: Axis) -> str:
    values = np.asarray(line.x, np.float64), np.asarray(line.y, np.float64)
    known = np.isfinite(values[0]) & np.isfinite(values[1])
    if not known.any():
        return ""
    corners = thinned(x.place(values[0][known]), y.place(values[1][known]))
    path = "L".join(f"{_across(a)} {_up(b)}" for a, b in corners)
    area = ""
    if line.filled:
        start, end = _across(corners[0][0]), _across(corners[-1][0])
        area = f'<path class="area {line.look}" d="M{start} {_up(0)}L{path}L{end} {_up(0)}Z"/>'
    places = corners if line.dots else []
    dots = "".join(f'<circle cx="{_across(a)}" cy="{_up(b)}" r="3"/>' for a, b in places)
    return f'{area}<path class="line {line.look}" d="M{path}"/>{dots}'


def _mark(mark: Mark, x: Axis, y: Axis) -> str:
    across, up = float(x.place(mark.x)), float(y.place(mark.y))
    right = across > 0.6  # the word goes where there is room
    side = "end" if right else "start"
    at = f'x="{_across(across)}" dx="{-7 if right else 7}" y="{_up(up)}" dy="{14 if up > 0.85 else -5}"'
    return (
        f'<circle cx="{_across(across)}" cy="{_up(up)}" r="3.5"/>'
        f'<text class="what halo" {at} text-anchor="{side}">{escaped(mark.word)}</text>'
    )
