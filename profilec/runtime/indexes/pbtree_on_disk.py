"""The PB+-tree of one slot, on secondary storage (`stored_pbtree`): `pbtree:stored`.

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds; its nodes are in a file of LMDB (`store/node_file`), of which a search reads O(log n + answer).

Its keys are ranks, as the numbers that they are: an image is never changed, so neither are its ranks, which are all
that an index is told of values, and short. `rank_predicates` says which operator an interval is.

Invariant: as of `indexes/pbtree`; nothing is in memory but the pages of the file that the system keeps there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.interval import bitmap
from profilec.runtime.indexes.rank_predicates import RankPredicates
from profilec.runtime.indexes.stored_pbtree import StoredPBTree
from profilec.runtime.indexes.stored_pbtree.ranges import range_key
from profilec.runtime.store.node_file import Filling, NodeFile, temporary
from profilec.values.ordered_bytes import ordered_bytes


class StoredPBTreeIndex:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = StoredPBTreeIndex(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = ("_end", "_file", "_name", "_start")

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        """In a file of its own, which is gone when the index is."""
        file = temporary(lambda filling: file_index(filling, "", entries, off, low, high), 1)
        self._open(file, "")

    @classmethod
    def of(cls, file: NodeFile, name: str) -> StoredPBTreeIndex:
        """The one that `file_index` put into a file."""
        index = cls.__new__(cls)
        index._open(file, name)
        return index

    def _open(self, file: NodeFile, name: str) -> None:
        self._file, self._name = file, name
        self._start, self._end = file.array(f"{name} start and end").tolist()

    @property
    def constrained(self) -> BitMap:
        """The entries that have a test on the slot at all."""
        return bitmap(self._file.array(f"{self._name} entries"))

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank."""
        with self._file.nodes(self._name) as nodes:
            return StoredPBTree(nodes).search(rank, from_lists=self._start <= rank <= self._end)


def file_index(filling: Filling, name: str, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
    """Puts an index into a file, under a name."""
    predicates = RankPredicates.of(off, low, high)
    owner = np.repeat(entries, np.diff(off))
    by_operator = (
        ("=", predicates.is_equal, low),
        ("<=", predicates.is_most, high),
        (">=", predicates.is_least, low),
        ("!=", predicates.is_unequal, high + 1),
    )
    keyed = sorted(
        keyed
        for operator, is_it, operand in by_operator
        for keyed in zip(_keys(operand[is_it]), repeat(operator), owner[is_it].tolist(), strict=False)
    )
    is_range = predicates.is_range
    bounds = zip(_keys(low[is_range]), _keys(high[is_range]), owner[is_range].tolist(), strict=True)
    ranges = sorted((range_key(least, most, False, False), entry) for least, most, entry in bounds)
    filling.put(f"{name} entries", entries)
    filling.put(f"{name} start and end", np.array([predicates.start, predicates.end], np.int32))
    with filling.nodes(name) as nodes:
        StoredPBTree.load_keyed(nodes, keyed, ranges)


def _keys(ranks: NDArray[np.int32]) -> Iterator[bytes]:
    """PERF: equal ranks that follow one another have one object."""
    before, key = -1, b""
    for rank in ranks.tolist():
        if rank != before:
            before, key = rank, ordered_bytes(rank)
        yield key
