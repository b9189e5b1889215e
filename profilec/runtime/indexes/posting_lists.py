"""Many lists of entries in one array, and the union of some of them as a bit vector.

In: for each posting the number of its list and its entry. Out: the entries that are in any of the lists asked for.

    list       0     1   2       3
    off        0     2   2       5   6
    entries    4 9       1 4 7   9

PERF: a list of `LONG_FROM` entries or more becomes a bit vector when it is first asked for, and is kept; all that
can be kept are the postings themselves. A shorter one is faster read from the array, and takes a tenth of the memory.

Invariant: list l is `entries[off[l] .. off[l + 1]]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.interval import bitmap

LONG_FROM = 16


class PostingLists:
    """List numbers to entries.

    >>> lists = PostingLists(np.array([0, 2, 0, 2]), np.array([4, 1, 9, 4], np.int32), n_lists=3)
    >>> sorted(lists.union([0, 2])), sorted(lists.union([1]))
    ([1, 4, 9], [])
    """

    __slots__ = ("_kept", "_off", "entries")

    def __init__(self, lists: NDArray[Any], entries: Int32, n_lists: int) -> None:
        """Posting i is `entries[i]` in the list `lists[i]`, below `n_lists`."""
        self.entries = entries[np.argsort(lists, kind="stable")]
        # PERF: a memoryview gives one number in a quarter of the time that an array takes.
        self._off = offsets(lists, n_lists).data
        self._kept: dict[int, BitMap] = {}

    def union(self, lists: Iterable[int]) -> BitMap:
        """The entries of these lists together; not to be changed."""
        off = self._off
        short: list[Int32] = []
        long: list[BitMap] = []
        for number in lists:
            start, end = off[number], off[number + 1]
            if end - start >= LONG_FROM:
                long.append(self._long(number, start, end))
            elif start < end:
                short.append(self.entries[start:end])
        if not long:
            return union_of(short)
        if len(long) == 1 and not short:
            return long[0]
        return BitMap.union(union_of(short), *long)

    def _long(self, number: int, start: int, end: int) -> BitMap:
        known = self._kept.get(number)
        if known is None:
            known = self._kept[number] = bitmap(self.entries[start:end])
        return known


def offsets(lists: NDArray[Any], n_lists: int) -> Int32:
    """Where each list starts when postings are sorted by list; n_lists + 1 of them."""
    off = np.zeros(n_lists + 1, np.int32)
    np.cumsum(np.bincount(lists, minlength=n_lists), out=off[1:])
    return off


def union_of(parts: list[Int32]) -> BitMap:
    """The bit vector of the entries in some arrays."""
    if not parts:
        return BitMap()
    return bitmap(parts[0] if len(parts) == 1 else np.concatenate(parts))
