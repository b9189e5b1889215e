"""Checking a leaf: which of its entries have all their open predicates satisfied.

In: a leaf and a document's dense ranks. Out: one word, a bit per entry. `tree.py` draws the forms.

PERF: a leaf is checked in steps, between which others have theirs, so that memory is asked for ahead: `begin` with what
stands at the front of a leaf; then of a matrix `rows_of`, and the rows are ANDed, and of a list `check_bodies`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import ONE, inlined, prefetch, trailing_zeros
from profilec.runtime.matchers.betree.tree import ATTRIBUTE, FORM_LIST, GROUP, LEAF_ENTRIES, PARTS, RECORD


@inlined
def is_present(present: Any, slot: int) -> bool:
    number = np.uint64(np.uint32(slot))
    return (present[number >> np.uint64(6)] >> (number & np.uint64(63))) & ONE != 0


@inlined
def begin(data: Any, leaf: int, ranks: Any, present: Any) -> Any:
    """The entries that may still hold: of a list, those whose heads do; of a matrix, those that miss no attribute."""
    if data[leaf + 1] == FORM_LIST:
        return check_heads(data, leaf, ranks, present)
    found = all_entries(data, leaf)
    for attribute in range(leaf + PARTS, leaf + PARTS + ATTRIBUTE * data[leaf + 2], ATTRIBUTE):
        if not is_present(present, data[attribute]):
            found &= row_if_absent(data, attribute)
        else:
            n_cuts, cuts = data[attribute + 1], data[attribute + 2]
            if n_cuts < 0:
                prefetch(data, cuts + (ranks[data[attribute]] >> 2))
            else:
                prefetch(data, cuts)
                prefetch(data, cuts + n_cuts - 1)
    return found


@inlined
def rows_of(data: Any, words: Any, leaf: int, ranks: Any, present: Any, rows: Any, n: int) -> int:
    """Appends the positions of the rows that a matrix is left with to `rows`; returns its new length."""
    for attribute in range(leaf + PARTS, leaf + PARTS + ATTRIBUTE * data[leaf + 2], ATTRIBUTE):
        if is_present(present, data[attribute]):
            row = row_of(data, attribute, ranks[data[attribute]])
            prefetch(words, row)
            rows[n] = row
            n += 1
    return n


@inlined
def all_entries(data: Any, leaf: int) -> Any:
    return ~np.uint64(0) >> np.uint64(LEAF_ENTRIES - data[leaf])


@inlined
def row_if_absent(data: Any, attribute: int) -> Any:
    return np.uint64(np.uint32(data[attribute + 4])) | np.uint64(np.uint32(data[attribute + 5])) << np.uint64(32)


@inlined
def row_of(data: Any, attribute: int, rank: int) -> int:
    """Where the row of a matrix's attribute for a rank > 0 is: the first cut is 1."""
    n_cuts, cuts = data[attribute + 1], data[attribute + 2]
    if n_cuts < 0:
        return data[attribute + 3] + ((data[cuts + (rank >> 2)] >> ((rank & 3) << 3)) & 255)
    return data[attribute + 3] + last_cut(data, rank, cuts, n_cuts)


@inlined
def check_heads(data: Any, leaf: int, ranks: Any, present: Any) -> Any:
    """The entries of a list whose heads hold."""
    found = np.uint64(0)
    records = leaf + PARTS + GROUP * data[leaf + 2]
    i = 0
    for group in range(leaf + PARTS, records, GROUP):
        slot, end = data[group], data[group + 1]
        if slot < 0 or is_present(present, slot):
            rank = ranks[slot if slot >= 0 else ~slot]
            while i < end:
                record = records + RECORD * i
                if (data[record] <= rank) & (rank <= data[record + 1]):
                    prefetch(data, data[record + 2])
                    prefetch(data, data[record + 2] + 15)
                    found |= ONE << np.uint64(i)
                i += 1
        i = end
    return found


@inlined
def check_bodies(data: Any, leaf: int, ranks: Any, found: Any) -> Any:
    """Of the entries of a list whose heads hold, those whose bodies do."""
    records = leaf + PARTS + GROUP * data[leaf + 2]
    left = found
    while left:
        if not body_holds(data, ranks, data[records + RECORD * trailing_zeros(left) + 2]):
            found ^= left & (~left + ONE)
        left &= left - ONE
    return found


@inlined
def body_holds(data: Any, ranks: Any, body: int) -> bool:
    """Whether all predicates of the rest hold: those of one interval, then the others.

    PERF: mostly all do, and a guess is dearer than another comparison.
    """
    at = body + 2
    last = at + 3 * data[body]
    holds = True
    while at < last:
        rank = ranks[data[at]]
        holds &= (data[at + 1] <= rank) & (rank <= data[at + 2])
        at += 3
    if not holds:
        return False
    last += 3 * data[body + 1]
    while at < last:
        if not is_listed(data, ranks[data[at]], data[at + 1], data[at + 2]):
            return False
        at += 3
    return True


@inlined
def is_listed(data: Any, rank: int, at: int, n: int) -> bool:
    """Whether the rank is in the set at a position: n lows and as many highs, or the lowest and then -n bits."""
    if n < 0:
        bit = rank - data[at]
        return (bit >= 0) & (bit < -n) and (data[at + 1 + (bit >> 5)] >> (bit & 31)) & 1 == 1
    place = last_at_most(data, rank, at, n)
    return place >= 0 and rank <= data[at + n + place]


@inlined
def last_at_most(data: Any, rank: int, start: int, n: int) -> int:
    """The number of the last of n ascending elements that is <= rank; -1 if none is.

    PERF: with guesses, since what is guessed is fetched ahead: the elements are mostly not in the cache.
    """
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if data[start + middle] <= rank:
            low = middle + 1
        else:
            high = middle
    return low - 1


@inlined
def last_cut(data: Any, rank: int, start: int, n: int) -> int:
    """The same where the first element is <= rank.

    PERF: as many steps whatever the rank, none of them guessed: these elements are in the cache.
    """
    place = start
    while n > 1:
        half = n >> 1
        place += half * (data[place + half] <= rank)
        n -= half
    return place - start
