"""Thirteen workloads, each with every plan that can be forced, for `bench_planner`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import begen
import nested
import numpy as np
import opindex
from conjunctions import Conjunctions, Op, offsets_of, with_masks
from documents import Documents, documents_of
from draws import distinct_values
from images import forms_of
from workloads import lines, patterns

from profilec.grammar import ir
from profilec.grammar.parse import parse_condition
from profilec.planner.costs import MATCHERS
from profilec.planner.normalize import normalize
from profilec.planner.options import INDEXES, WITH_INDEX

N_DOCUMENTS = 1_000


@dataclass(frozen=True, slots=True)
class Workload:
    """`forms`: the normal forms of its profiles; `documents`: 2 N_DOCUMENTS, the first half to be sampled."""

    name: str
    forms: Callable[[], Iterator[ir.Condition]]
    documents: Callable[[], list[dict[str, Any]]]


def workloads(n: int) -> Iterator[Workload]:
    """Of so many profiles each."""
    for probability in (0.0001, 0.01, 0.09):
        for zipf in (0.0, 1.0):
            own = begen.Parameters(n, match_probability=probability, zipf=zipf)
            yield _begen(f"BEGen {'Zipf' if zipf else 'uniform'} {probability:.2%}", own)
    for zipf in (0.0, 0.8):
        of_opindex = opindex.Parameters(n, zipf=zipf)
        yield _generated(
            f"OpIndex {'Zipf' if zipf else 'uniform'}",
            lambda own=of_opindex: opindex.profiles(own),
            lambda m, own=of_opindex: opindex.documents(own, m),
        )
    yield _generated("intervals that overlap", lambda: _overlapping(n), _full)
    yield _begen("equality only", begen.Parameters(n, equality=1.0, cardinality=1_000, sizes=(1, 4)))
    yield Workload(
        "patterns only",
        lambda: parsed(patterns(n).values()),
        lambda: [{"line": line} for line in lines(2 * N_DOCUMENTS)],
    )
    wide = nested.Parameters(begen.Parameters(n, match_probability=0.001))
    yield _generated("wide CNF", lambda: nested.profiles(wide), lambda m: nested.documents(wide, m))
    one = begen.Parameters(n, n_attributes=1, cardinality=10_000, profile_size=1, document_size=1, sizes=(1, 1))
    yield _generated("one attribute", lambda: begen.profiles(replace(one, match_probability=0.001)), _single)


def forced() -> dict[str, tuple[str, str | None]]:
    """Every plan by its name: a matcher, and the index of all attributes."""
    plans: dict[str, tuple[str, str | None]] = {name: (name, None) for name in ("betree:list", "betree:matrix")}
    for matcher in MATCHERS:
        if matcher not in WITH_INDEX:
            plans[matcher] = matcher, None
            continue
        for index in INDEXES:
            plans[f"{matcher}, {index}"] = matcher, index
    return plans


def _begen(name: str, parameters: begen.Parameters) -> Workload:
    return _generated(name, lambda: begen.profiles(parameters), lambda m: begen.documents(parameters, m))


def _generated(name: str, profiles: Callable[[], Any], documents: Callable[[int], Documents]) -> Workload:
    return Workload(name, lambda: forms_of(profiles()), lambda: documents(2 * N_DOCUMENTS).dicts())


def parsed(conditions: Iterable[str]) -> Iterator[ir.Condition]:
    """The normal forms of conditions."""
    for text in conditions:
        node = parse_condition(text).node
        assert isinstance(node, ir.Condition)
        yield normalize(node)


_ATTRIBUTES, _CARDINALITY = 20, 10_000


def _overlapping(n: int) -> Conjunctions:
    """Two or three ranges, of which each holds for a fifth of the values on average."""
    rng = np.random.default_rng((1, 31))
    sizes = rng.integers(2, 4, n)
    slots = distinct_values(rng, n, 3, _ATTRIBUTES)[np.arange(3) < sizes[:, None]]
    low = rng.integers(1, _CARDINALITY, len(slots)).astype(np.int32)
    high = np.minimum(low + rng.integers(1, _CARDINALITY // 2, len(slots)), _CARDINALITY).astype(np.int32)
    op = np.full(len(slots), Op.BETWEEN, np.uint8)
    no_lists = np.zeros(1, np.int64), np.zeros(0, np.int32)
    return with_masks(_ATTRIBUTES, _CARDINALITY, offsets_of(sizes), op, slots, low, high, *no_lists)


def _full(n: int) -> Documents:
    values = np.random.default_rng((1, 32)).integers(1, _CARDINALITY + 1, (n, _ATTRIBUTES))
    return documents_of([list(enumerate(row.tolist())) for row in values], _ATTRIBUTES)


def _single(n: int) -> Documents:
    values = np.random.default_rng((1, 33)).integers(1, 10_001, n)
    return documents_of([[(0, int(value))] for value in values], 1)
