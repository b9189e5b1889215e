"""What matching costs: one formula for each operator, over unit costs in nanoseconds.

In: a `Workload`, what a document is expected to come to. Out: nanoseconds for one document.

The unit costs are those of one machine: `profilec calibrate` measures them, and the defaults, `unit_costs.json`, were
measured so. Each formula is a sum of units times sizes, so that units are found by least squares from timed runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from profilec.planner.options import NOT_MIXED

if TYPE_CHECKING:
    from profilec.planner.lower.join_load import JoinLoad
    from profilec.planner.lower.workload import IndexLoad, Workload

Sizes = dict[str, float]
"""By the name of a unit, how often it is spent on one document."""


Units = Mapping[str, float]
"""Unit costs in ns, by names that begin with the operator that spends them."""
MATCHERS = ("betree", "access", "counting", "opindex", "bitmap", "scan")
"""Those that are weighed against one another; of two that cost the same the first is taken."""
MIXED = tuple(name for name in MATCHERS if name not in NOT_MIXED)
"""Those that are weighed for groups of entries. (The bitmap's indexes are of all entries that ask for an attribute.)"""


def matcher(name: str, workload: Workload, index_of: Mapping[str, str]) -> Sizes:
    """What a matcher spends, its indexes included, and what it leaves to Python."""
    return own(name, workload, index_of) | check(name, workload)


def own(name: str, workload: Workload, index_of: Mapping[str, str]) -> Sizes:
    """What a matcher spends itself, its indexes included."""
    match name:
        case "access":
            return access(workload, index_of)
        case "bitmap":
            return bitmap(workload, index_of)
        case "counting":
            return counting(workload)
        case "opindex":
            return opindex(workload)
        case "scan":
            return scan(workload)
    return betree(workload)


def another(n: int) -> Sizes:
    """What is found by so many matchers is put together."""
    return {"mix_matcher": n - 1.0}


def encode(workload: Workload) -> Sizes:
    """A document's values become ranks: a search for each attribute that profiles ask for."""
    return {"encode_document": 1.0, "encode_attribute": workload.present}


def betree(workload: Workload) -> Sizes:
    """BE-Tree, 4: a document goes down every attribute that it has, into the buckets that enclose its value. What is
    looked at there was partitioned by its most selective tests, in leaves that are looked at whole: entries whose first
    two tests hold, and a share of those whose first one does, many of these at a time where many documents find them;
    each match is written."""
    return {
        "betree_document": 1.0,
        "betree_attribute": workload.present,
        "betree_partitioned": workload.partitioned,
        "betree_found": workload.found - workload.dense,
        "betree_dense": workload.dense,
        "betree_row": workload.rows,
    }


def access(workload: Workload, index_of: Mapping[str, str]) -> Sizes:
    """What the index of each attribute that gives access told of a value is known, or is asked for the first time; then
    of each entry found, tests until one fails."""
    sizes = {
        "access_document": 1.0,
        "access_attribute": workload.present,
        "access_told": sum(slot.access.n_held * slot.presence for slot in workload.slots),
        "access_entry": workload.by_rank,
        "access_test": workload.looked_at,
        **_answer("access", workload),
    }
    for slot in workload.slots:
        if slot.n_access:
            _add(sizes, index(index_of[slot.name], slot.access), slot.presence * workload.asked)
    return sizes


def bitmap(workload: Workload, index_of: Mapping[str, str]) -> Sizes:
    """Tatbul 2001, 4.1.2: for each attribute that the document has, its index gives a bit vector, and two operations on
    compressed bit vectors keep what it lets through: one container of either for each 65,536 entries."""
    sizes = {"bitmap_document": 1.0, **_answer("bitmap", workload)}
    for slot in workload.slots:
        n_containers = min(math.ceil(workload.n_entries / 65_536), slot.n_entries)
        _add(sizes, {"bitmap_slot": 1.0, "bitmap_container": float(n_containers)}, slot.presence)
        _add(sizes, index(index_of[slot.name], slot.whole), slot.presence)
    return sizes


def counting(workload: Workload) -> Sizes:
    """SIFT's counting: a counter goes up for each test that holds; each match is written."""
    return {
        "counting_document": 1.0,
        "counting_attribute": workload.present,
        "counting_test": workload.held,
        **_answer("counting", workload),
    }


def opindex(workload: Workload) -> Sizes:
    """OpIndex, 4.2: as counting, over the entries whose pivot attribute the document has. All tests of these are taken
    to be on attributes that come as often as they do elsewhere."""
    return {
        "opindex_document": 1.0,
        "opindex_attribute": workload.present,
        "opindex_test": workload.held,
        **_answer("opindex", workload),
    }


def scan(workload: Workload) -> Sizes:
    """Everything, whatever the document is."""
    return {
        "scan_document": 1.0,
        "scan_interval": workload.n_intervals,
        "scan_test": float(workload.n_tests),
        "scan_entry": float(workload.n_entries),
        **_answer("scan", workload),
    }


def _answer(name: str, workload: Workload) -> Sizes:
    """Entries to profiles: a few one by one, more in array operations."""
    return {f"{name}_few": workload.few, f"{name}_row": workload.left - workload.few}


def check(name: str, workload: Workload) -> Sizes:
    """What Python has to look at of the entries whose tests hold. The tree leaves it residuals and terms that are not
    indexed, as far as these have to be; all others know ranks alone, and leave it patterns and terms too."""
    return {"check_entry": workload.n_checked if name.startswith("betree") else workload.n_decided}


def prefilter(load: JoinLoad) -> Sizes:
    """Tatbul 2001, 4.3.2: before a document is matched, the one before it is counted on each line of constraints."""
    return {"prefilter_document": 1.0, "prefilter_line": float(load.n_lines)}


def index(name: str, load: IndexLoad) -> Sizes:
    """One probe of an attribute's index (Tatbul 2001, Table 1): a search among the endpoints, and what the answer
    holds. A hash index has no search for constants, and looks at its ranges one by one."""
    sizes = {f"{name}_probe": 1.0, f"{name}_posting": load.n_held}
    if name == "hash":
        sizes["hash_scanned"] = float(load.n_intervals - load.n_points)
    else:
        sizes[f"{name}_step"] = math.log2(load.n_cells + 1)
    return sizes


def cost(sizes: Sizes, units: Units) -> float:
    """What sizes come to, in ns."""
    return sum(units[name] * size for name, size in sizes.items())


def _add(sizes: Sizes, more: Sizes, times: float) -> None:
    for name, size in more.items():
        sizes[name] = sizes.get(name, 0.0) + size * times
