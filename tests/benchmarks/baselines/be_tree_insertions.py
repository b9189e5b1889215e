"""How entries come to a BE-Tree: insertion, space partitioning, space clustering (BE-Tree, sections 4 to 6).

In: a `Store`, the predicates of entries, and the entries to insert. The functions are Algorithms 3 to 6; what recurs
there is a stack of nodes here, for each call is about a leaf of its own.

An attribute's score is the number of entries that have it: the paper's Gain, with its optimistic Loss of zero, and all
factors 1 (section 5), which it found best. Equal ones: the attribute of the lower slot when a leaf is partitioned, the
predicate that comes first when an entry is inserted.

NULL: a predicate that accepts absence makes no edge, for a document without the attribute would not follow it.

Invariant: an entry is in the smallest bucket that encloses it, of those there are; a leaf that can be cut is within its
capacity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from baselines.be_tree_entries import ASKED, EXACT, FIRST, LAST, RANGES, SUBSUMED, enclosing_half, mark, row_of, settle
from baselines.be_tree_nodes import (
    BELOW,
    CAP,
    CHILD,
    LEAF,
    LEVEL,
    LOW,
    N_EDGES,
    N_LEAF,
    PARENT,
    SLOT,
    add_edge,
    after,
    clear,
    edge,
    keep,
    new_node,
    new_pair,
    set_length,
)
from numba import njit

MIN_SIZE = 3
"""The least entries of a partition (BE-Tree, 7)."""


@njit(nogil=True, cache=True)
def insert_each(store: Any, predicates: Any, work: Any, entries: Any, max_cap: Any) -> None:
    """Algorithm 3, for one entry after another."""
    for entry in entries:
        insert(store, predicates, work, np.int64(entry), max_cap)


@njit(nogil=True, cache=True)
def insert_together(store: Any, predicates: Any, work: Any, entries: Any, max_cap: Any) -> None:
    """BE-B (7.2): all entries to the root's leaf, whose attributes are then ranked by all of them."""
    for entry in entries:
        settle(store, predicates, np.int64(entry), 0)
    work.stack[0] = 0
    cut_space(store, predicates, work, 1, max_cap)


@njit(nogil=True, cache=True)
def insert(store: Any, predicates: Any, work: Any, entry: Any, max_cap: Any) -> None:
    node = store.node
    at = np.int64(0)
    first, last = predicates.off[entry], predicates.off[entry + 1]
    for row in range(first, last):
        if predicates.rows[row, RANGES] == SUBSUMED:
            predicates.rows[row, RANGES] = EXACT
    while node[at, N_EDGES]:
        best, chosen = np.int64(-1), first
        for row in range(first, last):
            top = edge(store, at, predicates.rows[row, ASKED]) if predicates.rows[row, FIRST] > 0 else np.int64(-1)
            if top >= 0 and (best < 0 or node[top, BELOW] > node[best, BELOW]):
                best, chosen = top, row
        if best < 0:
            break
        node[best, BELOW] += 1
        at = best
        half = enclosing_half(node, at, predicates.rows[chosen, FIRST], predicates.rows[chosen, LAST])
        while half >= 0:
            at = half
            half = enclosing_half(node, at, predicates.rows[chosen, FIRST], predicates.rows[chosen, LAST])
        mark(node, predicates, at, chosen)
    settle(store, predicates, entry, at)
    if node[at, N_LEAF] > node[at, CAP]:
        work.stack[0] = at
        cut_space(store, predicates, work, 1, max_cap)


@njit(nogil=True, cache=True)
def cut_space(store: Any, predicates: Any, work: Any, n_stack: Any, max_cap: Any) -> None:
    """Algorithm 6 for the nodes on the stack, and for those that come of it; the root is partitioned at once."""
    node = store.node
    while n_stack:
        n_stack -= 1
        at = np.int64(work.stack[n_stack])
        if node[at, N_LEAF] <= node[at, CAP]:
            continue
        if at and node[at, CHILD] < 0 and node[at, LEVEL] > 0:
            n_stack = _halve(store, predicates, work, at, n_stack, max_cap)
        n_stack = _partition(store, predicates, work, at, n_stack, max_cap)


