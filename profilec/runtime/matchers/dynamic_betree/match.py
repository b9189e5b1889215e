"""Matching (BE-Tree, Algorithms 1 and 2).

In: a document's slots, each once, and its keys. Out: the entries all of whose tests hold, in no order.

    walk      which nodes the document comes to, nearest first, so that many are asked for at once
    leaves    rows whose guards hold, of all these nodes
    bodies    of these entries: do all tests hold?

PERF: each step asks for the memory of the next, which is mostly not in the cache. Whether a guard holds, and
into which half a key goes, cannot be foreseen: so what it leads to is written down in any case, and counted if it does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined, kernel, load, prefetch
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
    ROOT,
    ROW,
    STAMP,
    STEP,
    Tree,
)

UNSETTLED_TREE, SHORT_OUT = -1, -2
"""Instead of the number of entries: the tree is to be settled first; `out` has not room for all entries."""
LINE = 8
AHEAD = 8
"""Bodies between which memory is asked for and read."""


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
    return _match(tree, slots, keys, out)


@kernel
def _match(tree: Any, slots: Any, keys: Any, out: Any) -> int:
    pool, header, dense = tree.pool, tree.header, tree.dense
    stamp = header[STAMP] + 1
    header[STAMP] = stamp
    tell(tree, 0, slots, keys, 0, len(slots), stamp)
    n_asked, n_looked = 0, 0
    for place in range(_walk(tree, slots, stamp)):
        node = tree.queue[place]
        n_rows = pool[node + N_LEAF]
        n_looked += n_rows
        for at in range(pool[node + LEAF], pool[node + LEAF] + ROW * n_rows, ROW):
            out[n_asked] = pool[at] >> 32
            n_asked += is_let_through(pool, at, dense, 0, stamp)
    header[LOOKED] = n_looked
    n = 0
    for asked in range(-AHEAD, n_asked):
        if asked + AHEAD < n_asked:
            ask_for(pool, out[asked + AHEAD])
        if asked >= 0 and holds(pool, dense, 0, out[asked], stamp):
            out[n] = entry_of(pool, out[asked])
            n += 1
    return n


@inlined
def is_sampled(stamp: int) -> bool:
    """Whether the document of this number is one of those that tell of all."""
    return stamp % SAMPLED_EVERY == 0


@inlined
def tell(tree: Any, row: int, slots: Any, keys: Any, first: int, last: int, stamp: int) -> None:
    """Writes a document to its row of `dense`, which begins at `row`."""
    for i in range(first, last):
        if 0 <= slots[i] < len(tree.slots):
            tree.dense[row + 2 * slots[i]], tree.dense[row + 2 * slots[i] + 1] = stamp, keys[i]
    if is_sampled(stamp):
        sample_document(tree, slots, keys, first, last)


@inlined
def is_let_through(pool: Any, at: int, dense: Any, row: int, stamp: int) -> bool:
    """Whether the document satisfies the guard of a leaf's row."""
    number = slot_of(load(pool, at))
    cell = row + 2 * (number - (number != 0))
    key = load(dense, cell + 1)
    is_within = (load(dense, cell) == stamp) & (key >= load(pool, at + 1)) & (key <= load(pool, at + 2))
    return (number == 0) | is_within


@inlined
def _walk(tree: Any, slots: Any, stamp: int) -> int:
    """The nodes with rows that the document comes to, at the front of the queue; how many they are.

    Nodes are written where the queue has been read.
    """
    pool, queue = tree.pool, tree.queue
    head, tail, n_reached = 0, put(queue, 0, ROOT, 0, 0), 0
    while head < tail:
        node, key = load(queue, head), load(queue, head + 1)
        head += STEP
        if is_outside(pool, node, key):
            continue
        if is_sampled(stamp):
            note_event(pool, node)
        queue[n_reached] = node
        n_reached += load(pool, node + N_LEAF) != 0
        ask_for(pool, load(pool, node + LEAF))
        tail = follow(tree, tail, node, key, 0, 0, slots, 0, len(slots), stamp)
    return n_reached


@inlined
def put(queue: Any, tail: int, node: int, key: Any, document: int) -> int:
    """A step to do at the end of the queue: to a node, with the document's key for it. The end then."""
    queue[tail], queue[tail + 1], queue[tail + 2] = node, key, document
    return tail + STEP


@inlined
def is_outside(pool: Any, node: int, key: Any) -> Any:
    """Whether a bucket does not hold a key."""
    return (key ^ load(pool, node + LOW)) & load(pool, node + MASK)


@inlined
def note_event(pool: Any, node: int) -> None:
    """A sampled document came to a node."""
    pool[node + EVENTS] += 1
    pool[node + DISCARDED] += pool[node + N_LEAF]


@inlined
def follow(
    tree: Any, tail: int, node: int, key: Any, document: int, row: int, slots: Any, first: int, last: int, stamp: int
) -> int:
    """Puts what a document comes to next from a node, whose slots are first .. last, and its row at `row`."""
    pool, dense, queue = tree.pool, tree.dense, tree.queue
    if load(pool, node + CHILD) >= 0:
        child = load(pool, node + CHILD + ((key & middle(load(pool, node + MASK))) != 0))
        if child:
            tail = put(queue, tail, child, key, document)
            prefetch(pool, child)
    size = load(pool, node + EDGES_SIZE)
    if size == 0:
        return tail
    if 1 << size <= 4 * (last - first):
        edges = load(pool, node + EDGES)
        for cell in range(edges, edges + (1 << size), 2):
            slot = row + 2 * load(pool, cell)
            if slot > row and load(dense, slot - 2) == stamp:
                tail = put(queue, tail, load(pool, cell + 1), load(dense, slot - 1), document)
                prefetch(pool, load(pool, cell + 1))
    else:
        for i in range(first, last):
            cell = edge(pool, node, slots[i])
            if cell:
                tail = put(queue, tail, pool[cell + 1], dense[row + 2 * slots[i] + 1], document)
                prefetch(pool, pool[cell + 1])
    return tail


@inlined
def ask_for(pool: Any, place: int) -> None:
    """Has a body with its first tests, or the first rows of a leaf, brought to the cache."""
    prefetch(pool, place)
    prefetch(pool, place + LINE)


@inlined
def holds(pool: Any, dense: Any, row: int, body: int, stamp: int) -> bool:
    """Whether all tests of an entry do."""
    for at in tests_of(pool, body):
        word = load(pool, at)
        cell = row + 2 * slot_of(word)
        key = load(dense, cell + 1)
        if (load(dense, cell) != stamp) | (key < load(pool, at + 1)) | (key > load(pool, at + 2)):
            return False
        if word >> 32 and not _is_within(pool, body + (word >> 32), key):
            return False
    if is_sampled(stamp):
        pool[pool[body + NODE] + DISCARDED] -= 1
    return True


@inlined
def entry_of(pool: Any, body: int) -> int:
    """The number of an entry."""
    return slot_of(pool[body + ENTRY])


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
