"""Finding an attribute in a document: first a key of that very name, then a path.

`parts` is the attribute's name cut at its dots; a back-quoted name is one part, dots and all.
A path that crosses an array gives the array of what its records hold: one level, no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from profilec.values.kinds import DocumentError, Value, from_document


def lookup(document: Mapping[str, Any], parts: tuple[str, ...]) -> Value:
    """The attribute's value; None where it is absent or NULL.

    >>> lookup({"a.b": 1, "a": {"b": 2}}, ("a", "b")), lookup({"a": [{"b": 1}, {}]}, ("a", "b"))
    (1, [1, None])

    Raises:
        DocumentError: the value is of no kind.
    """
    try:
        value = _lookup_raw(document, parts)
        if type(value) is list:
            return value
        return from_document(value)
    except DocumentError as error:
        raise DocumentError(f"attribute {'.'.join(parts)!r}: {error}") from None


def elements_of(value: Value) -> list[Value] | None:
    """The elements of an array, each as one of our values; None where the value is no array.

    Raises:
        DocumentError: an element is of no kind.
    """
    return [from_document(element) for element in value] if type(value) is list else None


def _lookup_raw(document: Mapping[str, Any], parts: tuple[str, ...]) -> Any:
    if len(parts) == 1:
        return document.get(parts[0])
    # NULL: a key that holds NULL is as good as absent, so the path is tried.
    flat = document.get(".".join(parts))
    if flat is not None and from_document(flat) is not None:
        return flat
    value: Any = document
    for depth, part in enumerate(parts):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif value is None:
            return None
        else:
            elements = from_document(value)
            if not isinstance(elements, list):
                return None
            rest = parts[depth:]
            return [_through_records(element, rest) for element in elements]
    return value


def _through_records(value: Any, parts: tuple[str, ...]) -> Any:
    for part in parts:
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value
