"""`k_index`: posting lists by number of predicates, attribute and value, intersected K lists at a time (Whang et al.,
Indexing Boolean Expressions, VLDB 2009, the conjunction algorithm; OpIndex 3 and BE-Tree 2 and 7.2 describe it).

In: the ranks of a document. Out: the entries all of whose rank tests hold.

    entry 0: a = 2 AND b IN (1, 2)      (2, a, 2): 0     (2, b, 1): 0      (2, b, 2): 0
    entry 1: a = 2                      (1, a, 2): 1
    entry 2: a NOT IN (2)               (0, a, 2): not 2                   Z: 2

An entry has the size K, its predicates of the form IN, and is only in the lists of that size. A document of m
attributes is asked for the sizes m, m - 1, ..., 0. Of each, the lists of its attributes and values are kept sorted by
their current entries: where the first and the K-th list are at one entry, it matches, or, if the first has it as a NOT
IN, it does not; otherwise the first K lists skip to the entry of the K-th. Entries of size 0 are in the list Z.

A range is the IN of all ranks that it accepts (OpIndex 3: "rewritten into a disjunction of equality predicates"), so
that the index grows with the lengths of ranges; where there would be more than MAX_POSTINGS it is refused.

NULL: a NOT IN holds where the attribute is absent (BE-Tree 7.2: weak semantics). So a test that accepts rank 0 is the
NOT IN of the ranks it does not accept, IS NULL of all others. A test that does not, `!=` of strong semantics too, is
the IN of the ranks it accepts: the paper's other way, default values for what is absent, would give each document as
many values as there are attributes.

Left open by the papers and decided here: skipping doubles its steps, then bisects. Lists are one array, found by hash.
Ranks between constants have lists even where no document holds them; these are never read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from baselines.flat_hash import find, flat_hash
from baselines.rank_tests import RankTests, rank_tests, sparse
from conjunctions import offsets_of
from numba import njit
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32

MAX_POSTINGS = 1 << 30
MAX_LISTS = 1 << 27
"""Lists that there could be: sizes times ranks of all slots."""
_END = np.int64(2**62)


class KIndex:
    """A posting is twice the entry, plus 1 where it is one of an IN: a NOT IN comes first.

    Raises:
        ValueError: there would be too many postings.
    """

    __slots__ = ("_base", "_list_off", "_max_size", "_n_ranks", "_out", "_postings", "_table")

    def __init__(self, image: Image | RankTests) -> None:
        tests = image if isinstance(image, RankTests) else rank_tests(image)
        is_negative = tests.on_absence
        size = np.bincount(tests.owner[~is_negative[tests.tests]], minlength=tests.n_entries)
        self._base = tests.rank_base
        self._n_ranks = int(self._base[-1])
        self._max_size = int(size.max(initial=0))
        off, low, high = _enumerated(tests, is_negative)
        lengths = offsets_of(high - low + 1)
        n_postings = int((lengths[off[1:]] - lengths[off[:-1]])[tests.tests].sum())
        n_lists = (self._max_size + 1) * self._n_ranks
        if n_postings > MAX_POSTINGS or n_lists > MAX_LISTS:
            raise ValueError(f"a k-index of {n_postings} postings in up to {n_lists} lists")
        first_of_entry = size * self._n_ranks
        enumerated = (tests.entry_off, tests.tests, tests.slot, is_negative, off, low, high, first_of_entry, self._base)
        ends = np.zeros(n_lists + 1, np.int64)
        count_postings(*enumerated, ends)
        present = np.flatnonzero(np.diff(ends))
        self._list_off = np.append(ends[present], n_postings)
        self._table = flat_hash(present)
        zero = np.flatnonzero(size == 0)
        self._postings = np.empty(n_postings + len(zero), np.int32)
        self._postings[n_postings:] = 2 * zero + 1
        place_postings(*enumerated, ends, self._postings)
        self._out = np.empty(tests.n_entries, np.int32)

    @property
    def n_bytes(self) -> int:
        arrays = self._base, self._list_off, self._postings
        return self._table.n_bytes + sum(array.nbytes for array in arrays)

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending."""
        return self.candidates_of(*sparse(ranks))

    def candidates_of(self, slots: Int32, ranks: Int32) -> Int32:
        """The same for a sparse document."""
        heads, cursors, ends = np.empty((3, len(slots) + 1), np.int64)
        lists = self._table, self._list_off, self._postings
        sizes = self._base, self._n_ranks, self._max_size
        return np.sort(self._out[: match(slots, ranks, *sizes, *lists, heads, cursors, ends, self._out)])


