"""Which entries of a node share a leaf: those that ask for the same attributes, 64 at a time.

In: the entries of a node. Out: groups that are worth a matrix, one after another, and what is left for lists.

A matrix costs a row for each of its attributes, whatever number of entries ask for it. So a group begins with an entry
whose attributes many others have; it takes all that have no further attribute; then the attribute is added for whose
sake most others would have none; and so on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.planner.lower.betree.costs import HEADS_HELD, MATRIX_ENTRIES, MATRIX_ENTRIES_UNHEADED, MATRIX_FILLED
from profilec.planner.lower.betree.matrix import leaf_attributes, matrix_cost
from profilec.planner.lower.betree.predicates import SUBSUMED
from profilec.runtime.kernels import ONE, allocating_kernel, inlined, population, trailing_zeros

SET_WORDS = 8
"""Of the set of attributes of an entry, as bits: entries with rarer attributes than the 512 commonest are left over."""
WINDOW = 2048
"""Entries that are compared with each other."""
ENOUGH = 1.5
"""A group that costs as many times what it cost at its best for each entry grows no more."""


@allocating_kernel
def attribute_sets(predicates: Any, entries: Any, number_of: Any, most_intervals: int) -> Any:
    """Per entry a bit for each attribute that it has a predicate on; whether it can be in a matrix; and the sum of how
    often others ask for its attributes."""
    slots, uses = leaf_attributes(predicates, entries, number_of)
    n_numbered = min(len(slots), 64 * SET_WORDS)
    for a in range(len(slots)):
        number_of[slots[a]] = a
    sets = np.zeros((len(entries), max(1, (n_numbered + 63) >> 6)), np.uint64)
    can, common = np.ones(len(entries), np.bool_), np.zeros(len(entries), np.int64)
    for i in range(len(entries)):
        n_intervals = 0
        for p in range(predicates.off[entries[i]], predicates.off[entries[i] + 1]):
            if predicates.state[p] != SUBSUMED:
                a = number_of[predicates.slot[p]]
                n_intervals += predicates.last[p] - predicates.first[p]
                if a < n_numbered:
                    sets[i, a >> 6] |= ONE << np.uint64(a & 63)
                    common[i] += uses[a]
                else:
                    can[i] = False
        can[i] &= n_intervals <= most_intervals
    number_of[slots] = -1
    return sets, can, common


@allocating_kernel
def take_similar(sets: Any, common: Any, free: Any, n_free: int, taken: Any, votes: Any) -> Any:
    """The next group, of free[:n_free]: `taken` gets its members and `free` loses them.

    Returns its size, the number of its attributes, and how many are left free.
    """
    n_words = sets.shape[1]
    asked = np.zeros(n_words, np.uint64)
    seed = 0
    for f in range(n_free):
        if common[free[f]] > common[free[seed]]:
            seed = f
    for w in range(n_words):
        asked[w] = sets[free[seed], w]
    n, n_kept, attributes_kept, least_cost = 0, 0, 0, np.inf
    while True:
        least, nearest, left = 1 << 30, 0, 0
        voted = False
        for f in range(n_free):
            i = free[f]
            missing = n_missing(sets, i, asked)
            if missing == 0 and n < len(taken):
                taken[n] = i
                n += 1
                continue
            free[left] = i
            left += 1
            if missing < least:
                least, nearest = missing, i
            if missing == 1:
                voted = True
                votes[first_missing(sets, i, asked)] += 1
        n_free = left
        n_attributes = 0
        for w in range(n_words):
            n_attributes += population(asked[w])
        cost = matrix_cost(n, n_attributes) / n
        if cost <= least_cost:
            n_kept, attributes_kept, least_cost = n, n_attributes, cost
        best = np.argmax(votes) if voted else 0
        if voted and n < len(taken) and n_free and cost < ENOUGH * least_cost:
            asked[best >> 6] |= ONE << np.uint64(best & 63)
        elif n < len(taken) and n_free and cost < ENOUGH * least_cost:
            for w in range(n_words):
                asked[w] |= sets[nearest, w]
        else:
            votes[:] = 0
            break
        votes[:] = 0
    for t in range(n_kept, n):
        free[n_free] = taken[t]
        n_free += 1
    return n_kept, attributes_kept, n_free


@inlined
def is_worth(predicates: Any, slots: Any, entries: Any, n_attributes: int) -> bool:
    """Whether entries are better off in a matrix than in a list: not where a list's heads pass most of them over; of
    these, in particular, where most of a matrix would stand for predicates that are not there."""
    n_passed, n_predicates = 0, 0
    n_held = 0.0
    for entry in entries:
        least = 1.0
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            if predicates.state[p] != SUBSUMED:
                n_predicates += 1
                if predicates.low[p] > 0:
                    least = min(least, (predicates.high[p] - predicates.low[p] + 1) / slots.n_ranks[predicates.slot[p]])
        n_passed += least < 1.0
        n_held += least
    if n_predicates < MATRIX_FILLED * len(entries) * n_attributes and n_held < HEADS_HELD * len(entries):
        return False
    least = MATRIX_ENTRIES if 2 * n_passed > len(entries) else MATRIX_ENTRIES_UNHEADED
    return len(entries) >= least * n_attributes


@inlined
def n_missing(sets: Any, i: int, asked: Any) -> int:
    n = 0
    for w in range(len(asked)):
        n += population(sets[i, w] & ~asked[w])
    return n


@inlined
def first_missing(sets: Any, i: int, asked: Any) -> int:
    for w in range(len(asked)):
        missing = sets[i, w] & ~asked[w]
        if missing:
            return (w << 6) + trailing_zeros(missing)
    return 0
