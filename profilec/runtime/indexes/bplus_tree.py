"""A B+-tree of distinct keys, bulk-loaded into flat arrays.

In: keys, ascending. Out: for a number, the position in the leaves of the last key that is not greater.

    FANOUT = 3                     level 1: 2 9 17                            one node, the root
    level 0, the leaves: 2 4 7     9 11 15     17 20                          nodes 0, 1 and 2
    number 12        on level 1 comes after 9, the key 1: node 1 of level 0, where it comes after 11, the key 4

A level has the first keys of the nodes of the level below. Node i of a level has its keys i FANOUT to before
(i + 1) FANOUT, all but the last being full; the key at position p of a level leads to node p of the level below. So
there are no pointers, and the leaves are one array in order, as a B+-tree's linked leaves are.

Invariant: level l + 1 is every FANOUT-th key of level l; the last level has FANOUT keys or fewer.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from profilec.runtime.image import Int32

FANOUT = 64
"""Keys to a node. LAYOUT: four cache lines of them; a page of the paper's, on disk, would have a few hundred."""


class BPlusTree:
    """Numbers to positions of keys.

    >>> tree = BPlusTree(np.array([2, 4, 7, 9, 11, 15, 17, 20], np.int32))
    >>> tree.last_not_above(12), tree.last_not_above(2), tree.last_not_above(1)
    (4, 0, -1)
    """

    __slots__ = ("keys", "levels")

    def __init__(self, keys: Int32, fanout: int = FANOUT) -> None:
        levels = [keys]
        while len(levels[-1]) > fanout:
            levels.append(levels[-1][::fanout])
        self.keys = keys
        """The keys of the leaves."""
        self.levels = [(level.astype(np.int32).data, fanout) for level in reversed(levels)]
        """From the root down: its keys, and how many a node has."""

    def last_not_above(self, number: int) -> int:
        """The position of the last key that is not greater; -1 where all are."""
        position = 0
        for keys, fanout in self.levels:
            start = position * fanout
            position = bisect_right(keys, number, start, min(start + fanout, len(keys))) - 1
            if position < 0:
                return -1
        return position
