"""Rows to rank sets: sorts each slot's constants, then turns all rows into rank intervals at once.

In: the rows and constants of a `LeafTable`. Out: the slots' `Constants`, and for each distinct row its
sorted, disjoint, closed rank intervals (CSR).

    block of a kind with constants c0 < c1        first .. last
    ranks      gap0  c0  gap1  c1  gap2           first + 2i + 1 is the rank of ci

Source: Tatbul 2001, 4.1.2: n endpoints cut the line into 2n + 1 elementary intervals.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.leaves import KIND_SHIFT, LeafTable, Op, Rows
from profilec.runtime.image import KINDS, Constants
from profilec.runtime.imagefile.columns import Integers, fits_int64
from profilec.values.kinds import Kind

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
_MANY = 4_096
"""PERF: integers of a slot that are kept as an array, from which thresholds are made in a seventh of the time."""


class RankSets(NamedTuple):
    """`test_of_row[r]` numbers the distinct row that row r equals, -1 for one not used. Rank tests come first.

    slot: of each rank test. off, low, high: CSR of the rank tests' intervals. bits: the rows (one each) of the bit
    tests. share: per rank test, the part of its slot's ranks that it holds for. on_absence: whether rank 0 is one.
    """

    test_of_row: Int32
    slot: Int32
    off: Int32
    low: Int32
    high: Int32
    share: NDArray[np.float64]
    on_absence: Bools
    bits: Rows

    @property
    def n_tests(self) -> int:
        """The number of rank tests; bit tests are numbered from here."""
        return len(self.slot)


class Layout(NamedTuple):
    """Where ranks lie: per slot its constants; per (slot, kind) the block's first rank and length, and the
    place of its constants in `position`, which maps a constant's number to its place in sorted order."""

    constants: list[Constants]
    block_first: Int32
    block_length: Int32
    position_off: Int32
    position: Int32
    n_ranks: Int32


def lay_out(table: LeafTable) -> Layout:
    """Sorts the constants of every slot."""
    constants: list[Constants] = []
    numbers = array("i")
    counts = np.zeros((len(table.slots), len(Kind)), np.int64)
    for number, slot in enumerate(table.slots):
        in_order: list[Sequence[object]] = []
        for kind in KINDS:
            known = slot.by_kind[kind]
            ordered = tuple(sorted(known)) if known else ()
            if ordered:
                numbers.extend(map(known.__getitem__, ordered))
                counts[number, kind] = len(ordered)
            is_array = len(ordered) > _MANY and fits_int64(ordered)
            in_order.append(Integers(np.array(ordered, np.int64)) if is_array else ordered)
        constants.append(Constants(*in_order))  # type: ignore[arg-type]
    length = 2 * counts + 1
    length[:, [Kind.NULL, Kind.OPAQUE]] = 1
    block_end = np.cumsum(length, axis=1)
    position_off = offsets(counts.ravel())
    # The constant of number k has its place among those of its slot and kind.
    start = np.repeat(position_off[:-1], counts.ravel())
    position = np.empty(len(numbers), np.int32)
    position[start + np.array(numbers, np.int64)] = np.arange(len(numbers)) - start
    return Layout(
        constants,
        (block_end - length).astype(np.int32),
        length.astype(np.int32),
        position_off[:-1].reshape(counts.shape).astype(np.int32),
        position,
        block_end[:, -1].astype(np.int32),
    )


