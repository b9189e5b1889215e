"""Checking a leaf: which of its entries have all their open predicates satisfied.

In: a leaf and a document's dense ranks. Out: words, a bit per entry. `tree.py` draws the forms.

PERF: a leaf is checked in steps, between which others have theirs, so that memory is asked for ahead: `begin` with what
stands at the front of a leaf; then of a matrix `rows_of`, and the rows are ANDed, and of a list `check_bodies`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import ONE, inlined, prefetch, trailing_zeros
from profilec.runtime.matchers.betree.tree import (
    ATTRIBUTE,
    FORM_LIST,
    GROUP,
    MOST_ATTRIBUTES,
    MOST_WORDS,
    PARTS,
    RECORD,
)

AT_ONCE = 32
"""Leaves that are checked step by step together."""
_TWO, _THREE = np.uint64(2), np.uint64(3)
FEW_BODIES = 8
"""Bodies of a list that are asked for ahead; of more, the others are read as they stand, one after another."""


@inlined
def check_some(
    data: Any, words: Any, leaves: Any, owner: Any, ranks: Any, present: Any, found: Any, left: Any, rows: Any
) -> int:
    """Checks at most AT_ONCE leaves, leaf q with document owner[q]; returns in how many of them something may hold.

    These are the leaves left[k], and found[MOST_WORDS * k:] their entries that hold.
    """
    n_left = 0
    for q in range(len(leaves)):
        if begin(data, leaves[q], ranks[owner[q]], present[owner[q]], found, MOST_WORDS * n_left):
            left[n_left] = q
            n_left += 1
    n_rows, ends = 0, AT_ONCE * data[MOST_ATTRIBUTES]
    for k in range(n_left):
        leaf, document = leaves[left[k]], owner[left[k]]
        if data[leaf + 1] != FORM_LIST:
            n_rows = rows_of(data, words, leaf, ranks[document], present[document], rows, n_rows)
        rows[ends + k] = n_rows
    first = 0
    for k in range(n_left):
        leaf = leaves[left[k]]
        if data[leaf + 1] == FORM_LIST:
            found[MOST_WORDS * k] = check_bodies(data, leaf, ranks[owner[left[k]]], found[MOST_WORDS * k])
        else:
            for w in range(words_of(data, leaf)):
                holds = found[MOST_WORDS * k + w]
                for row in range(first, rows[ends + k]):
                    holds &= words[rows[row] + w]
                found[MOST_WORDS * k + w] = holds
        first = rows[ends + k]
    return n_left


@inlined
def is_present(present: Any, slot: int) -> bool:
    number = np.uint64(np.uint32(slot))
    return (present[number >> np.uint64(6)] >> (number & np.uint64(63))) & ONE != 0


@inlined
def words_of(data: Any, leaf: int) -> int:
    """How many words a leaf's answer has."""
    return (data[leaf] + 63) >> 6


@inlined
def begin(data: Any, leaf: int, ranks: Any, present: Any, found: Any, first: int) -> bool:
    """Whether some entry may still hold: of a list, one whose head does; of a matrix, one that misses no attribute.

    These are the bits of found[first:].
    """
    if data[leaf + 1] == FORM_LIST:
        found[first] = check_heads(data, leaf, ranks, present)
        return found[first] != 0
    n_words = words_of(data, leaf)
    all_entries(data, leaf, found, first)
    size = ATTRIBUTE + 2 * n_words
    for attribute in range(leaf + PARTS, leaf + PARTS + size * data[leaf + 2], size):
        if not is_present(present, data[attribute]):
            for w in range(n_words):
                found[first + w] &= word_if_absent(data, attribute, w)
        else:
            n_cuts, cuts = data[attribute + 1], data[attribute + 2]
            if n_cuts < 0:
                prefetch(data, cuts + (ranks[data[attribute]] >> 2))
            else:
                prefetch(data, cuts)
                prefetch(data, cuts + n_cuts - 1)
    left = np.uint64(0)
    for w in range(n_words):
        left |= found[first + w]
    return left != 0


@inlined
def rows_of(data: Any, words: Any, leaf: int, ranks: Any, present: Any, rows: Any, n: int) -> int:
    """Appends the positions of the rows that a matrix is left with to `rows`; returns its new length."""
    n_words = words_of(data, leaf)
    size = ATTRIBUTE + 2 * n_words
    for attribute in range(leaf + PARTS, leaf + PARTS + size * data[leaf + 2], size):
        if is_present(present, data[attribute]):
            row = data[attribute + 3] + n_words * row_of(data, attribute, ranks[data[attribute]])
            prefetch(words, row)
            rows[n] = row
            n += 1
    return n


@inlined
def all_entries(data: Any, leaf: int, found: Any, first: int) -> None:
    """Sets the bits of all entries of a leaf."""
    n_words = words_of(data, leaf)
    for w in range(n_words):
        found[first + w] = ~np.uint64(0)
    found[first + n_words - 1] >>= np.uint64(64 * n_words - data[leaf])


@inlined
def word_if_absent(data: Any, attribute: int, w: int) -> Any:
    half = attribute + ATTRIBUTE + 2 * w
    return np.uint64(np.uint32(data[half])) | np.uint64(np.uint32(data[half + 1])) << np.uint64(32)


@inlined
def row_of(data: Any, attribute: int, rank: int) -> int:
    """The number of the row of a matrix's attribute for a rank > 0: the first cut is 1."""
    n_cuts, cuts = data[attribute + 1], data[attribute + 2]
    if n_cuts < 0:
        return (data[cuts + (rank >> 2)] >> ((rank & 3) << 3)) & 255
    return last_cut(data, rank, cuts, n_cuts)


@inlined
def check_heads(data: Any, leaf: int, ranks: Any, present: Any) -> Any:
    """The entries of a list whose heads hold."""
    found = np.uint64(0)
    records = leaf + PARTS + GROUP * data[leaf + 2]
    i, n_asked = 0, 0
    for group in range(leaf + PARTS, records, GROUP):
        slot, end = data[group], data[group + 1]
        if slot < 0 or is_present(present, slot):
            rank = ranks[slot if slot >= 0 else ~slot]
            while i < end:
                record = records + RECORD * i
                if (data[record] <= rank) & (rank <= data[record + 1]):
                    found |= ONE << np.uint64(i)
                    if n_asked < FEW_BODIES:
                        prefetch(data, data[record + 2])
                        prefetch(data, data[record + 2] + 15)
                        n_asked += 1
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

    PERF: mostly all do, and a guess is dearer than another comparison. Unsigned numbers spare tests for negative ones.
    """
    place = np.uint64(body + 2)
    end = place + np.uint64(3 * data[body])
    holds = True
    while place < end:
        rank = ranks[np.uint32(data[place])]
        holds &= (data[place + ONE] <= rank) & (rank <= data[place + _TWO])
        place += _THREE
    if not holds:
        return False
    several = body + 2 + 3 * data[body]
    for at in range(several, several + 3 * data[body + 1], 3):
        if not is_listed(data, ranks[data[at]], data[at + 1], data[at + 2]):
            return False
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
