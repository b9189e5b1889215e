"""The PB+-tree of one slot, in memory (PB+-tree 4: Wang, Zhang, Kitsuregawa).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds, as a bit vector.

    intervals     0: 5..5   1: 2..7   2: 2..8   3: 3..9   4: 4..6   5: 2..4 and 6..9
    predicates    = 5       <= 7      <= 8      >= 3      4..6      != 5
    B+-tree       3   4   5   7   8        (`bplus_tree`)
    leaf sets     3   4   0   1   2        =, <= and >= at the key, and ranges from it
    pointers      0   1   1   1   1   1    into the GreaterThan list, of 3: how many have a lesser key
                  0   0   0   0   1   2    into the LessThan list, of 1 and 2
                  0   0   0   1   1   1    into the Inequality list, of 5
                  0   0   1   1   1   1    into the list of ranges, of 4
    rank 6        is no key, and the last key below it is 5: in the lists 3, 1 and 2, 5, 4 are on the right side

The keys are the operands of all predicates. A leaf's item has the set of entries that have `=`, `<=` or `>=` with its
key, and a pointer into each of the lists below the leaves, of which the GreaterThan list has what is satisfied above a
key, the LessThan list what is below it, the Inequality list what is on both sides. A search goes down once. Where the
key is found, its set is in the answer; what the GreaterThan list has before the pointer is, what the LessThan list has
behind it, and all of the Inequality list but the key's own.

What is what, in rank space, `rank_predicates` says.

Left open by the paper and decided here:
- Ranges of two bounds are two predicates for the paper, told together in a second phase that counts. That touches all
  that one bound satisfies. Here they have a list of their own, like the GreaterThan list: by `low`, each with its
  `high`, and with the furthest `high` up to it. From the pointer the search goes towards the head, as there, and ends
  where nothing further reaches the rank.
- The pointers of nodes into lists are positions in arrays, and a list's nodes are the array: what a search walks
  through, the paper's `do ... while`, is one slice.
- The paper's tree grows and shrinks; that of an image is loaded at once, with full nodes.

O(n) storage, O(log n + answer) (Table 1), and the ranges that the walk passes.

Invariant: an interval is found through one of the leaf's set and the lists, once; one that is half of a `!=` through
the Inequality list.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.bplus_tree import BPlusTree
from profilec.runtime.indexes.interval import bitmap
from profilec.runtime.indexes.posting_lists import offsets, union_of
from profilec.runtime.indexes.rank_predicates import RankPredicates


class PBTreeIndex:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = PBTreeIndex(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = (
        "_end",
        "_greater",
        "_less",
        "_range_highs",
        "_range_reach",
        "_ranges",
        "_set_off",
        "_sets",
        "_start",
        "_tree",
        "_unequal",
        "constrained",
    )

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        self.constrained = bitmap(entries)
        """The entries that have a test on the slot at all."""
        owner = np.repeat(entries, np.diff(off))
        kinds = RankPredicates.of(off, low, high)
        self._start, self._end = kinds.start, kinds.end
        in_set = [(low, kinds.is_equal), (high, kinds.is_most), (low, kinds.is_least), (low, kinds.is_range)]
        unequal = high[kinds.is_unequal] + 1
        keys = np.unique(np.concatenate([*(operands[is_it] for operands, is_it in in_set), unequal]))
        self._tree = BPlusTree(keys.astype(np.int32))
        item = np.searchsorted(keys, np.concatenate([operands[is_it] for operands, is_it in in_set]))
        owners = np.concatenate([owner[is_it] for _, is_it in in_set])
        self._sets = owners[np.argsort(item, kind="stable")]
        self._set_off = offsets(item, len(keys)).data
        self._greater = _List.of(keys, low[kinds.is_least], owner[kinds.is_least])
        self._less = _List.of(keys, high[kinds.is_most], owner[kinds.is_most])
        self._unequal = _List.of(keys, unequal, owner[kinds.is_unequal])
        self._ranges = _List.of(keys, low[kinds.is_range], owner[kinds.is_range])
        self._range_highs = high[kinds.is_range][np.argsort(low[kinds.is_range], kind="stable")]
        self._range_reach = np.maximum.accumulate(self._range_highs).data

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank; not to be changed."""
        item = self._tree.last_not_above(rank)
        is_found = item >= 0 and self._tree.keys[item] == rank
        found: list[Int32] = []
        if is_found:
            found.append(self._sets[self._set_off[item] : self._set_off[item + 1]])
        below, after = (item, item + 1) if is_found else (item + 1, item + 1)
        if rank <= self._end:
            found.append(self._greater.entries[: self._greater.pointers[below]])
        if rank >= self._start:
            found.append(self._less.entries[self._less.pointers[after] :])
        if self._start <= rank <= self._end:
            found.append(self._unequal.entries[: self._unequal.pointers[below]])
            found.append(self._unequal.entries[self._unequal.pointers[after] :])
        last = self._ranges.pointers[below]
        first = bisect_left(self._range_reach, rank, 0, last)
        found.append(self._ranges.entries[first:last][self._range_highs[first:last] >= rank])
        return union_of([part for part in found if len(part)])


@dataclass(frozen=True, slots=True)
class _List:
    """A list below the leaves, by key."""

    entries: Int32
    pointers: memoryview[int]
    """By leaf item, and one more: how many have a key less than the item's."""

    @classmethod
    def of(cls, keys: Int32, operands: Int32, owner: Int32) -> _List:
        order = np.argsort(operands, kind="stable")
        return cls(owner[order], offsets(np.searchsorted(keys, operands), len(keys)).data)
