"""Matching: BEGen's and OpIndex's defaults and nested expressions, product against the plain scan."""

from __future__ import annotations

from collections.abc import Iterator

import begen
import nested
import opindex
from figures import Row
from loads import Load, begen_load, nested_load, opindex_load
from measure import FULL, QUICK, Targets, measured, rows_of

TITLE = "Matching: generated workloads, against a compiled scan of the same predicates"

_ASKED = {0.01: (80, 120, 1.2), 0.001: (110, 220, 2.5), 0.0001: (250, 500, None)}
"""Match probability: how many times faster one by one, in batches; the most candidates a match."""


def rows(quick: bool, large: bool = False) -> Iterator[Row]:
    sizes = (1_000, 10_000) if quick else (10_000, 100_000, 1_000_000, *((10_000_000,) if large else ()))
    for n in sizes:
        for load, targets in _loads(n):
            is_stated = n == 1_000_000  # the sizes that the targets are about
            yield from rows_of(load, measured(load, QUICK if quick else FULL), targets if is_stated else Targets())


def _loads(n: int) -> Iterator[tuple[Load, Targets]]:
    """The workloads at one size, with what is asked of them at a million profiles."""
    for zipf in (0.0, 1.0):
        for probability, (single, batched, candidates) in _ASKED.items():
            parameters = begen.Parameters(n, match_probability=probability, zipf=zipf)
            name = f"{n:,} BEGen {'Zipf' if zipf else 'uniform'} {probability:.2%}"
            part = 2 / 3 if zipf else 1
            asked = Targets(single * part, batched * part, 1.7, None if zipf else candidates, 12, 150)
            yield begen_load(name, parameters), asked
    yield opindex_load(f"{n:,} OpIndex", opindex.Parameters(n)), Targets(single=150)
    # Text of expressions is long, and the compiler takes them one by one: ten million are left out.
    if n <= 1_000_000:
        for probability in (0.01, 0.001):
            parameters = begen.Parameters(n, match_probability=probability)
            load = nested_load(f"{n:,} AND/OR {probability:.2%}", nested.Parameters(parameters))
            yield load, Targets(single=60) if probability == 0.001 else Targets()