def rank_sets(rows: Rows, used: Bools, lists: Iterable[bytes], layout: Layout) -> RankSets:
    """The distinct rows among those used, and the rank intervals of those that are rank tests."""
    chosen = np.flatnonzero(used)
    columns = Rows(*(column[chosen] for column in rows))
    bit_test = columns.op >= Op.PATTERN
    # Rank tests first, then bit tests; within each by slot, so that ids follow the attributes.
    keys = packed(bit_test, columns.slot + 1, columns.first, columns.op, columns.kind, columns.negated, columns.second)
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
    changes = np.zeros(len(order), np.bool_)
    changes[:1] = True
    for key in keys:
        in_order = key[order]
        changes[1:] |= in_order[1:] != in_order[:-1]
    test_of_row = np.full(len(used), -1, np.int32)
    test_of_row[chosen[order]] = np.cumsum(changes) - 1
    distinct = order[changes]
    n_tests = len(distinct) - int(np.count_nonzero(bit_test[distinct]))
    tests = Rows(*(column[distinct[:n_tests]] for column in columns))
    test, low, high = _intervals(lists, layout, tests)
    off = offsets(np.bincount(test, minlength=n_tests))
    covered = offsets(high.astype(np.int64) - low + 1)
    share = (covered[off[1:]] - covered[off[:-1]]) / np.maximum(layout.n_ranks[tests.slot], 1)
    on_absence = np.zeros(n_tests, np.bool_)
    on_absence[test[low == 0]] = True
    bits = Rows(*(column[distinct[n_tests:]] for column in columns))
    return RankSets(test_of_row, tests.slot, off.astype(np.int32), low, high, share, on_absence, bits)


def offsets(sizes: NDArray[np.signedinteger]) -> Int64:
    """Where parts of these sizes begin, and where the last one ends."""
    off = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=off[1:])
    return off


