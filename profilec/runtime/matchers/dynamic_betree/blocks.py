"""Memory of a tree: blocks of 2**n words, taken from free lists, and from the end of the pool where these have none.

Invariant: a kernel asks `has_room` before it changes anything, for as many words as it may take at most, as though no
block were free; what it takes then is there.
"""

from __future__ import annotations

from typing import Any

from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.dynamic_betree.tree import (
    CAP,
    CHILD,
    FREE,
    LOW,
    MASK,
    MAX_CAP,
    N_NODES,
    NEED_QUEUE,
    NEED_WORDS,
    NODE_SIZE,
    PARENT,
    SLOT,
    USED,
)

SMALLEST = 3
NEW_NODES = 40
"""Nodes that a step makes at most."""


@inlined
def has_room(tree: Any, n_words: int) -> bool:
    """Whether so many words can be taken, beside NEW_NODES nodes; what is missing is written to the header."""
    header = tree.header
    n_words += header[USED] + NEW_NODES * (1 << NODE_SIZE)
    n_nodes = header[N_NODES] + NEW_NODES
    if n_words <= len(tree.pool) and n_nodes <= len(tree.work):
        return True
    header[NEED_WORDS], header[NEED_QUEUE] = n_words, n_nodes
    return False


@inlined
def size_for(n_words: int) -> int:
    """The size of the block for so many words."""
    size = SMALLEST
    while (1 << size) < n_words:
        size += 1
    return size


@inlined
def take_block(tree: Any, size: int) -> int:
    header = tree.header
    at = header[FREE + size]
    if at:
        header[FREE + size] = tree.pool[at]
    else:
        at = header[USED]
        header[USED] = at + (1 << size)
    return at


@inlined
def give_block(tree: Any, at: int, size: int) -> None:
    tree.pool[at] = tree.header[FREE + size]
    tree.header[FREE + size] = at


@kernel
def new_node(tree: Any, parent: int, slot: int, low: int, mask: int) -> int:
    """A bucket with nothing in it, that is not cut."""
    pool = tree.pool
    node = take_block(tree, NODE_SIZE)
    for field in range(1 << NODE_SIZE):
        pool[node + field] = 0
    pool[node + LOW], pool[node + MASK] = low & mask, mask
    pool[node + CHILD] = -1
    pool[node + PARENT], pool[node + SLOT] = parent, slot
    pool[node + CAP] = tree.header[MAX_CAP]
    tree.header[N_NODES] += 1
    return node


@inlined
def give_node(tree: Any, node: int) -> None:
    """One whose leaf and edges have been given back."""
    give_block(tree, node, NODE_SIZE)
    tree.header[N_NODES] -= 1