@njit(nogil=True, cache=True)
def _halve(store: Any, predicates: Any, work: Any, number: Any, n_stack: Any, max_cap: Any) -> Any:
    """Cuts a bucket, and moves what a half encloses."""
    node, slot = store.node, np.int64(store.node[number, SLOT])
    child, level = new_pair(store), node[number, LEVEL] - 1
    clear(store, child, number, slot, node[number, LOW], level, max_cap)
    clear(store, child + 1, number, slot, node[number, LOW] + (1 << level), level, max_cap)
    node[number, CHILD] = child
    n_left, at, n = 0, np.int64(node[number, LEAF]), np.int64(node[number, N_LEAF])
    to = at
    for _ in range(n):
        entry, following = np.int64(store.pool[at]), after(store.pool, at)
        row = row_of(predicates, entry, slot)
        half = enclosing_half(node, number, predicates.rows[row, FIRST], predicates.rows[row, LAST])
        if half >= 0:
            mark(node, predicates, half, row)
            settle(store, predicates, entry, half)
        else:
            to = keep(store, at, to)
            n_left += 1
        at = following
    set_length(store, number, n_left, to)
    work.stack[n_stack], work.stack[n_stack + 1] = child, child + 1
    return n_stack + 2


@njit(nogil=True, cache=True)
def _partition(store: Any, predicates: Any, work: Any, number: Any, n_stack: Any, max_cap: Any) -> Any:
    """Algorithm 5: attribute after attribute, up to where the leaf is within its capacity, which is then set anew."""
    node = store.node
    above = number
    while above:
        work.is_used[node[above, SLOT]] = True
        above = np.int64(node[above, PARENT])
    n_touched = 0
    if node[number, N_LEAF] > node[number, CAP]:
        at = np.int64(node[number, LEAF])
        for _ in range(node[number, N_LEAF]):
            n_touched = _count(predicates, work, np.int64(store.pool[at]), n_touched)
            at = after(store.pool, at)
    while node[number, N_LEAF] > node[number, CAP]:
        best = np.int64(-1)
        for place in range(n_touched):
            slot = np.int64(work.touched[place])
            more = best < 0 or work.count[slot] > work.count[best]
            if work.count[slot] >= MIN_SIZE and (more or (work.count[slot] == work.count[best] and slot < best)):
                best = slot
        if best < 0:
            break
        work.stack[n_stack] = _move_to_edge(store, predicates, work, number, best, max_cap)
        n_stack += 1
    above = number
    while above:
        work.is_used[node[above, SLOT]] = False
        above = np.int64(node[above, PARENT])
    for place in range(n_touched):
        work.count[work.touched[place]] = 0
    node[number, CAP] = max(1, -(-node[number, N_LEAF] // max_cap)) * max_cap
    return n_stack


@njit(nogil=True, cache=True)
def _count(predicates: Any, work: Any, entry: Any, n_touched: Any) -> Any:
    """Counts the entry for each slot that may make an edge."""
    for row in range(predicates.off[entry], predicates.off[entry + 1]):
        slot = predicates.rows[row, ASKED]
        if predicates.rows[row, FIRST] > 0 and not work.is_used[slot]:
            if work.count[slot] == 0:
                work.touched[n_touched] = slot
                n_touched += 1
            work.count[slot] += 1
    return n_touched


@njit(nogil=True, cache=True)
def _move_to_edge(store: Any, predicates: Any, work: Any, number: Any, slot: Any, max_cap: Any) -> Any:
    """The top bucket of a new edge, with the entries of the node's leaf that have the attribute."""
    node = store.node
    top = new_node(store)
    clear(store, top, number, slot, 1, predicates.top_level[slot], max_cap)
    add_edge(store, number, slot, top)
    n_left, at, n = 0, np.int64(node[number, LEAF]), np.int64(node[number, N_LEAF])
    to = at
    for _ in range(n):
        entry, here = np.int64(store.pool[at]), at
        at = after(store.pool, at)
        row = row_of(predicates, entry, slot)
        if row < 0 or predicates.rows[row, FIRST] == 0:
            to = keep(store, here, to)
            n_left += 1
            continue
        for other in range(predicates.off[entry], predicates.off[entry + 1]):
            if work.count[predicates.rows[other, ASKED]] and predicates.rows[other, FIRST] > 0:
                work.count[predicates.rows[other, ASKED]] -= 1
        mark(node, predicates, top, row)
        settle(store, predicates, entry, top)
    set_length(store, number, n_left, to)
    node[top, BELOW] = node[top, N_LEAF]
    return top
