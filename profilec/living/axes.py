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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.program import Program, run
from profilec.runtime.store.order_keys import order_key64
from profilec.values.kinds import Kind, Value, kind_of
from profilec.values.locks import new_lock
from profilec.values.paths import lookup

LOWEST, HIGHEST = -(2**63), 2**63 - 1
"""The keys of an axis."""
NO_CONSTANT = -1
_MOST_KNOWN = 100_000
"""Values of one attribute whose keys are remembered."""

Axis = int
Key = tuple[Axis, int]


class Keyed(NamedTuple):
    """A document's keys, one for each axis that its values are on. `is_exact`: each key tells all of its value that
    predicates ask for."""

    axes: list[Axis]
    keys: list[int]
    is_exact: bool


class KeyedBatch(NamedTuple):
    """The same of many documents: those of document d are `off[d] .. off[d + 1]`."""

    off: NDArray[np.int64]
    axes: NDArray[np.int32]
    keys: NDArray[np.int64]
    is_exact: NDArray[np.bool_]


class _Codes:
    """The values of an attribute met so far, by type and value, and what each one's keys are: its own axis and key,
    those as a constant (axis -1: none), and whether they are exact. Row 0 is that of NULL, arrays and records, for
    which no predicate of the delta holds.

    PERF: a value of many documents is looked up and no more; all else is done by column.
    """

    __slots__ = ("_adding", "_table", "number", "rows")

    def __init__(self) -> None:
        self.number: dict[tuple[type, Any], int] = {(type(None), None): 0}
        self.rows: list[tuple[int, int, int, int, bool]] = [_NO_ROW]
        self._table = np.zeros((0, len(_NO_ROW)), np.int64)
        self._adding = new_lock()

    def add(self, name: tuple[type, Any], row: tuple[int, int, int, int, bool]) -> int:
        """The number of a new value."""
        with self._adding:
            self.rows.append(row)
            number = self.number[name] = len(self.rows) - 1
        return number

    def table(self) -> NDArray[np.int64]:
        """The rows as an array."""
        with self._adding:
            if len(self._table) < len(self.rows):
                self._table = np.concatenate((self._table, np.array(self.rows[len(self._table) :], np.int64)))
            return self._table


_NO_ROW = (-1, 0, -1, 0, True)


class _Attribute:
    """An attribute or expression: its axes by kind, and what strings are constants of it."""

    __slots__ = ("codes", "of_kind", "read", "same", "same_axis")

    def __init__(self, read: Callable[[Mapping[str, Any]], Value]) -> None:
        self.read = read
        self.of_kind: dict[Kind, Axis] = {}
        self.same: dict[str, int] = {}
        self.same_axis: Axis | None = None
        self.codes = _Codes()
        """Begun anew when an axis or a constant comes."""

    def code(self, codes: _Codes, value: Value) -> int:
        """The number of a value, which it is given where it has none."""
        name: tuple[type, Any] = type(value), value
        try:
            known = codes.number.get(name)
        except TypeError:  # an array or a record
            return 0
        if known is not None:
            return known
        if len(codes.rows) >= _MOST_KNOWN:  # values without end are not remembered; who has these codes goes on
            self.codes = _Codes()
        return codes.add(name, _row_of(self, value))


class Axes:
    """All axes of a delta. Grows; for one writer at a time, and any number of readers."""

    def __init__(self) -> None:
        self._attributes: dict[Any, _Attribute] = {}
        self._n_axes = 0

    def order(self, attribute: Any, program: Callable[[], Program], kind: Kind) -> Axis:
        """The axis of the values of a kind. `attribute`: what stands for it; `program`: what computes it."""
        of = self._of(attribute, program)
        axis = of.of_kind.get(kind)
        if axis is None:
            axis = of.of_kind[kind] = self._next()
            of.codes = _Codes()
        return axis

    def same(self, attribute: Any, program: Callable[[], Program], constant: str) -> Key:
        """The axis of strings as constants, and the key of this one."""
        of = self._of(attribute, program)
        if of.same_axis is None:
            of.same_axis = self._next()
            of.codes = _Codes()
        key = of.same.get(constant)
        if key is None:
            key = of.same[constant] = len(of.same)
            of.codes = _Codes()
        return of.same_axis, key

    def keyed(self, document: Mapping[str, Any]) -> Keyed:
        """The keys of a document.

        Raises:
            DocumentError: an attribute that profiles ask for holds a value of no kind.
        """
        axes: list[Axis] = []
        keys: list[int] = []
        is_exact = True
        for attribute in list(self._attributes.values()):
            value = attribute.read(document)
            if value is None:
                continue
            codes = attribute.codes
            axis, key, same_axis, same, exact = codes.rows[attribute.code(codes, value)]
            if axis >= 0:
                axes.append(axis)
                keys.append(key)
            if same_axis >= 0:
                axes.append(same_axis)
                keys.append(same)
            is_exact &= exact
        return Keyed(axes, keys, is_exact)

    def keyed_batch(self, documents: Sequence[Mapping[str, Any]]) -> KeyedBatch:
        """The keys of many documents; raises as `keyed`."""
        n = len(documents)
        owners, axes, keys = [_NO_INTEGERS], [_NO_INTEGERS], [_NO_INTEGERS]
        is_exact = np.ones(n, np.bool_)
        for attribute in list(self._attributes.values()):
            read, codes = attribute.read, attribute.codes
            number = codes.number
            values = [read(document) for document in documents]
            try:
                numbers = [number[type(value), value] for value in values]
            except (KeyError, TypeError):
                numbers = [attribute.code(codes, value) for value in values]
            rows = codes.table()[numbers]
            is_exact &= rows[:, 4] > 0
            for place in (0, 2):
                there = np.flatnonzero(rows[:, place] >= 0)
                owners.append(there)
                axes.append(rows[there, place])
                keys.append(rows[there, place + 1])
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")
        off = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(owner, minlength=n), out=off[1:])
        return KeyedBatch(off, np.concatenate(axes)[order].astype(np.int32), np.concatenate(keys)[order], is_exact)

    def _of(self, attribute: Any, program: Callable[[], Program]) -> _Attribute:
        found = self._attributes.get(attribute)
        if found is None:
            found = self._attributes[attribute] = _Attribute(_reader(program()))
        return found

    def _next(self) -> Axis:
        self._n_axes += 1
        return self._n_axes - 1


_NO_INTEGERS = np.zeros(0, np.int64)


def _row_of(attribute: _Attribute, value: Value) -> tuple[int, int, int, int, bool]:
    axis, key, same_axis, same, is_exact = _NO_ROW
    own = attribute.of_kind.get(kind_of(value))
    if own is not None:
        found = order_key64(value)
        # Whether a string's predicates of order hold is checked in any case.
        axis, key, is_exact = own, found.key, found.is_exact or found.kind == Kind.STRING
    if attribute.same_axis is not None and isinstance(value, str):
        same_axis, same = attribute.same_axis, attribute.same.get(value, NO_CONSTANT)
    return axis, key, same_axis, same, is_exact


def _reader(program: Program) -> Callable[[Mapping[str, Any]], Value]:
    """What reads an attribute or runs an expression."""
    if len(program) == 1:
        name, scope, parts, type_ = (*program[0], None, None, None)[:4]
        if name == "attribute" and scope == 0 and type_ is None:
            return lambda document: lookup(document, parts)
    return lambda document: run(program, document)
