"""SQL dates, timestamps and intervals to ours.

A timestamp without a zone is UTC here; sessions of a dialect that has another are taken to be in UTC.
"""

from __future__ import annotations

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.reading.forms import Read, Reading, arguments, note_kind, read_scalar
from profilec.grammar.sql.refusal import Refusal, a_kind
from profilec.values import dates
from profilec.values.kinds import NANOS_PER_DAY, Date, Interval, Kind, Timestamp

TIMESTAMPS = frozenset({"TIMESTAMP", "DATETIME", "TIMESTAMPNTZ", "DATETIME2"})

ZONED = frozenset({"TIMESTAMPTZ", "TIMESTAMPLTZ"})


def read_shift(operator: str, node: exp.Expr, interval: exp.Expr, reading: Reading) -> Read:
    span = _interval(interval)
    read = read_scalar(node, reading)
    if read.kind not in (None, Kind.DATE, Kind.TIMESTAMP):
        raise Refusal(f"an interval added to {a_kind(read.kind)}", None, node)
    kind = Kind.TIMESTAMP if read.kind is None or span.nanos else read.kind
    # A column whose type is not known: as a timestamp, a date is its midnight, which any dialect makes of it too.
    scalar = (
        ir.Cast(note_kind(read, Kind.TIMESTAMP, node, reading).scalar, "TIMESTAMP")
        if read.kind is None
        else read.scalar
    )
    return Read(ir.Call(operator, (scalar, ir.constant(span))), kind)


def _interval(node: exp.Expr) -> Interval:
    amount, unit = arguments(node, "this", "unit")
    text = amount.name if isinstance(amount, exp.Literal) else None
    if text is None or not (unit is None or isinstance(unit, exp.Var)):
        raise Refusal("an interval that is no literal", "write INTERVAL '3 days'", node)
    try:
        return dates.parse_interval(text if unit is None else f"{text} {unit.name}")
    except ValueError as error:
        raise Refusal(str(error), None, node) from None


def time_literal(text: str, name: str, node: exp.Expr, reading: Reading) -> Read:
    """DATE '…', TIMESTAMP '…', and casts of a string literal to them."""
    try:
        if name == "DATE":
            return Read(ir.constant(dates.parse_date(text)), Kind.DATE)
        value = dates.parse_timestamp(text)
    except ValueError as error:
        raise Refusal(str(error), None, node) from None
    # Read once more as in another zone: the same instant only where the text says its zone.
    zoned = _says_zone(text)
    if name in ZONED and not zoned:
        raise Refusal("a time with the session's zone", "write the zone, as in '2024-12-31 23:59:59+01:00'", node)
    if name in TIMESTAMPS and zoned and reading.traits.zoned_timestamp != "applied":
        raise Refusal(
            f"{reading.dialect} may leave the zone of a TIMESTAMP unread", "write the time in UTC", node, "PC504"
        )
    if value.nanos % 1_000:
        raise Refusal(f"{reading.dialect} keeps no nanoseconds", None, node)
    return Read(ir.constant(value), Kind.TIMESTAMP)


def _says_zone(text: str) -> bool:
    try:
        dates.parse_timestamp(text + "Z")
    except ValueError:
        # A date alone takes no zone after it.
        return len(text.strip()) > len("2024-12-31")
    return False


def cast_to_time(read: Read, name: str, node: exp.Expr, reading: Reading) -> Read:
    kind = Kind.DATE if name == "DATE" else Kind.TIMESTAMP
    if read.kind in (Kind.DATE, Kind.TIMESTAMP):
        if not reading.traits.midnight_dates and read.kind is not kind:
            raise Refusal(f"what CAST to {name} does in {reading.dialect} is not known", None, node, "PC504")
        return Read(ir.Cast(read.scalar, kind.name), kind)
    raise Refusal(
        f"CAST to {name} of a value whose type is not known, or of a string",
        "declare the attribute in a schema",
        node,
        "PC504",
    )


def midnight(value: Date) -> ir.Constant:
    return ir.constant(Timestamp(value.days * NANOS_PER_DAY))