def spans(start: NDArray[np.signedinteger], sizes: NDArray[np.signedinteger]) -> Int64:
    """The indices of all spans `start[i] .. start[i] + sizes[i]`, one span after another.

    >>> spans(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    off = offsets(sizes)
    indices = np.arange(off[-1])
    indices += np.repeat(start - off[:-1], sizes)
    return indices


def packed(*columns: Int32 | Bools) -> list[Int64]:
    """Columns of integers >= 0 as few keys that sort as they do, the first column foremost.

    PERF: one key nearly always, since each column takes the bits that it needs; sorting by two takes twice as long.
    """
    keys = [np.zeros(len(columns[0]), np.int64)]
    room = 63
    for column in columns:
        width = int(column.max(initial=0)).bit_length()
        if width > room:
            keys.append(np.zeros_like(keys[0]))
            room = 63
        keys[-1] <<= width
        keys[-1] |= column
        room -= width
    return keys


_Intervals = tuple[Int32, Int32, Int32]
"""Test, low and high of each interval, sorted by test, then rank; none is empty."""


def _intervals(lists: Iterable[bytes], layout: Layout, tests: Rows) -> _Intervals:
    slot, op, kind = tests.slot, tests.op, tests.kind
    start = layout.block_first[slot, kind]
    end = start + layout.block_length[slot, kind] - 1
    base = layout.position_off[slot, kind]
    point = _points(layout, start, base + tests.first, (op >= Op.EQUAL) & (op <= Op.NOT_RIGHT_OPEN))
    point2 = _points(layout, start, base + tests.second, (op >= Op.BETWEEN) & (op <= Op.NOT_RIGHT_OPEN))
    # Two intervals each; one that is empty has low > high.
    low = np.ones((len(slot), 2), np.int32)
    high = np.zeros((len(slot), 2), np.int32)
    absent = np.zeros(1, np.int32)
    first_interval: dict[Op, tuple[Int32, Int32]] = {
        Op.NULL: (absent, absent),
        Op.EQUAL: (point, point),
        Op.NOT_EQUAL: (start, point - 1),
        Op.LESS: (start, point - 1),
        Op.AT_MOST: (start, point),
        Op.GREATER: (point + 1, end),
        Op.AT_LEAST: (point, end),
        Op.BETWEEN: (point, point2),
        Op.OPEN_BETWEEN: (point + 1, point2 - 1),
        Op.LEFT_OPEN: (point + 1, point2),
        Op.RIGHT_OPEN: (point, point2 - 1),
        Op.NOT_RIGHT_OPEN: (start, point - 1),
        Op.BLOCK: (start, end),
    }
    for name, (lows, highs) in first_interval.items():
        chosen = op == name
        np.copyto(low[:, 0], lows, where=chosen)
        np.copyto(high[:, 0], highs, where=chosen)
    second_interval = {Op.NOT_EQUAL: point + 1, Op.NOT_RIGHT_OPEN: point2}
    for name, lows in second_interval.items():
        chosen = op == name
        np.copyto(low[:, 1], lows, where=chosen)
        np.copyto(high[:, 1], end, where=chosen)
    owner = np.repeat(np.arange(len(slot), dtype=np.int32), 2)
    kept = (low <= high).ravel()
    intervals = owner[kept], low.ravel()[kept], high.ravel()[kept]
    listed = np.flatnonzero((op == Op.IN) | (op == Op.NOT_IN))
    if len(listed):
        intervals = _merged(intervals, _listed_points(lists, layout, tests, listed))
    intervals = _complemented(intervals, op == Op.NOT_IN, start, end)
    return _complemented(intervals, tests.negated > 0, np.zeros_like(start), layout.n_ranks[slot] - 1)


def _points(layout: Layout, start: Int32, index: Int32, used: Bools) -> Int32:
    """The ranks of constants, for the tests that have them."""
    if not len(layout.position):
        return start
    return start + 2 * layout.position[np.where(used, index, 0)] + 1


def _listed_points(lists: Iterable[bytes], layout: Layout, tests: Rows, listed: Int64) -> _Intervals:
    """The constants of lists, an interval each. NULL: it stands in a list, but no rank is equal to it."""
    stored = list(lists)
    constants = np.frombuffer(b"".join(stored), np.int32)
    off = offsets(np.fromiter(map(len, stored), np.int64, len(stored))) // constants.itemsize
    number = tests.first[listed]
    sizes = np.diff(off)[number]
    of_lists = constants[spans(off[number], sizes)]
    owner = np.repeat(listed, sizes)
    kind = of_lists >> KIND_SHIFT
    kept = kind != Kind.NULL
    owner, kind, constant = owner[kept], kind[kept], (of_lists & ((1 << KIND_SHIFT) - 1))[kept]
    slot = tests.slot[owner]
    place = layout.position[layout.position_off[slot, kind] + constant]
    key = owner << 32 | (layout.block_first[slot, kind] + 2 * place + 1)
    key.sort()
    rank = key.astype(np.int32)  # the lower half
    return (key >> 32).astype(np.int32), rank, rank


def _complemented(intervals: _Intervals, chosen: Bools, start: Int32, end: Int32) -> _Intervals:
    """Replaces the intervals of chosen tests by the gaps between them, from the rank `start` to `end`."""
    if not chosen.any():
        return intervals
    test, low, high = intervals
    inside = chosen[test]
    tests = np.flatnonzero(chosen)
    n_gaps = np.bincount(test[inside], minlength=len(chosen))[tests] + 1
    off = offsets(n_gaps)
    # A gap opens at the start and after each interval, and closes before each interval and at the end.
    opens, closes = np.ones(off[-1], np.bool_), np.ones(off[-1], np.bool_)
    opens[off[:-1]] = closes[off[1:] - 1] = False
    gap_low, gap_high = np.empty(off[-1], np.int32), np.empty(off[-1], np.int32)
    gap_low[opens], gap_low[~opens] = high[inside] + 1, start[tests]
    gap_high[closes], gap_high[~closes] = low[inside] - 1, end[tests]
    owner = np.repeat(tests, n_gaps).astype(np.int32)
    kept = gap_low <= gap_high
    outside = ~inside
    return _merged((test[outside], low[outside], high[outside]), (owner[kept], gap_low[kept], gap_high[kept]))


def _merged(one: _Intervals, other: _Intervals) -> _Intervals:
    """The intervals of two sets of tests that have none in common. PERF: a stable sort merges what is sorted."""
    order = np.argsort(np.concatenate((one[0], other[0])), kind="stable")
    test, low, high = (np.concatenate(columns)[order] for columns in zip(one, other, strict=True))
    return test, low, high