def _enumerated(
    tests: RankTests, is_negative: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each test the intervals of ranks whose lists have its entries: the accepted, or, of a NOT IN, the others."""
    owner = np.repeat(np.arange(tests.n_tests), np.diff(tests.off))
    positive = ~is_negative[owner]
    inner = ~positive
    starts = tests.high[inner].astype(np.int64) + 1
    # What is not accepted lies after each interval, up to the next one or to the last rank.
    following = np.append(tests.low[1:].astype(np.int64), 0)
    is_last = np.append(owner[1:] != owner[:-1], True)[: len(owner)]
    following[: len(owner)][is_last] = tests.n_ranks[tests.slot[owner[is_last]]]
    stops = following[: len(owner)][inner] - 1
    of, low, high = (
        np.concatenate(pair)
        for pair in (
            (owner[positive], owner[inner]),
            (tests.low[positive].astype(np.int64), starts),
            (tests.high[positive].astype(np.int64), stops),
        )
    )
    filled = low <= high
    of, low, high = of[filled], low[filled], high[filled]
    order = np.argsort(of, kind="stable")
    return offsets_of(np.bincount(of, minlength=tests.n_tests)), low[order], high[order]


@njit(nogil=True, cache=True)
def count_postings(
    entry_off: Any, tests: Any, slot: Any, is_negative: Any, off: Any, low: Any, high: Any, first_of_entry: Any,
    base: Any, ends: Any,
) -> None:  # fmt: skip
    """Makes of zeros where each list would begin."""
    for entry in range(len(entry_off) - 1):
        for row in range(entry_off[entry], entry_off[entry + 1]):
            test = tests[row]
            first = first_of_entry[entry] + base[slot[test]]
            for part in range(off[test], off[test + 1]):
                for number in range(first + low[part], first + high[part] + 1):
                    ends[number + 1] += 1
    for number in range(1, len(ends)):
        ends[number] += ends[number - 1]


@njit(nogil=True, cache=True)
def place_postings(
    entry_off: Any, tests: Any, slot: Any, is_negative: Any, off: Any, low: Any, high: Any, first_of_entry: Any,
    base: Any, ends: Any, postings: Any,
) -> None:  # fmt: skip
    """Fills lists from where they begin in `ends` on; entries come in order, so lists are ascending."""
    for entry in range(len(entry_off) - 1):
        for row in range(entry_off[entry], entry_off[entry + 1]):
            test = tests[row]
            first = first_of_entry[entry] + base[slot[test]]
            posting = 2 * entry + (not is_negative[test])
            for part in range(off[test], off[test + 1]):
                for number in range(first + low[part], first + high[part] + 1):
                    postings[ends[number]] = posting
                    ends[number] += 1


@njit(nogil=True, cache=True)
def match(
    slots: Any, ranks: Any, base: Any, n_ranks: Any, max_size: Any, table: Any, list_off: Any, postings: Any,
    heads: Any, cursors: Any, ends: Any, out: Any,
) -> Any:  # fmt: skip
    """Writes the matching entries, size after size; how many they are. The list Z is what follows all others."""
    n = 0
    for size in range(min(max_size, len(slots)), -1, -1):
        n_lists = 0
        for place in range(len(slots)):
            number = find(table, size * n_ranks + base[slots[place]] + ranks[place])
            if number >= 0:
                cursors[n_lists], ends[n_lists] = list_off[number], list_off[number + 1]
                n_lists += 1
        if size == 0 and list_off[-1] < len(postings):
            cursors[n_lists], ends[n_lists] = list_off[-1], len(postings)
            n_lists += 1
        if n_lists >= max(size, 1):
            for number in range(n_lists):
                heads[number] = postings[cursors[number]]
            n = _conjunctions(max(size, 1), n_lists, postings, heads, cursors, ends, out, n)
    return n


@njit(nogil=True, cache=True)
def _conjunctions(size: Any, n_lists: Any, postings: Any, heads: Any, cursors: Any, ends: Any, out: Any, n: Any) -> Any:
    """Writes the entries that are in `size` of the lists; how many have been written then.

    PERF: after each step the lists are almost in order, which suits the insertion sort.
    """
    _sort(n_lists, heads, cursors, ends)
    while heads[size - 1] != _END:
        first, last = heads[0] >> 1, heads[size - 1] >> 1
        n_skipping = size
        following = last
        if first == last:
            following = last + 1
            if heads[0] & 1:
                out[n] = last
                n += 1
            else:  # rejected: all lists that are there leave it
                while n_skipping < n_lists and heads[n_skipping] >> 1 == first:
                    n_skipping += 1
        for number in range(n_skipping):
            cursors[number] = _skip(postings, cursors[number], ends[number], 2 * following)
            is_left = cursors[number] < ends[number]
            heads[number] = np.int64(postings[cursors[number]]) if is_left else _END
        _sort(n_lists, heads, cursors, ends)
    return n


@njit(nogil=True, cache=True)
def _skip(postings: Any, cursor: Any, end: Any, least: Any) -> Any:
    """The first place from the cursor on whose posting is no less."""
    step = 1
    low = high = cursor
    while high < end and postings[high] < least:
        low = high + 1
        high += step
        step *= 2
    high = min(high, end)
    while low < high:
        middle = (low + high) // 2
        if postings[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def _sort(n_lists: Any, heads: Any, cursors: Any, ends: Any) -> None:
    for number in range(1, n_lists):
        head, cursor, end = heads[number], cursors[number], ends[number]
        place = number
        while place > 0 and heads[place - 1] > head:
            heads[place], cursors[place], ends[place] = heads[place - 1], cursors[place - 1], ends[place - 1]
            place -= 1
        heads[place], cursors[place], ends[place] = head, cursor, end
