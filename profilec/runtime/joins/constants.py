"""The constants in which terms of one shape differ, in order: one probe of the store answers for all of them.

In: how many documents there are, and of each kind the least and the greatest of their values. Out: the terms for whose
constant some document has `value operator constant`.

    EXISTS d (d.amount > 500), … > 700, … > 900     the greatest amount is 800: the first two hold
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.store.columns import OTHER
from profilec.values.compare import order_key
from profilec.values.kinds import Kind, Value, kind_of


class Values(NamedTuple):
    """Some documents' values: how many documents, and for each kind how many of them, the least and the greatest."""

    n: int
    by_kind: Mapping[int, tuple[int, Value, Value]]


class ConstantIndex:
    """Terms by their constants, of one comparison."""

    def __init__(self, operator: str, or_other: bool, constants: Iterable[tuple[Value, int]]) -> None:
        """`constants`: each with the number of its term."""
        self._operator = operator
        self._or_other = or_other
        by_kind: dict[int, list[tuple[Value, int]]] = defaultdict(list)
        for value, term in constants:
            by_kind[kind_of(value)].append((value, term))
        self._by_kind: dict[int, tuple[list[Any], NDArray[np.int64]]] = {}
        for kind, pairs in by_kind.items():
            if kind != Kind.NULL:
                pairs.sort(key=lambda pair: order_key(pair[0]))
            keys = [order_key(value) for value, _ in pairs]
            self._by_kind[kind] = keys, np.array([term for _, term in pairs], np.int64)

    def terms(self, values: Values) -> list[NDArray[np.int64]]:
        """The terms that hold, in parts of at least one."""
        if not values.n:
            return []
        found = []
        for kind, (keys, terms) in self._by_kind.items():
            n, least, greatest = values.by_kind.get(kind, (0, None, None))
            if kind == Kind.NULL:
                n = 0
            if self._or_other and n < values.n:
                found.append(terms)
            elif n and self._operator != OTHER:
                found += self._compared(keys, terms, order_key(least), order_key(greatest))
        return [terms for terms in found if len(terms)]

    def _compared(self, keys: list[Any], terms: NDArray[np.int64], least: Any, greatest: Any) -> list[Any]:
        match self._operator:
            case "<":
                return [terms[bisect_right(keys, least) :]]
            case "<=":
                return [terms[bisect_left(keys, least) :]]
            case ">":
                return [terms[: bisect_left(keys, greatest)]]
            case ">=":
                return [terms[: bisect_right(keys, greatest)]]
        if least == greatest:  # =, or != : only of a single value can all be the same
            first, last = bisect_left(keys, least), bisect_right(keys, least)
            return [terms[first:last]] if self._operator == "=" else [terms[:first], terms[last:]]
        assert self._operator == "!="
        return [terms]


def holds_of(values: Values, operator: str, or_other: bool, constant: Value) -> bool:
    """The same for one constant."""
    return bool(ConstantIndex(operator, or_other, [(constant, 0)]).terms(values))
