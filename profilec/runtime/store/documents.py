"""The document store in memory: the earlier documents, oldest first, and what joins look them up by.

In: documents one by one, as a list, an Arrow table or a pandas frame. Out: a sequence that
quantified joins range over. What is added is copied and made of our values, so that the caller
may go on changing its own, and a document that no join could read is refused when it comes.

A document has a serial, which it keeps, and a position among those that are not deleted. Columns, groups and sorted
indexes are made when a join first asks for them, and brought up to date when the store is next read.

Invariant: whoever reads, sees the store as it was when reading began; a change that fails changes nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, overload

import numpy as np
from pyroaring import BitMap

from profilec.runtime.program import Document, Program, identity, run
from profilec.runtime.store.chunks import Chunk, RowChunk, frame_chunk
from profilec.runtime.store.columns import Column
from profilec.runtime.store.groups import GroupIndex
from profilec.runtime.store.growing import Growing
from profilec.runtime.store.sorted_index import SortedIndex
from profilec.values.kinds import DocumentError, Value, from_document
from profilec.values.locks import new_lock

_CHUNK = 8_192
"""Documents of a chunk that came one by one."""
_DEAD = 65_536
"""Deleted documents from which on the store is rewritten, once they are more than half."""


class DocumentStore(Sequence[Document]):
    """Earlier documents, oldest first.

    >>> store = DocumentStore()
    >>> store.add({"isbn": "1"})
    >>> store.extend([{"isbn": "2"}, {"isbn": "3"}])
    >>> store.delete([0])
    >>> len(store), [document["isbn"] for document in store]
    (2, ['2', '3'])
    """

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._lock = new_lock()
        self._begin()
        self.extend(documents)

    def _begin(self) -> None:
        self._chunks: list[Chunk] = []
        self._starts: list[int] = []
        """The serial of each chunk's first document."""
        self._n = 0
        self._alive = BitMap()
        self.is_alive = Growing(np.bool_)
        self.deleted: list[int] = []
        """The serials deleted so far, in the order in which they were."""
        self.generation = getattr(self, "generation", 0) + 1
        """Serials, and what was made for joins, are good for one generation."""
        self._forget_indexes()

    def _forget_indexes(self) -> None:
        self._columns: dict[Any, Column] = {}
        """By the identity of the expression, as the others."""
        self._groups: dict[tuple[tuple[Any, ...], Any], GroupIndex] = {}
        self._sorted: dict[Any, SortedIndex] = {}
        self._n_indexed = 0
        self._is_indexing = False

    def __len__(self) -> int:
        return len(self._alive)

    @overload
    def __getitem__(self, position: int) -> Document: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Document]: ...
    def __getitem__(self, position: int | slice) -> Document | Sequence[Document]:
        with self._lock:
            if isinstance(position, slice):
                return [self.document(serial) for serial in self._alive[position]]
            return self.document(self._serial(position))

    def __iter__(self) -> Iterator[Document]:
        return iter(self.snapshot())

    def __reduce__(self) -> tuple[type[DocumentStore], tuple[list[Document]]]:
        return DocumentStore, (list(self),)

    def snapshot(self) -> Sequence[Document]:
        """The documents as they are now; what is added or deleted later is not seen."""
        with self._lock:
            return self._documents()

    def _documents(self) -> list[Document]:
        found: list[Document] = []
        for start, chunk in zip(self._starts, self._chunks, strict=True):
            alive = self.is_alive.array[start : start + len(chunk)]
            rows = chunk.rows()
            found += rows if alive.all() else [rows[place] for place in np.flatnonzero(alive).tolist()]
        return found

    def add(self, document: Document) -> None:
        """Adds one document, as the newest.

        Raises:
            DocumentError: it is no mapping, or holds a value of no kind.
        """
        ours = copied(document)
        with self._lock:
            last = self._chunks[-1] if self._chunks else None
            if isinstance(last, RowChunk) and len(last) < _CHUNK:
                last.documents.append(ours)
                self._count(1)
            else:
                self._append(RowChunk([ours]))

    def extend(self, documents: Any) -> None:
        """Adds documents (an iterable of mappings, an Arrow table or record batch, a pandas frame), or none of them.

        Raises:
            DocumentError: one of them is refused; the message says which, counting from 0.
        """
        chunk = _chunk_of(documents)
        if len(chunk):
            with self._lock:
                self._append(chunk)

    def delete(self, positions: Iterable[int]) -> None:
        """Takes the documents at these positions out; the others keep their order. A negative one counts from the end.

        Raises:
            IndexError: there is no such position; nothing is deleted.
        """
        with self._lock:
            self._delete(sorted({self._serial(position) for position in positions}))

    def to_arrow(self) -> Any:
        """The documents as a `pyarrow.Table`, a column for each attribute, in the order of first appearance.

        Raises:
            ValueError: an attribute holds values for which Arrow has no one exact type (numbers here, strings there).
        """
        from profilec.runtime.store.arrow_table import table_of

        return table_of(list(self))

    @contextmanager
    def reading(self) -> Iterator[DocumentStore]:
        """The store for a join: nothing is added or deleted meanwhile, and what was made for joins is up to date.

        What follows, but for `generation`, is for whoever is in here.
        """
        with self._lock:
            self._catch_up()
            yield self

    @property
    def n_serials(self) -> int:
        """Serials given so far."""
        return self._n

    @property
    def alive(self) -> BitMap:
        """The serials of the documents that are not deleted; not to be changed."""
        return self._alive

    def document(self, serial: int) -> Document:
        """The document of a serial."""
        number = bisect_right(self._starts, serial) - 1
        return self._chunks[number].row(serial - self._starts[number])

    def first_of_last(self, n: int | None) -> int:
        """The serial of the first of the last n documents; 0 for None."""
        if n is None or n >= len(self._alive):
            return 0
        return self._alive[len(self._alive) - n] if n else self._n

    def column(self, program: Program) -> Column:
        """The column of an expression over the earlier document."""
        name = identity(program)
        column = self._columns.get(name)
        if column is None:
            column = Column(program)
            for chunk in self._chunks:
                chunk.extend(column, 0)
            self._columns[name] = column
        return column

    def groups(self, keys: Sequence[Program], filter_: Program | None = None) -> GroupIndex:
        """The groups of documents by the values of some expressions."""
        name = (tuple(identity(key) for key in keys), None if filter_ is None else identity(filter_))
        groups = self._groups.get(name)
        if groups is None:
            groups = GroupIndex([self.column(key) for key in keys], filter_)
            groups.add(0, self._passes(filter_, 0))
            self._groups[name] = groups
        return groups

    def sorted_index(self, program: Program) -> SortedIndex:
        """The values of an expression in order."""
        name = identity(program)
        index = self._sorted.get(name)
        if index is None:
            index = SortedIndex(self.column(program), self.groups((program,)), self.is_alive)
            index.load()
            self._sorted[name] = index
        return index

    def _serial(self, position: int) -> int:
        n = len(self._alive)
        if not -n <= position < n:
            raise IndexError(f"no document at position {position}: the store has {n:,}")
        return self._alive[int(position)]

    def _append(self, chunk: Chunk) -> None:
        self._chunks.append(chunk)
        self._starts.append(self._n)
        self._count(len(chunk))

    def _count(self, n: int) -> None:
        self._alive.add_range(self._n, self._n + n)
        self.is_alive.extend(np.ones(n, np.bool_))
        self._n += n

    def _delete(self, serials: list[int]) -> None:
        with self._indexing():
            for serial in serials:
                self.is_alive[serial] = False
                self._alive.discard(serial)
                self.deleted.append(serial)
                if serial < self._n_indexed:
                    self._remove(serial)
        n_dead = self._n - len(self._alive)
        if n_dead > _DEAD and n_dead > len(self._alive):
            documents = self._documents()
            self._begin()
            self._append(RowChunk(documents))

    def _remove(self, serial: int) -> None:
        for groups in self._groups.values():
            groups.remove(serial)
        for name, index in self._sorted.items():
            of_value = self._groups[(name,), None]
            group = int(of_value.group[serial])
            index.remove(serial, bool(of_value.n_documents[group] == 0))

    def _catch_up(self) -> None:
        if self._is_indexing:  # whoever was at it was interrupted
            self._forget_indexes()
            self.generation += 1
        start, self._n_indexed = self._n_indexed, self._n
        if start == self._n:
            return
        with self._indexing():
            first = bisect_right(self._starts, start) - 1
            for column in self._columns.values():
                for number in range(first, len(self._chunks)):
                    self._chunks[number].extend(column, max(0, start - self._starts[number]))
            for groups in self._groups.values():
                groups.add(start, self._passes(groups.filter, start))
            for index in self._sorted.values():
                if self._n - start > len(self._alive) // 8:
                    index.load()
                    continue
                for serial in range(start, self._n):
                    if self.is_alive[serial]:
                        index.add(serial)

    @contextmanager
    def _indexing(self) -> Iterator[None]:
        """What is interrupted in here leaves indexes that are made anew."""
        self._is_indexing = True
        yield
        self._is_indexing = False

    def _passes(self, filter_: Program | None, start: int) -> Any:
        passes = self.is_alive.array[start : self._n].copy()
        if filter_ is not None:
            for place in np.flatnonzero(passes).tolist():
                passes[place] = run(filter_, {}, self.document(start + place)) is True
        return passes


