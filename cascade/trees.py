"""Boosted trees as parallel arrays: complete binary heaps of `value > threshold` on bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade._ext import predict
from cascade.layout import MAX_DEPTH

SLICE = 1 << 22  # node visits in one call: some 20 ms, then Ctrl-C is heard


@dataclass(frozen=True, eq=False)
class Trees:
    """T trees of one depth D.

    Node i has the children 2i + 1 (left) and 2i + 2 (right); a sample goes right when
    `table[feature[i], n] > threshold[i]`. A node that is not split has threshold 255.
    """

    feature: NDArray[np.int32]  # (T, 2^D - 1)
    threshold: NDArray[np.uint8]  # (T, 2^D - 1)
    leaf: NDArray[np.float64]  # (T, 2^D)

    def __post_init__(self) -> None:
        for name, dtype in (("feature", np.int32), ("threshold", np.uint8), ("leaf", np.float64)):
            array = np.ascontiguousarray(getattr(self, name), dtype).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        trees, nodes = self.feature.shape
        leaves = nodes + 1
        if leaves.bit_count() != 1 or not 2 <= leaves <= 2**MAX_DEPTH:
            raise ValueError(f"a tree has 2^depth - 1 nodes with depth 1 to {MAX_DEPTH}, got {nodes}")
        if self.threshold.shape != (trees, nodes) or self.leaf.shape != (trees, leaves):
            raise ValueError(
                f"expected threshold {(trees, nodes)} and leaf {(trees, leaves)}, "
                f"got {self.threshold.shape} and {self.leaf.shape}"
            )
        if trees and self.feature.min() < 0:
            raise ValueError(f"features are counted from 0, got {self.feature.min()}")

    @classmethod
    def empty(cls, depth: int) -> "Trees":
        """No trees yet, of this depth."""
        return cls(
            np.empty((0, 2**depth - 1), np.int32),
            np.empty((0, 2**depth - 1), np.uint8),
            np.empty((0, 2**depth), np.float64),
        )

    @classmethod
    def joined(cls, parts: Sequence["Trees"], depth: int) -> "Trees":
        """One after the other."""
        parts = [cls.empty(depth), *parts]
        return cls(
            np.concatenate([part.feature for part in parts]),
            np.concatenate([part.threshold for part in parts]),
            np.concatenate([part.leaf for part in parts]),
        )

    @property
    def depth(self) -> int:
        return int(self.feature.shape[1] + 1).bit_length() - 1

    def __len__(self) -> int:
        return len(self.feature)

    def __getitem__(self, part: slice) -> "Trees":
        return Trees(self.feature[part], self.threshold[part], self.leaf[part])

    def __eq__(self, other: object) -> bool:
        """Equal to the last bit."""
        return isinstance(other, Trees) and self.tobytes() == other.tobytes()

    __hash__ = None  # type: ignore[assignment]

    def tobytes(self) -> bytes:
        """All that the trees say, as bytes; two runs agree when these do."""
        shape = np.array(self.feature.shape, "<i8")
        arrays = (shape, self.feature, self.threshold, self.leaf)
        return b"".join(array.astype(array.dtype.newbyteorder("<")).tobytes() for array in arrays)

    def decision(self, table: NDArray[np.uint8], threads: int = 1) -> NDArray[np.float64]:
        """The confidence h of every sample: its leaves, added in tree order [Appel 2.6]."""
        decision = np.zeros(self._checked(table).shape[1])
        self.add_to(decision, table, threads)
        return decision

    def add_to(
        self, decision: NDArray[np.float64], table: NDArray[np.uint8], threads: int = 1
    ) -> None:
        """Add these trees to decisions made so far; to the last bit as if made in one go."""
        step = max(1, SLICE // (len(self) * self.depth + 1))
        for start in range(0, len(decision), step):
            predict.decide(
                table, self.feature, self.threshold, self.leaf, self.depth, decision,
                start, min(start + step, len(decision)), threads,
            )  # fmt: skip

    def staged(self, table: NDArray[np.uint8], threads: int = 1) -> Iterator[NDArray[np.float64]]:
        """The confidences after each tree, one array a tree."""
        decision = np.zeros(self._checked(table).shape[1])
        for t in range(len(self)):
            self[t : t + 1].add_to(decision, table, threads)
            yield decision.copy()

    def apply(self, table: NDArray[np.uint8], t: int, threads: int = 1) -> NDArray[np.uint8]:
        """Which leaf of tree t each sample reaches."""
        leaf = np.empty(self._checked(table).shape[1], np.uint8)
        predict.apply(table, self.feature[t], self.threshold[t], self.depth, leaf, threads)
        return leaf

    def _checked(self, table: NDArray[np.uint8]) -> NDArray[np.uint8]:
        if not isinstance(table, np.ndarray) or table.dtype != np.uint8 or table.ndim != 2:
            raise ValueError(f"expected a uint8 table (features, samples), got {_name(table)}")
        if not table.flags.c_contiguous:
            raise ValueError("expected a C-contiguous table; use numpy.ascontiguousarray(table)")
        if len(self) and self.feature.max() >= len(table):
            raise ValueError(
                f"the trees look at feature {self.feature.max()}, the table has {len(table)}"
            )
        return table


def _name(thing: object) -> str:
    """What a person calls this thing, for an error message."""
    if isinstance(thing, np.ndarray):
        return f"{thing.dtype} array of shape {thing.shape}"
    return type(thing).__name__
