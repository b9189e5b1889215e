"""The operators of a plan.

In: what a document is expected to come to, and what the search found. Out: operators, the answer first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from profilec.planner import costs
from profilec.planner.costs import Units, cost
from profilec.planner.lower.workload import SlotLoad, Workload, together
from profilec.planner.search import Found, Priced

if TYPE_CHECKING:
    from profilec.planner.pattern_choice import Choice
    from profilec.runtime.image import Image


class Operator(NamedTuple):
    """One operator. For one document: `rows`, the entries (of `encode` the ranks, of the tree the profiles) that it is
    expected to give, and `ns` that it takes itself. `inputs`: the places in the plan of what it reads. `rejected`: what
    could stand here instead, and what that would cost; the cheapest first."""

    name: str
    detail: str
    rows: float
    ns: float
    inputs: tuple[int, ...] = ()
    rejected: tuple[tuple[str, float], ...] = ()


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "entry", "entries"), counted(2_000, "profile")
    ('1 entry', '2,000 profiles')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def shortened(names: list[str], most: int = 3) -> str:
    """Names on a line, of many the first ones.

    >>> shortened(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    left = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + left


def operators_of(
    image: Image,
    workload: Workload,
    found: Found,
    units: Units,
    pattern_index: Mapping[str, str],
    joins: Sequence[Priced],
    pattern_choices: Sequence[Choice],
) -> tuple[Operator, ...]:
    """Those of a plan, each with its inputs. `joins`: how they are asked, and how else they could be."""
    building = _Building()
    n_joined = image.n_entries - workload.n_entries
    n_each = len(image.entry_profiles) / max(image.n_entries, 1)
    rows = workload.matched + _JOIN_SHARE * n_joined * n_each
    answer = reader = building.add("match", counted(image.n_profiles, "profile"), rows, 0.0)
    if image.joins:
        chosen, *others = joins
        terms = f"{counted(len(image.joins), 'join term')}, {chosen.name}"
        building.add("joins", terms, _JOIN_SHARE * n_joined, chosen.ns, others, read_by=answer)
    own = by_matcher(workload, found)
    to_check = sum(cost(costs.check(name, load), units) for name, load in own.items())
    if to_check:
        reader = building.add("check", "what Python has to decide", workload.rows, to_check, read_by=reader)
    detail = [counted(len(image.slots), "attribute")]
    detail += [f"patterns of {attribute} by {name}" for attribute, name in pattern_index.items()]
    ns = cost(costs.encode(workload), units) + sum(choice.taken.ns for choice in pattern_choices)
    encode = building.add("encode", ", ".join(detail), workload.present, ns, _not_taken(pattern_choices))
    of_mixing = cost(costs.another(len(own)), units) / len(own)
    for name, load in own.items():
        indexes = list(_indexes(name, load, found))
        ns = cost(costs.own(name, load, {slot.name: priced[0].name for slot, priced in indexes}), units)
        ns = max(ns - sum(priced[0].ns for _, priced in indexes), 0.0) + of_mixing
        entries = counted(load.n_entries, "entry", "entries")
        if len(own) > 1:
            entries += f" by {shortened([group.attribute or 'no attribute' for group in load.groups])}"
        rejected = found.rejected if name == found.matcher else ()
        rows = load.matched if name.startswith("betree") else load.left  # the tree gives profiles
        matcher = building.add(name, entries, rows, ns, rejected, read_by=reader)
        for slot, (chosen, *others) in indexes:
            n_entries, rows = _given(name, slot)
            entries = counted(n_entries, "entry", "entries")
            place = building.add(f"{chosen.name} of {slot.name}", entries, rows, chosen.ns, others, read_by=matcher)
            building.read(encode, by=place)
        if not indexes:
            building.read(encode, by=matcher)
    return tuple(building.operators)


_JOIN_SHARE = 0.5
"""The share of entries that ask joins alone which are taken to hold."""


def _not_taken(choices: Sequence[Choice]) -> list[Priced]:
    """The pattern indexes that were rejected, with their attribute where several have patterns, the cheapest first."""
    several = len(choices) > 1
    rejected = [
        Priced(f"{other.name} of {choice.names[0]}" if several else other.name, other.ns)
        for choice in choices
        for other in choice.rejected
    ]
    return sorted(rejected, key=lambda priced: priced.ns)


def rank_indexes(found: Found) -> Iterator[tuple[str, str]]:
    """The attributes of which an index is asked, each with its index."""
    for name, of in found.indexes.items():
        for attribute, priced in of.items():
            if found.groups.get(attribute, found.matcher) == name:
                yield attribute, priced[0].name


class _Building:
    """Operators, one after another."""

    def __init__(self) -> None:
        self.operators: list[Operator] = []

    def add(
        self,
        name: str,
        detail: str,
        rows: float,
        ns: float,
        rejected: Iterable[Priced] = (),
        read_by: int | None = None,
    ) -> int:
        """The place of the operator added."""
        self.operators.append(Operator(name, detail, rows, ns, (), tuple((one.name, one.ns) for one in rejected)))
        place = len(self.operators) - 1
        if read_by is not None:
            self.read(place, by=read_by)
        return place

    def read(self, place: int, by: int) -> None:
        """Makes an operator read another."""
        reader = self.operators[by]
        self.operators[by] = reader._replace(inputs=(*reader.inputs, place))


def by_matcher(workload: Workload, found: Found) -> dict[str, Workload]:
    """What each matcher has to find, the one first that has most."""
    if not found.groups:
        return {found.matcher: workload}
    groups: dict[str, list[Workload]] = {found.matcher: []}
    for group in workload.groups:
        groups.setdefault(found.groups.get(group.attribute, found.matcher), []).append(group)
    return {name: together(own, workload) for name, own in groups.items()}


def _indexes(matcher: str, load: Workload, found: Found) -> Iterator[tuple[SlotLoad, tuple[Priced, ...]]]:
    """The attributes of which the matcher has an index, each with what could be one."""
    of = found.indexes.get(matcher, {})
    for slot in load.slots:
        if slot.name in of:
            yield slot, of[slot.name]


def _given(matcher: str, slot: SlotLoad) -> tuple[int, float]:
    """The entries of an attribute's index, and how many of them a document gets from it."""
    if matcher == "access":
        return slot.n_access, slot.n_found
    return slot.n_entries, slot.whole.n_held * slot.presence
