"""A column of the store: what one expression over an earlier document is for each of them, as codes.

In: values, in the order in which documents come. Out: a code for each. Equal values have one code whatever their
Python type (2, 2.0 and Decimal("2.00")), found by hash; the order of values is kept beside the codes, see `order_keys`.

Code 0 is NULL, and 1 every array and record: neither equals anything.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32
from profilec.runtime.program import Program
from profilec.runtime.store.growing import Growing
from profilec.runtime.store.order_keys import OrderKey, order_key64
from profilec.values.compare import order, order_key, sign_satisfies
from profilec.values.kinds import Date, Kind, Timestamp, Value
from profilec.values.numbers import exact, normal

NULL_CODE, OPAQUE_CODE = 0, 1
OTHER = "other"
"""The operator that holds only where values do not compare."""
_TYPES = (bool, int, float, Decimal, str, Date, Timestamp)


class Asked:
    """A value of the new document as columns are asked about it."""

    __slots__ = ("compares", "is_exact", "key", "kind", "value")

    def __init__(self, value: Value) -> None:
        self.value = value
        self.kind, self.key, self.is_exact = order_key64(value)
        self.compares = self.kind is not Kind.NULL and self.kind is not Kind.OPAQUE


class Column:
    """`codes`: one for each document, deleted ones included. The others are one for each code."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.codes = Growing(np.int32)
        self.values: list[Value] = []
        self.kinds = Growing(np.uint8)
        self.keys = Growing(np.int64)
        self.is_exact = Growing(np.bool_)
        self.all_exact = True
        self._codes_of: dict[type, dict[Any, int]] = {type_: {} for type_ in _TYPES}
        self._codes_of[type(None)] = {None: NULL_CODE}
        self._add_code(None, order_key64(None))
        self._add_code([], order_key64([]))

    def code_of(self, value: Value) -> int:
        """The code of a value; -1 where no document has had it."""
        codes = self._codes_of.get(type(value))
        if codes is None:
            return OPAQUE_CODE
        code = codes.get(value)
        if code is None:
            canonical = _canonical(value)
            code = -1 if canonical is value else self._codes_of[type(canonical)].get(canonical, -1)
        return code

    def codes_of(self, values: list[Value]) -> Int32:
        """The codes of many."""
        types = set(map(type, values)) - {type(None)}
        if len(types) == 1 and types <= {int, str}:  # PERF: each is its own representative
            known = self._codes_of[types.pop()].get
            return np.array([NULL_CODE if value is None else known(value, -1) for value in values], np.int32)
        return np.array([self.code_of(value) for value in values], np.int32)

    def intern(self, value: Value) -> int:
        """The code of a value, which it is given where it has none."""
        code = self.code_of(value)
        if code < 0:
            canonical = _canonical(value)
            code = self._codes_of[type(canonical)][canonical] = self._add_code(canonical, order_key64(canonical))
            self._codes_of[type(value)][value] = code
        return code

    def extend(self, values: Iterable[Value]) -> None:
        """The values of the next documents."""
        intern = self.intern
        self.codes.extend(np.array([intern(value) for value in values], np.int32))

    def extend_distinct(self, values: Iterable[Value], positions: NDArray[np.int64]) -> None:
        """The same, as distinct values and the position of each document's among them."""
        codes = np.array([self.intern(value) for value in values], np.int32)
        self.codes.extend(codes[positions])

    def is_less(self, one: int, other: int) -> bool:
        """Whether the value of a code is less than that of another of its kind."""
        left, right = self.keys.item(one), self.keys.item(other)
        if left != right or (self.is_exact.item(one) and self.is_exact.item(other)):
            return bool(left < right)
        return bool(order_key(self.values[one]) < order_key(self.values[other]))

    def sign(self, code: int, asked: Asked) -> int:
        """-1, 0, 1 as the code's value is less than, equal to, greater than what is asked, which is of its kind."""
        key = self.keys.item(code)
        if key != asked.key:
            return -1 if key < asked.key else 1
        if asked.is_exact and self.is_exact.item(code):
            return 0
        sign = order(self.values[code], asked.value)
        assert sign is not None
        return sign

    def holds(self, code: int, operator: str, asked: Asked, or_other: bool) -> bool:
        """The truth of `value of code, operator, what is asked`; `or_other` is what is said where they do not
        compare."""
        if not asked.compares or self.kinds.item(code) != asked.kind:
            return or_other
        return operator != OTHER and sign_satisfies(operator, self.sign(code, asked))

    def all_holding(self, operator: str, asked: Asked, or_other: bool) -> NDArray[np.bool_]:
        """The same for all codes."""
        kinds, keys = self.kinds.array, self.keys.array
        if not asked.compares:
            return np.full(len(kinds), or_other)
        same = kinds == asked.kind
        if operator == OTHER:
            differs: NDArray[np.bool_] = ~same
            return differs
        truths: NDArray[np.bool_] = _COMPARE[operator](keys, asked.key)
        if not asked.is_exact or not self.all_exact:
            near = np.flatnonzero(same & (keys == asked.key)).tolist()
            if isinstance(asked.value, str):  # PERF: texts often begin alike, and compare as code points do
                compares, values, text = _COMPARE_TEXTS[operator], cast(list[str], self.values), asked.value
                truths[near] = [compares(values[code], text) for code in near]
            else:
                truths[near] = [sign_satisfies(operator, self.sign(code, asked)) for code in near]
        if or_other:
            truths |= ~same
        else:
            truths &= same
        return truths

    def codes_from(self, start: int) -> Int32:
        """The codes of the documents from a serial on."""
        codes: Int32 = self.codes.array[start:]
        return codes

    def _add_code(self, value: Value, key: OrderKey) -> int:
        self.values.append(value)
        self.kinds.append(key.kind)
        self.keys.append(key.key)
        self.is_exact.append(key.is_exact)
        self.all_exact = self.all_exact and key.is_exact
        return len(self.values) - 1


_COMPARE = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


_COMPARE_TEXTS = {
    "=": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}


def _canonical(value: Any) -> Any:
    """The one representative of equal values; where `value` is that, itself."""
    if type(value) is float:
        return normal(exact(value))
    if type(value) is Decimal:
        canonical = normal(value)
        return value if type(canonical) is Decimal else canonical  # equal decimals are equal keys
    return value
