"""The interval tree of one slot (Tatbul 2001, 4.1.4; de Berg et al., Computational Geometry, chapter 10).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds, as a bit vector.

    intervals      entry 0: 3..3     entry 1: 4..9     entry 2: 5..7     entry 3: 9..9
    endpoints         3     4     5     7     9
    position          1     2     3     4     5                 tree, by positions          4
    stored            0                 1     3                                         2       6 (none)
                                        2                                             1   3   5
    from the left  low  3             4 5     9       ascending
    from the right high 3             9 7     9       descending

A node splits by its endpoint. The intervals that contain it stay at the node; those to the left of it go to the left
subtree, those to the right of it to the right one. A node has its intervals twice, sorted from the left and from the
right. A rank below the endpoint is in those that start no later than it: the first ones of the left list; a rank above
it in the first ones of the right list; the endpoint itself is in all of them, and in none further down.

Left open by the paper and decided here: the endpoint that splits is the middle one of the sorted distinct endpoints,
so the tree is balanced. It is the binary tree of positions 1, 2, 3, ... in order, complete but for the positions
after the last, in which the highest node between two positions is the one with the most zeros at its end: no pointers
and no recursion. Nodes without intervals are walked through.

PERF: where a list's first interval is that does not contain the rank, bisection says; the paper compares one by one.

Build O(n log n). O(n) storage: two places per interval. O(n) comparisons at worst, Omega(log n) (Table 1); here
O(log^2 n) comparisons, and the entries found.

Invariant: an interval is stored at one node, the highest one whose endpoint it contains.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.endpoints import distinct
from profilec.runtime.indexes.interval import bitmap
from profilec.runtime.indexes.posting_lists import offsets, union_of


class IntervalTreeIndex:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = IntervalTreeIndex(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = ("_high", "_low", "_node_off", "_owner_by_high", "_owner_by_low", "_points", "constrained")

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        self.constrained = bitmap(entries)
        """The entries that have a test on the slot at all."""
        owner = np.repeat(entries, np.diff(off))
        points = distinct(low, high)
        first = np.searchsorted(points, low) + 1
        last = np.searchsorted(points, high) + 1
        n_low_bits = np.frexp((first - 1) ^ last)[1] - 1  # below the highest bit that counting from `first` changed
        node = (last >> n_low_bits) << n_low_bits
        self._points = points.astype(np.int32).data
        self._node_off = offsets(node, len(points) + 2).data
        by_low = np.lexsort((low, node))
        self._low, self._owner_by_low = low[by_low].astype(np.int32).data, owner[by_low]
        by_high = np.lexsort((-high, node))
        # LAYOUT: negated, so that the list from the right is ascending, as bisection needs it.
        self._high, self._owner_by_high = (-high[by_high]).astype(np.int32).data, owner[by_high]

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank; not to be changed."""
        off, n_points = self._node_off, len(self._points)
        found: list[Int32] = []
        step = (1 << n_points.bit_length()) >> 1
        node = step
        while step:
            step >>= 1
            if node > n_points:
                node -= step
                continue
            point, start, end = self._points[node - 1], off[node], off[node + 1]
            if rank == point:
                found.append(self._owner_by_low[start:end])
                break
            if rank < point:
                if start < end:
                    found.append(self._owner_by_low[start : bisect_right(self._low, rank, start, end)])
                node -= step
            else:
                if start < end:
                    found.append(self._owner_by_high[start : bisect_right(self._high, -rank, start, end)])
                node += step
        return union_of([part for part in found if len(part)])
