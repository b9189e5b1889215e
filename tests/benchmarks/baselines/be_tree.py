"""`be_tree`: the BE-Tree that is built and changed entry by entry (Sadoghi and Jacobsen, SIGMOD 2011).

In: the ranks of a document. Out: the entries all of whose rank tests hold. The paper's BE inserts one entry after
another, its BE-B knows all of them when it ranks the root's attributes (7.2).

    be_tree_nodes        where nodes, leaves and directories are kept
    be_tree_entries      predicates, and the leaf of each entry
    be_tree_insertions   Algorithms 3 to 6
    be_tree_deletions    what an entry that leaves brings with it
    here                 the walk of Algorithms 1 and 2

It is a baseline beside the product's own tree, which is loaded in one piece, weighs attributes by cost and cannot
change. A leaf is the paper's too: entries, each checked up to its first predicate that fails. Those that the path
implies are not checked (5: subsumed), the others come most selective first.

Self-adjustment (5): a leaf counts, over the documents that came to it since the last time, the predicates evaluated
for entries that did not match. Its rank is Gain, the predicates of its entries that are on its path, less Loss, that
count for a document. Left open by the paper and decided here: `recycle` is called at the end of a window of documents,
and inserts again the entries of all leaves whose rank is below theta = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from baselines.be_tree_deletions import delete_each
from baselines.be_tree_entries import ASKED, EXACT, FIRST, LAST, RANGES, Predicates, Work, enclosing_half
from baselines.be_tree_insertions import insert_each, insert_together
from baselines.be_tree_nodes import (
    CHILD,
    DISCARDED,
    EVENTS,
    HEAD,
    LEAF,
    N_EDGES,
    N_LEAF,
    PARENT,
    SLOT,
    WIDTH,
    Store,
    edge,
)
from baselines.rank_tests import RankTests, rank_tests, rows_of, sparse
from baselines.scan import by_selectivity
from numba import njit

from profilec.runtime.image import Image, Int32

MAX_CAP = 5
"""The leaf capacity for less than 1% of matches (BE-Tree, Table 4)."""


class BETree:
    """Empty at first; `insert` and `delete` take numbers of entries."""

    __slots__ = ("_dense", "_max_cap", "_out", "_predicates", "_ranges", "_store", "_work")

    def __init__(self, tests: RankTests, max_cap: int = MAX_CAP) -> None:
        self._max_cap = max_cap
        self._predicates, self._ranges = _predicates(tests)
        self._store = Store.of(tests.n_entries, len(tests.tests), max_cap)
        n_slots, n_nodes = len(tests.n_ranks), len(self._store.node)
        per_slot = np.zeros(n_slots, np.int32), np.zeros(n_slots + 1, np.bool_), np.empty(n_slots, np.int32)
        self._work = Work(*per_slot, np.empty(n_nodes, np.int32), np.empty(tests.n_entries, np.int32))
        self._dense = np.zeros(n_slots + 1, np.int32)
        self._out = np.empty(tests.n_entries, np.int32)

    @property
    def n_bytes(self) -> int:
        """Of nodes, directories, and leaves with their entries; not of the entries as they were given."""
        return self._store.n_bytes + sum(array.nbytes for array in self._ranges)

    def insert(self, entries: Int32) -> None:
        """One after another."""
        insert_each(*self._state, entries, self._max_cap)

    def insert_together(self, entries: Int32) -> None:
        """All at once, into an empty tree."""
        insert_together(*self._state, entries, self._max_cap)

    def delete(self, entries: Int32) -> None:
        """One after another; each must be there."""
        delete_each(*self._state, entries, self._max_cap)

    def recycle(self) -> int:
        """Ends a window of documents; how many entries were inserted again."""
        entries = self._work.moved[: ranked_below(self._store, self._predicates, self._work.moved)].copy()
        self.delete(entries)
        self.insert(entries)
        return len(entries)

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending."""
        return self.candidates_of(*sparse(ranks))

    def candidates_of(self, slots: Int32, ranks: Int32) -> Int32:
        """The same for a sparse document."""
        scratch = self._dense, self._work.stack, self._out
        return np.sort(self._out[: match(slots, ranks, self._store, self._ranges, *scratch)])

    @property
    def _state(self) -> tuple[Store, Predicates, Work]:
        return self._store, self._predicates, self._work


def be(image: Image | RankTests, max_cap: int = MAX_CAP) -> BETree:
    """Entry by entry."""
    tests = image if isinstance(image, RankTests) else rank_tests(image)
    tree = BETree(tests, max_cap)
    tree.insert(np.arange(tests.n_entries, dtype=np.int32))
    return tree


