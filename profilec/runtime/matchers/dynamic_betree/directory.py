"""Partition directories: the edges of a node by attribute, in a hash table of its own (BE-Tree, 4.2 and Fig. 2a).

Cells (slot + 1, top node), searched from the slot's hash on; at most three quarters are in use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.dynamic_betree.blocks import SMALLEST, give_block, take_block
from profilec.runtime.matchers.dynamic_betree.tree import EDGES, EDGES_SIZE, N_EDGES

_ODD = np.uint64(0x9E3779B97F4A7C15)


@inlined
def first_cell(slot: int, size: int) -> Any:
    """Where the search begins, in cells, in a block of `1 << size` words."""
    return np.int64((np.uint64(slot) * _ODD) >> np.uint64(65 - size))


@inlined
def edge(pool: Any, node: int, slot: int) -> Any:
    """Where the edge for an attribute is in the pool, or 0. The node must have edges."""
    at, size = pool[node + EDGES], pool[node + EDGES_SIZE]
    last = (1 << (size - 1)) - 1
    cell = first_cell(slot, size)
    while True:
        found = pool[at + 2 * cell]
        if found == slot + 1:
            return at + 2 * cell
        if found == 0:
            return np.int64(0)
        cell = (cell + 1) & last


@inlined
def edge_words(pool: Any, node: int) -> int:
    """How many words directories may take when some dozens of edges are added."""
    return (4 << max(SMALLEST, pool[node + EDGES_SIZE])) + 512


@kernel
def add_edge(tree: Any, node: int, slot: int, top: int) -> None:
    pool = tree.pool
    size = pool[node + EDGES_SIZE]
    if size == 0:
        _move(tree, node, SMALLEST)
    elif 8 * (pool[node + N_EDGES] + 1) > 3 << size:
        _move(tree, node, size + 1)
    pool[node + N_EDGES] += 1
    _put(pool, pool[node + EDGES], pool[node + EDGES_SIZE], slot, top)


@kernel
def remove_edge(tree: Any, node: int, slot: int) -> None:
    """What stands behind it is moved up, so that no search ends too early."""
    pool = tree.pool
    pool[node + N_EDGES] -= 1
    at, size = pool[node + EDGES], pool[node + EDGES_SIZE]
    if pool[node + N_EDGES] == 0:
        give_block(tree, at, size)
        pool[node + EDGES], pool[node + EDGES_SIZE] = 0, 0
        return
    last = (1 << (size - 1)) - 1
    gap = (edge(pool, node, slot) - at) >> 1
    cell = (gap + 1) & last
    while pool[at + 2 * cell]:
        home = first_cell(pool[at + 2 * cell] - 1, size)
        if ((cell - home) & last) >= ((cell - gap) & last):
            pool[at + 2 * gap], pool[at + 2 * gap + 1] = pool[at + 2 * cell], pool[at + 2 * cell + 1]
            gap = cell
        cell = (cell + 1) & last
    pool[at + 2 * gap] = 0


@inlined
def _put(pool: Any, at: int, size: int, slot: int, top: int) -> None:
    last = (1 << (size - 1)) - 1
    cell = first_cell(slot, size)
    while pool[at + 2 * cell]:
        cell = (cell + 1) & last
    pool[at + 2 * cell], pool[at + 2 * cell + 1] = slot + 1, top


@inlined
def _move(tree: Any, node: int, size: int) -> None:
    """To a block of its own."""
    pool = tree.pool
    old_at, old_size = pool[node + EDGES], pool[node + EDGES_SIZE]
    at = take_block(tree, size)
    for word in range(at, at + (1 << size), 2):
        pool[word] = 0
    if old_size:
        for word in range(old_at, old_at + (1 << old_size), 2):
            if pool[word]:
                _put(pool, at, size, pool[word] - 1, pool[word + 1])
        give_block(tree, old_at, old_size)
    pool[node + EDGES], pool[node + EDGES_SIZE] = at, size
