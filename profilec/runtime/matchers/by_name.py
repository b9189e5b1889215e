"""The matchers by their names.

In: an image. Out: what finds the entries that ask joins alone (`joins.literals`), or the others: either can go first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32
from profilec.runtime.joins.literals import asks_joins_alone
from profilec.runtime.matchers.betree.tree import Tree
from profilec.runtime.matchers.groups import entries_of
from profilec.runtime.matchers.mixed import MixedMatcher
from profilec.runtime.store.node_file import NO_DISK, Disk

Entries: TypeAlias = NDArray[np.bool_]
"""Some of an image's entries."""


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


class Given(NamedTuple):
    """What a matcher may need: a tree of the entries; the attribute indexes that are asked for, by attribute; of each
    slot the share of documents that have it, or None where that is not known; where indexes on secondary storage are,
    and the memory there is."""

    tree: Tree | None
    index_of: Mapping[str, str]
    frequency: Sequence[float] | None
    disk: Disk


def _betree(image: Image, own: Entries, given: Given) -> Matcher:
    from profilec.runtime.matchers.betree.matcher import BETreeMatcher

    return BETreeMatcher(image, given.tree)


def _access(image: Image, own: Entries, given: Given) -> Matcher:
    from profilec.runtime.matchers.access import AccessFinder
    from profilec.runtime.matchers.candidates import SparseCandidateMatcher

    finder = AccessFinder(image, own, given.index_of, given.disk)
    return SparseCandidateMatcher(finder, np.flatnonzero(own).astype(np.int32))


def _counting(image: Image, own: Entries, given: Given) -> Matcher:
    from profilec.runtime.matchers.candidates import SparseCandidateMatcher
    from profilec.runtime.matchers.counting import CountingFinder
    from profilec.runtime.matchers.rank_tests import rank_tests

    tests = rank_tests(image, own)
    return SparseCandidateMatcher(CountingFinder(tests), tests.entries)


def _opindex(image: Image, own: Entries, given: Given) -> Matcher:
    from profilec.runtime.matchers.candidates import SparseCandidateMatcher
    from profilec.runtime.matchers.opindex.match import OpIndexFinder
    from profilec.runtime.matchers.rank_tests import rank_tests

    tests = rank_tests(image, own)
    return SparseCandidateMatcher(OpIndexFinder(tests, given.frequency), tests.entries)


def _bitmap(image: Image, own: Entries, given: Given) -> Matcher:
    from profilec.runtime.matchers.bitmap import BitmapMatcher
    from profilec.runtime.matchers.candidates import CandidateMatcher

    return CandidateMatcher(image, BitmapMatcher(image, given.index_of), own)


def _scan(image: Image, own: Entries, given: Given) -> Matcher:
    from profilec.runtime.matchers.candidates import CandidateMatcher
    from profilec.runtime.matchers.scan import ScanMatcher

    return CandidateMatcher(image, ScanMatcher(image, own), np.ones(len(own), np.bool_))


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

MATCHERS: dict[str, Callable[[Image, Entries, Given], Matcher]] = {
    "access": _access,
    "betree": _betree,
    "bitmap": _bitmap,
    "counting": _counting,
    "opindex": _opindex,
    "scan": _scan,
}
"""What finds some entries of an image."""


def matcher_of(
    image: Image,
    name: str,
    *,
    joined: bool = False,
    groups: Mapping[str, str] | None = None,
    index_of: Mapping[str, str] | None = None,
    frequency: Sequence[float] | None = None,
    disk: Disk = NO_DISK,
) -> Matcher:
    """What finds the entries that do not ask joins alone, or those that do (`joined`); of the former those of `groups`,
    by the attribute that gives access to them, with matchers of their own. `index_of`, `frequency`, `disk`: see
    `Given`.

    Raises ValueError where there is no such matcher.
    """
    own = asks_joins_alone(image) == joined
    given = Given(image.join_tree if joined else image.tree, index_of or {}, frequency, disk)
    if joined or not groups:
        return _make(name)(image, own, given)
    parts = {}
    for part, entries in entries_of(image, name, groups).items():
        if (own & entries).any():
            parts[part] = _make(part)(image, own & entries, given)
    return MixedMatcher(parts) if parts else Nothing()


def _make(name: str) -> Callable[[Image, Entries, Given], Matcher]:
    make = MATCHERS.get(name.partition(":")[0])
    if make is None:
        raise ValueError(f"no matcher {name!r}; there are {', '.join(MATCHERS)}")
    return make
