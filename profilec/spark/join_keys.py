"""Values as bytes that Spark compares as profiles do: Spark's own comparisons coerce, and know other numbers.

In: a value. Out: BINARY, as `values/ordered_bytes` has it; None for what compares with nothing: NULL, NaN, arrays and
records.

Invariant: of one kind, a < b exactly where the bytes of a are less than those of b, and equal where they are equal. The
first byte is the kind.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from typing import NamedTuple

from profilec.runtime.joins.new import NewDocuments
from profilec.runtime.program import Program
from profilec.values.dates import add_interval
from profilec.values.kinds import NANOS_PER_DAY, Date, Interval, Timestamp, Value, kind_of
from profilec.values.ordered_bytes import ordered_bytes, ordered_number

_EPOCH = datetime.date(1970, 1, 1).toordinal()


def key_of(value: Value) -> bytes | None:
    """The bytes of a value.

    >>> key_of(2) == key_of(2.0), key_of(-1.5) < key_of(0.1) < key_of(10)
    (True, True)
    >>> key_of(None), key_of([1])
    (None, None)
    """
    if value is None:  # PERF: the commonest of what has none
        return None
    try:
        return ordered_bytes(value)
    except ValueError:
        return None


def joined_key(keys: Iterable[bytes | None]) -> bytes | None:
    """Several as one: equal where each is; None where one is."""
    found = list(keys)
    if len(found) == 1:
        return found[0]
    return None if None in found else b"".join(len(key).to_bytes(4, "big") + key for key in found if key is not None)


def keys_of(
    documents: NewDocuments, program: Program, of: Callable[[Value], bytes | None] = key_of
) -> list[bytes | None]:
    """What `of` gives for an expression's values, one for each document."""
    values, positions = documents.distinct(program)
    if positions is not None:
        keys = [of(value) for value in values]
        return [keys[place] for place in positions.tolist()]
    known: dict[tuple[type, Value], bytes | None] = {}
    found = []
    for value in values:
        if not isinstance(value, str | int):
            found.append(of(value))
            continue
        name = type(value), value
        if name not in known:
            known[name] = of(value)
        found.append(known[name])
    return found


class Key(NamedTuple):
    """What rows are joined by: an expression's value; or, with an interval, the bucket of a time. Buckets are as long
    as the interval: a time, and what is an interval before it, are in buckets that follow one another.

    `back`: of new rows, the bucket of the time, 0, or the one before, 1; None for earlier documents."""

    program: Program
    interval: Interval | None = None
    back: int | None = None

    def of(self, documents: NewDocuments) -> list[bytes | None]:
        """One for each document; None for what equals nothing."""
        return keys_of(documents, self.program, key_of if self.interval is None else self._bucket)

    def _bucket(self, value: Value) -> bytes | None:
        interval = self.interval
        assert interval is not None
        if not isinstance(value, Date | Timestamp):
            return None
        if self.back is not None and type(add_interval(value, interval, -1)) is not type(value):
            return None  # where the calendar ends, and of a DATE moved by hours, nothing is in range
        days = value.days if isinstance(value, Date) else value.nanos // NANOS_PER_DAY
        if interval.months:
            ordinal = days + _EPOCH
            if not 1 <= ordinal <= datetime.date.max.toordinal():
                return None
            day = datetime.date.fromordinal(ordinal)
            number = (day.year * 12 + day.month) // interval.months
        elif isinstance(value, Date):
            if not interval.days:
                return None
            number = days // interval.days
        else:
            number = value.nanos // (interval.days * NANOS_PER_DAY + interval.nanos)
        return bytes([kind_of(value)]) + ordered_number(number - (self.back or 0))


def has_buckets(interval: Interval) -> bool:
    """Whether times can be put in buckets as long as the interval: it is of whole months, or of a length that is always
    the same."""
    if interval.months:
        return interval.months > 0 and not interval.days and not interval.nanos
    return interval.days >= 0 and interval.nanos >= 0 and (interval.days > 0 or interval.nanos > 0)
