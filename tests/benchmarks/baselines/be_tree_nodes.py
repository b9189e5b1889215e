"""Where a BE-Tree that changes keeps its nodes: rows of integers, and blocks of a pool for leaves and directories.

A bucket of a cluster directory has one c-node, and that one leaf and one partition directory (BE-Tree, 4.1), so that
all of these are one row here, a *node*. The root is node 0. A p-node is its attribute's top bucket, and the edge to it.

    node        PARENT  SLOT  LOW  LEVEL   CHILD    LEAF  …    EDGES  …
    pool        leaf: records of entries     edges: (slot, node) hashed by slot, -1: nothing there
    record      entry, n, n x predicate      a predicate: four integers, see `be_tree_entries`

A node's bucket is the ranks LOW .. LOW + 2**LEVEL - 1 of SLOT, and its halves are the nodes CHILD and CHILD + 1 (-1:
not cut). A leaf or a directory that outgrows its block, of 2**n integers, moves to the next larger one; blocks and
nodes that are left are taken again.

Arrays have room for as much as there may be: what is never written takes no memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from profilec.runtime.image import Int32

(
    PARENT, SLOT, LOW, LEVEL, CHILD, LEAF, LEAF_LENGTH, N_LEAF, LEAF_SIZE, CAP, EDGES, N_EDGES, EDGES_SIZE, BELOW,
    EVENTS, DISCARDED,
) = range(16)  # fmt: skip
"""LEAF_LENGTH: integers of the leaf's records, which are of N_LEAF entries. LEAF_SIZE, EDGES_SIZE: logarithms of the
blocks' sizes, -1 for none. CAP: the leaf's capacity, in entries. BELOW: of a top bucket the entries under it. EVENTS,
DISCARDED: documents that came to the leaf, and the predicates that they evaluated for entries that did not match
(BE-Tree, 5: Loss)."""
N_FIELDS = 16
HEAD, WIDTH = 2, 4
"""Integers of a record's head, and of a predicate."""
_LARGEST = 31
_SINGLE, _PAIR = _LARGEST, _LARGEST + 1
_NODES, _POOL = 0, 1
_MIN_BLOCK = 2
_ODD, _WORD = np.uint64(0x9E3779B1), np.uint64(0xFFFFFFFF)


class Store(NamedTuple):
    """`free`: the first free block of each size, then the first free node and the first free pair; -1 for none. Each
    has the next one in its first integer. `used`: how many rows and integers were ever taken."""

    node: NDArray[np.int32]
    pool: Int32
    free: Int32
    used: NDArray[np.int64]

    @classmethod
    def of(cls, n_entries: int, n_predicates: int, max_cap: int) -> Store:
        """A root with an empty leaf."""
        node = np.empty((16 * n_entries + 100_000, N_FIELDS), np.int32)
        pool = np.empty(32 * (n_entries + n_predicates) + 1_000_000, np.int32)
        store = cls(node, pool, np.full(_PAIR + 1, -1, np.int32), np.zeros(2, np.int64))
        clear(store, new_node(store), -1, -1, 0, 0, max_cap)
        return store

    @property
    def n_bytes(self) -> int:
        """Of the nodes and blocks that are in use."""
        n_nodes, n_integers = self.used - left_over(self)
        return int(4 * (N_FIELDS * n_nodes + n_integers))


@njit(nogil=True, cache=True)
def new_node(store: Any) -> Any:
    """The number of a row that is not in use."""
    return _row(store, _SINGLE, 1)


@njit(nogil=True, cache=True)
def new_pair(store: Any) -> Any:
    """The first of two rows that follow each other."""
    return _row(store, _PAIR, 2)


@njit(nogil=True, cache=True)
def _row(store: Any, kind: Any, n: Any) -> Any:
    number = np.int64(store.free[kind])
    if number >= 0:
        store.free[kind] = store.node[number, 0]
        return number
    number = store.used[_NODES]
    if number + n > len(store.node):
        raise MemoryError("no room for a node")
    store.used[_NODES] += n
    return number


