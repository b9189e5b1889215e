"""Dates, timestamps and intervals: reading ISO text, printing it, adding months.

Timestamps without a zone are UTC. Years run from 0001 to 9999 in text; values outside that
range (they can come from Arrow) still compare, but have no text form.
"""

from __future__ import annotations

import calendar
import datetime
import re

from profilec.values.kinds import (
    NANOS_PER_DAY,
    NANOS_PER_SECOND,
    Date,
    Interval,
    Timestamp,
    date_from_python,
)

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"
    r"\s*(Z|UTC|[+-]\d{2}(?::?\d{2})?)?)?",
    re.ASCII | re.IGNORECASE,
)
_INTERVAL_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-z]+)\s*,?", re.IGNORECASE | re.ASCII)
_CLOCK = re.compile(r"\s*([+-]?)(\d+):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s*$", re.ASCII)
_EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()
_MAX_INTERVAL = 10**7

_MONTHS = {"year": 12, "month": 1, "quarter": 3, "decade": 120, "century": 1200}
_DAYS = {"week": 7, "day": 1}
_NANOS = {
    "hour": 3_600 * NANOS_PER_SECOND,
    "minute": 60 * NANOS_PER_SECOND,
    "second": NANOS_PER_SECOND,
    "millisecond": 1_000_000,
    "microsecond": 1_000,
    "nanosecond": 1,
}
_ABBREVIATIONS = {
    "y": "year", "yr": "year", "mon": "month", "w": "week", "d": "day", "h": "hour", "hr": "hour",
    "m": "minute", "min": "minute", "s": "second", "sec": "second", "ms": "millisecond",
    "us": "microsecond", "ns": "nanosecond", "centurie": "century",
}  # fmt: skip


def parse_date(text: str) -> Date:
    """`2024-02-29`. Raises ValueError where there is no such day.

    >>> parse_date("1970-01-02")
    Date(days=1)
    """
    match = _DATE.fullmatch(text.strip(" "))
    if match is None:
        raise ValueError(f"{text!r} is no date; write it as '2024-12-31'")
    try:
        return date_from_python(datetime.date(*map(int, match.groups())))
    except ValueError:
        raise ValueError(f"{text!r} is no day of the calendar") from None


def parse_timestamp(text: str) -> Timestamp:
    """`2024-02-29 12:30:00.25+01:00`, `2024-02-29T12:30Z`, `2024-02-29`. Raises ValueError.

    >>> parse_timestamp("1970-01-01 00:00:01").nanos
    1000000000
    """
    match = _TIMESTAMP.fullmatch(text.strip(" "))
    if match is None:
        raise ValueError(f"{text!r} is no timestamp; write it as '2024-12-31 23:59:59'")
    day, hours, minutes, seconds, fraction, zone = match.groups()
    hour, minute, second = int(hours or 0), int(minutes or 0), int(seconds or 0)
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(f"{text!r} is no time of the day")
    nanos = parse_date(day).days * NANOS_PER_DAY
    nanos += (hour * 3_600 + minute * 60 + second) * NANOS_PER_SECOND + int((fraction or "").ljust(9, "0"))
    return Timestamp(nanos - _zone_nanos(zone, text))


def _zone_nanos(zone: str | None, text: str) -> int:
    if not zone or zone.upper() in {"Z", "UTC"}:
        return 0
    digits = zone[1:].replace(":", "")
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if hours > 18 or minutes > 59:
        raise ValueError(f"{text!r} has no such zone offset")
    nanos = (hours * 3_600 + minutes * 60) * NANOS_PER_SECOND
    return -nanos if zone[0] == "-" else nanos


