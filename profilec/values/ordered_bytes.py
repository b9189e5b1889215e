"""Values as bytes whose order is the order of the values.

In: a value that compares with something. Out: bytes, and from these a value that is equal.

    NUMBER      01  02                            0
                01  03  84 '1' '2' '0' '5'        1205 and 1205.0: 0.1205 times ten to the 4
                01  01  7B CE CD CF CA FF         -1205: the complement of the same, and FF
                01  00, 01  04                    the infinities
    STRING      02  UTF-8, surrogates as three bytes each
    BOOLEAN     03  a number, 0 or 1
    DATE        04  a number, days
    TIMESTAMP   05  a number, nanoseconds

The first byte is the kind. A number is its sign, the exponent (one byte, 128 plus it, where that is near 0; else 00 or
FF and eight bytes) and its digits, without zeros at either end. What is shorter sorts before what it begins; below
zero, FF at the end turns that round. Of UTF-8 the order of bytes is that of code points.

Invariant: of one kind, a < b exactly where the bytes of a are less than those of b, and a = b exactly where they are
equal, as `compare` says; what is of different kinds is in the order of `Kind`.
"""

from __future__ import annotations

import math
from decimal import Decimal

from profilec.values.kinds import Date, Kind, Timestamp, Value, kind_of
from profilec.values.numbers import MAX_RESULT_DIGITS, Number, exact

_LEAST, _NEGATIVE, _ZERO, _POSITIVE, _GREATEST = (bytes([number]) for number in range(5))
_COMPLEMENT = bytes(range(255, -1, -1))
_NEAR = 120
"""Exponents up to here take one byte."""
_MIDDLE = 128
_FAR = 2**63
_MOST_BITS = 10_000
"""Python refuses `str` of integers that are much longer."""


def ordered_bytes(value: Value) -> bytes:
    """The bytes of a value.

    >>> ordered_bytes(2) == ordered_bytes(2.0) == ordered_bytes(Decimal("2.00"))
    True
    >>> ordered_bytes(-1.5) < ordered_bytes(0.1) < ordered_bytes(10) < ordered_bytes("") < ordered_bytes(False)
    True

    Raises:
        ValueError: the value compares with nothing: NULL, NaN, an array or a record.
    """
    kind = kind_of(value)
    match value:
        case str():
            return bytes([kind]) + value.encode("utf-8", "surrogatepass")
        case Date(count) | Timestamp(count):
            return bytes([kind]) + ordered_number(count)
        case bool() | int() | float() | Decimal():
            return bytes([kind]) + ordered_number(value)
    raise ValueError(f"{'NULL' if value is None else type(value).__name__} compares with nothing, and has no order")


def value_of(data: bytes) -> Value:
    """The value of some bytes: an int or a Decimal for a number, equal to the one that gave them.

    >>> value_of(ordered_bytes(0.1)), value_of(ordered_bytes(-1e22)), value_of(ordered_bytes("é"))
    (Decimal('0.1'), -10000000000000000000000, 'é')

    Raises:
        ValueError: no value has these bytes.
    """
    try:
        value = _read(data)
    except UnicodeDecodeError:
        value = None
    if value is None or ordered_bytes(value) != data:
        raise ValueError(f"no value has the bytes {data[:20].hex(' ')}")
    return value


def ordered_number(value: Number) -> bytes:
    """A number's bytes without the kind.

    Raises:
        ValueError: the number is NaN.
    """
    if type(value) is float and math.isnan(value):
        raise ValueError("NaN is NULL, compares with nothing, and has no order")
    number = exact(value)
    if isinstance(number, int) and number.bit_length() <= _MOST_BITS:
        is_negative, digits, exponent = number < 0, str(abs(number)), 0
    else:
        decimal = Decimal(number)
        if decimal.is_nan():
            raise ValueError("NaN is NULL, compares with nothing, and has no order")
        if not decimal.is_finite():
            return _LEAST if decimal < 0 else _GREATEST
        sign, numbers, power = decimal.as_tuple()
        assert isinstance(power, int)
        is_negative, digits, exponent = sign == 1, "".join(map(str, numbers)).lstrip("0"), power
    exponent += len(digits)
    digits = digits.rstrip("0")
    if not digits:
        return _ZERO
    size = _exponent(exponent) + digits.encode()
    if is_negative:
        return _NEGATIVE + size.translate(_COMPLEMENT) + b"\xff"
    return _POSITIVE + size


def _exponent(exponent: int) -> bytes:
    if abs(exponent) <= _NEAR:
        return bytes([exponent + _MIDDLE])
    return (b"\xff" if exponent > 0 else b"\x00") + (exponent + _FAR).to_bytes(8, "big")


def _read(data: bytes) -> Value:
    kind, rest = data[:1], data[1:]
    if kind == bytes([Kind.STRING]):
        return rest.decode("utf-8", "surrogatepass")
    number = _read_number(rest)
    if kind == bytes([Kind.NUMBER]):
        return number
    if not isinstance(number, int):
        return None
    match kind[0]:
        case Kind.BOOLEAN:
            return bool(number)
        case Kind.DATE:
            return Date(number)
        case Kind.TIMESTAMP:
            return Timestamp(number)
    return None


def _read_number(data: bytes) -> int | Decimal | None:
    sign, size = data[:1], data[1:]
    if sign == _ZERO:
        return 0
    if sign in {_LEAST, _GREATEST}:
        return Decimal("-Infinity" if sign == _LEAST else "Infinity")
    if sign == _NEGATIVE:
        size = size[:-1].translate(_COMPLEMENT)
    if len(size) < 2 or sign not in {_NEGATIVE, _POSITIVE}:
        return None
    if size[0] in {0, 255}:
        exponent, digits = int.from_bytes(size[1:9], "big") - _FAR, size[9:]
    else:
        exponent, digits = size[0] - _MIDDLE, size[1:]
    if not digits.isdigit():
        return None
    # The text of a Decimal is read exactly, whatever the context's precision is.
    number = Decimal(f"{'-' if sign == _NEGATIVE else ''}{digits.decode()}E{exponent - len(digits)}")
    return int(number) if len(digits) <= exponent <= MAX_RESULT_DIGITS else number