@njit(nogil=True, cache=True)
def left_over(store: Any) -> Any:
    """The nodes, and the integers of blocks, that wait to be taken again."""
    n = np.zeros(2, np.int64)
    for size in range(len(store.free)):
        number = np.int64(store.free[size])
        while number >= 0:
            if size < _LARGEST:
                n[_POOL] += 1 << size
                number = np.int64(store.pool[number])
            else:
                n[_NODES] += 2 if size == _PAIR else 1
                number = np.int64(store.node[number, 0])
    return n


@njit(nogil=True, cache=True)
def clear(store: Any, number: Any, parent: Any, slot: Any, low: Any, level: Any, max_cap: Any) -> None:
    """Makes it a node with nothing below it."""
    row = store.node[number]
    row[:] = 0
    row[PARENT], row[SLOT], row[LOW], row[LEVEL], row[CAP] = parent, slot, low, level, max_cap
    row[CHILD] = row[LEAF_SIZE] = row[EDGES_SIZE] = -1


@njit(nogil=True, cache=True)
def give_back(store: Any, number: Any, is_pair: Any) -> None:
    """A node, or a pair, whose blocks have been given back."""
    kind = _PAIR if is_pair else _SINGLE
    store.node[number, 0] = store.free[kind]
    store.free[kind] = number


@njit(nogil=True, cache=True)
def give_blocks_back(store: Any, number: Any) -> None:
    """A node's leaf and directory."""
    row = store.node[number]
    for at, size in ((LEAF, LEAF_SIZE), (EDGES, EDGES_SIZE)):
        if row[size] >= 0:
            _free_block(store, row[at], row[size])
            row[size] = -1
    row[N_LEAF] = row[LEAF_LENGTH] = row[N_EDGES] = 0


@njit(nogil=True, cache=True)
def _free_block(store: Any, at: Any, size: Any) -> None:
    store.pool[at] = store.free[size]
    store.free[size] = at


@njit(nogil=True, cache=True)
def _block(store: Any, size: Any) -> Any:
    at = np.int64(store.free[size])
    if at >= 0:
        store.free[size] = store.pool[at]
        return at
    at = store.used[_POOL]
    if at + (1 << size) > len(store.pool):
        raise MemoryError("no room for a block")
    store.used[_POOL] += 1 << size
    return at


@njit(nogil=True, cache=True)
def room_in_leaf(store: Any, number: Any, n: Any) -> Any:
    """Adds a record of n integers to a node's leaf; where it is to be written."""
    row = store.node[number]
    size = max(_MIN_BLOCK, np.int64(row[LEAF_SIZE]))
    while row[LEAF_LENGTH] + n > 1 << size:
        size += 1
    if size > row[LEAF_SIZE]:
        _move_leaf(store, row, size)
    row[LEAF_LENGTH] += n
    row[N_LEAF] += 1
    return np.int64(row[LEAF] + row[LEAF_LENGTH] - n)


@njit(nogil=True, cache=True)
def _move_leaf(store: Any, row: Any, size: Any) -> None:
    at = _block(store, size)
    if row[LEAF_SIZE] >= 0:
        store.pool[at : at + row[LEAF_LENGTH]] = store.pool[row[LEAF] : row[LEAF] + row[LEAF_LENGTH]]
        _free_block(store, row[LEAF], row[LEAF_SIZE])
    row[LEAF], row[LEAF_SIZE] = at, size


@njit(nogil=True, cache=True)
def after(pool: Any, at: Any) -> Any:
    """Where the record behind the one at this place begins."""
    return at + HEAD + WIDTH * np.int64(pool[at + 1])


@njit(nogil=True, cache=True)
def keep(store: Any, at: Any, to: Any) -> Any:
    """Moves a record to a lower place; where the next one is to go."""
    n = after(store.pool, at) - at
    for place in range(n):
        store.pool[to + place] = store.pool[at + place]
    return to + n


