"""`calibrate`: measures the unit costs of this machine.

In: nothing. Out: unit costs in ns, as `compile(calibration=…)` takes them.

Sets that differ in size, selectivity and attributes are matched by each matcher in turn, and each index is asked; the
units are those whose sums, by the formulas of `planner.costs`, miss the measured times least.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from profilec.calibrate_patterns import Run, pattern_runs
from profilec.grammar import ir
from profilec.grammar.parse import parse_condition
from profilec.planner import costs
from profilec.planner.costs import MATCHERS
from profilec.planner.least_squares import unit_costs
from profilec.planner.lower import ImageBuilder, with_tree
from profilec.planner.lower.join_load import JoinLoad
from profilec.planner.lower.workload import IndexLoad, Workload, workload_of
from profilec.planner.normalize import normalize
from profilec.runtime.execute import Executor
from profilec.runtime.image import Image
from profilec.runtime.indexes.by_name import DEFAULT, INDEXES
from profilec.runtime.joins.phase import JoinPhase
from profilec.runtime.store.documents import DocumentStore

_ROUNDS = 5
_N_DOCUMENTS = 200


class _Shape(NamedTuple):
    """A set: so many profiles of so many predicates each, on some of the attributes; a predicate is an equality with
    one of `n_values`, or, as often as `ranges` says, a range of `width`; documents have so many of the attributes. With
    `n_wholes`, a document is one of so many that there are, and each profile is made for one of these, to match it."""

    n_profiles: int
    n_attributes: int
    n_predicates: int
    n_values: int
    n_present: int
    ranges: float = 0.0
    width: int = 0
    n_wholes: int = 0


_SHAPES = (
    _Shape(300, 4, 2, 50, 4),
    _Shape(3_000, 4, 2, 50, 4),
    _Shape(3_000, 4, 3, 1_000, 4, 1.0, 200),
    _Shape(3_000, 10, 1, 100, 10, 1.0, 30),
    _Shape(3_000, 40, 3, 1_000, 12),
    _Shape(20_000, 1, 1, 20_000, 1),
    _Shape(20_000, 1, 1, 20_000, 1, 1.0, 200),
    _Shape(20_000, 20, 2, 1_000, 20, 0.9, 500),
    _Shape(20_000, 20, 4, 100, 20, 1.0, 10),
    _Shape(20_000, 200, 4, 1_000, 20),
    _Shape(20_000, 20, 3, 200, 10, 0.7, 60),
    _Shape(100_000, 100, 4, 1_000, 15),
    _Shape(100_000, 20, 3, 10_000, 20, 1.0, 500),
    _Shape(100_000, 20, 3, 100, 20, 0.8, 60),
    _Shape(20_000, 100, 7, 1_000, 15, 0.5, 100, n_wholes=100),
    _Shape(100_000, 400, 7, 10_000, 17, 0.6, 1_000, n_wholes=100),
    _Shape(100_000, 400, 7, 10_000, 17, 0.6, 1_000, n_wholes=2_000),
    _Shape(100_000, 20, 5, 1_000, 16, 0.7, 300, n_wholes=10),
)


class _Load(NamedTuple):
    image: Image
    workload: Workload
    documents: list[dict[str, Any]]


def calibrate(told: Callable[[str], object] = lambda name: None) -> dict[str, float]:
    """Unit costs in ns, by name. Takes a few minutes. `told`: called with the name of what is measured next."""
    runs: dict[str, list[Run]] = {}
    mixing: list[float] = []
    for number, shape in enumerate(_SHAPES):
        told(f"set {number + 1} of {len(_SHAPES)}")
        load = _load(shape, random.Random(number))
        runs.setdefault("encode", []).append(_encoding(load))
        for name in MATCHERS:
            runs.setdefault(name, []).append(_matching(load, name))
        if shape.n_attributes > 1:
            mixing.append(_mixing(load))
    told("the pre-filter")
    runs["prefilter"] = [_prefiltering(n_lines) for n_lines in (1, 2, 4, 8)]
    for name in INDEXES:
        told(f"index {name}")
        runs[name] = list(_probing(name))
    told("indexes of patterns")
    runs["patterns"] = list(pattern_runs())
    units = {"check_entry": _CHECK, "mix_matcher": max(statistics.median(mixing), 0.0)}
    for measured in runs.values():
        units |= _fitted(measured)
    return units


_CHECK = 2_000.0
"""What Python takes for an entry's residual differs by what the residual is: this is no unit to be measured."""


def _load(shape: _Shape, rng: random.Random) -> _Load:
    attributes = [f"a{number}" for number in range(shape.n_attributes)]

    def document(n: int) -> dict[str, Any]:
        return {name: rng.randrange(shape.n_values) for name in rng.sample(attributes, n)}

    def predicate(attribute: str, value: int) -> str:
        if rng.random() >= shape.ranges:
            return f"{attribute} = {value}"
        low = value - (rng.randrange(shape.width + 1) if shape.n_wholes else 0)
        return f"{attribute} BETWEEN {low} AND {low + shape.width}"

    wholes = [document(shape.n_present) for _ in range(shape.n_wholes)]
    n_chosen = min(shape.n_predicates, len(attributes))

    def condition() -> str:
        some = dict(rng.sample(sorted(rng.choice(wholes).items()), n_chosen)) if wholes else document(n_chosen)
        return " AND ".join(predicate(*one) for one in some.items())

    builder = _builder(condition() for _ in range(shape.n_profiles))
    documents = [rng.choice(wholes) if wholes else document(shape.n_present) for _ in range(2 * _N_DOCUMENTS)]
    built = builder.build(documents)
    return _Load(built.image, workload_of(built.image, built.expected, built.sampled), documents[:_N_DOCUMENTS])


