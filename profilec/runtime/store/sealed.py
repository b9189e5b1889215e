"""A sealed chunk: mappings that will not be added to any more, as columns.

In: mappings of our values. Out: the same mappings, made again when they are asked for. An attribute is an array where
all its values are doubles, or integers of 64 bits; else its distinct values, and for each document a position among
them. Documents with the same attributes in the same order share a shape.

    {"user": "ann", "price": 2.5}         shapes   (user, price) (user)
    {"user": "bob", "price": 3.0}         shape    0 0 1
    {"user": "ann"}                       user     ann bob; 0 1 0       price   2.5 3.0 0.0
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.program import Document, Program, run
from profilec.runtime.store.columns import Column
from profilec.runtime.store.programs import attribute_of, names_read
from profilec.values.kinds import Value, from_document
from profilec.values.types import read_as

_LEAST, _GREATEST = -(2**63), 2**63 - 1


class SealedChunk:
    """See the module; `Chunk` says what is asked of it."""

    __slots__ = ("_columns", "_shape", "_shapes")

    def __init__(self, documents: Sequence[Document]) -> None:
        shapes: dict[tuple[str, ...], int] = {}
        self._shape = np.array([shapes.setdefault(tuple(document), len(shapes)) for document in documents], np.int32)
        self._shapes = list(shapes)
        names = dict.fromkeys(name for shape in self._shapes for name in shape)
        self._columns = {name: _column([document.get(name, _ABSENT) for document in documents]) for name in names}

    def __len__(self) -> int:
        return len(self._shape)

    def row(self, place: int) -> Document:
        """One document."""
        return {name: self._columns[name].item(place) for name in self._shapes[self._shape.item(place)]}

    def rows(self) -> Sequence[Document]:
        """All of them."""
        return [self.row(place) for place in range(len(self))]

    def rows_at(self, places: NDArray[np.int64], names: Collection[str]) -> Sequence[Document]:
        """Some of them, of each the attributes named."""
        columns, shapes, shape = self._columns, self._shapes, self._shape
        return [
            {name: columns[name].item(place) for name in shapes[shape.item(place)] if name in names}
            for place in places.tolist()
        ]

    def extend(self, column: Column, start: int) -> None:
        """Adds to a column what its expression is for the documents from `start` on."""
        attribute = attribute_of(column.program)
        if attribute is None or len(attribute[0]) > 1:
            column.extend(self._run(column.program, start))
            return
        (name,), type_ = attribute
        own = self._columns.get(name)
        if own is None:
            column.extend([None] * (len(self) - start))
            return
        is_there = np.array([name in shape for shape in self._shapes], np.bool_)[self._shape]
        values, positions = own.distinct(is_there)
        if type_ is not None:
            values = [read_as(value, type_) for value in values]
        column.extend_distinct(values, positions[start:])

    def values(self, program: Program) -> Sequence[Value]:
        """What an expression is for each document."""
        return self._run(program, 0)

    def forget(self, place: int) -> None:
        """The columns stay until the store is rewritten."""

    def cut(self, n: int) -> None:
        """It is added as a whole."""

    def _run(self, program: Program, start: int) -> list[Value]:
        documents = self.rows_at(np.arange(start, len(self)), names_read(program))
        return [run(program, {}, document) for document in documents]


class _Words:
    """Doubles, or integers of 64 bits; 0 where the document has no such attribute."""

    __slots__ = ("_words",)

    def __init__(self, words: NDArray[Any]) -> None:
        self._words = words

    def item(self, place: int) -> Value:
        value: Value = self._words.item(place)
        return value

    def distinct(self, is_there: NDArray[np.bool_]) -> tuple[list[Value], NDArray[np.int64]]:
        words, positions = np.unique(self._words, return_inverse=True)
        return [*words.tolist(), None], np.where(is_there, positions, len(words))


class _Coded:
    """Distinct values, and the code of each document's."""

    __slots__ = ("_codes", "_values")

    def __init__(self, values: list[Any], codes: list[int]) -> None:
        self._values = values
        self._codes = np.array(codes, np.min_scalar_type(len(values)))

    def item(self, place: int) -> Value:
        value: Value = self._values[self._codes.item(place)]
        return value

    def distinct(self, is_there: NDArray[np.bool_]) -> tuple[list[Value], NDArray[np.int64]]:
        values = [None if value is _ABSENT else from_document(value) for value in self._values]
        return values, self._codes.astype(np.int64)


_ABSENT: Any = object()


def _column(values: list[Any]) -> _Words | _Coded:
    types = set(map(type, values)) - {type(_ABSENT)}
    if types == {float} or (types == {int} and _fit(values)):
        return _Words(
            np.array([0 if value is _ABSENT else value for value in values], "f8" if float in types else "i8")
        )
    places: dict[Any, int] = {}
    distinct: list[Any] = []
    codes: list[int] = []
    for value in values:
        name = _name(value)
        code = places.get(name)
        if code is None:
            code = places[name] = len(distinct)
            distinct.append(value)
        codes.append(code)
    return _Coded(distinct, codes)


def _fit(values: list[Any]) -> bool:
    return all(value is _ABSENT or _LEAST <= value <= _GREATEST for value in values)


def _name(value: Any) -> Any:
    """What tells values apart, those too that are equal: 1, TRUE and 1.0, and 0.0 and -0.0."""
    match value:
        case str():
            return value
        case list() | dict():
            return id(value)
        case float():
            return repr(value), float
        case Decimal():
            return value.as_tuple()
    return value, type(value)
