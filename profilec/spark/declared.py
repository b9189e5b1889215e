"""The schema of a DataFrame as SCHEMA would declare it, for the compiler.

In: `schema=` of `compile` and `check`. Out: a `Schema` where it is of Spark, else what was given.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from profilec.values.types import Field, Schema, Type

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


def declared(schema: Any) -> Any:
    """A DataFrame's schema, or a StructType, as a `Schema`; all else as it is. What has a type that SCHEMA has no word
    for, as MAP, VARIANT or BINARY, is left out with a warning, at any depth: profiles that ask for it are refused.
    Nothing is NOT NULL: what Spark knows of one DataFrame says nothing of the documents to come."""
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    struct = schema.schema if isinstance(schema, DataFrame) else schema
    if not isinstance(struct, StructType):
        return schema
    left_out: list[str] = []
    fields = tuple(_fields(struct, "", left_out))
    if left_out:
        warnings.warn(
            f"schema: SCHEMA has no type for {', '.join(left_out)}: left out, and unknown to profiles; where they ask "
            f"for that, declare no schema",
            stacklevel=3,
        )
    return Schema(fields)


def _fields(struct: StructType, path: str, left_out: list[str]) -> Iterator[Field]:
    for field in struct.fields:
        type_ = _type(field.dataType, f"{path}{field.name}", left_out)
        if type_ is not None:
            yield Field(field.name, type_)


def _type(kind: DataType, path: str, left_out: list[str]) -> Type | None:
    from pyspark.sql import types

    names = {
        types.BooleanType: "BOOLEAN",
        types.IntegralType: "INTEGER",
        types.NumericType: "NUMBER",
        types.StringType: "STRING",
        types.DateType: "DATE",
        types.TimestampType: "TIMESTAMP",
        types.TimestampNTZType: "TIMESTAMP",
    }
    if isinstance(kind, types.UserDefinedType):
        return _type(kind.sqlType(), path, left_out)
    if isinstance(kind, types.StructType):
        return Type("RECORD", fields=tuple(_fields(kind, f"{path}.", left_out)))
    if isinstance(kind, types.ArrayType):
        element = _type(kind.elementType, path, left_out)
        return None if element is None else Type("ARRAY", element)
    name = next((name for class_, name in names.items() if isinstance(kind, class_)), None)
    if name is None:
        left_out.append(f"{path} ({kind.simpleString().upper()})")
    return None if name is None else Type(name)
