"""`DynamicBETree`: entries that come and go one by one.

In: conjunctions of tests, over slots and int64 keys. Out: for a document, the entries all of whose tests hold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.matchers.dynamic_betree.adjust import judge, recycle
from profilec.runtime.matchers.dynamic_betree.batch import match_batch
from profilec.runtime.matchers.dynamic_betree.change import delete, insert
from profilec.runtime.matchers.dynamic_betree.match import SHORT_OUT, UNSETTLED_TREE, match_one
from profilec.runtime.matchers.dynamic_betree.sound import check
from profilec.runtime.matchers.dynamic_betree.tree import (
    DONE,
    ILL_FORMED,
    IN_USE,
    LOOKED,
    MISSING,
    N_ENTRIES,
    N_NODES,
    NO_ROOM,
    PROGRESS,
    ROOT,
    empty_tree,
    with_more_room,
)

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

MAX_CAP = 9
"""With one more, a leaf fills a block of 32 words."""
MIN_SIZE = 3
"""The least entries of a partition (BE-Tree, 7)."""

_NONE, _NO_KEYS = np.zeros(0, np.int32), np.zeros(0, np.int64)
_NOTHING = _NONE, np.zeros(1, np.int32), _NONE, _NONE, _NO_KEYS, _NO_KEYS
"""No entries, for `insert`."""


class DynamicBETree:
    """An empty tree; who holds it sees to it that calls do not overlap, those that match included.

    `max_cap`: entries of which a leaf has at most before it is cut. `min_size`: entries without which no partition is
    made, and below which one is dissolved; at least 2. Memory grows with the greatest entry number and the greatest
    slot. Arrays that are given are contiguous, and may be written to (nothing is): for others, all kernels would be
    compiled again.

    >>> tree = DynamicBETree()
    >>> slots, off = np.array([0, 2], np.int32), np.array([0, 1, 3], np.int32)
    >>> tree.insert(7, slots, off, np.array([5, 1, 8]), np.array([9, 1, 8]))  # 5 <= a <= 9 AND c IN (1, 8)
    >>> out = np.empty(len(tree), np.int32)
    >>> tree.match(np.array([2, 0], np.int32), np.array([8, 5]), out), out
    (1, array([7], dtype=int32))
    """

    __slots__ = ("_entry", "_test_off", "_tree")

    def __init__(self, max_cap: int = MAX_CAP, min_size: int = MIN_SIZE) -> None:
        if max_cap < 2 or not 2 <= min_size <= max_cap:
            raise ValueError("max_cap is at least 2, and min_size is 2 .. max_cap")
        self._tree = empty_tree(max_cap, min_size)
        self._entry, self._test_off = np.zeros(1, np.int32), np.zeros(2, np.int32)

    def insert(self, entry: int, slots: Int32, off: Int32, lows: Int64, highs: Int64) -> None:
        """Adds an entry, by a number >= 0 that is not in use: a conjunction of n >= 0 tests.

        Test i is on `slots[i]`, and holds for a key within one of the closed intervals `lows[j] .. highs[j]`, j in
        `off[i] .. off[i + 1]`, ascending and disjoint. Raises ValueError, and changes nothing, where that is not so.
        """
        self._entry[0], self._test_off[1] = entry, len(slots)
        self._tree.header[PROGRESS] = 0
        code = insert(*self._tree, self._entry, self._test_off, slots, off, lows, highs)
        if code != DONE:
            self._complete(code, insert, self._entry, self._test_off, slots, off, lows, highs)

    def insert_many(self, entries: Int32, test_off: Int32, slots: Int32, off: Int32, lows: Int64, highs: Int64) -> None:
        """Adds entries one after another; entry i has the tests `test_off[i] .. test_off[i + 1]`.

        Raises ValueError at the first that cannot be added: those before it are there.
        """
        if len(test_off) != len(entries) + 1:
            raise ValueError("test_off is of another length than entries")
        self._tree.header[PROGRESS] = 0
        given = entries, test_off, slots, off, lows, highs
        while self._tree.header[PROGRESS] < len(entries):
            code = insert(*self._tree, *given)
            if code != DONE:
                self._complete(code, insert, *given)

    def delete(self, entry: int) -> None:
        """Removes an entry. Raises KeyError where it is not there."""
        code = delete(*self._tree, entry)
        if code != DONE:
            self._complete(code, delete, entry)

    def match(self, slots: Int32, keys: Int64, out: Int32) -> int:
        """Writes the entries all of whose tests hold to `out`, in no order; how many they are.

        The document has `keys[i]` for `slots[i]`, each slot once; one that it lacks satisfies no test. `out` has room
        for all entries of the tree: ValueError.
        """
        n = match_one(*self._tree, slots, keys, out)
        if n == UNSETTLED_TREE:
            self._settle()
            n = match_one(*self._tree, slots, keys, out)
        if n == SHORT_OUT:
            raise ValueError(f"out has room for {len(out)} entries of {len(self)}")
        return n

    def match_batch(self, off: Int64, slots: Int32, keys: Int64) -> tuple[Int64, Int64]:
        """The same for documents `off[i] .. off[i + 1]`: the number of a document and an entry, each time, in no
        order."""
        self._settle()
        return match_batch(self._tree, off, slots, keys)

    def prepare(self) -> None:
        """Has the kernels of `adjust` loaded, so that no later document waits for that. Leaves this tree as it is."""
        _load_kernels()

    def adjust(self) -> int:
        """Places entries anew where documents since the last time tell that it is worth it; of how many partitions."""
        self._settle()
        found = np.empty((int(self._tree.header[N_NODES]), 2), np.int64)
        n = judge(*self._tree, found)
        self._settle()
        for node, slot in found[:n].tolist():
            recycle(*self._tree, node, slot)
            self._settle()
        return n

    @property
    def n_looked_at(self) -> int:
        """The entries of which some test was looked at for the last document."""
        return int(self._tree.header[LOOKED])

    def check(self) -> None:
        """Raises AssertionError where the invariants of `sound` do not hold."""
        self._settle()
        check(self._tree)

    def __len__(self) -> int:
        return int(self._tree.header[N_ENTRIES])

    def __contains__(self, entry: int) -> bool:
        table = self._tree.table
        return 0 <= entry < len(table) and bool(table[entry])

    @property
    def n_bytes(self) -> int:
        """Of all arrays."""
        return sum(array.nbytes for array in self._tree)

    def _settle(self) -> None:
        """Does what an earlier call left to do."""
        while insert(*self._tree, *_NOTHING) != DONE:
            self._tree = with_more_room(self._tree)

    def _complete(self, code: int, change: Callable[..., int], *given: Any) -> None:
        """Goes on with a call that did not say DONE."""
        while code == NO_ROOM:
            self._tree = with_more_room(self._tree)
            self._settle()
            code = change(*self._tree, *given)
        if code == IN_USE:
            raise ValueError("the entry's number is in use")
        if code == ILL_FORMED:
            raise ValueError(
                "an entry is to have a number >= 0, slots >= 0, and intervals that ascend and are disjoint"
            )
        if code == MISSING:
            raise KeyError(given[0])
        self._settle()


@cache
def _load_kernels() -> None:
    """Once in a process: a tree of its own, whose only attribute is recycled."""
    tree, n = DynamicBETree(), 4 * MAX_CAP
    off, keys = np.arange(n + 1, dtype=np.int32), np.arange(n)
    tree.insert_many(off[:-1], off, np.zeros(n, np.int32), off, keys, keys)
    tree.adjust()
    recycle(*tree._tree, ROOT, 0)
    tree._settle()
