"""Chunks: some documents of the store, one after another, as they came: an Arrow table's columns, or mappings.

Invariant: `row(place)` is the document that was given, as values of ours, until it is forgotten; it may be asked in
any order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.arrow_values import is_nested
from profilec.runtime.columns import Frame, distinct, find
from profilec.runtime.program import Document, Program, attributes_read, run
from profilec.runtime.store.columns import Column
from profilec.runtime.store.programs import attribute_of, names_read
from profilec.values.kinds import DocumentError, Value, from_document
from profilec.values.paths import lookup
from profilec.values.types import read_as


class Chunk(Protocol):
    """Documents that are not changed any more, but for those that are deleted."""

    def __len__(self) -> int: ...
    def row(self, place: int) -> Document:
        """One document."""
        ...

    def rows(self) -> Sequence[Document]:
        """All of them."""
        ...

    def rows_at(self, places: NDArray[np.int64], names: Collection[str]) -> Sequence[Document]:
        """Some of them; at least their attributes of these names."""
        ...

    def extend(self, column: Column, start: int) -> None:
        """Adds to a column what its expression is for the documents from `start` on."""
        ...

    def values(self, program: Program) -> Sequence[Value]:
        """What an expression is for each document."""
        ...

    def forget(self, place: int) -> None:
        """A document that is deleted: nobody asks for its row any more."""
        ...

    def cut(self, n: int) -> None:
        """Keeps the first n documents: those after were not added to the end."""
        ...


_NOTHING: Document = {}


class RowChunk:
    """Mappings; the last chunk of a store grows. One that is full is sealed (`sealed`)."""

    __slots__ = ("documents",)

    def __init__(self, documents: list[Document]) -> None:
        self.documents = documents

    def __len__(self) -> int:
        return len(self.documents)

    def row(self, place: int) -> Document:
        return self.documents[place]

    def rows(self) -> Sequence[Document]:
        return self.documents

    def rows_at(self, places: NDArray[np.int64], names: Collection[str]) -> Sequence[Document]:
        return [self.documents[place] for place in places.tolist()]

    def extend(self, column: Column, start: int) -> None:
        documents = self.documents[start:] if start else self.documents
        attribute = attribute_of(column.program)
        if attribute is None:
            column.extend(run(column.program, {}, document) for document in documents)
            return
        parts, type_ = attribute
        values = (lookup(document, parts) for document in documents)
        column.extend(values if type_ is None else (read_as(value, type_) for value in values))

    def values(self, program: Program) -> Sequence[Value]:
        return [run(program, {}, document) for document in self.documents]

    def forget(self, place: int) -> None:
        self.documents[place] = _NOTHING

    def cut(self, n: int) -> None:
        del self.documents[n:]


class FrameChunk:
    """Columns of plain values."""

    __slots__ = ("_frame",)

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def __len__(self) -> int:
        return self._frame.n_rows

    def row(self, place: int) -> Document:
        columns = {name: column.slice(place, 1) for name, column in self._frame.columns.items()}
        (row,) = Frame(1, columns).rows(columns)
        return row

    def rows(self) -> Sequence[Document]:
        return self._frame.rows(self._frame.columns)

    def rows_at(self, places: NDArray[np.int64], names: Collection[str]) -> Sequence[Document]:
        columns = {name: column.take(places) for name, column in self._frame.columns.items() if name in names}
        return Frame(len(places), columns).rows(columns)

    def extend(self, column: Column, start: int) -> None:
        attribute = attribute_of(column.program)
        if attribute is None:
            self._extend_derived(column, start)
            return
        parts, type_ = attribute
        found = find(self._frame, parts)
        if len(found) != 1:
            n = len(self) - start
            column.extend([None] * n if not found else [lookup(document, parts) for document in self.rows()[start:]])
            return
        values, positions = distinct(found[0])
        ours = [from_document(value) for value in values]
        if type_ is not None:
            ours = [read_as(value, type_) for value in ours]
        column.extend_distinct(ours, positions[start:])

    def _extend_derived(self, column: Column, start: int) -> None:
        """PERF: an expression of one attribute is found once for each of its values."""
        program = column.program
        read = attributes_read(program, 1)
        found = {parts: find(self._frame, parts) for parts in read}
        if len(found) == 1 and all(len(columns) == 1 for columns in found.values()):
            ((parts, (only,)),) = found.items()
            values, positions = distinct(only)
            name = ".".join(parts)
            column.extend_distinct([run(program, {}, {name: value}) for value in values], positions[start:])
            return
        places = np.arange(start, len(self))
        column.extend(run(program, {}, document) for document in self.rows_at(places, names_read(program)))

    def values(self, program: Program) -> Sequence[Value]:
        column = Column(program)
        self.extend(column, 0)
        return [column.values[code] for code in column.codes.array.tolist()]

    def forget(self, place: int) -> None:
        """The columns stay until the store is rewritten."""

    def cut(self, n: int) -> None:
        """It is added as a whole."""


def frame_chunk(frame: Frame) -> FrameChunk | None:
    """The chunk of a frame, copied; None where a column is nested, or no Arrow array: its rows are to be kept instead.

    Raises:
        DocumentError: a column has a type that no value of a document has, or a text is no UTF-8.
    """
    import pyarrow as pa

    every = pa.array(np.arange(frame.n_rows))
    columns: dict[str, Any] = {}
    for name in frame.columns:
        column: Any = frame.column(name)
        if isinstance(column, list) or is_nested(column.type) or pa.types.is_dictionary(column.type):
            return None
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise DocumentError(f"column {name!r}: {error}") from None
        columns[name] = column.take(every)  # its memory may be an array that its owner goes on changing
    return FrameChunk(Frame(frame.n_rows, columns))
