"""The join table (Tatbul 2001, 4.2): a row for each shape of term, whatever number of terms has it.

In: the join terms of an image, a store and a new document. Out: the truth of each term, or of those of some rows.

Terms of one shape differ in constants alone. Of these at most one is left open: the terms are then told by where it
stands among the extremes of the documents (`constants`). For each combination of the others there is a probe.

    EXISTS d (d.user = user AND d.amount > 500)     one row, one probe, an index of 10,000 amounts
    …                            d.amount > 700
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.joins.conjuncts import Comparison, Conjunction, Question, question_of
from profilec.runtime.joins.constants import ConstantIndex, Values
from profilec.runtime.joins.costs import EXTREME, HASH, KEYED, Sizes, Way, strategy_of, ways_of
from profilec.runtime.joins.estimates import can_estimate
from profilec.runtime.joins.new import NewDocument, NewDocuments
from profilec.runtime.joins.probes import Operand, Probe
from profilec.runtime.program import JoinTerm, Program, identity, run
from profilec.runtime.store.columns import OTHER, Asked
from profilec.runtime.store.documents import DocumentStore
from profilec.values.kinds import Value

FEW_FILTERS = 8
"""Constants of a comparison up to which each is made a filter, an index of its own, where that saves a walk."""

ASSUMED = 1_000_000, 100
"""Documents, and how many have the values of a key, where nothing is known of the store."""

Truths = NDArray[np.bool_]


class Row(NamedTuple):
    """A shape, and the terms that have it: their numbers, and for each conjunction the constants of each."""

    question: Question
    terms: NDArray[np.int64]
    constants: tuple[tuple[tuple[Value, ...], ...], ...]

    @property
    def strategies(self) -> tuple[str, ...]:
        """How its conjunctions are asked."""
        return tuple(strategy_of(conjunction, self.question.last) for conjunction in self._asked())

    def ways(self, store: DocumentStore | None) -> list[list[Way]]:
        """For each of its conjunctions the ways that are open, the cheapest first, as the store is. None: for
        ASSUMED documents."""
        return [ways_of(conjunction, self._sizes(conjunction, store)) for conjunction in self._asked()]

    def _sizes(self, conjunction: Conjunction, store: DocumentStore | None) -> Sizes:
        n, n_in_group = ASSUMED
        if store is not None:
            n = n_in_group = len(store.alive)
            if conjunction.keys:
                groups = store.groups([key.old for key in conjunction.keys if key.old], conjunction.filter)
                n_in_group = math.ceil(n / max(1, groups.n_groups))
        rest = conjunction.rest
        is_estimated = rest is not None and can_estimate(rest)
        n_comparisons = len(conjunction.comparisons)
        return Sizes(n, n_in_group, self.question.last, n_comparisons, rest is not None, is_estimated)

    def _asked(self) -> Iterator[Conjunction]:
        for conjunction, constants in zip(self.question.conjunctions, self.constants, strict=True):
            (known, _), *others = _by_fixed(conjunction, constants, self.question.last)[1].values()
            yield _as_asked(conjunction, known, 1 + len(others))


def rows_of(terms: Sequence[JoinTerm]) -> list[Row]:
    """The rows of some terms, in the order of their first terms."""
    found: dict[Any, tuple[Question, list[int], list[Any]]] = {}
    programs: dict[Any, Program] = {}
    for number, term in enumerate(terms):
        question, constants = question_of(term)
        _, numbers, of_terms = found.setdefault(_identity(question), (question, [], []))
        numbers.append(number)
        of_terms.append(constants)
    return [
        Row(_sharing(question, programs), np.array(numbers, np.int64), tuple(zip(*of_terms, strict=True)))
        for question, numbers, of_terms in found.values()
    ]


def _identity(part: Any) -> Any:
    """What tells questions apart: programs in them by theirs."""
    if type(part) is tuple and part and type(part[0]) is tuple and part[0] and isinstance(part[0][0], str):
        return identity(part)
    if isinstance(part, tuple):
        return tuple(_identity(one) for one in part)
    return part


def _sharing(question: Question, programs: dict[Any, Program]) -> Question:
    """The question with one object for equal expressions over the new document: each is then computed once."""

    def shared(comparisons: tuple[Comparison, ...]) -> tuple[Comparison, ...]:
        return tuple(
            one if one.new is None else one._replace(new=programs.setdefault(identity(one.new), one.new))
            for one in comparisons
        )

    return question._replace(
        conjunctions=tuple(
            one._replace(keys=shared(one.keys), comparisons=shared(one.comparisons), limits=shared(one.limits))
            for one in question.conjunctions
        )
    )


class JoinTable:
    """The terms of an image, bound to one store. Whoever asks holds the store's lock: see `DocumentStore.reading`."""

    def __init__(self, terms: Sequence[JoinTerm]) -> None:
        self.rows = rows_of(terms)
        self.n_terms = len(terms)
        self.row_of_term = np.empty(len(terms), np.int64)
        for number, row in enumerate(self.rows):
            self.row_of_term[row.terms] = number
        self._bound: dict[int, _BoundRow] = {}
        self._bound_to: tuple[int, int] | None = None

    def truths(self, new: NewDocument, store: DocumentStore) -> Truths:
        """The truth of each term."""
        truths = np.zeros(self.n_terms, np.bool_)
        for row in range(len(self.rows)):
            self.decide(row, new, store, truths)
        return truths

    def decide(self, row: int, new: NewDocument, store: DocumentStore, truths: Truths) -> None:
        """Writes the truths of a row's terms, where FALSE stands."""
        self._bound_row(row, store).decide(new, truths)

    def decide_many(self, row: int, new: NewDocuments, store: DocumentStore, truths: Truths) -> None:
        """The same for many documents; `truths`: a row for each of them."""
        self._bound_row(row, store).decide_many(new, truths)

    def _bound_row(self, row: int, store: DocumentStore) -> _BoundRow:
        bound_to = id(store), store.generation
        if self._bound_to != bound_to:
            self._bound, self._bound_to = {}, bound_to
        bound = self._bound.get(row)
        if bound is None:
            bound = self._bound[row] = _BoundRow(self.rows[row], store)
        return bound


