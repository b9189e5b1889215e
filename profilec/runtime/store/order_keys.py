"""The order of values as integers: what sorts the same way, and says where it cannot tell.

    NUMBER      the bits of the nearest double
    STRING      the first eight bytes of its UTF-8, whose order is that of code points
    others      days, nanoseconds, 0 and 1

Invariant: within a kind, a < b implies key(a) <= key(b); and two exact keys are equal only where the values are.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.values.kinds import Date, Kind, Timestamp, Value, kind_of
from profilec.values.numbers import exact

_FIRST, _LAST = -(2**63), 2**63 - 1
_BYTES = 8
_WHOLE = 2**53
"""Integers up to here are doubles."""
_double, _word = struct.Struct(">d"), struct.Struct(">q")


class OrderKey(NamedTuple):
    """`key`: an int64. `is_exact`: no other value has it."""

    kind: Kind
    key: int
    is_exact: bool


def order_key64(value: Value) -> OrderKey:
    """The key of a value; of NULL and of arrays and records, which have no order, 0.

    >>> order_key64(2).key == order_key64(2.0).key, order_key64(2).key < order_key64(2.5).key
    (True, True)
    >>> order_key64(2**53 + 1).is_exact, order_key64("a longer text").is_exact
    (False, False)
    """
    kind = kind_of(value)
    if kind is Kind.NUMBER:  # PERF: to match a pattern takes longer
        return OrderKey(kind, *key_of_number(value))  # type: ignore[arg-type]
    match value:
        case bool():
            return OrderKey(kind, int(value), True)
        case str():
            raw = value.encode("utf-8", "surrogatepass")
            key = int.from_bytes(raw[:_BYTES].ljust(_BYTES, b"\0"), "big") + _FIRST
            return OrderKey(kind, key, len(raw) <= _BYTES and not raw.endswith(b"\0"))
        case Date(count) | Timestamp(count):
            return OrderKey(kind, min(max(count, _FIRST), _LAST), _FIRST < count < _LAST)
    return OrderKey(kind, 0, True)


def keys_beginning_with(text: str) -> tuple[int, int]:
    """The least and the greatest key of strings that begin so.

    >>> low, high = keys_beginning_with("ab")
    >>> low <= order_key64("abc").key <= high < order_key64("ac").key
    True
    """
    raw = text.encode("utf-8", "surrogatepass")[:_BYTES]
    low, high = (int.from_bytes(raw.ljust(_BYTES, fill), "big") + _FIRST for fill in (b"\0", b"\xff"))
    return low, high


def order_keys_of_words(words: NDArray[np.int64] | NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The keys of many numbers, and whether each is exact."""
    nearest = np.add(words, 0.0, dtype=np.float64)  # + 0.0: as in `key_of_number`
    keys = _turned(nearest.view(np.int64))
    if words.dtype.kind == "f":
        return keys, np.ones(len(words), np.bool_)
    return keys, (words >= -_WHOLE) & (words <= _WHOLE)


def doubles_of_keys(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """The doubles that keys of numbers are the bits of.

    >>> doubles_of_keys(order_keys_of_words(np.array([2.5, -1.0]))[0]).tolist()
    [2.5, -1.0]
    """
    return _turned(keys).view(np.float64)


def _turned(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bits of doubles as integers of the same order, and back."""
    turned = bits >> 63
    turned &= _LAST
    turned ^= bits
    return turned


def key_of_number(value: int | float | Decimal) -> tuple[int, bool]:
    """The key of a number, and whether no other value has it."""
    if type(value) is float:
        nearest, is_exact = value, True
    else:
        try:
            nearest = float(value)
            is_exact = exact(nearest) == value
        except OverflowError:
            nearest, is_exact = (float("inf") if value > 0 else float("-inf")), False
    (bits,) = _word.unpack(_double.pack(nearest + 0.0))  # + 0.0: minus zero is zero
    return (bits if bits >= 0 else bits ^ _LAST), is_exact
