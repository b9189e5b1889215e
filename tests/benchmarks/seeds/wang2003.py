"""Wang, Zhang, Kitsuregawa 2003: Table 1's rows of the PB+-tree and of the Grouped Filter, as growth measured.

In: predicates of one operator each, on one attribute of integers, which both structures take as ranks. Out, by the
number of predicates n: the comparisons and the time of a search, the bytes, and the time to load.

    L fixed     every event satisfies 40 predicates, and 41 where there is an `=` for it, whatever n is
    L = n/2     operators and operands are uniform, so that an event satisfies half of the predicates

L is the paper's: how many predicates an event satisfies. With L fixed, events lie in a band that holds the operands of
`=`; all but `N_SATISFIED` of each other operator have their operand on the side of the band that does not satisfy them.

Comparisons are counted as `seeds.evaluations` says. The search of the Grouped Filter is a kernel: to be counted, the
same function is run by Python, with the bisection of the standard library in place of `np.searchsorted`.

Neither structure as built here offers insertion or deletion: both are loaded at once, so there is the time of that in
place of the paper's columns Insert and Delete. Both give a bit vector of what they find; the PB+-tree is searched by
Python, the Grouped Filter by a kernel, so that of their times the growth counts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from baselines import grouped_filter
from baselines.grouped_filter import GroupedFilter
from measure import FULL, QUICK
from numpy.typing import NDArray
from seeds.chart import Axis, Chart
from seeds.evaluations import CountedRank, Evaluations
from seeds.footprint import n_bytes_of
from seeds.turns import in_turn, seconds_by_size

from profilec.runtime.image import Int32
from profilec.runtime.indexes.pbtree import PBTreeIndex

SEED = 2003
N_EVENTS = 200
N_SATISFIED = 8
PREDICATES = Axis("Unique predicates", True)
STRUCTURES: dict[str, Callable[[Int32, Int32, Int32, Int32], Any]] = {
    "PB+tree": PBTreeIndex,
    "Grouped Filter": GroupedFilter,
}


@dataclass(frozen=True, slots=True)
class Predicates:
    """Predicate i, of entry i, is `ops[i] operands[i]`, on values from 1 to `last`; `events` are such values."""

    ops: NDArray[np.str_]
    operands: Int32
    last: int
    events: list[int]

    def arrays(self) -> tuple[Int32, Int32, Int32, Int32]:
        """What an index is made of: entries, offsets, and the intervals that they accept, two of a `!=`."""
        first, last = np.ones_like(self.operands), np.full_like(self.operands, self.last)
        is_unequal = self.ops == "!="
        starts_there, ends_there = np.isin(self.ops, ("=", ">=")), np.isin(self.ops, ("=", "<="))
        low = np.select([starts_there, self.ops == ">"], [self.operands, self.operands + 1], first)
        high = np.select([ends_there, np.isin(self.ops, ("<", "!="))], [self.operands, self.operands - 1], last)
        off = np.concatenate(([0], np.cumsum(1 + is_unequal))).astype(np.int32)
        own, second = off[:-1], off[1:][is_unequal] - 1
        lows, highs = np.empty(off[-1], np.int32), np.empty(off[-1], np.int32)
        lows[own], highs[own] = low, high
        lows[second], highs[second] = self.operands[is_unequal] + 1, self.last
        return np.arange(len(self.ops), dtype=np.int32), off, lows, highs


def _fixed(n: int) -> Predicates:
    rng = np.random.default_rng((SEED, n))
    below, band, above = np.arange(2, 2 * n), np.arange(2 * n, 4 * n), np.arange(4 * n, 6 * n)
    ops, operands = [np.full(N_SATISFIED, "!=")], [rng.choice(below, N_SATISFIED, replace=False)]
    for op in ("<", "<=", ">", ">="):
        satisfied, unsatisfied = (above, below) if op.startswith("<") else (below, above)
        for values, size in ((satisfied, N_SATISFIED), (unsatisfied, n // 6 - N_SATISFIED)):
            ops.append(np.full(size, op))
            operands.append(rng.choice(values, size, replace=False))
    n_equal = n - sum(map(len, ops))
    ops.append(np.full(n_equal, "="))
    operands.append(rng.choice(band, n_equal, replace=False))
    events: list[int] = rng.choice(band, N_EVENTS).tolist()
    return Predicates(np.concatenate(ops), np.concatenate(operands).astype(np.int32), 6 * n, events)


def _half(n: int) -> Predicates:
    rng = np.random.default_rng((SEED, n))
    operands = (rng.permutation(2 * n)[:n] + 2).astype(np.int32)
    ops = rng.choice(("=", "!=", "<", "<=", ">", ">="), n)
    return Predicates(ops, operands, 2 * n + 2, rng.integers(1, 2 * n + 3, N_EVENTS).tolist())


WORKLOADS = {"L fixed": _fixed, "L = n/2": _half}


def _sizes(quick: bool) -> Sequence[int]:
    return (1_000, 4_000) if quick else tuple(1_000 * 4**step for step in range(6))


def _built(predicates: Predicates) -> dict[str, Any]:
    """Both structures, of which every event gets the same answer.

    Raises:
        AssertionError: it does not.
    """
    arrays = predicates.arrays()
    built = {name: make(*arrays) for name, make in STRUCTURES.items()}
    for event in predicates.events:
        first, second = (index.entries_at(event) for index in built.values())
        assert first == second, event
    return built


def _compared_in_search(quick: bool) -> Chart:
    series: dict[str, list[tuple[float, float]]] = {name: [] for name in STRUCTURES}
    for n in _sizes(quick):
        predicates = _fixed(n)
        for name, index in _built(predicates).items():
            series[name].append((n, float(np.mean([_n_compared(index, event) for event in predicates.events]))))
    title = "Table 1, search: comparisons of an event, L fixed"
    return Chart("wang2003_table1_search", title, PREDICATES, Axis("Comparisons"), series)


def _n_compared(index: Any, event: int) -> int:
    evaluations = Evaluations()
    rank = CountedRank(event, evaluations)
    if isinstance(index, GroupedFilter):
        parts = (index._equal, index._unequal, index._greater, index._less, index._ends)
        with patch.object(grouped_filter, "np", SimpleNamespace(searchsorted=_bisected)):
            grouped_filter.probe.py_func(rank, *parts, index._seen, index._out)
    else:
        index.entries_at(rank)
    return evaluations.n


def _bisected(operands: Int32, rank: int, side: str) -> int:
    return (bisect_left if side == "left" else bisect_right)(operands.data, rank)


def _time(quick: bool) -> Chart:
    runs = {}
    for of, workload in WORKLOADS.items():
        for n in _sizes(quick):
            predicates = workload(n)
            for name, index in _built(predicates).items():
                runs[f"{name}, {of}", n] = in_turn(index.entries_at, predicates.events)
    seconds = seconds_by_size(runs, QUICK if quick else FULL)
    series = {name: [(n, taken * 1e6) for n, taken in points] for name, points in seconds.items()}
    title = "Table 1, search: time of an event"
    return Chart("wang2003_table1_time", title, PREDICATES, Axis("Search time (us)", True), series)


def _space(quick: bool) -> Chart:
    series: dict[str, list[tuple[float, float]]] = {name: [] for name in STRUCTURES}
    for n in _sizes(quick):
        for name, index in _built(_half(n)).items():
            series[name].append((n, n_bytes_of(index) / n))
    title = "Table 1, space: bytes of a predicate"
    return Chart("wang2003_table1_space", title, PREDICATES, Axis("Bytes of a predicate"), series)


def _load(quick: bool) -> Chart:
    arrays = {n: _half(n).arrays() for n in _sizes(quick)}
    runs = {
        (name, n): in_turn(lambda own, make=make: make(*own), [arrays[n]])
        for name, make in STRUCTURES.items()
        for n in arrays
    }
    seconds = seconds_by_size(runs, QUICK if quick else FULL)
    series = {name: [(n, taken / n * 1e6) for n, taken in points] for name, points in seconds.items()}
    title = "In place of Table 1, insert: time to load all predicates at once"
    return Chart("wang2003_table1_load", title, PREDICATES, Axis("Loading time of a predicate (us)"), series)


CHARTS: dict[str, Callable[[bool], Chart]] = {
    "wang2003_table1_search": _compared_in_search,
    "wang2003_table1_time": _time,
    "wang2003_table1_space": _space,
    "wang2003_table1_load": _load,
}
