"""Counters of predicates that hold, one a conjunction: what counting matchers share.

In: predicates as they are found. Out: the bits of the entries that have all that they need.

    state   counter | counter | … | epoch     int64, one more than conjunctions; the upper half tells the document

A counter whose upper half is older is untouched, and counts as 0: nothing is to be reset, whatever a document touched,
and whatever an interrupt left. A predicate that says that its conjunction does not match puts the counter beyond what
any conjunction needs. (The paper's counters count down from there, which is the same, but has each document set them.)

Conjunctions have places of their own, so that those that are counted together lie together.

Invariant: where the entry's bit is set when its counter has what it needs, and `refute` is told of every predicate that
refutes it, the bit stays iff all of its predicates hold, in whatever order they come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.kernels import ONE, inlined

EPOCH = 1 << 32
_REFUTED = 1 << 31
_LAST = ((1 << 31) - 2) * EPOCH
"""The epoch after which counters are reset: two thousand million documents. (Kernels may not overflow.)"""


def counters_of(n: int) -> NDArray[np.int64]:
    """The state of n counters, all untouched."""
    return np.zeros(n + 1, np.int64)


def bits_of(n_entries: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """A bit per entry, and a bit per word of these."""
    n_words = (n_entries + 63) >> 6
    return np.zeros(n_words, np.uint64), np.zeros((n_words + 63) >> 6, np.uint64)


class Scratch(NamedTuple):
    """What a kernel writes: counters by place, a bit per entry, and a bit per word of these."""

    state: NDArray[np.int64]
    bits: NDArray[np.uint64]
    summary: NDArray[np.uint64]

    @classmethod
    def of(cls, n_entries: int) -> Scratch:
        return cls(counters_of(n_entries), *bits_of(n_entries))


@inlined
def next_document(state: Any) -> int:
    """The least content of a counter that the new document touched."""
    if state[-1] >= _LAST:
        state[:] = 0
    base: int = state[-1] + EPOCH
    state[-1] = base
    return base


@inlined
def count(state: Any, base: int, needed: Any, place: int) -> bool:
    """Says that one more predicate of a conjunction holds; whether it was the last.

    PERF: no branch but the caller's, and an unsigned number spares the test for a negative one.
    """
    at = np.uint32(place)
    counted = max(state[at], base) + 1
    state[at] = counted
    return bool(counted == base + needed[at])


@inlined
def refute(state: Any, base: int, needed: Any, place: int, entry: int, bits: Any) -> None:
    """Says that a conjunction, which is an entry's, does not match."""
    if state[place] == base + needed[place]:
        bits[entry >> 6] &= ~(ONE << np.uint64(entry & 63))
    state[place] = base + _REFUTED


@inlined
def is_untouched(state: Any, base: int, place: int) -> bool:
    """Whether the document left the counter as it was."""
    return bool(state[place] < base)
