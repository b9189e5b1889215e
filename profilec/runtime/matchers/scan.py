"""`scan`: every rank test and every entry, in array operations over the image as it is.

In: the ranks of a document. Out: the entries all of whose rank tests hold. The plain definition:
its cost is that of the whole image for every document.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32
from profilec.runtime.matchers.rank_tests import rank_tests


class ScanMatcher:
    """Every test is decided, then every entry counts its tests that fail."""

    __slots__ = ("_entries", "_entry_off", "_entry_tests", "_high", "_low", "_slot", "_test_off")

    def __init__(self, image: Image, own: NDArray[np.bool_] | None = None) -> None:
        """`own`: the entries that it is to find; None for all."""
        tests = rank_tests(image, np.ones(image.n_entries, np.bool_) if own is None else own)
        self._entries, self._entry_off, self._entry_tests = tests.entries, tests.off, tests.tests
        self._test_off = tests.test_off
        self._slot = np.repeat(tests.slot, np.diff(tests.test_off))
        self._low, self._high = tests.low, tests.high

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending."""
        rank = ranks[self._slot]
        inside = (self._low <= rank) & (rank <= self._high)
        fails = _count(inside, self._test_off) == 0
        found: Int32 = self._entries[_count(fails[self._entry_tests], self._entry_off) == 0]
        return found


def _count(flags: NDArray[np.bool_], offsets: Int32) -> NDArray[np.int32]:
    """The number of flags set in each part (a part may be empty, which `np.add.reduceat` gets wrong)."""
    before = np.zeros(len(flags) + 1, np.int32)
    np.cumsum(flags, out=before[1:])
    return before[offsets[1:]] - before[offsets[:-1]]