def _chunk_of(documents: Any) -> Chunk:
    from profilec.runtime.columns import frame_of, n_rows_of

    n_rows = n_rows_of(documents)
    if n_rows is not None:
        frame = frame_of(documents, 0, n_rows)
        chunk = frame_chunk(frame)
        if chunk is not None:
            return chunk
        documents = frame.rows(frame.columns)
    added: list[Document] = []
    for number, document in enumerate(documents):
        try:
            added.append(copied(document))
        except DocumentError as error:
            raise DocumentError(f"document {number}: {error}") from None
    return RowChunk(added)


def copied(document: Document) -> dict[str, Any]:
    """A document of our own: no part is shared with the one given.

    Raises:
        DocumentError: it is no mapping, or holds a value of no kind.
    """
    if not isinstance(document, Mapping):
        raise DocumentError(f"a document is a mapping of attribute to value, not {type(document).__name__}")
    copy: dict[str, Any] = {}
    for name, value in document.items():
        try:
            copy[_checked_name(name)] = _copied_value(value)
        except DocumentError as error:
            raise DocumentError(f"attribute {name!r}: {error}") from None
        except RecursionError:
            raise DocumentError(f"attribute {name!r} is nested too deeply") from None
    return copy


def _copied_value(value: Any) -> Value:
    ours = from_document(value)
    if isinstance(ours, list):
        return [_copied_value(element) for element in ours]
    if isinstance(ours, Mapping):
        return {_checked_name(name): _copied_value(element) for name, element in ours.items()}
    return ours


def _checked_name(name: Any) -> str:
    if not isinstance(name, str):
        raise DocumentError(f"the name of an attribute is a string, not {type(name).__name__}")
    return str(name)
