"""The document store in memory: the earlier documents, oldest first, and what joins look them up by.

In: documents one by one, as a list, an Arrow table or a pandas frame. Out: a sequence that
quantified joins range over. What is added is copied and made of our values, so that the caller
may go on changing its own, and a document that no join could read is refused when it comes.

`retain` bounds what is kept, by number and by age (`retention`).

A document has a serial, which it keeps, and a position among those that are not deleted. Columns, groups and sorted
indexes are made when a join first asks for them, and brought up to date when the store is next read.

Invariant: whoever reads, sees the store as it was when reading began; a change that fails changes nothing.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from profilec.runtime.program import Document, Program, identity, run
from profilec.runtime.store.chunks import Chunk, RowChunk
from profilec.runtime.store.columns import Column
from profilec.runtime.store.copies import chunk_of, copied
from profilec.runtime.store.declared import all_optional, expect_all_declared, expect_declared
from profilec.runtime.store.groups import GroupIndex
from profilec.runtime.store.growing import Growing
from profilec.runtime.store.retention import Ages, Retention, read_retention
from profilec.runtime.store.sealed import SealedChunk
from profilec.runtime.store.sorted_index import SortedIndex
from profilec.values.kinds import DocumentError
from profilec.values.locks import new_lock
from profilec.values.types import Schema

_CHUNK = 2_048
"""Documents of a chunk that came one by one; so many are sealed."""
_DEAD = 65_536
"""Deleted documents from which on the store is rewritten, once they are more than half."""


class DocumentStore(Sequence[Document]):
    """Earlier documents, oldest first. `schema`: what is declared of them, one or none, which is read when it is asked
    for; a document that contradicts it is refused.

    >>> store = DocumentStore()
    >>> store.add({"isbn": "1"})
    >>> store.extend([{"isbn": "2"}, {"isbn": "3"}])
    >>> store.delete([0])
    >>> len(store), [document["isbn"] for document in store]
    (2, ['2', '3'])
    """

    def __init__(self, documents: Iterable[Document] = (), schema: Sequence[Schema] = ()) -> None:
        self._lock = new_lock()
        self._rewriting: list[Document] | None = None
        """The documents, while the store is rewritten."""
        self._schema = schema
        self._retention = Retention()
        self._ages: Ages | None = None
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
        with self._held():
            if isinstance(position, slice):
                return [copied(self.document(serial)) for serial in self._alive[position]]
            return copied(self.document(self._serial(position)))

    def __iter__(self) -> Iterator[Document]:
        return map(copied, self.snapshot())

    def __repr__(self) -> str:
        return f"<DocumentStore of {len(self):,} documents>"

    def __reduce__(self) -> tuple[Any, ...]:
        with self._held():
            greatest = None if self._ages is None else self._ages.greatest
            return _restored, (self._documents(), tuple(self._schema), self._retention, greatest)

    def snapshot(self) -> Sequence[Document]:
        """The documents as they are now; what is added or deleted later is not seen. They are not to be changed."""
        with self._held():
            return self._documents()

    def _declared(self) -> Schema | None:
        if not isinstance(self._schema, tuple):  # what is read from a file when it is asked for
            self._schema = tuple(self._schema)
        return self._schema[0] if self._schema else None

    def _documents(self) -> list[Document]:
        found: list[Document] = []
        for start, chunk in zip(self._starts, self._chunks, strict=True):
            alive = self.is_alive.array[start : start + len(chunk)]
            rows = chunk.rows()
            found += rows if alive.all() else [rows[place] for place in np.flatnonzero(alive).tolist()]
        return found

    def add(self, document: Document) -> None:
        """Adds one document, as the newest; what `retain` keeps no longer goes.

        Raises:
            DocumentError: it is no mapping, holds a value of no kind, or contradicts SCHEMA; or by `retain` it has no
                age, or is too old.
        """
        ours = copied(document)
        declared = self._declared()
        if declared is not None:
            expect_declared(ours, declared)
        with self._held():
            ages = self._whole_ages()
            time = None if ages is None else ages.admit(run(self._retention.time, {}, ours))
            with self._keeping(() if time is None else (time,)):
                last = self._chunks[-1] if self._chunks else None
                if isinstance(last, RowChunk) and len(last) < _CHUNK:
                    last.documents.append(ours)
                    self._count(1)
                else:
                    if isinstance(last, RowChunk):
                        self._chunks[-1] = SealedChunk(last.documents)
                    self._append(RowChunk([ours]))

    def extend(self, documents: Any, *, partial: bool = False) -> None:
        """Adds documents (an iterable of mappings, an Arrow table or record batch, a pandas frame), or none of them.

        What `retain` keeps no longer goes, as if they had been added one after another. `partial`: the documents tell
        only what matters, as those of a test do, and may lack what is NOT NULL.

        Raises:
            DocumentError: one of them is refused, as by `add`; the message says which, counting from 0.
        """
        chunk = chunk_of(documents)
        if len(chunk):
            declared = self._declared()
            if declared is not None:
                expect_all_declared(chunk, all_optional(declared) if partial else declared)
            with self._held():
                ages = self._whole_ages()
                times = () if ages is None else ages.admit_all(chunk.values(self._retention.time))
                with self._keeping(times):
                    self._append(chunk)

    def delete(self, positions: Iterable[int]) -> None:
        """Takes the documents at these positions out; the others keep their order. A negative one counts from the end.

        Raises:
            IndexError: there is no such position; nothing is deleted.
            TypeError: `positions` is no iterable of whole numbers; neither.
        """
        if not isinstance(positions, Iterable) or isinstance(positions, str | bytes):
            raise TypeError(f"delete takes the positions of documents, as in delete([0]), not {positions!r:.60}")
        with self._held():
            self._delete(sorted({self._serial(position) for position in positions}))

    def retain(self, max_documents: int | None = None, max_age: str | None = None, age_of: str | None = None) -> None:
        """Keeps only the newest documents, from now on: at once, and after each `add` and `extend`.

        Args:
            max_documents: how many are kept, the last added; None for all.
            max_age: an interval as in the language, '7 days', '1 month'. What is older goes: an age counts from the
                greatest time that the store has seen, whenever it came.
            age_of: the attribute, a path with dots, that tells a document's time: a DATE (its first instant) or a
                TIMESTAMP. Strings are read as such where SCHEMA declares it.

        With `max_age`, a document without that time is refused, and so is one that is too old already; a time that
        goes back by no more than `max_age` is taken. Bounds take the place of those before; without arguments, all
        documents are kept.

        Raises:
            DocumentError: with `max_age`, a document of the store has no such time. Nothing is changed.
            ValueError, TypeError: the arguments make no sense.

        >>> store = DocumentStore([{"n": 1}, {"n": 2}, {"n": 3}])
        >>> store.retain(max_documents=2)
        >>> store.add({"n": 4})
        >>> [document["n"] for document in store]
        [3, 4]
        """
        retention = read_retention(max_documents, max_age, age_of, self._declared())
        with self._held():
            ages = None if retention.max_age is None else Ages(retention)
            if ages is not None:
                self._fill(ages, retention)
            self._retention, self._ages = retention, ages
            self._forget_old()

    def to_arrow(self) -> Any:
        """The documents as a `pyarrow.Table`, a column for each attribute, in the order of first appearance.

        Raises:
            ValueError: an attribute holds values for which Arrow has no one exact type (numbers here, strings there).
        """
        from profilec.runtime.store.arrow_table import table_of

        return table_of(list(self.snapshot()))

    @contextmanager
    def reading(self) -> Iterator[DocumentStore]:
        """The store for a join: nothing is added or deleted meanwhile, and what was made for joins is up to date.

        What follows, but for `generation`, is for whoever is in here.
        """
        with self._held():
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

    def rows(self, serials: NDArray[np.int64], names: Collection[str]) -> list[Document]:
        """The documents of some serials, these ascending or descending; at least their attributes of these names."""
        found: list[Document] = []
        if not len(serials):
            return found
        numbers = np.searchsorted(self._starts, serials, side="right") - 1
        cuts = np.flatnonzero(np.diff(numbers)) + 1
        for part, number in zip(np.split(serials, cuts), numbers[[0, *cuts]].tolist(), strict=True):
            found += self._chunks[number].rows_at(part - self._starts[number], names)
        return found

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
        try:
            number = operator.index(position)
        except TypeError:
            raise TypeError(f"a position is a whole number, not {position!r:.60}") from None
        if not -n <= number < n:
            raise IndexError(f"no document at position {number}: the store has {n:,}")
        return self._alive[number]

    @contextmanager
    def _held(self) -> Iterator[None]:
        """The store for whoever reads or changes it. `_n` is what counts: whoever was interrupted before it was raised
        has added nothing."""
        with self._lock:
            if self._rewriting is not None:
                self._rewrite(self._rewriting)
            n_kept = self._starts[-1] + len(self._chunks[-1]) if self._starts and self._chunks else 0
            if len(self._starts) != len(self._chunks) or {n_kept, self._n, self.is_alive.n} != {self._n}:
                del self._chunks[len(self._starts) :], self._starts[len(self._chunks) :]
                while self._starts and self._starts[-1] >= self._n:
                    del self._chunks[-1], self._starts[-1]
                if self._chunks:
                    self._chunks[-1].cut(self._n - self._starts[-1])
                self.is_alive.resize(self._n)
                self._alive.remove_range(self._n, 2**32)
            yield

    def _rewrite(self, documents: list[Document]) -> None:
        """The documents as those of a new generation."""
        self._rewriting = documents
        self._begin()
        self._append(RowChunk(list(documents)))
        self._rewriting = None

    def _append(self, chunk: Chunk) -> None:
        if isinstance(chunk, RowChunk) and len(chunk) >= _CHUNK:
            chunk = SealedChunk(chunk.documents)
        self._chunks.append(chunk)
        self._starts.append(self._n)
        self._count(len(chunk))

    def _count(self, n: int) -> None:
        self._alive.add_range(self._n, self._n + n)
        self.is_alive.extend(np.ones(n, np.bool_))
        self._n += n

    def _whole_ages(self) -> Ages | None:
        """The ages of the documents; None where they do not matter."""
        ages = self._ages
        if ages is not None and not (ages.is_whole and ages.generation == self.generation):
            self._fill(ages, self._retention)  # the store was rewritten, or whoever changed it was interrupted
        return ages

    def _fill(self, ages: Ages, retention: Retention) -> None:
        times: list[int] = []
        for position, serial in enumerate(self._alive):
            try:
                times.append(ages.time_of(run(retention.time, {}, self.document(serial))))
            except DocumentError as error:
                raise DocumentError(f"the document at position {position}: {error}") from None
        ages.fill(times, self._alive, self.generation)

    @contextmanager
    def _keeping(self, times: Sequence[int]) -> Iterator[None]:
        """Documents of these times, where ages matter, are added in here; then those too old, and too many, go."""
        ages, start = self._ages, self._n
        if ages is not None:
            ages.is_whole = False
        yield
        if ages is not None:
            if len(times) > 1 and self._retention.max_documents is not None:
                self._forget_each(ages, times, start, self._retention.max_documents)
            else:
                ages.add(times, start)
        self._forget_old()

    def _forget_each(self, ages: Ages, times: Sequence[int], start: int, most: int) -> None:
        """What goes after each of some documents that were added together: by number that may be one which, later, age
        would have left."""
        kept = self._alive.copy()
        kept.remove_range(start, self._n)
        for serial, time in enumerate(times, start):
            kept.add(serial)
            ages.add((time,), serial)
            for old in ages.expired():
                kept.discard(old)
            if len(kept) > most:
                kept.remove(kept.min())
        self._delete(list(self._alive - kept))

    def _forget_old(self) -> None:
        ages, most = self._ages, self._retention.max_documents
        if ages is not None:
            ages.is_whole = False
            expired = [serial for serial in ages.expired() if serial in self._alive]
            if expired:
                self._delete(expired)
            ages.is_whole = True
        if most is not None and len(self._alive) > most:
            self._delete(list(self._alive[: len(self._alive) - most]))

    def _delete(self, serials: list[int]) -> None:
        with self._indexing():
            for serial in serials:
                self.is_alive[serial] = False
                self._alive.discard(serial)
                self.deleted.append(serial)
                if serial < self._n_indexed:
                    self._remove(serial)
        for serial in serials:
            number = bisect_right(self._starts, serial) - 1
            self._chunks[number].forget(serial - self._starts[number])
        n_dead = self._n - len(self._alive)
        if n_dead > _DEAD and n_dead > len(self._alive):
            self._rewrite(self._documents())

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
            column = self.column(filter_)
            passes &= column.codes_from(start) == column.code_of(True)
        return passes


def _restored(
    documents: list[Document], schema: Sequence[Schema], retention: Retention, greatest: int | None
) -> DocumentStore:
    """A store that was pickled."""
    store = DocumentStore(documents, schema)
    store._retention = retention
    store._ages = None if retention.max_age is None else Ages(retention, greatest)
    return store
