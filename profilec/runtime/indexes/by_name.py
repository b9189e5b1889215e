"""The attribute indexes by their names.

In: entries, each with the closed rank intervals that its test on a slot accepts. Out: what tells, for a rank, the
entries whose test holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from pyroaring import BitMap

from profilec.runtime.image import Int32, Slot
from profilec.runtime.indexes.cluster import ClusterIndex
from profilec.runtime.indexes.hash import HashIndex
from profilec.runtime.indexes.hybrid import HybridIndex
from profilec.runtime.indexes.interval import IntervalIndex
from profilec.runtime.indexes.interval_tree import IntervalTreeIndex
from profilec.runtime.indexes.lci import LogarithmicConstructs
from profilec.runtime.indexes.operator_lists import OperatorLists
from profilec.runtime.indexes.pbtree import PBTreeIndex
from profilec.runtime.indexes.pbtree_on_disk import StoredPBTreeIndex
from profilec.runtime.indexes.predicate_list import PredicateList
from profilec.runtime.indexes.sci import SimpleConstructs
from profilec.runtime.indexes.segment_tree import SegmentTreeIndex
from profilec.runtime.indexes.virtual_constructs import VirtualConstructIndex


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
    "lci": partial(VirtualConstructIndex, LogarithmicConstructs, "plain"),
    "lci:clipped": partial(VirtualConstructIndex, LogarithmicConstructs, "clipped"),
    "lci:table": partial(VirtualConstructIndex, LogarithmicConstructs, "table"),
    "lci:virtual": partial(VirtualConstructIndex, LogarithmicConstructs, "virtual"),
    "operator_lists": OperatorLists,
    "operator_lists:bs": partial(OperatorLists, sort=PredicateList),
    "pbtree": PBTreeIndex,
    "pbtree:stored": StoredPBTreeIndex,
    "sci": partial(VirtualConstructIndex, SimpleConstructs, "plain"),
    "sci:clipped": partial(VirtualConstructIndex, SimpleConstructs, "clipped"),
    "sci:table": partial(VirtualConstructIndex, SimpleConstructs, "table"),
    "sci:virtual": partial(VirtualConstructIndex, SimpleConstructs, "virtual"),
    "segment_tree": SegmentTreeIndex,
}
"""What makes an index of `entries, off, low, high`: entry i has the intervals `low[j]..high[j]`, j from `off[i]` to
before `off[i + 1]`, ascending and apart."""
DEFAULT = "interval"
ON_DISK = "pbtree:stored"
"""The one that is on secondary storage."""


def index_name(slot: Slot, index_of: Mapping[str, str]) -> str:
    """The name of a slot's index. `index_of`: by the attribute or expression, with back-quotes or without."""
    plain = slot.name if slot.parts is None else ".".join(slot.parts)
    return index_of.get(slot.name) or index_of.get(plain) or DEFAULT
