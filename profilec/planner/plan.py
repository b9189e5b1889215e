"""The plan of a profile set: its operators, what each is expected to give and to cost, and what was rejected.

In: an image and what is expected of documents, the options and the unit costs. Out: a `Plan`.

Operators (`operators`) form a directed acyclic graph, the flow of one document: its ranks go to the matchers, by way of
the indexes that they have; entries go from there to the check of what only Python can tell, and to the answer.
`Plan.graph` is that graph as networkx has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from profilec.planner.costs import Units
from profilec.planner.drawing.spelled import size
from profilec.planner.lower.held import expected_to_hold
from profilec.planner.lower.pattern_loads import pattern_loads
from profilec.planner.lower.unselective import unselective
from profilec.planner.lower.workload import Workload, in_memory_of, workload_of
from profilec.planner.memory import Held
from profilec.planner.operators import Operator, by_matcher, counted, operators_of, rank_indexes, shortened
from profilec.planner.options import INDEXES, ON_DISK, PATTERN_INDEXES, Options, of_kind
from profilec.planner.pattern_choice import choose, named
from profilec.planner.search import PREFILTER, Found, joined, plain, search

if TYPE_CHECKING:
    import networkx as nx

    from profilec.planner.lower.build import Built
    from profilec.runtime.image import Image


@dataclass(frozen=True, slots=True)
class Plan:
    """`operators`: the first gives the answer. `matcher` finds all entries but those that an attribute of `groups`
    gives access to, which the matcher named there finds ("" stands for entries that no attribute gives access to).
    `index`: the index of each attribute, where a matcher has some; then the pattern indexes that are forced, or are not
    the default, so that an attribute may be there twice.
    `prefilter`: whether entries are passed over that cannot match, as the earlier documents are.
    `frequency`: of each attribute or expression the share of sampled documents that have it, for `opindex` alone.
    `phase_order`: the one forced, or None for the cheaper one of each document. `n_sampled`: the documents from which
    is known what is expected; 0 where the profiles alone tell. `unselective`: the entries by which an index has least
    to gain, each with the share of documents for which it is looked at, and how many there are in all. `held`: the
    memory that the cheapest plan is expected to hold, and that the set is given; None where that is not limited."""

    matcher: str
    reason: str
    n_profiles: int
    n_attributes: int
    n_entries: int
    n_joins: int
    phase_order: str | None = None
    index: tuple[tuple[str, str], ...] = ()
    n_sampled: int = 0
    operators: tuple[Operator, ...] = ()
    groups: tuple[tuple[str, str], ...] = ()
    prefilter: bool = True
    frequency: tuple[float, ...] = ()
    n_unselective: int = 0
    unselective: tuple[tuple[int, float], ...] = ()
    held: Held | None = None

    def __post_init__(self) -> None:
        if self.held is not None:
            object.__setattr__(self, "held", Held(*self.held))
        object.__setattr__(self, "operators", tuple(Operator(*operator) for operator in self.operators))

    def __str__(self) -> str:
        return (
            f"{counted(self.n_profiles, 'profile')}: {counted(self.n_attributes, 'attribute')}, "
            f"{counted(self.n_entries, 'entry', 'entries')}, {counted(self.n_joins, 'join term')}; "
            f"matcher {self.matchers}: {self.reason}"
        )

    @property
    def matchers(self) -> str:
        """All that take part.

        >>> Plan("betree", "", 2, 2, 2, 0, groups=(("price", "access"),)).matchers
        'betree, access for price'
        """
        of: dict[str, list[str]] = {}
        for attribute, name in self.groups:
            of.setdefault(name, []).append(attribute or "entries without access")
        named = [f"{name} for {shortened(attributes)}" for name, attributes in of.items()]
        return ", ".join([self.matcher, *named])

    @property
    def ns(self) -> float:
        """What matching one document is expected to take."""
        return sum(operator.ns for operator in self.operators)

    @property
    def rank_index(self) -> dict[str, str]:
        """The index of each attribute, where the matcher has some."""
        return of_kind(self.index, INDEXES)

    @property
    def pattern_index(self) -> dict[str, str]:
        """The index of an attribute's patterns, where one is forced or is not the default."""
        return of_kind(self.index, PATTERN_INDEXES)

    @property
    def graph(self) -> nx.DiGraph[int]:
        """The operators as a graph: an edge from each to what reads it; a node has the operator's fields."""
        import networkx as nx

        graph: nx.DiGraph[int] = nx.DiGraph()
        for place, operator in enumerate(self.operators):
            graph.add_node(place, **operator._asdict())
        graph.add_edges_from((place, n) for n, operator in enumerate(self.operators) for place in operator.inputs)
        return graph

    def verify(self) -> None:
        """Raises ValueError where the operators are no plan: a cycle, something that nobody reads, a cost or a number
        of rows that cannot be."""
        for place, operator in enumerate(self.operators):
            if not all(0 <= read < len(self.operators) for read in operator.inputs):
                raise ValueError(f"operator {place}, {operator.name}, reads one that there is not")
            if not (operator.ns >= 0 and operator.rows >= 0):
                raise ValueError(f"operator {place}, {operator.name}, has {operator.rows} rows at {operator.ns} ns")
        order = list(self._reached(0, ()))
        unread = sorted(set(range(len(self.operators))) - set(order))
        if unread:
            raise ValueError(f"nobody reads operator {unread[0]}, {self.operators[unread[0]].name}")

    def _reached(self, place: int, path: tuple[int, ...]) -> Iterator[int]:
        if place in path:
            raise ValueError(f"operator {place}, {self.operators[place].name}, reads itself")
        yield place
        for read in self.operators[place].inputs:
            yield from self._reached(read, (*path, place))


