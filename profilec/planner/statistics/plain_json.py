"""Documents as JSON that tells every value apart, and back.

What JSON has a word for is written as it is. The rest is an object of one key:

    {"$decimal": "1.10"}   {"$date": "2024-01-31"}   {"$timestamp": nanoseconds since 1970}   {"$double": "inf"}
    {"$record": {…}}       a record with a key that begins with $

Invariant: `read_value(plain(value))` is a value of the same kind that compares equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from profilec.values.dates import parse_date, print_date
from profilec.values.kinds import Date, Timestamp, from_document


def plain(value: Any) -> Any:
    """A document's value as what `json` writes.

    >>> plain({"price": Decimal("1.10"), "tags": ["a", None]})
    {'price': {'$decimal': '1.10'}, 'tags': ['a', None]}

    Raises:
        DocumentError: the value has no kind.
    """
    ours = from_document(value)
    match ours:
        case Decimal():
            return {"$decimal": str(ours)}
        case float() if math.isinf(ours):
            return {"$double": str(ours)}
        case Date():
            text = print_date(ours)
            return {"$date": text if text is not None else ours.days}
        case Timestamp():
            return {"$timestamp": ours.nanos}
        case list():
            return [plain(item) for item in ours]
        case Mapping():
            record = {str(name): plain(item) for name, item in ours.items()}
            return {"$record": record} if any(name.startswith("$") for name in record) else record
    return ours


def read_value(value: Any) -> Any:
    """The value that was written.

    Raises:
        ValueError: it was written by nobody.
    """
    if isinstance(value, list):
        return [read_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, inner),) = value.items()
        if name.startswith("$"):
            return _read_tagged(name, inner)
    return {name: read_value(item) for name, item in value.items()}


def _read_tagged(name: str, inner: Any) -> Any:
    try:
        match name:
            case "$decimal":
                return Decimal(inner)
            case "$double":
                return float(inner)
            case "$date":
                return Date(inner) if isinstance(inner, int) else parse_date(inner)
            case "$timestamp" if isinstance(inner, int):
                return Timestamp(inner)
            case "$record" if isinstance(inner, dict):
                return {name: read_value(item) for name, item in inner.items()}
    except (AttributeError, InvalidOperation, TypeError, ValueError) as error:
        raise ValueError(f"{name} holds {inner!r:.60}") from error
    raise ValueError(f"{name} holds {inner!r:.60}, which no value is written as")
