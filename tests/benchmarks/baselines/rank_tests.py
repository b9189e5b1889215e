"""The rank tests of an image's entries, as the conjunction matchers among the baselines read them.

In: an image. Out: for each entry its tests, at most one on a slot: tests of one slot are merged into the ranks that
all of them accept, which may be none. Everything else of an entry (patterns, terms, residual) is left out, as in
`profilec.runtime.matchers.scan`: a matcher gives the entries all of whose rank tests hold.

    entry       0         1   2
    entry_off   0         2   2   3             entry 1 has no test
    tests       4  7          4                 ascending by slot
    test 4      slot 2, ranks 0..3 and 5..9     rank 0 is absence
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.conjunctions import merged_tests
from profilec.runtime.image import Image, Int32, kept_offsets


class ConjunctionMatcher(Protocol):
    """Finds the entries all of whose rank tests hold; made of an image. Not for several threads at once."""

    @property
    def n_bytes(self) -> int:
        """Of the arrays that matching reads, without scratch."""
        ...

    def candidates(self, ranks: Int32) -> Int32:
        """The entries, ascending; `ranks`: one for each slot."""
        ...

    def candidates_of(self, slots: Int32, ranks: Int32) -> Int32:
        """The same for a sparse document: the slots with a rank other than 0, ascending, and their ranks."""
        ...


@dataclass(frozen=True, slots=True)
class RankTests:
    """Entry e has `tests[entry_off[e] .. entry_off[e + 1]]`; test t accepts low[i]..high[i], i in off[t] .. off[t + 1].

    `n_ranks`: of each slot.
    """

    n_ranks: NDArray[np.int64]
    entry_off: NDArray[np.int64]
    tests: Int32
    slot: Int32
    off: NDArray[np.int64]
    low: Int32
    high: Int32

    @property
    def n_entries(self) -> int:
        return len(self.entry_off) - 1

    @property
    def n_tests(self) -> int:
        return len(self.slot)

    @property
    def owner(self) -> NDArray[np.int64]:
        """For each of `tests` its entry."""
        return np.repeat(np.arange(self.n_entries), np.diff(self.entry_off))

    @property
    def on_absence(self) -> NDArray[np.bool_]:
        """The tests that accept rank 0."""
        accepts = np.zeros(self.n_tests, np.bool_)
        accepts[np.repeat(np.arange(self.n_tests), np.diff(self.off))[self.low == 0]] = True
        return accepts

    @property
    def n_accepted(self) -> NDArray[np.int64]:
        """Per test the number of ranks that it accepts."""
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(self.high.astype(np.int64) - self.low + 1)))
        accepted: NDArray[np.int64] = before[self.off[1:]] - before[self.off[:-1]]
        return accepted

    @property
    def rank_base(self) -> NDArray[np.int64]:
        """Where the ranks of each slot begin when those of all slots are numbered in a row; one more at the end."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self.n_ranks)))

    def presence(self) -> NDArray[np.float64]:
        """For each slot a guess of how many documents have it: as many as there are entries that ask for it."""
        n_asking = np.bincount(self.slot[self.tests], minlength=len(self.n_ranks))
        return n_asking / max(1, self.n_entries)


def rank_tests(image: Image) -> RankTests:
    """The tests of an image."""
    is_rank_test = image.entry_tests < image.n_tests
    off = kept_offsets(image.entry_off, is_rank_test)
    merged, _ = merged_tests(replace(image, entry_off=off, entry_tests=image.entry_tests[is_rank_test]))
    n_ranks = np.array([slot.constants.n_ranks for slot in image.slots], np.int64)
    tests = RankTests(n_ranks, merged.entry_off, merged.entry_tests, merged.slot, merged.off, merged.low, merged.high)
    return replace(tests, tests=_first_equal(tests)[tests.tests])


def _first_equal(tests: RankTests) -> Int32:
    """For each test the first one that accepts the same ranks of the same slot: merging may make what is there."""
    first = np.arange(tests.n_tests, dtype=np.int32)
    is_single = np.diff(tests.off) == 1
    single = np.flatnonzero(is_single)
    part = tests.off[single]
    columns = np.stack((tests.slot[single], tests.low[part], tests.high[part]))
    _, place, which = np.unique(columns, axis=1, return_index=True, return_inverse=True)
    first[single] = single[place[which]]
    known: dict[tuple[int, bytes, bytes], int] = {}
    for test in np.flatnonzero(~is_single).tolist():
        own = slice(tests.off[test], tests.off[test + 1])
        key = int(tests.slot[test]), tests.low[own].tobytes(), tests.high[own].tobytes()
        first[test] = known.setdefault(key, test)
    return first


def sparse(ranks: Int32) -> tuple[Int32, Int32]:
    """The slots that a document has, and their ranks."""
    slots = np.flatnonzero(ranks).astype(np.int32)
    return slots, ranks[slots]


@dataclass(frozen=True, slots=True)
class Rows:
    """The tests of all entries one after another, each with two bounds, as in `baselines.scan`: entry e has the rows
    `off[e] .. off[e + 1]`; where `ranges[r]` is not -1, the rank must lie in a range of that number, too."""

    off: Int32
    slot: Int32
    low: Int32
    high: Int32
    ranges: Int32
    range_off: Int32
    range_low: Int32
    range_high: Int32

    @property
    def arrays(self) -> tuple[Int32, ...]:
        """All of them, as the kernels of scans take them."""
        bounds = self.low, self.high, self.ranges, self.range_off, self.range_low, self.range_high
        return self.off, self.slot, *bounds

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for array in self.arrays)


def rows_of(tests: RankTests) -> Rows:
    """Their rows, in the order of the tests."""
    low, high = np.ones(tests.n_tests, np.int32), np.zeros(tests.n_tests, np.int32)
    filled = np.flatnonzero(np.diff(tests.off))
    low[filled], high[filled] = tests.low[tests.off[filled]], tests.high[tests.off[filled + 1] - 1]
    ranges = np.where(np.diff(tests.off) > 1, np.arange(tests.n_tests), -1)
    of_tests = (tests.slot, low, high, ranges.astype(np.int32))
    slot, low, high, ranges = (column[tests.tests] for column in of_tests)
    return Rows(
        tests.entry_off.astype(np.int32), slot, low, high, ranges, tests.off.astype(np.int32), tests.low, tests.high
    )


class DenseRanks:
    """A document's ranks as a dense array, for what is given sparse ones."""

    __slots__ = ("_ranks",)

    def __init__(self, n_slots: int) -> None:
        self._ranks = np.zeros(n_slots, np.int32)

    def of(self, slots: Int32, ranks: Int32) -> Int32:
        """The dense ranks, until it is called again."""
        self._ranks[:] = 0
        self._ranks[slots] = ranks
        return self._ranks


class RowMatcher:
    """What goes over the rows of all entries, with a kernel of its own."""

    __slots__ = ("_dense", "_out", "_rows")

    kernel: Callable[..., int]
    """Takes the rows' arrays, dense ranks and an array for the entries; gives how many it wrote there."""

    def __init__(self, image: Image) -> None:
        self._rows = rows_of(rank_tests(image))
        self._dense = DenseRanks(len(image.slots))
        self._out = np.empty(image.n_entries, np.int32)

    @property
    def n_bytes(self) -> int:
        return self._rows.n_bytes

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending."""
        return self._out[: self.kernel(*self._rows.arrays, ranks, self._out)].copy()

    def candidates_of(self, slots: Int32, ranks: Int32) -> Int32:
        """The same for a sparse document."""
        return self.candidates(self._dense.of(slots, ranks))
