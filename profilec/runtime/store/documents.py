"""The document store in memory: the earlier documents, oldest first.

In: documents one by one, as a list, an Arrow table or a pandas frame. Out: a sequence that
quantified joins range over. What is added is copied and made of our values, so that the caller
may go on changing its own, and a document that no join could read is refused when it comes.

Invariant: a reader that began before a change sees the store as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from profilec.runtime.program import Document
from profilec.values.kinds import DocumentError, Value, from_document
from profilec.values.locks import new_lock


class DocumentStore(Sequence[Document]):
    """Earlier documents, oldest first.

    >>> store = DocumentStore()
    >>> store.add({"isbn": "1"})
    >>> store.extend([{"isbn": "2"}, {"isbn": "3"}])
    >>> store.delete([0])
    >>> len(store), [document["isbn"] for document in store]
    (2, ['2', '3'])
    """

    __slots__ = ("_documents", "_writing")

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._documents: list[Document] = []
        self._writing = new_lock()
        self.extend(documents)

    def __len__(self) -> int:
        return len(self._documents)

    @overload
    def __getitem__(self, position: int) -> Document: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Document]: ...
    def __getitem__(self, position: int | slice) -> Document | Sequence[Document]:
        return self._documents[position]

    def __iter__(self) -> Iterator[Document]:
        return iter(self.snapshot())

    def __reduce__(self) -> tuple[type[DocumentStore], tuple[list[Document]]]:
        return DocumentStore, (list(self),)

    def snapshot(self) -> Sequence[Document]:
        """The store as it is now; what is added or deleted later is not seen."""
        return _Snapshot(self._documents, len(self._documents))

    def add(self, document: Document) -> None:
        """Adds one document, as the newest.

        Raises:
            DocumentError: it is no mapping, or holds a value of no kind.
        """
        ours = copied(document)
        with self._writing:
            self._documents.append(ours)

    def extend(self, documents: Any) -> None:
        """Adds documents (an iterable of mappings, an Arrow table or record batch, a pandas frame), or none of them.

        Raises:
            DocumentError: one of them is refused; the message says which, counting from 0.
        """
        from profilec.runtime.columns import frame_of, n_rows_of

        n_rows = n_rows_of(documents)
        if n_rows is not None:
            frame = frame_of(documents, 0, n_rows)
            documents = frame.rows(frame.columns)
        added: list[Document] = []
        for number, document in enumerate(documents):
            try:
                added.append(copied(document))
            except DocumentError as error:
                raise DocumentError(f"document {number}: {error}") from None
        with self._writing:
            self._documents.extend(added)

    def delete(self, positions: Iterable[int]) -> None:
        """Takes the documents at these positions out; the others keep their order. A negative one counts from the end.

        Raises:
            IndexError: there is no such position; nothing is deleted.
        """
        with self._writing:
            n_documents = len(self._documents)
            gone: set[int] = set()
            for position in positions:
                if not -n_documents <= position < n_documents:
                    raise IndexError(f"no document at position {position}: the store has {n_documents:,}")
                gone.add(int(position) % n_documents)
            self._documents = [document for place, document in enumerate(self._documents) if place not in gone]

    def to_arrow(self) -> Any:
        """The documents as a `pyarrow.Table`, a column for each attribute, in the order of first appearance.

        Raises:
            ValueError: an attribute holds values for which Arrow has no one exact type (numbers here, strings there).
        """
        from profilec.runtime.store.arrow_table import table_of

        return table_of(list(self))


class _Snapshot(Sequence[Document]):
    """The first `n` documents of a list that only ever grows: `delete` puts a new list in its place."""

    __slots__ = ("_documents", "_n")

    def __init__(self, documents: list[Document], n: int) -> None:
        self._documents = documents
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, position: int) -> Document: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Document]: ...
    def __getitem__(self, position: int | slice) -> Document | Sequence[Document]:
        if isinstance(position, slice):
            return [self._documents[number] for number in range(self._n)[position]]
        return self._documents[range(self._n)[position]]


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
