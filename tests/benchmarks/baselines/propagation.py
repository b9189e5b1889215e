"""`propagation`: predicates first, then clusters of entries that access predicates lead to (Fabret, Jacobsen,
Llirbat, Pereira, Ross, Shasha, SIGMOD 2001; BE-Tree 2 and 7.2 describe it).

In: the ranks of a document. Out: the entries all of whose rank tests hold.

    predicate        0: a = 1     1: b = 2     2: b < 5     3: c > 3            each distinct one once
    truth            1            0            1            1                   phase 1
    key a = 1        cluster of two predicates, entries 4 7 9                   phase 2
                       column 0   2 1 2         predicates of entries 4, 7, 9
                       column 1   3 3 1

Phase 1 decides each distinct predicate once, by an index of its attribute: what holds is a byte. Phase 2 hashes the
document's values of the attributes of each table (`propagation_keys`) and checks the clusters found: entries of one
access predicate and one number of other predicates, which stand column by column. A column is read on as long as the
predicates hold.

Inequalities are no access predicates (BE-Tree 7.2): entries without an equality are checked for every document. An IN
is split: an entry that has one, of a few values, and no equality, is found by each of the values.

NULL: a predicate that accepts absence is TRUE from the start, and decided anew where a document has the attribute.

Left open by the seeds and decided here: equalities, and the single ranks of an IN, are found by hash. Other intervals
are in lists, in the order of where they start, then of where they end, and are read from the first that may reach the
rank up to the last that starts by then. Those that end where most do (`>=`, `>`) have a list of their own, of which all
that is read holds, as in the paper's trees. Of an entry the predicate that holds least often is in column 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from baselines.flat_hash import FlatHash, find, flat_hash
from baselines.propagation_clusters import access_paths
from baselines.rank_tests import RankTests, rank_tests, sparse
from conjunctions import offsets_of
from numba import njit
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32


class Predicates(NamedTuple):
    """What decides predicates. Those of slot s that accept absence: on_absence[absence_off[s] .. absence_off[s + 1]].

    `points`: rank, counted through all slots from `base` on, to a part of `point_tests`, which `point_off` cuts.
    Intervals `low..high` of list l are in off[l] .. off[l + 1], ascending; slot s has the lists 2s and 2s + 1;
    `highest` is the greatest `high` of the list up to there.
    """

    absence_off: NDArray[np.int64]
    on_absence: Int32
    base: NDArray[np.int64]
    points: FlatHash
    point_off: NDArray[np.int64]
    point_tests: Int32
    off: NDArray[np.int64]
    low: Int32
    high: Int32
    highest: Int32
    tests: Int32


class PropagationMatcher:
    """See the module."""

    __slots__ = ("_clusters", "_dense", "_keys", "_n_ranks", "_out", "_predicates", "_tables", "_truth")

    def __init__(self, image: Image) -> None:
        tests = rank_tests(image)
        self._n_ranks = tests.n_ranks
        self._predicates = _predicates(tests)
        self._tables, self._keys, self._clusters = access_paths(tests)
        self._truth = tests.on_absence
        self._dense = np.zeros(len(image.slots), np.int32)
        self._out = np.empty(tests.n_entries, np.int32)

    @property
    def n_tables(self) -> int:
        """How many sets of attributes access predicates have."""
        return len(self._tables.first_key)

    @property
    def n_bytes(self) -> int:
        arrays = (*self._predicates[:3], *self._predicates[4:], *self._tables, *self._clusters)
        return self._predicates.points.n_bytes + self._keys.n_bytes + sum(array.nbytes for array in arrays)

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending."""
        return self.candidates_of(*sparse(ranks))

    def candidates_of(self, slots: Int32, ranks: Int32) -> Int32:
        """The same for a sparse document."""
        paths = self._tables, self._keys, self._clusters, self._n_ranks
        scratch = self._truth, self._dense, self._out
        return np.sort(self._out[: match(slots, ranks, self._predicates, *paths, *scratch)])


def _predicates(tests: RankTests) -> Predicates:
    used = np.zeros(tests.n_tests, np.bool_)
    used[tests.tests] = True
    n_slots, base = len(tests.n_ranks), tests.rank_base
    on_absence = np.flatnonzero(tests.on_absence & used)
    on_absence = on_absence[np.argsort(tests.slot[on_absence], kind="stable")]
    # What is left of each interval without rank 0.
    test = np.repeat(np.arange(tests.n_tests), np.diff(tests.off))
    kept = used[test] & (tests.high > 0)
    test, low, high = test[kept], np.maximum(tests.low[kept], 1), tests.high[kept]
    is_point = low == high
    keys = base[tests.slot[test[is_point]]] + low[is_point]
    present, starts = np.unique(np.sort(keys), return_index=True)
    test_of_point = test[is_point][np.argsort(keys, kind="stable")]
    test, low, high = test[~is_point], low[~is_point], high[~is_point]
    lists = 2 * tests.slot[test].astype(np.int64) + _ends_as_most(tests.slot[test], high)
    order = np.lexsort((high, low, lists))
    test, low, high, lists = test[order], low[order], high[order], lists[order]
    highest = np.maximum.accumulate(lists << 32 | high) & 0x7FFF_FFFF
    return Predicates(
        offsets_of(np.bincount(tests.slot[on_absence], minlength=n_slots)),
        on_absence.astype(np.int32),
        base,
        flat_hash(present),
        np.append(starts, len(keys)).astype(np.int64),
        test_of_point.astype(np.int32),
        offsets_of(np.bincount(lists, minlength=2 * n_slots)),
        low.astype(np.int32),
        high.astype(np.int32),
        highest.astype(np.int32),
        test.astype(np.int32),
    )


