"""The matrix form of a leaf: for each attribute a bit row per elementary interval of the leaf's own predicates.

In: the entries of a leaf. Out: its attributes, their cuts and rows; or that the rows would take too much room.

    cuts of `price`      0        10       11       31          predicates: price = 10, price BETWEEN 10 AND 30
    rows                 0b00     0b11     0b10     0b00        a bit is set where the entry's predicate holds
                         whole    whole    flips    whole       or where it has none on the attribute

Neighbouring rows differ in the entries that have a bound between them, and mostly these are few: such a row is kept
as the last whole row and the positions in which it differs.

Source: Tatbul 2001, 4.1.2, over ranks and inside a leaf.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.planner.lower.betree.predicates import SUBSUMED
from profilec.runtime.kernels import ONE, allocating_kernel, inlined, population, trailing_zeros


@allocating_kernel
def leaf_attributes(predicates: Any, entries: Any, number_of: Any) -> Any:
    """The slots that a leaf's entries have predicates on, that of most entries first (so that few bits stay set).

    `number_of[slot]` is -1 for all slots, before and after.
    """
    n = 0
    for entry in entries:
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            if predicates.state[p] != SUBSUMED and number_of[predicates.slot[p]] < 0:
                number_of[predicates.slot[p]] = n
                n += 1
    slots = np.empty(n, np.int64)
    uses = np.zeros(n, np.int64)
    for entry in entries:
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            if predicates.state[p] != SUBSUMED:
                number = number_of[predicates.slot[p]]
                slots[number] = predicates.slot[p]
                uses[number] += 1
    number_of[slots] = -1
    return slots[np.argsort(slots - uses * (len(number_of) + 1))]


@allocating_kernel
def cuts_of(predicates: Any, intervals: Any, entries: Any, slots: Any, number_of: Any) -> Any:
    """The first ranks of each attribute's elementary intervals, ascending from 0: offsets and cuts."""
    n = len(slots)
    off = np.zeros(n + 1, np.int64)
    for a in range(n):
        number_of[slots[a]] = a
        off[a + 1] = 1
    for entry in entries:
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            if predicates.state[p] != SUBSUMED:
                off[number_of[predicates.slot[p]] + 1] += 2 * (predicates.last[p] - predicates.first[p])
    off = np.cumsum(off)
    cuts = np.zeros(off[n], np.int32)
    place = off[:n] + 1
    for entry in entries:
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            if predicates.state[p] != SUBSUMED:
                a = number_of[predicates.slot[p]]
                for v in range(predicates.first[p], predicates.last[p]):
                    cuts[place[a]] = intervals.low[v]
                    cuts[place[a] + 1] = intervals.high[v] + 1
                    place[a] += 2
    kept = np.zeros(n + 1, np.int64)
    n_kept = 0
    for a in range(n):
        own = np.sort(cuts[off[a] : off[a + 1]])
        for c in range(len(own)):
            if c == 0 or own[c] > own[c - 1]:
                cuts[n_kept] = own[c]
                n_kept += 1
        kept[a + 1] = n_kept
        number_of[slots[a]] = -1
    return kept, cuts[:n_kept]


@allocating_kernel
def rows_of(predicates: Any, intervals: Any, entries: Any, slots: Any, cut_off: Any, cuts: Any, number_of: Any) -> Any:
    """A row per cut."""
    n_words = (len(entries) + 63) >> 6
    rows = np.zeros((len(cuts), n_words), np.uint64)
    asked = np.zeros(len(slots), np.int64)
    for a in range(len(slots)):
        number_of[slots[a]] = a
    for i in range(len(entries)):
        entry = entries[i]
        word = i >> 6
        bit = ONE << np.uint64(i & 63)
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            if predicates.state[p] == SUBSUMED:
                continue
            a = number_of[predicates.slot[p]]
            own = cuts[cut_off[a] : cut_off[a + 1]]
            again = asked[a] == i + 1  # a second predicate on the attribute: both must hold
            asked[a] = i + 1
            c = 0
            for v in range(predicates.first[p], predicates.last[p]):
                low = np.searchsorted(own, intervals.low[v])
                if again:
                    clear(rows, cut_off[a] + c, cut_off[a] + low, word, bit)
                c = low
                while c < len(own) and own[c] <= intervals.high[v]:
                    if not again:
                        rows[cut_off[a] + c, word] |= bit
                    c += 1
            if again:
                clear(rows, cut_off[a] + c, cut_off[a + 1], word, bit)
        for a in range(len(slots)):
            if asked[a] != i + 1:
                for c in range(cut_off[a], cut_off[a + 1]):
                    rows[c, word] |= bit
    for a in range(len(slots)):
        number_of[slots[a]] = -1
    return rows


@inlined
def clear(rows: Any, start: int, end: int, word: int, bit: Any) -> None:
    for c in range(start, end):
        rows[c, word] &= ~bit


@allocating_kernel
def packed_rows(rows: Any, cut_off: Any) -> Any:
    """Of each cut: the whole row that it builds on, and where the bits that it flips stand in `flips` (-1: none).

    Returns the numbers of the rows that stay whole, both columns, and flips: a count, then as many positions.
    """
    n_cuts, n_words = rows.shape
    whole = np.empty(n_cuts, np.int32)
    builds_on, flip_at = np.empty(n_cuts, np.int32), np.full(n_cuts, -1, np.int32)
    flips = np.empty(n_cuts * (2 * n_words + 1), np.uint16)
    n_whole, n_flips, a = 0, 0, 0
    for c in range(n_cuts):
        is_first = False
        while cut_off[a] == c:
            is_first = True
            a += 1
        differing = 0
        if not is_first:
            base = whole[n_whole - 1]
            for w in range(n_words):
                differing += population(rows[c, w] ^ rows[base, w])
        if is_first or differing > 2 * n_words:
            whole[n_whole] = c
            n_whole += 1
        elif differing:
            flip_at[c] = n_flips
            flips[n_flips] = differing
            n_flips += 1
            for w in range(n_words):
                word = rows[c, w] ^ rows[base, w]
                while word:
                    flips[n_flips] = (w << 6) + trailing_zeros(word)
                    n_flips += 1
                    word &= word - ONE
        builds_on[c] = n_whole - 1
    return whole[:n_whole], builds_on, flip_at, flips[:n_flips]