def _builder(conditions: Iterable[str]) -> ImageBuilder:
    builder = ImageBuilder()
    for condition in conditions:
        node = parse_condition(condition).node
        assert isinstance(node, ir.Condition)
        builder.add(normalize(node))
    return builder


def _encoding(load: _Load) -> Run:
    encode = Executor(load.image, "scan").encode
    return Run(costs.encode(load.workload), _timed(encode, load.documents, _UNTIL_KNOWN))


def _matching(load: _Load, name: str) -> Run:
    image = with_tree(load.image) if name == "betree" else load.image
    index_of = dict.fromkeys((slot.name for slot in load.workload.slots), DEFAULT)
    sizes = costs.own(name, load.workload, index_of)
    own = {unit: size for unit, size in sizes.items() if unit.startswith(name)}
    return Run(own, _finding(Executor(image, name), load.documents))


def _finding(executor: Executor, documents: Sequence[Any]) -> float:
    """What a document takes beside encoding: the median of some rounds, in each of which both are timed."""
    for document in list(documents) * _UNTIL_KNOWN:
        executor.encode(document)
    took = []
    for _ in range(1 + _ROUNDS):
        start = time.perf_counter_ns()
        for document in documents:
            executor.encode(document)
        encoded = time.perf_counter_ns()
        for document in documents:
            executor.match(document)
        took.append((time.perf_counter_ns() - encoded - (encoded - start)) / len(documents))
    return max(statistics.median(took[1:]), 1.0)


def _unpacked(find: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    return find(*arguments)


def _encoded(executor: Executor, documents: Sequence[Any]) -> list[Any]:
    encoded = [executor.encode(document) for document in documents]
    return [(slots[:n].copy(), ranks[:n].copy(), n) for slots, ranks, n in encoded]


def _mixing(load: _Load) -> float:
    """Two matchers, each of half of the attributes, against what they take one by one."""
    names = [slot.name for slot in load.workload.slots]
    executor = Executor(load.image, "access", groups=dict.fromkeys(names[::2], "counting"))
    sparse = _encoded(executor, load.documents)
    finding = [executor.matcher.match, *(matcher.match for matcher in executor.matchers.values())]
    both, *each = [_timed(partial(_unpacked, find), sparse) for find in finding]
    return both - sum(each)


def _prefiltering(n_lines: int) -> Run:
    """What it takes to count one more earlier document, on so many attributes."""
    rng = random.Random(1)
    names = [f"a{number}" for number in range(n_lines)]
    conditions = (f"{name} = {value} AND EXISTS d (d.{name} = {name})" for value in range(100) for name in names)
    image = _builder(conditions).build().image
    phase, store = JoinPhase(image), DocumentStore()
    took = []
    for _ in range(1_000):
        store.add({name: rng.randrange(200) for name in names})
        start = time.perf_counter_ns()
        with store.reading():
            phase.survivors(store)
        took.append(time.perf_counter_ns() - start)
    return Run(costs.prefilter(JoinLoad(n_lines=n_lines)), statistics.median(took))


def _probing(name: str) -> Iterator[Run]:
    """Asks an index of 100 to 30,000 intervals, of one rank or wider, for ranks."""
    rng = np.random.default_rng(1)
    for n in (100, 3_000, 30_000):
        for width in (0, n // 50, n // 5):
            low = rng.integers(1, 2 * n, n).astype(np.int32)
            high = (low + width).astype(np.int32)
            entries = np.arange(n, dtype=np.int32)
            asked = INDEXES[name](entries, np.arange(n + 1, dtype=np.int32), low, high)
            ranks = rng.integers(1, 2 * n, _N_DOCUMENTS).tolist()
            held = float(np.mean([np.count_nonzero((low <= rank) & (rank <= high)) for rank in ranks]))
            load = IndexLoad(n, n if width == 0 else 0, 2 * n, held)
            yield Run(costs.index(name, load), _timed(asked.entries_at, ranks))


def _timed(run: Callable[[Any], object], arguments: Sequence[Any], n_warm_up: int = 1) -> float:
    """The ns that a call takes: the median of some rounds over all arguments, after some that are not counted."""
    took = []
    for _ in range(n_warm_up + _ROUNDS):
        start = time.perf_counter_ns()
        for argument in arguments:
            run(argument)
        took.append((time.perf_counter_ns() - start) / len(arguments))
    return statistics.median(took[n_warm_up:])


_UNTIL_KNOWN = 12
"""Rounds after which the documents' shapes are known to the encoder."""


def _fitted(runs: Sequence[Run]) -> dict[str, float]:
    names = list(dict.fromkeys(name for run in runs for name in run.sizes))
    sizes = np.array([[run.sizes.get(name, 0.0) for name in names] for run in runs])
    found = unit_costs(sizes, np.array([run.ns for run in runs]))
    return dict(zip(names, found.tolist(), strict=True))
