"""The three ways of Tatbul 2001, 4.3.1, to match profiles with joins, written to count their predicate evaluations.

In: profiles, each with an EXISTS; the earlier documents and a new one, as mappings. Out: the numbers of the profiles
that match, and how many predicates were evaluated: a comparison of two values, be it a conjunct or a step of a binary
search, is one.

    nested_loop      each conjunct of each profile, for each earlier document, up to the first that matches
    join_first       the join table, then the constants of the profiles that survive
    constant_first   the other way round

Sets of documents and of profiles are bit vectors, as there: Python's integers. What an interval says of all profiles
is made beforehand; only finding the interval counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from joins import Compared, Term
from phases import Constant, Joined

Document = Mapping[str, Any]


class Counted(NamedTuple):
    """What a way found, and what it took.

    `n_joins`: the join predicates that were evaluated; `n_attributes`: the attributes whose constants were searched.
    """

    matches: list[int]
    n_evaluations: int
    n_joins: int = 0
    n_attributes: int = 0


def leaves(term: Term | None) -> tuple[Compared, ...]:
    """The join predicates of an EXISTS: a conjunction of comparisons."""
    assert term is not None
    assert term.quantifier == "EXISTS"
    keys = tuple(Compared(key, "=", key) for key in term.keys)
    return keys if term.compared is None else (*keys, term.compared)


def nested_loop(profiles: Sequence[Joined], earlier: Sequence[Document], document: Document) -> Counted:
    """No index at all: N * D * c evaluations at worst."""
    matches, n_evaluations = [], 0
    for number, profile in enumerate(profiles):
        joins = leaves(profile.term)
        for old in earlier:
            for conjunct in (*profile.constants, *joins):
                n_evaluations += 1
                is_constant = isinstance(conjunct, Constant)
                if not (conjunct.holds(document) if is_constant else _holds(conjunct, old, document)):
                    break
            else:
                matches.append(number)
                break
    return Counted(matches, n_evaluations)


def _holds(leaf: Compared, old: Document, document: Document) -> bool:
    left, right = old.get(leaf.old), document.get(leaf.new) if isinstance(leaf.new, str) else leaf.new
    if left is None or right is None:
        return False
    match leaf.op:
        case "=":
            return bool(left == right)
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
    return bool(left >= right)


class Indexed:
    """The constant index and the join table of a set over a store."""

    def __init__(self, profiles: Sequence[Joined], earlier: Sequence[Document]) -> None:
        self._n_profiles = len(profiles)
        self._constants = _constant_index(profiles)
        self._columns = {leaf.old: _column(earlier, leaf.old) for profile in profiles for leaf in leaves(profile.term)}
        self._leaves = [leaves(profile.term) for profile in profiles]

    @property
    def n_leaves(self) -> int:
        """How many distinct join predicates there are."""
        return len({leaf for own in self._leaves for leaf in own})

    def join_first(self, document: Document) -> Counted:
        """j * log D + k' * log N at worst."""
        return self._both(document, self._by_joins, self._by_constants)

    def constant_first(self, document: Document) -> Counted:
        """k * log N + j' * log D at worst."""
        return self._both(document, self._by_constants, self._by_joins)

    def _both(self, document: Document, *phases: Callable[[Document, int, _Tally], int]) -> Counted:
        tally = _Tally()
        alive = (1 << self._n_profiles) - 1
        for phase in phases:
            alive = phase(document, alive, tally)
        return Counted(list(_ones(alive)), tally.n_evaluations, tally.n_joins, tally.n_attributes)

    def _by_constants(self, document: Document, alive: int, tally: _Tally) -> int:
        """Of the profiles given those whose constant predicates hold; only attributes they ask for are searched."""
        asked = [index for index in self._constants.values() if index.concerned & alive]
        for index in asked:
            value = document.get(index.attribute)
            if value is None:
                alive &= ~index.concerned
                continue
            tally.n_attributes += 1
            below, is_point = tally.search(index.points, value)
            alive &= index.accepting[2 * below + is_point]
        return alive

    def _by_joins(self, document: Document, alive: int, tally: _Tally) -> int:
        """Of the profiles given those whose join holds; each distinct predicate of theirs is evaluated once."""
        found: dict[Compared, int] = {}
        survivors = 0
        for number in _ones(alive):
            old = -1
            for leaf in self._leaves[number]:
                if leaf not in found:
                    found[leaf] = self._documents(leaf, document, tally)
                old &= found[leaf]
            survivors |= (old != 0) << number
        return survivors

    def _documents(self, leaf: Compared, document: Document, tally: _Tally) -> int:
        """The earlier documents that satisfy a join predicate, as bits."""
        column = self._columns[leaf.old]
        value = document.get(leaf.new) if isinstance(leaf.new, str) else leaf.new
        if value is None:
            return 0
        tally.n_joins += 1
        below, is_point = tally.search(column.points, value)
        less, at_most, known = column.up_to[below], column.up_to[below + is_point], column.up_to[-1]
        match leaf.op:
            case "=":
                return at_most & ~less
            case "<":
                return less
            case "<=":
                return at_most
            case ">":
                return known & ~at_most
        return known & ~less


