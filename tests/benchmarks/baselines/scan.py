"""The plain compiled scan that every figure is a ratio to: all profiles, one after the other.

In: CSR arrays of predicates, each profile's most selective first; a document as one dense `int32`
array, the code of each attribute's value (0: absent). Out: the numbers of the profiles that match,
ascending. A profile is left at the first predicate that fails.

    MaskScan    slot int32, mask uint64: bit c is set where code c is accepted       12 bytes a predicate
    BoundScan   slot int32, low int32, high int32; a list of ranges where two bounds do not say it

It is written as one would to make it fast, since what is compared with it must be faster for a reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from conjunctions import Conjunctions, Op, has_list_of, offsets_of
from numba import njit
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class MaskScan:
    """Predicates as masks over at most 64 codes."""

    off: NDArray[np.int32]
    slot: NDArray[np.int32]
    mask: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.off) - 1

    @property
    def n_bytes(self) -> int:
        return self.off.nbytes + self.slot.nbytes + self.mask.nbytes

    def match_into(self, codes: NDArray[np.int32], out: NDArray[np.int32]) -> int:
        """Writes the matches of a document to `out` (as long as there are profiles); returns how many."""
        return int(scan_masks(self.off, self.slot, self.mask, codes, out))

    def match(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        out = np.empty(len(self), np.int32)
        return out[: self.match_into(codes, out)]


@dataclass(frozen=True, slots=True)
class BoundScan:
    """Predicates as two bounds. `ranges[p]` >= 0: the code must also lie in one of the ranges of that number."""

    off: NDArray[np.int32]
    slot: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    ranges: NDArray[np.int32]
    range_off: NDArray[np.int32]
    range_low: NDArray[np.int32]
    range_high: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.off) - 1

    @property
    def n_bytes(self) -> int:
        return sum(getattr(self, name).nbytes for name in self.__slots__)

    def match_into(self, codes: NDArray[np.int32], out: NDArray[np.int32]) -> int:
        """Writes the matches of a document to `out` (as long as there are profiles); returns how many."""
        ranges = (self.ranges, self.range_off, self.range_low, self.range_high)
        return int(scan_bounds(self.off, self.slot, self.low, self.high, *ranges, codes, out))

    def match(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        out = np.empty(len(self), np.int32)
        return out[: self.match_into(codes, out)]


def scan_of(profiles: Conjunctions) -> MaskScan | BoundScan:
    """The scan of generated profiles. A code is the value itself."""
    off = profiles.off.astype(np.int32)
    presence = np.bincount(profiles.slot, minlength=profiles.n_attributes) / max(1, len(profiles.slot))
    share = profiles.accepted() / profiles.cardinality
    expected = np.where(profiles.op == Op.IS_NULL, 1.0, presence[profiles.slot] * share)
    order = by_selectivity(off, expected.astype(np.float32))
    slot = profiles.slot[order]
    if profiles.mask is not None:
        return MaskScan(off, slot, profiles.mask[order])
    low, high, ranges, range_off, range_low, range_high = bounds_of(profiles)
    return BoundScan(off, slot, low[order], high[order], ranges[order], range_off, range_low, range_high)


def bounds_of(profiles: Conjunctions) -> tuple[NDArray[np.int32], ...]:
    """Low, high, number of the ranges or -1, and the ranges, for predicates of any cardinality."""
    low, high = profiles.low.copy(), profiles.high.copy()
    several = np.flatnonzero(has_list_of(profiles.op) | (profiles.op == Op.NOT_EQUAL))
    ranges = np.full(len(low), -1, np.int32)
    ranges[several] = np.arange(len(several))
    # One list each, NOT_EQUAL's of one value; then what is refused becomes the gaps between its values.
    is_single = profiles.op[several] == Op.NOT_EQUAL
    sizes = np.ones(len(several), np.int64)
    sizes[~is_single] = np.diff(profiles.list_off)
    values = np.empty(int(sizes.sum()), np.int32)
    single = np.repeat(is_single, sizes)
    values[single] = low[several[is_single]]
    values[~single] = profiles.list_values
    refuses = profiles.op[several] != Op.IN
    low[several[refuses]], high[several[refuses]] = 1, profiles.cardinality
    owner = np.repeat(np.arange(len(several)), sizes)
    lists = ~refuses[owner]
    # Refused v1 < v2: 1 .. v1 - 1, v1 + 1 .. v2 - 1, v2 + 1 .. cardinality
    refusing = np.flatnonzero(refuses)
    owners = np.concatenate((owner[lists], owner[~lists], refusing))
    lows = np.concatenate((values[lists], values[~lists] + 1, np.ones(len(refusing), np.int32)))
    highs = np.concatenate((values[lists], np.zeros(len(lows) - int(lists.sum()), np.int32)))
    order = np.lexsort((lows, owners))
    owners, lows, highs = owners[order], lows[order], highs[order]
    following = np.append(lows[1:] - 2, 0).astype(np.int32)  # the refused value after this gap, less one
    following[np.append(owners[1:] != owners[:-1], True)[: len(owners)]] = profiles.cardinality
    highs = np.where(refuses[owners], following, highs)
    filled = lows <= highs
    range_off = offsets_of(np.bincount(owners[filled], minlength=len(several))).astype(np.int32)
    return low, high, ranges, range_off, lows[filled].astype(np.int32), highs[filled].astype(np.int32)


@njit(nogil=True, cache=True)
def by_selectivity(off: Any, expected: Any) -> Any:
    """The rows in an order that lets each profile's run from the least share expected to the largest; stable."""
    order = np.arange(len(expected))
    for profile in range(len(off) - 1):
        for row in range(off[profile] + 1, off[profile + 1]):
            moving, key, place = order[row], expected[order[row]], row
            while place > off[profile] and expected[order[place - 1]] > key:
                order[place] = order[place - 1]
                place -= 1
            order[place] = moving
    return order


@njit(nogil=True, cache=True)
def scan_masks(off: Any, slot: Any, mask: Any, codes: Any, out: Any) -> Any:
    """PERF: unsigned indices spare the test for negative ones, and `row` goes on from where the last profile ended."""
    n = 0
    row = np.uint64(0)
    for profile in range(len(off) - 1):
        end = np.uint64(off[profile + 1])
        holds = True
        while row < end:
            code = np.uint64(codes[np.uint32(slot[row])])
            if not ((mask[row] >> code) & np.uint64(1)):
                holds = False
                break
            row += np.uint64(1)
        if holds:
            out[n] = profile
            n += 1
        row = end
    return n


@njit(nogil=True, cache=True)
def scan_bounds(
    off: Any, slot: Any, low: Any, high: Any, ranges: Any, range_off: Any, range_low: Any, range_high: Any,
    codes: Any, out: Any,
) -> Any:  # fmt: skip
    n = 0
    row = np.uint64(0)
    for profile in range(len(off) - 1):
        end = np.uint64(off[profile + 1])
        holds = True
        while row < end:
            code = codes[np.uint32(slot[row])]
            if code < low[row] or code > high[row]:
                holds = False
                break
            which = ranges[row]
            if which >= 0:
                part, last = range_off[which], range_off[which + 1]
                while part < last and (code < range_low[part] or code > range_high[part]):
                    part += 1
                if part == last:
                    holds = False
                    break
            row += np.uint64(1)
        if holds:
            out[n] = profile
            n += 1
        row = end
    return n
