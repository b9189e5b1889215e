"""The matchers by their names.

In: an image. Out: what finds the entries that ask joins alone (`joins.literals`), or the others: either can go first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32
from profilec.runtime.joins.literals import asks_joins_alone


class Matcher(Protocol):
    """Finds matches of sparse documents: profiles, and entries that do match if what Python has to check holds."""

    def match(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[Int32, Int32]:
        """Of one document; profiles ascending."""
        ...

    def count(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[int, Int32]:
        """Of one document the number of profiles, and the entries."""
        ...

    def match_batch(
        self, doc_off: NDArray[np.int64], doc_slots: Int32, doc_ranks: Int32
    ) -> tuple[NDArray[np.int64], Int32, NDArray[np.int64], Int32]:
        """Of many, each as offsets and elements."""
        ...


def _betree(image: Image, joined: bool, index_of: Mapping[str, str]) -> Matcher:
    from profilec.runtime.matchers.betree.matcher import BETreeMatcher

    return BETreeMatcher(image, image.join_tree if joined else image.tree)


def _access(image: Image, joined: bool, index_of: Mapping[str, str]) -> Matcher:
    from profilec.runtime.matchers.access import AccessFinder
    from profilec.runtime.matchers.candidates import SparseCandidateMatcher

    own = asks_joins_alone(image) == joined
    return SparseCandidateMatcher(AccessFinder(image, own, index_of), np.flatnonzero(own).astype(np.int32))


def _counting(image: Image, joined: bool, index_of: Mapping[str, str]) -> Matcher:
    from profilec.runtime.matchers.candidates import SparseCandidateMatcher
    from profilec.runtime.matchers.counting import CountingFinder
    from profilec.runtime.matchers.rank_tests import rank_tests

    tests = rank_tests(image, asks_joins_alone(image) == joined)
    return SparseCandidateMatcher(CountingFinder(tests), tests.entries)


def _opindex(image: Image, joined: bool, index_of: Mapping[str, str]) -> Matcher:
    from profilec.runtime.matchers.candidates import SparseCandidateMatcher
    from profilec.runtime.matchers.opindex.match import OpIndexFinder
    from profilec.runtime.matchers.rank_tests import rank_tests

    tests = rank_tests(image, asks_joins_alone(image) == joined)
    return SparseCandidateMatcher(OpIndexFinder(tests), tests.entries)


def _bitmap(image: Image, joined: bool, index_of: Mapping[str, str]) -> Matcher:
    from profilec.runtime.matchers.bitmap import BitmapMatcher
    from profilec.runtime.matchers.candidates import CandidateMatcher

    return CandidateMatcher(image, BitmapMatcher(image, index_of), asks_joins_alone(image) == joined)


def _scan(image: Image, joined: bool, index_of: Mapping[str, str]) -> Matcher:
    from profilec.runtime.matchers.candidates import CandidateMatcher
    from profilec.runtime.matchers.scan import ScanMatcher

    return CandidateMatcher(image, ScanMatcher(image), asks_joins_alone(image) == joined)


class Nothing:
    """The matcher of no entries."""

    def match(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[Int32, Int32]:
        return _NONE, _NONE

    def count(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[int, Int32]:
        return 0, _NONE

    def match_batch(
        self, doc_off: NDArray[np.int64], doc_slots: Int32, doc_ranks: Int32
    ) -> tuple[NDArray[np.int64], Int32, NDArray[np.int64], Int32]:
        off = np.zeros_like(doc_off)
        return off, _NONE, off, _NONE


_NONE = np.zeros(0, np.int32)

MATCHERS: dict[str, Callable[[Image, bool, Mapping[str, str]], Matcher]] = {
    "access": _access,
    "betree": _betree,
    "bitmap": _bitmap,
    "counting": _counting,
    "opindex": _opindex,
    "scan": _scan,
}
"""What finds the entries of an image that ask joins alone, or the others; `index_of`: the attribute indexes that are
asked for, by attribute."""
