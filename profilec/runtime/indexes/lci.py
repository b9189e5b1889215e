"""Logarithmic construct intervals: log2(L) + 1 at each cell, of the lengths 1, 2, 4, ..., L (VCI 2.3).

In: L, a power of two. Out: how an interval of cells is cut. Whole constructs of length L are taken from the left; what
is left is cut into the powers of two that it is the sum of, the largest first. The index over them is
`virtual_constructs`, and what is common to all constructs is in `constructs`.

    L = 16    7 cells from cell 3     [3,7) [7,9) [9,10)     coordinates 3 * 5 + 2, 7 * 5 + 1 and 9 * 5
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from profilec.runtime.indexes.constructs import Bool, Int64


@dataclass(frozen=True, slots=True)
class LogarithmicConstructs:
    """The constructs whose lengths are powers of two up to L.

    >>> LogarithmicConstructs(4).n_pieces(np.array([1, 4, 5, 7, 8])).tolist()
    [1, 1, 2, 3, 2]
    """

    max_length: int
    lengths: Int64 = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", 1 << np.arange(self.max_length.bit_length()))

    def places_of(self, lengths: Int64) -> Int64:
        return np.frexp(lengths)[1].astype(np.int64) - 1

    def n_pieces(self, lengths: Int64) -> Int64:
        return lengths // self.max_length + np.bitwise_count(lengths % self.max_length)

    def cut(self, lengths: Int64) -> Iterator[tuple[Bool, Int64, Int64]]:
        for place in reversed(range(self.max_length.bit_length())):
            has = (lengths >> place & 1).astype(np.bool_)
            yield has, lengths >> (place + 1) << (place + 1), np.full_like(lengths, 1 << place)
