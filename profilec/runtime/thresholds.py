"""Constants as thresholds in a column's own type, so that ranks of whole columns are one exact search.

In: the sorted constants of one kind, and a machine type. Out: a sorted array of that type such that

    count(thresholds <= v) = count(c < v) + count(c <= v)        for every value v of the type

which is the rank of v within its kind's block (`image.Constants`). Nothing is rounded: each
constant gives the least value of the type that is above it and the least that is not below it.
Values that do not exist (nothing of the type is above the constant) are left out.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import compress
from operator import not_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.imagefile.columns import Integers
from profilec.values.kinds import from_document
from profilec.values.numbers import Exact, exact

MANY = 4_096
"""PERF: constants of whose thresholds no Python objects are made: those of a million take a second to make."""
_LEAST = -sys.float_info.max_10_exp + 2 * sys.float_info.dig
"""Powers of ten near which doubles have all their bits."""
_MAX_EXACT_INTEGER = {"f8": 2**53, "f4": 2**24, "f2": 2**11}


def whole_thresholds(constants: Sequence[Exact]) -> Sequence[float]:
    """Thresholds for integers of any size, as Python has them; a constant that is below all of them is an infinity. Of
    many constants a view of int64.

    >>> whole_thresholds((5, Decimal("7.5"), Decimal("Infinity"))), whole_thresholds((Decimal("-Infinity"),))
    ([5, 6, 8, 8], [-inf, -inf])
    """
    if len(constants) > MANY and _whole(constants, -(2**63), 2**63 - 2):
        return integer_thresholds(constants, np.dtype(np.int64)).data
    found: list[float] = []
    for constant in constants:
        if isinstance(constant, int):
            found += (constant, constant + 1)
        elif constant.is_finite():
            found += (math.ceil(constant), math.floor(constant) + 1)
        elif constant < 0:
            found += (-math.inf, -math.inf)
    found.sort()
    return found


def integer_thresholds(constants: Sequence[Exact], dtype: np.dtype[Any], *, per: int = 1, of: int = 1) -> NDArray[Any]:
    """Thresholds for integers v of `dtype` that stand for v * per / of.

    >>> integer_thresholds((5, Decimal("7.5")), np.dtype("int64")).tolist()
    [5, 6, 8, 8]
    >>> integer_thresholds((Decimal("0.25"),), np.dtype("int64"), of=100).tolist()      # decimals of scale 2
    [25, 26]
    """
    limits = np.iinfo(dtype)
    if per == of == 1 and _whole(constants, int(limits.min), int(limits.max) - 1):
        below = _array(constants, dtype)
        return _interleaved(below, below + dtype.type(1))
    found: list[int] = []
    for constant in constants:
        if isinstance(constant, Decimal) and not constant.is_finite():
            found += [limits.min, limits.min] if constant < 0 else []
            continue
        place = constant if of == per == 1 else Fraction(constant) * of / per
        for least in (math.ceil(place), math.floor(place) + 1):
            if least <= limits.max:
                found.append(max(least, limits.min))
    return _ascending(found, dtype)


def float_thresholds(constants: Sequence[Exact], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Thresholds for floats, each of which stands for an integer or for its shortest decimal.

    >>> float_thresholds((Decimal("0.1"),), np.dtype("float64")).tolist()
    [0.1, 0.10000000000000002]
    """
    limit = _MAX_EXACT_INTEGER[dtype.str[1:]]
    if _whole(constants, -limit, limit):
        exactly = _array(constants, dtype)
        return _interleaved(exactly, np.nextafter(exactly, dtype.type(np.inf)))
    others: Iterable[Exact] = constants
    found: list[Any] = []
    if dtype == np.float64:  # PERF: most constants are short, and so many are done at once
        are_short = list(map(_is_short, constants))
        exactly = np.array(list(compress(constants, are_short)), np.float64)
        found += _interleaved(exactly, np.nextafter(exactly, np.inf)).tolist()
        others = compress(constants, map(not_, are_short))
    with np.errstate(all="ignore"):  # a step beyond the greatest float, or to the least, is no accident here
        found += [threshold for constant in others for threshold in _float_thresholds(constant, dtype)]
    return _ascending(found, dtype)


def _is_short(constant: Exact) -> bool:
    """Whether the double next to a constant stands for it. No two decimals of so few digits have the same one; doubles
    that have no fraction stand for integers, which from 2**53 on are others."""
    if isinstance(constant, int):
        return -_MAX_EXACT_INTEGER["f8"] <= constant <= _MAX_EXACT_INTEGER["f8"]
    _, digits, exponent = constant.as_tuple()
    return isinstance(exponent, int) and exponent > _LEAST and len(digits) + max(exponent, 0) <= sys.float_info.dig


def _float_thresholds(constant: Exact, dtype: np.dtype[Any]) -> list[Any]:
    """The least float that is not below the constant, and the least above it; as far as they exist."""
    least = _nearest(constant, dtype)
    is_it = (type(constant) is int and abs(constant) <= _MAX_EXACT_INTEGER[dtype.str[1:]]) or _exact(least) == constant
    if not is_it:
        least = _least_not_below(constant, least)
        is_it = _exact(least) == constant
    if not is_it:
        return [least, least] if _exact(least) > constant else []
    infinity = dtype.type(np.inf)
    return [least] if least == infinity else [least, np.nextafter(least, infinity)]


def _least_not_below(constant: Exact, value: Any) -> Any:
    """The least float that is not below the constant, searched for from one near it; else the greatest of all."""
    infinity = type(value)(np.inf)
    while _exact(value) < constant and value != infinity:
        value = np.nextafter(value, infinity)
    while (below := np.nextafter(value, -infinity)) != value and _exact(below) >= constant:
        value = below
    return value


def _nearest(constant: Exact, dtype: np.dtype[Any]) -> Any:
    try:
        double = float(constant)
    except OverflowError:
        double = math.inf if constant > 0 else -math.inf
    return dtype.type(double)


def _exact(value: Any) -> Exact:
    """The number that a float of any width stands for."""
    return exact(from_document(value))  # type: ignore[arg-type]


def _whole(constants: Sequence[Exact], low: int, high: int) -> bool:
    """Whether all the constants, which ascend, are integers from `low` to `high`. PERF: most are, and need no care."""
    if not len(constants) or constants[0] < low or constants[-1] > high:
        return False
    return isinstance(constants, Integers) or set(map(type, constants)) == {int}


def _array(constants: Sequence[Exact], dtype: np.dtype[Any]) -> NDArray[Any]:
    return constants.array.astype(dtype) if isinstance(constants, Integers) else np.array(constants, dtype)


def _interleaved(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    return np.stack((left, right), axis=1).reshape(-1)


def _ascending(values: Iterable[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    array = np.array(list(values), dtype)
    array.sort()
    return array
