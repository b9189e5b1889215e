"""The earlier documents, on disk.

In: what `DocumentStore` takes. Out: the same, in all processes that opened the store, and after the next start.

The database `documents` is a log of what was done: number to ("begin",), ("add", documents), ("delete", positions) or
("retain", its arguments). A process does what it has not yet, in order, so that all come to the same documents. When
most of those in the log are gone, it is written anew: it begins, and adds those that are left.

Invariant: what is done in memory is what is in the log; where a commit fails, memory begins again from the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from profilec.living.records import key_of, number_of, sealed, unsealed
from profilec.runtime.imagefile.tokens import dumps, loads
from profilec.runtime.program import Document
from profilec.runtime.store.copies import chunk_of, copied
from profilec.runtime.store.documents import DocumentStore
from profilec.runtime.store.retention import Retention
from profilec.store.environment import RESCUE, Environment, StoreError
from profilec.values.locks import new_lock
from profilec.values.types import Schema

_TOGETHER = 5_000
"""Documents of one record."""
_FEW = 10_000
"""Documents that are gone up to which the log is not written anew."""


class StoredDocuments(DocumentStore):
    """See the module and `DocumentStore`."""

    def __init__(self, environment: Environment, schema: Schema | None) -> None:
        self._environment = environment
        self._following = new_lock()
        self._follower: int | None = None
        """The thread that holds it."""
        self._last = 0
        """The last record that was done."""
        self._seen = -1
        """The last commit that was looked at."""
        self._n_logged = 0
        """Documents in the log."""
        self._bounds: tuple[Any, ...] = (None, None, None)
        super().__init__((), () if schema is None else (schema,))

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled is in memory."""
        copy = DocumentStore(self.snapshot(), self._schema)
        copy.retain(*self._bounds)
        return copy.__reduce__()

    def __len__(self) -> int:
        self._see()
        return super().__len__()

    def __getitem__(self, position: Any) -> Any:
        self._see()
        return super().__getitem__(position)

    def snapshot(self) -> Sequence[Document]:
        """As `DocumentStore.snapshot`, with what other processes did."""
        self._see()
        return super().snapshot()

    def add(self, document: Document) -> None:
        """As `DocumentStore.add`; on disk when it returns."""
        with self._changing() as keep:
            super().add(document)
            keep("add", [copied(document)])

    def extend(self, documents: Any, *, partial: bool = False) -> None:
        """As `DocumentStore.extend`; on disk when it returns."""
        rows = [copied(row) for row in chunk_of(documents).rows()]
        if not rows:
            return
        with self._changing() as keep:
            super().extend(rows, partial=partial)
            for start in range(0, len(rows), _TOGETHER):
                keep("add", rows[start : start + _TOGETHER])

    def delete(self, positions: Iterable[int]) -> None:
        """As `DocumentStore.delete`; on disk when it returns."""
        listed = list(positions) if isinstance(positions, Iterable) and not isinstance(positions, str) else positions
        with self._changing() as keep:
            super().delete(listed)
            keep("delete", [int(position) for position in listed])

    def retain(self, max_documents: int | None = None, max_age: str | None = None, age_of: str | None = None) -> None:
        """As `DocumentStore.retain`; on disk when it returns, so that it holds when the store is opened again."""
        with self._changing() as keep:
            super().retain(max_documents, max_age, age_of)
            self._bounds = (max_documents, max_age, age_of)
            keep("retain", list(self._bounds))

    def follow(self, transaction: Any) -> None:
        """Does what others did."""
        with self._alone():
            self._follow(transaction)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Within, no other thread follows or changes the log."""
        with self._following:
            self._follower = get_ident()
            try:
                yield
            finally:
                self._follower = None

    def _see(self) -> None:
        """Does what others did, unless this thread is at it, or there is nothing to do."""
        if self._follower == get_ident():
            return
        if self._environment.last_commit() != self._seen:
            with self._environment.reading() as transaction:
                self.follow(transaction)
                self._seen = transaction.id()

    def _follow(self, transaction: Any) -> None:
        cursor = transaction.cursor(db=self._environment.documents)
        there = cursor.set_range(key_of(self._last + 1))
        while there:
            number = number_of(cursor.key())
            action, argument = read_record(self._environment, number, cursor.value())
            self._do(action, argument)
            self._last = number
            there = cursor.next()

    def _do(self, action: str, argument: Any) -> None:
        match action:
            case "begin":
                with self._held():
                    self._begin()
                    self._retention, self._ages = Retention(), None
                self._n_logged, self._bounds = 0, (None, None, None)
            case "add":
                super().extend(argument, partial=True)
                self._n_logged += len(argument)
            case "delete":
                super().delete(argument)
            case "retain":
                super().retain(*argument)
                self._bounds = tuple(argument)

    @contextmanager
    def _changing(self) -> Iterator[Any]:
        """Within, this process is the only one that changes documents, and has done what others did."""
        last = self._last
        try:
            with self._environment.writing() as transaction, self._alone():
                self._follow(transaction)
                last = self._last

                def keep(action: str, argument: Any) -> None:
                    self._last += 1
                    self._n_logged += len(argument) if action == "add" else 0
                    data = sealed(dumps((action, argument)).encode("utf-8", "surrogatepass"))
                    transaction.put(key_of(self._last), data, db=self._environment.documents)

                yield keep
                if self._n_logged > 2 * len(self) + _FEW:
                    self._write_anew(transaction, keep)
        except BaseException:
            if self._last != last:  # done here, and not in the log
                with self._alone(), self._environment.reading() as committed:
                    self._do("begin", None)
                    self._last = 0
                    self._follow(committed)
            raise

    def _write_anew(self, transaction: Any, keep: Any) -> None:
        rows: Sequence[Document] = self.snapshot()
        transaction.drop(self._environment.documents, delete=False)
        self._n_logged = 0
        keep("begin", None)
        for start in range(0, len(rows), _TOGETHER):
            keep("add", list(rows[start : start + _TOGETHER]))
        keep("retain", list(self._bounds))


def read_record(environment: Environment, number: int, data: Any) -> tuple[str, Any]:
    """What a record says.

    Raises:
        StoreError: that cannot be read.
    """
    try:
        action, argument = loads(unsealed(data).decode("utf-8", "surrogatepass"))
    except (ValueError, TypeError) as error:
        message = f"{environment.path} is damaged: record {number} of the documents: {error}; {RESCUE}"
        raise StoreError(message) from None
    return action, argument
