"""Documents that are given, as documents of our own: no part is shared, and every value is one of ours.

In: mappings, an Arrow table or record batch, a pandas frame. Out: mappings of our values, or a chunk of columns.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

from profilec.runtime.program import Document
from profilec.runtime.store.chunks import Chunk, RowChunk, frame_chunk
from profilec.values.kinds import DocumentError, Value, expect_mapping, from_document


def chunk_of(documents: Any) -> Chunk:
    """What `extend` is given (an iterable of mappings, an Arrow table or record batch, a pandas frame), as a chunk.

    Raises:
        DocumentError: one of them is refused; the message says which, counting from 0.
    """
    from profilec.runtime.columns import frame_of, n_rows_of

    n_rows = n_rows_of(documents)
    if n_rows is not None:
        frame = frame_of(documents, 0, n_rows)
        chunk = frame_chunk(frame)
        if chunk is not None:
            return chunk
        documents = frame.rows(frame.columns)
    if isinstance(documents, Mapping):
        raise TypeError("extend takes documents, and a mapping is one: as in extend([…]), or add(…)")
    if not isinstance(documents, Iterable) or isinstance(documents, str | bytes):
        raise TypeError(
            f"extend takes an iterable of mappings, a pyarrow Table or RecordBatch, or a pandas DataFrame, "
            f"not {type(documents).__name__}"
        )
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
    if (
        type(document) is dict
        and _PLAIN.issuperset(map(type, document.values()))
        and _NAMES.issuperset(map(type, document))
    ):
        plain = document.copy()
        if not any(map(operator.ne, plain.values(), plain.values())):  # NaN alone is not what it is
            return plain
    expect_mapping(document)
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
    if type(value) in _AS_THEY_ARE:
        return value  # type: ignore[no-any-return]
    ours = from_document(value)
    if isinstance(ours, list):
        return [_copied_value(element) for element in ours]
    if isinstance(ours, Mapping):
        return {_checked_name(name): _copied_value(element) for name, element in ours.items()}
    return ours


_AS_THEY_ARE = frozenset((str, int, bool, type(None)))
"""PERF: values of these types are ours."""
_PLAIN = _AS_THEY_ARE | {float}
_NAMES = frozenset((str,))
"""PERF: a document of these names and values is copied as one."""


def _checked_name(name: Any) -> str:
    if type(name) is str:
        return name
    if not isinstance(name, str):
        raise DocumentError(f"the name of an attribute is a string, not {type(name).__name__}")
    return str(name)
