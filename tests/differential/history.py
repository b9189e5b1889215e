"""The store over time: which earlier documents each new document is matched against.

A history is what `structures.World` and `engines.Case` both are: earlier documents, new documents
in their order, changes of the store between them, and how many of the last ones are processed,
each of which joins the store after its own match. The store is a plain list here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from structures import Change, Document


class History(Protocol):
    @property
    def documents(self) -> Sequence[Document]: ...
    @property
    def earlier(self) -> Sequence[Document]: ...
    @property
    def changes(self) -> Sequence[Change]: ...
    @property
    def processed(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Span:
    """New documents that one state of the store is asked of; `changes` led from the last span's state to this one."""

    first: int
    documents: Sequence[Document]
    store: Sequence[Document]
    changes: Sequence[Change]
    is_processed: bool


def spans(history: History) -> Iterator[Span]:
    """All documents, in their order. What is processed has a span of its own, for the next one is asked of more."""
    n_documents = len(history.documents)
    n_matched = max(n_documents - history.processed, 0)
    starts = {change.before for change in history.changes} | {0, *range(n_matched, n_documents)}
    store = list(history.earlier)
    for first in sorted(start for start in starts if start < n_documents):
        end = min((start for start in starts if start > first), default=n_documents)
        changes = [change for change in history.changes if change.before == first]
        for change in changes:
            gone = {position % len(store) for position in positions(change, len(store))}
            store = [document for place, document in enumerate(store) if place not in gone]
            store += change.added
        documents = history.documents[first:end]
        is_processed = first >= n_matched
        yield Span(first, documents, store, changes, is_processed)
        if is_processed:
            store = [*store, *documents]


def positions(change: Change, n_documents: int) -> list[int]:
    """The positions to delete that a store of so many documents has: a smaller case may have too few."""
    return [position for position in change.deleted if -n_documents <= position < n_documents]
