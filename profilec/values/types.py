"""SCHEMA's types, and reading ISO strings as the dates that a schema says they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from profilec.values.functions import cast
from profilec.values.kinds import Kind, Value

SCALAR_TYPES = ("NUMBER", "INTEGER", "STRING", "BOOLEAN", "DATE", "TIMESTAMP")
TYPE_NAMES = (*SCALAR_TYPES, "ARRAY", "RECORD")


@dataclass(frozen=True, slots=True)
class Type:
    """A type of SCHEMA: a scalar's name, ARRAY with its element, or RECORD with its fields."""

    name: str
    element: Type | None = None
    fields: tuple[Field, ...] = ()

    @property
    def kind(self) -> Kind:
        if self.name in ("ARRAY", "RECORD"):
            return Kind.OPAQUE
        return Kind.NUMBER if self.name == "INTEGER" else Kind[self.name]

    def __str__(self) -> str:
        if self.element is not None:
            return f"ARRAY<{self.element}>"
        if self.name == "RECORD":
            return f"RECORD({', '.join(map(str, self.fields))})"
        return self.name


@dataclass(frozen=True, slots=True)
class Field:
    """One attribute that a schema declares."""

    name: str
    type: Type
    not_null: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.type}{' NOT NULL' if self.not_null else ''}"


@dataclass(frozen=True, slots=True)
class Schema:
    """The declared attributes of a set's documents; `fields` in the order of their declaration."""

    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)

    def type_of(self, parts: tuple[str, ...]) -> Type | None:
        """The declared type of an attribute; None where the schema does not know it.

        A path that crosses an array has the type ARRAY of what its records hold.

        >>> schema = Schema((Field("items", Type("ARRAY", Type("RECORD", fields=(Field("sku", Type("STRING")),)))),))
        >>> str(schema.type_of(("items", "sku")))
        'ARRAY<STRING>'
        """
        flat = self.field(".".join(parts))
        if flat is not None:
            return flat.type
        return _type_at(Type("RECORD", fields=self.fields), parts)


def _type_at(type_: Type, parts: tuple[str, ...]) -> Type | None:
    for depth, part in enumerate(parts):
        if type_.name == "ARRAY" and type_.element is not None and depth > 0:
            inner = _type_at(type_.element, parts[depth:])
            return None if inner is None else Type("ARRAY", inner)
        found = next((field.type for field in type_.fields if field.name == part), None)
        if found is None:
            return None
        type_ = found
    return type_


def read_as(value: Value, type_: Type | None) -> Value:
    """A document's value as its schema reads it: ISO strings of DATE and TIMESTAMP attributes, nothing else.

    A string that is no ISO date stays a string. Arrays and records are read through.

    >>> read_as("1970-01-02", Type("DATE")), read_as("soon", Type("DATE")), read_as("5", Type("NUMBER"))
    (Date(days=1), 'soon', '5')
    """
    if type_ is None or value is None or not reads_strings(type_):
        return value
    if type_.name in ("DATE", "TIMESTAMP"):
        if not isinstance(value, str):
            return value
        read = cast(value, type_.name)
        return value if read is None else read
    if type_.element is not None:
        return [read_as(element, type_.element) for element in value] if isinstance(value, list | tuple) else value
    return _read_record(value, type_) if isinstance(value, Mapping) else value


def reads_strings(type_: Type) -> bool:
    """Whether `read_as` can change anything under this type."""
    if type_.element is not None:
        return reads_strings(type_.element)
    if type_.name == "RECORD":
        return any(reads_strings(field.type) for field in type_.fields)
    return type_.name in ("DATE", "TIMESTAMP")


def _read_record(record: Mapping[str, Any], type_: Type) -> dict[str, Any]:
    declared = {field.name: field.type for field in type_.fields}
    return {name: read_as(value, declared.get(name)) for name, value in record.items()}
