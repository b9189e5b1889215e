"""A condition over the new document and an earlier one, for many earlier ones at once: what doubles can tell.

In: a program, the new document, columns of earlier numbers as doubles. Out: of each earlier document whether the
condition may be TRUE, and whether it is so for certain; what may be and is not certain is to be asked exactly.

    d.x - x                 a number: a double, and a bound on its distance from what `run` gives (running error
                            analysis: Higham, Accuracy and Stability of Numerical Algorithms, 3.3)
    (d.x - x) * 2 < 9       a truth: the set of truths that it may be; TRUE for certain where the bounds are apart

Invariant: the truth that `run` gives is in the set.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.program import Document, Program, popped, run
from profilec.runtime.store.columns import Column
from profilec.runtime.store.documents import DocumentStore
from profilec.runtime.store.order_keys import doubles_of_keys, order_key64
from profilec.values.compare import sign_satisfies, truth_and, truth_not, truth_or
from profilec.values.kinds import Kind, Truth, Value

TRUE, FALSE, UNKNOWN = 1, 2, 4
_MOST_BITS = 166
"""Of 1e50."""
_ANY = TRUE | FALSE | UNKNOWN
_OF_TRUTH = {True: TRUE, False: FALSE, None: UNKNOWN}
_ROUNDING = 2.0**-52
"""Twice the relative error of one rounding: that of a double for a decimal, and that of an operation."""
_WHOLE = 2.0**53
"""Whole numbers below are doubles; what + - * make of them is exact, if it is below, too."""
_LEAST, _GREATEST = 1e-290, 1e290
"""Results beyond are left to `run`."""
_LEAST_GIVEN, _GREATEST_GIVEN = 1e-50, 1e50
_MOST_CALLS = 64
"""Operands beyond, and longer programs, are left to `run`, too: exact results have no more than 65 * (50 + 17 + 50)
digits, and NULL, which is what more than MAX_RESULT_DIGITS give, does not come up."""

_Cells: TypeAlias = NDArray[np.float64] | float
_Sets: TypeAlias = NDArray[np.uint8] | int


class _Number(NamedTuple):
    """`value` is NaN where nothing is known."""

    value: _Cells
    error: _Cells
    is_null: NDArray[np.bool_] | bool


def can_estimate(program: Program) -> bool:
    """Whether doubles can tell anything of a condition."""
    n_calls = sum(instruction[0] == "call" for instruction in program)
    return n_calls <= _MOST_CALLS and all(map(_is_supported, program))


class Estimate:
    """A condition bound to a store. `can_tell`: see `can_estimate`."""

    def __init__(self, program: Program, store: DocumentStore) -> None:
        self.can_tell = can_estimate(program)
        self._steps: list[tuple[Program, _OldNumbers | None]] = []
        if self.can_tell:
            self._steps = [((instruction,), _old_numbers(instruction, store)) for instruction in program]

    def sets(self, new: Document, start: int, stop: int) -> NDArray[np.uint8]:
        """Of each document from serial `start` to before `stop` the truths that the condition may have."""
        stack: list[Any] = []
        with np.errstate(all="ignore"):
            for (instruction,), old in self._steps:
                match instruction[0]:
                    case "attribute":
                        stack.append(_of_value(run((instruction,), new)) if old is None else old.numbers(start, stop))
                    case "constant":
                        stack.append(_of_value(instruction[1]))
                    case "call":
                        _, name, n = instruction
                        operands = [_widened(number) for number in popped(stack, n)]
                        stack.append(_checked(_CALLS[name](*operands)))
                    case "compare":
                        left, right = popped(stack, 2)
                        stack.append(_compared(instruction[1], left, right))
                    case "is_null":
                        stack.append(_null_set(stack.pop()))
                    case "not":
                        stack.append(_NOT[stack.pop()])
                    case "is_truth":
                        stack.append(_IS_TRUTH[instruction[1]][stack.pop()])
                    case "literal":
                        stack.append(_OF_TRUTH[instruction[1]])
                    case _:
                        stack.append(_all_of(instruction[0], popped(stack, instruction[1])))
        sets = np.empty(stop - start, np.uint8)
        sets[:] = stack.pop()
        return sets


def _is_supported(instruction: Any) -> bool:
    match instruction[0]:
        case "attribute":
            return instruction[1] in (0, 1)
        case "call":
            return instruction[1] in _CALLS
    return instruction[0] in ("constant", "compare", "is_null", "not", "is_truth", "literal", "and", "or")


class _OldNumbers:
    """The numbers of a column, as doubles of its codes; made as codes come."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._of_code = np.zeros(0, np.float64)

    def numbers(self, start: int, stop: int) -> _Number:
        column = self._column
        n_known, n = len(self._of_code), len(column.values)
        if n_known < n:
            more = doubles_of_keys(column.keys.array[n_known:n])
            is_known = (column.kinds.array[n_known:n] == Kind.NUMBER) & column.is_exact.array[n_known:n]
            for place in np.flatnonzero(~column.is_exact.array[n_known:n]).tolist():
                is_known[place] = type(column.values[n_known + place]) is int
            size = np.abs(more)
            is_known &= (size == 0) | ((size >= _LEAST_GIVEN) & (size <= _GREATEST_GIVEN))
            self._of_code = np.concatenate((self._of_code, np.where(is_known, more, np.nan)))
        codes = column.codes.array[start:stop]
        return _Number(self._of_code[codes], 0.0, codes == 0)


