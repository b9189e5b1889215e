"""Intervals that share an end, told by the other one: what `price < 7` and `price >= 3` are in rank space.

In: closed rank intervals. Out: those that contain a rank, as parts of two arrays.

    intervals    2..5   2..9   2..7   4..9   6..9           start 2, end 9
    that start at 2, by where they end       5  7  9        rank 6 is in those from the first that ends no earlier: 7 9
    that end at 9, by where they start       4  6           rank 5 is in those that start no later: 4

All comparisons of one kind with one operator are open at the same end, which is the end of the kind in rank space, and
an index is not told where that is. Here it is the commonest of the ends that intervals have.

Invariant: an interval is in one of the two arrays, once; one that has both ends is in the first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32


def commonest(ends: Int32, least: int = 1) -> int:
    """The number that is there most often, of equals the least; -1 where none is there `least` times.

    >>> commonest(np.array([7, 3, 9, 3], np.int32)), commonest(np.array([7, 3], np.int32), 2)
    (3, -1)
    """
    numbers, counts = np.unique(ends, return_counts=True)
    place = int(np.argmax(counts)) if len(counts) else -1
    return int(numbers[place]) if place >= 0 and counts[place] >= least else -1


class OpenEnded:
    """Rank to entries, of intervals `low[i]..high[i]` that start at `start` or end at `end`.

    >>> low, high = np.array([2, 2, 2, 4, 6], np.int32), np.array([5, 9, 7, 9, 9], np.int32)
    >>> index = OpenEnded(np.arange(5, dtype=np.int32), low, high, 2, 9)
    >>> [part.tolist() for part in index.parts_at(6)]
    [[2, 1], [3, 4]]
    """

    __slots__ = ("_by_high", "_by_low", "_end", "_high", "_low", "_start")

    def __init__(self, owner: Int32, low: Int32, high: Int32, start: int, end: int) -> None:
        self._start, self._end = start, end
        starts: NDArray[np.bool_] = low == start
        by_high = np.argsort(high[starts], kind="stable")
        self._high, self._by_high = high[starts][by_high].astype(np.int32).data, owner[starts][by_high]
        by_low = np.argsort(low[~starts], kind="stable")
        self._low, self._by_low = low[~starts][by_low].astype(np.int32).data, owner[~starts][by_low]

    def parts_at(self, rank: int) -> list[Int32]:
        """The entries whose interval contains the rank, in parts that are not to be changed."""
        found = []
        if rank >= self._start and (first := bisect_left(self._high, rank)) < len(self._high):
            found.append(self._by_high[first:])
        if rank <= self._end and (after := bisect_right(self._low, rank)):
            found.append(self._by_low[:after])
        return found

    def remove(self, entry: int, low: int, high: int) -> bool:
        """Takes out an interval; False where it is not here."""
        ends, owners, wanted = (
            (self._high, self._by_high, high) if low == self._start else (self._low, self._by_low, low)
        )
        if low != self._start and high != self._end:
            return False
        first, after = bisect_left(ends, wanted), bisect_right(ends, wanted)
        places = np.flatnonzero(owners[first:after] == entry)
        if not len(places):
            return False
        place = first + int(places[0])
        left, right = np.delete(np.asarray(ends), place).data, np.delete(owners, place)
        if low == self._start:
            self._high, self._by_high = left, right
        else:
            self._low, self._by_low = left, right
        return True