def plan_of(built: Built, options: Options, units: Units) -> Plan:
    """The plan that costs least of those that the options leave open.

    Raises:
        ValueError: an index is forced on what no profile asks for.
    """
    image = built.image
    if options.index or options.matcher_of:
        options.expect_used(attributes_of(image))
    workload = workload_of(image, built.expected, built.sampled)
    found, held = search(workload, options, units), None
    if options.memory is not None:
        held = Held(expected_to_hold(image, by_matcher(workload, found)), options.memory)
        if held.is_too_much:
            workload = in_memory_of(workload, held.given)
            found = search(workload, options, units, on_disk=True)
    rank_index = dict(_rank_indexes(image, found, options, held))
    joins = joined(built.joins, options.prefilter, units)
    pattern_choices = list(choose(pattern_loads(image, built.expected, built.sampled), options, units))
    pattern_index = named(pattern_choices, options)
    n_unselective, worst = unselective(image, built.expected)
    plan = Plan(
        matcher=found.matcher,
        groups=tuple(found.groups.items()),
        prefilter=joins[0].name == PREFILTER,
        frequency=_frequency(built) if "opindex" in (found.matcher, *found.groups.values()) else (),
        reason=_reason(options, workload, found, held, is_on_disk=ON_DISK in rank_index.values()),
        n_profiles=image.n_profiles,
        n_attributes=len(image.slots),
        n_entries=image.n_entries,
        n_joins=len(image.joins),
        phase_order=options.phase_order,
        index=(*rank_index.items(), *pattern_index.items()),
        n_sampled=workload.n_sampled,
        operators=operators_of(image, workload, found, units, pattern_index, joins, pattern_choices),
        n_unselective=n_unselective,
        unselective=worst,
        held=held,
    )
    plan.verify()
    return plan


def _rank_indexes(image: Image, found: Found, options: Options, held: Held | None) -> Iterator[tuple[str, str]]:
    """Those that were chosen. On secondary storage, also of attributes whose tests stand for patterns and terms: these
    give access in `access` alone."""
    chosen = dict(rank_indexes(found))
    yield from chosen.items()
    if held is not None and held.is_too_much and "access" in (found.matcher, *found.groups.values()):
        forced = options.rank_index
        names = (slot.name for slot in image.slots if slot.name not in forced and plain(slot.name) not in forced)
        yield from ((name, ON_DISK) for name in names if name not in chosen)


def _frequency(built: Built) -> tuple[float, ...]:
    return () if built.presence is None else tuple(built.presence[: len(built.image.slots)].tolist())


def _reason(options: Options, workload: Workload, found: Found, held: Held | None, *, is_on_disk: bool) -> str:
    if held is None:
        return _reason_of_cost(options, workload, found)
    why, expected, given = _reason_of_cost(options, workload, found), size(held.expected), size(held.given)
    if not held.is_too_much:
        return f"{why}; the set is expected to hold {expected} of the {given} of memory that it is given"
    why = "by the cheapest plan" if options.leaves_matcher else f"{why};"
    what = f"{expected} of memory, more than the {given} that it is given"
    where = f": nodes of {ON_DISK} are on secondary storage" if is_on_disk else ""
    return f"{why} the set is expected to hold {what}{where}"


def _reason_of_cost(options: Options, workload: Workload, found: Found) -> str:
    groups = {plain(group.attribute) for group in workload.groups}
    idle = [name for name in options.group_matcher if plain(name) not in groups]
    if idle:
        return f"as the options say, but {shortened(idle)} {'finds' if len(idle) == 1 else 'find'} no entries"
    if options.matcher is not None or options.matcher_of:
        return "as the options say"
    if options.rank_index:
        return "the cheaper one of those that have the index that the options name"
    if options.max_cap is not None:
        return "the options name its leaf capacity"
    if options.wants_tree:
        return "the options name its ranking"
    if found.rejected and found.rejected[0].ns < found.ns:
        return f"it is at hand as soon as the set is, {found.rejected[0].name} would be built first and spare little"
    return "it is expected to cost least"


def attributes_of(image: Image) -> Iterator[str]:
    """The attributes and expressions that profiles use, as one writes them, and without back-quotes."""
    programs = [slot.program for slot in image.slots]
    programs += image.terms
    programs += [program for join in image.joins for program in (join.body, join.where or ())]
    names = [slot.name for slot in image.slots]
    names += [slot.name[len("FOLD(") : -1] for slot in image.slots if slot.program[-1] == ("call", "FOLD", 1)]
    return chain(names, _read(programs), (".".join(join.within_of) for join in image.joins if join.within_of))


def _read(programs: Iterable[tuple[tuple[Any, ...], ...]]) -> Iterator[str]:
    """The new document's attributes that programs read."""
    for program in programs:
        for operation, *arguments in program:
            if operation == "attribute" and arguments[0] == 0:
                yield ".".join(arguments[1])
            elif operation in ("some", "every"):
                yield from _read(arguments)