def _ends_as_most(slot: Int32, high: Int32) -> NDArray[np.bool_]:
    """The intervals that end where most of the slot's do; of equally many ends at the last."""
    ends, which, counts = np.unique(slot.astype(np.int64) << 32 | high, return_inverse=True, return_counts=True)
    by_count = np.lexsort((ends, counts, ends >> 32))
    is_last = np.append((ends[by_count] >> 32)[1:] != (ends[by_count] >> 32)[:-1], True)[: len(ends)]
    is_commonest = np.zeros(len(ends), np.bool_)
    is_commonest[by_count[is_last]] = True
    commonest: NDArray[np.bool_] = is_commonest[which]
    return commonest


@njit(nogil=True, cache=True)
def match(
    slots: Any, ranks: Any, predicates: Any, tables: Any, keys: Any, clusters: Any, n_ranks: Any,
    truth: Any, dense: Any, out: Any,
) -> Any:  # fmt: skip
    """Writes the matching entries; how many they are. `truth` is that of an empty document and `dense` zeros, before
    and after."""
    for place in range(len(slots)):
        dense[slots[place]] = ranks[place]
        for row in range(predicates.absence_off[slots[place]], predicates.absence_off[slots[place] + 1]):
            truth[predicates.on_absence[row]] = False
        _set(slots[place], ranks[place], predicates, truth, True)
    n = _check(find(keys, 0), clusters, truth, out, 0)
    for place in range(len(slots)):
        for row in range(tables.of_slot[slots[place]], tables.of_slot[slots[place] + 1]):
            key = _key(tables.tables[row], tables, n_ranks, dense)
            if key >= 0:
                n = _check(find(keys, key), clusters, truth, out, n)
    for place in range(len(slots)):
        dense[slots[place]] = 0
        _set(slots[place], ranks[place], predicates, truth, False)
        for row in range(predicates.absence_off[slots[place]], predicates.absence_off[slots[place] + 1]):
            truth[predicates.on_absence[row]] = True
    return n


@njit(nogil=True, cache=True)
def _set(slot: Any, rank: Any, predicates: Any, truth: Any, value: Any) -> None:
    """Sets what is stored for the predicates of a slot that hold at a rank."""
    place = find(predicates.points, predicates.base[slot] + rank)
    if place >= 0:
        for row in range(predicates.point_off[place], predicates.point_off[place + 1]):
            truth[predicates.point_tests[row]] = value
    for number in range(2 * slot, 2 * slot + 2):
        low, last = predicates.off[number], predicates.off[number + 1]
        high = last
        while low < high:
            middle = (low + high) // 2
            if predicates.highest[middle] < rank:
                low = middle + 1
            else:
                high = middle
        while low < last and predicates.low[low] <= rank:
            if predicates.high[low] >= rank:
                truth[predicates.tests[low]] = value
            low += 1


@njit(nogil=True, cache=True)
def _key(table: Any, tables: Any, n_ranks: Any, dense: Any) -> Any:
    """The key of a document in a table, -1 where it lacks an attribute."""
    key = np.int64(0)
    for place in range(tables.slot_off[table], tables.slot_off[table + 1]):
        slot = tables.slots[place]
        if dense[slot] == 0:
            return np.int64(-1)
        key = key * n_ranks[slot] + dense[slot]
    return tables.first_key[table] + key


@njit(nogil=True, cache=True)
def _check(key: Any, clusters: Any, truth: Any, out: Any, n: Any) -> Any:
    """Writes those entries of a key's clusters whose predicates all hold; how many have been written then."""
    if key < 0:
        return n
    for cluster in range(clusters.off[key], clusters.off[key + 1]):
        start, n_entries = clusters.start[cluster], clusters.start[cluster + 1] - clusters.start[cluster]
        first, n_columns = clusters.columns[cluster], clusters.n_columns[cluster]
        for row in range(n_entries):
            place = first + row
            column = 0
            while column < n_columns and truth[clusters.references[place]]:
                place += n_entries
                column += 1
            if column == n_columns:
                out[n] = clusters.entries[start + row]
                n += 1
    return n
