"""The rank tests of some entries, as columns: what the matchers that index them are built from.

In: an image, and the entries that a matcher is to find. Out: entry -> tests -> intervals, with numbers of their own.

    entries   3      5   8         numbers in the image, ascending
    off       0      2   2     3   entry 5 has no rank test
    tests     0  4       4         in the image's order, most selective first (the planner's costs)

PERF: tests are numbered slot after slot, for a document asks of one slot at a time.

A document brings ranks of what it has, none of them 0. A test that refuses absence has to be found by such a rank: it
*asserts*. One that accepts absence (IS NULL, IS NOT TRUE) holds for most documents, which do not bring anything to
find it by: it *refutes*, and is filed under the ranks above 0 that it does not accept.

Invariant: a test that asserts holds iff the rank is in one of its intervals `of_present`; one that refutes, iff not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32, gather, kept_offsets
from profilec.values.kinds import Kind


@dataclass(frozen=True, slots=True, eq=False)
class RankTests:
    """See the module. Test t is on slot `slot[t]`, and accepts `low[i]..high[i]`, i in `test_off[t] .. test_off[t+1]`.

    `bounds[s]`: the first rank of each kind in slot s, in the order of `Kind`, and the number of its ranks.
    """

    entries: Int32
    off: Int32
    tests: Int32
    slot: Int32
    test_off: Int32
    low: Int32
    high: Int32
    bounds: Int32

    @property
    def n_slots(self) -> int:
        return len(self.bounds)

    @property
    def n_ranks(self) -> Int32:
        """Of each slot."""
        return self.bounds[:, -1]

    @property
    def owners(self) -> Int32:
        """Of each element of `tests` its entry, by its place in `entries`."""
        return np.repeat(np.arange(len(self.entries), dtype=np.int32), np.diff(self.off))

    @property
    def refutes(self) -> NDArray[np.bool_]:
        """Per test, whether it accepts absence."""
        refutes = np.zeros(len(self.slot), np.bool_)
        filled = np.flatnonzero(np.diff(self.test_off))
        refutes[filled] = self.low[self.test_off[filled]] == 0
        return refutes

    def of_present(self) -> tuple[Int32, Int32, Int32]:
        """Per test, as `test_off, low, high`, the ranks above 0 that it accepts; of one that refutes, that it does not.

        What a test that refutes does not accept are the gaps after its intervals, the first of which begins at 0.
        """
        owner = np.repeat(np.arange(len(self.slot)), np.diff(self.test_off))
        refutes = self.refutes[owner]
        is_last = np.append(owner[1:] != owner[:-1], True)[: len(owner)]
        following = np.append(self.low[1:], np.int32(0))[: len(owner)]
        following[is_last] = self.n_ranks[self.slot[owner[is_last]]]
        low = np.where(refutes, self.high + 1, self.low).astype(np.int32)
        high = np.where(refutes, following - 1, self.high).astype(np.int32)
        kept = low <= high
        return kept_offsets(self.test_off, kept), low[kept], high[kept]


def rank_tests(image: Image, own: NDArray[np.bool_]) -> RankTests:
    """The rank tests of the entries `own`; tests that none of these has are left out."""
    kept = (image.entry_tests < image.n_tests) & np.repeat(own, np.diff(image.entry_off))
    entries = np.flatnonzero(own).astype(np.int32)
    off = kept_offsets(image.entry_off, kept)
    tests = image.entry_tests[kept]
    is_used = np.zeros(image.n_tests, np.bool_)
    is_used[tests] = True
    used = np.flatnonzero(is_used)
    used = used[np.argsort(image.test_slot[used], kind="stable")]
    number = np.empty(image.n_tests, np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    low, cut = gather(image.test_off, image.test_low, used)
    high, _ = gather(image.test_off, image.test_high, used)
    bounds = [[*map(slot.constants.first, Kind), slot.constants.n_ranks] for slot in image.slots]
    return RankTests(
        entries,
        np.append(off[entries], off[-1]).astype(np.int32),  # entries that are not its own have none
        number[tests],
        image.test_slot[used],
        cut.astype(np.int32),
        low,
        high,
        np.array(bounds, np.int32).reshape(-1, len(Kind) + 1),
    )
