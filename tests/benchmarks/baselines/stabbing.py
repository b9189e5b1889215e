"""The baselines of one attribute by their names, and what they have in common with the product's indexes.

In: entries, each with the closed rank intervals that its test on a slot accepts. Out: what tells, for a rank, the
entries whose test holds. They are made and asked as `profilec.runtime.indexes.by_name` says, so that each can stand
where an index of the product stands; `stab` gives the same without making a bit vector of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from baselines.dlist import DirectListing
from baselines.grouped_filter import GroupedFilter
from baselines.is_list import IntervalSkipList
from pyroaring import BitMap

from profilec.runtime.image import Int32


class StabbingIndex(Protocol):
    """The entries that have a test on one slot."""

    @property
    def constrained(self) -> BitMap:
        """All of them."""
        ...

    @property
    def n_bytes(self) -> int:
        """Of the arrays that are read."""
        ...

    def entries_at(self, rank: int) -> BitMap:
        """Those whose test holds at this rank."""
        ...

    def stab(self, rank: int) -> Int32:
        """The same as an array, each once, in any order; not to be changed."""
        ...


STABBING: dict[str, Callable[[Int32, Int32, Int32, Int32], StabbingIndex]] = {
    "dlist": DirectListing,
    "grouped_filter": GroupedFilter,
    "is_list": IntervalSkipList,
}
"""What makes an index of `entries, off, low, high`, as `profilec.runtime.indexes.by_name.INDEXES`."""
