"""What matching a document is expected to come to: the sizes that cost formulas are made of.

In: an image, what is expected of each test, and a sample of documents in rank space, or none. Out: a `Workload`.

How many entries have their first test hold is the sum of its shares over all entries. What is left of them after one
more test, two more, or all, is seen in some entries and sampled documents, together, for attributes depend on one
another; without documents, tests are taken as independent.

PERF: at most MOST_ENTRIES entries and MOST_DOCUMENTS documents are looked at, evenly spread, whatever there are: two
seconds are all that planning a million profiles may take.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.expected import Expected, Floats
from profilec.runtime.element_terms import bits_told
from profilec.runtime.image import BIT_PATTERN, WANT_TRUE, Image, Int32, gather
from profilec.runtime.joins.literals import asks_joins_alone
from profilec.runtime.sampled import Sampled

MOST_ENTRIES = 2_000
MOST_DOCUMENTS = 400


class SlotLoad(NamedTuple):
    """One attribute or expression. `presence`: the share of documents that have it. `n_entries` have a test on it, of
    `n_intervals` intervals, `n_points` of which are one constant; they cut it into `n_cells` elementary intervals. A
    value satisfies `n_held` of the tests. The slot gives access to `n_access` entries, of which a document finds
    `n_found`."""

    name: str
    presence: float
    n_entries: int
    n_intervals: int
    n_points: int
    n_cells: int
    n_held: float
    n_access: int
    n_found: float


class Workload(NamedTuple):
    """For one document, as expected:

    `present`: attributes that profiles ask for; `held`: tests that hold, over all entries; `found`: entries whose
    access predicate holds, and those without one (`n_unselective`); `looked_at`: tests of these that are looked at
    until one fails; `partitioned`: entries whose first two tests hold; `rows`: entries all of whose tests hold;
    `n_checked`: of these, entries that Python has to look at.
    """

    n_entries: int
    n_tests: int
    n_intervals: int
    n_unselective: int
    n_sampled: int
    present: float
    held: float
    found: float
    looked_at: float
    partitioned: float
    rows: float
    n_checked: float
    slots: tuple[SlotLoad, ...]


def workload_of(image: Image, expected: Expected, sampled: Sampled | None) -> Workload:
    """What the image's entries, but for those that ask joins alone, come to for a document."""
    own = ~asks_joins_alone(image)
    entries = np.flatnonzero(own).astype(np.int32)
    shares = np.minimum(expected.shares, 1.0)
    tests, _ = gather(image.entry_off, image.entry_tests, entries)
    access = image.entry_access[entries]
    has_access = access >= 0
    found = found_by(image, expected)
    prefixes = _prefixes(image, entries, shares, sampled)
    is_rank = tests < image.n_tests
    rows = found * prefixes.all
    return Workload(
        n_entries=len(entries),
        n_tests=len(tests),
        n_intervals=len(image.test_low),
        n_unselective=int(np.count_nonzero(~has_access)),
        n_sampled=expected.n_sampled,
        present=float(expected.presence[: len(image.slots)].sum()),
        held=float(shares[tests[is_rank]].sum()),
        found=found,
        looked_at=found * prefixes.looked_at,
        partitioned=found * prefixes.two,
        rows=rows,
        n_checked=rows * float(_is_checked(image)[entries].mean()) if len(entries) else 0.0,
        slots=tuple(_slots(image, tests[is_rank], access[has_access], expected, shares)),
    )


def found_by(image: Image, expected: Expected) -> float:
    """How many entries a document finds by the access predicates that they have."""
    access = image.entry_access[~asks_joins_alone(image)]
    shares = np.minimum(expected.shares[access[access >= 0]], 1.0)
    return float(shares.sum()) + int(np.count_nonzero(access < 0))


def _is_checked(image: Image) -> NDArray[np.bool_]:
    """The entries that are not settled by their tests on slots and pseudo-slots."""
    told = np.ones(image.n_tests + len(image.bit_kind), np.bool_)
    told[image.n_tests :] = bits_told(image)
    checked: NDArray[np.bool_] = image.entry_residual >= 0
    owner = np.repeat(np.arange(image.n_entries), np.diff(image.entry_off))
    checked = checked.copy()
    checked[owner[~told[image.entry_tests]]] = True
    return checked


class _Prefixes(NamedTuple):
    """Of an entry that is found: tests looked at; the shares of them whose first two, and all of whose tests hold."""

    looked_at: float
    two: float
    all: float