def _old_numbers(instruction: Any, store: DocumentStore) -> _OldNumbers | None:
    is_old = instruction[0] == "attribute" and instruction[1] == 1
    return _OldNumbers(store.column((instruction,))) if is_old else None


def _of_value(value: Value) -> _Number:
    key = order_key64(value)
    if key.kind is Kind.NULL:
        return _Number(0.0, 0.0, True)
    number = np.nan
    if key.kind is Kind.NUMBER and (key.is_exact or (type(value) is int and value.bit_length() < _MOST_BITS)):
        number = float(cast(float, value))
    is_near = number == 0 or _LEAST_GIVEN <= abs(number) <= _GREATEST_GIVEN
    return _Number(number if is_near else np.nan, 0.0, False)


def _widened(number: _Number) -> _Number:
    """With room for what rounding to a double may have changed."""
    error = np.where(_is_whole(number), 0.0, number.error + _ROUNDING * np.abs(number.value))
    return number._replace(error=error)


def _checked(number: _Number) -> _Number:
    """With room for the operation's own rounding; nothing is known where that cannot be told."""
    size = np.abs(number.value)
    is_near = (size == 0) | ((size >= _LEAST) & (size <= _GREATEST))
    error = np.where(_is_whole(number), 0.0, number.error + _ROUNDING * size + _LEAST)
    return _Number(np.where(is_near, number.value, np.nan), error, number.is_null)


def _is_whole(number: _Number) -> Any:
    """Whether it is, without error, a whole number that a double holds. (A quotient of such is what `run` gives: it
    divides doubles, too.)"""
    return (number.error == 0) & (np.abs(number.value) < _WHOLE) & (np.rint(number.value) == number.value)


def _added(left: _Number, right: _Number) -> _Number:
    return _Number(left.value + right.value, left.error + right.error, left.is_null | right.is_null)


def _subtracted(left: _Number, right: _Number) -> _Number:
    return _Number(left.value - right.value, left.error + right.error, left.is_null | right.is_null)


def _multiplied(left: _Number, right: _Number) -> _Number:
    error = np.abs(left.value) * right.error + np.abs(right.value) * left.error + left.error * right.error
    return _Number(left.value * right.value, error, left.is_null | right.is_null)


def _divided(left: _Number, right: _Number) -> _Number:
    """Of a divisor that may be 0 nothing is known."""
    is_null = left.is_null | right.is_null
    least = np.abs(right.value) - right.error
    least = np.where(least > 0, least, np.nan)
    value = np.divide(left.value, right.value)
    error = (left.error + np.abs(value) * right.error) / least
    return _Number(np.where(least > 0, value, np.nan), error, is_null)


def _negated(number: _Number) -> _Number:
    return number._replace(value=-number.value)


def _absolute(number: _Number) -> _Number:
    return number._replace(value=np.abs(number.value))


_CALLS: dict[str, Callable[..., _Number]] = {
    "+": _added,
    "-": _subtracted,
    "*": _multiplied,
    "/": _divided,
    "NEGATE": _negated,
    "ABS": _absolute,
}


def _compared(operator: str, left: _Number, right: _Number) -> _Sets:
    left, right = _widened(left), _widened(right)
    distance = left.value - right.value
    error = left.error + right.error
    margin = np.where(error > 0, error + _LEAST, error)
    apart = np.where(np.abs(distance) > margin, np.where(distance > 0, 2, 0), np.where(margin > 0, 1, 4))
    sets = _OF_DISTANCE[operator][np.where(np.isnan(distance) | np.isnan(margin), 3, apart)]
    return np.where(left.is_null | right.is_null, np.uint8(UNKNOWN), sets)


def _null_set(number: _Number) -> _Sets:
    """A number of which nothing is known may be NULL: so is what divides by 0."""
    known = np.where(np.isnan(number.value), TRUE | FALSE, FALSE)
    return np.where(number.is_null, TRUE, known).astype(np.uint8)


def _all_of(word: str, sets: list[_Sets]) -> _Sets:
    table, found = (_AND, TRUE) if word == "and" else (_OR, FALSE)
    result: _Sets = found
    for own in sets:
        result = table[result, own]
    return result


def _table(of: Callable[..., Truth], n: int) -> NDArray[np.uint8]:
    """What a connective makes of sets of truths."""
    table = np.zeros((8,) * n, np.uint8)
    truths = list(_OF_TRUTH.items())
    for sets in product(range(8), repeat=n):
        for chosen in product(truths, repeat=n):
            if all(own & bit for own, (_, bit) in zip(sets, chosen, strict=True)):
                table[sets] |= _OF_TRUTH[of(*(truth for truth, _ in chosen))]
    return table


_NOT = _table(truth_not, 1)
_IS_TRUTH = {wanted: _table(lambda truth, wanted=wanted: truth is wanted, 1) for wanted in (True, False, None)}
_AND = _table(lambda left, right: truth_and([left, right]), 2)
_OR = _table(lambda left, right: truth_or([left, right]), 2)
_OF_DISTANCE = {
    operator: np.array(
        [
            _OF_TRUTH[sign_satisfies(operator, -1)],
            TRUE | FALSE,
            _OF_TRUTH[sign_satisfies(operator, 1)],
            _ANY,
            _OF_TRUTH[sign_satisfies(operator, 0)],
        ],
        np.uint8,
    )
    for operator in ("=", "!=", "<", "<=", ">", ">=")
}
"""What a comparison may be: of a number that is less, near, greater, not known, equal."""
