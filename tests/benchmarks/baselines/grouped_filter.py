"""`grouped_filter`: predicates of one attribute in four structures, one for each kind of operator (Madden, Shah,
Hellerstein, Raman, SIGMOD 2002, as Wang, Zhang, Kitsuregawa describe it in sections 3 and 5).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds.

    intervals            entry 0: 5..5   entry 1: 2..7   entry 2: 3..9   entry 3: 2..5 7..9   entry 4: 4..6
    predicates                 = 5            <= 7            >= 3             != 6           >= 4 AND <= 6
    equality hash        5: 0
    inequality hash      6: 3            all that is not in the list of the rank holds
    greater-than tree    >= 3: 2   >= 4: 4
    less-than tree       <= 6: 4   <= 7: 1

A predicate is one operator and one operand. What holds in a tree is the part of it on one side of the rank. A range is
two predicates and holds where both are found, which counting tells: O(log n + L), L being the predicates that hold,
those of ranges that hold halfway too.

Left open and decided here: a balanced tree that is not changed is its sorted operands, searched by bisection. Which
ends of intervals are those of the kind, and so no predicate, an index is not told: they are the commonest ends, as in
`profilec.runtime.indexes.open_ended`. A test of several intervals that is no `!=` is the OR of them.

Invariant: of the entries found none is found twice; an entry's intervals are apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from baselines.flat_hash import FlatHash, find, flat_hash
from numba import njit
from numpy.typing import NDArray
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.interval import bitmap
from profilec.runtime.indexes.open_ended import commonest


class Hashed(NamedTuple):
    """Operand to entries: those of the operand at place i of the table are `entries[off[i] .. off[i + 1]]`."""

    table: FlatHash
    off: NDArray[np.int64]
    entries: Int32


class Tree(NamedTuple):
    """Operands, ascending, with their entries; `half[i]` is the number of the range that it is one side of, or -1."""

    operands: Int32
    entries: Int32
    half: Int32


class GroupedFilter:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = GroupedFilter(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.stab(rank).tolist()) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = ("_ends", "_equal", "_greater", "_less", "_out", "_seen", "_unequal", "constrained")

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        self.constrained = bitmap(entries)
        owner = np.repeat(entries, np.diff(off)).astype(np.int32)
        is_point = low == high
        start, end = commonest(low[~is_point]), commonest(high[~is_point])
        self._ends = np.array([start, end], np.int64)
        below = _below_the_missing(off, low, high, start, end)
        self._unequal = _hashed(high[below] + 1, owner[below])
        is_left = np.ones(len(low), np.bool_)
        is_left[below] = is_left[below + 1] = False
        self._equal = _hashed(low[is_point & is_left], owner[is_point & is_left])
        is_left &= ~is_point
        is_less = is_left & (low == start)
        is_greater = is_left & ~is_less & (high == end)
        is_range = is_left & ~is_less & ~is_greater
        n_ranges = int(is_range.sum())
        self._greater = _tree(low, owner, is_greater, is_range)
        self._less = _tree(high, owner, is_less, is_range)
        self._seen = np.zeros(n_ranges, np.bool_)
        self._out = np.empty(len(low), np.int32)

    @property
    def n_bytes(self) -> int:
        hashed = (self._equal, self._unequal)
        in_trees = sum(array.nbytes for tree in (self._greater, self._less) for array in tree)
        return in_trees + sum(each.table.n_bytes + each.off.nbytes + each.entries.nbytes for each in hashed)

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank."""
        return bitmap(self.stab(rank))

    def stab(self, rank: int) -> Int32:
        """The same as an array."""
        parts = (self._equal, self._unequal, self._greater, self._less, self._ends)
        return self._out[: probe(rank, *parts, self._seen, self._out)].copy()


def _below_the_missing(off: Int32, low: Int32, high: Int32, start: int, end: int) -> NDArray[np.int64]:
    """The first intervals of entries whose two intervals are all from start to end, but for one rank."""
    first = off[:-1][np.diff(off) == 2].astype(np.int64)
    whole = (low[first] == start) & (high[first + 1] == end) & (high[first] + 2 == low[first + 1])
    below: NDArray[np.int64] = first[whole]
    return below


def _hashed(operands: Int32, owner: Int32) -> Hashed:
    distinct, off_and_more = np.unique(np.sort(operands), return_index=True)
    off = np.append(off_and_more, len(operands)).astype(np.int64)
    return Hashed(flat_hash(distinct), off, owner[np.argsort(operands, kind="stable")])


def _tree(operands: Int32, owner: Int32, alone: NDArray[np.bool_], ranges: NDArray[np.bool_]) -> Tree:
    half = np.full(len(operands), -1, np.int32)
    half[ranges] = np.arange(int(ranges.sum()))
    own = np.flatnonzero(alone | ranges)
    own = own[np.argsort(operands[own], kind="stable")]
    return Tree(operands[own].astype(np.int32), owner[own], half[own])


@njit(nogil=True, cache=True)
def probe(
    rank: Any, equal: Any, unequal: Any, greater: Any, less: Any, ends: Any, seen: Any, out: Any
) -> Any:  # fmt: skip
    """Writes the entries whose predicates hold; how many they are. `seen`: all False, before and after."""
    n = 0
    place = find(equal.table, rank)
    if place >= 0:
        for row in range(equal.off[place], equal.off[place + 1]):
            out[n] = equal.entries[row]
            n += 1
    if ends[0] <= rank <= ends[1]:
        place = find(unequal.table, rank)
        skipped, after = (unequal.off[place], unequal.off[place + 1]) if place >= 0 else (0, 0)
        for row in range(skipped):
            out[n] = unequal.entries[row]
            n += 1
        for row in range(after, len(unequal.entries)):
            out[n] = unequal.entries[row]
            n += 1
    last = np.searchsorted(greater.operands, rank, side="right")
    for row in range(last):
        if greater.half[row] >= 0:
            seen[greater.half[row]] = True
        elif rank <= ends[1]:
            out[n] = greater.entries[row]
            n += 1
    for row in range(np.searchsorted(less.operands, rank, side="left"), len(less.operands)):
        if seen[less.half[row]] if less.half[row] >= 0 else rank >= ends[0]:
            out[n] = less.entries[row]
            n += 1
    for row in range(last):
        if greater.half[row] >= 0:
            seen[greater.half[row]] = False
    return n
