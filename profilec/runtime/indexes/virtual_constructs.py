"""The virtual construct index of one slot, SCI or LCI, in four forms (VCI 2-4).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds, as a bit vector.

    intervals    entry 0: 3..9     entry 1: 4..5     entry 2: 8..9
    cuts         3      4      6      8      10
    cells        0 [3,4)  1 [4,6)  2 [6,8)  3 [8,10)
    L = 2        entry 0: [0,2) and [2,4)     entry 1: [1,2)     entry 2: [3,4)      in cells, cut by `constructs`
    rank 5       is in cell 1; of the constructs that cover it, [0,2) and [1,2) have entries: 0 and 1

An interval is cut into constructs, intervals that are defined beforehand; each construct has a list of the entries
that use it (`construct_lists`). Which of those that cover a cell have entries, each form tells in its way: `plain`,
`clipped`, `virtual` or `table` (`activation`). Which constructs there are, `sci` and `lci` say; how long they become,
`construct_cost`.

Left open by the paper and decided here:
- Its values are the integers of a range of some thousand. A slot has any number of ranks, so the cells are those
  between the distinct endpoints of its intervals: what no interval tells apart is one value.
- It says that intervals may be open-ended, not how. One that is longer than L, and has the start, or the end, that most
  of the longer ones share, is not cut: `open_ended` has it.
- A wide interval becomes many constructs. Where all together would be more than `MAX_PIECES` to an interval and more
  than `ALWAYS_PIECES`, the widest are kept apart, and are checked one by one.
- Removing an interval empties the lists that no other one uses, and resets their bits. The entry stays constrained: a
  test that no value passes is still one. Intervals with new endpoints would need other cells, so none are added.

Build O(n log n + p), for p constructs in use; O(N + p + bits) storage. A search looks at the covering constructs, a
number that depends on L alone, not on n.

Invariant: the constructs that cover a cell have an entry at most once, and iff one of its intervals covers the cell.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable

import numpy as np
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.activation import activation
from profilec.runtime.indexes.construct_cost import MIN_LENGTH, Form, best
from profilec.runtime.indexes.construct_lists import ConstructLists
from profilec.runtime.indexes.constructs import Bool, Constructs, Int64, decompose
from profilec.runtime.indexes.endpoints import distinct
from profilec.runtime.indexes.interval import bitmap
from profilec.runtime.indexes.open_ended import OpenEnded, commonest
from profilec.runtime.indexes.posting_lists import union_of

MAX_PIECES = 32
ALWAYS_PIECES = 1 << 20
_NONE = BitMap()


class VirtualConstructIndex:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> from profilec.runtime.indexes.lci import LogarithmicConstructs
    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = VirtualConstructIndex(LogarithmicConstructs, "table", np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    >>> index.delete(8, 4, 9)
    >>> [sorted(index.entries_at(rank)) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [], [5], []]
    """

    __slots__ = (
        "_activation",
        "_cuts",
        "_lists",
        "_n_cells",
        "_open",
        "_wide",
        "_wide_high",
        "_wide_low",
        "constrained",
        "constructs",
    )

    def __init__(
        self,
        kind: Callable[[int], Constructs],
        form: Form,
        entries: Int32,
        off: Int32,
        low: Int32,
        high: Int32,
    ) -> None:
        """`kind` makes constructs of a given L."""
        self.constrained = bitmap(entries)
        """The entries that have a test on the slot at all."""
        owner = np.repeat(entries, np.diff(off))
        cuts = distinct(low, high + 1)
        self._cuts = cuts.astype(np.int32).data
        self._n_cells = max(len(cuts) - 1, 0)
        begin, end = np.searchsorted(cuts, low), np.searchsorted(cuts, high + 1)
        length = end - begin
        start, stop = (commonest(ends[length > MIN_LENGTH], least=2) for ends in (low, high))
        is_open: Bool = (low == start) | (high == stop)
        self.constructs = best(kind, form, self._n_cells, length[~is_open])
        is_open &= length > self.constructs.max_length
        self._open = OpenEnded(owner[is_open], low[is_open], high[is_open], start, stop)
        is_wide = _too_many(np.where(is_open, 0, self.constructs.n_pieces(length)))
        self._wide, self._wide_low, self._wide_high = owner[is_wide], low[is_wide], high[is_wide]
        is_cut = ~(is_open | is_wide)
        interval, number = decompose(self.constructs, begin[is_cut], end[is_cut])
        n_constructs = self._n_cells * len(self.constructs.lengths)
        self._lists = ConstructLists(number, owner[is_cut][interval], n_constructs)
        self._activation = activation(form, self.constructs, self._lists, self._n_cells)

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank; not to be changed."""
        cell = bisect_right(self._cuts, rank) - 1
        if not 0 <= cell < self._n_cells:
            return _NONE
        found = [self._lists.of_all(self._activation.at(cell)), *self._open.parts_at(rank)]
        if len(self._wide):
            found.append(self._wide[(self._wide_low <= rank) & (rank <= self._wide_high)])
        return union_of(found)

    def delete(self, entry: int, low: int, high: int) -> None:
        """Removes the interval `low..high` of an entry.

        Raises:
            KeyError: the entry has no such interval.
        """
        if not (self._open.remove(entry, low, high) or self._delete_wide(entry, low, high)):
            self._delete_cut(entry, low, high)

    def _delete_wide(self, entry: int, low: int, high: int) -> bool:
        is_it = (self._wide == entry) & (self._wide_low == low) & (self._wide_high == high)
        if not is_it.any():
            return False
        self._wide, self._wide_low, self._wide_high = (
            self._wide[~is_it],
            self._wide_low[~is_it],
            self._wide_high[~is_it],
        )
        return True

    def _delete_cut(self, entry: int, low: int, high: int) -> None:
        begin, end = bisect_left(self._cuts, low), bisect_left(self._cuts, high + 1)
        numbers: list[int] = []
        if begin < end < len(self._cuts) and self._cuts[begin] == low and self._cuts[end] == high + 1:
            numbers = decompose(self.constructs, np.array([begin]), np.array([end]))[1].tolist()
        if not numbers or not all(self._lists.has(number, entry) for number in numbers):
            raise KeyError(f"entry {entry} has no interval {low}..{high}")
        for number in numbers:
            if self._lists.remove(number, entry):
                self._activation.reset(number)


def _too_many(n_pieces: Int64) -> Bool:
    """By interval: whether it is among the widest, those that the budget for pieces does not reach."""
    order = np.argsort(n_pieces, kind="stable")
    is_wide = np.zeros(len(n_pieces), np.bool_)
    is_wide[order] = np.cumsum(n_pieces[order]) > max(MAX_PIECES * len(n_pieces), ALWAYS_PIECES)
    return is_wide
