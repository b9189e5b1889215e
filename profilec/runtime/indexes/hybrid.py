"""The hybrid index of one slot: interval indexes on the clusters of a cluster index (Tatbul 2001, 4.1.3).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds, as a bit vector.

    tree of keys (`clusters`)              key
                                         /     \\
    clusters         one of few intervals       one of MIN_CLUSTER_SIZE or more
                     they are checked           cuts    3      8      12     20
                                                cells   [3,8)  [8,12) [12,20)
                                                entries  0 4    0 4 7  7

A cluster index is slow where many intervals overlap: they cannot be split, and are checked one by one. Here such a
cluster has an interval index. The paper's footnote 3 has a *minimum cluster size* for this: the interval index is for
clusters that are equal to it, "or larger when no more splits are possible". Read here as: a cluster of no more than
that is not split further; one of that many or more has an interval index; in one that a split left smaller, intervals
are checked, as in a cluster index, for which the paper says that an interval index does not pay.

How keys are chosen, when splitting stops, and what bounds the repetition, `clusters` says. Its bound leaves larger
clusters too, which have interval indexes like any.

Build O(n log n). Theta(log n) comparisons, whatever the overlap (Table 1).

Invariant: an entry is in the answer iff one of its intervals contains the rank.
"""

from __future__ import annotations

import numpy as np
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.clusters import Clusters
from profilec.runtime.indexes.interval import IntervalIndex, bitmap

MIN_CLUSTER_SIZE = 64
"""PERF: up to about this many intervals are checked in the time that it takes to check one."""
_NONE = BitMap()


class HybridIndex:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = HybridIndex(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = ("_clusters", "_high", "_intervals", "_low", "_owner", "constrained")

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        self.constrained = bitmap(entries)
        """The entries that have a test on the slot at all."""
        self._clusters = Clusters.of(low, high, MIN_CLUSTER_SIZE)
        members, cluster_off = self._clusters.members, np.asarray(self._clusters.off)
        self._owner, self._low, self._high = np.repeat(entries, np.diff(off))[members], low[members], high[members]
        self._intervals: dict[int, IntervalIndex] = {}
        for number in np.flatnonzero(np.diff(cluster_off) >= MIN_CLUSTER_SIZE).tolist():
            part = slice(cluster_off[number], cluster_off[number + 1])
            each = np.arange(part.stop - part.start + 1, dtype=np.int32)
            self._intervals[number] = IntervalIndex(self._owner[part], each, self._low[part], self._high[part])

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank; not to be changed."""
        number = self._clusters.number_at(rank)
        intervals = self._intervals.get(number)
        if intervals is not None:
            return intervals.entries_at(rank)
        places = slice(self._clusters.off[number], self._clusters.off[number + 1])
        held = self._owner[places][(self._low[places] <= rank) & (rank <= self._high[places])]
        return bitmap(held) if len(held) else _NONE
