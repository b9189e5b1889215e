"""Leaves: rows of entries, each with one test, its *guard*, that is looked at before the entry's body.

The guard is the test of the least share, of those that the path to the leaf leaves open: a bucket that is no single key
leaves the test on its own attribute open. It is a matter of speed alone: a body is checked whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.dynamic_betree.blocks import give_block, size_for, take_block
from profilec.runtime.matchers.dynamic_betree.statistics import share, slot_of, test_on, tests_of
from profilec.runtime.matchers.dynamic_betree.tree import (
    CAP,
    INDEX,
    IS_USED,
    LEAF,
    LEAF_SIZE,
    MASK,
    MAX_CAP,
    N_LEAF,
    NODE,
    PARENT,
    ROOT,
    ROW,
    SLOT,
)

_OPEN = 0.01
"""Of a test on the leaf's own attribute that is narrower than the bucket: it tells entries of the bucket apart."""


@inlined
def row_words(n_rows: int) -> int:
    """How many words rows may take."""
    return 2 * ROW * n_rows + 16


@inlined
def mark_path(tree: Any, node: int, is_used: int) -> None:
    """Marks the attributes of a path as used (1), or takes that back (-1)."""
    pool = tree.pool
    while node != ROOT:
        tree.slots[pool[node + SLOT], IS_USED] += is_used
        node = pool[node + PARENT]


@kernel
def guard_of(tree: Any, node: int, body: int) -> Any:
    """The place of an entry's guard, 0 for none; the path is marked."""
    pool = tree.pool
    own, cell = pool[node + SLOT], ~pool[node + MASK]
    best: Any = np.int64(0)
    least = 2.0
    for at in tests_of(pool, body):
        slot, low, high = slot_of(pool[at]), pool[at + 1], pool[at + 2]
        if low > high:
            return at
        if slot == own:
            own_share = 1.0 if low ^ high == cell else _OPEN
        elif tree.slots[slot, IS_USED]:
            own_share = 1.0
        else:
            own_share = share(tree, slot, low, high)
        if own_share < least:
            best, least = at, own_share
    return best


@inlined
def write_row(pool: Any, at: int, body: int, guard: int) -> None:
    if guard:
        pool[at] = (body << 32) | (slot_of(pool[guard]) + 1)
        pool[at + 1], pool[at + 2] = pool[guard + 1], pool[guard + 2]
    else:
        pool[at] = body << 32


@kernel
def append(tree: Any, node: int, body: int, guard: int) -> None:
    """Adds an entry to a node's leaf."""
    pool = tree.pool
    n = pool[node + N_LEAF]
    resize(tree, node, n + 1)
    write_row(pool, pool[node + LEAF] + ROW * n, body, guard)
    pool[node + N_LEAF] = n + 1
    pool[body + NODE], pool[body + INDEX] = node, n


@inlined
def append_row(tree: Any, node: int, at: int) -> None:
    """Moves the row at a place to another node's leaf as it is."""
    pool = tree.pool
    n = pool[node + N_LEAF]
    resize(tree, node, n + 1)
    to = pool[node + LEAF] + ROW * n
    pool[to], pool[to + 1], pool[to + 2] = pool[at], pool[at + 1], pool[at + 2]
    pool[node + N_LEAF] = n + 1
    body = pool[to] >> 32
    pool[body + NODE], pool[body + INDEX] = node, n


@inlined
def keep_row(pool: Any, node: int, index: int, to: int) -> None:
    """Moves a row within its leaf."""
    if index != to:
        at, target = pool[node + LEAF] + ROW * index, pool[node + LEAF] + ROW * to
        pool[target], pool[target + 1], pool[target + 2] = pool[at], pool[at + 1], pool[at + 2]
        pool[(pool[target] >> 32) + INDEX] = to


@kernel
def resize(tree: Any, node: int, n_rows: int) -> None:
    """Sees to it that a leaf's block is large enough for so many rows; one far too large is given back."""
    pool = tree.pool
    size, at = pool[node + LEAF_SIZE], pool[node + LEAF]
    n_words = ROW * n_rows
    if n_rows == 0:
        if size:
            give_block(tree, at, size)
            pool[node + LEAF_SIZE] = pool[node + LEAF] = 0
        return
    if size and n_words <= 1 << size and 8 * n_words > 1 << size:
        return
    new_size = size_for(n_words)
    if new_size == size:
        return
    to = take_block(tree, new_size)
    if size:
        for word in range(min(n_words, ROW * pool[node + N_LEAF])):
            pool[to + word] = pool[at + word]
        give_block(tree, at, size)
    pool[node + LEAF], pool[node + LEAF_SIZE] = to, new_size


@kernel
def shorten(tree: Any, node: int, n_rows: int) -> None:
    """Leaves only the first rows; a capacity that was extended is taken back."""
    pool = tree.pool
    pool[node + N_LEAF] = n_rows
    resize(tree, node, n_rows)
    max_cap = tree.header[MAX_CAP]
    if pool[node + CAP] > max_cap and 4 * n_rows < pool[node + CAP]:
        pool[node + CAP] = max(1, -(-n_rows // max_cap)) * max_cap


@kernel
def take_row(tree: Any, body: int) -> None:
    """Removes an entry from its leaf: the last row comes in its place."""
    pool = tree.pool
    node = pool[body + NODE]
    keep_row(pool, node, pool[node + N_LEAF] - 1, pool[body + INDEX])
    shorten(tree, node, pool[node + N_LEAF] - 1)


@kernel
def guard_again(tree: Any, node: int) -> None:
    """Chooses the guards of a leaf anew, since its path has changed."""
    pool = tree.pool
    mark_path(tree, node, 1)
    for at in range(pool[node + LEAF], pool[node + LEAF] + ROW * pool[node + N_LEAF], ROW):
        body = pool[at] >> 32
        write_row(pool, at, body, guard_of(tree, node, body))
    mark_path(tree, node, -1)


@inlined
def hull_in(pool: Any, node: int, body: int) -> int:
    """The place of the test by which an entry is filed in a bucket."""
    return test_on(pool, body, pool[node + SLOT])
