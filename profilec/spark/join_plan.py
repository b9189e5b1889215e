"""What quantified terms ask of a DataFrame of earlier documents: relations of these by key, joined with the new rows.

In: an image, and which kinds the columns of both sides have. Out: a `JoinPlan`. `runtime.joins` has turned terms into
conjunctions that an earlier document may satisfy: EXISTS holds where some does; FORALL where none does, as its
conjunctions say that the body IS NOT TRUE. Of a conjunction

    keys                  d.user = user       group the documents, and join rows with the groups
    filters               d.amount > 500      are decided as documents are read; a bit says whether some document of the
                                              group passes
    one comparison        d.price > price     is told by the least or the greatest value of the group, of each kind; and
                                              by the kinds there are, where it holds as well of what does not compare
    several comparisons,  d.x + x < 5         are asked of the documents of the group, one by one; where no key makes
    or a rest                                 groups, that is a nested loop, and left
    WITHIN                d.t in t - i to t   d.t is in the bucket of t, and at most t; or in the one before, and at
                                              least t - i: a key and one comparison each

Terms that differ in constants alone ask for the same; one of their constants is compared after the join.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Image
from profilec.runtime.joins.conjuncts import Comparison, Conjunction
from profilec.runtime.joins.table import Row, rows_of, with_constant
from profilec.runtime.program import Program
from profilec.runtime.store.columns import OTHER
from profilec.spark.join_keys import Key, has_buckets
from profilec.spark.relations import Bit, Extreme, Filter, Relation, Values, told_apart
from profilec.values.kinds import Kind, Value, kind_of

MOST_FILTERS = 10_000
"""Combinations of constants up to which each is a filter of its own."""
MOST_VALUES = 50
"""The same where each has values, or documents, of its own."""
COMPARED = frozenset(Kind) - {Kind.NULL, Kind.OPAQUE}

Kinds = Callable[[Program], frozenset[Kind]]
"""Which kinds, of those that compare, an expression's values can have."""


class Lookup(NamedTuple):
    """New rows joined with a relation; `relation`: its number."""

    relation: int
    keys: tuple[Key, ...]


class Extremes(NamedTuple):
    """Where a relation has the least and the greatest value of each kind, and the bits of the kinds that there are."""

    least: dict[Kind, int]
    greatest: dict[Kind, int]
    kinds: dict[Kind, int]


class Part(NamedTuple):
    """A conjunction, of the terms of a row of the join table that have its constants in common but for one. `places`:
    these terms, by place in the row. It holds where its guard and limits do, and

    `bit`        some document passes the filter;
    `extremes`   or `compared` holds of some value: with an expression over the new document, or else with the terms'
                 constants, number `open_`;
    `walked`     or all of `comparisons`, and the rest, hold of one of the documents that were collected.
    """

    row: int
    conjunction: int
    lookup: int
    places: NDArray[np.int64]
    bit: int | None = None
    compared: Comparison | None = None
    open_: int | None = None
    extremes: Extremes | None = None
    walked: int | None = None
    comparisons: tuple[Comparison, ...] = ()


class Left(NamedTuple):
    """A row of the join table that is not decided by joins, and why. `can_loop`: a nested loop decides it."""

    row: int
    reason: str
    can_loop: bool = True


class _Keyed(NamedTuple):
    """A conjunction, or one of two that together say the same: keys of both sides, and what is compared besides."""

    old: tuple[Key, ...]
    new: tuple[Key, ...]
    comparisons: tuple[Comparison, ...]


