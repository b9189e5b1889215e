"""What documents found wanting (BE-Tree, 5: self-adjustment).

Every SAMPLED_EVERY-th document counts, at each node that it comes to, the rows that it looks at in vain: the false
candidates of the paper. `judge` ends a window of documents:

    partitions   one is recycled where another attribute has the better score by what documents told since (their keys,
                 how many have the slot), and where documents looked in vain at more than MUCH_WORSE times the rows that
                 the other one is expected to leave; its entries are placed again from the node above on
    leaves       extended ones overflow again, and rows get their guards anew
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.dynamic_betree.directory import edge
from profilec.runtime.matchers.dynamic_betree.leaf import guard_again, mark_path
from profilec.runtime.matchers.dynamic_betree.merge import dissolve
from profilec.runtime.matchers.dynamic_betree.place import is_top
from profilec.runtime.matchers.dynamic_betree.statistics import add_scores, take_best
from profilec.runtime.matchers.dynamic_betree.tree import (
    BELOW,
    CAP,
    CHILD,
    DISCARDED,
    EDGES,
    EDGES_SIZE,
    EVENTS,
    LEAF,
    MAX_CAP,
    MIN_SIZE,
    N_EDGES,
    N_LEAF,
    N_WORK,
    PARENT,
    ROOT,
    ROW,
    SLOT,
    Tree,
)

LEAST_EVENTS = 8
"""Sampled documents without which nothing is judged."""
MUCH_WORSE = 2.0
_ENTRIES_JUDGED = 64
_RECYCLED = -1
"""EVENTS of a top bucket that is to be recycled, while all are judged."""


@kernel
def judge(
    pool: Any,
    header: Any,
    table: Any,
    slot_rows: Any,
    dense: Any,
    queue: Any,
    work: Any,
    found: Any,
) -> int:
    """Writes the nodes and attributes of edges to recycle, none below another; how many. All counts become 0."""
    tree = Tree(pool, header, table, slot_rows, dense, queue, work)
    n_nodes, n_found, n_documents = _all_nodes(tree, ROOT, 0, len(queue)), 0, pool[ROOT + EVENTS]
    if n_documents < LEAST_EVENTS:
        return 0
    for i in range(n_nodes - 1, 0, -1):
        pool[pool[queue[i] + PARENT] + DISCARDED] += pool[queue[i] + DISCARDED]
    for i in range(1, n_nodes):
        top = queue[i]
        if is_top(pool, top) and not _is_below_recycled(pool, top) and _is_bad(tree, top, n_documents, n_nodes):
            pool[top + EVENTS] = _RECYCLED
            found[n_found, 0], found[n_found, 1] = pool[top + PARENT], pool[top + SLOT]
            n_found += 1
    for i in range(n_nodes):
        node = queue[i]
        pool[node + EVENTS] = pool[node + DISCARDED] = 0
        if pool[node + N_LEAF]:
            guard_again(tree, node)
    for i in range(n_nodes):
        if pool[queue[i] + N_LEAF] > header[MAX_CAP]:
            pool[queue[i] + CAP] = header[MAX_CAP]
            work[header[N_WORK]] = queue[i]
            header[N_WORK] += 1
    return n_found


@kernel
def recycle(
    pool: Any,
    header: Any,
    table: Any,
    slot_rows: Any,
    dense: Any,
    queue: Any,
    work: Any,
    node: int,
    slot: int,
) -> None:
    """Puts the entries of an edge in limbo, to be placed again."""
    tree = Tree(pool, header, table, slot_rows, dense, queue, work)
    dissolve(tree, pool[edge(pool, node, slot) + 1])


@inlined
def _is_below_recycled(pool: Any, node: int) -> bool:
    while node != ROOT:
        if pool[node + EVENTS] == _RECYCLED:
            return True
        node = pool[node + PARENT]
    return False


@kernel
def _is_bad(tree: Any, top: int, n_documents: int, n_nodes: int) -> bool:
    pool, queue = tree.pool, tree.queue
    loss = pool[top + DISCARDED] / n_documents
    if loss < 1:
        return False
    mark_path(tree, pool[top + PARENT], 1)
    last = _all_nodes(tree, top, n_nodes, min(len(queue), n_nodes + _ENTRIES_JUDGED))
    touched: Any = np.int64(0)
    n = 0
    for i in range(n_nodes, last):
        node = queue[i]
        for at in range(pool[node + LEAF], pool[node + LEAF] + ROW * pool[node + N_LEAF], ROW):
            if n < _ENTRIES_JUDGED:
                touched = add_scores(tree, pool[at] >> 32, touched)
                n += 1
    mark_path(tree, pool[top + PARENT], -1)
    slot, skipped = take_best(tree, touched, tree.header[MIN_SIZE])
    if n == 0 or slot < 0 or slot == pool[top + SLOT]:
        return False
    return loss > MUCH_WORSE * pool[top + BELOW] * (1 - skipped / n)


@kernel
def _all_nodes(tree: Any, node: int, first: int, limit: int) -> int:
    """Writes a node and those below it to the queue from a place on, outer ones first, as far as a limit; the end."""
    pool, queue = tree.pool, tree.queue
    queue[first] = node
    head, tail = first, first + 1
    while head < tail:
        node = queue[head]
        head += 1
        if pool[node + CHILD] >= 0:
            for half in range(2):
                if pool[node + CHILD + half] and tail < limit:
                    queue[tail] = pool[node + CHILD + half]
                    tail += 1
        if pool[node + N_EDGES]:
            for cell in range(pool[node + EDGES], pool[node + EDGES] + (1 << pool[node + EDGES_SIZE]), 2):
                if pool[cell] and tail < limit:
                    queue[tail] = pool[cell + 1]
                    tail += 1
    return tail
