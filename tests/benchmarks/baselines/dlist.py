"""`dlist`: direct listing, for each rank the list of the entries that accept it (Wu, Chen, Yu, Mei, 5.1).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds.

    intervals    entry 0: 3..5     entry 1: 4..4     entry 2: 5..6
    rank         3     4      5      6
    list         0     0 1    0 2    2

O(1) to find the list. The storage is the sum of the lengths of all intervals: with many long ones it does not fit, as
in the paper's experiments, which leave it out there. What would take more than MAX_LISTED places is refused.

Left open by the paper and decided here: a list is not linked but a part of one array, in order of the entries as
given. Ranks below all intervals and above them have no list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.interval import bitmap

MAX_LISTED = 1 << 28
"""Places of all lists together, and of the directory."""
_NONE = np.zeros(0, np.int32)


class DirectListing:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = DirectListing(np.array([5, 8], np.int32), off, low, high)
    >>> [index.stab(rank).tolist() for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]

    Raises:
        ValueError: the lists would not fit.
    """

    __slots__ = ("_first", "_list_off", "_listed", "constrained")

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        self.constrained = bitmap(entries)
        self._first = int(low.min(initial=2**31 - 1))
        n_lists = max(0, int(high.max(initial=-1)) + 1 - self._first)
        n_listed = int((high.astype(np.int64) - low + 1).sum())
        if max(n_listed, n_lists) > MAX_LISTED:
            raise ValueError(f"direct lists of {n_listed} places for {n_lists} ranks")
        self._list_off = np.zeros(n_lists + 1, np.int64)
        self._listed = np.empty(n_listed, np.int32)
        list_directly(np.repeat(entries, np.diff(off)), low, high, self._first, self._list_off, self._listed)

    @property
    def n_bytes(self) -> int:
        return self._list_off.nbytes + self._listed.nbytes

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank."""
        return bitmap(self.stab(rank))

    def stab(self, rank: int) -> Int32:
        """The same as an array, a part of the index."""
        number = rank - self._first
        if not 0 <= number < len(self._list_off) - 1:
            return _NONE
        return self._listed[self._list_off[number] : self._list_off[number + 1]]


@njit(nogil=True, cache=True)
def list_directly(owner: Any, low: Any, high: Any, first: Any, list_off: Any, listed: Any) -> None:
    """Fills `list_off`, which is zeros, and `listed`."""
    n_lists = len(list_off) - 1
    for row in range(len(low)):  # what starts and ends where, then how many lists are one longer
        list_off[low[row] - first] += 1
        list_off[high[row] + 1 - first] -= 1
    n_open, before = 0, 0
    for number in range(n_lists):
        n_open += list_off[number]
        list_off[number] = before
        before += n_open
    for row in range(len(low)):
        for number in range(low[row] - first, high[row] + 1 - first):
            listed[list_off[number]] = owner[row]
            list_off[number] += 1
    for number in range(n_lists, 0, -1):  # each is where the next one starts now
        list_off[number] = list_off[number - 1]
    list_off[0] = 0
