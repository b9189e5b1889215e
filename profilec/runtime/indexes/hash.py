"""The hash index of one slot: points by hash, and a list of ranges.

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds, as a bit vector.

    intervals      entry 0: 3..3 and 9..9     entry 1: 4..5     entry 2: 2..90
    bucket off     0   1   1   3   4                  rank 9 hashes to bucket 2, positions 1 and 2
    ranks          5   3 9   4                        where it is the second
    posting lists  1   0 0   1
    ranges         2..90 of entry 2                          checked one by one

Supports every test, but is made for `=`, `IN` and what else accepts few ranks: an interval of at most `MAX_EXPANDED`
ranks is expanded to its points, so there are at most that many times the intervals. A longer one stays in the list of
ranges, all of which are checked for each document: with many of these choose another index.

Source: none of its own. Seed 000 hashes the names of attributes only (4.1), and its trees take equality like any
interval; it names no hash of values. Its Table 1 has no row for it: expected O(1 + r) comparisons for r ranges. Build
O(n log n), for sorting; O(n) storage. The hash is Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4),
which spreads runs of neighbouring ranks, and rank space is made of these.

Invariant: each rank of a point is in the one bucket that it hashes to, once, with the entries that accept it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.interval import bitmap
from profilec.runtime.indexes.posting_lists import PostingLists, offsets

MAX_EXPANDED = 8
_FIBONACCI = 2_654_435_769
_WORD = 32


class HashIndex:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 90]))
    >>> index = HashIndex(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 91)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = ("_bits", "_bucket_off", "_high", "_lists", "_low", "_owner", "_ranks", "constrained")

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        self.constrained = bitmap(entries)
        """The entries that have a test on the slot at all."""
        owner = np.repeat(entries, np.diff(off))
        n_ranks = high.astype(np.int64) - low + 1
        is_range = n_ranks > MAX_EXPANDED
        self._owner, self._low, self._high = owner[is_range], low[is_range], high[is_range]
        owner, low, n_ranks = owner[~is_range], low[~is_range], n_ranks[~is_range]
        before = np.cumsum(n_ranks) - n_ranks
        ranks = np.arange(n_ranks.sum()) + np.repeat(low - before, n_ranks)
        points, point = np.unique(ranks, return_inverse=True)
        self._bits = (2 * len(points)).bit_length()
        bucket = (points.astype(np.uint64) * _FIBONACCI & 0xFFFF_FFFF) >> (_WORD - self._bits)
        order = np.argsort(bucket, kind="stable")
        self._ranks = points[order].astype(np.int32).data
        self._bucket_off = offsets(bucket.astype(np.int64), 1 << self._bits).data
        position: NDArray[np.int64] = np.empty(len(points), np.int64)
        position[order] = np.arange(len(points))
        self._lists = PostingLists(position[point], np.repeat(owner, n_ranks), len(points))

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank; not to be changed."""
        bucket = (rank * _FIBONACCI & 0xFFFF_FFFF) >> (_WORD - self._bits)
        found = BitMap()
        for position in range(self._bucket_off[bucket], self._bucket_off[bucket + 1]):
            if self._ranks[position] == rank:
                found = self._lists.union((position,))
                break
        if len(self._low):
            held = self._owner[(self._low <= rank) & (rank <= self._high)]
            if len(held):
                return found | bitmap(held)
        return found
