"""Matchers of one set of profiles, timed against each other on the same documents.

In: an image and its documents, and which matchers. Out: for each how long it took to make, its bytes, and the seconds
it takes for a document.

Each gets a document that is encoded beforehand, as sparse ranks (the k-index as sparse values, the scan as dense ones),
in one call from Python, and gives what matches as an array, ascending. Before anything is timed, all of them have to
give the same profiles. Then they take turns, and medians are compared. Of an image equal profiles are one entry; the
k-index and the scan have each. What is made is timed after the like of it has been made of a few profiles, so that
kernels are compiled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from baselines.be_tree import be, be_b
from baselines.gryphon import GryphonMatcher
from baselines.gryphon_equality import GryphonEqualityMatcher
from baselines.k_index import KIndex
from baselines.propagation import PropagationMatcher
from baselines.scan import scan_of
from baselines.value_tests import value_tests
from conjunctions import Conjunctions
from documents import Documents
from images import image_of
from measure import Effort, interleaved
from numpy.typing import NDArray
from subjects import Batch, build, encoded

from profilec.runtime.image import Image, Int32
from profilec.runtime.matchers.candidates import SparseCandidateMatcher
from profilec.runtime.matchers.counting import CountingFinder
from profilec.runtime.matchers.opindex.lists import Lists, lists_of
from profilec.runtime.matchers.opindex.match import OpIndexFinder
from profilec.runtime.matchers.rank_tests import RankTests, rank_tests

CLOCK = time.process_time
"""Time of the processor: points of a chart are minutes apart, and the machine may have other work at some of them."""
_N_COMPARED = 8
WHOLE = Effort(rounds=3, slice=0.03)
QUICK = Effort(rounds=1, slice=0.001)


def n_documents(quick: bool) -> int:
    """That matchers are timed on, over and over."""
    return 20 if quick else 200


class Load(NamedTuple):
    """Profiles as columns and in an image, and documents as they are and as both want them."""

    profiles: Conjunctions
    documents: Documents
    image: Image
    ranks: Batch
    values: Batch

    @classmethod
    def of(cls, profiles: Conjunctions, documents: Documents) -> Load:
        """Builds the image."""
        image = image_of(profiles).image
        values = Batch(documents.off, documents.slots, documents.values)
        return cls(profiles, documents, image, encoded(image, documents), values)


class Matcher(NamedTuple):
    """`match`: what a document matches; `profiles`: that as ordinals; `documents`: what it is given; `n_bytes`: of the
    arrays that it reads."""

    match: Callable[..., Int32]
    profiles: Callable[[Int32], Int32]
    documents: Sequence[tuple[Any, ...]]
    n_bytes: int


class Made(NamedTuple):
    """A matcher, and the seconds that it took to make it of the image (or the columns)."""

    matcher: Matcher
    seconds: float


def make(name: str, load: Load, max_cap: int) -> Made:
    """One of MAKERS. `max_cap`: the leaf capacity of BE-Trees.

    Raises:
        ValueError: it would be too large, or it cannot have such profiles.
    """
    start = CLOCK()
    matcher = MAKERS[name](load, max_cap)
    return Made(matcher, CLOCK() - start)


def made(names: Sequence[str], load: Load, max_cap: int) -> dict[str, Made]:
    """Those of the matchers that can be made; all of them give the same profiles.

    Raises:
        AssertionError: they do not.
    """
    found: dict[str, Made] = {}
    for name in names:
        try:
            found[name] = make(name, load, max_cap)
        except ValueError as refused:
            print(f"  {name} is left out: {refused}", flush=True)
    scan = scan_of(load.profiles)
    for number, codes in enumerate(load.documents.dense()[:_N_COMPARED]):
        expected = scan.match(codes)
        for name, (matcher, _) in found.items():
            own = matcher.profiles(matcher.match(*matcher.documents[number]))
            assert np.array_equal(np.sort(own), expected), f"document {number}: {name} and the scan disagree"
    return found


def seconds(matchers: Mapping[str, Made], effort: Effort) -> dict[str, float]:
    """The median seconds a document."""

    def run_of(matcher: Matcher) -> Callable[[int], None]:
        turns = cycle(matcher.documents)

        def run(n: int) -> None:
            for _ in range(n):
                matcher.match(*next(turns))

        return run

    return interleaved(
        {name: run_of(own.matcher) for name, own in matchers.items()}, whole={}, effort=effort, clock=CLOCK
    )


def _sparse(batch: Batch) -> list[tuple[Int32, Int32]]:
    return [batch.document(number) for number in range(len(batch))]


def _of_image(load: Load, matcher: Any) -> Matcher:
    """A baseline that finds an image's entries."""
    return Matcher(matcher.candidates_of, _profiles_of(load.image), _sparse(load.ranks), matcher.n_bytes)


