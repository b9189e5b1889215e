"""What an overflowing leaf comes to (BE-Tree, Algorithms 5 and 6: space partitioning, space clustering).

A bucket that is not cut is cut, if it has more than one key; one that is, and the root, is partitioned by the
attribute of the best score, again and again while its leaf overflows. Where no attribute is worth it, the leaf's
capacity is extended, by half as much again rather than by `max_cap`, so that many entries that nothing tells apart
cost each the same.

A leaf that was extended far (_MANY times `max_cap`: there are many attributes, each of few entries) is partitioned by
several attributes at once, for the ranking looks at all its rows: each row goes by the best of the slots it is suited
to.

Leaves that overflow are on a stack, `work`, which the header keeps between calls: each step needs room that is known
before it, and leaves a tree that is whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.dynamic_betree.blocks import NEW_NODES, has_room, new_node
from profilec.runtime.matchers.dynamic_betree.cells import common_mask, half_of, home_mask
from profilec.runtime.matchers.dynamic_betree.directory import add_edge, edge, edge_words
from profilec.runtime.matchers.dynamic_betree.leaf import (
    append_row,
    guard_again,
    hull_in,
    keep_row,
    mark_path,
    row_words,
    shorten,
)
from profilec.runtime.matchers.dynamic_betree.place import place
from profilec.runtime.matchers.dynamic_betree.statistics import (
    add_scores,
    forget_scores,
    own_best,
    suited_test,
    take_best,
    test_on,
)
from profilec.runtime.matchers.dynamic_betree.tree import (
    BELOW,
    CAP,
    CHILD,
    CHOSEN,
    EDGES,
    EDGES_SIZE,
    INDEX,
    LEAF,
    LIMBO,
    LOW,
    MASK,
    MAX_CAP,
    MIN_SIZE,
    N_EDGES,
    N_LEAF,
    N_WORK,
    NODE,
    ROOT,
    ROW,
    SLOT,
)

_MANY = 8
_AT_ONCE = NEW_NODES - 1
"""Edges that a leaf gets at once, at most."""


@kernel
def advance(tree: Any) -> bool:
    """Places what is in limbo, and sees to the leaves that overflow; whether that is done, or room is missing."""
    header, work = tree.header, tree.work
    while True:
        while header[N_WORK]:
            node = work[header[N_WORK] - 1]
            if not has_room(tree, 4 * row_words(tree.pool[node + N_LEAF]) + edge_words(tree.pool, node)):
                return False
            header[N_WORK] -= 1
            if tree.pool[node + N_LEAF] > tree.pool[node + CAP]:
                _split(tree, node)
        if header[LIMBO] == 0:
            return True
        node = place(tree)
        if node < 0:
            return False
        _push(tree, node)


@inlined
def _push(tree: Any, node: int) -> None:
    if tree.pool[node + N_LEAF] > tree.pool[node + CAP]:
        tree.work[tree.header[N_WORK]] = node
        tree.header[N_WORK] += 1


@inlined
def _split(tree: Any, node: int) -> None:
    pool = tree.pool
    if node != ROOT and pool[node + CHILD] < 0:
        _tighten(tree, node)
        if pool[node + MASK] != -1:
            _cut(tree, node)
            return
    _partition(tree, node)


@inlined
def _tighten(tree: Any, node: int) -> None:
    """Gives an open bucket the smallest cell that encloses its entries."""
    pool = tree.pool
    first = hull_in(pool, node, pool[pool[node + LEAF]] >> 32)
    mask = home_mask(pool[first + 1], pool[first + 2])
    low = pool[first + 1] & mask
    for at in range(pool[node + LEAF], pool[node + LEAF] + ROW * pool[node + N_LEAF], ROW):
        test = hull_in(pool, node, pool[at] >> 32)
        mask = common_mask(low, mask, pool[test + 1], pool[test + 2])
        low &= mask
    pool[node + LOW], pool[node + MASK] = low, mask


@kernel
def _cut(tree: Any, node: int) -> None:
    """Cuts a bucket in halves, and moves what these enclose. A half without entries gets no node."""
    pool = tree.pool
    pool[node + CHILD] = pool[node + CHILD + 1] = 0
    n_left = 0
    for index in range(pool[node + N_LEAF]):
        at = pool[node + LEAF] + ROW * index
        test = hull_in(pool, node, pool[at] >> 32)
        low, high = pool[test + 1], pool[test + 2]
        half = half_of(pool, node, low, high)
        if half < 0:
            keep_row(pool, node, index, n_left)
            n_left += 1
            continue
        child = pool[node + CHILD + half]
        if child == 0:
            child = new_node(tree, node, pool[node + SLOT], low, home_mask(low, high))
            pool[node + CHILD + half] = child
        else:
            mask = common_mask(pool[child + LOW], pool[child + MASK], low, high)
            pool[child + LOW], pool[child + MASK] = low & mask, mask
        append_row(tree, child, at)
    shorten(tree, node, n_left)
    _push(tree, node)
    for half in range(2):
        child = pool[node + CHILD + half]
        if child:
            if pool[child + MASK] == -1:
                guard_again(tree, child)
            _push(tree, child)


@kernel
def _partition(tree: Any, node: int) -> None:
    """Moves the entries that are suited to the best attribute to a top bucket of its own; else extends the leaf."""
    pool = tree.pool
    mark_path(tree, node, 1)
    touched: Any = np.int64(0)
    n = pool[node + N_LEAF]
    for index in range(n):
        touched = add_scores(tree, pool[pool[node + LEAF] + ROW * index] >> 32, touched)
    max_cap = tree.header[MAX_CAP]
    if n > _MANY * max_cap:
        has_moved = _move_to_edges(tree, node)
        forget_scores(tree, touched)
        if not has_moved:
            pool[node + CAP] = -(-(n + n // 2) // max_cap) * max_cap
        mark_path(tree, node, -1)
        return
    slot, _ = take_best(tree, touched, tree.header[MIN_SIZE])
    if slot < 0:
        pool[node + CAP] = -(-(n + n // 2) // max_cap) * max_cap
    elif pool[node + N_EDGES] and edge(pool, node, slot):
        _follow(tree, node, slot)
    else:
        _move_to_edge(tree, node, slot)
    mark_path(tree, node, -1)


@inlined
def _move_to_edge(tree: Any, node: int, slot: int) -> None:
    pool = tree.pool
    n, n_left = pool[node + N_LEAF], 0
    top: Any = np.int64(0)
    for index in range(n):
        at = pool[node + LEAF] + ROW * index
        test = suited_test(tree, pool[at] >> 32, slot)
        if test == 0:
            keep_row(pool, node, index, n_left)
            n_left += 1
            continue
        if top == 0:
            top = _new_top(tree, node, slot, test)
        _move_to_top(tree, top, at, test)
    pool[top + BELOW] = n - n_left
    shorten(tree, node, n_left)
    guard_again(tree, top)
    _push(tree, node)
    _push(tree, top)


@inlined
def _new_top(tree: Any, node: int, slot: int, test: int) -> int:
    pool = tree.pool
    top = new_node(tree, node, slot, pool[test + 1], home_mask(pool[test + 1], pool[test + 2]))
    add_edge(tree, node, slot, top)
    return top


@inlined
def _move_to_top(tree: Any, top: int, at: int, test: int) -> None:
    pool = tree.pool
    mask = common_mask(pool[top + LOW], pool[top + MASK], pool[test + 1], pool[test + 2])
    pool[top + LOW] &= mask
    pool[top + MASK] = mask
    append_row(tree, top, at)


@kernel
def _move_to_edges(tree: Any, node: int) -> bool:
    """Moves entries to edges for as many attributes as room was asked for; whether there was one.

    A row's INDEX is its slot + 1 meanwhile, and BELOW of a new top 0.
    """
    pool, slots, header = tree.pool, tree.slots, tree.header
    n, n_left, n_new = pool[node + N_LEAF], 0, 0
    for index in range(n):
        body = pool[pool[node + LEAF] + ROW * index] >> 32
        slot = own_best(tree, body, header[MIN_SIZE])
        pool[body + INDEX] = slot + 1
        if slot >= 0:
            slots[slot, CHOSEN] += 1
    for index in range(n):
        at = pool[node + LEAF] + ROW * index
        body = pool[at] >> 32
        slot = pool[body + INDEX] - 1
        if slot >= 0 and slots[slot, CHOSEN] >= header[MIN_SIZE]:
            test = test_on(pool, body, slot)
            cell = edge(pool, node, slot) if pool[node + N_EDGES] else np.int64(0)
            if cell and pool[pool[cell + 1] + BELOW]:
                pool[body + NODE], pool[body + INDEX] = -node, header[LIMBO]
                header[LIMBO] = body
                continue
            if cell:
                _move_to_top(tree, pool[cell + 1], at, test)
                continue
            if n_new < _AT_ONCE:
                n_new += 1
                _move_to_top(tree, _new_top(tree, node, slot, test), at, test)
                continue
        keep_row(pool, node, index, n_left)
        pool[body + INDEX] = n_left
        n_left += 1
    shorten(tree, node, n_left)
    _push(tree, node)
    if n_new:
        for cell in range(pool[node + EDGES], pool[node + EDGES] + (1 << pool[node + EDGES_SIZE]), 2):
            top = pool[cell + 1]
            if pool[cell] and pool[top + BELOW] == 0:
                pool[top + BELOW] = pool[top + N_LEAF]
                guard_again(tree, top)
                _push(tree, top)
    return n_left < n


@inlined
def _follow(tree: Any, node: int, slot: int) -> None:
    """Entries that came to be suited to an attribute of which there is an edge go to limbo, to be placed there."""
    pool, header = tree.pool, tree.header
    n_left = 0
    for index in range(pool[node + N_LEAF]):
        body = pool[pool[node + LEAF] + ROW * index] >> 32
        if suited_test(tree, body, slot):
            pool[body + NODE], pool[body + INDEX] = -node, header[LIMBO]
            header[LIMBO] = body
        else:
            keep_row(pool, node, index, n_left)
            n_left += 1
    shorten(tree, node, n_left)
    _push(tree, node)