@njit(nogil=True, cache=True)
def set_length(store: Any, number: Any, n_entries: Any, end: Any) -> None:
    """Of a leaf whose records have been moved; a block of which hardly anything is left is given back."""
    row = store.node[number]
    row[N_LEAF], row[LEAF_LENGTH] = n_entries, end - row[LEAF]
    if n_entries == 0:
        _free_block(store, row[LEAF], row[LEAF_SIZE])
        row[LEAF_SIZE] = -1
        return
    size = np.int64(row[LEAF_SIZE])
    while size > _MIN_BLOCK and 2 * row[LEAF_LENGTH] <= 1 << size:
        size -= 1
    if size < row[LEAF_SIZE] - 1:
        _move_leaf(store, row, size)


@njit(nogil=True, cache=True)
def take_out(store: Any, number: Any, entry: Any) -> None:
    """Removes an entry's record from a node's leaf."""
    first, n = np.int64(store.node[number, LEAF]), np.int64(store.node[number, N_LEAF])
    at = to = first
    for _ in range(n):
        following = after(store.pool, at)
        if store.pool[at] != entry:
            to = keep(store, at, to)
        at = following
    set_length(store, number, n - 1, to)


@njit(nogil=True, cache=True, inline="always")
def _first_place(slot: Any, size: Any) -> Any:
    """Where a directory of `1 << size` integers, two an edge, is searched from."""
    return np.int64(((np.uint64(slot) * _ODD) & _WORD) >> np.uint64(33 - size))


@njit(nogil=True, cache=True)
def edge(store: Any, number: Any, slot: Any) -> Any:
    """The top bucket of an attribute in a node's partition directory, or -1. The node must have edges."""
    row = store.node[number]
    at, mask = row[EDGES], (1 << (row[EDGES_SIZE] - 1)) - 1
    place = _first_place(slot, row[EDGES_SIZE])
    while True:
        found = store.pool[at + 2 * place]
        if found == slot:
            return np.int64(store.pool[at + 2 * place + 1])
        if found < 0:
            return np.int64(-1)
        place = (place + 1) & mask


@njit(nogil=True, cache=True)
def add_edge(store: Any, number: Any, slot: Any, top: Any) -> None:
    """A directory is at most half full."""
    row = store.node[number]
    if row[EDGES_SIZE] < 0:
        row[EDGES_SIZE] = _MIN_BLOCK
        row[EDGES] = _block(store, _MIN_BLOCK)
        _empty(store, row[EDGES], _MIN_BLOCK)
    elif 4 * (row[N_EDGES] + 1) > 1 << row[EDGES_SIZE]:
        _rebuild(store, row, row[EDGES_SIZE] + 1, -1)
    _place_edge(store, row, slot, top)
    row[N_EDGES] += 1


@njit(nogil=True, cache=True)
def remove_edge(store: Any, number: Any, slot: Any) -> None:
    row = store.node[number]
    row[N_EDGES] -= 1
    if row[N_EDGES]:
        _rebuild(store, row, row[EDGES_SIZE], slot)
    else:
        _free_block(store, row[EDGES], row[EDGES_SIZE])
        row[EDGES_SIZE] = -1


@njit(nogil=True, cache=True)
def _rebuild(store: Any, row: Any, size: Any, without: Any) -> None:
    """Lays a directory anew, in a block of its own, without one of its attributes."""
    old_at, old_size = row[EDGES], row[EDGES_SIZE]
    row[EDGES], row[EDGES_SIZE] = _block(store, size), size
    _empty(store, row[EDGES], size)
    for place in range(old_at, old_at + (1 << old_size), 2):
        if store.pool[place] >= 0 and store.pool[place] != without:
            _place_edge(store, row, store.pool[place], store.pool[place + 1])
    _free_block(store, old_at, old_size)


@njit(nogil=True, cache=True)
def _empty(store: Any, at: Any, size: Any) -> None:
    for place in range(at, at + (1 << size), 2):
        store.pool[place] = -1


@njit(nogil=True, cache=True)
def _place_edge(store: Any, row: Any, slot: Any, top: Any) -> None:
    mask = (1 << (row[EDGES_SIZE] - 1)) - 1
    place = _first_place(slot, row[EDGES_SIZE])
    while store.pool[row[EDGES] + 2 * place] >= 0:
        place = (place + 1) & mask
    store.pool[row[EDGES] + 2 * place], store.pool[row[EDGES] + 2 * place + 1] = slot, top
