"""Tatbul 2001: the evaluations of five indexes by the number of profiles (Fig. 7) and by their overlap (Fig. 8), and
the growth that Table 1 states.

In: profiles of closed intervals on two attributes of integers, which the package's indexes take as ranks. Out: what
finding a document's profiles compares, counted by `seeds.evaluations` and summed over both attributes.

The five series with the paper's names are the package's indexes, built without their bounds on storage and searched in
the paper's order (`seeds.evaluations`). The two series "bisected" are the same arrays as the package itself searches
them. Each document's answer is compared with the definition.

Left open by the paper and decided here:
- Intervals start at an origin plus or minus an offset, drawn by Zipf from 0 to `REACH`; both signs are as likely.
  Documents have any value between the first start and the last end.
- The overlap is the share of pairs of profiles whose intervals have a value in common, the mean of both attributes.
- The cluster index gives what may match, and the profiles in the clusters of both attributes are evaluated one by one,
  each up to its first predicate that fails. (The package's own `entries_at` evaluates each attribute's cluster.)
- The best and the worst case of Table 1 are the fewest and the most evaluations of any document, for profiles that are
  all apart and for profiles that are nested in each other. A document has the same value in both attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from draws import weighted, zipf_weights
from numpy.typing import NDArray
from seeds.chart import Axis, Chart
from seeds.evaluations import CountedRank, Evaluations, built_without_bounds, searched_as_in_the_paper

from profilec.runtime.indexes.by_name import AttributeIndex
from profilec.runtime.indexes.cluster import ClusterIndex
from profilec.runtime.indexes.hybrid import HybridIndex
from profilec.runtime.indexes.interval import IntervalIndex, members
from profilec.runtime.indexes.interval_tree import IntervalTreeIndex
from profilec.runtime.indexes.segment_tree import SegmentTreeIndex

Int32: TypeAlias = NDArray[np.int32]
SEED = 2001
N_DOCUMENTS = 50
SIZE = 10
ORIGIN, REACH, SKEW = 10_000, 400, 0.25
AVERAGE = Axis("Average number of evaluations over 50 documents")
PROFILES, EXTREME = Axis("Number of profiles", True), Axis("Number of evaluations", True)


@dataclass(frozen=True, slots=True)
class Profiles:
    """int32[n_attributes, n_profiles]: profile p asks for `low[a, p]..high[a, p]` of attribute a."""

    low: Int32
    high: Int32

    def built(self, make: Callable[..., AttributeIndex]) -> list[AttributeIndex]:
        """An index for each attribute; entry p is of profile p."""
        each = np.arange(self.low.shape[1] + 1, dtype=np.int32)
        with built_without_bounds():
            return [make(each[:-1], each, low, high) for low, high in zip(self.low, self.high, strict=True)]

    def matching(self, document: Sequence[int]) -> list[int]:
        """By definition."""
        values = np.array(document)[:, None]
        found: list[int] = np.flatnonzero(((self.low <= values) & (values <= self.high)).all(axis=0)).tolist()
        return found

    @property
    def overlap(self) -> float:
        """The percent of the pairs of profiles that overlap, the mean of the attributes."""
        n = self.low.shape[1]
        meet = (self.low[:, :, None] <= self.high[:, None, :]) & (self.low[:, None, :] <= self.high[:, :, None])
        return round(float(100 * (meet.sum() / len(self.low) - n) / (n * (n - 1))), 1)


Search: TypeAlias = Callable[[Profiles, Sequence[Any], Sequence[int]], Int32]
"""The profiles that match a document, by an index for each attribute."""


def _by_attribute(_: Profiles, indexes: Sequence[AttributeIndex], document: Sequence[int]) -> Int32:
    first, second = (index.entries_at(value) for index, value in zip(indexes, document, strict=True))
    return members(first & second)


def _by_clusters(profiles: Profiles, indexes: Sequence[ClusterIndex], document: Sequence[int]) -> Int32:
    """The profiles in the clusters of all attributes, evaluated one by one (4.1.1)."""
    candidates = np.arange(profiles.low.shape[1], dtype=np.int32)
    for index, value in zip(indexes, document, strict=True):
        number = index._clusters.number_at(value)
        candidates = np.intersect1d(candidates, index._owner[slice(*index._clusters.off[number : number + 2])])
    for low, high, value in zip(profiles.low, profiles.high, document, strict=True):
        candidates = candidates[(low[candidates] <= value) & (value <= high[candidates])]
    return candidates


@dataclass(frozen=True, slots=True)
class Subject:
    """What is counted: an index, and how it is searched."""

    make: Callable[..., AttributeIndex]
    search: Search = _by_attribute
    bisected: bool = False

    def counts(self, profiles: Profiles, documents: Iterable[Sequence[int]]) -> list[int]:
        """The evaluations of each document.

        Raises:
            AssertionError: an answer is not that of the definition.
        """
        indexes = profiles.built(self.make)
        counts = []
        with nullcontext() if self.bisected else searched_as_in_the_paper():
            for document in documents:
                evaluations = Evaluations()
                counted = [CountedRank(value, evaluations) for value in document]
                found = self.search(profiles, indexes, counted)
                assert found.tolist() == profiles.matching(document), (self, document)
                counts.append(evaluations.n)
        return counts


SUBJECTS = {
    "Cluster": Subject(ClusterIndex, _by_clusters),
    "Interval": Subject(IntervalIndex),
    "Hybrid": Subject(HybridIndex),
    "Segment Tree": Subject(SegmentTreeIndex),
    "Interval Tree": Subject(IntervalTreeIndex),
    "Interval, bisected": Subject(IntervalIndex, bisected=True),
    "Interval Tree, bisected": Subject(IntervalTreeIndex, bisected=True),
}


def _dispersed(n: int, size: int) -> Profiles:
    rng = np.random.default_rng(SEED)
    offset = weighted(rng, zipf_weights(REACH + 1, SKEW), (2, n))
    low = (ORIGIN + rng.choice((-1, 1), (2, n)) * offset).astype(np.int32)
    return Profiles(low, low + np.int32(size))


def _documents(profiles: Profiles) -> list[list[int]]:
    rng = np.random.default_rng((SEED, 1))
    first, last = profiles.low.min(axis=1), profiles.high.max(axis=1)
    documents: list[list[int]] = rng.integers(first, last + 1, (N_DOCUMENTS, 2)).tolist()
    return documents


def _averages(sets: Iterable[tuple[float, Profiles]]) -> Mapping[str, list[tuple[float, float]]]:
    series: dict[str, list[tuple[float, float]]] = {name: [] for name in SUBJECTS}
    for x, profiles in sets:
        documents = _documents(profiles)
        for name, subject in SUBJECTS.items():
            series[name].append((x, float(np.mean(subject.counts(profiles, documents)))))
    return series


def _by_number(quick: bool) -> Chart:
    sizes = range(100, 1_001, 450 if quick else 100)
    series = _averages((n, _dispersed(n, SIZE)) for n in sizes)
    return Chart("tatbul2001_fig07", "Evaluations by number of profiles", Axis("Number of profiles"), AVERAGE, series)


def _by_overlap(quick: bool) -> Chart:
    sizes = (SIZE, 300, 700) if quick else (SIZE, 40, 80, 120, 160, 200, 250, 300, 350, 400, 500, 600, 700)
    sets = (_dispersed(100, size) for size in sizes)
    series = _averages((profiles.overlap, profiles) for profiles in sets)
    return Chart("tatbul2001_fig08", "Evaluations by overlap", Axis("Percent overlap"), AVERAGE, series)


def _apart(n: int) -> Profiles:
    low = np.tile(4 * np.arange(n, dtype=np.int32), (2, 1))
    return Profiles(low, low + np.int32(2))


def _nested(n: int) -> Profiles:
    number = np.tile(np.arange(n, dtype=np.int32), (2, 1))
    return Profiles(number, np.int32(4 * n) - number)


@cache
def _extremes(quick: bool) -> Mapping[str, list[tuple[int, int, int]]]:
    """By index, for each number of profiles the fewest and the most evaluations."""
    series: dict[str, list[tuple[int, int, int]]] = {name: [] for name in SUBJECTS}
    for n in (16, 64) if quick else (16, 32, 64, 128, 256, 512, 1_024, 2_048):
        for name, subject in SUBJECTS.items():
            both = (subject.counts(profiles, _everywhere(profiles)) for profiles in (_apart(n), _nested(n)))
            counts = [count for counts in both for count in counts]
            series[name].append((n, min(counts), max(counts)))
    return series


def _best_case(quick: bool) -> Chart:
    series = {name: [(n, fewest) for n, fewest, _ in points] for name, points in _extremes(quick).items()}
    return Chart("tatbul2001_table1_best", "Table 1: fewest evaluations of a document", PROFILES, EXTREME, series)


def _worst_case(quick: bool) -> Chart:
    series = {name: [(n, most) for n, _, most in points] for name, points in _extremes(quick).items()}
    return Chart("tatbul2001_table1_worst", "Table 1: most evaluations of a document", PROFILES, EXTREME, series)


def _everywhere(profiles: Profiles) -> list[list[int]]:
    """A document for each elementary interval that satisfies a profile: the middle of what lies between two cuts."""
    cuts = np.unique(np.concatenate((profiles.low[0], profiles.high[0] + 1))).tolist()
    documents = [[(start + end) // 2] * 2 for start, end in pairwise(cuts)]
    return [document for document in documents if profiles.matching(document)]


CHARTS: dict[str, Callable[[bool], Chart]] = {
    "tatbul2001_fig07": _by_number,
    "tatbul2001_fig08": _by_overlap,
    "tatbul2001_table1_best": _best_case,
    "tatbul2001_table1_worst": _worst_case,
}
