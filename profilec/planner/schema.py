"""The `schema` argument of `compile`: text, a mapping, a pyarrow schema, or a `Schema`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from profilec.grammar.diagnostics import Diagnostic, ProfileError
from profilec.grammar.statements import read_schema
from profilec.values.types import Field, Schema, Type


def schema_from(given: Any, report: Callable[[Diagnostic], None]) -> Schema | None:
    """The declared attributes; None where nothing is given. Errors of a text go to `report`.

    >>> str(schema_from({"price": "NUMBER"}, print).fields[0])
    'price NUMBER'

    Raises:
        TypeError: nothing that a schema, or a type of a mapping, can be read from.
        ProfileError: an unknown type in a mapping.
    """
    if given is None or isinstance(given, Schema):
        return given
    if isinstance(given, str):
        return _from_text(given, report)
    if isinstance(given, Mapping):
        for name, type_ in given.items():
            if not isinstance(type_, str | Type):
                raise TypeError(f"the type of {name!r} is given by its name, such as 'NUMBER', not as {type_!r}")
        found: list[Diagnostic] = []
        text = ", ".join(f"{_quoted(name)} {type_}" for name, type_ in given.items())
        schema = _from_text(text, found.append)
        if found:
            raise ProfileError(found)
        return schema
    if hasattr(given, "names") and hasattr(given, "field"):
        return Schema(tuple(_arrow_field(given.field(number)) for number in range(len(given.names))))
    raise TypeError(f"a schema is text, a mapping of name to type, or a pyarrow schema, not {type(given).__name__}")


def _from_text(text: str, report: Callable[[Diagnostic], None]) -> Schema:
    body = text.strip().rstrip(";")
    if body[:6].upper() != "SCHEMA":
        body = f"SCHEMA ({body})"
    return Schema(tuple(field for field, _, _ in read_schema(f"{body};", "schema", report)))


def _quoted(name: Any) -> str:
    return "`" + str(name).replace("`", "``") + "`"


def _arrow_field(field: Any) -> Field:
    return Field(field.name, _arrow_type(field.type), not field.nullable)


def _arrow_type(type_: Any) -> Type:
    import pyarrow.types as pt

    if pt.is_dictionary(type_):
        return _arrow_type(type_.value_type)
    if pt.is_list(type_) or pt.is_large_list(type_) or pt.is_fixed_size_list(type_):
        return Type("ARRAY", _arrow_type(type_.value_type))
    if pt.is_struct(type_):
        return Type("RECORD", fields=tuple(_arrow_field(type_.field(number)) for number in range(type_.num_fields)))
    for name, tests in (
        ("BOOLEAN", (pt.is_boolean,)),
        ("INTEGER", (pt.is_integer,)),
        ("NUMBER", (pt.is_floating, pt.is_decimal)),
        ("STRING", (pt.is_string, pt.is_large_string, pt.is_string_view)),
        ("DATE", (pt.is_date,)),
        ("TIMESTAMP", (pt.is_timestamp,)),
    ):
        if any(test(type_) for test in tests):
            return Type(name)
    raise TypeError(f"a column of Arrow type {type_} has no kind of ours")
