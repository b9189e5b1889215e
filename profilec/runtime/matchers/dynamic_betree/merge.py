"""What an underflowing leaf or partition comes to (BE-Tree, 4.2: the merge operator, and 4.3: the merge rule).

The paper gives no algorithm. An entry's body knows its leaf, so no walk is needed. When it has left,

    a partition of fewer than `min_size` entries is dissolved, the outermost there is: its nodes are given back, and its
    entries placed again from the node above on ("reinserted", where that node's leaf has the last word)
    else, from the bucket that lost it outward:
        halves that are leaves and open are merged with their bucket, if it is open and all fit half its capacity (so
        that the next insertion does not cut it again)
        an empty bucket is given back
        a bucket that has but one half and nothing of its own gives way to that half

Invariant: those of `sound.py`. What is open is no home of partitions, so its entries may go to the bucket around it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.dynamic_betree.blocks import give_block, give_node
from profilec.runtime.matchers.dynamic_betree.directory import edge, remove_edge
from profilec.runtime.matchers.dynamic_betree.leaf import append_row, guard_again, resize
from profilec.runtime.matchers.dynamic_betree.place import is_open_leaf, is_top
from profilec.runtime.matchers.dynamic_betree.tree import (
    BELOW,
    CHILD,
    EDGES,
    EDGES_SIZE,
    INDEX,
    LEAF,
    LIMBO,
    MAX_CAP,
    MIN_SIZE,
    N_EDGES,
    N_LEAF,
    NODE,
    PARENT,
    ROOT,
    ROW,
    SLOT,
)


@kernel
def lose(tree: Any, node: int) -> None:
    """Sees to the buckets and partitions around a leaf that has lost an entry."""
    pool = tree.pool
    at: Any = node
    outermost: Any = np.int64(0)
    while at != ROOT:
        if is_top(pool, at):
            pool[at + BELOW] -= 1
            if pool[at + BELOW] < tree.header[MIN_SIZE]:
                outermost = at
        at = pool[at + PARENT]
    if outermost:
        dissolve(tree, outermost)
    else:
        _merge(tree, node)


@kernel
def dissolve(tree: Any, top: int) -> None:
    """Gives a partition's nodes back, and puts its entries in limbo."""
    pool, queue = tree.pool, tree.queue
    above = pool[top + PARENT]
    remove_edge(tree, above, pool[top + SLOT])
    queue[0] = top
    n = 1
    while n:
        n -= 1
        node = queue[n]
        for at in range(pool[node + LEAF], pool[node + LEAF] + ROW * pool[node + N_LEAF], ROW):
            body = pool[at] >> 32
            pool[body + NODE], pool[body + INDEX] = -above, tree.header[LIMBO]
            tree.header[LIMBO] = body
        resize(tree, node, 0)
        if pool[node + CHILD] >= 0:
            for half in range(2):
                if pool[node + CHILD + half]:
                    queue[n] = pool[node + CHILD + half]
                    n += 1
        if pool[node + N_EDGES]:
            at, size = pool[node + EDGES], pool[node + EDGES_SIZE]
            for cell in range(at, at + (1 << size), 2):
                if pool[cell]:
                    queue[n] = pool[cell + 1]
                    n += 1
            give_block(tree, at, size)
        give_node(tree, node)


@inlined
def _merge(tree: Any, node: int) -> None:
    pool = tree.pool
    while node != ROOT:
        parent, is_whole = pool[node + PARENT], is_top(pool, node)
        if pool[node + CHILD] >= 0:
            if _gives_way(tree, node):
                node = parent
                if is_whole:
                    return
                continue
            if not _take_halves(tree, node):
                return
        if is_whole:
            return
        if pool[node + N_LEAF] == 0 and is_open_leaf(pool, node):
            pool[parent + CHILD + (pool[parent + CHILD + 1] == node)] = 0
            give_node(tree, node)
        node = parent


@inlined
def _take_halves(tree: Any, node: int) -> bool:
    """Whether a bucket that was cut is so no more."""
    pool = tree.pool
    if pool[node + N_EDGES]:
        return False
    n = pool[node + N_LEAF]
    for half in range(2):
        child = pool[node + CHILD + half]
        if child:
            if not is_open_leaf(pool, child):
                return False
            n += pool[child + N_LEAF]
    if 2 * n > tree.header[MAX_CAP]:
        return False
    for half in range(2):
        child = pool[node + CHILD + half]
        if child:
            for at in range(pool[child + LEAF], pool[child + LEAF] + ROW * pool[child + N_LEAF], ROW):
                append_row(tree, node, at)
            resize(tree, child, 0)
            give_node(tree, child)
    pool[node + CHILD], pool[node + CHILD + 1] = -1, 0
    guard_again(tree, node)
    return True


@inlined
def _gives_way(tree: Any, node: int) -> bool:
    """Whether a bucket had only one half, which now stands in its place."""
    pool = tree.pool
    left, right = pool[node + CHILD], pool[node + CHILD + 1]
    if pool[node + N_LEAF] or pool[node + N_EDGES] or (left > 0) == (right > 0):
        return False
    only, parent = left + right, pool[node + PARENT]
    if is_top(pool, node):
        pool[edge(pool, parent, pool[node + SLOT]) + 1] = only
        pool[only + BELOW] = pool[node + BELOW]
    else:
        pool[parent + CHILD + (pool[parent + CHILD + 1] == node)] = only
    pool[only + PARENT] = parent
    give_node(tree, node)
    return True
