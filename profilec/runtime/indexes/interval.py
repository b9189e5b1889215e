"""The interval index of one slot: elementary intervals of ranks, and the entries each satisfies (Tatbul 2001, 4.1.2).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a
rank, the entries whose test holds, as a bit vector.

    intervals      entry 0: 3..3 and 7..9     entry 1: 4..9     entry 2: 7..7
    cuts           3     4      7        8         10
    cells           [3,4) [4,7)  [7,8)    [8,10)          what lies outside of all intervals has no cell
    entries          0     1      0 1 2    0 1

The paper keeps a binary search tree of the intervals that satisfy some profile; the sorted cuts,
searched by bisection, are that tree in one array, and empty cells hold nothing.

PERF: cells of nested ranges repeat their entries, up to n entries in each of n cells. Where that would be more than
MAX_REPETITION times the intervals, a cell's entries are collected when a document first falls into it, and kept
within a budget.

Invariant: an entry is in the answer iff one of its intervals contains the rank.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.endpoints import distinct

MAX_REPETITION = 4
_KEPT_ENTRIES = 16_000_000
_STORED_FROM = 16
_NONE = BitMap()


class IntervalIndex:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = IntervalIndex(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = ("_cached", "_cells", "_cell_off", "_cuts", "_high", "_kept", "_low", "_owner", "constrained")

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        self.constrained = bitmap(entries)
        """The entries that have a test on the slot at all."""
        owner = np.repeat(entries, np.diff(off))
        cuts = distinct(low, high + 1)
        # PERF: bisect on a memoryview takes a tenth of the time that np.searchsorted takes for one rank.
        self._cuts = cuts.astype(np.int32).data
        first = np.searchsorted(cuts, low)
        n_cells = np.searchsorted(cuts, high + 1) - first
        self._cached: dict[int, BitMap] = {}
        self._kept = 0
        self._cell_off: NDArray[np.int64] | None = None
        self._cells = self._owner = self._low = self._high = np.zeros(0, np.int32)
        if n_cells.sum() > MAX_REPETITION * len(low):
            self._owner, self._low, self._high = owner, low, high
            return
        before = np.cumsum(n_cells) - n_cells
        cell = np.arange(n_cells.sum()) + np.repeat(first - before, n_cells)
        order = np.argsort(cell, kind="stable")
        self._cells = np.repeat(owner, n_cells)[order]
        self._cell_off = np.searchsorted(cell[order], np.arange(len(cuts) + 1))

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank; not to be changed."""
        cell = bisect_right(self._cuts, rank) - 1
        if cell < 0:
            return _NONE
        known = self._cached.get(cell)
        if known is not None:
            return known
        if self._cell_off is not None:
            found = self._cells[self._cell_off[cell] : self._cell_off[cell + 1]]
        else:
            found = self._owner[(self._low <= rank) & (rank <= self._high)]
        if not len(found):
            return _NONE
        entries = bitmap(found)
        if len(found) >= _STORED_FROM:
            self._keep(cell, entries)
        return entries

    def _keep(self, cell: int, entries: BitMap) -> None:
        if self._kept > _KEPT_ENTRIES:
            self._cached.clear()
            self._kept = 0
        self._cached[cell] = entries
        self._kept += len(entries)


def bitmap(entries: Int32) -> BitMap:
    """The bit vector of entry numbers."""
    return BitMap(array("I", entries.astype(np.uint32).tobytes()))


def members(entries: BitMap) -> Int32:
    """The entry numbers of a bit vector, ascending."""
    return np.frombuffer(entries.to_array(), np.uint32).astype(np.int32)