def _prefixes(image: Image, entries: Int32, shares: Floats, sampled: Sampled | None) -> _Prefixes:
    step = max(1, len(entries) // MOST_ENTRIES)
    holding = None if sampled is None or not sampled.n else _Holding(image, sampled)
    first = looked_at = two = whole = 0.0
    for entry in entries[step // 2 :: step].tolist():
        tests = image.entry_tests[image.entry_off[entry] : image.entry_off[entry + 1]].tolist()
        held = _held_independently(tests, shares) if holding is None else holding.prefixes(tests)
        first += held[0] if held else 1.0
        looked_at += sum(held)
        two += held[1] if len(held) > 1 else held[0] if held else 1.0
        whole += held[-1] if held else 1.0
    if not first:  # none of them was found by any document: no more is known than that they are rare
        return _prefixes(image, entries, shares, None) if holding is not None else _Prefixes(0.0, 0.0, 0.0)
    return _Prefixes(looked_at / first, two / first, whole / first)


def _held_independently(tests: list[int], shares: Floats) -> list[float]:
    """The share of documents that satisfy the first test, the first two, …, all."""
    return np.cumprod(shares[tests]).tolist() if tests else []


class _Holding:
    """Which of some sampled documents satisfy tests."""

    def __init__(self, image: Image, sampled: Sampled) -> None:
        step = max(1, sampled.n // MOST_DOCUMENTS)
        documents = np.arange(step // 2, sampled.n, step)
        self._image = image
        self._told = bits_told(image)
        self.n = len(documents)
        lengths = np.diff(sampled.off)[documents]
        places = np.repeat(sampled.off[documents] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        places += np.arange(len(places))
        slots, self._ranks = sampled.slots[places], sampled.ranks[places]
        owner = np.repeat(np.arange(self.n), lengths)
        order = np.argsort(slots, kind="stable")
        self._owner, self._ranks = owner[order], self._ranks[order]
        self._off = np.searchsorted(slots[order], np.arange(len(image.n_ranks) + 1))
        self._known: dict[int, NDArray[np.bool_]] = {}

    def prefixes(self, tests: list[int]) -> list[float]:
        """As `_held_independently`. PERF: what no document satisfies any more is not looked at."""
        holds = np.ones(self.n, np.bool_)
        held: list[float] = []
        for test in tests:
            if not held or held[-1]:
                holds = holds & self._of(test)
            held.append(float(holds.mean()))
        return held

    def _of(self, test: int) -> NDArray[np.bool_]:
        known = self._known.get(test)
        if known is None:
            known = self._known[test] = self._found(test)
        return known

    def _found(self, test: int) -> NDArray[np.bool_]:
        image = self._image
        if test >= image.n_tests:
            bit = test - image.n_tests
            if not self._told[bit]:
                return np.ones(self.n, np.bool_)  # it is checked when all else holds
            source = int(image.bit_source[bit])
            base = len(image.slots) if image.bit_kind[bit] == BIT_PATTERN else image.first_term_slot
            matched = self._rank(base + source) > 0
            return matched if image.bit_want[bit] == WANT_TRUE else ~matched
        part = slice(image.test_off[test], image.test_off[test + 1])
        low, high = image.test_low[part], image.test_high[part]
        if not len(low):
            return np.zeros(self.n, np.bool_)
        rank = self._rank(int(image.test_slot[test]))
        place = np.searchsorted(low, rank, "right") - 1
        return (place >= 0) & (rank <= high[place])

    def _rank(self, slot: int) -> NDArray[np.int32]:
        rank = np.zeros(self.n, np.int32)
        part = slice(self._off[slot], self._off[slot + 1])
        rank[self._owner[part]] = self._ranks[part]
        return rank


def _slots(image: Image, tests: Int32, access: Int32, expected: Expected, shares: Floats) -> list[SlotLoad]:
    """The slots that entries have these rank tests on, and these tests as access predicates."""
    n = len(image.slots)
    slot = image.test_slot[tests]
    n_intervals = np.diff(image.test_off)
    points = np.concatenate(([0], np.cumsum(image.test_low == image.test_high)))
    n_points = points[image.test_off[1:]] - points[image.test_off[:-1]]
    access = access[access < image.n_tests]
    n_entries = np.bincount(slot, minlength=n)
    intervals, of_one, held = (np.bincount(slot, of[tests], n) for of in (n_intervals, n_points, shares))
    n_access = np.bincount(image.test_slot[access], minlength=n)
    found = np.bincount(image.test_slot[access], shares[access], n)
    return [
        SlotLoad(
            name=image.slots[number].name,
            presence=float(expected.presence[number]),
            n_entries=int(n_entries[number]),
            n_intervals=int(intervals[number]),
            n_points=int(of_one[number]),
            n_cells=int(image.slots[number].constants.n_ranks),
            n_held=float(held[number]),
            n_access=int(n_access[number]),
            n_found=float(found[number]),
        )
        for number in np.flatnonzero(n_entries).tolist()
    ]
