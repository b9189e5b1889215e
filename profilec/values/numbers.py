"""Numbers: exact order and exact arithmetic over int, Decimal and float.

A float that is an integer stands for that integer, any other for the shortest decimal that
reads back to it, so `price = 0.1` holds for the JSON number 0.1. `+ - *` and `%` on integers
and decimals are exact; `/`, and any float operand, give a double.

Invariant: no function here raises on numbers; a result that does not exist (x / 0, inf - inf)
or would need more than MAX_RESULT_DIGITS digits is None, which is NULL.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import TypeAlias

MAX_LITERAL_DIGITS = 1_000
MAX_LITERAL_EXPONENT = 1_000
MAX_RESULT_DIGITS = 10_000
_MAX_RESULT_BITS = int(MAX_RESULT_DIGITS * 3.3219280948873626)

# Traps: Inexact would mean that digits were lost, which is not allowed to happen in silence.
_EXACT = Context(prec=MAX_RESULT_DIGITS, Emax=10**12, Emin=-(10**12), traps=[Inexact, InvalidOperation, Overflow])

Number: TypeAlias = int | float | Decimal
Exact: TypeAlias = int | Decimal


def exact(value: Number) -> Exact:
    """The integer or decimal that a number stands for; its order is the order of numbers.

    >>> exact(2.0), exact(0.1), exact(1e22)
    (2, Decimal('0.1'), 10000000000000000000000)
    """
    if type(value) is float:
        if value.is_integer():
            return int(value)
        return Decimal(repr(value))
    return value  # type: ignore[return-value]


def normal(value: Exact) -> Exact:
    """The one representative of all numbers that are equal to `value`: an int where it is one.

    >>> normal(Decimal("1.50")), normal(Decimal("2.0")), normal(Decimal("5E+2"))
    (Decimal('1.5'), 2, 500)
    """
    if isinstance(value, int) or not value.is_finite():
        return value
    if value == value.to_integral_value(context=_EXACT) and value.adjusted() <= MAX_RESULT_DIGITS:
        return int(value)
    try:
        return value.normalize(_EXACT)
    except Inexact:  # a document's decimal may have more digits than arithmetic gives
        context = _EXACT.copy()
        context.prec = len(value.as_tuple().digits)
        return value.normalize(context)


def parse_number(text: str) -> Exact:
    """The number that a literal writes: `5`, `5.`, `.5`, `5E2`.

    Raises:
        ValueError: more than MAX_LITERAL_DIGITS digits, or an exponent beyond MAX_LITERAL_EXPONENT.
    """
    if len(text) <= MAX_LITERAL_DIGITS:  # PERF: most are
        if text.isdecimal():
            return int(text)
        whole, _, part = text.partition(".")
        if whole.isdecimal() and part.isdecimal() and part[-1] != "0":
            return Decimal(text)
    mantissa, _, exponent = text.lower().partition("e")
    digits = mantissa.replace(".", "").lstrip("+-")
    if len(digits) > MAX_LITERAL_DIGITS:
        raise ValueError(f"a number of {len(digits):,} digits; at most {MAX_LITERAL_DIGITS:,} are allowed")
    if exponent and (len(exponent.lstrip("+-0")) > 4 or abs(int(exponent)) > MAX_LITERAL_EXPONENT):
        raise ValueError(f"an exponent of {exponent}; at most {MAX_LITERAL_EXPONENT:,} is allowed")
    if digits == mantissa and not exponent:
        return int(mantissa)
    return normal(Decimal(text))


def print_number(value: Number) -> str:
    """The shortest literal that reads back to the number.

    >>> print_number(5.0), print_number(Decimal("0.10")), print_number(Decimal("1e-9"))
    ('5', '0.1', '1E-9')
    """
    # By way of Decimal: Python refuses str() of an int of more than 4,300 digits.
    return str(Decimal(normal(exact(value))))


def add(left: Number, right: Number) -> Number | None:
    return _arithmetic(left, right, "+")


def subtract(left: Number, right: Number) -> Number | None:
    return _arithmetic(left, right, "-")


def multiply(left: Number, right: Number) -> Number | None:
    return _arithmetic(left, right, "*")


def divide(left: Number, right: Number) -> float | None:
    """Real division, always a double; division by zero is NULL."""
    divisor = _double(right)
    if right == 0:
        return None
    return _quotient(_double(left), divisor)


def remainder(left: Number, right: Number) -> Number | None:
    """`%`: what is left of the dividend, with its sign; NULL where the divisor is zero."""
    if right == 0:
        return None
    if isinstance(left, float) or isinstance(right, float):
        dividend, divisor = _double(left), _double(right)
        return None if math.isinf(dividend) or divisor == 0 else math.fmod(dividend, divisor)
    if isinstance(left, int) and isinstance(right, int):
        rest = abs(left) % abs(right)
        return -rest if left < 0 else rest
    try:
        return _EXACT.remainder(Decimal(left), Decimal(right))
    except ArithmeticError:
        return None


def negate(value: Number) -> Number | None:
    """Minus the number; a Decimal keeps all its digits."""
    return value.copy_negate() if isinstance(value, Decimal) else -value


def absolute(value: Number) -> Number | None:
    return value.copy_abs() if isinstance(value, Decimal) else abs(value)


def round_half_away(value: Number, digits: int = 0) -> Number | None:
    """ROUND: to `digits` places after the point (before it where negative), halves away from zero.

    >>> round_half_away(2.5), round_half_away(Decimal("-2.675"), 2), round_half_away(1234, -2)
    (3.0, Decimal('-2.68'), 1200)
    """
    decimal = Decimal(exact(value))
    if not decimal.is_finite():
        return value
    if abs(digits) > MAX_RESULT_DIGITS:
        return value if digits > 0 else None
    try:
        scaled = decimal.scaleb(digits, _EXACT).to_integral_value(ROUND_HALF_UP)
        rounded = normal(scaled.scaleb(-digits, _EXACT))
    except ArithmeticError:
        return None
    return _double(rounded) if isinstance(value, float) else rounded


def truncate(value: Number) -> int | None:
    """The integer part, towards zero; NULL for an infinity."""
    value = exact(value)
    if isinstance(value, int):
        return value
    if not value.is_finite() or value.adjusted() > MAX_RESULT_DIGITS:
        return None
    return int(value)


def _arithmetic(left: Number, right: Number, operator: str) -> Number | None:
    if isinstance(left, float) or isinstance(right, float):
        return _double_arithmetic(_double(left), _double(right), operator)
    if isinstance(left, int) and isinstance(right, int):
        result = left + right if operator == "+" else left - right if operator == "-" else left * right
        return result if result.bit_length() <= _MAX_RESULT_BITS else None
    operation = {"+": _EXACT.add, "-": _EXACT.subtract, "*": _EXACT.multiply}[operator]
    try:
        return operation(Decimal(left), Decimal(right))
    except ArithmeticError:
        return None


def _double_arithmetic(left: float, right: float, operator: str) -> float | None:
    result = left + right if operator == "+" else left - right if operator == "-" else left * right
    return None if math.isnan(result) else result


def _quotient(left: float, right: float) -> float | None:
    if right == 0.0:  # a decimal too small for a double
        return None if left == 0.0 else math.copysign(math.inf, left) * math.copysign(1.0, right)
    result = left / right
    return None if math.isnan(result) else result


def _double(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
