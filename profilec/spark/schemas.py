"""Schemas of DataFrames, looked at before a row is.

In: a set, and the schema of the rows to come. Out: the columns that it reads; or an error, which says what does not
fit: attributes without a column, columns of types that no document has, or of other types than SCHEMA declares.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from profilec.runtime.arrow_values import is_array, is_string
from profilec.runtime.image import Image
from profilec.runtime.program import Parts
from profilec.runtime.reads import EARLIER, paths_read
from profilec.spark.any_values import is_variant
from profilec.spark.binding import Binding, Missing, bind, expect_provided, expect_supported, path_type
from profilec.spark.errors import SparkMatchError
from profilec.spark.sharded_set import ShardedSet
from profilec.spark.type_names import type_name, unsent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from profilec.profileset import ProfileSet

_KINDS = {
    "numbers": ("NUMBER", "INTEGER"),
    "strings": ("STRING",),
    "booleans": ("BOOLEAN",),
    "dates": ("DATE",),
    "timestamps": ("TIMESTAMP",),
}


def check_columns(
    spark: SparkSession, profiles: ProfileSet | ShardedSet, schema: Any, json: Collection[str], missing: str
) -> Binding:
    """How the set reads rows of the schema: of a DataFrame, a StructType or the name of a table.

    Raises:
        SparkMatchError: the set cannot be matched with such rows, or `missing` says so.
    """
    return check_schema(profiles, arrow_schema_of(spark, schema), json, missing)


def check_schema(
    profiles: ProfileSet | ShardedSet, schema: pa.Schema, json: Collection[str], missing: Missing
) -> Binding:
    """As `check_columns`, of an Arrow schema."""
    paths = paths_of(profiles)
    binding = bind(paths, schema, json)
    expect_supported(binding, schema)
    expect_provided(binding, schema.names, missing)
    for message in _contradictions(profiles, paths, schema, json):
        raise SparkMatchError(message)
    for message in _comparisons_in_vain(profiles, schema, json):
        warnings.warn(message, stacklevel=4)
    return binding


def paths_of(profiles: ProfileSet | ShardedSet) -> list[Parts]:
    """The paths that profiles read, in the order of text."""
    return sorted({parts for image in images_of(profiles) for parts in paths_read(image)})


def images_of(profiles: ProfileSet | ShardedSet) -> list[Image]:
    """That of a set, or those of its shards."""
    return profiles.images() if isinstance(profiles, ShardedSet) else [profiles._image]


def check_documents(
    profiles: ProfileSet | ShardedSet, schema: pa.Schema, json: Collection[str], missing: str
) -> Binding:
    """As `check_schema`, of the earlier documents of joins."""
    paths = sorted({parts for image in images_of(profiles) for parts in paths_read(image, EARLIER)})
    try:
        binding = bind(paths, schema, json)
        expect_supported(binding, schema)
        for message in _contradictions(profiles, paths, schema, json):
            raise SparkMatchError(message)
    except SparkMatchError as error:
        raise SparkMatchError(f"documents: {error}") from None
    expect_provided(binding, schema.names, missing, "documents: ")
    return binding


def arrow_schema_of(spark: SparkSession, schema: Any) -> pa.Schema:
    """The Arrow schema of the rows that Spark will send.

    Raises:
        TypeError: it is no schema.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    if isinstance(schema, str):
        schema = spark.table(schema)
    struct = getattr(schema, "schema", schema)
    if not isinstance(struct, StructType):
        raise TypeError(f"schema takes a DataFrame, a StructType or the name of a table, not {type(schema).__name__}")
    fields = []
    for field in struct.fields:
        try:
            fields.append(to_arrow_schema(StructType([field]), timezone="UTC").field(0))
        except PySparkException:  # Spark sends no such column to Python: refused where it is asked for
            fields.append(unsent(field.name, field.dataType.simpleString().upper()))
    return pa.schema(fields)


def _contradictions(
    profiles: ProfileSet | ShardedSet, paths: list[Parts], schema: pa.Schema, json: Collection[str]
) -> Iterator[str]:
    """Columns of other types than SCHEMA declares."""
    declared = profiles.schema
    for parts in paths if declared is not None else ():
        type_ = None if declared is None else declared.type_of(parts)
        kind = path_type(parts, schema, json)
        if type_ is not None and kind is not None and not _fits(type_.name, kind):
            name = ".".join(parts)
            yield (
                f"SCHEMA declares {name} as {type_}, and the column is {type_name(kind)}: CAST the column, or "
                f"compile the profiles with another SCHEMA"
            )


def _comparisons_in_vain(profiles: ProfileSet | ShardedSet, schema: pa.Schema, json: Collection[str]) -> Iterator[str]:
    """Columns that are compared with constants of other types only; that is UNKNOWN in every row."""
    types: dict[str, tuple[Parts, list[str]]] = {}
    for image in images_of(profiles):
        for slot in image.slots:
            if slot.parts is not None and slot.type_ is None:
                kinds = [own for kind, own in _KINDS.items() if len(getattr(slot.constants, kind))]
                types.setdefault(slot.name, (slot.parts, []))[1].extend(name for own in kinds for name in own)
    for attribute, (parts, names) in types.items():
        kind = path_type(parts, schema, json)
        if kind is not None and names and not any(_fits(name, kind) for name in names):
            yield (
                f"{attribute} is compared with {names[0]} only, and the column is {type_name(kind)}: that is UNKNOWN "
                f"in every row; CAST the column if that is not meant"
            )


def _fits(name: str, kind: pa.DataType) -> bool:
    """Whether values of the Arrow type can be of the declared one."""
    types = pa.types
    if types.is_null(kind) or is_variant(kind):
        return True
    match name:
        case "NUMBER" | "INTEGER":
            return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))
        case "STRING":
            return bool(is_string(kind))
        case "BOOLEAN":
            return bool(types.is_boolean(kind))
        case "DATE":
            return bool(types.is_date(kind) or is_string(kind))
        case "TIMESTAMP":
            return bool(types.is_timestamp(kind) or is_string(kind))
        case "ARRAY":
            return bool(is_array(kind))
        case "RECORD":
            return bool(types.is_struct(kind) or types.is_map(kind) or is_array(kind))
    return True