class _BoundRow:
    """A row and what it asks the store."""

    def __init__(self, row: Row, store: DocumentStore) -> None:
        self._terms = row.terms
        self._negated = row.question.negated
        self._parts = [
            part
            for conjunction, constants in zip(row.question.conjunctions, row.constants, strict=True)
            for part in _parts(conjunction, constants, row.terms, row.question.last, store)
        ]

    def decide(self, new: NewDocument, truths: Truths) -> None:
        """Writes the truths of its terms."""
        for part in self._parts:
            part.decide(new, truths)
        if self._negated:
            truths[self._terms] = ~truths[self._terms]

    def decide_many(self, new: NewDocuments, truths: Truths) -> None:
        for part in self._parts:
            part.decide_many(new, truths)
        if self._negated:
            truths[:, self._terms] = ~truths[:, self._terms]


class _Part:
    """The terms of a row that share all constants of a conjunction but the one left open."""

    def __init__(
        self,
        guard: Program | None,
        limits: list[tuple[Program, str, bool, Value]],
        probe: Probe,
        terms: NDArray[np.int64],
        of_store: ConstantIndex | None,
        of_new: tuple[Program, ConstantIndex] | None,
    ) -> None:
        self._guard = guard
        self._limits = [(program, ConstantIndex(op, other, [(value, 0)])) for program, op, other, value in limits]
        self._probe = probe
        self._terms = terms
        self._of_store = of_store
        self._of_new = of_new

    def decide_many(self, new: NewDocuments, truths: Truths) -> None:
        if self._of_store is not None or self._of_new is not None:
            for number in range(new.n):
                self.decide(new.alone(number), truths[number])
            return
        asked = np.ones(new.n, np.bool_)
        if self._guard is not None or self._limits:
            asked = np.array([self._is_asked(new.alone(number)) for number in range(new.n)], np.bool_)
        truths[:, self._terms] |= self._probe.ask_many(new, asked)[:, None]

    def decide(self, new: NewDocument, truths: Truths) -> None:
        if not self._is_asked(new):
            return
        if self._of_store is not None:
            for terms in self._of_store.terms(self._probe.values(new)):
                truths[terms] = True
            return
        if self._of_new is None:
            if self._probe.ask(new):
                truths[self._terms] = True
            return
        program, index = self._of_new
        holding = index.terms(_alone(new.asked(program)))
        if holding and self._probe.ask(new):
            for terms in holding:
                truths[terms] = True

    def _is_asked(self, new: NewDocument) -> bool:
        """Whether what the new document alone has to satisfy holds."""
        if self._guard is not None and run(self._guard, new.document) is not True:
            return False
        return all(limit.terms(_alone(new.asked(program))) for program, limit in self._limits)


def _alone(asked: Asked) -> Values:
    """A value as that of one document."""
    return Values(1, {asked.kind: (1, asked.value, asked.value)} if asked.compares else {})


