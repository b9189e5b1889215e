"""The entries of a BE-Tree that changes: their predicates, and the leaves that they are written in.

In: nothing. Out: what `be_tree_insertions` and `be_tree_deletions` share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from baselines.be_tree_nodes import CHILD, HEAD, LEVEL, LOW, WIDTH, room_in_leaf
from numba import njit
from numpy.typing import NDArray

from profilec.runtime.image import Int32

ASKED, FIRST, LAST, RANGES = range(WIDTH)
"""A predicate: its slot, the least and the greatest rank that it accepts (Table 1: intervals), and the number of the
ranges that it accepts of these, where it does not accept all."""
EXACT, SUBSUMED = -1, -2
"""RANGES: it accepts the whole interval; it does, and the entry's path says as much (section 5)."""


class Predicates(NamedTuple):
    """Entry e has the rows `off[e] .. off[e + 1]` of four integers each, the most selective first.

    `leaf`: per entry its node, -1 while it is in none. `top_level`: per slot that of its top bucket.
    """

    off: Int32
    rows: NDArray[np.int32]
    leaf: Int32
    top_level: Int32


class Work(NamedTuple):
    """Scratch: per slot how many entries of a leaf have it, and whether the leaf's path has; slots and nodes that are
    yet to be done; entries that are moved."""

    count: Int32
    is_used: NDArray[np.bool_]
    touched: Int32
    stack: Int32
    moved: Int32


@njit(nogil=True, cache=True, inline="always")
def enclosing_half(node: Any, number: Any, low: Any, high: Any) -> Any:
    """The half of a bucket that encloses the ranks, or -1."""
    child = np.int64(node[number, CHILD])
    if child < 0:
        return child
    middle = node[number, LOW] + (1 << (node[number, LEVEL] - 1))
    if high < middle:
        return child
    return child + 1 if low >= middle else np.int64(-1)


@njit(nogil=True, cache=True)
def mark(node: Any, predicates: Any, number: Any, row: Any) -> None:
    """The predicate is on the path to the bucket: is it the bucket?"""
    low, own = node[number, LOW], predicates.rows[row]
    if own[RANGES] < 0:
        is_whole = own[FIRST] == low and own[LAST] == low + (1 << node[number, LEVEL]) - 1
        own[RANGES] = SUBSUMED if is_whole else EXACT


@njit(nogil=True, cache=True)
def settle(store: Any, predicates: Any, entry: Any, number: Any) -> None:
    """Writes the entry's record in the node's leaf, without what is subsumed."""
    rows, first, last = predicates.rows, predicates.off[entry], predicates.off[entry + 1]
    n = 0
    for row in range(first, last):
        n += rows[row, RANGES] != SUBSUMED
    at = room_in_leaf(store, number, HEAD + WIDTH * n)
    store.pool[at], store.pool[at + 1] = entry, n
    at += HEAD
    for row in range(first, last):
        if rows[row, RANGES] != SUBSUMED:
            for field in range(WIDTH):
                store.pool[at + field] = rows[row, field]
            at += WIDTH
    predicates.leaf[entry] = number


@njit(nogil=True, cache=True)
def row_of(predicates: Any, entry: Any, slot: Any) -> Any:
    """The entry's predicate on a slot, or -1."""
    for row in range(predicates.off[entry], predicates.off[entry + 1]):
        if predicates.rows[row, ASKED] == slot:
            return np.int64(row)
    return np.int64(-1)
