"""Documents as an Arrow table: each attribute a column of one type, without loss.

In: documents of the store. Out: a `pyarrow.Table`. Numbers become int64, float64 or an exact
decimal; dates and timestamps date32 and timestamp[ns, UTC]; arrays lists, records structs.

Invariant: reading the table back as documents gives values that compare equal to those put in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from profilec.values.kinds import Kind, kind_of
from profilec.values.numbers import Exact, exact, normal

_MAX_DIGITS = 76


def table_of(documents: Sequence[Mapping[str, Any]]) -> Any:
    """The table; NULL where a document lacks the attribute.

    >>> table_of([{"a": 1}, {"b": "x"}]).to_pylist()
    [{'a': 1, 'b': None}, {'a': None, 'b': 'x'}]
    """
    import pyarrow as pa

    names = list(dict.fromkeys(name for document in documents for name in document))
    arrays = [_array([document.get(name) for document in documents], name) for name in names]
    if not names:
        return pa.table({"": pa.nulls(len(documents))}).select([])  # a table of no columns has rows all the same
    return pa.Table.from_arrays(arrays, names=names)


def _array(values: list[Any], name: str) -> Any:
    import pyarrow as pa

    kinds = {_sort(value) for value in values} - {"null"}
    if len(kinds) > 1:
        held = " and ".join(f"{kind}s" for kind in sorted(kinds))
        raise ValueError(f"attribute {name!r} holds {held}; an Arrow column has one type")
    match kinds.pop() if kinds else "null":
        case "null":
            return pa.nulls(len(values))
        case "number":
            return _numbers(values, name)
        case "date":
            return pa.array([None if value is None else value.days for value in values], pa.int32()).cast(pa.date32())
        case "timestamp":
            nanos = [None if value is None else value.nanos for value in values]
            return pa.array(nanos, pa.int64()).cast(pa.timestamp("ns", "UTC"))
        case "array":
            return _lists(values, name)
        case "record":
            return _structs(values, name)
    try:
        return pa.array(values)
    except UnicodeEncodeError:
        raise ValueError(f"attribute {name!r} holds a string with a lone surrogate, which Arrow cannot") from None


def _sort(value: Any) -> str:
    kind = kind_of(value)
    if kind is Kind.OPAQUE:
        return "array" if isinstance(value, list) else "record"
    return kind.name.lower()


def _numbers(values: list[Any], name: str) -> Any:
    """int64, or float64 where every number is one, or a decimal wide enough for all."""
    import pyarrow as pa

    numbers = [None if value is None else normal(exact(value)) for value in values]
    present = [number for number in numbers if number is not None]
    if all(isinstance(number, int) and -(2**63) <= number < 2**63 for number in present):
        return pa.array(numbers, pa.int64())
    if all(_is_double(number) for number in present):
        return pa.array([None if number is None else float(number) for number in numbers], pa.float64())
    decimals = [Decimal(number) for number in present]
    if all(number.is_finite() for number in decimals):
        scale = max(max(0, -int(number.as_tuple().exponent)) for number in decimals)
        if scale + max(max(0, number.adjusted() + 1) for number in decimals) <= _MAX_DIGITS:
            exact_type = pa.decimal256(_MAX_DIGITS, scale)
            return pa.array([None if number is None else Decimal(number) for number in numbers], exact_type)
    raise ValueError(f"attribute {name!r} holds numbers for which no one Arrow type is exact")


def _is_double(number: Exact) -> bool:
    try:
        return exact(float(number)) == number
    except OverflowError:
        return False


def _lists(values: list[Any], name: str) -> Any:
    import pyarrow as pa

    elements = _array([element for value in values if value is not None for element in value], name)
    ends, total = [0], 0
    for value in values:
        total += 0 if value is None else len(value)
        ends.append(total)
    mask = pa.array([value is None for value in values])
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), elements, mask=mask)


def _structs(values: list[Any], name: str) -> Any:
    import pyarrow as pa

    keys = list(dict.fromkeys(key for value in values if value is not None for key in value))
    mask = pa.array([value is None for value in values])
    if not keys:
        return pa.array([None if value is None else {} for value in values], pa.struct([]))
    fields = [_array([None if value is None else value.get(key) for value in values], f"{name}.{key}") for key in keys]
    return pa.StructArray.from_arrays(fields, names=keys, mask=mask)
