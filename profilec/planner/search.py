"""The search for the plan that costs least.

In: a `Workload`, options, unit costs. Out: the matcher of each group of entries, the index of each attribute, and what
all others would cost.

It is exact. An attribute's index is chosen for itself, whatever the other attributes have. What a matcher spends is a
sum over groups, and what it spends on a document whichever groups it has; so for each choice of matchers that take part
every group goes to the cheapest of these, and the cheapest choice is the cheapest of all plans. There are 31 choices.

The tree is in the image, which all processes map; every other matcher is made anew, in memory of its own, by each that
opens the set. So another one, or several, are taken in its stead only where they cost less than WORTH_MAKING of it.

Where that holds more than the memory that the set is given (`memory`), the matcher is `access`, and its indexes are on
secondary storage, with all else that it needs.

A choice that options force is taken, and its cost told beside those that it rejects.

Invariant: the same workload, options and units give the same plan; of two that cost the same, the one that comes first
in MATCHERS or INDEXES.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profilec.planner import costs
from profilec.planner.costs import MATCHERS, MIXED, Units, cost
from profilec.planner.lower.workload import Workload, together
from profilec.planner.options import INDEXES, ON_DISK, WITH_INDEX, Options

if TYPE_CHECKING:
    from profilec.planner.lower.join_load import JoinLoad
    from profilec.planner.lower.workload import IndexLoad

PREFILTER, NO_PREFILTER = "pre-filter", "no pre-filter"
WORTH_MIXING = 0.9
"""Several matchers are taken where they cost less than this share of the best one."""
WORTH_MAKING = 0.7
"""Where the tree would do, others are taken that cost less than this share of it."""


class Priced(NamedTuple):
    """A choice, and what it costs in ns a document."""

    name: str
    ns: float


class Found(NamedTuple):
    """`matcher` finds the entries that `groups`, by the attribute that gives access, give to no other ("" for those
    that none gives access to). `ns`: what all of it costs. `rejected`: what else was weighed, the cheapest first.
    `indexes`: by matcher that has some and attribute all indexes, the chosen one first, then the cheapest first."""

    matcher: str
    groups: Mapping[str, str]
    ns: float
    rejected: tuple[Priced, ...]
    indexes: Mapping[str, Mapping[str, tuple[Priced, ...]]]


def joined(load: JoinLoad, forced: bool | None, units: Units) -> tuple[Priced, ...]:
    """Joins with the pre-filter (PREFILTER) and without it, the chosen one first. It is there where no sample tells
    what it would pass over."""
    without = Priced(NO_PREFILTER, load.ns)
    if load.ns_left is None:
        own = Priced(PREFILTER, load.ns)
        return (own,) if forced is not False else (without,)
    own = Priced(PREFILTER, load.ns_left + cost(costs.prefilter(load), units))
    is_chosen = own.ns < without.ns if forced is None else forced
    return (own, without) if is_chosen else (without, own)


_Mix = tuple[str, dict[str, str], float]
"""A matcher, the other matchers of groups, what it costs."""


def search(workload: Workload, options: Options, units: Units, *, on_disk: bool = False) -> Found:
    """The cheapest plan among those that the options leave open; with `on_disk`, of those whose attribute indexes are
    on secondary storage."""
    indexes = {name: _indexes(name, workload, options, units, on_disk) for name in WITH_INDEX}
    prices = _Prices(workload, indexes, units)
    alone = sorted((Priced(name, prices.alone(name)) for name in MATCHERS), key=lambda priced: priced.ns)
    forced = options.matcher
    if forced is None and on_disk and not options.wants_tree:
        forced = "access"
    elif forced is None and options.rank_index:
        able = ("access",) if options.group_matcher else WITH_INDEX
        forced = next(matcher.name for matcher in alone if matcher.name in able)
    elif forced is None and options.wants_tree:
        forced = "betree"
    best: _Mix = (forced, {}, prices.alone(forced.partition(":")[0])) if forced else _best_alone(alone)
    rejected = [one for one in alone if one.name != best[0]]
    if options.group_matcher:
        best = prices.mixed(forced, options.group_matcher)
        rejected = [one for one in alone if best[1] or one.name != best[0]]
    elif forced is None:
        mix = prices.mixed(None, {})
        if mix[-1] < (WORTH_MAKING if best[0] == "betree" else WORTH_MIXING) * best[-1]:
            best, rejected = mix, alone
        elif mix[1]:
            rejected.append(Priced(" + ".join(dict.fromkeys((mix[0], *mix[1].values()))), mix[-1]))
            rejected.sort(key=lambda priced: priced.ns)
    matcher, groups, ns = best
    used = {matcher, *groups.values()}
    return Found(matcher, groups, ns, tuple(rejected), {name: of for name, of in indexes.items() if name in used})


def _best_alone(alone: Sequence[Priced]) -> _Mix:
    """Of matchers, the cheapest first: the one to take."""
    tree = next(priced for priced in alone if priced.name == "betree")
    best = alone[0] if alone[0].ns < WORTH_MAKING * tree.ns else tree
    return best.name, {}, best.ns


class _Prices:
    """What matchers cost, of the whole and of groups."""

    def __init__(
        self, workload: Workload, indexes: Mapping[str, Mapping[str, tuple[Priced, ...]]], units: Units
    ) -> None:
        self._workload, self._units = workload, units
        self._index_of = {
            matcher: {attribute: priced[0].name for attribute, priced in of.items()} for matcher, of in indexes.items()
        }
        self._fixed = {name: self._of(name, together((), workload)) for name in MIXED}
        self._names = [group.attribute for group in workload.groups]
        self._own = np.array(
            [[self._of(name, group) - self._fixed[name] for group in workload.groups] for name in MIXED]
        )

    def _of(self, name: str, workload: Workload) -> float:
        return cost(costs.matcher(name, workload, self._index_of.get(name, {})), self._units)

    def alone(self, name: str) -> float:
        """Of one matcher for all entries."""
        return self._of(name, self._workload)

    def mixed(self, forced: str | None, group_matcher: Mapping[str, str]) -> _Mix:
        """The cheapest plan in which these groups have these matchers, and the others, where it is named, `forced`."""
        by_name = {name: group_matcher.get(name) or group_matcher.get(plain(name)) for name in self._names}
        given = {name: matcher for name, matcher in by_name.items() if matcher is not None}
        choices = [(forced,)] if forced else [of for n in range(1, len(MIXED) + 1) for of in combinations(MIXED, n)]
        return min((self._best_of(among, given) for among in choices), key=lambda mix: mix[-1])

    def _best_of(self, among: Sequence[str], given: Mapping[str, str]) -> _Mix:
        cheapest = self._own[[MIXED.index(name) for name in among]].argmin(axis=0).tolist()
        chosen = [given.get(group, among[place]) for group, place in zip(self._names, cheapest, strict=True)]
        n_entries = dict.fromkeys(among, 0)
        for group, name in zip(self._workload.groups, chosen, strict=True):
            if group.attribute not in given:
                n_entries[name] += group.n_entries
        matcher = max(among, key=n_entries.__getitem__)
        groups = {group: name for group, name in zip(self._names, chosen, strict=True) if name != matcher}
        used = {matcher, *groups.values()}
        ns = cost(costs.another(len(used)), self._units) + sum(self._fixed[name] for name in sorted(used))
        ns += sum(self._own[MIXED.index(name), place] for place, name in enumerate(chosen))
        return matcher, groups, float(ns)


def plain(name: str) -> str:
    """An attribute or expression without back-quotes."""
    return name.replace("`", "")


def _indexes(
    matcher: str, workload: Workload, options: Options, units: Units, on_disk: bool
) -> dict[str, tuple[Priced, ...]]:
    """By attribute that the matcher has an index of, what each index costs for a document."""
    forced = options.rank_index
    found = {}
    asked = workload.asked if matcher == "access" else 1.0
    for slot in workload.slots:
        if matcher == "access" and not slot.n_access:
            continue
        load, times = (slot.access if matcher == "access" else slot.whole), slot.presence * asked
        priced = sorted(_priced(load, times, units), key=lambda index: index.ns)
        named = forced.get(slot.name) or forced.get(plain(slot.name))
        found[slot.name] = _with_first(priced, named or (ON_DISK if on_disk and matcher == "access" else None))
    return found


def _priced(load: IndexLoad, times: float, units: Units) -> list[Priced]:
    return [Priced(name, cost(costs.index(name, load), units) * times) for name in INDEXES]


def _with_first(priced: list[Priced], name: str | None) -> tuple[Priced, ...]:
    chosen = [one for one in priced if one.name == name]
    return (*chosen, *(one for one in priced if one.name != name))
