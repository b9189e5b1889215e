"""Rows to rank sets: sorts each slot's constants, then turns all rows into rank intervals at once.

In: the columns of a `LeafTable`. Out: the slots' `Constants`, and for each distinct row its
sorted, disjoint, closed rank intervals (CSR).

    block of a kind with constants c0 < c1        first .. last
    ranks      gap0  c0  gap1  c1  gap2           first + 2i + 1 is the rank of ci

Source: Tatbul 2001, 4.1.2: n endpoints cut the line into 2n + 1 elementary intervals.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from profilec.planner.lower.leaves import LeafTable, Op
from profilec.runtime.image import Constants
from profilec.values.kinds import Kind

Ints = npt.NDArray[np.int64]
_KINDS = (Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)


class RankSets(NamedTuple):
    """`test_of_row[r]` numbers the distinct row that row r equals. The first `n_tests` are rank tests.

    off, low, high: CSR of the rank tests' intervals. bits: the rows (one each) of the bit tests.
    share: per rank test, the part of its slot's ranks that it holds for. on_absence: whether rank 0 is among them.
    """

    test_of_row: Ints
    n_tests: int
    slot: Ints
    off: Ints
    low: Ints
    high: Ints
    share: npt.NDArray[np.float64]
    on_absence: npt.NDArray[np.bool_]
    bits: Ints


class Layout(NamedTuple):
    """Where ranks lie: per slot its constants; per (slot, kind) the block's first rank and length, and the
    place of its constants in `position`, which maps a constant's number to its place in sorted order."""

    constants: list[Constants]
    block_first: Ints
    block_length: Ints
    position_off: Ints
    position: Ints
    n_ranks: Ints


def lay_out(table: LeafTable) -> Layout:
    """Sorts the constants of every slot."""
    n_slots = len(table.slots)
    block_first = np.zeros((n_slots, len(Kind)), np.int64)
    block_length = np.zeros((n_slots, len(Kind)), np.int64)
    position_off = np.zeros((n_slots, len(Kind)), np.int64)
    n_ranks = np.zeros(n_slots, np.int64)
    all_constants: list[Constants] = []
    positions: list[Ints] = []
    n_positions = 0
    for number, slot in enumerate(table.slots):
        by_kind: dict[Kind, tuple[Any, ...]] = {}
        for kind in _KINDS:
            values = list(slot.by_kind[kind])
            order = sorted(range(len(values)), key=values.__getitem__)
            by_kind[kind] = tuple([values[index] for index in order])
            place = np.empty(len(values), np.int64)
            place[np.array(order, np.int64)] = np.arange(len(values))
            positions.append(place)
            position_off[number, kind] = n_positions
            n_positions += len(values)
        constants = Constants(*(by_kind[kind] for kind in _KINDS))
        all_constants.append(constants)
        n_ranks[number] = constants.n_ranks
        for kind in _KINDS:
            block_first[number, kind] = constants.first(kind)
            block_length[number, kind] = 2 * len(by_kind[kind]) + 1
    position = np.concatenate(positions) if positions else np.zeros(0, np.int64)
    return Layout(all_constants, block_first, block_length, position_off, position, n_ranks)


def rank_sets(table: LeafTable, layout: Layout) -> RankSets:
    """The distinct rows of a table, and the rank intervals of those that are rank tests."""
    columns = {
        name: np.asarray(getattr(table, name), np.int64)
        for name in ("slot", "op", "kind", "first", "second", "negated")
    }
    bit_test = columns["op"] >= Op.PATTERN
    # Rank tests first, then bit tests; within each by slot, so that ids follow the attributes.
    head = (bit_test.astype(np.int64) << 62) | ((columns["slot"] + 1) << 30) | columns["first"]
    tail = (columns["op"] << 48) | (columns["kind"] << 40) | (columns["negated"] << 39) | columns["second"]
    order = np.lexsort((tail, head))
    changes = np.ones(len(order), np.bool_)
    changes[1:] = (head[order][1:] != head[order][:-1]) | (tail[order][1:] != tail[order][:-1])
    test_of_row = np.empty(len(order), np.int64)
    test_of_row[order] = np.cumsum(changes) - 1
    rows = order[changes]
    n_tests = int(np.count_nonzero(~bit_test[rows]))
    tests = {name: column[rows[:n_tests]] for name, column in columns.items()}
    off, low, high = _intervals(table, layout, tests)
    n_ranks = layout.n_ranks[tests["slot"]]
    covered = np.concatenate(([0], np.cumsum(high - low + 1)))
    share = (covered[off[1:]] - covered[off[:-1]]) / np.maximum(n_ranks, 1)
    on_absence = np.zeros(n_tests, np.bool_)
    filled = off[1:] > off[:-1]
    on_absence[filled] = low[off[:-1][filled]] == 0
    return RankSets(test_of_row, n_tests, tests["slot"], off, low, high, share, on_absence, rows[n_tests:])


