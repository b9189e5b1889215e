"""Scalars of the IR to SQL expressions that have the same value."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.refusal import a_kind
from profilec.grammar.sql.writing.forms import Writing, column, refused, string, wrap
from profilec.grammar.sql.writing.kinds import shift_of
from profilec.grammar.sql.writing.numbers import Form, check_digits, divide, form_of, not_zero, number
from profilec.values import functions
from profilec.values.dates import print_date, print_timestamp
from profilec.values.kinds import NANOS_PER_MICRO, NANOS_PER_SECOND, Date, Interval, Kind, Timestamp

_MOST_CHARACTERS = 2**31 - 1


def write_scalar(node: ir.Scalar, writing: Writing, *, wide: bool = False) -> exp.Expr:
    """The expression of a scalar; `wide` allows integer constants beyond 2**53.

    Raises:
        Refusal: the dialect has none with the same value.
    """
    match node:
        case ir.Attribute():
            return column(node, writing)
        case ir.Constant():
            return write_constant(node, writing, wide)
        case ir.Cast():
            return _cast(node, writing, wide)
        case ir.Call():
            writing.need("scalars", f"{node.function}")
            return _call(node, writing, wide)
    raise TypeError(f"no scalar: {node!r}")


def write_constant(node: ir.Constant, writing: Writing, wide: bool) -> exp.Expr:
    match node.value:
        case None:
            return exp.Null()
        case bool() as truth:
            return exp.Boolean(this=truth) if writing.traits.booleans else exp.Literal.number(int(truth))
        case str() as text:
            return string(text, writing)
        case Date() | Timestamp() as time:
            return _time(time, writing)
        case Interval():
            raise refused("an interval by itself")
        case int() | Decimal() as value:
            return number(value, wide, writing)
    raise TypeError(f"no constant: {node!r}")


def _time(value: Date | Timestamp, writing: Writing) -> exp.Expr:
    writing.need("dates", "a date or timestamp")
    if isinstance(value, Timestamp) and value.nanos % NANOS_PER_MICRO:
        raise refused(f"{writing.name} keeps no nanoseconds")
    text = print_date(value) if isinstance(value, Date) else print_timestamp(value)
    if text is None:
        raise refused("a date outside the years 0001 to 9999")
    if writing.name == "SQLite":  # which has no dates: ISO text orders as they do
        return exp.Literal.string(text)
    if isinstance(value, Date):
        return exp.cast(exp.Literal.string(text), "date")
    if writing.traits.zoned_timestamp == "applied":
        text += "+00:00"
    return exp.cast(exp.Literal.string(text), "timestamp")


# Functions.


def _call(node: ir.Call, writing: Writing, wide: bool) -> exp.Expr:
    if writing.kind(node) is Kind.NUMBER:
        form_of(node, writing)
        check_digits(node, writing)
    match node:
        case ir.Call("+" | "-", arguments) if (shift := shift_of(arguments)) is not None:
            return _shift(node.function, *shift, writing)
        case ir.Call("+" | "-" | "*" | "/" | "%", _):
            return _arithmetic(node, writing, wide)
        case ir.Call("NEGATE", (operand,)):
            return exp.Neg(this=wrap(write_scalar(operand, writing, wide=wide)))
        case ir.Call("ABS", (operand,)):
            return exp.Abs(this=write_scalar(operand, writing, wide=wide))
        case ir.Call("LOWER", (operand,)):
            return exp.Lower(this=write_scalar(operand, writing))
        case ir.Call("UPPER", (operand,)):
            return exp.Upper(this=write_scalar(operand, writing))
        case ir.Call("LENGTH", (operand,)):
            return exp.Length(this=write_scalar(operand, writing))
        case ir.Call("TRIM", (operand,)):
            blank = None if writing.traits.trim == "spaces" else exp.Literal.string(" ")
            return exp.Trim(this=write_scalar(operand, writing), expression=blank)
        case ir.Call("ROUND", (operand, *digits)):
            return _round(operand, digits, writing, wide)
        case ir.Call("SUBSTR", (operand, *bounds)):
            return _substring(operand, bounds, writing)
        case ir.Call("COALESCE", (first, *others)):
            rest = [write_scalar(other, writing, wide=wide) for other in others]
            return exp.Coalesce(this=write_scalar(first, writing, wide=wide), expressions=rest)
    raise refused(f"{node.function} is no function of the language")


_ARITHMETIC = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}


def _arithmetic(node: ir.Call, writing: Writing, wide: bool) -> exp.Expr:
    left, right = node.arguments
    left_node, right_node = write_scalar(left, writing, wide=wide), write_scalar(right, writing, wide=wide)
    if node.function == "/":
        is_double = Form.DOUBLE in (form_of(left, writing), form_of(right, writing))
        return divide(left_node, right_node, right, is_double, writing)
    if node.function == "%":
        return exp.Mod(this=wrap(left_node), expression=not_zero(right_node, right))
    return _ARITHMETIC[node.function](this=wrap(left_node), expression=wrap(right_node))


def _round(operand: ir.Scalar, digits: list[ir.Scalar], writing: Writing, wide: bool) -> exp.Expr:
    places = _whole(digits[0]) if digits else 0
    inner = write_scalar(operand, writing, wide=wide)
    form = form_of(operand, writing)
    if form is Form.INTEGER and places >= 0:
        return inner
    if places < 0:
        raise refused("ROUND to tens or hundreds")
    if writing.name == "PostgreSQL" and places == 0:
        # PostgreSQL rounds the halves of doubles to even, and those of decimals as we do; text keeps all digits.
        return exp.Round(this=exp.cast(exp.cast(inner, "text"), "decimal"))
    if writing.traits.rounds == "any" or (writing.traits.rounds == "whole" and places == 0):
        return exp.Round(this=inner, decimals=exp.Literal.number(places) if places else None)
    raise refused(
        f"ROUND of what may be a double{' to decimal places' if places else ''} differs in {writing.name}",
        "declare the attribute INTEGER in a schema",
    )


def _substring(operand: ir.Scalar, bounds: list[ir.Scalar], writing: Writing) -> exp.Expr:
    """Positions before the first are cut away here, and count from the end in most dialects: the bounds are moved."""
    start = _whole(bounds[0])
    length = _whole(bounds[1]) if len(bounds) > 1 else None
    if length is not None and length < 0:
        raise refused("a substring of negative length, which is NULL here")
    if start < 1:
        length = None if length is None else max(start - 1 + length, 0)
        start = 1
    if max(start, length or 0) > _MOST_CHARACTERS:
        raise refused("a substring beyond two thousand million characters")
    end = None if length is None else exp.Literal.number(length)
    return exp.Substring(this=write_scalar(operand, writing), start=exp.Literal.number(start), length=end)


def _whole(node: ir.Scalar) -> int:
    match node:
        case ir.Constant(_, int() as value) if not isinstance(value, bool):
            return value
    raise refused("a position or length that is no whole number, or no constant")


_UNITS = ((NANOS_PER_SECOND, "SECOND"), (NANOS_PER_MICRO, "MICROSECOND"))


def _shift(operator: str, time: ir.Scalar, span: Interval, writing: Writing) -> exp.Expr:
    """Months first, then days, then time, as here."""
    writing.need("intervals", "an interval")
    amounts = [(span.months, "MONTH"), (span.days, "DAY")]
    unit, name = next((unit for unit in _UNITS if span.nanos % unit[0] == 0), (0, ""))
    if not unit:
        raise refused(f"{writing.name} keeps no nanoseconds")
    amounts.append((span.nanos // unit, name))
    result = write_scalar(time, writing)
    operation = exp.Add if operator == "+" else exp.Sub
    for amount, name in amounts:
        if amount:
            interval = exp.Interval(this=exp.Literal.string(str(amount)), unit=exp.Var(this=name))
            result = operation(this=wrap(result) if result.depth else result, expression=interval)
    return result


# Casts.


def _cast(node: ir.Cast, writing: Writing, wide: bool) -> exp.Expr:
    argument, to = node.argument, node.to
    if isinstance(argument, ir.Constant) and not isinstance(argument.value, Interval):
        value: Any = functions.cast(argument.value, to)
        return write_constant(ir.constant(value), writing, wide)
    writing.need("scalars", "CAST")
    kind = writing.kind(argument)
    inner = write_scalar(argument, writing, wide=wide)
    same = {"NUMBER": Kind.NUMBER, "STRING": Kind.STRING, "BOOLEAN": Kind.BOOLEAN, "DATE": Kind.DATE,
            "TIMESTAMP": Kind.TIMESTAMP}.get(to)  # fmt: skip
    if kind is not None and kind is same:
        return inner
    match kind, to:
        case Kind.BOOLEAN, "NUMBER" | "INTEGER":
            return exp.cast(inner, "int") if writing.traits.booleans else inner
        case Kind.NUMBER, "INTEGER":
            if form_of(argument, writing) is Form.INTEGER:
                return inner
            if writing.name in ("DuckDB", "PostgreSQL"):
                return exp.Anonymous(this="TRUNC", expressions=[inner])
        case Kind.NUMBER, "BOOLEAN" if writing.traits.booleans:
            return exp.Paren(this=exp.NEQ(this=wrap(inner), expression=exp.Literal.number(0)))
        case Kind.NUMBER, "STRING":
            if form_of(argument, writing) is Form.INTEGER:
                return exp.cast(inner, "text")
        case (Kind.BOOLEAN, "STRING") if writing.traits.booleans:
            return exp.cast(inner, "text")
        case (Kind.DATE, "STRING") if writing.name != "SQLite":
            # A date moved by an interval is a timestamp in most dialects, whose text has a time.
            return exp.cast(inner if isinstance(argument, ir.Attribute) else exp.cast(inner, "date"), "text")
        case (Kind.DATE | Kind.TIMESTAMP, "DATE" | "TIMESTAMP") if writing.name != "SQLite":
            return exp.cast(inner, to.lower())
        case (None, "DATE" | "TIMESTAMP") if writing.schema is None and writing.can("intervals"):
            return exp.cast(inner, to.lower())
    what = "a value whose type is not known" if kind is None else a_kind(kind)
    raise refused(
        f"CAST({what} AS {to}) cannot be carried to {writing.name}",
        "declare the attribute in a schema" if kind is None else None,
    )