def be_b(image: Image | RankTests, max_cap: int = MAX_CAP) -> BETree:
    """All entries at once."""
    tests = image if isinstance(image, RankTests) else rank_tests(image)
    tree = BETree(tests, max_cap)
    tree.insert_together(np.arange(tests.n_entries, dtype=np.int32))
    return tree


def _predicates(tests: RankTests) -> tuple[Predicates, tuple[Int32, ...]]:
    """The columns, each entry's most selective first; and the ranges of those that accept not all of their hull."""
    rows = rows_of(tests)
    share = tests.n_accepted / tests.n_ranks[tests.slot]
    expected = (tests.presence()[tests.slot] * share)[tests.tests].astype(np.float32)
    order = by_selectivity(rows.off, expected)
    asked = np.stack((rows.slot, rows.low, rows.high, np.maximum(rows.ranges, np.int32(EXACT))), axis=1)[order]
    top_level = np.array([max(0, int(n) - 2).bit_length() for n in tests.n_ranks], np.int32)
    none_yet = np.full(tests.n_entries, -1, np.int32)
    predicates = Predicates(rows.off, asked, none_yet, top_level)
    return predicates, (rows.range_off, rows.range_low, rows.range_high)


@njit(nogil=True, cache=True)
def match(slots: Any, ranks: Any, store: Any, ranges: Any, dense: Any, stack: Any, out: Any) -> Any:
    """Algorithms 1 and 2; writes the matching entries, and returns how many they are."""
    node, pool = store.node, store.pool
    for i in range(len(slots)):
        dense[slots[i]] = ranks[i]
    n, n_stack = 0, 1
    stack[0] = 0
    while n_stack:
        n_stack -= 1
        at = np.int64(stack[n_stack])
        if node[at, N_LEAF]:
            n_discarded, record = 0, np.int64(node[at, LEAF])
            for _ in range(node[at, N_LEAF]):
                end = record + HEAD + WIDTH * np.int64(pool[record + 1])
                n_evaluated = _first_failing(pool, record + HEAD, end, ranges, dense)
                if n_evaluated:
                    n_discarded += n_evaluated
                else:
                    out[n] = pool[record]
                    n += 1
                record = end
            node[at, EVENTS] += 1
            node[at, DISCARDED] += n_discarded
        if node[at, N_EDGES]:
            for i in range(len(slots)):
                top = edge(store, at, slots[i])
                if top >= 0:
                    stack[n_stack] = top
                    n_stack += 1
        if node[at, CHILD] >= 0:
            rank = dense[node[at, SLOT]]
            stack[n_stack] = enclosing_half(node, at, rank, rank)
            n_stack += 1
    for i in range(len(slots)):
        dense[slots[i]] = 0
    return n


@njit(nogil=True, cache=True)
def _first_failing(pool: Any, first: Any, end: Any, ranges: Any, dense: Any) -> Any:
    """How many predicates were evaluated, the first one that fails included; 0 where all hold."""
    range_off, range_low, range_high = ranges
    for n_evaluated, at in enumerate(range(first, end, WIDTH), 1):
        rank = dense[pool[at + ASKED]]
        if rank < pool[at + FIRST] or rank > pool[at + LAST]:
            return n_evaluated
        which = pool[at + RANGES]
        if which >= 0:
            part, last = range_off[which], range_off[which + 1]
            while part < last and (rank < range_low[part] or rank > range_high[part]):
                part += 1
            if part == last:
                return n_evaluated
    return 0


@njit(nogil=True, cache=True)
def ranked_below(store: Any, predicates: Any, out: Any) -> Any:
    """Writes the entries of leaves whose rank is below 0, and returns how many they are; all counts become 0."""
    node, n = store.node, 0
    for entry in range(len(predicates.leaf)):
        leaf = np.int64(predicates.leaf[entry])
        if leaf >= 0 and node[leaf, EVENTS]:
            n_attributes, at = 0, leaf
            while at:
                above = np.int64(node[at, PARENT])
                n_attributes += node[above, SLOT] != node[at, SLOT]
                at = above
            gain = np.float64(n_attributes * node[leaf, N_LEAF])
            if gain - node[leaf, DISCARDED] / node[leaf, EVENTS] < 0:
                out[n] = entry
                n += 1
    node[: store.used[0], EVENTS] = 0
    node[: store.used[0], DISCARDED] = 0
    return n
