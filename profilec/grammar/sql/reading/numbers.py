"""SQL numbers and arithmetic to ours.

Invariant: our arithmetic gives the dialect's numbers. Ours is exact unless a double takes part;
where the dialect computes with doubles and ours would be exact, an operand is divided by 1,
which makes it a double and changes nothing else.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import Literal

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.reading.forms import (
    Read,
    Reading,
    arguments,
    read_number,
    reads_scalar,
    refusal_of,
    unwrap,
    whole_constant,
)
from profilec.grammar.sql.reading.times import read_shift
from profilec.grammar.sql.refusal import Refusal
from profilec.values import numbers
from profilec.values.kinds import Kind

_ONE = ir.constant(1)

INT64 = range(-(2**63), 2**63)


def number_literal(text: str, node: exp.Expr, reading: Reading) -> Read:
    try:
        value = numbers.parse_number(text)
    except (ValueError, ArithmeticError) as error:
        raise Refusal(f"{text} is no number here: {error}", None, node) from None
    exponent, fraction = "e" in text.lower(), "." in text
    form = reading.traits.exponents if exponent else reading.traits.fractions if fraction else "exact"
    if form is None:
        if numbers.exact(float(value)) == value and not exponent:
            return Read(ir.constant(value), Kind.NUMBER, "exact")
        raise Refusal(f"whether {text} is exact in {reading.dialect} is not known", "write it in digits", node, "PC504")
    if not exponent and not fraction:
        if reading.traits.name != "SQLite" or value in INT64:
            return Read(ir.constant(value), Kind.NUMBER, "integer")
        form = "double"  # as SQLite reads what no integer of its holds
    if form == "exact":
        return Read(ir.constant(value), Kind.NUMBER, "exact")
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if math.isinf(double):
        raise Refusal(f"{text} is an infinity in {reading.dialect}", None, node)
    return Read(ir.constant(numbers.exact(double)), Kind.NUMBER, "double")


@reads_scalar(exp.Neg)
def _read_negation(node: exp.Expr, reading: Reading) -> Read:
    (operand,) = arguments(node, "this")
    read = read_number(operand, reading)
    match read.scalar:
        case ir.Constant(_, int() | Decimal() as value):
            return replace(read, scalar=ir.constant(numbers.negate(value)))
    return replace(read, scalar=ir.Call("NEGATE", (read.scalar,)), kind=Kind.NUMBER)


@reads_scalar(exp.Add, exp.Sub)
def _read_sum(node: exp.Expr, reading: Reading) -> Read:
    left, right = arguments(node, "this", "expression")
    operator = "+" if isinstance(node, exp.Add) else "-"
    if isinstance(unwrap(right), exp.Interval):
        return read_shift(operator, left, unwrap(right), reading)
    if isinstance(unwrap(left), exp.Interval) and operator == "+":
        return read_shift(operator, right, unwrap(left), reading)
    return _arithmetic(operator, read_number(left, reading), read_number(right, reading), node)


@reads_scalar(exp.Mul)
def _read_product(node: exp.Expr, reading: Reading) -> Read:
    left_node, right_node = arguments(node, "this", "expression")
    left, right = read_number(left_node, reading), read_number(right_node, reading)
    if right.number == "double" and right.scalar is _ONE:  # `a * 1.0` makes a double of it, and no more
        return as_double(left)
    return _arithmetic("*", left, right, node)


def _arithmetic(operator: str, left: Read, right: Read, node: exp.Expr) -> Read:
    if (left.mixed and right.number in ("exact", None)) or (right.mixed and left.number in ("exact", None)):
        raise Refusal(
            "arithmetic on COALESCE of a column and a number, of which a double may be made",
            "COALESCE the result",
            node,
            "PC504",
        )
    number: Literal["integer", "exact", "double"] | None
    if "double" in (left.number, right.number):
        number = "double"
    elif left.number is None or right.number is None:
        number = None
    else:
        number = "integer" if left.number == right.number == "integer" else "exact"
    is_double = left.is_double or right.is_double
    if number == "double" and not is_double:
        if isinstance(left.scalar, ir.Constant) and not isinstance(right.scalar, ir.Constant):
            right = as_double(right)
        else:
            left = as_double(left)
        is_double = True
    return Read(ir.Call(operator, (left.scalar, right.scalar)), Kind.NUMBER, number, is_double)


def as_double(read: Read) -> Read:
    if read.is_double:
        return read
    return Read(ir.Call("/", (read.scalar, _ONE)), Kind.NUMBER, "double", is_double=True)


@reads_scalar(exp.Div)
def _read_division(node: exp.Expr, reading: Reading) -> Read:
    left_node, right_node, _, _ = arguments(node, "this", "expression", "typed", "safe")
    divisor, guarded = _divisor(right_node)
    left, right = read_number(left_node, reading), read_number(divisor, reading)
    is_double = "double" in (left.number, right.number)
    integers = left.number == right.number == "integer"
    division = reading.traits.division
    if not is_double and division != "double" and not (division == "integers" and integers):
        raise Refusal(
            f"what `/` makes of integers or decimals in {reading.dialect} is no double, as it is here",
            "CAST an operand AS DOUBLE",
            node,
            "PC504",
        )
    constant = right.scalar.value if isinstance(right.scalar, ir.Constant) else None
    if reading.traits.zero_divisor != "null" and not guarded and not constant:
        raise Refusal(
            f"a division by zero may be an infinity in {reading.dialect}; it is NULL here",
            "write NULLIF(divisor, 0)",
            node,
            "PC504",
        )
    return Read(ir.Call("/", (_bare(left), _bare(right))), Kind.NUMBER, "double", is_double=True)


def _divisor(node: exp.Expr) -> tuple[exp.Expr, bool]:
    """The divisor without its NULLIF(…, 0), and whether it had one: x / 0 is NULL here by itself."""
    inner = unwrap(node)
    cast: exp.Expr | None = None
    if isinstance(inner, exp.Cast) and isinstance(unwrap(inner.this), exp.Nullif):
        cast, inner = inner, unwrap(inner.this)
    if not isinstance(inner, exp.Nullif):
        return node, False
    divisor, zero = arguments(inner, "this", "expression")
    if not isinstance(zero, exp.Literal) or zero.args.get("is_string") or numbers.parse_number(zero.name) != 0:
        return node, False
    if cast is not None:
        recast = cast.copy()
        recast.set("this", divisor.copy())
        return recast, True
    return divisor, True


def _bare(read: Read) -> ir.Scalar:
    """An operand of a division, which makes it a double anyway."""
    match read.scalar:
        case ir.Call("/", (operand, one)) if one is _ONE:
            return operand
    return read.scalar


@reads_scalar(exp.Mod)
def _read_remainder(node: exp.Expr, reading: Reading) -> Read:
    left_node, right_node = arguments(node, "this", "expression")
    divisor, guarded = _divisor(right_node)
    left, right = read_number(left_node, reading), read_number(divisor, reading)
    integers = left.number == right.number == "integer"
    if reading.traits.remainder is None:
        raise Refusal(f"what `%` means in {reading.dialect} is not known", None, node, "PC504")
    if reading.traits.remainder == "integer" and not integers:
        raise Refusal(
            f"`%` cuts its operands to integers in {reading.dialect}",
            "declare the attribute INTEGER in a schema",
            node,
            "PC504",
        )
    constant = right.scalar.value if isinstance(right.scalar, ir.Constant) else None
    if reading.traits.zero_divisor != "null" and not (guarded or constant or integers):
        raise Refusal(
            f"a remainder by zero may be NaN in {reading.dialect}; it is NULL here",
            "write NULLIF(divisor, 0)",
            node,
            "PC504",
        )
    return _arithmetic("%", left, right, node)


@reads_scalar(exp.Abs)
def _read_absolute(node: exp.Expr, reading: Reading) -> Read:
    (operand,) = arguments(node, "this")
    read = read_number(operand, reading)
    return replace(read, scalar=ir.Call("ABS", (read.scalar,)), kind=Kind.NUMBER)


@reads_scalar(exp.Round)
def _read_round(node: exp.Expr, reading: Reading) -> Read:
    operand, digits_node = arguments(node, "this", "decimals")
    read = read_number(operand, reading)
    digits = None if digits_node is None else whole_constant(digits_node, reading)
    whole = not digits
    if (digits or 0) < 0 or not (
        reading.traits.rounds == "any" or (whole and reading.traits.rounds == "whole") or read.number == "integer"
    ):
        raise Refusal(
            f"how ROUND treats halves, or the digits of a double, differs in {reading.dialect}", None, node, "PC504"
        )
    given = () if digits is None else (ir.constant(digits),)
    return replace(read, scalar=ir.Call("ROUND", (read.scalar, *given)), kind=Kind.NUMBER)


@reads_scalar(exp.Trunc)
def _read_truncation(node: exp.Expr, reading: Reading) -> Read:
    (operand,) = arguments(node, "this")
    read = read_number(operand, reading)
    if reading.dialect not in ("PostgreSQL", "DuckDB"):
        raise refusal_of(node)
    return replace(read, scalar=ir.Cast(read.scalar, "INTEGER"), is_double=False, mixed=read.number != "integer")
