"""The confusion of sizes: how large objects are, and how large they were taken to be."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cascade.reporting.text import DASH, escaped

MOST = 7  # classes of size
MISSED = "missed"
FALSE = "no object"


@dataclass(frozen=True)
class Sizes:
    """Counts (true size or no object, found size or missed); sizes are square roots of areas, in pixels."""

    edges: NDArray[np.float64]  # the last class is open
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: NDArray[np.float64]) -> "Sizes":
        """From pairs (n, 2) of true and found sizes, NaN for what has none."""
        known = pairs[np.isfinite(pairs)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (16.0, 32.0)
        steps = 2 * math.log2(max(high / low, 1.0))  # half octaves, unless these would be too many
        width = max(1, math.ceil(steps / MOST)) / 2
        first = math.floor(math.log2(low) / width)
        last = max(first + 1, math.floor(math.log2(high) / width) + 1)
        edges = 2.0 ** (width * np.arange(first, last + 1))
        place = np.searchsorted(edges, np.nan_to_num(pairs, nan=edges[0]), side="right") - 1
        place = np.where(np.isfinite(pairs), np.clip(place, 0, len(edges) - 2), len(edges) - 1)
        counts = np.zeros((len(edges), len(edges)), np.int64)
        np.add.at(counts, (place[:, 0], place[:, 1]), 1)
        return cls(np.asarray(edges, np.float64), counts)

    @property
    def names(self) -> list[str]:
        rounded = [round(edge) for edge in self.edges]
        return [f"{a}{DASH}{b}" for a, b in pairwise(rounded)]

    def drawn(self) -> str:
        """As a table, shaded by the share of each row."""
        head = "".join(f'<th scope="col">{name}</th>' for name in [*self.names, MISSED])
        rows = [
            self._row(name, counts)
            for name, counts in zip([*self.names, FALSE], self.counts, strict=True)
            if counts.any()
        ]
        return (
            '<div class="wide"><table class="shaded"><caption>Rows: the true size in pixels. Columns: the '
            f"size found.</caption><thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
            "</table></div>"
        )

    def _row(self, name: str, counts: NDArray[np.int64]) -> str:
        cells = []
        for i, count in enumerate(counts.tolist()):
            bad = name == FALSE or i == len(counts) - 1
            shade = round(100 * count / max(1, int(counts.sum())))
            style = f' class="{"bad" if bad else "good"}" style="--share:{shade}%"' if count else ""
            cells.append(f"<td{style}>{count or ''}</td>")
        return f'<tr><th scope="row">{escaped(name)}</th>{"".join(cells)}</tr>'
