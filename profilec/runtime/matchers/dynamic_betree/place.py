"""Where an entry goes (BE-Tree, Algorithms 3 and 4).

From a node on: of the edges for attributes that the entry is suited to, that of the least share (the paper: the p-node
of the highest score); from its top bucket down to the smallest that encloses the entry; and on, as long as there is
such an edge.

Where the smallest bucket there could be is not there, it is made:

    APPEND   the node is it
    WIDEN    the node is not cut, and its cell becomes what encloses the entry too
    BESIDE   the node is cut, and has nothing yet in the half that encloses the entry
    ABOVE    the node's cell does not enclose the entry, and is cut: a bucket is put above it, with both

The walk writes nothing to the tree, so that a call may end for lack of room before anything is changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.dynamic_betree.blocks import has_room, new_node
from profilec.runtime.matchers.dynamic_betree.cells import common_mask, encloses, half_of, home_mask
from profilec.runtime.matchers.dynamic_betree.directory import edge
from profilec.runtime.matchers.dynamic_betree.leaf import append, guard_again, guard_of, hull_in, mark_path, row_words
from profilec.runtime.matchers.dynamic_betree.statistics import (
    home_share,
    is_suited,
    least_share,
    slot_of,
    test_on,
    tests_of,
)
from profilec.runtime.matchers.dynamic_betree.tree import (
    BELOW,
    CHILD,
    DISCARDED,
    EVENTS,
    INDEX,
    IS_USED,
    LIMBO,
    LOW,
    MASK,
    N_EDGES,
    N_LEAF,
    NODE,
    PARENT,
    SLOT,
)

_APPEND, _WIDEN, _BESIDE, _ABOVE = range(4)


@kernel
def place(tree: Any) -> Any:
    """Places the first body of the limbo; its node, or -1 where there is no room, and then nothing has changed."""
    pool = tree.pool
    body = tree.header[LIMBO]
    start = -pool[body + NODE]
    mark_path(tree, start, 1)
    node, how = _find(tree, start, body)
    mark_path(tree, start, -1)
    above = node
    while above != start:
        if is_top(pool, above):
            tree.slots[pool[above + SLOT], IS_USED] -= 1
        above = pool[above + PARENT]
    n_rows = 1 if how >= _BESIDE else pool[node + N_LEAF] + 1
    if not has_room(tree, row_words(n_rows)):
        return np.int64(-1)
    tree.header[LIMBO] = pool[body + INDEX]
    if how != _APPEND:
        node = _bucket_for(tree, node, how, pool[hull_in(pool, node, body) + 1], pool[hull_in(pool, node, body) + 2])
    mark_path(tree, node, 1)
    append(tree, node, body, guard_of(tree, node, body))
    mark_path(tree, node, -1)
    above = node
    while above != start:
        if is_top(pool, above):
            pool[above + BELOW] += 1
        above = pool[above + PARENT]
    return node


@inlined
def is_top(pool: Any, node: int) -> bool:
    """Whether an edge leads to the node. Not for the root."""
    return pool[pool[node + PARENT] + SLOT] != pool[node + SLOT]


@inlined
def is_open_leaf(pool: Any, node: int) -> bool:
    """Whether a bucket is neither cut nor partitioned."""
    return pool[node + CHILD] < 0 and pool[node + N_EDGES] == 0


@inlined
def _find(tree: Any, node: Any, body: int) -> Any:
    """The node, and how the entry comes to it. Attributes of the walk are marked as used."""
    pool = tree.pool
    while pool[node + N_EDGES]:
        top, test = _best_edge(tree, node, body)
        if top == 0:
            break
        node, low, high = top, pool[test + 1], pool[test + 2]
        tree.slots[pool[top + SLOT], IS_USED] += 1
        while True:
            if not encloses(pool, node, low, high):
                return node, (_WIDEN if is_open_leaf(pool, node) else _ABOVE)
            if pool[node + CHILD] < 0:
                break
            half = half_of(pool, node, low, high)
            if half < 0:
                break
            child = pool[node + CHILD + half]
            if child == 0:
                return node, _BESIDE
            node = child
    return node, _APPEND


@kernel
def _best_edge(tree: Any, node: int, body: int) -> Any:
    """The top bucket for the entry and its test; 0, 0 for none. The path is marked."""
    pool = tree.pool
    best, best_test, least = np.int64(0), np.int64(0), 1.0
    for at in tests_of(pool, body):
        slot = slot_of(pool[at])
        cell = edge(pool, node, slot)
        if cell and test_on(pool, body, slot) == at:
            own_share = home_share(tree, slot, pool[at + 1], pool[at + 2])
            if own_share < least:
                best, best_test, least = pool[cell + 1], at, own_share
    if best and not is_suited(least, least_share(tree, body)):
        return np.int64(0), np.int64(0)
    return best, best_test


@kernel
def _bucket_for(tree: Any, node: int, how: int, low: int, high: int) -> int:
    """Makes the bucket that is to have an interval, which a node's cell or half leaves without one."""
    pool = tree.pool
    slot = pool[node + SLOT]
    if how == _BESIDE:
        return _new_half(tree, node, low, high)
    mask = common_mask(pool[node + LOW], pool[node + MASK], low, high)
    if how == _WIDEN:
        was_single = pool[node + MASK] == -1
        pool[node + LOW], pool[node + MASK] = low & mask, mask
        if was_single and mask != -1:
            guard_again(tree, node)  # by their keys, which had been all the same
        return node
    parent = pool[node + PARENT]
    whole = new_node(tree, parent, slot, low, mask)
    if is_top(pool, node):
        pool[edge(pool, parent, slot) + 1] = whole
        for field in (BELOW, EVENTS, DISCARDED):
            pool[whole + field] = pool[node + field]
        pool[node + BELOW] = 0
    else:
        pool[parent + CHILD + half_of(pool, parent, low, high)] = whole
    pool[node + PARENT] = whole
    pool[whole + CHILD] = pool[whole + CHILD + 1] = 0
    pool[whole + CHILD + half_of(pool, whole, pool[node + LOW], pool[node + LOW])] = node
    return whole if half_of(pool, whole, low, high) < 0 else _new_half(tree, whole, low, high)


@inlined
def _new_half(tree: Any, node: int, low: int, high: int) -> int:
    pool = tree.pool
    half = new_node(tree, node, pool[node + SLOT], low, home_mask(low, high))
    pool[node + CHILD + half_of(pool, node, low, high)] = half
    return half