def _intervals(table: LeafTable, layout: Layout, tests: dict[str, Ints]) -> tuple[Ints, Ints, Ints]:
    slot, op, kind = tests["slot"], tests["op"], tests["kind"]
    n_tests = len(slot)
    start = layout.block_first[slot, kind]
    end = start + layout.block_length[slot, kind] - 1
    base = layout.position_off[slot, kind]
    point = _points(layout, start, base, tests["first"], (op >= Op.EQUAL) & (op <= Op.NOT_RIGHT_OPEN))
    point2 = _points(layout, start, base, tests["second"], (op >= Op.BETWEEN) & (op <= Op.NOT_RIGHT_OPEN))
    # Two intervals each; one that is empty has low > high.
    low = np.ones((n_tests, 2), np.int64)
    high = np.zeros((n_tests, 2), np.int64)
    first_interval: dict[Op, tuple[Any, Any]] = {
        Op.NULL: (0, 0),
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
        low[chosen, 0] = np.broadcast_to(lows, n_tests)[chosen]
        high[chosen, 0] = np.broadcast_to(highs, n_tests)[chosen]
    second_interval = {Op.NOT_EQUAL: point + 1, Op.NOT_RIGHT_OPEN: point2}
    for name, lows in second_interval.items():
        chosen = op == name
        low[chosen, 1], high[chosen, 1] = lows[chosen], end[chosen]
    listed = np.flatnonzero((op == Op.IN) | (op == Op.NOT_IN))
    low, high, test = _with_lists(table, layout, tests, low, high, listed)
    return _complemented(test, low, high, tests["negated"], layout.n_ranks[slot])


def _points(layout: Layout, start: Ints, base: Ints, number: Ints, used: npt.NDArray[np.bool_]) -> Ints:
    if not len(layout.position):
        return start
    index = np.where(used, base + number, 0)
    return start + 2 * layout.position[index] + 1


def _with_lists(
    table: LeafTable, layout: Layout, tests: dict[str, Ints], low: Ints, high: Ints, listed: Ints
) -> tuple[Ints, Ints, Ints]:
    """All intervals as flat columns (low, high, test), sorted by test, then rank; empty ones left out."""
    test = np.repeat(np.arange(len(low)), 2)
    lows, highs, owners = [low.ravel()], [high.ravel()], [test]
    for row in listed:
        slot = int(tests["slot"][row])
        ranks = []
        for kind, number in table.lists[int(tests["first"][row])]:
            if kind != Kind.NULL:
                place = layout.position[layout.position_off[slot, kind] + number]
                ranks.append(int(layout.block_first[slot, kind] + 2 * place + 1))
        points = np.array(sorted(ranks), np.int64)
        if tests["op"][row] == Op.IN:
            lows.append(points)
            highs.append(points)
        else:
            block = int(tests["kind"][row])
            start = int(layout.block_first[slot, block])
            lows.append(np.concatenate(([start], points + 1)))
            highs.append(np.concatenate((points - 1, [start + int(layout.block_length[slot, block]) - 1])))
        owners.append(np.full(len(lows[-1]), row))
    flat_low, flat_high, owner = np.concatenate(lows), np.concatenate(highs), np.concatenate(owners)
    kept = flat_low <= flat_high
    flat_low, flat_high, owner = flat_low[kept], flat_high[kept], owner[kept]
    order = np.lexsort((flat_low, owner))
    return flat_low[order], flat_high[order], owner[order]


def _complemented(test: Ints, low: Ints, high: Ints, negated: Ints, n_ranks: Ints) -> tuple[Ints, Ints, Ints]:
    """Replaces the intervals of negated tests by the gaps between them, over all ranks of the slot."""
    n_tests = len(negated)
    is_negated = negated.astype(np.bool_)
    plain = ~is_negated[test]
    gaps = ~plain
    chosen = np.flatnonzero(is_negated)
    # A gap opens at 0 and after each interval, and closes before each interval and at the last rank.
    gap_low = np.concatenate((np.zeros(len(chosen), np.int64), high[gaps] + 1))
    gap_high = np.concatenate((low[gaps] - 1, n_ranks[chosen] - 1))
    low_owner = np.concatenate((chosen, test[gaps]))
    high_owner = np.concatenate((test[gaps], chosen))
    low_order = np.lexsort((gap_low, low_owner))
    high_order = np.lexsort((gap_high, high_owner))
    gap_low, gap_high, gap_owner = gap_low[low_order], gap_high[high_order], low_owner[low_order]
    kept = gap_low <= gap_high
    flat_low = np.concatenate((low[plain], gap_low[kept]))
    flat_high = np.concatenate((high[plain], gap_high[kept]))
    owner = np.concatenate((test[plain], gap_owner[kept]))
    order = np.lexsort((flat_low, owner))
    off = np.zeros(n_tests + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=n_tests), out=off[1:])
    return off, flat_low[order], flat_high[order]
