"""The lists of entries of virtual constructs, by coordinate (VCI 2.2: H).

In: by construct of an interval, its coordinate and the interval's entry. Out: the entries of a coordinate; one can be
removed.

    coordinate    0   1   2   3   4  ...
    off           0   0   2   2   3        where the list starts
    count         0   1   0   1   0        how many it has; there was a second one in the list of 1
    entries       7 .   9

Invariant: list c is `entries[off[c] .. off[c] + count[c]]`; what is behind it, up to `off[c + 1]`, was removed.
"""

from __future__ import annotations

import numpy as np

from profilec.runtime.image import Int32
from profilec.runtime.indexes.constructs import Int64
from profilec.runtime.indexes.posting_lists import offsets


class ConstructLists:
    """Coordinates to entries.

    >>> lists = ConstructLists(np.array([3, 1, 3]), np.array([4, 9, 7], np.int32), n_lists=4)
    >>> lists.remove(3, 4), lists.of(3).tolist(), lists.count.tolist()
    (False, [7], [0, 1, 0, 1])
    >>> lists.remove(3, 7)
    True
    """

    __slots__ = ("_entries", "_off", "count")

    def __init__(self, coordinates: Int64, entries: Int32, n_lists: int) -> None:
        self._entries = entries[np.argsort(coordinates, kind="stable")]
        self._off = offsets(coordinates, n_lists)
        self.count = np.diff(self._off)
        """By coordinate: how many entries use it; 0 where the paper's header points to nothing."""

    def of(self, coordinate: int) -> Int32:
        """The entries of a construct; not to be changed."""
        start = int(self._off[coordinate])
        return self._entries[start : start + int(self.count[coordinate])]

    def of_all(self, coordinates: Int64) -> Int32:
        """The entries of some constructs, list after list."""
        count = self.count[coordinates].astype(np.int64)
        before = np.cumsum(count) - count
        entries: Int32 = self._entries[np.repeat(self._off[coordinates] - before, count) + np.arange(count.sum())]
        return entries

    def has(self, coordinate: int, entry: int) -> bool:
        """Whether the entry uses the construct."""
        return bool((self.of(coordinate) == entry).any())

    def remove(self, coordinate: int, entry: int) -> bool:
        """Takes out an entry that is there; whether it was the last one."""
        entries = self.of(coordinate)
        entries[int(np.argmax(entries == entry))] = entries[-1]
        self.count[coordinate] -= 1
        return len(entries) == 1
