"""The segment tree of one slot (Tatbul 2001, 4.1.4; de Berg et al., Computational Geometry, chapter 10).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds, as a bit vector.

    intervals   entry 0: 3..3 and 7..9     entry 1: 3..9                  tree, by numbers of nodes
    cuts        3     4      7        10                                           1
    cells       [3,4) [4,7)  [7,10)                                            2       3
    stored at   node 2: entry 1      node 4: entry 0      node 6: 0 and 1    4   5   6   7
                                                                            cell 0   1   2   none

The cells are the leaves, in order; pairs of them make the nodes above, up to the root. An interval is stored at the
highest nodes that it covers: where it covers both children of a node, at that node instead. A rank's cell gives its
path, and the entries stored on the path are the answer.

Left open by the paper and decided here: the tree is complete, so that node v has the children 2v and 2v + 1 and needs
no pointers; leaves beyond the last cell stay empty. Which child contains the rank, the sorted cuts say by bisection,
as many comparisons as on the way down from the root.

Build O(n log n). An interval is stored at no more than 2 log2(cells) nodes: O(n log n) in all. Theta(log n)
comparisons (Table 1), whatever the overlap.

Invariant: on the path to a cell, an interval is stored once if it covers the cell, otherwise not at all.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.endpoints import distinct
from profilec.runtime.indexes.interval import bitmap
from profilec.runtime.indexes.posting_lists import PostingLists

_NONE = BitMap()


class SegmentTreeIndex:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = SegmentTreeIndex(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = ("_cuts", "_height", "_n_cells", "_nodes", "constrained")

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        self.constrained = bitmap(entries)
        """The entries that have a test on the slot at all."""
        cuts = distinct(low, high + 1)
        self._cuts = cuts.astype(np.int32).data
        self._n_cells = max(len(cuts) - 1, 0)
        self._height = max(self._n_cells - 1, 0).bit_length()
        first_leaf = 1 << self._height
        owner = np.repeat(entries, np.diff(off))
        # Leaves from `left` to before `right`; each round moves both a level up, and stores what has no parent in it.
        left = np.searchsorted(cuts, low) + first_leaf
        right = np.searchsorted(cuts, high + 1) + first_leaf
        nodes, owners = [np.zeros(0, np.int64)], [owner[:0]]
        while len(left):
            is_right_child = (left & 1).astype(np.bool_)
            nodes.append(left[is_right_child])
            owners.append(owner[is_right_child])
            ends_in_left_child = (right & 1).astype(np.bool_)
            nodes.append(right[ends_in_left_child] - 1)
            owners.append(owner[ends_in_left_child])
            left = (left + 1) >> 1
            right >>= 1
            is_left = left < right
            left, right, owner = left[is_left], right[is_left], owner[is_left]
        self._nodes = PostingLists(np.concatenate(nodes), np.concatenate(owners), 2 * first_leaf)

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank; not to be changed."""
        cell = bisect_right(self._cuts, rank) - 1
        if not 0 <= cell < self._n_cells:
            return _NONE
        leaf = (1 << self._height) + cell
        return self._nodes.union([leaf >> level for level in range(self._height + 1)])
