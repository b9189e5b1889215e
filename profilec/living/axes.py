"""Axes: what the delta knows of an attribute's values, as int64 keys.

In: constants of predicates, values of documents. Out: keys on axes. Unlike a rank, a key stays what it is when other
constants come: a delta grows by one profile at a time.

    axis      of                            key
    ORDER     numbers, booleans, dates,     `store.order_keys`: the order of the values
              timestamps, strings
    SAME      strings                       the number of a constant, in the order in which they came; of any other
                                            string, NO_CONSTANT

A string's first eight bytes do not tell whether it is equal to another one, so that equality has an axis of its own; a
comparison of strings by order holds at least for the keys between, and is decided by whoever asks (`Lowered.is_exact`).
So it is with numbers that no double tells exactly.

An axis has the kind of its values: a value of another kind is not on it, and no comparison holds for it (DESIGN, 2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from threading import Lock
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.program import Program, run
from profilec.runtime.rows import ABSENT, Absent, Rows
from profilec.runtime.store.order_keys import order_key64, order_keys_of_words
from profilec.values.kinds import Kind, Value, expect_mapping, kind_of
from profilec.values.locks import new_lock
from profilec.values.paths import lookup

LOWEST, HIGHEST = -(2**63), 2**63 - 1
"""The keys of an axis."""
NO_CONSTANT = -1
_MOST_KNOWN = 100_000
"""Values of one attribute whose keys are remembered."""

Axis = int
Bools = NDArray[np.bool_]


class KeyedBatch(NamedTuple):
    """What `Axes.keyed` tells, of many documents: that of document d is `off[d] .. off[d + 1]`."""

    off: NDArray[np.int64]
    axes: NDArray[np.int32]
    keys: NDArray[np.int64]
    is_exact: NDArray[np.bool_]


class Column(NamedTuple):
    """The keys of many documents on an axis, of those that are there."""

    axis: Axis
    keys: NDArray[np.int64]
    is_there: Bools


class _Codes:
    """The values of an attribute met so far, by type and value, and what each one's keys are: its own axis and key,
    those as a constant (axis -1: none), and whether they are exact. Row 0 is that of NULL, arrays and records, for
    which no predicate of the delta holds.

    PERF: a value of many documents is looked up and no more; all else is done by column.
    """

    __slots__ = ("_adding", "_others", "_table", "plain", "rows")

    def __init__(self, adding: Lock) -> None:
        """`adding`: held by whoever adds a value."""
        self._adding = adding
        self.plain: dict[type, dict[Any, int]] = {int: {}, float: {}, str: {}, bool: {}}
        """By type, values that are looked up as a document holds them. (Others may be equal and not the same, as two
        times are that are told twice when clocks are put back.)"""
        self._others: dict[tuple[type, Any], int] = {(NoneType, None): 0}
        self.rows: list[tuple[int, int, int, int, bool]] = [_NO_ROW]
        self._table = _NO_TABLE

    def find(self, value: Value) -> int | None:
        """The number of a value; None of a new one. Raises TypeError of arrays and records."""
        plain = self.plain.get(type(value))
        return self._others.get((type(value), value)) if plain is None else plain.get(value)

    def add(self, value: Value, row: tuple[int, int, int, int, bool]) -> int:
        """The number of a new value."""
        plain = self.plain.get(type(value))
        with self._adding:
            self.rows.append(row)
            number = len(self.rows) - 1
            if plain is None:
                self._others[type(value), value] = number
            else:
                plain[value] = number
        return number

    def table(self) -> NDArray[np.int64]:
        """The rows as an array."""
        with self._adding:
            if len(self._table) < len(self.rows):
                self._table = np.concatenate((self._table, np.array(self.rows[len(self._table) :], np.int64)))
            return self._table


_NO_ROW = (-1, 0, -1, 0, True)
_NO_TABLE = np.zeros((0, len(_NO_ROW)), np.int64)


class _Attribute:
    """An attribute or expression: its axes by kind, and what strings are constants of it. `key`: of a document, that is
    all it reads; None where it reads more."""

    __slots__ = ("_adding", "codes", "key", "of_kind", "read", "same", "same_axis")

    def __init__(self, program: Program) -> None:
        self.key: str | None = None
        self.read: Callable[[Mapping[str, Any]], Value] = lambda document: run(program, document)
        if len(program) == 1:
            name, scope, parts, type_ = (*program[0], None, None, None)[:4]
            if name == "attribute" and scope == 0 and type_ is None:
                self.read = lambda document: lookup(document, parts)
                if len(parts) == 1:
                    (self.key,) = parts
        self.of_kind: dict[Kind, Axis] = {}
        self.same: dict[str, int] = {}
        self.same_axis: Axis | None = None
        self._adding = new_lock()
        self.begin_codes()

    def begin_codes(self) -> None:
        """Forgets what keys values have: an axis or a constant came. Who has the codes before goes on with them."""
        self.codes = _Codes(self._adding)

    def key_of_constant(self, constant: str) -> int:
        """Which of the strings that are constants it is."""
        key = self.same.get(constant)
        if key is None:
            key = self.same[constant] = len(self.same)
            self.begin_codes()
        return key

    def row(self, document: Mapping[str, Any]) -> tuple[int, int, int, int, bool]:
        """The row of a document's value.

        Raises:
            DocumentError: it is of no kind.
        """
        codes = self.codes
        if self.key is not None:
            value = document.get(self.key)
            if value is None:
                return _NO_ROW
            if type(value) in codes.plain:
                return codes.rows[self.code(codes, value)]
        return codes.rows[self.code(codes, self.read(document))]

    def code(self, codes: _Codes, value: Value) -> int:
        """The number of a value, which it is given where it has none."""
        try:
            known = codes.find(value)
        except TypeError:  # an array or a record
            return 0
        return self._new(codes, value) if known is None else known

    def _numbers(self, codes: _Codes, values: Sequence[Any], kinds: set[type]) -> NDArray[np.int64]:
        """As `code`, of values each, or nothing at all; `kinds`: of those that are there."""
        plain = codes.plain.get(next(iter(kinds))) if len(kinds) == 1 else None
        known = repeat(-1) if plain is None else map(plain.get, values, repeat(-1))  # PERF: without a call for each
        numbers = np.fromiter(known, np.int64, len(values))
        for at in np.flatnonzero(numbers < 0).tolist():
            numbers[at] = 0 if values[at] is ABSENT else self.code(codes, values[at])
        return numbers

    def _new(self, codes: _Codes, value: Value) -> int:
        if len(codes.rows) >= _MOST_KNOWN:  # values without end are not remembered
            self.begin_codes()
        return codes.add(value, self._row_of(value))

    def _row_of(self, value: Value) -> tuple[int, int, int, int, bool]:
        axis, key, same_axis, same, is_exact = _NO_ROW
        if value != value:  # noqa: PLR0124  (NULL: NaN)
            return _NO_ROW
        own = self.of_kind.get(kind_of(value))
        if own is not None:
            found = order_key64(value)
            # Whether a string's predicates of order hold is checked in any case.
            axis, key, is_exact = own, found.key, found.is_exact or found.kind == Kind.STRING
        if self.same_axis is not None and isinstance(value, str):
            same_axis, same = self.same_axis, self.same.get(value, NO_CONSTANT)
        return axis, key, same_axis, same, is_exact

    def columns(self, documents: Rows) -> tuple[list[Column], Bools | None]:
        """The keys of many documents, one column for each axis, and whether each document's are exact; None: all are.

        Raises:
            DocumentError: as `row`.
        """
        codes = self.codes
        values: list[Any] = []
        kinds: set[type] = set()
        if documents.are_dicts and self.key is not None:
            values, kinds = documents.values(self.key)
            kinds = kinds - {NoneType, Absent}
            if not kinds:
                return [], None
            words = documents.words(self.key)
            if words is not None and (number_axis := self.of_kind.get(Kind.NUMBER)) is not None:
                keys, is_exact = order_keys_of_words(words)
                is_there = words == words  # noqa: PLR0124  (NULL: NaN)
                return [Column(number_axis, keys, is_there)], None if is_exact.all() else is_exact
            if not kinds <= codes.plain.keys():
                values = []
        if not values:
            values = [self.read(document) for document in documents]
            kinds = set(map(type, values)) - {NoneType}
        numbers = self._numbers(codes, values, kinds)
        rows = codes.table().take(numbers, axis=0)
        columns = [Column(axis, rows[:, 1], rows[:, 0] == axis) for axis in tuple(self.of_kind.values())]
        if self.same_axis is not None:
            columns.append(Column(self.same_axis, rows[:, 3], rows[:, 2] == self.same_axis))
        is_exact = rows[:, 4] > 0
        return columns, None if is_exact.all() else is_exact


class Axes:
    """All axes of a delta. Grows; for one writer at a time, and any number of readers."""

    def __init__(self) -> None:
        self._attributes: dict[Any, _Attribute] = {}
        self._all: tuple[_Attribute, ...] = ()
        self._n_axes = 0

    def order(self, attribute: Any, program: Callable[[], Program], kind: Kind) -> Axis:
        """The axis of the values of a kind. `attribute`: what stands for it; `program`: what computes it."""
        of = self._of(attribute, program)
        axis = of.of_kind.get(kind)
        if axis is None:
            axis = of.of_kind[kind] = self._next()
            of.begin_codes()
        return axis

    def same(self, attribute: Any, program: Callable[[], Program]) -> tuple[Axis, Callable[[str], int]]:
        """The axis of strings as constants, and what gives the key of one."""
        of = self._of(attribute, program)
        if of.same_axis is None:
            of.same_axis = self._next()
            of.begin_codes()
        return of.same_axis, of.key_of_constant

    def keyed(self, document: Mapping[str, Any]) -> tuple[list[Axis], list[int], bool]:
        """The axes that a document's values are on, its key on each, and whether each key tells all of its value that
        predicates ask for.

        Raises:
            DocumentError: an attribute that profiles ask for holds a value of no kind.
        """
        axes: list[Axis] = []
        keys: list[int] = []
        is_exact = True
        get = document.get
        for attribute in self._all:
            row = None
            name = attribute.key
            if name is not None:  # PERF: as in `row`, without a call
                value = get(name)
                if value is None:
                    continue
                codes = attribute.codes
                plain = codes.plain.get(type(value))
                number = None if plain is None else plain.get(value)
                row = None if number is None else codes.rows[number]
            axis, key, same_axis, same, exact = attribute.row(document) if row is None else row
            if axis >= 0:
                axes.append(axis)
                keys.append(key)
            if same_axis >= 0:
                axes.append(same_axis)
                keys.append(same)
            if not exact:
                is_exact = False
        return axes, keys, is_exact

    def keyed_batch(self, documents: Sequence[Mapping[str, Any]]) -> KeyedBatch:
        """The keys of many documents; raises as `keyed`."""
        n = len(documents)
        rows = documents if isinstance(documents, Rows) else Rows(documents)
        columns: list[Column] = []
        is_exact = np.ones(n, np.bool_)
        if not rows.are_dicts:
            for document in rows:
                expect_mapping(document)
        for attribute in self._all:
            own, exact = attribute.columns(rows)
            columns += own
            if exact is not None:
                is_exact &= exact
        off = np.zeros(n + 1, np.int64)
        is_there = np.zeros((n, len(columns)), np.bool_)
        keys = np.empty((n, len(columns)), np.int64)
        for place, column in enumerate(columns):
            is_there[:, place] = column.is_there
            keys[:, place] = column.keys
        np.cumsum(is_there.sum(axis=1), out=off[1:])
        axes = np.broadcast_to(np.array([column.axis for column in columns], np.int32), is_there.shape)
        return KeyedBatch(off, axes[is_there], keys[is_there], is_exact)

    def _of(self, attribute: Any, program: Callable[[], Program]) -> _Attribute:
        found = self._attributes.get(attribute)
        if found is None:
            found = self._attributes[attribute] = _Attribute(program())
            self._all = (*self._all, found)
        return found

    def _next(self) -> Axis:
        self._n_axes += 1
        return self._n_axes - 1
