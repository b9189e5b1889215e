"""What matching costs: one formula for each operator, over unit costs in nanoseconds.

In: a `Workload`, what a document is expected to come to. Out: nanoseconds for one document.

The unit costs are those of one machine: `profilec calibrate` measures them, and the defaults were measured so. Each
formula is a sum of a unit times a size, so that units are found by least squares from timed runs (`calibrate`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from profilec.planner.lower.workload import SlotLoad, Workload

Sizes = dict[str, float]
"""By the name of a unit, how often it is spent on one document."""


class Units(NamedTuple):
    """Unit costs in ns, named after the operator that spends them."""

    encode_document: float = 1_000.0
    encode_attribute: float = 100.0
    betree_document: float = 1_500.0
    betree_attribute: float = 60.0
    betree_partitioned: float = 25.0
    betree_found: float = 2.0
    betree_row: float = 8.0
    access_document: float = 6_000.0
    access_entry: float = 15.0
    access_test: float = 5.0
    bitmap_document: float = 6_000.0
    bitmap_slot: float = 1_500.0
    bitmap_container: float = 300.0
    counting_document: float = 6_000.0
    counting_attribute: float = 100.0
    counting_test: float = 2.0
    counting_entry: float = 0.1
    opindex_document: float = 6_000.0
    opindex_attribute: float = 200.0
    opindex_test: float = 3.0
    scan_document: float = 20_000.0
    scan_interval: float = 3.0
    scan_test: float = 3.0
    scan_entry: float = 2.0
    check_entry: float = 2_000.0
    index_probe: float = 600.0
    index_step: float = 150.0
    index_scanned: float = 1.0
    index_posting: float = 3.0


def encode(workload: Workload) -> Sizes:
    """A document's values become ranks: a search for each attribute that profiles ask for."""
    return {"encode_document": 1.0, "encode_attribute": workload.present}


def betree(workload: Workload) -> Sizes:
    """BE-Tree, 4: a document goes down every attribute that it has, into the buckets that enclose its value. What is
    looked at there was partitioned by its most selective tests, in leaves that are looked at whole: entries whose first
    two tests hold, and a share of those whose first one does; each match is written."""
    return {
        "betree_document": 1.0,
        "betree_attribute": workload.present,
        "betree_partitioned": workload.partitioned,
        "betree_found": workload.found,
        "betree_row": workload.rows,
    }


def access(workload: Workload, index_of: Mapping[str, str]) -> Sizes:
    """A probe of the index of each attribute that gives access; of each entry found, tests until one fails."""
    sizes = {"access_document": 1.0, "access_entry": workload.found, "access_test": workload.looked_at}
    for slot in workload.slots:
        if slot.n_access:
            share = slot.n_access / slot.n_entries
            _add(sizes, index(index_of[slot.name], slot, share), slot.presence)
    return sizes


def bitmap(workload: Workload, index_of: Mapping[str, str]) -> Sizes:
    """Tatbul 2001, 4.1.2: for each attribute that the document has, its index gives a bit vector, and two operations on
    compressed bit vectors keep what it lets through: one container of either for each 65,536 entries."""
    sizes = {"bitmap_document": 1.0}
    for slot in workload.slots:
        n_containers = min(math.ceil(workload.n_entries / 65_536), slot.n_entries)
        _add(sizes, {"bitmap_slot": 1.0, "bitmap_container": float(n_containers)}, slot.presence)
        _add(sizes, index(index_of[slot.name], slot, 1.0), slot.presence)
    return sizes


def counting(workload: Workload) -> Sizes:
    """SIFT's counting: a counter goes up for each test that holds."""
    return {
        "counting_document": 1.0,
        "counting_attribute": workload.present,
        "counting_test": workload.held,
        "counting_entry": float(workload.n_entries),
    }


def opindex(workload: Workload) -> Sizes:
    """OpIndex, 4.2: as counting, over the entries whose pivot attribute the document has. All tests of these are taken
    to be on attributes that come as often as they do elsewhere."""
    return {"opindex_document": 1.0, "opindex_attribute": workload.present, "opindex_test": workload.held}


def scan(workload: Workload) -> Sizes:
    """Everything, whatever the document is."""
    return {
        "scan_document": 1.0,
        "scan_interval": float(workload.n_intervals),
        "scan_test": float(workload.n_tests),
        "scan_entry": float(workload.n_entries),
    }


def check(workload: Workload) -> Sizes:
    """What Python has to look at of the entries whose tests hold: residuals, terms that are not indexed."""
    return {"check_entry": workload.n_checked}


def index(name: str, slot: SlotLoad, share: float) -> Sizes:
    """One probe of an attribute's index that holds a share of the slot's entries (Tatbul 2001, Table 1)."""
    held = slot.n_held / max(slot.presence, 1e-9) * share
    n_intervals = max(slot.n_intervals * share, 1.0)
    steps = math.log2(min(n_intervals * 2, slot.n_cells) + 1)
    return {"index_probe": 1.0, "index_step": steps, "index_posting": held}


def cost(sizes: Sizes, units: Units) -> float:
    """What sizes come to, in ns."""
    return sum(getattr(units, name) * size for name, size in sizes.items())


def _add(sizes: Sizes, more: Sizes, times: float) -> None:
    for name, size in more.items():
        sizes[name] = sizes.get(name, 0.0) + size * times
