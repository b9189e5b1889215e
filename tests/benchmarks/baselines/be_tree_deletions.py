"""How entries leave a BE-Tree (BE-Tree, 4.2: the merge operator, and 4.3: the merge rule).

Left open by the paper and decided here. A partition underflows when it has fewer than MIN_SIZE entries: it is
dissolved, and its entries are inserted again from the root ("the latter approach is preferred"). Halves of a bucket are
merged in pairs: where both are leaves and their entries and the bucket's own fit its capacity, and it is open, or where
both are empty. An entry knows its leaf, so that it is deleted without the walk of a match.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from baselines.be_tree_entries import mark, row_of, settle
from baselines.be_tree_insertions import MIN_SIZE, insert
from baselines.be_tree_nodes import (
    BELOW,
    CAP,
    CHILD,
    EDGES,
    EDGES_SIZE,
    LEAF,
    N_EDGES,
    N_LEAF,
    PARENT,
    SLOT,
    after,
    give_back,
    give_blocks_back,
    remove_edge,
    take_out,
)
from numba import njit


@njit(nogil=True, cache=True)
def delete_each(store: Any, predicates: Any, work: Any, entries: Any, max_cap: Any) -> None:
    """Deletes one entry after another."""
    node = store.node
    for number in entries:
        entry = np.int64(number)
        leaf = np.int64(predicates.leaf[entry])
        take_out(store, leaf, entry)
        predicates.leaf[entry] = -1
        n_moved = 0
        top = _lose(node, leaf, 1)
        if top < 0:
            _merge_halves(store, predicates, leaf)
        while top >= 0:
            above, n_before = np.int64(node[top, PARENT]), n_moved
            n_moved = _dissolve(store, predicates, work, top, n_moved)
            top = _lose(node, above, n_moved - n_before)
        for place in range(n_moved):
            insert(store, predicates, work, np.int64(work.moved[place]), max_cap)


@njit(nogil=True, cache=True)
def _lose(node: Any, number: Any, n: Any) -> Any:
    """Takes so many entries off the partitions that the node is in; the outermost that underflows, or -1."""
    outermost = np.int64(-1)
    while number:
        above = np.int64(node[number, PARENT])
        if node[above, SLOT] != node[number, SLOT]:
            node[number, BELOW] -= n
            if node[number, BELOW] < MIN_SIZE:
                outermost = number
        number = above
    return outermost


@njit(nogil=True, cache=True)
def _dissolve(store: Any, predicates: Any, work: Any, top: Any, n_moved: Any) -> Any:
    """Removes a partition, and appends its entries to `work.moved`; how many there are then.

    A node that is given back keeps all but its first field, which is not read.
    """
    node = store.node
    remove_edge(store, np.int64(node[top, PARENT]), node[top, SLOT])
    give_back(store, top, False)
    work.stack[0] = top
    n_stack = 1
    while n_stack:
        n_stack -= 1
        at = np.int64(work.stack[n_stack])
        record = np.int64(node[at, LEAF])
        for _ in range(node[at, N_LEAF]):
            work.moved[n_moved] = store.pool[record]
            predicates.leaf[store.pool[record]] = -1
            n_moved += 1
            record = after(store.pool, record)
        if node[at, N_EDGES]:
            for place in range(node[at, EDGES], node[at, EDGES] + (1 << node[at, EDGES_SIZE]), 2):
                if store.pool[place] >= 0:
                    work.stack[n_stack] = store.pool[place + 1]
                    give_back(store, np.int64(work.stack[n_stack]), False)
                    n_stack += 1
        child = np.int64(node[at, CHILD])
        if child >= 0:
            give_back(store, child, True)
            work.stack[n_stack], work.stack[n_stack + 1] = child, child + 1
            n_stack += 2
        give_blocks_back(store, at)
    return n_moved


@njit(nogil=True, cache=True)
def _merge_halves(store: Any, predicates: Any, number: Any) -> None:
    """Merges the halves around a bucket that has lost an entry, from the smallest on."""
    node = store.node
    whole = number if node[number, CHILD] >= 0 else np.int64(node[number, PARENT])
    while node[whole, SLOT] == node[number, SLOT] and whole:
        child = np.int64(node[whole, CHILD])
        n = node[child, N_LEAF] + node[child + 1, N_LEAF]
        is_open = node[whole, N_EDGES] == 0 and node[whole, N_LEAF] + n <= node[whole, CAP]
        for half in (child, child + 1):
            if node[half, CHILD] >= 0 or node[half, N_EDGES]:
                return
        if n and not is_open:
            return
        for half in (child, child + 1):
            at = np.int64(node[half, LEAF])
            for _ in range(node[half, N_LEAF]):
                entry = np.int64(store.pool[at])
                at = after(store.pool, at)
                mark(node, predicates, whole, row_of(predicates, entry, node[whole, SLOT]))
                settle(store, predicates, entry, whole)
            give_blocks_back(store, half)
        give_back(store, child, True)
        node[whole, CHILD] = -1
        whole = np.int64(node[whole, PARENT])
