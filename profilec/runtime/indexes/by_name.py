"""The attribute indexes by their names.

In: entries, each with the closed rank intervals that its test on a slot accepts. Out: what tells, for a rank, the
entries whose test holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.cluster import ClusterIndex
from profilec.runtime.indexes.hash import HashIndex
from profilec.runtime.indexes.hybrid import HybridIndex
from profilec.runtime.indexes.interval import IntervalIndex
from profilec.runtime.indexes.interval_tree import IntervalTreeIndex
from profilec.runtime.indexes.segment_tree import SegmentTreeIndex


class AttributeIndex(Protocol):
    """The entries that have a test on one slot."""

    @property
    def constrained(self) -> BitMap:
        """All of them; not to be changed."""
        ...

    def entries_at(self, rank: int) -> BitMap:
        """Those whose test holds at this rank; not to be changed."""
        ...


INDEXES: dict[str, Callable[[Int32, Int32, Int32, Int32], AttributeIndex]] = {
    "cluster": ClusterIndex,
    "hash": HashIndex,
    "hybrid": HybridIndex,
    "interval": IntervalIndex,
    "interval_tree": IntervalTreeIndex,
    "segment_tree": SegmentTreeIndex,
}
"""What makes an index of `entries, off, low, high`: entry i has the intervals `low[j]..high[j]`, j from `off[i]` to
before `off[i + 1]`, ascending and apart."""
DEFAULT = "interval"
