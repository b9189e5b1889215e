"""The cluster index of one slot (Tatbul 2001, 4.1.1).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds, as a bit vector.

    intervals      entry 0: 3..3 and 8..9     entry 1: 4..9
    tree of keys (`clusters`)     4
                                /   \\
    clusters       entry 0: 3..3     entry 1: 4..9
                                     entry 0: 8..9
    rank 5         goes right, where 4..9 contains it and 8..9 does not

A rank's cluster has all intervals that may contain it: the paper's bit vector of what may match. The paper hands that
on and checks profiles at the end; here the cluster's intervals are checked, so that the answer is what does match.
How keys are chosen, when splitting stops, and what bounds the repetition, `clusters` says.

Build O(n log n), O(n) storage. O(n) comparisons at worst, where intervals overlap so much that they are one cluster;
Omega(log n), where the clusters are small (Table 1).

Invariant: an entry is in the answer iff one of its intervals contains the rank.
"""

from __future__ import annotations

import numpy as np
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.clusters import Clusters
from profilec.runtime.indexes.interval import bitmap

_NONE = BitMap()


class ClusterIndex:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = ClusterIndex(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = ("_clusters", "_high", "_low", "_owner", "constrained")

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        self.constrained = bitmap(entries)
        """The entries that have a test on the slot at all."""
        self._clusters = Clusters.of(low, high)
        # PERF: by place in a cluster, not by interval: what is checked together lies together.
        members = self._clusters.members
        self._owner, self._low, self._high = np.repeat(entries, np.diff(off))[members], low[members], high[members]

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank; not to be changed."""
        number = self._clusters.number_at(rank)
        places = slice(self._clusters.off[number], self._clusters.off[number + 1])
        held = self._owner[places][(self._low[places] <= rank) & (rank <= self._high[places])]
        return bitmap(held) if len(held) else _NONE
