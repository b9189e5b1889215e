"""Which virtual constructs that cover a cell have entries, told in four ways (VCI 2.2, 3 and 4).

In: the lists of the constructs. Out: for a cell, the coordinates of the activated constructs that cover it, ascending.

    L = 4, simple, interval [0,6)     activated 3 [0,4) and 17 [4,6)     cell 4, whose covering segment is 7 .. 19
    plain        a bit for every construct       ...3: 0 ... 17: 1 ...
    clipped      one for those of the segment    10: 1, since 17 = 7 + 10
    virtual      the headers of the segment      17 is not empty, starts at 17 // 4, ends before 4 + 2: covers 4
    table        the headers of 7 + 0, 7 + 3, 7 + 4, 7 + 6, ...: those that cover 4, whether or not they are empty

Left open by the paper and decided here: a bit vector of all N constructs for each cell would be N bits for each of R
cells, hundreds of megabytes for some ten thousand intervals. Of a plain one, bytes that are 0 are not stored.

Invariant: a bit is 1 iff its construct covers the cell and has an entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from profilec.runtime.indexes.construct_cost import Form
from profilec.runtime.indexes.construct_lists import ConstructLists
from profilec.runtime.indexes.constructs import Constructs, Int64, distance_table, extents, first_covering, segment_size
from profilec.runtime.indexes.posting_lists import offsets

_AT_ONCE = 1 << 22


class Activation(Protocol):
    """Which constructs are activated."""

    def at(self, cell: int) -> Int64:
        """The coordinates of those that cover this cell."""
        ...

    def reset(self, coordinate: int) -> None:
        """Takes note that a construct has no entry any more."""
        ...


def activation(form: Form, constructs: Constructs, lists: ConstructLists, n_cells: int) -> Activation:
    """The one of this form."""
    match form:
        case "plain":
            return BitVectors(constructs, lists, n_cells)
        case "clipped":
            return ClippedBitVectors(constructs, lists, n_cells)
        case "virtual":
            return VirtualBits(constructs, lists)
        case "table":
            return DistanceTable(constructs, lists)


def _bits(constructs: Constructs, lists: ConstructLists) -> Iterator[tuple[Int64, Int64]]:
    """The bits that are 1: their cells and their coordinates, about `_AT_ONCE` at a time."""
    numbers = np.flatnonzero(lists.count)
    at_once = max(_AT_ONCE // constructs.max_length, 1)
    for start in range(0, len(numbers), at_once):
        part = numbers[start : start + at_once]
        begin, end = extents(constructs, part)
        length = end - begin
        before = np.cumsum(length) - length
        yield np.arange(length.sum()) + np.repeat(begin - before, length), np.repeat(part, length)


def _cells_of(constructs: Constructs, coordinate: int) -> range:
    begin, end = extents(constructs, np.array([coordinate]))
    return range(int(begin[0]), int(end[0]))


class BitVectors:
    """A bit for each construct, by cell: `_bytes[i]` is the byte `_numbers[i]`, i in `_off[cell] .. _off[cell + 1]`."""

    __slots__ = ("_bytes", "_constructs", "_numbers", "_off", "n_bits")

    def __init__(self, constructs: Constructs, lists: ConstructLists, n_cells: int) -> None:
        self.n_bits = len(lists.count)
        """How many a bit vector has."""
        self._constructs = constructs
        n_bytes = (self.n_bits + 7) // 8
        places, all_bits = [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
        for cells, numbers in _bits(constructs, lists):
            places.append(cells * n_bytes + (numbers >> 3))
            all_bits.append((1 << (numbers & 7)).astype(np.uint8))
        place, bits = np.concatenate(places), np.concatenate(all_bits)
        order = np.argsort(place, kind="stable")
        place, bits = place[order], bits[order]
        first = np.flatnonzero(np.diff(place, prepend=-1))
        self._bytes = np.bitwise_or.reduceat(bits, first) if len(first) else bits
        cells, self._numbers = np.divmod(place[first], max(n_bytes, 1))
        self._off = offsets(cells, n_cells).data

    def at(self, cell: int) -> Int64:
        part = slice(self._off[cell], self._off[cell + 1])
        ones = np.flatnonzero(np.unpackbits(self._bytes[part], bitorder="little"))
        numbers: Int64 = (self._numbers[part][ones >> 3] << 3) + (ones & 7)
        return numbers

    def reset(self, coordinate: int) -> None:
        for cell in _cells_of(self._constructs, coordinate):
            start = self._off[cell]
            place = start + int(np.searchsorted(self._numbers[start : self._off[cell + 1]], coordinate >> 3))
            self._bytes[place] &= ~(1 << (coordinate & 7)) & 0xFF


class ClippedBitVectors:
    """A bit for every construct of the covering segment, by cell: bit p is of the construct C_min + p."""

    __slots__ = ("_constructs", "_rows", "n_bits")

    def __init__(self, constructs: Constructs, lists: ConstructLists, n_cells: int) -> None:
        self.n_bits = segment_size(constructs)
        """How many a bit vector has."""
        self._constructs = constructs
        self._rows = np.zeros((n_cells, (self.n_bits + 7) // 8), np.uint8)
        for cells, numbers in _bits(constructs, lists):
            position = numbers - (cells * len(constructs.lengths) + first_covering(constructs, 0))
            byte = cells * self._rows.shape[1] + (position >> 3)
            np.bitwise_or.at(self._rows.reshape(-1), byte, (1 << (position & 7)).astype(np.uint8))

    def at(self, cell: int) -> Int64:
        ones = np.flatnonzero(np.unpackbits(self._rows[cell], bitorder="little"))
        return ones + first_covering(self._constructs, cell)

    def reset(self, coordinate: int) -> None:
        for cell in _cells_of(self._constructs, coordinate):
            position = coordinate - first_covering(self._constructs, cell)
            self._rows[cell, position >> 3] &= ~(1 << (position & 7)) & 0xFF


class VirtualBits:
    """No bits: each header of the covering segment is looked at, and where one is not empty, it is divided."""

    __slots__ = ("_constructs", "_count")

    def __init__(self, constructs: Constructs, lists: ConstructLists) -> None:
        self._constructs = constructs
        self._count = lists.count

    def at(self, cell: int) -> Int64:
        first = max(first_covering(self._constructs, cell), 0)
        after = (cell + 1) * len(self._constructs.lengths)
        numbers = np.flatnonzero(self._count[first:after]) + first
        if not len(numbers):
            return numbers
        _, end = extents(self._constructs, numbers)
        return numbers[end > cell]

    def reset(self, coordinate: int) -> None:
        """The header says it."""


class DistanceTable:
    """No bits: the headers of the constructs that cover the cell, found by additions."""

    __slots__ = ("_constructs", "_count", "_distances")

    def __init__(self, constructs: Constructs, lists: ConstructLists) -> None:
        self._constructs = constructs
        self._count = lists.count
        self._distances = distance_table(constructs)

    def at(self, cell: int) -> Int64:
        first = first_covering(self._constructs, cell)
        numbers = self._distances + first
        if first < 0:
            numbers = numbers[numbers >= 0]
        return numbers[self._count[numbers] > 0]

    def reset(self, coordinate: int) -> None:
        """The header says it."""