def parse_interval(text: str) -> Interval:
    """`7 days`, `1 month`, `1 day 02:30:00`. Raises ValueError.

    >>> parse_interval("1 month 2 days")
    Interval(months=1, days=2, nanos=0)
    """
    months = days = nanos = position = 0
    while match := _INTERVAL_PART.match(text, position):
        amount, unit = match.groups()
        name = unit.lower().removesuffix("s") or "s"
        name = _ABBREVIATIONS.get(unit.lower(), _ABBREVIATIONS.get(name, name))
        position = match.end()
        if name in _MONTHS or name in _DAYS:
            if "." in amount:
                raise ValueError(f"{text!r}: a fraction of a {name} is no fixed span; use smaller units")
            months += int(amount) * _MONTHS.get(name, 0)
            days += int(amount) * _DAYS.get(name, 0)
        elif name in _NANOS:
            whole, _, fraction = amount.partition(".")
            scale = 10 ** len(fraction)
            part, rest = divmod(int((whole + fraction).lstrip("+")) * _NANOS[name], scale)
            if rest:
                raise ValueError(f"{text!r} is finer than a nanosecond")
            nanos += part
        else:
            raise ValueError(f"{text!r}: {unit!r} is no unit of time")
    if clock := _CLOCK.match(text, position):
        sign, hour, minute, second, fraction = clock.groups()
        span = (int(hour) * 3_600 + int(minute) * 60 + int(second or 0)) * NANOS_PER_SECOND
        span += int((fraction or "").ljust(9, "0"))
        nanos += -span if sign == "-" else span
        position = len(text)
    if position == 0 or text[position:].strip():
        raise ValueError(f"{text!r} is no interval; write it as '7 days' or '1 month'")
    if max(abs(months), abs(days)) > _MAX_INTERVAL or abs(nanos) > _MAX_INTERVAL * NANOS_PER_DAY:
        raise ValueError(f"{text!r} is longer than any calendar")
    return Interval(months, days, nanos)


def print_date(value: Date) -> str | None:
    """ISO text, or None outside the years 0001 to 9999."""
    ordinal = value.days + _EPOCH_ORDINAL
    if not 1 <= ordinal <= datetime.date.max.toordinal():
        return None
    return datetime.date.fromordinal(ordinal).isoformat()


def print_timestamp(value: Timestamp) -> str | None:
    """`1970-01-01 00:00:01`, with as many digits of the second as it needs; always UTC."""
    days, nanos = divmod(value.nanos, NANOS_PER_DAY)
    day = print_date(Date(days))
    if day is None:
        return None
    seconds, fraction = divmod(nanos, NANOS_PER_SECOND)
    text = f"{day} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:09}".rstrip("0") if fraction else text


def print_interval(value: Interval) -> str:
    """The text that reads back as the interval, in the largest units that count it.

    >>> print_interval(Interval(1, 7, 0)), print_interval(Interval(0, 0, 90 * 60 * NANOS_PER_SECOND))
    ('1 month 7 days', '90 minutes')
    """
    unit = next(unit for unit, nanos in _NANOS.items() if value.nanos % nanos == 0)
    counts = ((value.months, "month"), (value.days, "day"), (value.nanos // _NANOS[unit], unit))
    parts = [f"{count} {unit}" if count in (1, -1) else f"{count} {unit}s" for count, unit in counts if count]
    return " ".join(parts) or "0 days"


def add_interval(value: Date | Timestamp, interval: Interval, sign: int = 1) -> Date | Timestamp | None:
    """The date or timestamp moved by an interval: months first (clamped to the month's end), then days, then time.

    A DATE moved by whole months and days stays a DATE; with a time part it becomes a TIMESTAMP.
    NULL (None) where the calendar ends.

    >>> print_date(add_interval(parse_date("2024-01-31"), Interval(1, 0, 0)))
    '2024-02-29'
    """
    if isinstance(value, Date):
        days, nanos = value.days, 0
    else:
        days, nanos = divmod(value.nanos, NANOS_PER_DAY)
    if interval.months:
        moved = _add_months(days, sign * interval.months)
        if moved is None:
            return None
        days = moved
    days += sign * interval.days
    if isinstance(value, Date) and not interval.nanos:
        return Date(days)
    return Timestamp(days * NANOS_PER_DAY + nanos + sign * interval.nanos)


def _add_months(days: int, months: int) -> int | None:
    ordinal = days + _EPOCH_ORDINAL
    if not 1 <= ordinal <= datetime.date.max.toordinal():
        return None
    day = datetime.date.fromordinal(ordinal)
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return None
    last = calendar.monthrange(year, month + 1)[1]
    return datetime.date(year, month + 1, min(day.day, last)).toordinal() - _EPOCH_ORDINAL
