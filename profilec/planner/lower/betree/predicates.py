"""The predicates of all entries as columns, and what building a tree knows of each.

In: nothing. Out: the tuples of arrays that the builder's kernels share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.kernels import inlined

OPEN, COVERED, SUBSUMED = 0, 1, 2
"""state: not on the path; on the path, which holds for more ranks; on the path, and equivalent to it (BE-Tree, 5)."""


class Predicates(NamedTuple):
    """Entry e has predicates `off[e] .. off[e + 1]`, most selective first.

    Predicate p asks that the rank of `slot[p]` be in one of the intervals `first[p] .. last[p]` of `Intervals`;
    `low[p], high[p]` is their hull (BE-Tree, Table 1). state[p]: OPEN, COVERED or SUBSUMED, written as the tree grows.
    """

    off: NDArray[np.int64]
    slot: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    state: NDArray[np.uint8]


class Intervals(NamedTuple):
    """Closed intervals of ranks; those of one predicate are sorted and disjoint."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]


class Slots(NamedTuple):
    """Of each slot: the share of documents that have it, and its number of ranks. `is_sampled`: so it was seen."""

    presence: NDArray[np.float64]
    n_ranks: NDArray[np.int32]
    is_sampled: bool


@inlined
def path_state(predicates: Any, p: int, low: int, high: int) -> int:
    """The state of a predicate on whose slot the path asks for ranks low .. high."""
    one = predicates.last[p] - predicates.first[p] == 1
    return SUBSUMED if one and predicates.low[p] == low and predicates.high[p] == high else COVERED


@inlined
def home_level(low: int, high: int) -> int:
    """The level of the smallest bucket that encloses ranks low .. high, both >= 1.

    A bucket of level l has 2**l ranks and begins at a multiple of that, counted from rank 1: halves of halves of
    the domain, whatever the predicates are (BE-Tree, 4.3).
    """
    differ = (low - 1) ^ (high - 1)
    level = 0
    while differ:
        differ >>= 1
        level += 1
    return level


@inlined
def bucket_share(low: int, high: int, n_ranks: int) -> float:
    """The part of a slot's ranks that lies in the home bucket of low .. high."""
    return min(1.0, (1 << home_level(low, high)) / max(1, n_ranks - 1))