def _profiles_of(image: Image) -> Callable[[Int32], Int32]:
    """Entries to profiles: each entry of a generated conjunction has those that are equal."""

    def profiles(entries: Int32) -> Int32:
        off = image.entry_profile_off
        return np.concatenate([image.entry_profiles[:0], *(image.entry_profiles[off[e] : off[e + 1]] for e in entries)])

    return profiles


def _as_they_are(profiles: Int32) -> Int32:
    return profiles


def _scan(load: Load, max_cap: int) -> Matcher:
    scan = scan_of(load.profiles)
    return Matcher(scan.match, _as_they_are, [(codes,) for codes in load.documents.dense()], scan.n_bytes)


def _k_index(load: Load, max_cap: int) -> Matcher:
    """Over values, which it enumerates, as in both papers."""
    index = KIndex(value_tests(load.profiles))
    return Matcher(index.candidates_of, _as_they_are, _sparse(load.values), index.n_bytes)


def _finder(load: Load, make_finder: Callable[[RankTests], Any], arrays: Callable[[Any], Sequence[Any]]) -> Matcher:
    """A finder of the product, which brings its arrays in tuples."""
    tests = rank_tests(load.image, np.ones(load.image.n_entries, np.bool_))
    finder = make_finder(tests)
    matcher = SparseCandidateMatcher(finder, tests.entries)
    n_bytes = sum(array.nbytes for array in arrays(finder))
    documents = [(slots, ranks, len(slots)) for slots, ranks in _sparse(load.ranks)]
    return Matcher(lambda *document: matcher.match(*document)[1], _profiles_of(load.image), documents, n_bytes)


def plain_lists(tests: RankTests, frequency: NDArray[Any] | None) -> Lists:
    """OpIndex-BS (OpIndex, 7): lists without segments, and signatures that exclude nothing: a binary search each."""
    lists = lists_of(tests, frequency, segments=1)
    return lists._replace(signature=np.full_like(lists.signature, np.iinfo(np.uint64).max))


def _tree(leaves: str, by_cost: bool) -> Callable[[Load, int], Matcher]:
    """The product's tree, with the capacity given or, by cost, with the one that it chooses."""

    def make_tree(load: Load, max_cap: int) -> Matcher:
        subject = build(load.image, f"betree:{leaves}", None if by_cost else max_cap)
        return Matcher(subject.match_kernel, _as_they_are, _sparse(load.ranks), subject.n_bytes)

    return make_tree


MAKERS: dict[str, Callable[[Load, int], Matcher]] = {
    "SCAN": _scan,
    "SIFT": lambda load, _: _finder(load, CountingFinder, lambda finder: finder.directory),
    "k-index": _k_index,
    "Gryphon": lambda load, _: _of_image(load, GryphonMatcher(load.image)),
    "Gryphon, equality": lambda load, _: _of_image(load, GryphonEqualityMatcher(load.image)),
    "Propagation": lambda load, _: _of_image(load, PropagationMatcher(load.image)),
    "BE": lambda load, max_cap: _of_image(load, be(load.image, max_cap)),
    "BE-B": lambda load, max_cap: _of_image(load, be_b(load.image, max_cap)),
    "OpIndex": lambda load, _: _finder(load, OpIndexFinder, lambda finder: finder.lists),
    "OpIndex-BS": lambda load, _: _finder(
        load, lambda tests: OpIndexFinder(tests, make=plain_lists), lambda finder: finder.lists
    ),
    "betree": _tree("any", by_cost=True),
    "betree:list": _tree("list", by_cost=False),
    "betree:matrix": _tree("matrix", by_cost=False),
}
"""By what the papers' legends call them; SIFT is the product's `counting`, and those that begin with `betree` are its
tree, `betree` as it would be planned, the others with all leaves of one form and the capacity of BE."""
