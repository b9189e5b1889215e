"""Documents as rows of a table: pyarrow and pandas, with the column types that the style draws.

Only for worlds that are `tabular`: every value is of its column's type, NULL or (doubles) NaN.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
from structures import Document


def _of_spark() -> dict[str, pa.DataType]:
    """A type of each column that Spark has."""
    day, moment = pa.date32(), pa.timestamp("us", "UTC")
    part = pa.struct({"name": pa.string(), "w": pa.float64()})
    return _types(random.Random(0)) | {
        "date": pa.string(),
        "day": day,
        "given": day,
        "sold_at": moment,
        "escape": moment,
        "tags": pa.list_(pa.string()),
        "scores": pa.list_(pa.float64()),
        "days": pa.list_(day),
        "items": pa.list_(pa.struct({"sku": pa.string(), "qty": pa.int64(), "parts": pa.list_(part)})),
        "user": pa.struct({"name": pa.string(), "address": pa.struct({"since": day})}),
    }


def arrow_table(documents: Sequence[Document], style: int) -> pa.Table:
    """The documents as one table; chunked, sliced or dictionary-encoded as `style` says."""
    draw = random.Random(style)
    table = pa.table(
        {
            name: pa.array(values, _narrower(values, type_, draw))
            for name, type_ in _types(draw).items()
            for values in [[document.get(name) for document in documents]]
            # A column that holds nothing may as well not be there.
            if any(value is not None for value in values) or draw.random() < 0.3
        }
    )
    if table.num_columns == 0:
        table = pa.table({"nothing": pa.nulls(len(documents))})
    for place, field in enumerate(table.schema):
        if field.type == pa.string() and draw.random() < 0.4:
            table = table.set_column(place, field.name, table.column(place).dictionary_encode())
    match draw.randrange(3):
        case 0:
            cut = draw.randrange(len(documents) + 1)
            return pa.concat_tables([table.slice(0, cut), table.slice(cut)])
        case 1:
            around = pa.concat_tables([table.slice(0, 1), table, table.slice(0, 1)]).unify_dictionaries()
            return around.combine_chunks().slice(1, len(documents))
    return table


def _types(draw: random.Random) -> dict[str, pa.DataType]:
    text = draw.choice((pa.string(), pa.large_string()))
    array = draw.choice((pa.list_, pa.large_list))
    day = draw.choice((pa.date32(), pa.date64()))
    moment = draw.choice((pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.timestamp("ns")))
    part = pa.struct({"name": text, "w": pa.float64()})
    return {
        "price": pa.int64(),
        "last": pa.int64(),
        "weight": pa.float64(),
        "größe": pa.float64(),
        "cost": pa.decimal128(38, 10),
        "brand": pa.string(),
        "date": text,
        "flag": pa.bool_(),
        "matches": pa.bool_(),
        "day": day,
        "given": day,
        "sold_at": moment,
        "escape": moment,
        "tags": array(text),
        "scores": array(pa.float64()),
        "days": array(day),
        "items": array(pa.struct({"sku": text, "qty": pa.int64(), "parts": array(part)})),
        "user": pa.struct({"name": text, "address": pa.struct({"since": day})}),
    }


def _narrower(values: list[Any], type_: pa.DataType, draw: random.Random) -> pa.DataType:
    """Half of the time, a type with fewer bits that holds the same numbers."""
    numbers = [value for value in values if value is not None]
    if draw.random() < 0.5 or not numbers:
        return type_
    if type_ == pa.int64():
        for low, high, narrow in ((0, 2**64, pa.uint64()), (-(2**7), 2**7, pa.int8()), (-(2**31), 2**31, pa.int32())):
            if all(low <= number < high for number in numbers):
                return narrow
    if type_ == pa.float64() and all(math.isnan(n) or _is_same_in_32_bits(n) for n in numbers):
        return pa.float32()
    return type_


def _is_same_in_32_bits(number: float) -> bool:
    """A 32-bit float stands for the shortest decimal of its own width, and an integer for itself."""
    if abs(number) >= 1e30:
        return False
    narrow = np.float32(number)
    return float(narrow) == number if number.is_integer() else float(str(narrow)) == number


def pandas_frame(documents: Sequence[Document], style: int) -> pandas.DataFrame:
    """The documents as a frame, each column with one of the dtypes that pandas users have."""
    draw = random.Random(style)
    dtypes: dict[str, Sequence[str]] = {
        "price": ("Int64", "object"),
        "last": ("Int64", "object"),
        "weight": ("float64", "object", "Float64"),
        "größe": ("float64", "object"),
        "brand": ("object", "string", "category"),
        "flag": ("boolean", "object"),
        "matches": ("boolean", "object"),
        "sold_at": ("datetime64[ns]", "datetime64[us]", "object"),
    }
    columns: dict[str, Any] = {}
    for name in _types(draw):
        values = [document.get(name) for document in documents]
        if all(value is None for value in values) and draw.random() < 0.7:
            continue
        columns[name] = pandas.Series(values, dtype=draw.choice(dtypes.get(name, ("object",))))
    frame = pandas.DataFrame(columns, index=range(10, 10 + len(documents)))
    for name, values in columns.items():
        frame[name] = values.set_axis(frame.index)
    return frame


TYPES_OF_COLUMNS = _of_spark()