def _parts(
    conjunction: Conjunction,
    constants: Sequence[tuple[Value, ...]],
    terms: NDArray[np.int64],
    last: int | None,
    store: DocumentStore,
) -> list[_Part]:
    """A conjunction of a row, part by part. `constants`: of each term."""
    open_, by_fixed = _by_fixed(conjunction, constants, last)
    place = -1 if open_ is None else with_constant(conjunction).index(open_)
    parts = []
    for known, numbers in by_fixed.values():
        index = None
        if open_ is not None:
            pairs = [(constants[number][place], int(terms[number])) for number in numbers]
            index = ConstantIndex(open_.operator, open_.or_other, pairs)
        asked = _as_asked(conjunction, known, len(by_fixed))
        parts.append(_part(conjunction, asked, known, open_, index, terms[numbers], last, store))
    return parts


def with_constant(conjunction: Conjunction) -> list[Comparison]:
    """The comparisons of which terms have a constant each, in the order of these."""
    asked = (*conjunction.keys, *conjunction.comparisons, *conjunction.limits)
    return [one for one in asked if one.new is None or one.old is None]


_Known: TypeAlias = dict[int, Value]
"""The constants of comparisons, by the id of these."""


def _by_fixed(
    conjunction: Conjunction, constants: Sequence[tuple[Value, ...]], last: int | None
) -> tuple[Comparison | None, dict[Any, tuple[_Known, list[int]]]]:
    """The comparison that is left open, if one is; and the terms by the constants of the others."""
    open_ = _left_open(conjunction, last)
    fixed = [(place, one) for place, one in enumerate(with_constant(conjunction)) if one is not open_]
    found: dict[Any, tuple[_Known, list[int]]] = {}
    for number, own in enumerate(constants):
        name = tuple((type(own[place]), own[place]) for place, _ in fixed)
        known = found.setdefault(name, ({id(one): own[place] for place, one in fixed}, []))
        known[1].append(number)
    return open_, found


def _left_open(conjunction: Conjunction, last: int | None) -> Comparison | None:
    """The comparison whose constant is left open: one that extremes answer, else one with the new document alone."""
    if strategy_of(conjunction, last) in (EXTREME, HASH, KEYED):
        for one in conjunction.comparisons:
            if one.new is None:
                return one
    return conjunction.limits[0] if conjunction.limits else None


def _part(
    conjunction: Conjunction,
    asked: Conjunction,
    known: _Known,
    open_: Comparison | None,
    index: ConstantIndex | None,
    terms: NDArray[np.int64],
    last: int | None,
    store: DocumentStore,
) -> _Part:
    limits = [(_new(one), one.operator, one.or_other, known[id(one)]) for one in conjunction.limits if one is not open_]
    operands = {
        id(one): Operand(one.new, one.minus, Asked(known[id(one)]) if id(one) in known else None)
        for one in (*asked.keys, *asked.comparisons)
    }
    probe = Probe(asked, operands, open_, last, store)
    if open_ is None or open_.old is None:
        of_new = None if open_ is None or index is None else (_new(open_), index)
        return _Part(conjunction.guard, limits, probe, terms, None, of_new)
    return _Part(conjunction.guard, limits, probe, terms, index, None)


def _as_asked(conjunction: Conjunction, known: _Known, n_parts: int) -> Conjunction:
    """Comparisons with known constants as filters, where there are few of these, and no more than one other is left."""
    if n_parts > FEW_FILTERS:
        return conjunction
    filters = [one for one in conjunction.comparisons if id(one) in known]
    left = tuple(one for one in conjunction.comparisons if id(one) not in known)
    if len(conjunction.comparisons) < 2 or len(left) > 1 or not filters:
        return conjunction
    programs = [_filter(one, known[id(one)]) for one in filters]
    if conjunction.filter is not None:
        programs.append(conjunction.filter)
    steps = tuple(step for program in programs for step in program)
    both: Program = steps if len(programs) == 1 else (*steps, ("and", len(programs)))
    return conjunction._replace(comparisons=left, filter=both)


def _filter(comparison: Comparison, value: Value) -> Program:
    """The comparison as a condition on the earlier document."""
    assert comparison.old is not None
    if comparison.operator == OTHER:
        compared: Program = (*comparison.old, ("constant", value), ("compare", "="))
        return (*compared, ("is_truth", None))
    program: Program = (*comparison.old, ("constant", value), ("compare", comparison.operator))
    return (*program, ("is_truth", False), ("not",)) if comparison.or_other else program


def _new(comparison: Comparison) -> Program:
    assert comparison.new is not None
    return comparison.new