class JoinPlan:
    """`rows`: of the join table, all of which `parts` decide but those `left`."""

    def __init__(self, image: Image, new_kinds: Kinds, old_kinds: Kinds) -> None:
        self.rows = rows_of(image.joins)
        self.relations: list[Relation] = []
        self.lookups: list[Lookup] = []
        self.parts: list[Part] = []
        self.left: list[Left] = []
        self._new_kinds, self._old_kinds = new_kinds, old_kinds
        self._known: dict[Hashable, int] = {}
        for number, row in enumerate(self.rows):
            left = _left(number, row)
            if left is not None:
                self.left.append(left)
                continue
            for place in range(len(row.question.conjunctions)):
                self._add(number, row, place)

    def asked_of(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which lookups are needed for rows of the join table: bool[n, n_lookups] for bool[n, n_rows]."""
        needed = np.zeros((len(rows), len(self.lookups)), np.bool_)
        for part in self.parts:
            needed[:, part.lookup] |= rows[:, part.row]
        return needed

    def _add(self, number: int, row: Row, conjunction_number: int) -> None:
        conjunction, constants = row.question.conjunctions[conjunction_number], row.constants[conjunction_number]
        has_constant, open_ = with_constant(conjunction), _left_open(conjunction)
        fixed = _fixed(conjunction)
        groups = _by_constants(fixed, constants)
        for keyed in _keyed(conjunction):
            lookup = self._lookup(keyed)
            relation = self.relations[self.lookups[lookup].relation]
            for places in groups.values():
                known = tuple((has_constant[n], constants[places[0]][n]) for n in fixed)
                asked = relation.place(relation.filters, Filter(conjunction.filter, known))
                part = Part(number, conjunction_number, lookup, np.array(places, np.int64))
                if conjunction.rest is not None or len(keyed.comparisons) > 1:
                    self.parts.append(_walking(part, relation, asked, keyed.comparisons, conjunction.rest))
                elif keyed.comparisons:
                    (compared,) = keyed.comparisons
                    assert compared.new is not None
                    extremes = self._extremes(relation, asked, compared, self._new_kinds(compared.new))
                    self.parts.append(part._replace(compared=compared, extremes=extremes))
                elif open_ is not None:
                    kinds = frozenset(kind_of(constants[place][open_]) for place in places)
                    extremes = self._extremes(relation, asked, has_constant[open_], kinds)
                    self.parts.append(part._replace(compared=has_constant[open_], open_=open_, extremes=extremes))
                else:
                    self.parts.append(part._replace(bit=relation.place(relation.bits, Bit(asked))))

    def _lookup(self, keyed: _Keyed) -> int:
        name = told_apart(keyed.old)
        relation = self._known.setdefault(name, len(self.relations))
        if relation == len(self.relations):
            self.relations.append(Relation(keyed.old))
        lookup = self._known.setdefault((name, told_apart(keyed.new)), len(self.lookups))
        if lookup == len(self.lookups):
            self.lookups.append(Lookup(relation, keyed.new))
        return lookup

    def _extremes(self, relation: Relation, asked: int, compared: Comparison, kinds: frozenset[Kind]) -> Extremes:
        """`kinds`: of what values are compared with."""
        operand = compared.old
        assert operand is not None
        own = self._old_kinds(operand)
        found = Extremes({}, {}, {})
        for kind in sorted(own & kinds) if compared.operator != OTHER else ():
            values = relation.place(relation.values, Values(asked, operand, kind))
            if compared.operator[0] in "<!":
                found.least[kind] = relation.place(relation.extremes, Extreme("min", values))
            if compared.operator[0] in ">!":
                found.greatest[kind] = relation.place(relation.extremes, Extreme("max", values))
        for kind in sorted(own | {Kind.NULL, Kind.OPAQUE}) if compared.or_other else ():
            found.kinds[kind] = relation.place(relation.bits, Bit(asked, operand, kind))
        if not any(found):  # values of kinds that never compare: an aggregate has to have something
            relation.place(relation.bits, Bit(asked))
        return found


def _walking(
    part: Part, relation: Relation, asked: int, comparisons: tuple[Comparison, ...], rest: Program | None
) -> Part:
    relation.walk_programs += [one.old for one in comparisons if one.old is not None]
    if rest is not None:
        relation.walk_programs.append(rest)
    return part._replace(walked=relation.place(relation.walked, asked), comparisons=comparisons)


def _keyed(conjunction: Conjunction) -> Iterator[_Keyed]:
    pairs = [(one.old, one.new) for one in conjunction.keys if one.old is not None and one.new is not None]
    old, new = (tuple(Key(pair[side]) for pair in pairs) for side in (0, 1))
    comparisons = tuple(one for one in conjunction.comparisons if one.new is not None)
    window = _window(comparisons)
    if window is None:
        yield _Keyed(old, new, comparisons)
        return
    low, high = window
    others = tuple(one for one in comparisons if one is not low and one is not high)
    assert low.old is not None
    assert low.new is not None
    buckets = (*old, Key(low.old, low.minus))
    yield _Keyed(buckets, (*new, Key(low.new, low.minus, back=0)), (*others, high))
    yield _Keyed(buckets, (*new, Key(low.new, low.minus, back=1)), (*others, low))


def _window(comparisons: Sequence[Comparison]) -> tuple[Comparison, Comparison] | None:
    """The two comparisons of WITHIN, where its interval makes buckets."""
    for low in comparisons:
        if low.minus is not None and has_buckets(low.minus):
            high = low._replace(operator="<=", minus=None)
            return low, next(one for one in comparisons if one == high)
    return None


def _left_open(conjunction: Conjunction) -> int | None:
    """Which of the comparisons with a constant is made after the join: one that extremes tell, where none with the new
    document has to hold of the same earlier one."""
    if conjunction.rest is not None or any(one.new is not None for one in conjunction.comparisons):
        return None
    return len([one for one in conjunction.keys if one.new is None]) if conjunction.comparisons else None


def _fixed(conjunction: Conjunction) -> list[int]:
    """The other comparisons of an earlier document with a constant."""
    open_ = _left_open(conjunction)
    return [n for n, one in enumerate(with_constant(conjunction)) if one.old is not None and n != open_]


def _by_constants(fixed: Sequence[int], constants: Sequence[tuple[Value, ...]]) -> dict[Hashable, list[int]]:
    """The terms, by place, by their constants."""
    found: dict[Hashable, list[int]] = {}
    for place, own in enumerate(constants):
        found.setdefault(tuple((type(own[n]), own[n]) for n in fixed), []).append(place)
    return found


def _left(number: int, row: Row) -> Left | None:
    """Why joins do not decide a row; None where they do."""
    if row.question.last is not None:
        return Left(number, "LAST needs an order of documents, and a DataFrame has none", can_loop=False)
    for conjunction, constants in zip(row.question.conjunctions, row.constants, strict=True):
        n_groups = len(_by_constants(_fixed(conjunction), constants))
        for keyed in _keyed(conjunction):
            is_walked = conjunction.rest is not None or len(keyed.comparisons) > 1
            if is_walked and not keyed.old:
                what = "several comparisons" if conjunction.rest is None else "conditions that mix both documents"
                return Left(number, f"{what} without an equality of the two documents are a nested loop")
            has_values = is_walked or keyed.comparisons or _left_open(conjunction) is not None
            most = MOST_VALUES if has_values else MOST_FILTERS
            if n_groups > most:
                return Left(number, f"of {n_groups:,} combinations of constants joins take {most:,}")
    return None
