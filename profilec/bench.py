"""`bench`: every matcher, and the plan, timed on documents of one's own.

In: a compiled set, documents. Out: for each matcher the time of one document. In each round all of them match some
documents, one matcher after the other, since a machine is never quite idle.

Invariant: nothing is told of matchers that do not give the same answer for every document.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from profilec.compilation import executor_of
from profilec.planner.costs import MATCHERS
from profilec.planner.lower import with_tree
from profilec.profileset import ProfileSet
from profilec.runtime.execute import Executor

_ROUNDS = 9
_SLICE_NS = 100_000_000
_WARM_UP = 20


class Timed(NamedTuple):
    """A matcher: the median, least and most ns that a document took, over the rounds; what the plan expected."""

    name: str
    ns: float
    least: float
    most: float
    expected_ns: float | None


class DisagreementError(AssertionError):
    """Two matchers gave different answers, which is a bug of profilec."""


def bench(
    profile_set: ProfileSet,
    documents: Sequence[Any],
    *,
    rounds: int = _ROUNDS,
    told: Callable[[str], object] = lambda name: None,
) -> list[Timed]:
    """The matchers, the planned one first under the name "planned". `told`: called with the name of what comes next.

    Raises:
        DisagreementError: two matchers give different answers.
        DocumentError: as `ProfileSet.match`.
    """
    parts, store = profile_set._whole().whole(), profile_set.documents
    plan = parts.plan
    rest = sum(operator.ns for operator in plan.operators if operator.name in ("encode", "check", "joins"))
    expected = {name: ns + rest for operator in plan.operators for name, ns in operator.rejected if name in MATCHERS}
    expected["planned"] = plan.ns
    others = [name for name in MATCHERS if name != plan.matcher or plan.groups]
    told(f"planned ({plan.matchers})")
    executors = {"planned": executor_of(parts)}
    for name in others:
        told(name)
        with_own = parts
        if name == "betree" and (parts.image.tree is None or plan.groups):
            with_own = parts._replace(image=with_tree(parts.image))
        executors[name] = executor_of(with_own, name)
    n_of = {name: _warmed_up(executor, documents, store) for name, executor in executors.items()}
    _expect_equal(executors, documents, store, profile_set.ids)
    told(f"{rounds} rounds")
    took: dict[str, list[float]] = {name: [] for name in executors}
    for round_ in range(rounds):
        for name, executor in executors.items():
            n = n_of[name]
            start_at = round_ * n
            start = time.perf_counter_ns()
            for number in range(start_at, start_at + n):
                executor.match(documents[number % len(documents)], store)
            took[name].append((time.perf_counter_ns() - start) / n)
    return [
        Timed(
            name,
            statistics.median(times),
            min(times),
            max(times),
            expected.get(name),
        )
        for name, times in took.items()
    ]


def _warmed_up(executor: Executor, documents: Sequence[Any], store: Any) -> int:
    """How many documents fit into a slice of a round, after what is compiled or learned at first."""
    executor.match(documents[0], store)
    start = time.perf_counter_ns()
    n = 0
    while n < _WARM_UP and time.perf_counter_ns() - start < 2 * _SLICE_NS:
        executor.match(documents[n % len(documents)], store)
        n += 1
    one = (time.perf_counter_ns() - start) / n
    return max(1, min(1_000, int(_SLICE_NS / one)))


def _expect_equal(executors: dict[str, Executor], documents: Sequence[Any], store: Any, ids: Sequence[str]) -> None:
    for document in documents[:_COMPARED]:
        answers = {name: executor.match(document, store).tolist() for name, executor in executors.items()}
        for name, answer in answers.items():
            if answer != answers["planned"]:
                odd = sorted(set(answer) ^ set(answers["planned"]))[0]
                raise DisagreementError(f"{name} and the plan disagree about {ids[odd]!r} and {document!r:.200}")


_COMPARED = 50
