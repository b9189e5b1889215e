"""How a conjunction is asked of the store: the cheapest way that decides it.

    extreme value                  one comparison: the least and the greatest value, and how many are of another kind
    hash probe                     keys alone: the group of documents that have them
    key-partitioned sorted probe   keys and one comparison: the extremes of the group
    sorted probe                   two comparisons of one expression, from both sides: its values in order
    document bit sets              comparisons without a key: the bit vectors of their documents, intersected
    walk of a group                keys and more: the documents of the group, newest first
    scan of columns                all documents, a comparison after the other

In: a conjunction, constants put in or one of its comparisons left open. Out: whether some document satisfies it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.joins.conjuncts import Comparison, Conjunction
from profilec.runtime.joins.constants import Values
from profilec.runtime.joins.costs import BITS, EXTREME, HASH, KEYED, SCAN, SORTED, WALK, Sizes, cost, strategy_of
from profilec.runtime.joins.new import AskedMany, NewDocument, NewDocuments
from profilec.runtime.joins.rest import Rest
from profilec.runtime.program import Program
from profilec.runtime.store.columns import OTHER, Asked, Column
from profilec.runtime.store.documents import DocumentStore
from profilec.runtime.store.groups import NO_GROUP, GroupIndex, Summary
from profilec.values.compare import NEGATED_OPERATOR
from profilec.values.dates import add_interval
from profilec.values.kinds import Date, Kind, Timestamp, Value

_NONE = Values(0, {})


class Operand(NamedTuple):
    """The value that a comparison compares with: of an expression over the new document, or a constant."""

    new: Program | None
    minus: Any
    constant: Asked | None

    def of(self, new: NewDocument) -> Asked:
        if self.constant is not None:
            return self.constant
        assert self.new is not None
        asked = new.asked(self.new)
        if self.minus is None:
            return asked
        return Asked(_before(asked.value, self.minus))


def _before(time: Value, interval: Any) -> Value:
    return add_interval(time, interval, -1) if isinstance(time, Date | Timestamp) else None


class _Test(NamedTuple):
    """A comparison, bound to the store's column."""

    column: Column
    operator: str
    operand: Operand
    or_other: bool


