"""Matching a batch: documents go through the nodes together.

In: sparse documents (CSR). Out: pairs of a document and an entry all of whose tests hold.

    walk      a few documents at once: the nodes that each comes to
    leaves    node by node, while it is in the cache: rows whose guards hold
    bodies    of these entries, as for one document

Documents are taken by chunks, so that their rows of keys stay near.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.kernels import kernel, load, prefetch
from profilec.runtime.matchers.dynamic_betree.match import (
    AHEAD,
    ask_for,
    entry_of,
    follow,
    holds,
    is_let_through,
    is_outside,
    is_sampled,
    note_event,
    put,
    tell,
)
from profilec.runtime.matchers.dynamic_betree.tree import LEAF, N_LEAF, N_NODES, ROOT, ROW, STAMP, STEP, Tree
from profilec.runtime.sort_kernels import sorted_order

_NEAR_WORDS = 1 << 16
"""Words of the rows of a chunk's documents."""
_NODES_AHEAD = 4
_DOCUMENT = (1 << 32) - 1
_FEW_NODES = 64
"""That a document comes to, mostly."""
_TOGETHER = 8
"""Documents that walk at once, so that one goes on while another waits for memory."""


def match_batch(
    tree: Tree, off: NDArray[np.int64], slots: NDArray[np.int32], keys: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs, in no order, of documents `off[i] .. off[i + 1]`. The tree is settled."""
    n_documents, width = len(off) - 1, 2 * len(tree.slots)
    size = max(1, min(n_documents, _NEAR_WORDS // max(1, width)))
    most = _TOGETHER * int(tree.header[N_NODES])
    tree = tree._replace(dense=np.zeros(max(2, size * width), np.int64), queue=np.empty(STEP * most, np.int64))
    nodes, owner = np.empty((2, _FEW_NODES * size + most), np.int32)
    found = np.empty(_FEW_NODES * size, np.int64)
    start, n = 0, 0
    while start < n_documents:
        first_stamp = int(tree.header[STAMP]) + 1
        stop, n_pairs = reach(*tree, off, slots, keys, start, min(start + size, n_documents), nodes, owner)
        order, done, n_asked = sorted_order(nodes[:n_pairs]), 0, n
        while True:
            done, n_asked = look(*tree, order, nodes, owner, done, first_stamp, found, n_asked)
            if done == n_pairs:
                break
            found = np.concatenate((found, np.empty_like(found)))
        n = keep(*tree, start, first_stamp, found, n, n_asked)
        start = stop
    return found[:n] & _DOCUMENT, found[:n] >> 32


@kernel
def reach(
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
    stop: int,
    nodes: Any,
    owner: Any,
) -> Any:
    """Walks for documents from `start` on: pairs of a node and a document, counted from there. The first document for
    which there was no room, and how many pairs there are."""
    tree = Tree(pool, header, table, slot_rows, dense, queue, work)
    width, first_stamp, n = 2 * len(slot_rows), header[STAMP] + 1, 0
    for some in range(start, stop, _TOGETHER):
        end = min(some + _TOGETHER, stop)
        if len(nodes) - n < _TOGETHER * header[N_NODES]:
            return some, n
        header[STAMP] += end - some
        head, tail = 0, 0
        for document in range(some - start, end - start):
            first, last = off[start + document], off[start + document + 1]
            tell(tree, width * document, slots, keys, first, last, first_stamp + document)
            tail = put(queue, tail, ROOT, 0, document)
        while head < tail:
            node, key, document = load(queue, head), load(queue, head + 1), load(queue, head + 2)
            head += STEP
            if is_outside(pool, node, key):
                continue
            stamp = first_stamp + document
            if is_sampled(stamp):
                note_event(pool, node)
            nodes[n], owner[n] = node, document
            n += load(pool, node + N_LEAF) != 0
            first, last = off[start + document], off[start + document + 1]
            tail = follow(tree, tail, node, key, document, width * document, slots, first, last, stamp)
    return stop, n


@kernel
def look(
    pool: Any,
    header: Any,
    table: Any,
    slot_rows: Any,
    dense: Any,
    queue: Any,
    work: Any,
    order: Any,
    nodes: Any,
    owner: Any,
    done: int,
    first_stamp: int,
    found: Any,
    n: int,
) -> Any:
    """The entries whose guards hold, of pairs from `done` on, in an order: after the first n, each one's body and
    document. The first pair for which there was no room, and how many there are then."""
    width = 2 * len(slot_rows)
    for place in range(done, len(order)):
        node, document = nodes[order[place]], owner[order[place]]
        if len(found) - n <= pool[node + N_LEAF]:
            return place, n
        if place + 2 * _NODES_AHEAD < len(order):
            prefetch(pool, nodes[order[place + 2 * _NODES_AHEAD]])
            ask_for(pool, pool[nodes[order[place + _NODES_AHEAD]] + LEAF])
        row, stamp = width * document, first_stamp + document
        for at in range(pool[node + LEAF], pool[node + LEAF] + ROW * pool[node + N_LEAF], ROW):
            found[n] = (pool[at] & ~_DOCUMENT) | document
            n += is_let_through(pool, at, dense, row, stamp)
    return len(order), n


@kernel
def keep(
    pool: Any,
    header: Any,
    table: Any,
    slot_rows: Any,
    dense: Any,
    queue: Any,
    work: Any,
    start: int,
    first_stamp: int,
    found: Any,
    n: int,
    n_asked: int,
) -> int:
    """Of what `look` found after the first n, the entries that hold, each with the number that its document has among
    all; how many there are then."""
    width, first = 2 * len(slot_rows), n
    for asked in range(first - AHEAD, n_asked):
        if asked + AHEAD < n_asked:
            ask_for(pool, found[asked + AHEAD] >> 32)
        if asked < first:
            continue
        document, body = found[asked] & _DOCUMENT, found[asked] >> 32
        if holds(pool, dense, width * document, body, first_stamp + document):
            found[n] = entry_of(pool, body) << 32 | (start + document)
            n += 1
    return n
