"""Checking a leaf: which of its entries have all their open predicates satisfied.

In: a leaf and a document's dense ranks. Out: one bit per entry of the leaf, in `hits`. `tree.py` draws the forms.

PERF: of a list, the heads of all entries stand together, so that most entries cost one comparison in memory
read in order; of a matrix, 64 entries cost one AND per attribute, and it ends when no bit is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import ONE, inlined, prefetch, trailing_zeros
from profilec.runtime.matchers.betree.tree import FORM_LIST


@inlined
def look_at(data: Any, words: Any, flips: Any, leaf: int, ranks: Any, hits: Any, at: int) -> int:
    """The first half of checking a leaf: what needs little memory, while the rest is fetched.

    hits[at : at + n_words]: of a list, the entries whose head holds. Returns n_words; 0 where that is already none.
    """
    if data[leaf + 1] == FORM_LIST:
        return check_heads(data, leaf, ranks, hits, at)
    n_words = (data[leaf] + 63) >> 6
    base = np.int64(data[leaf + 3])
    for attribute in range(leaf + 4, leaf + 4 + 3 * data[leaf + 2], 3):
        row = row_of(data, ranks, attribute)
        prefetch(words, base + np.int64(data[row]) * n_words)
        prefetch(flips, data[row + 1])
    return n_words


@inlined
def check(data: Any, words: Any, flips: Any, leaf: int, ranks: Any, hits: Any, at: int, row: Any) -> int:
    """The second half: hits[at : at + n_words] has a bit for each entry of which all predicates hold.

    Returns n_words; 0 where there is none. `row` is scratch for as many words.
    """
    if data[leaf + 1] == FORM_LIST:
        return check_bodies(data, leaf, ranks, hits, at)
    return check_matrix(data, words, flips, leaf, ranks, hits, at, row)


@inlined
def check_heads(data: Any, leaf: int, ranks: Any, hits: Any, at: int) -> int:
    n_words = (data[leaf] + 63) >> 6
    records = leaf + 3 + 2 * data[leaf + 2]
    for word in range(n_words):
        hits[at + word] = 0
    n_alive = 0
    i = 0
    for group in range(leaf + 3, records, 2):
        slot, end = data[group], data[group + 1]
        rank = ranks[slot if slot >= 0 else ~slot]
        if rank > 0 or slot < 0:
            while i < end:
                record = records + 3 * i
                if (data[record] <= rank) & (rank <= data[record + 1]):
                    prefetch(data, data[record + 2])
                    hits[at + (i >> 6)] |= ONE << np.uint64(i & 63)
                    n_alive += 1
                i += 1
        i = end
    return n_words if n_alive else 0


@inlined
def check_bodies(data: Any, leaf: int, ranks: Any, hits: Any, at: int) -> int:
    n_words = (data[leaf] + 63) >> 6
    records = leaf + 3 + 2 * data[leaf + 2]
    found = np.uint64(0)
    for word in range(n_words):
        bits = hits[at + word]
        open_bits = bits
        while open_bits:
            if not body_holds(data, ranks, data[records + 3 * ((word << 6) + trailing_zeros(open_bits)) + 2]):
                bits ^= open_bits & (~open_bits + ONE)
            open_bits &= open_bits - ONE
        hits[at + word] = bits
        found |= bits
    return n_words if found else 0


@inlined
def ids_of(data: Any, leaf: int) -> Any:
    """Where a leaf's first id stands, and how far the next is. Of a list: where the place of its body does."""
    n_parts = data[leaf + 2]
    if data[leaf + 1] == FORM_LIST:
        return leaf + 3 + 2 * n_parts + 2, 3
    return leaf + 4 + 3 * n_parts, 1


@inlined
def body_holds(data: Any, ranks: Any, body: int) -> bool:
    """Whether all predicates of the rest hold: those of one interval, then the others."""
    at = body + 3
    last = at + 3 * data[body + 1]
    while at < last:
        rank = ranks[data[at]]
        if (rank < data[at + 1]) | (rank > data[at + 2]):
            return False
        at += 3
    last += 3 * data[body + 2]
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
    """The number of the last of n ascending elements that is <= rank; -1 if none is."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if data[start + middle] <= rank:
            low = middle + 1
        else:
            high = middle
    return low - 1


@inlined
def check_matrix(data: Any, words: Any, flips: Any, leaf: int, ranks: Any, hits: Any, at: int, row: Any) -> int:
    n_words = (data[leaf] + 63) >> 6
    base = np.int64(data[leaf + 3])
    for w in range(n_words):
        hits[at + w] = ~np.uint64(0)
    for attribute in range(leaf + 4, leaf + 4 + 3 * data[leaf + 2], 3):
        place = row_of(data, ranks, attribute)
        first_word = base + np.int64(data[place]) * n_words
        flip = data[place + 1]
        alive = np.uint64(0)
        if flip < 0:
            for w in range(n_words):
                hits[at + w] &= words[first_word + w]
                alive |= hits[at + w]
        else:
            for w in range(n_words):
                row[w] = words[first_word + w]
            for f in range(flip + 1, flip + 1 + flips[flip]):
                row[flips[f] >> 6] ^= ONE << np.uint64(flips[f] & 63)
            for w in range(n_words):
                hits[at + w] &= row[w]
                alive |= hits[at + w]
        if not alive:
            return 0
    return n_words


@inlined
def row_of(data: Any, ranks: Any, attribute: int) -> int:
    """Where the row of a matrix's attribute for the document's rank is told."""
    rank, n_cuts, table = ranks[data[attribute]], data[attribute + 1], data[attribute + 2]
    if n_cuts < 0:
        return table + 2 * rank
    return table + n_cuts + 2 * last_at_most(data, rank, table, n_cuts)