class _Tally:
    """What has been done so far."""

    def __init__(self) -> None:
        self.n_evaluations = self.n_joins = self.n_attributes = 0

    def search(self, points: Sequence[Any], value: Any) -> tuple[int, bool]:
        """How many points are less, and whether the value is one: at most log2(n + 1), rounded up, comparisons."""
        low, high = 0, len(points)
        while low < high:
            middle = (low + high) // 2
            self.n_evaluations += 1  # less, equal or greater: one three-valued comparison
            if points[middle] == value:
                return middle, True
            if points[middle] < value:
                low = middle + 1
            else:
                high = middle
        return low, False


class _AttributeIndex(NamedTuple):
    """The constants of an attribute, ascending, and what each elementary interval says.

    points         10    20
    accepting   0  1  2  3  4       bit p: profile p asks nothing of the attribute, or accepts that interval
    """

    attribute: str
    points: list[Any]
    accepting: list[int]
    concerned: int


class _Column(NamedTuple):
    """An attribute's values in the store, ascending; bit d of `up_to[i]`: document d has one of the first i."""

    points: list[Any]
    up_to: list[int]


def _constant_index(profiles: Sequence[Joined]) -> dict[str, _AttributeIndex]:
    asked: dict[str, list[tuple[int, str, Any]]] = {}
    for number, profile in enumerate(profiles):
        for attribute, op, value in profile.constants:
            asked.setdefault(attribute, []).append((number, op, value))
    indexes = {}
    for attribute, predicates in asked.items():
        points = sorted({value for _, _, value in predicates})
        place = {value: 2 * position + 1 for position, value in enumerate(points)}
        concerned = sum(1 << number for number, _, _ in predicates)
        accepting = [~concerned] * (2 * len(points) + 1)
        for number, op, value in predicates:
            point = place[value]
            first, last = {"=": (point, point + 1), "<": (0, point), ">": (point + 1, len(accepting))}[op]
            for interval in range(first, last):
                accepting[interval] |= 1 << number
        indexes[attribute] = _AttributeIndex(attribute, points, accepting, concerned)
    return indexes


def _column(earlier: Sequence[Document], attribute: str) -> _Column:
    holding: dict[Any, int] = {}
    for number, old in enumerate(earlier):
        value = old.get(attribute)
        if value is not None:
            holding[value] = holding.get(value, 0) | 1 << number
    points = sorted(holding)
    up_to = [0]
    for value in points:
        up_to.append(up_to[-1] | holding[value])
    return _Column(points, up_to)


def _ones(bits: int) -> Sequence[int]:
    return [place for place, digit in enumerate(reversed(f"{bits:b}")) if digit == "1"]
