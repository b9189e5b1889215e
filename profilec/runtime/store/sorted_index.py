"""A column's values in order, with the documents that have them: an augmented B-tree (Tatbul 2001, 4.2).

In: codes of documents as they come and go. Out: whether a document has a value in a range, the extremes, and the
documents whose values are in a range, as a bit vector.

LAYOUT: a B+-tree of two levels: leaves of up to `_MOST` documents (more where one value has them), each with its codes
in order and the bit vector of its documents, and a directory of what each leaf begins with. A range is the union of
the bit vectors of the leaves inside of it, and of the codes at its two edges. A sorted array would be rewritten
at each insertion; here a leaf is, and it is cut in two where it grows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from profilec.runtime.store.columns import OPAQUE_CODE, Asked, Column
from profilec.runtime.store.groups import GroupIndex
from profilec.runtime.store.growing import Growing
from profilec.values.compare import order_key

_MOST = 4_096
_TOGETHER = 32
"""Leaves of which the union is kept."""
_SHIFT = 64


class _Leaf:
    __slots__ = ("codes", "documents", "places")

    def __init__(self, places: list[int], codes: list[int], documents: BitMap) -> None:
        self.places = places
        self.codes = codes
        self.documents = documents


class SortedIndex:
    """See the module. `of_value`: the groups of the column's values, which know how many documents have each."""

    def __init__(self, column: Column, of_value: GroupIndex, is_alive: Growing) -> None:
        self.column = column
        self._of_value = of_value
        self._is_alive = is_alive
        self._leaves: list[_Leaf] = []
        self._firsts: list[int] = []
        """The place of each leaf's first code; a place is (kind, key) in one integer."""
        self._unions: list[BitMap] = []
        """Of `_TOGETHER` leaves each; none where they are to be made."""

    def load(self) -> None:
        """Builds it from all documents there are."""
        column = self.column
        serials = np.flatnonzero(self._is_alive.array[: column.codes.n] & (column.codes.array > OPAQUE_CODE))
        codes = column.codes.array[serials]
        by_code = np.argsort(codes, kind="stable")
        serials, codes = serials[by_code], codes[by_code]
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        ends = np.append(starts, len(codes))[1:]
        ordered = self._in_order(codes[starts].tolist())
        span_of = dict(zip(codes[starts].tolist(), zip(starts.tolist(), ends.tolist(), strict=True), strict=True))
        self._leaves, self._firsts, self._unions = [], [], []
        chosen: list[int] = []
        n = 0
        for code in ordered:
            start, end = span_of[code]
            if chosen and n + end - start > _MOST:
                self._append(chosen, span_of, serials)
                chosen, n = [], 0
            chosen.append(code)
            n += end - start
        if chosen:
            self._append(chosen, span_of, serials)

    def _append(self, codes: list[int], span_of: dict[int, tuple[int, int]], serials: NDArray[np.int64]) -> None:
        documents = BitMap(np.concatenate([serials[slice(*span_of[code])] for code in codes]).astype(np.uint32))
        places = [self._place(code) for code in codes]
        self._leaves.append(_Leaf(places, codes, documents))
        self._firsts.append(places[0])

    def add(self, serial: int) -> None:
        """A new document, which `of_value` and the column have."""
        code = int(self.column.codes[serial])
        if code <= OPAQUE_CODE:
            return
        if not self._leaves:
            self._leaves, self._firsts = [_Leaf([self._place(code)], [code], BitMap([serial]))], [self._place(code)]
            self._unions = []
            return
        number, at, is_there = self._find(code)
        leaf = self._leaves[number]
        leaf.documents.add(serial)
        if self._unions:
            self._unions[number // _TOGETHER].add(serial)
        if not is_there:
            leaf.places.insert(at, self._place(code))
            leaf.codes.insert(at, code)
            self._firsts[number] = leaf.places[0]
            if len(leaf.documents) > _MOST and len(leaf.codes) > 1:
                self._cut(number)

    def remove(self, serial: int, is_last: bool) -> None:
        """A document that is deleted. `is_last`: no other has its value."""
        code = int(self.column.codes[serial])
        if code <= OPAQUE_CODE:
            return
        number, at, _ = self._find(code)
        leaf = self._leaves[number]
        leaf.documents.discard(serial)
        if self._unions:
            self._unions[number // _TOGETHER].discard(serial)
        if is_last:
            del leaf.places[at], leaf.codes[at]
            if not leaf.codes:
                del self._leaves[number], self._firsts[number]
                self._unions = []
            else:
                self._firsts[number] = leaf.places[0]

    def extremes(self, kind: int) -> tuple[int, int]:
        """The codes of the least and the greatest value of a kind, of which there are some."""
        low, high = self._edge(kind << _SHIFT, _never), self._edge((kind + 1) << _SHIFT, _never)
        return self._code_at(low), self._code_at(self._step_back(high))

    def any_between(self, low: Asked, low_operator: str, high: Asked, high_operator: str) -> bool:
        """Whether a document has a value with `value low_operator low` and `value high_operator high`."""
        if low.kind != high.kind or not low.compares:
            return False
        return self._lower(low, low_operator) < self._upper(high, high_operator)

    def of_kind(self, kind: int) -> BitMap:
        """The documents whose value is of that kind."""
        return self._between(self._edge(kind << _SHIFT, _never), self._edge((kind + 1) << _SHIFT, _never))

    def documents(self, operator: str, asked: Asked) -> BitMap:
        """The documents whose value compares so with what is asked."""
        if not asked.compares or not self._leaves:
            return BitMap()
        match operator:
            case ">" | ">=":
                return self._between(self._lower(asked, operator), self._edge((asked.kind + 1) << _SHIFT, _never))
            case "<" | "<=":
                return self._between(self._edge(asked.kind << _SHIFT, _never), self._upper(asked, operator))
        equal = self._between(self._lower(asked, ">="), self._upper(asked, "<="))
        return equal if operator == "=" else self.of_kind(asked.kind) - equal

    def _place(self, code: int) -> int:
        return (int(self.column.kinds[code]) << _SHIFT) + int(self.column.keys[code]) + _HALF

    def _in_order(self, codes: list[int]) -> list[int]:
        if self.column.all_exact:
            return sorted(codes, key=self._place)
        values = self.column.values
        return sorted(codes, key=lambda code: (self._place(code), order_key(values[code])))

    def _find(self, code: int) -> tuple[int, int, bool]:
        """The leaf and the place in it of a code, and whether it is there."""
        place = self._place(code)
        number, at = self._edge(place, lambda other: self.column.is_less(other, code))
        if number < len(self._leaves) and self._leaves[number].codes[at] == code:
            return number, at, True
        if at == 0 and number:  # it goes behind the last of the leaf before
            number -= 1
            at = len(self._leaves[number].codes)
        return number, at, False

    def _edge(self, place: int, is_before: Callable[[int], bool]) -> tuple[int, int]:
        """The first position whose code is not before: by its place, or where that is the same, by `is_before`."""
        number, beyond = max(bisect_left(self._firsts, place) - 1, 0), bisect_right(self._firsts, place)
        while number < beyond:  # the first leaf whose last code is not before
            middle = (number + beyond) // 2
            last, code = self._leaves[middle].places[-1], self._leaves[middle].codes[-1]
            if last < place or (last == place and is_before(code)):
                number = middle + 1
            else:
                beyond = middle
        if number == len(self._leaves):
            return number, 0
        leaf = self._leaves[number]
        at = bisect_left(leaf.places, place)
        end = bisect_right(leaf.places, place, at)
        while at < end:
            middle = (at + end) // 2
            if is_before(leaf.codes[middle]):
                at = middle + 1
            else:
                end = middle
        return number, at

    def _lower(self, asked: Asked, operator: str) -> tuple[int, int]:
        """The first position of a value > or >= what is asked."""
        bound = 0 if operator == ">=" else 1
        return self._edge(_place_of(asked), lambda code: self.column.sign(code, asked) < bound)

    def _upper(self, asked: Asked, operator: str) -> tuple[int, int]:
        """One past the last position of a value < or <= what is asked."""
        bound = 0 if operator == "<" else 1
        return self._edge(_place_of(asked), lambda code: self.column.sign(code, asked) < bound)

    def _code_at(self, position: tuple[int, int]) -> int:
        return self._leaves[position[0]].codes[position[1]]

    def _step_back(self, position: tuple[int, int]) -> tuple[int, int]:
        number, at = position
        return (number, at - 1) if at else (number - 1, len(self._leaves[number - 1].codes) - 1)

    def _between(self, begin: tuple[int, int], end: tuple[int, int]) -> BitMap:
        if begin >= end:
            return BitMap()
        (first, at), (last, stop) = begin, end
        if first == last:
            return self._of_codes(self._leaves[first].codes[at:stop])
        parts = self._whole(first + (at > 0), last)
        if at:
            parts.append(self._of_codes(self._leaves[first].codes[at:]))
        if stop:
            parts.append(self._of_codes(self._leaves[last].codes[:stop]))
        return BitMap.union(*parts) if parts else BitMap()

    def _whole(self, first: int, last: int) -> list[BitMap]:
        """Bit vectors whose union is that of the leaves from `first` to before `last`."""
        if not self._unions:
            starts = range(0, len(self._leaves), _TOGETHER)
            together = [self._leaves[start : start + _TOGETHER] for start in starts]
            self._unions = [BitMap.union(*(leaf.documents for leaf in leaves)) for leaves in together]
        begin, end = -(-first // _TOGETHER), last // _TOGETHER
        if begin >= end:
            return [leaf.documents for leaf in self._leaves[first:last]]
        edges = self._leaves[first : begin * _TOGETHER] + self._leaves[end * _TOGETHER : last]
        return self._unions[begin:end] + [leaf.documents for leaf in edges]

    def _of_codes(self, codes: list[int]) -> BitMap:
        return BitMap([serial for code in codes for serial in self._serials(code)])

    def _serials(self, code: int) -> Iterator[int]:
        return self._of_value.newest_first(self._of_value.group_of((code,)), self._is_alive)

    def _cut(self, number: int) -> None:
        leaf = self._leaves[number]
        half = len(leaf.codes) // 2
        left = self._of_codes(leaf.codes[:half])
        right = _Leaf(leaf.places[half:], leaf.codes[half:], leaf.documents - left)
        self._leaves[number : number + 1] = [_Leaf(leaf.places[:half], leaf.codes[:half], left), right]
        self._firsts.insert(number + 1, right.places[0])
        self._unions = []


_HALF = 2**63


def _place_of(asked: Asked) -> int:
    return (asked.kind << _SHIFT) + asked.key + _HALF


def _never(code: int) -> bool:
    return False
