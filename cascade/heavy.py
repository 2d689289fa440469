"""The heavy samples, side by side.

Boosting soon puts 90 % of the weight on 5 % of the samples. Scattered over a feature's row they still
touch every cache line of it, so that each round would stream the whole table. A compact copy of just
those columns is small, lasts for several rounds, and is made anew when the weights have drifted.
"""

import numpy as np
from numpy.typing import NDArray

from cascade._ext import samples as kernels
from cascade.subsets import Classes

WORTHWHILE = 1 << 23  # bytes of a table below which caches do well by themselves
SHARE = 0.072  # of the table at most: with it, a whole process stays within 1.5 tables (make bench)
MARK = 0.98  # the share of the mass that a new copy holds, if it fits
STALE = 0.97  # made anew once it holds less than this share of what it is asked for
SLICE = 1 << 24  # bytes copied in one call: some 20 ms, then Ctrl-C is heard


class HeavySamples:
    """A compact copy of the heaviest columns of a table."""

    def __init__(self, table: NDArray[np.uint8], threads: int) -> None:
        self.table = table
        self.threads = threads
        self.limit = int(SHARE * table.shape[1]) if table.nbytes >= WORTHWHILE else 0
        self.rows = np.empty((0, 0), np.uint8)  # allocated on first use
        self.columns = np.empty(0, np.int32)
        self.position = np.empty(0, np.int32)  # where a column of the table is in `rows`, or -1
        self.builds = 0

    def covers(
        self, everyone: Classes, drawn: Classes, mass: NDArray[np.int64], cutoff: int
    ) -> bool:
        """Whether the copy can stand for the drawn samples of class `cutoff` and above.

        It is made anew if need be, from all samples, for the next round may draw others.
        """
        fitting = everyone.fitting(self.limit)
        if self.limit == 0 or fitting > cutoff:
            return False
        held = self.columns[drawn.of[self.columns] >= cutoff]
        if not len(held) or int(mass[held].sum()) < STALE * int(drawn.masses[cutoff:].sum()):
            lowest = max(fitting, everyone.cutoff(int(MARK * int(everyone.masses.sum()))))
            self.copy_columns(np.flatnonzero(everyone.of >= min(lowest, cutoff)).astype(np.int32))
            self.builds += 1
        return True

    def copy_columns(self, columns: NDArray[np.int32]) -> None:
        """Make the copy of these columns; the trees do not depend on which."""
        self.columns = columns
        if not self.rows.size:
            self.rows = np.empty((len(self.table), self.limit), np.uint8)
            self.position = np.empty(self.table.shape[1], np.int32)
        self.position[:] = -1
        self.position[self.columns] = np.arange(len(self.columns), dtype=np.int32)
        step = max(1, SLICE // max(1, len(columns)))
        for start in range(0, len(self.table), step):
            stop = min(start + step, len(self.table))
            kernels.gather(self.table, columns, self.rows, start, stop, self.threads)
