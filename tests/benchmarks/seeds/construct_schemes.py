"""The schemes of Wu, Chen, Yu, Mei 2004, built of the package's virtual construct index as the paper builds them.

In: intervals of integers from 1 to R, the length L of the longest construct. Out: an index, its bytes, and its search.

The package's index has cells between the distinct endpoints of its intervals, sets the longest intervals apart and
chooses L by cost (`profilec.runtime.indexes.virtual_constructs`). Here each of the R values is a cell, every interval
is cut, and L is given, as in the paper; all else is the package's own code.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from seeds.footprint import n_bytes_of

from profilec.runtime.image import Int32
from profilec.runtime.indexes import virtual_constructs
from profilec.runtime.indexes.activation import BitVectors
from profilec.runtime.indexes.construct_cost import Form
from profilec.runtime.indexes.constructs import Constructs
from profilec.runtime.indexes.lci import LogarithmicConstructs
from profilec.runtime.indexes.sci import SimpleConstructs
from profilec.runtime.indexes.virtual_constructs import VirtualConstructIndex

SCHEMES: dict[str, tuple[Callable[[int], Constructs], Form]] = {
    "SCI": (SimpleConstructs, "plain"),
    "SCI-BC": (SimpleConstructs, "clipped"),
    "LCI": (LogarithmicConstructs, "plain"),
    "LCI-BC": (LogarithmicConstructs, "clipped"),
    "LCI-BV": (LogarithmicConstructs, "virtual"),
    "LCI-BV(DT)": (LogarithmicConstructs, "table"),
}
"""By the paper's names: bitmap clipping, bitmap virtualization, and this with a distance table."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Predicate i asks for `low[i]..high[i]`, of values from 1 to `n_values`."""

    n_values: int
    low: Int32
    high: Int32

    def arrays(self) -> tuple[Int32, Int32, Int32, Int32]:
        """What an index is made of: an entry for each."""
        each = np.arange(len(self.low) + 1, dtype=np.int32)
        return each[:-1], each, self.low, self.high


def build(scheme: str, intervals: Intervals, max_length: int) -> VirtualConstructIndex:
    """The index of a scheme with L = `max_length`."""
    kind, form = SCHEMES[scheme]
    cuts = np.arange(1, intervals.n_values + 2)
    with ExitStack() as stack:
        stack.enter_context(patch.object(virtual_constructs, "distinct", lambda starts, ends: cuts))
        stack.enter_context(patch.object(virtual_constructs, "commonest", lambda ends, least: -1))
        stack.enter_context(patch.object(virtual_constructs, "ALWAYS_PIECES", np.iinfo(np.int64).max))
        return VirtualConstructIndex(lambda _: kind(max_length), form, *intervals.arrays())


def stored_bytes(index: VirtualConstructIndex) -> int:
    """The bytes of an index; plain bit vectors count in full, as in the paper, though the package leaves out zeros."""
    stored = n_bytes_of(index)
    bits = index._activation
    if isinstance(bits, BitVectors):
        stored += index._n_cells * ((bits.n_bits + 7) // 8) - n_bytes_of([bits._bytes, bits._numbers, bits._off])
    return stored


def activated(index: VirtualConstructIndex) -> Callable[[int], NDArray[np.int64]]:
    """What finds, for a value, the constructs whose lists are its answer, and does not read these.

    Intervals that the package, left to itself, does not cut are not among them.
    """
    nothing = np.zeros(0, np.int64)

    def at(value: int) -> NDArray[np.int64]:
        cell = bisect_right(index._cuts, value) - 1
        return index._activation.at(cell) if 0 <= cell < index._n_cells else nothing

    return at
