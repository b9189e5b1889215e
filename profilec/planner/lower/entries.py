"""Entries: the conjunctions that are indexed, each with its access predicate and its residual.

In: a skeleton whose rows are tests of the image, and the cost of each test. Out: entries such
that the skeleton holds for a document exactly when all tests and the residual of one of its
entries hold.

The access predicate of an AND is its cheapest child's; of an OR, the union of its children's.
What holds on absence, joins and negated terms give none, and an OR that holds one of those has
none; so no CNF or DNF is built to find it, and there are never more entries than leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from profilec.planner.lower.leaves import Join
from profilec.planner.lower.skeleton import AllOf, AnyOf, Row, Skeleton

_MAX_COPIES = 1_000


class Entry(NamedTuple):
    """`tests` must all hold, and then every part of `residual`. Entries of one OR share the parts of theirs."""

    tests: tuple[int, ...]
    residual: tuple[Skeleton, ...]


def entries_of(skeleton: Skeleton, cost: Callable[[int], float]) -> Iterator[Entry]:
    """The entries of a profile.

    `cost(test)` is the share of documents that the test lets through, or `inf` where it gives no
    access: it holds on absence, or belongs to a negated term.
    """
    known: dict[int, float] = {}
    if isinstance(skeleton, AnyOf):
        # A branch without access makes an entry of its own, so that only it is checked for every document.
        for branch in skeleton.parts:
            yield from _cover(branch, (), (), cost, known)
    elif skeleton is not False:
        yield from _cover(skeleton, (), (), cost, known)


def access_cost(skeleton: Skeleton, cost: Callable[[int], float], known: dict[int, float] | None = None) -> float:
    """The cheapest cover of a skeleton by access predicates; `inf` where it has none."""
    if known is None:
        known = {}
    if isinstance(skeleton, Row):
        return cost(skeleton.number)
    if isinstance(skeleton, bool):
        return math.inf if skeleton else 0.0
    if isinstance(skeleton, Join):
        return math.inf
    found = known.get(id(skeleton))
    if found is None:
        costs = [access_cost(part, cost, known) for part in skeleton.parts]
        found = known[id(skeleton)] = min(costs) if isinstance(skeleton, AllOf) else math.fsum(costs)
    return found


def _cover(
    skeleton: Skeleton,
    tests: tuple[int, ...],
    rest: tuple[Skeleton, ...],
    cost: Callable[[int], float],
    known: dict[int, float],
) -> Iterator[Entry]:
    """Entries for `skeleton AND tests AND rest`: down through the cheapest OR, unless a plain test is cheaper."""
    parts = skeleton.parts if isinstance(skeleton, AllOf) else (skeleton,)
    rows = [part.number for part in parts if isinstance(part, Row)]
    others = [part for part in parts if not isinstance(part, Row) and part is not True]
    tests = (*tests, *rows)
    choices = [part for part in others if isinstance(part, AnyOf)]
    best = min(choices, key=lambda part: access_cost(part, cost, known), default=None)
    direct = min([cost(test) for test in tests], default=math.inf)
    if best is None or access_cost(best, cost, known) >= direct:
        yield Entry(tuple(dict.fromkeys(tests)), (*others, *rest))
        return
    rest = (*[part for part in others if part is not best], *rest)
    if len(tests) * len(best.parts) > _MAX_COPIES:  # too many to repeat in each branch's entry: one shared residual
        tests, rest = (), (*map(Row, tests), *rest)
    for branch in best.parts:
        yield from _cover(branch, tests, rest, cost, known)