class Probe:
    """A conjunction bound to a store. `open_`: the comparison whose constant is left open, if one is."""

    def __init__(
        self,
        conjunction: Conjunction,
        operands: dict[int, Operand],
        open_: Comparison | None,
        last: int | None,
        store: DocumentStore,
    ) -> None:
        self.strategy = strategy_of(conjunction, last)
        self._last = last
        self._store = store
        self._rest = None if conjunction.rest is None else Rest(conjunction.rest, store)
        self._keys = [operands[id(key)] for key in conjunction.keys]
        self._columns = [store.column(_old(key)) for key in conjunction.keys]
        self._name: tuple[int, ...] = ()
        """What probes share that ask for the same group."""
        comparisons = conjunction.comparisons
        self._tests = [
            _Test(store.column(_old(one)), one.operator, operands[id(one)], one.or_other)
            for one in comparisons
            if one is not open_
        ]
        self._groups: GroupIndex | None = None
        self._filter: Column | None = None
        self._summarized: Column | None = None
        self.ask: Callable[[NewDocument], bool]
        """Whether some document satisfies it; not where a comparison is open."""
        if self.strategy in (EXTREME, HASH, KEYED, WALK):
            self._groups = store.groups([_old(key) for key in conjunction.keys], conjunction.filter)
            self._name = id(self._groups), *(id(key.new or key.constant) for key in self._keys)
            if comparisons and self.strategy != WALK:
                self._summarized = store.column(_old(comparisons[0]))
            self.ask = self._walk_or_scan if self.strategy == WALK else self._summary
        elif self.strategy == SORTED:
            self._sorted = store.sorted_index(_old(comparisons[0]))
            self.ask = self._range
        else:
            if conjunction.filter is not None:
                self._filter = store.column(conjunction.filter)
            self._old = [_old(one) for one in comparisons]
            self.ask = self._bits_or_scan

    def values(self, new: NewDocument) -> Values:
        """The extremes of the documents that the keys find, of the open comparison."""
        group = self._group(new)
        if group == NO_GROUP:
            return _NONE
        groups = self._groups
        assert groups is not None
        n = int(groups.n_documents[group])
        if self._summarized is None or not n:
            return Values(n, {})
        summary = self._summary_of(groups, self._summarized, group)
        values, by_kind = self._summarized.values, {}
        for kind, extremes in summary.by_kind.items():
            if group < extremes.n.n and (n_of_kind := int(extremes.n[group])):
                least, greatest = int(extremes.least[group]), int(extremes.greatest[group])
                by_kind[kind] = n_of_kind, values[least], values[greatest]
        return Values(n, by_kind)

    def _summary_of(self, groups: GroupIndex, column: Column, group: int) -> Summary:
        """The extremes of a column, those of the group up to date."""
        summary = groups.summary(column, self._store.is_alive)
        if group in summary.outdated:
            self._renew(summary, group)
        return summary

    def _renew(self, summary: Summary, group: int) -> None:
        groups, store = self._groups, self._store
        assert groups is not None
        if groups.keys or groups.filter is not None:
            groups.renew(summary, group, store.is_alive)
            return
        index = store.sorted_index(summary.column.program)
        for kind, extremes in summary.by_kind.items():
            if extremes.n[group] and kind not in (Kind.NULL, Kind.OPAQUE):  # all of these have one code
                extremes.least[group], extremes.greatest[group] = index.extremes(kind)
        summary.outdated.discard(group)

    def ask_many(self, new: NewDocuments, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """`ask` of each document for which `asked` says so; FALSE of the others."""
        if self._groups is None or self.strategy == WALK:
            holds = [bool(of) and self.ask(new.alone(number)) for number, of in enumerate(asked.tolist())]
            return np.array(holds, np.bool_)
        if not self._groups.n_groups:
            return np.zeros(new.n, np.bool_)
        if not self._keys:
            return self._all_of_many(new, asked)
        codes = [_codes_of_many(key, column, new) for column, key in zip(self._columns, self._keys, strict=True)]
        groups = self._groups.groups_of(codes)
        groups[~asked] = NO_GROUP
        n = np.where(groups == NO_GROUP, 0, self._groups.n_documents.array[groups])
        if not self._tests:
            some: NDArray[np.bool_] = n > 0
            return some
        return self._groups_of_many(new, groups, n)

    def _all_of_many(self, new: NewDocuments, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """`ask_many` where all documents of the store are one group."""
        index, column = self._groups, self._summarized
        assert index is not None
        n = index.n_documents.item(0)
        if not n:
            return np.zeros(new.n, np.bool_)
        if not self._tests:
            return asked
        (test,) = self._tests
        assert column is not None
        summary = self._summary_of(index, column, 0)
        kinds = _asked_of_many(test.operand, new).kinds
        holds = np.zeros(new.n, np.bool_)
        for kind in _distinct(kinds):
            own = asked & (kinds == kind)
            numbers = slice(None) if own.all() else np.flatnonzero(own)
            extremes = None if kind in (Kind.NULL, Kind.OPAQUE) else summary.by_kind.get(kind)
            n_of_kind = 0 if extremes is None else extremes.n.item(0)
            if n_of_kind < n and test.or_other:
                holds[numbers] = True
            elif extremes is not None and n_of_kind:
                holds[numbers] = self._hold(new, numbers, extremes.least.array[0], extremes.greatest.array[0])
        return holds

    def _groups_of_many(self, new: NewDocuments, groups: Int32, n: NDArray[np.int64]) -> NDArray[np.bool_]:
        """`groups`: of each document, `n`: how many documents of the store it has."""
        (test,), column, index = self._tests, self._summarized, self._groups
        assert column is not None
        assert index is not None
        summary = index.summary(column, self._store.is_alive)
        for group in summary.outdated.intersection(groups.tolist()) if summary.outdated else ():
            self._renew(summary, group)
        kinds = _asked_of_many(test.operand, new).kinds
        holds = np.zeros(new.n, np.bool_)
        for kind in _distinct(kinds):
            numbers = np.flatnonzero((kinds == kind) & (n > 0))
            extremes = summary.by_kind.get(kind)
            if extremes is None or kind in (Kind.NULL, Kind.OPAQUE):
                holds[numbers] = test.or_other
                continue
            extremes.resize(index.n_groups)
            n_of_kind = extremes.n.array[groups[numbers]]
            if test.or_other:
                holds[numbers] = n_of_kind < n[numbers]
            numbers = numbers[n_of_kind > 0]
            of = groups[numbers]
            holds[numbers] |= self._hold(new, numbers, extremes.least.array[of], extremes.greatest.array[of])
        return holds

    def _hold(
        self, new: NewDocuments, numbers: NDArray[np.int64] | slice, least: Int32 | np.int32, greatest: Int32 | np.int32
    ) -> NDArray[np.bool_]:
        """Whether the test holds for some value from `least` to `greatest`, codes of the kind that the new documents
        have: one pair for each of them, or one for all."""
        (test,), column = self._tests, self._summarized
        assert column is not None
        if test.operator == "!=":
            codes = _codes_of_many(test.operand, column, new)[numbers]
            differs: NDArray[np.bool_] = (least != greatest) | (least != codes)
            return differs
        asked = _asked_of_many(test.operand, new)
        keys = asked.keys[numbers]
        if test.operator == OTHER:
            return np.zeros(len(keys), np.bool_)
        low, high = column.keys.array[least], column.keys.array[greatest]
        holds: NDArray[np.bool_] = _EXTREMES_HOLD[test.operator](low, high, keys)
        is_exact = asked.is_exact[numbers]
        if not (column.all_exact and is_exact.all()):
            in_doubt = ((low == keys) & ~(column.is_exact.array[least] & is_exact)) | (
                (high == keys) & ~(column.is_exact.array[greatest] & is_exact)
            )
            for place in np.flatnonzero(in_doubt).tolist():
                holds[place] = self.ask(new.alone(int(np.arange(new.n)[numbers][place])))
        return holds

    def _group(self, new: NewDocument) -> int:
        known = new.groups.get(self._name)
        if known is None:
            assert self._groups is not None
            codes = [column.code_of(key.of(new).value) for column, key in zip(self._columns, self._keys, strict=True)]
            known = new.groups[self._name] = self._groups.group_of(codes)
        return known

    def _summary(self, new: NewDocument) -> bool:
        groups = self._groups
        assert groups is not None
        group = self._group(new)
        n = 0 if group == NO_GROUP else groups.n_documents.item(group)
        if not n or not self._tests:
            return bool(n)
        (test,), column = self._tests, self._summarized
        assert column is not None
        summary = self._summary_of(groups, column, group)
        asked = test.operand.of(new)
        extremes = summary.by_kind.get(asked.kind) if asked.compares else None
        of_kind = extremes.n.item(group) if extremes is not None and group < extremes.n.n else 0
        if test.or_other and of_kind < n:
            return True
        if extremes is None or not of_kind:
            return False
        match test.operator:
            case "<" | "<=":
                sign = column.sign(extremes.least.item(group), asked)
                return sign < 0 or (sign == 0 and test.operator == "<=")
            case ">" | ">=":
                sign = column.sign(extremes.greatest.item(group), asked)
                return sign > 0 or (sign == 0 and test.operator == ">=")
            case "!=":
                least, greatest = extremes.least.item(group), extremes.greatest.item(group)
                return least != greatest or column.sign(least, asked) != 0
        return False  # OTHER

    def _walk_or_scan(self, new: NewDocument) -> bool:
        group = self._group(new)
        if group == NO_GROUP:
            return False
        groups = self._groups
        assert groups is not None
        sizes = self._sizes(groups.n_documents.item(group))
        if cost(SCAN, sizes) < cost(WALK, sizes):
            return self._scan(new, group)
        return self._walk(new, groups, group)

    def _walk(self, new: NewDocument, groups: GroupIndex, group: int) -> bool:
        store = self._store
        tests = [(test.column, test.operator, test.operand.of(new), test.or_other) for test in self._tests]
        for serial in groups.newest_first(group, store.is_alive, store.first_of_last(self._last)):
            for column, operator, asked, or_other in tests:
                if not column.holds(column.codes.item(serial), operator, asked, or_other):
                    break
            else:
                if self._rest is None or self._rest.holds(new.document, serial):
                    return True
        return False

    def _range(self, new: NewDocument) -> bool:
        low, high = sorted(self._tests, key=lambda test: test.operator[0], reverse=True)
        return self._sorted.any_between(low.operand.of(new), low.operator, high.operand.of(new), high.operator)

    def _bits_or_scan(self, new: NewDocument) -> bool:
        sizes = self._sizes(0)
        if self.strategy == BITS and cost(BITS, sizes) <= cost(SCAN, sizes):
            return self._bits(new)
        return self._scan(new)

    def _sizes(self, n_in_group: int) -> Sizes:
        rest = self._rest
        is_estimated = rest is not None and rest.is_estimated
        return Sizes(len(self._store.alive), n_in_group, self._last, len(self._tests), rest is not None, is_estimated)

    def _bits(self, new: NewDocument) -> bool:
        store = self._store
        alive = store.alive
        found: BitMap | None = None
        for test, old in zip(self._tests, self._old, strict=True):
            index, asked = store.sorted_index(old), test.operand.of(new)
            if test.or_other:
                operator = NEGATED_OPERATOR.get(test.operator)
                own = alive - (index.of_kind(asked.kind) if operator is None else index.documents(operator, asked))
            else:
                own = index.documents(test.operator, asked)
            found = own if found is None else found & own
            if not found:
                return False
        assert found is not None
        first = store.first_of_last(self._last)
        return bool(found) and found.max() >= first

    def _scan(self, new: NewDocument, group: int | None = None) -> bool:
        """Block by block, the newest first. `group`: the documents that are asked; None for all."""
        store = self._store
        tests = [
            (test.column, test.column.all_holding(test.operator, test.operand.of(new), test.or_other))
            for test in self._tests
        ]
        first, stop, size = store.first_of_last(self._last), store.n_serials, _FIRST_BLOCK
        while stop > first:
            start = max(first, stop - size)
            found = store.is_alive.array[start:stop].copy()
            if group is not None and self._groups is not None:
                found &= self._groups.group.array[start:stop] == group
            for column, holds in tests:
                found &= holds[column.codes.array[start:stop]]
            if self._filter is not None:
                found &= self._filter.codes.array[start:stop] == self._filter.code_of(True)
            if found.any() and (self._rest is None or self._rest.holds_of_some(new.document, start, found)):
                return True
            stop, size = start, min(2 * size, _LARGEST_BLOCK)
        return False


_FIRST_BLOCK, _LARGEST_BLOCK = 8_192, 262_144
"""Documents that are scanned together."""

_EXTREMES_HOLD: dict[str, Callable[[Any, Any, Any], Any]] = {
    "<": lambda low, high, key: low < key,
    "<=": lambda low, high, key: low <= key,
    ">": lambda low, high, key: high > key,
    ">=": lambda low, high, key: high >= key,
}


def _distinct(kinds: NDArray[np.uint8]) -> list[int]:
    if len(kinds) and (kinds == kinds[0]).all():  # PERF: mostly so
        return [int(kinds[0])]
    return np.flatnonzero(np.bincount(kinds)).tolist()


def _asked_of_many(operand: Operand, new: NewDocuments) -> AskedMany:
    if operand.constant is not None:
        asked = operand.constant
        kinds = np.full(new.n, asked.kind, np.uint8)
        return AskedMany(kinds, np.full(new.n, asked.key, np.int64), np.full(new.n, asked.is_exact))
    return new.asked(_new(operand))


def _codes_of_many(operand: Operand, column: Column, new: NewDocuments) -> Int32:
    if operand.constant is not None:
        return np.full(new.n, column.code_of(operand.constant.value), np.int32)
    return new.codes(_new(operand), column)


def _new(operand: Operand) -> Program:
    assert operand.new is not None
    return operand.new


def _old(comparison: Comparison) -> Program:
    assert comparison.old is not None
    return comparison.old
