"""Intervals split by keys into clusters that a value's intervals are all in (Tatbul 2001, 4.1.1).

In: closed rank intervals. Out: a tree; for a rank, the one cluster at its leaves that may hold it.

    intervals   a 1..2   b 4..6   c 5..9   d 8..9                node 0: key 5, children 1 and 2
                                                                  /                         \\
                                         node 1: key 4, children 3 and 4          node 2: key 8, children 5 and 6
    clusters, at the leaves                   3: a      4: b                           5: b c      6: c d

A rank below a node's key goes left, any other right. So do the intervals: what starts below the key is left, what does
not end below it is right, and what does both is in both. Keys are endpoints of the cluster that they split. Of l
intervals to the left and r to the right, out of n, the paper's score of a key is |l - r| for the balance, and l + r - n
for the repetition. Least is best. The search for it begins at the middle one of the n' sorted distinct endpoints, the
ceil(n'/2)th, and goes on in the half with more intervals until nothing is left. (The score is 2 max(l, r) - n, l grows
and r falls with the key: what the search passes by is never better.)

The stop rule: a cluster is left whole where it has one interval, or where every key would leave all of it on a side.
That is where all of its intervals have a rank in common.

Left open by the paper and decided here:
- An entry of several intervals is, for each, one of the paper's profiles.
- Of halves with equally many intervals, the left one; of equal scores, the first one met.
- The paper repeats intervals without bound: one over everything is in every leaf. Here they are in no more than
  `MAX_REPETITION` places on average: from what a cluster may still grow by, a split takes what it repeats, and
  what its half may grow by is its share of the rest. Where not enough is left, a cluster stays whole.

PERF: all nodes of a level are split together, so building takes no step per node in Python.

Invariant: an interval that contains a rank is in that rank's cluster, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32
from profilec.runtime.indexes.endpoints import distinct
from profilec.runtime.indexes.posting_lists import offsets

MAX_REPETITION = 4
_RANK_BITS = 32
_Int64: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Clusters:
    """The tree in flat arrays, nodes from the root down, a level after the other; the number of a leaf is negative.

    >>> low, high = np.array([1, 4, 5, 8], np.int32), np.array([2, 6, 9, 9], np.int32)
    >>> clusters = Clusters.of(low, high)
    >>> clusters.key.tolist()[:3], clusters.left.tolist()
    ([5, 4, 8], [1, 3, 5, -1, -2, -3, -4])
    >>> for rank in (3, 7):
    ...     number = clusters.number_at(rank)
    ...     print(number, clusters.members[clusters.off[number] : clusters.off[number + 1]])
    0 [0]
    2 [1 2]
    """

    key: memoryview[int]
    """By node: ranks below it go left."""
    left: memoryview[int]
    """By node: its left child, and the right one is the next; or, of a leaf, `~number` of its cluster."""
    off: memoryview[int]
    members: Int32
    """Cluster c: the intervals `members[off[c] .. off[c + 1]]`, by where they start."""

    @classmethod
    def of(cls, low: Int32, high: Int32, enough: int = 1) -> Clusters:
        """The clusters of the intervals `low[i]..high[i]`; one of `enough` intervals or fewer is not split."""
        level = _Level.root(low, high)
        keys, lefts, sizes, members = [], [], [], []
        n_nodes = n_leaves = 0
        while len(level.size):
            n_nodes += len(level.size)
            key, room = level.best_keys(low, high)
            is_split = (room >= 1) & (level.size > enough)
            left = np.empty(len(level.size), np.int64)
            left[is_split] = n_nodes + 2 * np.arange(is_split.sum())
            left[~is_split] = ~(n_leaves + np.arange((~is_split).sum()))
            n_leaves += int((~is_split).sum())
            keys.append(key)
            lefts.append(left)
            sizes.append(level.size[~is_split])
            members.append(level.by_low[~np.repeat(is_split, level.size)])
            level = level.split(low, high, key, room, is_split)
        off = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))))
        flat_key, flat_left = (np.concatenate(parts).astype(np.int32).data for parts in (keys, lefts))
        return cls(flat_key, flat_left, off.astype(np.int32).data, np.concatenate(members))

    def number_at(self, rank: int) -> int:
        """The number of the cluster that holds all intervals with this rank."""
        key, left = self.key, self.left
        node = 0
        while (child := left[node]) >= 0:
            node = child + (rank >= key[node])
        return ~child


@dataclass(frozen=True, slots=True)
class _Level:
    """Nodes of one depth: node i has `size[i]` intervals, a run in each of `by_low` and `by_high`, sorted by that."""

    size: _Int64
    room: NDArray[np.float64]
    """How many times as much as the node has may be stored below it."""
    by_low: Int32
    by_high: Int32

    @classmethod
    def root(cls, low: Int32, high: Int32) -> _Level:
        by_low, by_high = (np.argsort(ends, kind="stable").astype(np.int32) for ends in (low, high))
        return cls(np.array([len(low)]), np.array([float(MAX_REPETITION)]), by_low, by_high)

    def best_keys(self, low: Int32, high: Int32) -> tuple[_Int64, NDArray[np.float64]]:
        """By node: its best key, and the room its children would have; less than 1 where no key splits it."""
        n_nodes = len(self.size)
        node = np.arange(n_nodes)
        first_of = np.cumsum(self.size) - self.size
        of_interval = np.repeat(node << _RANK_BITS, self.size)
        # A node's number in the high bits, a rank in the low ones: one sorted array that is searched for all nodes.
        lows, highs = of_interval | low[self.by_low], of_interval | high[self.by_high]
        points = distinct(lows, highs)
        begin = np.searchsorted(points, node << _RANK_BITS)
        end = np.searchsorted(points, (node + 1) << _RANK_BITS)
        key = np.zeros(n_nodes, np.int64)
        best = self.size.copy()  # the score of a key that leaves all intervals on a side
        stored = self.size * 2
        splits = np.zeros(n_nodes, np.bool_)
        open_ = node[self.size > 1]
        while len(open_):
            middle = (begin[open_] + end[open_] - 1) // 2
            point, first, size = points[middle], first_of[open_], self.size[open_]
            n_left = np.searchsorted(lows, point) - first
            n_right = size - (np.searchsorted(highs, point) - first)
            score = np.abs(n_left - n_right) + n_left + n_right - size
            is_better = score < best[open_]
            better = open_[is_better]
            best[better], splits[better] = score[is_better], True
            key[better] = point[is_better] & ((1 << _RANK_BITS) - 1)
            stored[better] = (n_left + n_right)[is_better]
            goes_left = n_left >= n_right
            end[open_[goes_left]] = middle[goes_left]
            begin[open_[~goes_left]] = middle[~goes_left] + 1
            open_ = open_[begin[open_] < end[open_]]
        return key, np.where(splits, self.room * self.size / np.maximum(stored, 1), 0.0)

    def split(
        self, low: Int32, high: Int32, key: _Int64, room: NDArray[np.float64], is_split: NDArray[np.bool_]
    ) -> _Level:
        """The children of the nodes that are split."""
        child = 2 * (np.cumsum(is_split) - 1)
        of_interval = np.repeat(np.arange(len(self.size)), self.size)
        kept = is_split[of_interval]
        of_interval = of_interval[kept]
        sorted_: list[Int32] = []
        node = np.zeros(0, np.int64)
        for by in (self.by_low[kept], self.by_high[kept]):
            is_left, is_right = low[by] < key[of_interval], high[by] >= key[of_interval]
            node = np.concatenate((child[of_interval[is_left]], child[of_interval[is_right]] + 1))
            sorted_.append(np.concatenate((by[is_left], by[is_right]))[np.argsort(node, kind="stable")])
        n_children = 2 * int(is_split.sum())
        size = np.diff(offsets(node, n_children)).astype(np.int64)
        return _Level(size, np.repeat(room[is_split], 2), *sorted_)
