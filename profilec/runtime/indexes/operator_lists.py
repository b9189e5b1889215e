"""Predicate lists by operator on one slot, the second level of OpIndex (OpIndex 4.2).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds, as a bit vector.

    intervals    entry 0: 5..5    entry 1: 2..7    entry 2: 2..4    entry 3: 3..9    entry 4: 4..6
    predicates           = 5             <= 7             <= 4             >= 3      >= 4 and <= 6
    by operand   =   5        <=  4 7        >=  3                 and the two of entry 4 in lists of their own
                     0            2 1            3
    rank 5       = 5: 0       from 5 on: 1   up to 5: 3            one is found, the other one checked: 4

A test of several intervals is the OR of them, as the paper rewrites IN; a point is `=`. An interval that starts where
most do is a `<=`, one that ends where most do a `>=` (`open_ended` says why), and each is answered by one range of its
list. `predicate_list` says how the range is found: `operator_lists` with segments and signatures, `operator_lists:bs`
by binary search.

Left open by the paper and decided here: a range is `>= low AND <= high` (4.2), and the paper counts, for each entry,
how many of its predicates hold, which touches half of all predicates for ranges that are short and apart. Both are on
one attribute here, so only one of them is looked up, and the other one is checked. In the list of the `>=`, those
whose `low` is no greater than the rank begin the list; how far into it no `high` reaches the rank, the running
maximum of `high` says. In that of the `<=` it is the same from the other side, by the running minimum of `low`. The
list with fewer candidates is read.

Build O(n log n), O(n) storage. O(log n) comparisons for the lists, and one for each candidate range.

Invariant: an interval is in one list, or, of a range, in both lists of ranges.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable

import numpy as np
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.interval import bitmap
from profilec.runtime.indexes.open_ended import commonest
from profilec.runtime.indexes.posting_lists import union_of
from profilec.runtime.indexes.predicate_list import SegmentedList, SortedPredicates


class OperatorLists:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = OperatorLists(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = ("_at_least", "_at_most", "_end", "_equal", "_ranges", "_start", "constrained")

    def __init__(
        self,
        entries: Int32,
        off: Int32,
        low: Int32,
        high: Int32,
        sort: Callable[[Int32], SortedPredicates] = SegmentedList,
    ) -> None:
        self.constrained = bitmap(entries)
        """The entries that have a test on the slot at all."""
        owner = np.repeat(entries, np.diff(off))
        is_point = low == high
        self._start, self._end = commonest(low[~is_point]), commonest(high[~is_point])
        is_most = ~is_point & (low == self._start)
        is_least = ~is_point & ~is_most & (high == self._end)
        is_range = ~(is_point | is_most | is_least)
        self._equal = _List(sort(low[is_point]), owner[is_point])
        self._at_most = _List(sort(high[is_most]), owner[is_most])
        self._at_least = _List(sort(low[is_least]), owner[is_least])
        self._ranges = _Ranges(sort, owner[is_range], low[is_range], high[is_range])

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank; not to be changed."""
        start, end = self._equal.predicates.equal(rank)
        found = [self._equal.entries[start:end]]
        if rank >= self._start:
            found.append(self._at_most.entries[self._at_most.predicates.below(rank) :])
        if rank <= self._end:
            found.append(self._at_least.entries[: self._at_least.predicates.up_to(rank)])
        found.append(self._ranges.at(rank))
        return union_of([part for part in found if len(part)])


class _List:
    """The predicates of one operator, and by position their entries."""

    __slots__ = ("entries", "predicates")

    def __init__(self, predicates: SortedPredicates, owner: Int32) -> None:
        self.predicates = predicates
        self.entries = owner[predicates.order]


class _Ranges:
    """Intervals `low..high` as `>= low`, by `low`, and as `<= high`, by `high`; each with its other bound."""

    __slots__ = ("_at_least", "_at_most", "_highest", "_highs", "_lowest", "_lows")

    def __init__(self, sort: Callable[[Int32], SortedPredicates], owner: Int32, low: Int32, high: Int32) -> None:
        self._at_least = _List(sort(low), owner)
        self._highs = high[self._at_least.predicates.order]
        self._highest = np.maximum.accumulate(self._highs).data
        """By position: the greatest `high` up to there."""
        self._at_most = _List(sort(high), owner)
        self._lows = low[self._at_most.predicates.order]
        self._lowest = np.minimum.accumulate(self._lows[::-1])[::-1].copy().data
        """By position: the least `low` from there on."""

    def at(self, rank: int) -> Int32:
        """The entries of those that contain the rank."""
        after = self._at_least.predicates.up_to(rank)
        first = bisect_left(self._highest, rank, 0, after)
        least = self._at_most.predicates.below(rank)
        last = bisect_right(self._lowest, rank, least)
        if after - first <= last - least:
            return self._at_least.entries[first:after][self._highs[first:after] >= rank]
        return self._at_most.entries[least:last][self._lows[least:last] <= rank]
