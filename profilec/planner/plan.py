"""The plan of a profile set: its operators, what each is expected to give and to cost, and what was rejected.

In: an image and what is expected of documents, the options and the unit costs. Out: a `Plan`.

Operators form a directed acyclic graph, the flow of one document: its ranks go to the matcher, by way of the indexes
that it has; entries go from there to the check of what only Python can tell, and to the answer. `Plan.graph` is that
graph as networkx has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from profilec.planner import costs
from profilec.planner.costs import Units, cost
from profilec.planner.lower.describe import cost_of_joins
from profilec.planner.lower.unselective import unselective
from profilec.planner.lower.workload import workload_of
from profilec.planner.options import INDEXES, PATTERN_INDEXES, Options, of_kind
from profilec.planner.search import Found, Priced, search

if TYPE_CHECKING:
    import networkx as nx

    from profilec.planner.lower.build import Built
    from profilec.planner.lower.workload import Workload
    from profilec.runtime.image import Image


class Operator(NamedTuple):
    """One operator. For one document: `rows`, the entries (of `encode` the ranks) that it is expected to give, and `ns`
    that it takes itself. `inputs`: the places in the plan of what it reads. `rejected`: what could stand here instead,
    and what that would cost; the cheapest first."""

    name: str
    detail: str
    rows: float
    ns: float
    inputs: tuple[int, ...] = ()
    rejected: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """`operators`: the first gives the answer. `index`: the index of each attribute, where the matcher has some; then
    the pattern indexes that are forced, so that an attribute may be there twice.
    `phase_order`: the one forced, or None for the cheaper one of each document. `n_sampled`: the documents from which
    is known what is expected; 0 where the profiles alone tell. `unselective`: the entries by which an index has least
    to gain, each with the share of documents for which it is looked at, and how many there are in all."""

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
    n_unselective: int = 0
    unselective: tuple[tuple[int, float], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "operators", tuple(Operator(*operator) for operator in self.operators))

    def __str__(self) -> str:
        return (
            f"{counted(self.n_profiles, 'profile')}: {counted(self.n_attributes, 'attribute')}, "
            f"{counted(self.n_entries, 'entry', 'entries')}, {counted(self.n_joins, 'join term')}; "
            f"matcher {self.matcher}: {self.reason}"
        )

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
        """The index of an attribute's patterns, where one is forced."""
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


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "entry", "entries"), counted(2_000, "profile")
    ('1 entry', '2,000 profiles')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def plan_of(built: Built, options: Options, units: Units) -> Plan:
    """The plan that costs least of those that the options leave open.

    Raises:
        ValueError: an index is forced on what no profile asks for.
    """
    image = built.image
    if options.index:
        options.expect_used(_attributes(image))
    workload = workload_of(*built)
    found = search(workload, options, units)
    n_unselective, worst = unselective(image, built.expected)
    plan = Plan(
        matcher=found.matcher.name,
        reason=_reason(options),
        n_profiles=image.n_profiles,
        n_attributes=len(image.slots),
        n_entries=image.n_entries,
        n_joins=len(image.joins),
        phase_order=options.phase_order,
        index=(*((name, priced[0].name) for name, priced in found.indexes.items()), *options.pattern_index.items()),
        n_sampled=workload.n_sampled,
        operators=_operators(image, workload, found, units, options.pattern_index),
        n_unselective=n_unselective,
        unselective=worst,
    )
    plan.verify()
    return plan


def _reason(options: Options) -> str:
    if options.matcher is not None:
        return "as the options say"
    if options.rank_index:
        return "the cheaper one of those that have the index that the options name"
    if options.max_cap is not None:
        return "the options name its leaf capacity"
    return "it is expected to cost least"


def _operators(
    image: Image, workload: Workload, found: Found, units: Units, pattern_index: Mapping[str, str]
) -> tuple[Operator, ...]:
    """See `Plan`: the answer comes first."""
    operators: list[Operator] = []

    def add(name: str, detail: str, rows: float, ns: float, rejected: Iterable[Priced] = ()) -> int:
        operators.append(Operator(name, detail, rows, ns, (), tuple((one.name, one.ns) for one in rejected)))
        return len(operators) - 1

    def read_by(reader: int, place: int) -> int:
        operators[reader] = operators[reader]._replace(inputs=(*operators[reader].inputs, place))
        return place

    n_joined = image.n_entries - workload.n_entries
    n_each = len(image.entry_profiles) / max(image.n_entries, 1)
    answer = reader = add(
        "match", counted(image.n_profiles, "profile"), (workload.rows + _JOIN_SHARE * n_joined) * n_each, 0.0
    )
    if image.joins:
        read_by(
            answer, add("joins", counted(len(image.joins), "join term"), _JOIN_SHARE * n_joined, cost_of_joins(image))
        )
    if workload.n_checked:
        reader = read_by(
            reader, add("check", "what Python has to decide", workload.rows, cost(costs.check(workload), units))
        )
    chosen, *others = found.matchers
    of_indexes = [
        (slot, found.indexes[slot.name])
        for slot in workload.slots
        if slot.name in found.indexes and (slot.n_access or chosen.name != "access")
    ]
    ns_of_indexes = sum(priced[0].ns * slot.presence for slot, priced in of_indexes)
    matcher = read_by(
        reader,
        add(
            chosen.name,
            counted(workload.n_entries, "entry", "entries"),
            workload.rows,
            max(chosen.ns - ns_of_indexes, 0.0),
            others,
        ),
    )
    detail = [counted(len(image.slots), "attribute")]
    detail += [f"patterns of {attribute} by {name}" for attribute, name in pattern_index.items()]
    encode = add("encode", ", ".join(detail), workload.present, cost(costs.encode(workload), units))
    for slot, priced in of_indexes:
        name, ns = f"{priced[0].name} of {slot.name}", priced[0].ns * slot.presence
        by_access = chosen.name == "access"
        n_entries = slot.n_access if by_access else slot.n_entries
        rows = slot.n_found if by_access else slot.n_held
        place = read_by(matcher, add(name, counted(n_entries, "entry", "entries"), rows, ns, priced[1:]))
        read_by(place, encode)
    if not of_indexes:
        read_by(matcher, encode)
    return tuple(operators)


_JOIN_SHARE = 0.5
"""The share of entries that ask joins alone which are taken to hold."""


def _attributes(image: Image) -> Iterator[str]:
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
