"""Whether the plan that is chosen by cost is a good one: against every plan that can be forced, on 13 workloads.

In each round every plan matches some documents twice, encoding included, one plan after the other in an order that
changes; the second time counts, for what ran before has taken the caches. Medians are compared.
The estimates of candidates are compared, for each workload, with what `access` looks at. Plans that take more than
PATIENCE seconds to build are told, and left out.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from figures import Row, Skipped
from plans import N_DOCUMENTS, Workload, forced, workloads

from profilec.planner.calibration import default_units
from profilec.planner.lower import ImageBuilder, with_tree
from profilec.planner.lower.build import Built
from profilec.planner.lower.workload import workload_of
from profilec.planner.options import Options
from profilec.planner.plan import Plan, plan_of
from profilec.runtime.execute import Executor
from profilec.runtime.matchers.access import AccessFinder
from profilec.runtime.matchers.groups import entries_of
from profilec.runtime.matchers.rank_tests import rank_tests

TITLE = "Plans chosen by cost, against all that can be forced"
ROUNDS = 9
SLICE = 0.02
PATIENCE = 60.0
N_ASKED = 100
UNTIL_KNOWN = 12
"""Documents that are matched over and over, and rounds after which the encoder knows their shapes."""
FEWEST = 30


def rows(quick: bool) -> Iterator[Row | Skipped]:
    for workload in workloads(1_000 if quick else 100_000):
        documents = workload.documents()
        built = _built(workload, documents[:N_DOCUMENTS])
        yield from _against_all(workload.name, built, documents[N_DOCUMENTS:], 1 if quick else ROUNDS)
        errors = _errors(built, documents[N_DOCUMENTS:])
        yield Row(f"{workload.name}: estimate of candidates, median", float(np.median(errors)), "x", target=2.0)
        yield Row(f"{workload.name}: the same, 90th percentile", float(np.percentile(errors, 90)), "x", target=5.0)
    yield from _planning(10_000 if quick else 1_000_000)


def _built(workload: Workload, sample: list[dict[str, Any]] | None) -> Built:
    builder = ImageBuilder()
    for form in workload.forms():
        builder.add(form)
    return builder.build(sample)


def _against_all(name: str, built: Built, documents: list[dict[str, Any]], rounds: int) -> Iterator[Row | Skipped]:
    plan = plan_of(built, Options(), default_units())
    executors = {"planned": _planned(built, plan)}
    attributes = [slot.name for slot in built.image.slots]
    for other, (matcher, index) in forced().items():
        start = time.perf_counter()
        executors[other] = _executor(built, matcher, {} if index is None else dict.fromkeys(attributes, index))
        took = time.perf_counter() - start
        if took > PATIENCE:
            del executors[other]
            yield Skipped(f"{name}: {other}", f"it took {took:.0f} s to build")
    expected = [executors["planned"].match(document).tolist() for document in documents[:20]]
    for other, executor in executors.items():
        found = [executor.match(document).tolist() for document in documents[:20]]
        assert found == expected, f"{name}: {other} and the plan disagree"
    asked = documents[:N_ASKED]
    for executor in executors.values():
        for _ in range(UNTIL_KNOWN):
            for document in asked:
                executor.encode(document)
    took_each: dict[str, list[float]] = {other: [] for other in executors}
    n_of = {other: _n_in_slice(executor, asked) for other, executor in executors.items()}
    turns = list(executors)
    for round_ in range(rounds):
        random.Random(round_).shuffle(turns)
        for other in turns:
            first, n = round_ * n_of[other], n_of[other]
            _timed(executors[other], asked, first, n)
            took_each[other].append(_timed(executors[other], asked, first, n))
    medians = {other: statistics.median(times) * 1e6 for other, times in took_each.items()}
    planned = medians.pop("planned")
    best, worst = min(medians, key=medians.__getitem__), max(medians, key=medians.__getitem__)
    yield Row(f"{name}: planned, {plan.matchers}", planned, "us", medians[best], f"the best, {best}", times=0.8)
    yield Row(f"{name}: planned, {plan.matchers}", planned, "us", medians[worst], f"the worst, {worst}", times=1.0)


def _planned(built: Built, plan: Plan) -> Executor:
    groups = dict(plan.groups)
    own = entries_of(built.image, plan.matcher, groups)
    image = with_tree(built.image, presence=built.presence, own=own["betree"]) if "betree" in own else built.image
    return Executor(image, plan.matcher, groups=groups, index_of=plan.rank_index, frequency=plan.frequency or None)


def _executor(built: Built, matcher: str, index_of: dict[str, str]) -> Executor:
    base, _, leaves = matcher.partition(":")
    image = with_tree(built.image, None, leaves or "any", built.presence) if base == "betree" else built.image
    return Executor(image, matcher, index_of=index_of)


def _timed(executor: Executor, documents: list[dict[str, Any]], first: int, n: int) -> float:
    start = time.perf_counter()
    for number in range(first, first + n):
        executor.match(documents[number % len(documents)])
    return (time.perf_counter() - start) / n


def _n_in_slice(executor: Executor, documents: list[dict[str, Any]]) -> int:
    return max(1, min(len(documents), int(SLICE / _timed(executor, documents, 0, 3))))


def _errors(built: Built, documents: list[dict[str, Any]]) -> list[float]:
    """How many times the estimate of candidates is off, in either direction: of all, and of each attribute.

    Both are of what `access` looks at, which knows ranks alone: `by_rank`, and `n_found` of the slots. An attribute
    counts where FEWEST candidates are expected of these documents or seen in them: below, what is seen is chance.
    """
    workload = workload_of(built.image, built.expected, built.sampled)
    every = np.ones(built.image.n_entries, np.bool_)
    finder, slot_of = AccessFinder(built.image, every), rank_tests(built.image, every).slot
    encode = Executor(built.image, "scan").encode
    of_slot = np.zeros(len(built.image.slots))
    total = 0
    off = finder.checks.by_test_off
    for document in documents:
        slots, ranks, n = encode(document)
        slots, ranks = slots[:n].copy(), ranks[:n].copy()
        total += finder.n_candidates(slots, ranks)
        tests = finder.holding(slots, ranks)
        np.add.at(of_slot, slot_of[tests], off[tests + 1] - off[tests])
    seen = {slot.name: n for slot, n in zip(built.image.slots, of_slot.tolist(), strict=True)}
    pairs = [(workload.by_rank * len(documents), total)]
    pairs += [(slot.n_found * len(documents), seen[slot.name]) for slot in workload.slots]
    counted = [pair for pair in pairs if max(pair) >= FEWEST]
    return [max(expected, found) / max(min(expected, found), 1.0) for expected, found in counted]


def _planning(n: int) -> Iterator[Row]:
    workload = next(iter(workloads(n)))
    built = _built(workload, workload.documents()[:N_DOCUMENTS])
    start = time.perf_counter()
    plan_of(built, Options(), default_units())
    yield Row(f"planning {n:,} profiles", time.perf_counter() - start, "s", target=2.0)
