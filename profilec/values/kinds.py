"""The kinds of values, and the one way a document's value becomes ours.

In: any value found in a document (`dict`, Arrow row, pandas row). Out: one of

    None                        NULL, absent, NaN, NaT, NA
    bool                        BOOLEAN
    int, Decimal, float         NUMBER (a float keeps its type: arithmetic on it gives a double)
    str                         STRING
    Date, Timestamp             DATE, TIMESTAMP
    list, Mapping               OPAQUE as a whole: an array, a record

Invariant: values of different kinds never compare; within a kind the order is total.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Any, TypeAlias

from profilec.values.sets import Between, OneOf

Value: TypeAlias = "bool | int | float | Decimal | str | Date | Timestamp | list[Any] | Mapping[str, Any] | None"
Truth: TypeAlias = bool | None
"""TRUE, FALSE and UNKNOWN, as True, False and None."""

_EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
NANOS_PER_MICRO = 1_000
NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_DAY = 86_400 * NANOS_PER_SECOND


class Kind(IntEnum):
    """The kinds, in the order of their blocks in rank space."""

    NULL = 0
    NUMBER = 1
    STRING = 2
    BOOLEAN = 3
    DATE = 4
    TIMESTAMP = 5
    OPAQUE = 6


@dataclass(frozen=True, slots=True, order=True)
class Date:
    """A day, as days since 1970-01-01 (proleptic Gregorian)."""

    days: int


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """An instant, as nanoseconds since 1970-01-01T00:00:00 UTC."""

    nanos: int


@dataclass(frozen=True, slots=True)
class Interval:
    """A span of calendar months, days and nanoseconds; a literal, never a document's value."""

    months: int
    days: int
    nanos: int


class DocumentError(ValueError):
    """A document, or one value of it, that no profile can be asked about."""


def expect_mapping(document: object) -> None:
    """Raises DocumentError of what is no document."""
    if type(document) is not dict and not isinstance(document, Mapping):  # PERF: nearly all are dicts
        raise DocumentError(f"a document is a mapping of attribute to value, not {type(document).__name__}")


def kind_of(value: Value) -> Kind:
    """The kind of a value that `from_document` returned.

    >>> kind_of(True), kind_of(1), kind_of([1])
    (<Kind.BOOLEAN: 3>, <Kind.NUMBER: 1>, <Kind.OPAQUE: 6>)
    """
    return _KIND_OF_TYPE.get(type(value), Kind.OPAQUE)


_KIND_OF_TYPE: dict[type, Kind] = {
    type(None): Kind.NULL,
    bool: Kind.BOOLEAN,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    Decimal: Kind.NUMBER,
    str: Kind.STRING,
    Date: Kind.DATE,
    Timestamp: Kind.TIMESTAMP,
}


def from_document(value: Any) -> Value:
    """The value that a document holds, as one of ours.

    >>> from_document(float("nan")) is None
    True
    >>> from_document(datetime.date(1970, 1, 2))
    Date(days=1)

    Raises:
        DocumentError: the value has no kind (bytes, an arbitrary object).
    """
    convert = _CONVERT.get(type(value))
    if convert is not None:
        return convert(value)  # type: ignore[no-any-return]
    return _from_unusual(value)


def date_from_python(value: datetime.date) -> Date:
    return Date(value.toordinal() - _EPOCH_ORDINAL)


def timestamp_from_python(value: datetime.datetime) -> Timestamp:
    """NULL: a timestamp without a zone is UTC. A pandas Timestamp keeps its nanoseconds."""
    if value.tzinfo is None:
        value = value.replace(tzinfo=datetime.UTC)
    delta = value - _EPOCH
    nanos = ((delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds) * NANOS_PER_MICRO
    return Timestamp(nanos + getattr(value, "nanosecond", 0))


def _from_float(value: float) -> float | None:
    return None if math.isnan(value) else value


def _from_decimal(value: Decimal) -> Decimal | None:
    return None if value.is_nan() else value


def _same(value: Any) -> Any:
    return value


_CONVERT: dict[type, Any] = {
    type(None): _same,
    bool: _same,
    int: _same,
    str: _same,
    float: _from_float,
    Decimal: _from_decimal,
    dict: _same,
    list: _same,
    tuple: list,
    datetime.date: date_from_python,
    datetime.datetime: timestamp_from_python,
    Date: _same,
    Timestamp: _same,
}


def _from_unusual(value: Any) -> Value:
    """Subclasses, numpy scalars and arrays, pandas missing values: rare, so looked at one by one."""
    if isinstance(value, bool | int | str | float | Decimal):
        base = next(kind for kind in (bool, int, str, float, Decimal) if isinstance(value, kind))
        return from_document(_plain(base, value))
    if isinstance(value, datetime.datetime):
        return None if type(value).__name__ == "NaTType" else timestamp_from_python(value)
    if isinstance(value, datetime.date):
        return date_from_python(value)
    if isinstance(value, Mapping):
        return value
    if isinstance(value, list | tuple):
        return list(value)
    module = type(value).__module__.partition(".")[0]
    if module == "numpy":
        return _from_numpy(value)
    if module == "pandas" and type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, Between | OneOf):
        raise DocumentError(f'{type(value).__name__} is a set of values, which match(…, semantics="overlap") takes')
    raise DocumentError(f"{type(value).__name__} is no number, string, boolean, date, timestamp, array or record")


def _plain(base: type, value: Any) -> Any:
    if base is str:
        return str.__str__(value)
    if base is int:
        return int(value)
    if base is float:
        return float.__float__(value)
    return base(value)


def _from_numpy(value: Any) -> Value:
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if getattr(value, "ndim", 0) > 0:
        return list(value)
    if kind == "f":
        if math.isnan(value):
            return None
        # A float that is no integer stands for the shortest decimal that reads back to it in its own width.
        double = float(value)
        if value.dtype.itemsize > 8 and double != value:  # no double holds it
            return int(value) if value == value // 1 else Decimal(str(value))
        whole = double.is_integer() or not math.isfinite(double)
        return double if whole or value.dtype.itemsize == 8 else float(str(value))
    if kind == "M":
        if str(value) == "NaT":
            return None
        # In two parts, for datetime64[ns] ends in the year 2262 and says nothing when it overflows.
        whole_seconds = value.astype("datetime64[s]")
        rest = (value - whole_seconds).astype("timedelta64[ns]").astype("int64").item()
        return Timestamp(whole_seconds.astype("int64").item() * NANOS_PER_SECOND + rest)
    if kind in {"b", "i", "u", "U"}:
        return value.item()  # type: ignore[no-any-return]
    raise DocumentError(f"a numpy value of type {getattr(value, 'dtype', '?')} is no value of a document")
