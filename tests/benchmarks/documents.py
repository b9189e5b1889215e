"""Generated documents: attributes by number with integer values, in the forms that matchers take."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from conjunctions import offsets_of
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Documents:
    """Document i has value `values[j]` in attribute `slots[j]`, j in `off[i] .. off[i + 1]`; slots ascend."""

    n_attributes: int
    off: NDArray[np.int64]
    slots: NDArray[np.int32]
    values: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.off) - 1

    def dense(self) -> NDArray[np.int32]:
        """int32[n_documents, n_attributes]; 0 is absence."""
        matrix = np.zeros((len(self), self.n_attributes), np.int32)
        matrix[np.repeat(np.arange(len(self)), np.diff(self.off)), self.slots] = self.values
        return matrix

    def dicts(self) -> list[dict[str, int]]:
        """The documents as users have them."""
        slots, values, off = self.slots.tolist(), self.values.tolist(), self.off.tolist()
        return [
            {f"a{slot}": value for slot, value in zip(slots[start:end], values[start:end], strict=True)}
            for start, end in pairwise(off)
        ]


def documents_of(rows: list[list[tuple[int, int]]], n_attributes: int) -> Documents:
    """Documents from rows of (attribute, value), each ascending by attribute."""
    off = offsets_of(np.array([len(row) for row in rows], np.int64))
    flat = np.array([pair for row in rows for pair in row], np.int32).reshape(-1, 2)
    return Documents(n_attributes, off, flat[:, 0].copy(), flat[:, 1].copy())
