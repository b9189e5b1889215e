"""Whether documents are what SCHEMA declares: one that is not is refused, since no join would find what was meant.

In: documents and a schema. Out: nothing, or DocumentError for the first document that has an attribute of another type
than is declared, or that lacks one that is NOT NULL. ISO strings of DATE and TIMESTAMP attributes are these.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from profilec.runtime.program import Document
from profilec.runtime.store.chunks import Chunk
from profilec.runtime.store.columns import OPAQUE_CODE, Column
from profilec.values.kinds import DocumentError, Kind, Value, from_document, kind_of
from profilec.values.numbers import exact, normal, print_number
from profilec.values.paths import lookup
from profilec.values.types import Field, Schema, Type, read_as

_MOST_SHOWN = 40
_USUAL = {"NUMBER": (float, int, Decimal), "INTEGER": (int,), "STRING": (str,), "BOOLEAN": (bool,)}
"""PERF: whatever is of one of these classes is of the type."""


def expect_declared(document: Document, schema: Schema) -> None:
    """Raises DocumentError where a document contradicts the schema."""
    for field in schema.fields:
        if type(document.get(field.name)) not in _USUAL.get(field.type.name, ()):
            fault = _fault_of(document, field)
            if fault is not None:
                raise DocumentError(fault)


def expect_all_declared(chunk: Chunk, schema: Schema) -> None:
    """Raises DocumentError for the first document that contradicts the schema; the message says which, from 0."""
    faults = [fault for field in schema.fields if (fault := _first_fault(chunk, field)) is not None]
    if faults:
        number, message = min(faults, key=lambda fault: fault[0])
        raise DocumentError(f"document {number}: {message}")


def all_optional(schema: Schema) -> Schema:
    """The same schema, in which nothing is NOT NULL: that of documents of which only a part is told."""
    return Schema(_all_optional(schema.fields))


def _all_optional(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(Field(field.name, _optional_within(field.type)) for field in fields)


def _optional_within(type_: Type) -> Type:
    element = None if type_.element is None else _optional_within(type_.element)
    return Type(type_.name, element, _all_optional(type_.fields))


def _first_fault(chunk: Chunk, field: Field) -> tuple[int, str] | None:
    """The first document that contradicts a field, and how. PERF: each distinct value is looked at once."""
    parts = tuple(field.name.split("."))
    column = Column((("attribute", 1, parts, None),))
    chunk.extend(column, 0)
    codes = column.codes.array
    used = np.unique(codes).tolist()
    wrong = {code for code in used if code > OPAQUE_CODE and _fault(column.values[code], field.type) is not None}
    if field.not_null:
        wrong.add(0)
    wrong.add(OPAQUE_CODE)
    for place in np.flatnonzero(np.isin(codes, list(wrong))).tolist():
        fault = _fault_of(chunk.row(place), field)
        if fault is not None:
            return place, fault
    return None


def _fault_of(document: Document, field: Field) -> str | None:
    value = lookup(document, tuple(field.name.split(".")))
    if value is None:
        return f"attribute {field.name!r} is NOT NULL in SCHEMA, and missing" if field.not_null else None
    fault = _fault(value, field.type)
    return None if fault is None else f"attribute {field.name!r} is {field.type} in SCHEMA, and {fault}"


def _fault(value: Value, type_: Type) -> str | None:
    """What is wrong with a value that is not NULL: words to go after the type; None where nothing is."""
    value = read_as(value, type_)
    if type_.element is not None and isinstance(value, list):
        return _of_elements(value, type_.element)
    if type_.name == "RECORD" and isinstance(value, Mapping):
        return _of_record(value, type_)
    if kind_of(value) is not type_.kind or kind_of(value) is Kind.OPAQUE:
        return f"is {_shown(value)}"
    if type_.name == "INTEGER" and not isinstance(normal(exact(value)), int):  # type: ignore[arg-type]
        return f"is {_shown(value)}"
    return None


def _of_elements(value: list[Any], element: Type) -> str | None:
    for one in map(from_document, value):
        if one is not None and _fault(one, element) is not None:
            return f"has {_shown(one)}"
    return None


def _of_record(value: Mapping[str, Any], type_: Type) -> str | None:
    for field in type_.fields:
        inner = lookup(value, tuple(field.name.split(".")))
        if inner is None:
            if field.not_null:
                return f"its {field.name}, which is NOT NULL, is missing"
            continue
        fault = _fault(inner, field.type)
        if fault is not None:
            return f"its {field.name}, which is {field.type}, {fault}"
    return None


def _shown(value: Value) -> str:
    if isinstance(value, list | Mapping):
        return "an array" if isinstance(value, list) else "a record"
    is_number = kind_of(value) is Kind.NUMBER
    text = print_number(value) if is_number else repr(value) if isinstance(value, str) else str(value)  # type: ignore[arg-type]
    return f"{text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + '…'}, a {kind_of(value).name.lower()}"
