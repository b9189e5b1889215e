"""Predicate evaluations, counted while the package's own indexes search (Tatbul 2001, 4.1.5: "value comparisons").

In: an index of `profilec.runtime.indexes`, and a rank that counts. Out: what the search compared it with.

`CountedRank` is an integer, so that it can be given to `entries_at` as it is: whatever the index compares it with,
by bisection in its arrays, at the keys of its nodes or interval by interval, is counted at that comparison. Counted
as the paper counts:

- less, equal or greater is one evaluation: where a search asks for equality and then for order, the second is free;
- an interval, `(low <= rank) & (rank <= high)`, is one predicate and one evaluation: its lower bound counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Self
from unittest.mock import patch

import numpy as np

from profilec.runtime.indexes import clusters, hybrid, interval, interval_tree


class Evaluations:
    """How many there were."""

    def __init__(self) -> None:
        self.n = 0


class CountedRank(int):
    """A rank that adds what it is compared with to `evaluations`.

    >>> evaluations = Evaluations()
    >>> rank = CountedRank(7, evaluations)
    >>> from bisect import bisect_right
    >>> low, high = np.array([3, 8, 5]), np.array([9, 9, 6])
    >>> ((low <= rank) & (rank <= high)).tolist(), evaluations.n
    ([True, False, False], 3)
    >>> bisect_right([2, 4, 6, 8], rank), evaluations.n - 3
    (3, 2)
    >>> rank == 6, rank < 6, evaluations.n - 5
    (False, False, 1)
    """

    __array_ufunc__ = None  # so that arrays leave the comparison to it
    evaluations: Evaluations
    unequal: Any
    """What it was last found not to be equal to."""

    def __new__(cls, rank: int, evaluations: Evaluations) -> Self:
        counted = super().__new__(cls, rank)
        counted.evaluations, counted.unequal = evaluations, None
        return counted

    def __neg__(self) -> CountedRank:
        return CountedRank(-int(self), self.evaluations)

    def __lt__(self, other: Any) -> Any:
        self._count(other)
        return int(self) < other

    def __gt__(self, other: Any) -> Any:
        self._count(other)
        return int(self) > other

    def __ge__(self, other: Any) -> Any:
        self._count(other)
        return int(self) >= other

    def __le__(self, other: Any) -> Any:
        if not isinstance(other, np.ndarray):  # arrays: the upper bounds of predicates that are counted already
            self._count(other)
        return int(self) <= other

    def __eq__(self, other: object) -> Any:
        self._count(other)
        self.unequal = other
        return int(self) == other

    __hash__ = int.__hash__

    def _count(self, other: Any) -> None:
        if isinstance(other, np.ndarray):
            self.evaluations.n += len(other)
        elif other != self.unequal:
            self.evaluations.n += 1
        self.unequal = None


@contextmanager
def built_without_bounds() -> Iterator[None]:
    """Indexes built here repeat intervals as often as the paper does, without bound.

    The hybrid index has interval indexes on all clusters "of size larger than 1" (4.1.3).
    """
    with ExitStack() as stack:
        stack.enter_context(patch.object(clusters, "MAX_REPETITION", math.inf))
        stack.enter_context(patch.object(interval, "MAX_REPETITION", math.inf))
        stack.enter_context(patch.object(hybrid, "MIN_CLUSTER_SIZE", 2))
        yield


@contextmanager
def searched_as_in_the_paper() -> Iterator[None]:
    """The same arrays, read in the paper's order where the package bisects.

    The elementary intervals of an interval index are walked as a tree, up to the one that holds the rank (4.1.2); the
    lists of an interval tree are walked from their first interval on (4.1.4).
    """
    with ExitStack() as stack:
        stack.enter_context(patch.object(interval, "bisect_right", _walk_tree))
        stack.enter_context(patch.object(interval_tree, "bisect_right", _walk_list))
        yield


def _walk_tree(cuts: Sequence[int], rank: int) -> int:
    """`bisect_right` of what has a node for each interval between two cuts, the middle one at the root."""
    first, end = 0, len(cuts) - 1
    while first < end:
        middle = (first + end) // 2
        if rank < cuts[middle]:
            end = middle
        elif int(rank) < cuts[middle + 1]:
            return middle + 1
        else:
            first = middle + 1
    return len(cuts) if first else 0


def _walk_list(ends: Sequence[int], rank: int, start: int, end: int) -> int:
    while start < end and ends[start] <= rank:
        start += 1
    return start
