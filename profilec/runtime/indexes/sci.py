"""Simple construct intervals: L at each cell, of the lengths 1, 2, ..., L (VCI 2.2).

In: L. Out: how an interval of cells is cut. One of w cells becomes ceil(w / L) constructs: whole ones of length L from
the left, and what is left is a construct itself. The index over them is `virtual_constructs`, and what is common to
all constructs is in `constructs`.

    L = 4     7 cells from cell 2     [2,6) [6,9)     coordinates 2 * 4 + 3 and 6 * 4 + 2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from profilec.runtime.indexes.constructs import Bool, Int64


@dataclass(frozen=True, slots=True)
class SimpleConstructs:
    """The constructs of all lengths up to L.

    >>> SimpleConstructs(4).n_pieces(np.array([1, 4, 5, 8, 9])).tolist()
    [1, 1, 2, 2, 3]
    """

    max_length: int
    lengths: Int64 = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", np.arange(1, self.max_length + 1))

    def places_of(self, lengths: Int64) -> Int64:
        return lengths - 1

    def n_pieces(self, lengths: Int64) -> Int64:
        return (lengths + self.max_length - 1) // self.max_length

    def cut(self, lengths: Int64) -> Iterator[tuple[Bool, Int64, Int64]]:
        yield lengths > 0, np.zeros_like(lengths), lengths
