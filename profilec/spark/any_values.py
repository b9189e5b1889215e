"""Columns whose values may be of any kind: VARIANT, and JSON text.

In: a `pyarrow.Array` as Spark sends it. Out: Python's values, as documents have them.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import localcontext
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from profilec.runtime.arrow_values import NANOS_PER_UNIT, array_values, is_array
from profilec.spark.errors import RowError
from profilec.values.json_text import JsonError, ObjectDecoder, json_kind
from profilec.values.kinds import Date, Timestamp, from_document


def is_variant(kind: pa.DataType) -> bool:
    """Whether an Arrow type is what Spark sends for VARIANT."""
    if not pa.types.is_struct(kind) or kind.num_fields != 2:
        return False
    fields = [kind.field(number) for number in range(2)]
    is_marked = any(b"variant" in (field.metadata or {}) for field in fields)
    return is_marked and {field.name for field in fields} == {"value", "metadata"}


def has_variant(kind: pa.DataType) -> bool:
    """Whether values of an Arrow type hold VARIANT somewhere."""
    if is_variant(kind):
        return True
    return any(has_variant(kind.field(number).type) for number in range(kind.num_fields))


def values_of(array: pa.Array) -> list[Any]:
    """The values of an array that holds VARIANT somewhere, as those of documents."""
    kind = array.type
    if not has_variant(kind):
        return array_values(array)
    if is_variant(kind):
        return [None if pair is None else _variant_value(pair) for pair in array.to_pylist()]
    is_null = array.is_null().to_pylist()
    found: Iterator[Any]
    if pa.types.is_map(kind):
        keys, items = array_values(array.keys), values_of(array.items)
        ends = array.offsets.to_pylist()
        found = (dict(zip(keys[a:b], items[a:b], strict=True)) for a, b in pairwise(ends))
    elif is_array(kind):
        items = values_of(array.flatten())
        lengths = [0 if is_none else len(element) for element, is_none in zip(array, is_null, strict=True)]
        ends = [0, *np.cumsum(lengths).tolist()]
        found = (items[a:b] for a, b in pairwise(ends))
    else:
        names = [kind.field(number).name for number in range(kind.num_fields)]
        lists = [values_of(array.field(number)) for number in range(kind.num_fields)]
        found = (dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True))
    return [None if is_none else value for value, is_none in zip(found, is_null, strict=True)]


@cache
def _variants() -> Any:
    """PySpark's reader of VARIANT, but for what it has otherwise than Spark: decimals of more than 28 digits, floats of
    32 bits, and days and times beyond Python's years."""
    from pyspark.sql.variant_utils import VariantUtils

    class Variants(VariantUtils):  # type: ignore[misc]
        @classmethod
        def _get_decimal(cls, value: bytes, pos: int) -> Any:
            with localcontext(prec=2 * _MOST_DIGITS):
                return super()._get_decimal(value, pos)

        @classmethod
        def _get_double(cls, value: bytes, pos: int) -> Any:
            number = super()._get_double(value, pos)
            is_float = cls._get_type_info(value, pos)[1] == VariantUtils.FLOAT
            return from_document(np.float32(number)) if is_float else number

        @classmethod
        def _get_date(cls, value: bytes, pos: int) -> Date:
            return Date(cls._read_long(value, pos + 1, 4, signed=True))

        @classmethod
        def _get_timestamp(cls, value: bytes, pos: int, zone_id: str) -> Timestamp:
            return Timestamp(cls._read_long(value, pos + 1, 8, signed=True) * NANOS_PER_UNIT["us"])

    return Variants


_MOST_DIGITS = 38


def _variant_value(pair: dict[str, bytes]) -> Any:
    return _variants().to_python(pair["value"], pair["metadata"])


def variant_documents(array: pa.Array) -> list[dict[str, Any]]:
    """Rows of VARIANT as documents; NULL is one without attributes.

    Raises:
        RowError: a row holds no object.
    """
    found = []
    for row, value in enumerate(values_of(array)):
        if value is not None and not isinstance(value, dict):
            raise RowError(row, f"a document is an object, and this VARIANT holds {json_kind(value)}")
        found.append(value or {})
    return found


def json_documents(array: pa.Array) -> list[dict[str, Any]]:
    """Rows of JSON text as documents; NULL is one without attributes.

    Raises:
        RowError: a text is no JSON object; the message shows it.
    """
    decode = ObjectDecoder().decode
    found = []
    for row, text in enumerate(array.to_pylist()):
        try:
            found.append({} if text is None else decode(text))
        except JsonError as error:
            raise RowError(row, f"{text!r:.80} is no JSON object: {error}") from None
    return found
