"""The pre-filter (Tatbul 2001, 4.3.2): which entries can still match, whatever the new document, by the earlier ones.

In: the entries that ask joins alone, and a store as it grows and shrinks. Out: whether each can match. An entry's tests
and its join terms together imply constraints on the earlier documents (Table 2 has them for one comparison each):

    price = 10 AND EXISTS d (d.price = price)       some document has d.price = 10
    price < 10 AND EXISTS d (d.price <= price)      some document has d.price < 10
    EXISTS d (d.isbn = isbn AND d.sold)             some document has an isbn, and some document is sold
    price > 10 AND FORALL d (d.price > price)       every document has d.price > 10
    FORALL d (d.price < price)                      every document has a price, or there is none

A constraint is a set of ranks on the line of an expression over the earlier document, cut by the constants of the slot
that it is compared with, or by those of the terms: interval constants, IN and `!=` are sets of ranks like any other.
What is counted is documents for each rank; constraints are asked again when a rank gets its first document or loses
its last, all of a line together.

Where the new document's side is but one value (the row of `=` in Table 2), or a constant, and the term asks nothing
else, the constraint is met just where the term holds: it replaces the term, which is not asked.

Sound: what an EXISTS in some scope asks, it asks of the whole store; of a FORALL, and of NOT EXISTS, only one
comparison without scope says something; terms of several conjunctions under EXISTS say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import KINDS, Constants, Image, Int32, gather, kept_offsets
from profilec.runtime.joins.conjuncts import Comparison, Conjunction
from profilec.runtime.joins.literals import Literals
from profilec.runtime.joins.table import JoinTable, Row, with_constant
from profilec.runtime.program import Program, identity
from profilec.runtime.store.columns import OTHER
from profilec.runtime.store.documents import DocumentStore
from profilec.runtime.store.growing import Growing
from profilec.values.kinds import Date, Kind, Timestamp, Value, kind_of
from profilec.values.numbers import Number, exact, normal

Ranks = tuple[tuple[int, int], ...]
"""Closed intervals of ranks."""


class Survivors(NamedTuple):
    """`can_match`: per entry, whether it can; TRUE of those that do not ask joins alone. `are_all`: whether every entry
    can. `n`: how many can that ask joins alone; `rows`: the rows of the join table that these ask."""

    can_match: NDArray[np.bool_]
    are_all: bool
    n: int
    rows: list[int]


class PreFilter:
    """Made once for an image, and bound to one store at a time; used under the store's lock."""

    def __init__(self, image: Image, table: JoinTable, literals: Literals) -> None:
        self._constraints = _Constraints(image, table, literals)
        self._table = table
        self.literals = literals.without(self._constraints.replaced)
        """Those that are left to ask of entries that can match."""
        self._bound: _Bound | None = None
        self._survivors: Survivors | None = None

    @property
    def n_constraints(self) -> int:
        """Constraints that entries imply, equal ones counted once."""
        return self._constraints.n

    @property
    def n_lines(self) -> int:
        """Expressions over the earlier documents whose ranks are counted."""
        return len(self._constraints.lines)

    @property
    def n_replaced(self) -> int:
        """Literals of entries in whose place a constraint is asked."""
        return int(self._constraints.replaced.sum())

    def survivors(self, store: DocumentStore) -> Survivors:
        """What can match, as the store is now."""
        bound, self._bound = self._bound, None  # whoever is interrupted while it counts leaves nothing half counted
        if bound is None or bound.store is not store or bound.generation != store.generation:
            bound, self._survivors = _Bound(self._constraints, store), None
        if bound.catch_up():
            self._survivors = None
        self._bound = bound
        if self._survivors is None:
            entries = np.flatnonzero(bound.can_match & self.literals.alone).astype(np.int32)
            numbers, _ = self.literals.of(entries)
            rows = np.unique(self._table.row_of_term[numbers >> 1]).tolist()
            self._survivors = Survivors(bound.can_match, bool(bound.can_match.all()), len(entries), rows)
        return self._survivors


class _Line:
    """An expression over the earlier document, cut by constants; and the constraints on it."""

    def __init__(self, program: Program, constants: Constants) -> None:
        self.program = program
        self.constants = constants
        self.numbers: dict[tuple[Ranks, bool], int] = {}
        """Sets of ranks, and whether every document is to be in them (else some), to the number of the constraint."""


