"""The two sides of a comparison: of one kind, or converted as the dialect converts them.

Assumed where no schema tells a column's type, and documented for the user: a column is of the
kind of the constants that it is compared with; columns that are ordered by each other are
numbers, dates or timestamps; columns in arithmetic are numbers.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.reading.forms import Read, Reading, note_kind, number_as_boolean
from profilec.grammar.sql.reading.strings import check_case
from profilec.grammar.sql.reading.times import midnight
from profilec.grammar.sql.refusal import Refusal, a_kind
from profilec.values import dates
from profilec.values.kinds import Date, Kind

_TIMES = (Kind.DATE, Kind.TIMESTAMP)


def compare(operator: str, left: Read, right: Read, node: exp.Expr, reading: Reading) -> ir.Condition:
    """The comparison as the dialect makes it: of one kind, with what it converts converted here too."""
    left, right = _same_kind(left, right, node, reading)
    _check_collation(operator, left, right, node, reading)
    check_case([left.scalar, right.scalar], node, reading, equality=operator in ("=", "!="))
    return ir.Compare(operator, left.scalar, right.scalar)


def _same_kind(left: Read, right: Read, node: exp.Expr, reading: Reading) -> tuple[Read, Read]:
    if Kind.NULL in (left.kind, right.kind):
        return left, right
    if Kind.OPAQUE in (left.kind, right.kind):
        raise Refusal("a comparison of a whole array or record", None, node)
    if left.kind is None and _is_timestamp_literal(right):
        left = note_kind(left, Kind.TIMESTAMP, node, reading)
    if right.kind is None and _is_timestamp_literal(left):
        right = note_kind(right, Kind.TIMESTAMP, node, reading)
    if (left.kind in _TIMES or right.kind in _TIMES) and left.kind is not right.kind:
        return _same_time(left, right, node, reading)
    if left.kind is None:
        left = _like_other(left, right, node, reading)
    if right.kind is None:
        right = _like_other(right, left, node, reading)
    if left.kind is right.kind:
        return left, right
    if not reading.traits.booleans and {left.kind, right.kind} == {Kind.BOOLEAN, Kind.NUMBER}:
        return number_as_boolean(left, node, reading), number_as_boolean(right, node, reading)
    assert left.kind is not None
    assert right.kind is not None
    raise Refusal(
        f"{a_kind(left.kind)} compared with {a_kind(right.kind)}; {reading.dialect} would convert one of them",
        "write both as the same kind",
        node,
        "PC504",
    )


def _like_other(unknown: Read, other: Read, node: exp.Expr, reading: Reading) -> Read:
    if other.kind is None:
        return unknown
    if other.kind is Kind.STRING and isinstance(other.scalar, ir.Constant) and reading.traits.string_dates:
        _check_no_date(other.scalar.value, node, reading)
    return note_kind(unknown, other.kind, node, reading)


def _check_no_date(text: Any, node: exp.Expr, reading: Reading) -> None:
    """A string like '2024-01-31' is a date where the column is one; only its type would tell."""
    try:
        dates.parse_timestamp(text)
    except ValueError:
        return
    raise Refusal(
        f"{text!r} is a date in {reading.dialect} where the column is one, else a string",
        "write DATE '2024-12-31' or TIMESTAMP '…', or declare the attribute in a schema",
        node,
        "PC504",
    )


def _same_time(left: Read, right: Read, node: exp.Expr, reading: Reading) -> tuple[Read, Read]:
    """A date or timestamp with what is not of its kind: the date is its midnight, a string is read, a column fits."""
    for read, other in ((left, right), (right, left)):
        if other.kind is Kind.STRING and isinstance(other.scalar, ir.Constant) and read.kind in _TIMES:
            if not reading.traits.string_dates and reading.dialect != "SQLite":
                break
            converted = Read(_read_time(str(other.scalar.value), read.kind, node), read.kind)
            return (left, converted) if other is right else (converted, right)
        if other.kind not in (None, *_TIMES):
            raise Refusal("a date or timestamp compared with a value of another kind", None, node)
    if not reading.traits.midnight_dates:
        raise Refusal(
            f"how {reading.dialect} compares a date with a timestamp, or whether this is one, is not known",
            "declare the attribute in a schema",
            node,
            "PC504",
        )
    return _as_timestamp(left, node, reading), _as_timestamp(right, node, reading)


def _is_timestamp_literal(read: Read) -> bool:
    return read.kind is Kind.TIMESTAMP and isinstance(read.scalar, ir.Constant)


def _read_time(text: str, kind: Kind | None, node: exp.Expr) -> ir.Constant:
    try:
        return ir.constant(dates.parse_date(text) if kind is Kind.DATE else dates.parse_timestamp(text))
    except ValueError as error:
        raise Refusal(str(error), None, node) from None


def _as_timestamp(read: Read, node: exp.Expr, reading: Reading) -> Read:
    match read.scalar:
        case ir.Constant(_, Date() as value):
            return Read(midnight(value), Kind.TIMESTAMP)
    if read.kind is Kind.TIMESTAMP:
        return read
    if read.kind is None:
        note_kind(read, Kind.TIMESTAMP, node, reading)
    return Read(ir.Cast(read.scalar, "TIMESTAMP"), Kind.TIMESTAMP)


def _check_collation(operator: str, left: Read, right: Read, node: exp.Expr, reading: Reading) -> None:
    if Kind.STRING not in (left.kind, right.kind) or reading.sensitive or left.binary or right.binary:
        return
    how = reading.traits.equality if operator in ("=", "!=") else reading.traits.ordering
    if how == "bytes":
        return
    verb = "compares" if operator in ("=", "!=") else "orders"
    by = "by the column's collation" if how else "in a way that is not known here"
    raise Refusal(
        f"{reading.dialect} {verb} strings {by}; we do by code point",
        "name a binary collation with COLLATE, or import with like_case=sensitive where the columns have one",
        node,
        "PC504",
    )
