"""Matching (BE-Tree, Algorithms 1 and 2).

In: a document's slots, each once, and its keys. Out: the entries all of whose tests hold, in no order.

    walk      which nodes the document comes to, nearest first, so that many are asked for at once
    leaves    rows whose guards hold, of all these nodes
    bodies    RING_SIZE rows later: is it all of the entry's tests?

PERF: each step asks for the memory of the next, which is mostly not in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined, kernel, prefetch
from profilec.runtime.matchers.dynamic_betree.cells import middle
from profilec.runtime.matchers.dynamic_betree.change import waits
from profilec.runtime.matchers.dynamic_betree.directory import edge
from profilec.runtime.matchers.dynamic_betree.statistics import SAMPLED_EVERY, sample_document, slot_of, tests_of
from profilec.runtime.matchers.dynamic_betree.tree import (
    CHILD,
    DISCARDED,
    EDGES,
    EDGES_SIZE,
    ENTRY,
    EVENTS,
    LEAF,
    LOOKED,
    LOW,
    MASK,
    N_ENTRIES,
    N_LEAF,
    NODE,
    RING,
    RING_SIZE,
    ROOT,
    ROW,
    STAMP,
    Tree,
)

UNSETTLED_TREE, SHORT_OUT = -1, -2
"""Instead of the number of entries: the tree is to be settled first; `out` has not room for all entries."""
_LINE = 8


@kernel
def match_one(
    pool: Any,
    header: Any,
    table: Any,
    slot_rows: Any,
    dense: Any,
    queue: Any,
    work: Any,
    slots: Any,
    keys: Any,
    out: Any,
) -> int:
    """The number of entries, written to `out`."""
    if waits(header):
        return UNSETTLED_TREE
    if len(out) < header[N_ENTRIES]:
        return SHORT_OUT
    tree = Tree(pool, header, table, slot_rows, dense, queue, work)
    return _match(tree, slots, keys, 0, len(slots), out, 0)


@kernel
def match_many(
    pool: Any,
    header: Any,
    table: Any,
    slot_rows: Any,
    dense: Any,
    queue: Any,
    work: Any,
    off: Any,
    slots: Any,
    keys: Any,
    start: int,
    out_off: Any,
    out: Any,
) -> int:
    """Documents from `start` on, as many as `out` has room for; the first that is not done."""
    tree = Tree(pool, header, table, slot_rows, dense, queue, work)
    n = out_off[start]
    for document in range(start, len(off) - 1):
        if len(out) - n < header[N_ENTRIES]:
            return document
        n = _match(tree, slots, keys, off[document], off[document + 1], out, n)
        out_off[document + 1] = n
    return len(off) - 1


@kernel
def _match(tree: Any, slots: Any, keys: Any, first: int, last: int, out: Any, n: int) -> int:
    """Appends the entries; the new length."""
    pool, header, dense = tree.pool, tree.header, tree.dense
    stamp = header[STAMP] + 1
    header[STAMP] = stamp
    for i in range(first, last):
        if 0 <= slots[i] < len(tree.slots):
            dense[2 * slots[i]], dense[2 * slots[i] + 1] = stamp, keys[i]
    is_sampled = stamp % SAMPLED_EVERY == 0
    if is_sampled:
        sample_document(tree, slots, keys, first, last)
    n_asked, n_looked = 0, 0
    for place in range(_walk(tree, slots, first, last, stamp, is_sampled)):
        node = tree.queue[place]
        n_rows = pool[node + N_LEAF]
        n_looked += n_rows
        for at in range(pool[node + LEAF], pool[node + LEAF] + ROW * n_rows, ROW):
            word = pool[at]
            guard = 2 * slot_of(word)
            if guard:
                key = dense[guard - 1]
                if (dense[guard - 2] != stamp) | (key < pool[at + 1]) | (key > pool[at + 2]):
                    continue
            body = word >> 32
            prefetch(pool, body)
            prefetch(pool, body + _LINE)
            ring = RING + (n_asked & (RING_SIZE - 1))
            if n_asked >= RING_SIZE:
                n = _check(pool, dense, header[ring], stamp, is_sampled, out, n)
            header[ring] = body
            n_asked += 1
    for asked in range(max(0, n_asked - RING_SIZE), n_asked):
        n = _check(pool, dense, header[RING + (asked & (RING_SIZE - 1))], stamp, is_sampled, out, n)
    header[LOOKED] = n_looked
    return n


@inlined
def _walk(tree: Any, slots: Any, first: int, last: int, stamp: int, is_sampled: bool) -> int:
    """The nodes with rows that the document comes to, at the front of the queue; how many they are.

    The queue holds pairs of a node and the document's key for it; nodes are written where pairs have been read.
    """
    pool, dense, queue = tree.pool, tree.dense, tree.queue
    queue[0], queue[1] = ROOT, 0
    head, tail, n_reached = 0, 2, 0
    while head < tail:
        node, key = queue[head], queue[head + 1]
        head += 2
        mask = pool[node + MASK]
        if (key ^ pool[node + LOW]) & mask:
            continue
        if is_sampled:
            pool[node + EVENTS] += 1
            pool[node + DISCARDED] += pool[node + N_LEAF]
        if pool[node + N_LEAF]:
            queue[n_reached] = node
            n_reached += 1
            prefetch(pool, pool[node + LEAF])
            prefetch(pool, pool[node + LEAF] + _LINE)
        child = pool[node + CHILD]
        if child >= 0:
            if key & middle(mask):
                child = pool[node + CHILD + 1]
            if child:
                queue[tail], queue[tail + 1] = child, key
                tail += 2
                prefetch(pool, child)
        size = pool[node + EDGES_SIZE]
        if size == 0:
            continue
        if 1 << size <= 4 * (last - first):
            for cell in range(pool[node + EDGES], pool[node + EDGES] + (1 << size), 2):
                slot = 2 * pool[cell]
                if slot and dense[slot - 2] == stamp:
                    queue[tail], queue[tail + 1] = pool[cell + 1], dense[slot - 1]
                    tail += 2
                    prefetch(pool, pool[cell + 1])
        else:
            for i in range(first, last):
                cell = edge(pool, node, slots[i])
                if cell:
                    queue[tail], queue[tail + 1] = pool[cell + 1], dense[2 * slots[i] + 1]
                    tail += 2
                    prefetch(pool, pool[cell + 1])
    return n_reached


@inlined
def _check(pool: Any, dense: Any, body: int, stamp: int, is_sampled: bool, out: Any, n: int) -> int:
    """Appends the entry if all its tests hold."""
    for at in tests_of(pool, body):
        word = pool[at]
        slot = 2 * slot_of(word)
        key = dense[slot + 1]
        if (dense[slot] != stamp) | (key < pool[at + 1]) | (key > pool[at + 2]):
            return n
        if word >> 32 and not _is_within(pool, body + (word >> 32), key):
            return n
    out[n] = slot_of(pool[body + ENTRY])
    if is_sampled:
        pool[pool[body + NODE] + DISCARDED] -= 1
    return n + 1


@inlined
def _is_within(pool: Any, at: int, key: int) -> bool:
    """Whether a key is in one of the intervals at a place, within whose hull it is."""
    low, high = np.int64(0), pool[at]
    while high - low > 1:
        middle_one = (low + high) >> 1
        if pool[at + 1 + 2 * middle_one] <= key:
            low = middle_one
        else:
            high = middle_one
    return key <= pool[at + 2 + 2 * low]
