"""Values of which the least and the greatest are known, as keys, and comparisons with them.

In: of each kind the least and the greatest value of some documents, and which kinds there are. Out: whether some value
satisfies a comparison, with one value or with the constants of many terms. As `runtime.joins.constants`, of keys.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.joins.conjuncts import Comparison
from profilec.runtime.store.columns import OTHER
from profilec.spark.join_keys import key_of
from profilec.spark.join_rows import keys_satisfy
from profilec.values.kinds import Kind, Value

Bools: TypeAlias = NDArray[np.bool_]


class Group(NamedTuple):
    """What is known of some values: of each kind the least and the greatest, and which kinds there are."""

    least: Mapping[int, bytes]
    greatest: Mapping[int, bytes]
    kinds: frozenset[int]

    def holds(self, comparison: Comparison, other: bytes | None) -> bool:
        """Whether `value operator other` holds of one of them."""
        kind = Kind.NULL if other is None else other[0]
        if comparison.or_other and self.kinds - ({kind} if other is not None else set()):
            return True
        if other is None or comparison.operator == OTHER:
            return False
        sides = (self.least, self.greatest) if comparison.operator == "!=" else (self._side(comparison.operator),)
        found = [side[kind] for side in sides if kind in side]
        return any(keys_satisfy(comparison, key, other) for key in found)

    def _side(self, operator: str) -> Mapping[int, bytes]:
        return self.least if operator[0] == "<" else self.greatest


def _of_one(key: bytes | None) -> Group:
    """A value alone."""
    if key is None:
        return Group({}, {}, frozenset([Kind.NULL]))
    return Group({key[0]: key}, {key[0]: key}, frozenset([key[0]]))


def each_alone(keys: list[bytes | None]) -> list[Group]:
    """Values, each as that of one document."""
    groups = {key: _of_one(key) for key in set(keys)}
    return [groups[key] for key in keys]


class Constants:
    """Constants of terms, in order, each compared with the same values."""

    def __init__(self, comparison: Comparison, constants: Sequence[Value]) -> None:
        self._comparison = comparison
        self._n = len(constants)
        by_kind: dict[int | None, list[tuple[bytes, int]]] = defaultdict(list)
        self._nulls: list[int] = []
        for place, value in enumerate(constants):
            key = key_of(value)
            if key is None:
                self._nulls.append(place)
            else:
                by_kind[key[0]].append((key, place))
        self._by_kind: dict[Any, tuple[list[bytes], NDArray[np.int64]]] = {}
        for kind, pairs in by_kind.items():
            pairs.sort()
            self._by_kind[kind] = [key for key, _ in pairs], np.array([place for _, place in pairs], np.int64)

    def holding(self, group: Group) -> Bools:
        """Of which constants `value operator constant` holds for some value."""
        found = np.zeros(self._n, np.bool_)
        operator, or_other = self._comparison.operator, self._comparison.or_other
        if or_other and group.kinds:
            found[self._nulls] = True
        for kind, (keys, places) in self._by_kind.items():
            if or_other and group.kinds - {kind}:
                found[places] = True
            elif kind in group.least or kind in group.greatest:
                least, greatest = group.least.get(kind, b""), group.greatest.get(kind, b"")
                found[_compared(operator, keys, places, least, greatest)] = True
        return found


def _compared(
    operator: str, keys: list[bytes], places: NDArray[np.int64], least: bytes, greatest: bytes
) -> NDArray[np.int64]:
    match operator:
        case "<":
            return places[bisect_right(keys, least) :]
        case "<=":
            return places[bisect_left(keys, least) :]
        case ">":
            return places[: bisect_left(keys, greatest)]
        case ">=":
            return places[: bisect_right(keys, greatest)]
    first, last = bisect_left(keys, least), bisect_right(keys, least)
    if operator == "=":
        return places[first:last]
    if operator == "!=":
        return places if least != greatest else np.concatenate((places[:first], places[last:]))
    return places[:0]
