"""The search for the plan that costs least.

In: a `Workload`, options, unit costs. Out: the matcher, the index of each attribute, and what all others would cost.

It is exact: an attribute's index is chosen for itself, whatever the other attributes have, so that the cheapest of
MATCHERS times the cheapest index of each attribute is the cheapest of all plans. A choice that options force is taken,
and its cost told beside those that it rejects.

Invariant: the same workload, options and units give the same plan; of two that cost the same, the one that comes first
in MATCHERS or INDEXES.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from profilec.planner import costs
from profilec.planner.costs import MATCHERS, Units, cost
from profilec.planner.options import INDEXES, WITH_INDEX, Options

if TYPE_CHECKING:
    from profilec.planner.lower.workload import SlotLoad, Workload


class Priced(NamedTuple):
    """A choice, and what it costs in ns a document."""

    name: str
    ns: float


class Found(NamedTuple):
    """`matchers`: all that were weighed, the chosen one first, then the cheapest first. `indexes`: by attribute the
    same of its indexes, where the matcher has some."""

    matchers: tuple[Priced, ...]
    indexes: Mapping[str, tuple[Priced, ...]]

    @property
    def matcher(self) -> Priced:
        return self.matchers[0]


def search(workload: Workload, options: Options, units: Units) -> Found:
    """The cheapest plan among those that the options leave open."""
    forced_index = options.rank_index
    indexes = {
        slot.name: _with_first(
            _indexes(slot, units), forced_index.get(slot.name) or forced_index.get(_plain(slot.name))
        )
        for slot in workload.slots
    }
    index_of = {name: priced[0].name for name, priced in indexes.items()}
    priced = [Priced(name, cost(costs.matcher(name, workload, index_of), units)) for name in MATCHERS]
    priced.sort(key=lambda matcher: matcher.ns)
    forced = options.matcher
    if forced is None and forced_index:
        forced = next(matcher.name for matcher in priced if matcher.name in WITH_INDEX)
    elif forced is None and options.max_cap is not None:
        forced = "betree"
    if forced is not None and forced not in MATCHERS:  # a form of one
        base = forced.partition(":")[0]
        priced.insert(0, Priced(forced, next(matcher.ns for matcher in priced if matcher.name == base)))
    ordered = _with_first(priced, forced)
    return Found(ordered, indexes if ordered[0].name in WITH_INDEX else {})


def _plain(name: str) -> str:
    return name.replace("`", "")


def _with_first(priced: list[Priced], name: str | None) -> tuple[Priced, ...]:
    if name is None:
        return tuple(priced)
    chosen = [one for one in priced if one.name == name]
    return (*chosen, *(one for one in priced if one.name != name))


def _indexes(slot: SlotLoad, units: Units) -> list[Priced]:
    priced = [Priced(name, cost(costs.index(name, slot, 1.0), units)) for name in INDEXES]
    return sorted(priced, key=lambda index: index.ns)
