"""What is left of the entries that a document finds, after each of their tests.

In: an image, some of its entries, the share of documents that satisfy each test, sampled documents or none. Out: per
entry how often its first tests hold, together.

Attributes depend on one another, so that this is seen in sampled documents where there are any; without, tests are
taken as independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.expected import Floats
from profilec.runtime.element_terms import bits_told
from profilec.runtime.image import BIT_PATTERN, WANT_TRUE, Image, Int32
from profilec.runtime.sampled import Sampled

MOST_DOCUMENTS = 400
"""Documents that are looked at, evenly spread."""


class Prefixes(NamedTuple):
    """Per entry, of all documents: the share that its first test lets through; how many tests are looked at until one
    fails, of the entries that are found; the shares that satisfy its first two tests, and all; the share that its first
    rank test lets through, and the share that satisfies all of its rank tests, whatever its patterns and terms say."""

    first: Floats
    looked_at: Floats
    two: Floats
    all: Floats
    first_rank: Floats
    ranks: Floats


def prefixes(image: Image, entries: Int32, shares: Floats, sampled: Sampled | None) -> Prefixes:
    """Of these entries. Where no sampled document finds any of them, no more is known than that they are rare."""
    told = None if sampled is None or not sampled.n else _Holding(image, sampled)
    found = _prefixes(image, entries, shares, told)
    return _prefixes(image, entries, shares, None) if told is not None and not found.first.any() else found


def _prefixes(image: Image, entries: Int32, shares: Floats, told: _Holding | None) -> Prefixes:
    rows = np.ones((len(entries), len(Prefixes._fields)))
    for place, entry in enumerate(entries.tolist()):
        tests = image.entry_tests[image.entry_off[entry] : image.entry_off[entry + 1]].tolist()
        held = _held(tests, shares, told)
        ranks = [test for test in tests if test < image.n_tests]
        held_by_ranks = held if len(ranks) == len(tests) else _held(ranks, shares, told)
        rows[place] = (*_of(held), *_of(held_by_ranks)[::3])
    return Prefixes(*rows.T)


def _of(held: list[float]) -> tuple[float, float, float, float]:
    """Of an entry: first, looked_at, two, all."""
    return (held[0], sum(held), held[min(len(held), 2) - 1], held[-1]) if held else (1.0, 0.0, 1.0, 1.0)


def _held(tests: list[int], shares: Floats, told: _Holding | None) -> list[float]:
    return _held_independently(tests, shares) if told is None else told.prefixes(tests)


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
