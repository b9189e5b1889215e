"""Matching where an index has least to gain: never much slower than the scan."""

from __future__ import annotations

from collections.abc import Iterator

from figures import Row
from loads import worst_loads
from measure import FULL, QUICK, Targets, measured, rows_of

TITLE = "Matching, the worst workloads: at most 1.5 times what the scan takes"


def rows(quick: bool, large: bool = False) -> Iterator[Row]:
    n = 1_000 if quick else 1_000_000 if large else 100_000
    for load in worst_loads(n):
        yield from rows_of(load, measured(load, QUICK if quick else FULL), Targets(single=1 / 1.5, batched=1 / 1.5))