class _Constraints:
    """What entries imply: lines with constraints, and which entries have each."""

    def __init__(self, image: Image, table: JoinTable, literals: Literals) -> None:
        self._image = image
        self._slots = {identity(slot.program): number for number, slot in enumerate(image.slots)}
        self.lines: dict[Any, _Line] = {}
        self.n = 0
        self.n_entries = image.n_entries
        pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        entries = np.flatnonzero(literals.alone).astype(np.int32)
        numbers, cut = literals.of(entries)
        owner = np.repeat(entries, np.diff(cut))
        self._tests: dict[int, Int32] = {}
        self.replaced = np.zeros(len(numbers), np.bool_)
        """Literals of entries that ask joins alone that hold, once its tests do, just where a constraint is met."""
        for number, row in enumerate(table.rows):
            of_row = np.flatnonzero(table.row_of_term[numbers >> 1] == number)
            for wanted in (False, True):
                own = of_row[(numbers[of_row] % 2 == 1) == wanted]
                if len(own):
                    self.replaced[own] = self._add_row(row, wanted, owner[own], numbers[own] >> 1, pairs)
        self.constraint = np.concatenate([np.zeros(0, np.int64), *(own for own, _ in pairs)])
        self.entry = np.concatenate([np.zeros(0, np.int64), *(own for _, own in pairs)])

    def _add_row(
        self,
        row: Row,
        wanted: bool,
        entries: Int32,
        terms: Int32,
        pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    ) -> NDArray[np.bool_]:
        """Adds the constraints that literals of one row imply, which are to have one truth, each with the entry. Says
        which literals these replace."""
        some = wanted != row.question.negated
        conjunctions = row.question.conjunctions
        if some and len(conjunctions) != 1:
            return np.zeros(len(entries), np.bool_)
        replaced = np.full(len(entries), row.question.last is None)
        place_of = {int(term): place for place, term in enumerate(row.terms)}
        places = [place_of[term] for term in terms.tolist()]
        for conjunction, constants in zip(conjunctions, row.constants, strict=True):
            asked = [*conjunction.keys, *conjunction.comparisons]
            asks_one_thing = _asks_one_thing(conjunction)
            replaced &= asks_one_thing
            if not some and (row.question.last is not None or not asks_one_thing):
                continue
            constant_at = {id(one): at for at, one in enumerate(with_constant(conjunction))}
            for one in asked:
                if id(one) in constant_at:
                    of_terms = self._of_constants(one, [own[constant_at[id(one)]] for own in constants], some)
                    pairs.append((of_terms[places], entries.astype(np.int64)))
                else:
                    constraints, is_exact = self._of_slot(one, entries, some)
                    pairs.append((constraints, entries.astype(np.int64)))
                    replaced &= is_exact
            if conjunction.filter is not None:
                line = self._line(conjunction.filter, Constants(booleans=(True,)))
                rank = line.constants.rank(True)
                others = (0, rank - 1), (rank + 1, line.constants.n_ranks - 1)
                number = self._number(line, ((rank, rank),) if some else others, every=not some)
                pairs.append((np.full(len(entries), number), entries.astype(np.int64)))
        return replaced

    def _of_constants(self, comparison: Comparison, values: list[Value], some: bool) -> NDArray[np.int64]:
        """`old operator constant`, of the constants of all terms of a row."""
        assert comparison.old is not None
        constants = _constants_of(values)
        line = self._line(comparison.old, constants)
        numbers = []
        for value in values:
            allowed = ((constants.rank(value),) * 2,)
            numbers.append(self._number(line, _image_of(comparison, constants, allowed, some), every=not some))
        return np.array(numbers, np.int64)

    def _of_slot(
        self, comparison: Comparison, entries: Int32, some: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """`old operator new`, where `new` is a slot's value, by the tests that entries have of the slot; and whether a
        test leaves but one value, so that nothing is lost."""
        assert comparison.old is not None
        assert comparison.new is not None
        slot = None if comparison.minus is not None else self._slots.get(identity(comparison.new))
        constants = Constants() if slot is None else self._image.slots[slot].constants
        line = self._line(comparison.old, constants)
        tests = np.full(len(entries), -1, np.int32) if slot is None else self._test_of(slot)[entries]
        found, place = np.unique(tests, return_inverse=True)
        image, numbers, is_exact = self._image, [], []
        for test in found.tolist():
            if test < 0:
                allowed: Ranks = ((0, constants.n_ranks - 1),)
            else:
                part = slice(image.test_off[test], image.test_off[test + 1])
                allowed = tuple(zip(image.test_low[part].tolist(), image.test_high[part].tolist(), strict=True))
            numbers.append(self._number(line, _image_of(comparison, constants, allowed, some), every=not some))
            is_exact.append(
                len(allowed) == 1 and allowed[0][0] == allowed[0][1] and _is_point(constants, allowed[0][0])
            )
        return np.array(numbers, np.int64)[place], np.array(is_exact, np.bool_)[place]

    def _test_of(self, slot: int) -> Int32:
        """Per entry a rank test of the slot, or -1."""
        known = self._tests.get(slot)
        if known is None:
            image = self._image
            known = self._tests[slot] = np.full(image.n_entries, -1, np.int32)
            is_rank_test = image.entry_tests < image.n_tests
            off = kept_offsets(image.entry_off, is_rank_test)
            tests = image.entry_tests[is_rank_test]
            owner = np.repeat(np.arange(image.n_entries), np.diff(off))
            own = image.test_slot[tests] == slot
            known[owner[own]] = tests[own]
        return known

    def _line(self, program: Program, constants: Constants) -> _Line:
        name = identity(program), constants
        line = self.lines.get(name)
        if line is None:
            line = self.lines[name] = _Line(program, constants)
        return line

    def _number(self, line: _Line, ranks: Ranks, every: bool) -> int:
        number = line.numbers.setdefault((ranks, every), self.n)
        self.n = max(self.n, number + 1)
        return number


def _asks_one_thing(conjunction: Conjunction) -> bool:
    """Whether a conjunction is one key, comparison or filter, and nothing else."""
    n = len(conjunction.keys) + len(conjunction.comparisons) + (conjunction.filter is not None)
    return n == 1 and not conjunction.limits and conjunction.guard is None and conjunction.rest is None


def _is_point(constants: Constants, rank: int) -> bool:
    """Whether but one value has the rank."""
    return any(
        constants.first(kind) <= rank <= constants.last(kind) and (rank - constants.first(kind)) % 2 for kind in KINDS
    )


def _constants_of(values: Iterable[Value]) -> Constants:
    """The values, sorted and distinct."""
    by_kind: dict[Kind, dict[Any, None]] = {kind: {} for kind in KINDS}
    for value in values:
        kind = kind_of(value)
        if kind in by_kind:
            key = value.days if isinstance(value, Date) else value.nanos if isinstance(value, Timestamp) else value
            by_kind[kind][normal(exact(cast(Number, key))) if kind is Kind.NUMBER else key] = None
    return Constants(*(tuple(sorted(own)) for own in by_kind.values()))


def _image_of(comparison: Comparison, constants: Constants, allowed: Ranks, some: bool) -> Ranks:
    """The ranks of earlier values v such that, for some new value a of those allowed: where `some`, `v operator a`;
    else not so. Where ranks do not tell, more."""
    operator, or_other = comparison.operator, comparison.or_other
    if not some:
        operator, or_other = _COMPLEMENT[operator], not or_other
    found: list[tuple[int, int]] = []
    everything = ((0, constants.n_ranks - 1),)
    for kind in KINDS:
        first, last = constants.first(kind), constants.last(kind)
        own = [(max(low, first), min(high, last)) for low, high in allowed if low <= last and high >= first]
        if not own:
            continue
        found += own if operator == "=" else _compared(operator, first, last, own[0][0], own[-1][1])
        if or_other:
            found += [part for part in ((0, first - 1), (last + 1, constants.n_ranks - 1)) if part[0] <= part[1]]
    opaque = constants.first(Kind.OPAQUE)
    if or_other and any(low == 0 or high == opaque for low, high in allowed):
        return everything  # a new value that compares with nothing
    return _merged(found)


_COMPLEMENT = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<", OTHER: "any"}


def _compared(operator: str, first: int, last: int, low: int, high: int) -> list[tuple[int, int]]:
    """The ranks of a kind's block, first to last, that compare so with some rank from low to high. Points have odd
    distances from the block's first rank, gaps even ones: in a gap, a value may be on either side of another."""

    def is_point(rank: int) -> bool:
        return (rank - first) % 2 == 1

    match operator:
        case "<":
            parts = [(first, high - is_point(high))]
        case "<=":
            parts = [(first, high)]
        case ">":
            parts = [(low + is_point(low), last)]
        case ">=":
            parts = [(low, last)]
        case "!=" if low == high and is_point(low):
            parts = [(first, low - 1), (low + 1, last)]
        case "!=" | "any":
            parts = [(first, last)]
        case _:
            parts = []
    return [part for part in parts if part[0] <= part[1]]


def _merged(parts: list[tuple[int, int]]) -> Ranks:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(parts):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return tuple(merged)


class _Bound:
    """Constraints over one store."""

    def __init__(self, constraints: _Constraints, store: DocumentStore) -> None:
        self.store = store
        self.generation = store.generation
        self._n_seen = 0
        self._n_deleted = 0
        self._lines = [_BoundLine(line, store) for line in constraints.lines.values()]
        by_constraint = np.argsort(constraints.constraint, kind="stable")
        self._entries = constraints.entry[by_constraint].astype(np.int32)
        counts = np.bincount(constraints.constraint, minlength=constraints.n)
        self._off = np.concatenate(([0], np.cumsum(counts)))
        self._is_met = np.ones(constraints.n, np.bool_)
        self._n_unmet = np.zeros(constraints.n_entries, np.int64)
        self.can_match = np.ones(constraints.n_entries, np.bool_)
        for line in self._lines:
            self._ask(line)

    def catch_up(self) -> bool:
        """Takes in what came and went since; whether other entries can match now."""
        store = self.store
        deleted = store.deleted[self._n_deleted :]
        if self._n_seen == store.n_serials and not deleted:
            return False
        changed = [self._ask(line) for line in self._lines if line.count(self._n_seen, deleted)]
        self._n_seen, self._n_deleted = store.n_serials, len(store.deleted)
        return any(changed)

    def _ask(self, line: _BoundLine) -> bool:
        is_met = line.is_met()
        changed = line.numbers[is_met != self._is_met[line.numbers]]
        if len(changed):
            self._is_met[line.numbers] = is_met
            entries, cut = gather(self._off, self._entries, changed)
            change = np.where(self._is_met[changed], -1, 1)
            np.add.at(self._n_unmet, entries, np.repeat(change, np.diff(cut)))
            self.can_match[entries] = self._n_unmet[entries] == 0
        return len(changed) > 0


class _BoundLine:
    """A line over one store: how many documents have each rank."""

    def __init__(self, line: _Line, store: DocumentStore) -> None:
        self._column = store.column(line.program)
        self._constants = line.constants
        self._ranks = Growing(np.int32)
        """Of each code."""
        self._n_documents = np.zeros(line.constants.n_ranks, np.int64)
        self.numbers = np.array(list(line.numbers.values()), np.int64)
        self._every = np.array([every for _, every in line.numbers], np.bool_)
        sets = [ranks for ranks, _ in line.numbers]
        self._owner = np.repeat(np.arange(len(sets)), [len(ranks) for ranks in sets])
        intervals = np.array([part for ranks in sets for part in ranks], np.int64).reshape(-1, 2)
        self._low, self._high = intervals[:, 0], intervals[:, 1]

    def count(self, start: int, deleted: list[int]) -> bool:
        """Counts documents from a serial on, and those deleted; whether a rank got its first or lost its last."""
        values, rank = self._column.values, self._constants.rank
        if self._ranks.n < len(values):
            self._ranks.extend([rank(value) for value in values[self._ranks.n :]])
        touched = self._ranks.array[self._column.codes.array[start:]]
        gone = self._ranks.array[self._column.codes.array[deleted]] if deleted else touched[:0]
        every = np.unique(np.concatenate((touched, gone)))
        before = self._n_documents[every] > 0
        np.add.at(self._n_documents, touched, 1)
        np.subtract.at(self._n_documents, gone, 1)
        return bool((before != (self._n_documents[every] > 0)).any())

    def is_met(self) -> NDArray[np.bool_]:
        """Per constraint of the line."""
        occupied = np.concatenate(([0], np.cumsum(self._n_documents > 0)))
        inside = occupied[self._high + 1] - occupied[self._low]
        n_inside = np.bincount(self._owner, inside, minlength=len(self.numbers))
        is_met: NDArray[np.bool_] = np.where(self._every, n_inside == occupied[-1], n_inside > 0)
        return is_met
