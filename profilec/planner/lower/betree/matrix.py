"""The matrix form of a leaf: for each attribute a bit row per elementary interval of the leaf's own predicates.

In: the entries of a leaf. Out: its attributes, their cuts and rows.

    `price`     absent   1        10       11       31          predicates: price = 10, price BETWEEN 10 AND 30
    rows        0b00     0b00     0b11     0b10     0b00        a bit is set where the entry's predicate holds
                                                                or where it has none on the attribute

Source: Tatbul 2001, 4.1.2, over ranks and inside a leaf.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.planner.lower.betree.costs import NS_LEAF, NS_ROW, NS_WORD
from profilec.planner.lower.betree.predicates import SUBSUMED
from profilec.runtime.kernels import ONE, allocating_kernel, inlined
from profilec.runtime.matchers.betree.tree import MOST_WORDS


@allocating_kernel
def leaf_attributes(predicates: Any, entries: Any, number_of: Any) -> Any:
    """The slots that entries have predicates on, that of most entries first (so that few bits stay set), and how many
    ask for each.

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
    order = np.argsort(slots - uses * (len(number_of) + 1))
    return slots[order], uses[order]


@allocating_kernel
def cuts_of(predicates: Any, intervals: Any, entries: Any, slots: Any, number_of: Any) -> Any:
    """The first ranks of each attribute's elementary intervals, ascending from 1: offsets and cuts."""
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
    cuts = np.ones(off[n], np.int32)
    place = off[:n] + 1
    for entry in entries:
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            if predicates.state[p] != SUBSUMED:
                a = number_of[predicates.slot[p]]
                for v in range(predicates.first[p], predicates.last[p]):
                    cuts[place[a]] = max(1, intervals.low[v])
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
    """A row per cut, and one per attribute for its absence, each of a word for 64 entries."""
    n_slots, n_words = len(slots), (len(entries) + 63) >> 6
    rows, absent = np.zeros((len(cuts), n_words), np.uint64), np.zeros((n_slots, n_words), np.uint64)
    asked = np.zeros((n_slots, n_words), np.uint64)  # by which entries
    holds = np.zeros(len(cuts) + 1, np.bool_)
    for a in range(n_slots):
        number_of[slots[a]] = a
    for i in range(len(entries)):
        entry, w = entries[i], i >> 6
        bit = ONE << np.uint64(i & 63)
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            if predicates.state[p] == SUBSUMED:
                continue
            a = number_of[predicates.slot[p]]
            first, last = cut_off[a], cut_off[a + 1]
            own = cuts[first:last]
            holds_absent = False
            if asked[a, w] & bit:  # a second predicate on the attribute: both must hold
                holds[:] = False
                for v in range(predicates.first[p], predicates.last[p]):
                    holds_absent |= intervals.low[v] == 0
                    low, high = cuts_in(own, intervals.low[v], intervals.high[v])
                    holds[first + low : first + high] = True
                for c in range(first, last):
                    if not holds[c]:
                        rows[c, w] &= ~bit
                if not holds_absent:
                    absent[a, w] &= ~bit
                continue
            asked[a, w] |= bit
            for v in range(predicates.first[p], predicates.last[p]):
                holds_absent |= intervals.low[v] == 0
                low, high = cuts_in(own, intervals.low[v], intervals.high[v])
                for c in range(first + low, first + high):
                    rows[c, w] |= bit
            if holds_absent:
                absent[a, w] |= bit
    for a in range(n_slots):
        number_of[slots[a]] = -1
        for w in range(n_words):
            absent[a, w] |= ~asked[a, w]
            for c in range(cut_off[a], cut_off[a + 1]):
                rows[c, w] |= ~asked[a, w]
    return rows, absent


@inlined
def matrix_cost(n_entries: int, n_attributes: int) -> float:
    """Nanoseconds that a document is expected to spend with entries in as few matrices as can be."""
    n_words = (n_entries + 63) >> 6
    n_leaves = (n_words + MOST_WORDS - 1) // MOST_WORDS
    return n_leaves * (NS_LEAF + n_attributes * NS_ROW) + n_words * n_attributes * NS_WORD


@inlined
def cuts_in(cuts: Any, low: int, high: int) -> Any:
    """The numbers of the cuts from low to high."""
    first = np.searchsorted(cuts, max(1, low))
    last = first
    while last < len(cuts) and cuts[last] <= high:
        last += 1
    return first, last
