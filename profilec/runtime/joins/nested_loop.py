"""Quantified joins by nested loop: the body is asked of every earlier document in scope.

In: a join term, the new document, the store. Out: TRUE or FALSE, never UNKNOWN (Tatbul 2001, 4.2:
FORALL holds iff every bit of the document bit vector is 1, EXISTS iff one is). The plain
definition; nothing is indexed.

Scope: LAST n takes the store's last n documents; WITHIN keeps those d with t - interval <= d.t <= t;
WHERE then selects. Over an empty range EXISTS is FALSE and FORALL is TRUE.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from profilec.runtime.program import Document, JoinTerm, run
from profilec.values.compare import compare
from profilec.values.dates import add_interval
from profilec.values.kinds import Date, Timestamp, Value
from profilec.values.paths import lookup
from profilec.values.types import read_as


def decide(term: JoinTerm, document: Document, store: Sequence[Document] | None) -> bool:
    """The truth of a quantifier; no store is an empty one.

    >>> body = (("attribute", 0, ("price",), None), ("attribute", 1, ("price",), None), ("compare", "<"))
    >>> store = [{"price": 10}, {"price": 25}]
    >>> [decide(JoinTerm(kind, body), {"price": 20}, store) for kind in ("exists", "forall")]
    [True, False]
    """
    truths = (run(term.body, document, old) is True for old in in_scope(term, document, store or ()))
    return any(truths) if term.kind == "exists" else all(truths)


def in_scope(term: JoinTerm, document: Document, store: Sequence[Document]) -> Iterator[Document]:
    """The earlier documents that the term ranges over, oldest first."""
    first = 0 if term.last is None else max(0, len(store) - term.last)
    window = _window(term, document)
    for position in range(first, len(store)):
        old = store[position]
        if window is not None and not _is_within(old, window, term):
            continue
        if term.where is not None and run(term.where, document, old) is not True:
            continue
        yield old


def _window(term: JoinTerm, document: Document) -> tuple[Value, Value] | None:
    """The first and the last time that WITHIN lets through; NULLs let nothing through. None: there is no WITHIN."""
    if term.within is None or term.within_of is None:
        return None
    time = read_as(lookup(document, term.within_of), term.within_type)
    if not isinstance(time, Date | Timestamp):
        return None, None
    return add_interval(time, term.within, -1), time


def _is_within(old: Document, window: tuple[Value, Value], term: JoinTerm) -> bool:
    assert term.within_of is not None
    time = read_as(lookup(old, term.within_of), term.within_type)
    return compare("<=", window[0], time) is True and compare("<=", time, window[1]) is True
