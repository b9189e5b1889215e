"""What rank intervals are as predicates of the PB+-tree (PB+-tree 4: Wang, Zhang, Kitsuregawa).

In: entries, each with the closed rank intervals that its test on a slot accepts. Out: of each interval, which operator
it is, with which operand.

    interval      start 2, end 9
    5..5          = 5
    2..7          <= 7        starts where most do (`open_ended` says why)
    3..9          >= 3        ends where most do
    2..4, 6..9    != 5        of one entry, with one rank missing between them
    4..6          a range

A gap between operands is a rank, so that `<` and `>` are `<=` and `>=` of one.

Invariant: beyond `start` and `end` nothing but `=` and ranges holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32
from profilec.runtime.indexes.open_ended import commonest


@dataclass(frozen=True, slots=True)
class RankPredicates:
    """What intervals are; of a `!=` the first half says it, and the second one is nothing."""

    start: int
    end: int
    is_equal: NDArray[np.bool_]
    is_most: NDArray[np.bool_]
    is_least: NDArray[np.bool_]
    is_range: NDArray[np.bool_]
    is_unequal: NDArray[np.bool_]

    @classmethod
    def of(cls, off: Int32, low: Int32, high: Int32) -> RankPredicates:
        """Of entries: entry i has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`."""
        is_equal = low == high
        start, end = commonest(low[~is_equal]), commonest(high[~is_equal])
        is_unequal = np.zeros(len(low), np.bool_)
        # The first of the two intervals of an entry that has two; next to the missing rank one may be a point.
        first = off[:-1][np.diff(off) == 2]
        is_unequal[first] = (low[first] == start) & (high[first + 1] == end) & (high[first] + 2 == low[first + 1])
        second = np.roll(is_unequal, 1)
        left = ~(is_unequal | second)
        is_most = left & ~is_equal & (low == start) & (high <= end)
        is_least = left & ~is_equal & ~is_most & (high == end) & (low >= start)
        return cls(start, end, left & is_equal, is_most, is_least, left & ~(is_equal | is_most | is_least), is_unequal)
