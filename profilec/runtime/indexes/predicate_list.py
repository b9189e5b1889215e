"""The predicates of one operator on one slot, by their operands (OpIndex 4.2).

In: for each predicate its operand, a rank, and its entry. Out: where in the sorted list the predicates of an operand
are. Two ways: `PredicateList` by binary search alone (the paper's OpIndex-BS, 7), `SegmentedList` with the paper's two
optimizations.

    operands     3   3   5   8   8   8   9   11        segments begin at the operands 3, 8 and 9
    directory    3           8           9             rank 8 falls into the second one: positions 3 to 5
    signatures   bits of h(3), h(5)      of h(8)   of h(9), h(11)
    rank 7       falls into the first segment, whose signature has no bit h(7): there is no such predicate

The paper sorts by attribute, then by operand, and its b segments are ranges of attributes. Here a list is of one
attribute, and its segments are ranges of operands; predicates of equal operands are in one segment. A signature has w
bits, of which an operator other than `=` would set one that is the same for all operands; since no segment here is
empty, only `=` asks for it.

Left open by the paper and decided here: the hash is Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4).

Invariant: `entries[i]` has the i-th least operand.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32

N_SEGMENTS = 32
"""b (7.1)."""
SIGNATURE_BITS = 64
"""w (7.1: a machine word)."""
_FIBONACCI = 2_654_435_769
_SHIFT = 32 - 6


class SortedPredicates(Protocol):
    """Operands to positions."""

    @property
    def order(self) -> NDArray[np.int64]:
        """By position, which of the predicates that the list was made of is there."""
        ...

    def equal(self, rank: int) -> tuple[int, int]:
        """Where the predicates with this operand begin, and before which position they end."""
        ...

    def below(self, rank: int) -> int:
        """How many have an operand less than the rank."""
        ...

    def up_to(self, rank: int) -> int:
        """How many have an operand no greater than the rank."""
        ...


class PredicateList:
    """By binary search in all of the list.

    >>> predicates = PredicateList(np.array([8, 3, 5, 8], np.int32))
    >>> predicates.equal(8), predicates.equal(4), predicates.below(5), predicates.up_to(5)
    ((2, 4), (1, 1), 1, 2)
    """

    __slots__ = ("_operands", "order")

    def __init__(self, operands: Int32) -> None:
        self.order: NDArray[np.int64] = np.argsort(operands, kind="stable")
        self._operands = operands[self.order].astype(np.int32).data

    def equal(self, rank: int) -> tuple[int, int]:
        return bisect_left(self._operands, rank), bisect_right(self._operands, rank)

    def below(self, rank: int) -> int:
        return bisect_left(self._operands, rank)

    def up_to(self, rank: int) -> int:
        return bisect_right(self._operands, rank)


class SegmentedList:
    """By directory and signature, then by binary search in one segment.

    >>> predicates = SegmentedList(np.array([8, 3, 5, 8], np.int32))
    >>> predicates.equal(8), predicates.equal(4), predicates.below(5), predicates.up_to(5)
    ((2, 4), (0, 0), 1, 2)
    """

    __slots__ = ("_directory", "_operands", "_segment_off", "_signatures", "order")

    def __init__(self, operands: Int32) -> None:
        self.order: NDArray[np.int64] = np.argsort(operands, kind="stable")
        sorted_ = operands[self.order].astype(np.int32)
        self._operands = sorted_.data
        starts = np.arange(N_SEGMENTS) * len(sorted_) // N_SEGMENTS
        starts = np.unique(np.searchsorted(sorted_, sorted_[starts])) if len(sorted_) else starts[:0]
        self._directory = sorted_[starts].data
        """By segment: its first operand."""
        self._segment_off = np.append(starts, len(sorted_)).astype(np.int32).data
        bits = np.uint64(1) << ((sorted_.astype(np.uint64) * _FIBONACCI & 0xFFFF_FFFF) >> _SHIFT)
        self._signatures = np.bitwise_or.reduceat(bits, starts).data if len(starts) else bits.data

    def equal(self, rank: int) -> tuple[int, int]:
        segment = bisect_right(self._directory, rank) - 1
        if segment < 0 or not self._signatures[segment] >> signature_bit(rank) & 1:
            return 0, 0
        start, end = self._segment_off[segment], self._segment_off[segment + 1]
        return bisect_left(self._operands, rank, start, end), bisect_right(self._operands, rank, start, end)

    def below(self, rank: int) -> int:
        # The last segment that begins below the rank: what is below it ends there, and not later.
        segment = bisect_left(self._directory, rank) - 1
        if segment < 0:
            return 0
        return bisect_left(self._operands, rank, self._segment_off[segment], self._segment_off[segment + 1])

    def up_to(self, rank: int) -> int:
        segment = bisect_right(self._directory, rank) - 1
        if segment < 0:
            return 0
        return bisect_right(self._operands, rank, self._segment_off[segment], self._segment_off[segment + 1])


def signature_bit(operand: int) -> int:
    """The bit of a signature that an operand sets: h (4.2)."""
    return (operand * _FIBONACCI & 0xFFFF_FFFF) >> _SHIFT
