"""Types as Spark SQL writes them, for messages: workers and checks know columns by their Arrow types."""

from __future__ import annotations

import pyarrow as pa

from profilec.runtime.arrow_values import is_array, is_string
from profilec.spark.any_values import is_variant

UNSENT = pa.month_day_nano_interval()
"""The type of a column that Spark sends to no Python function, as an interval of months; no document's value has it."""
_TYPE = b"profilec.spark.type"
_SIMPLE = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.null(): "VOID",
    UNSENT: "INTERVAL",
}


def unsent(name: str, type_: str) -> pa.Field:
    """A column of a type that Spark sends to no Python function, which `type_` names."""
    return pa.field(name, UNSENT, metadata={_TYPE: type_})


def type_of(field: pa.Field) -> str:
    """The type of a column."""
    own = (field.metadata or {}).get(_TYPE)
    return type_name(field.type) if own is None else own.decode()


def type_name(kind: pa.DataType) -> str:
    """What Spark SQL calls an Arrow type.

    >>> type_name(pa.list_(pa.large_string())), type_name(pa.timestamp("us", tz="UTC"))
    ('ARRAY<STRING>', 'TIMESTAMP')
    >>> type_name(pa.struct({"city": pa.string(), "at": pa.timestamp("us")}))
    'STRUCT<city: STRING, at: TIMESTAMP_NTZ>'
    """
    types = pa.types
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if is_string(kind):
        return "STRING"
    if is_variant(kind):
        return "VARIANT"
    if is_array(kind):
        return f"ARRAY<{type_name(kind.value_type)}>"
    if types.is_map(kind):
        return f"MAP<{type_name(kind.key_type)}, {type_name(kind.item_type)}>"
    if types.is_struct(kind):
        fields = [kind.field(number) for number in range(kind.num_fields)]
        return f"STRUCT<{', '.join(f'{field.name}: {type_of(field)}' for field in fields)}>"
    if types.is_timestamp(kind):
        return "TIMESTAMP_NTZ" if kind.tz is None else "TIMESTAMP"
    if types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    for name, is_so in {
        "DATE": types.is_date,
        "TIME": types.is_time,
        "INTERVAL DAY TO SECOND": types.is_duration,
        "BINARY": lambda one: types.is_binary(one) or types.is_large_binary(one),
    }.items():
        if is_so(kind):
            return name
    return str(kind)
