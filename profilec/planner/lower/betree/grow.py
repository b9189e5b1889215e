"""Growing the tree: the two-phase cutting of space, for all entries at once.

In: the predicates of all entries. Out: nodes, each with the entries of its leaf; edges (an attribute under a node)
and their buckets. BE-Tree, Algorithms 5 and 6, with all entries known beforehand.

Partitioning: an overflowing node gives each entry to the attribute of the predicate by which it would be looked at
least often: the share of documents expected to have the attribute, times that of its ranks in the predicate's home
bucket. Clustering: an overflowing bucket is cut in halves, and what a half encloses goes there; what stays is at
home, and only then may its node be partitioned again (the forced split rule).

Where attributes are ranked instead, `ranked` chooses them. With a capacity that was given, every overflow is cut, and
so it is where they are ranked. Otherwise only where the cut is expected to pay, and a bucket too small to be worth a
node of its own is left in the one around it.

Invariant: on a path no predicate is used twice. Every entry lies in exactly one leaf.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.betree.costs import (
    MATRIX_ENTRIES,
    MIN_SIZE,
    NS_CANDIDATE,
    NS_DIRECTORY,
    NS_EDGE,
    NS_NODE,
)
from profilec.planner.lower.betree.matrix import matrix_cost
from profilec.planner.lower.betree.predicates import OPEN, bucket_share, home_level, path_state
from profilec.planner.lower.betree.ranked import choose_by_rank
from profilec.planner.lower.expected import DOCUMENT_TO_PROFILE
from profilec.planner.ranking import BY_COST
from profilec.runtime.kernels import allocating_kernel, inlined

Int32 = NDArray[np.int32]


class Nodes(NamedTuple):
    """Node v has the entries `order[start[v]:end[v]]` in its leaf, and edges `edge[v] .. edge[v] + n_edges[v]`.

    Edge e is under attribute `edge_slot[e]` and has buckets `edge_bucket[e] .. edge_bucket[e + 1]`, an enclosing
    one before those that it encloses; bucket b is the ranks `bucket_low[b] .. bucket_high[b]` and leads to node b + 1.
    Node 0 is the root. `sizes`: the numbers of nodes and of edges.
    """

    order: Int32
    start: Int32
    end: Int32
    edge: Int32
    n_edges: Int32
    edge_slot: Int32
    edge_bucket: Int32
    bucket_low: Int32
    bucket_high: Int32
    sizes: NDArray[np.int64]


class _Work(NamedTuple):
    """Scratch: per slot, how many entries have an open predicate on it and how many chose one, and its rank; per entry
    its choice."""

    n_with: Int32
    group: Int32
    place: Int32
    touched: Int32
    chosen: NDArray[np.int64]
    moved: Int32
    clusters: NDArray[np.int64]
    rank: NDArray[np.float64]


def empty_nodes(entries: Int32, n_predicates: int) -> Nodes:
    """Room for any tree of these entries: a node but the root takes at least one predicate to its path."""

    def column() -> Int32:
        return np.zeros(n_predicates + 2, np.int32)

    shape = column(), column(), column(), column()
    return Nodes(entries.copy(), *shape, column(), column(), column(), column(), np.zeros(2, np.int64))


@allocating_kernel
def grow(
    predicates: Any,
    intervals: Any,
    slots: Any,
    nodes: Any,
    max_cap: int,
    by_cost: bool,
    ranking: Any,
    earlier: Any,
) -> None:
    """Fills `nodes` and the states of `predicates`. `by_cost`: cut only where that pays. `ranking`, `earlier`: see
    `ranked`."""
    n_slots, n_entries = len(slots.presence), len(nodes.order)
    work = _Work(
        np.zeros(n_slots, np.int32),
        np.zeros(n_slots, np.int32),
        np.zeros(n_slots, np.int32),
        np.empty(n_slots, np.int32),
        np.empty(len(predicates.off), np.int64),
        np.empty(n_entries, np.int32),
        np.empty((2 * n_entries + 66, 7), np.int64),
        np.zeros(n_slots, np.float64),
    )
    nodes.end[0] = n_entries
    nodes.sizes[0] = 1
    node = 0
    while node < nodes.sizes[0]:
        nodes.edge[node] = nodes.sizes[1]
        if nodes.end[node] - nodes.start[node] > max_cap:
            partition(predicates, intervals, slots, nodes, work, node, max_cap, by_cost, ranking, earlier)
        nodes.n_edges[node] = nodes.sizes[1] - nodes.edge[node]
        node += 1


@allocating_kernel
def partition(
    predicates: Any,
    intervals: Any,
    slots: Any,
    nodes: Any,
    work: Any,
    node: int,
    max_cap: int,
    by_cost: bool,
    ranking: Any,
    earlier: Any,
) -> None:
    """BE-Tree, Algorithm 5: moves what has an attribute worth an edge out of the node's leaf."""
    start, end = nodes.start[node], nodes.end[node]
    n_touched = count_attributes(predicates, nodes.order, start, end, work)
    if ranking.by == BY_COST:
        choose(predicates, slots, nodes.order, start, end, work, n_touched)
    else:
        choose_by_rank(predicates, slots, nodes.order, start, end, work, n_touched, max_cap, ranking, earlier)
    if by_cost and not pays(predicates, slots, nodes.order, start, end, work, n_touched):
        for t in range(n_touched):
            work.n_with[work.touched[t]] = 0
            work.group[work.touched[t]] = 0
        return
    first = group_by_choice(predicates, nodes.order, start, end, work, n_touched)
    nodes.end[node] = first
    for t in range(n_touched):
        slot = work.touched[t]
        size = work.group[slot]
        work.n_with[slot] = 0
        work.group[slot] = 0
        if size > 0:
            edge = nodes.sizes[1]
            nodes.edge_slot[edge] = slot
            nodes.edge_bucket[edge] = nodes.sizes[0] - 1
            cluster(predicates, intervals, nodes, work, first, first + size, slots.n_ranks[slot], max_cap, by_cost)
            nodes.edge_bucket[edge + 1] = nodes.sizes[0] - 1
            nodes.sizes[1] += 1
            first += size


@allocating_kernel
def count_attributes(predicates: Any, order: Any, start: int, end: int, work: Any) -> int:
    """work.n_with: entries with an open predicate on an attribute that lets no absence through; work.touched: which."""
    n_touched = 0
    for i in range(start, end):
        entry = order[i]
        for p in range(predicates.off[entry], predicates.off[entry + 1]):
            if predicates.state[p] == OPEN and predicates.low[p] > 0:
                slot = predicates.slot[p]
                if work.n_with[slot] == 0:
                    work.touched[n_touched] = slot
                    n_touched += 1
                work.n_with[slot] += 1
    work.touched[:n_touched].sort()
    return n_touched


@inlined
def seen(slots: Any, work: Any, slot: int, n: int) -> float:
    """The share of the documents at a node of n entries that have an attribute.

    A document that came here is like the profiles here: it has an attribute as often as they ask for it, and more. But
    all come to the root.
    """
    if slots.is_sampled and n == len(work.moved):
        return slots.presence[slot]
    return min(1.0, max(slots.presence[slot], DOCUMENT_TO_PROFILE * work.n_with[slot] / n))


@inlined
def choose(predicates: Any, slots: Any, order: Any, start: int, end: int, work: Any, n_touched: int) -> None:
    """work.chosen[entry]: its predicate of least expected candidates, -1 for none; work.group[slot]: how many chose it.

    Attributes that too few choose are given up until all that are left have enough (4.2: minimum size).
    """
    n = end - start
    for i in range(start, end):
        work.chosen[order[i]] = -2
    given_up = True
    while given_up:
        for i in range(start, end):
            entry = order[i]
            chosen = work.chosen[entry]
            if chosen == -1 or (chosen >= 0 and work.n_with[predicates.slot[chosen]] > 0):
                continue
            best = -1
            least = np.inf
            for p in range(predicates.off[entry], predicates.off[entry + 1]):
                slot = predicates.slot[p]
                if predicates.state[p] == OPEN and predicates.low[p] > 0 and work.n_with[slot] >= MIN_SIZE:
                    share = bucket_share(predicates.low[p], predicates.high[p], slots.n_ranks[slot])
                    cost = seen(slots, work, slot, n) * share
                    if cost < least:
                        least = cost
                        best = p
            work.chosen[entry] = best
            if best >= 0:
                work.group[predicates.slot[best]] += 1
        given_up = False
        for t in range(n_touched):
            slot = work.touched[t]
            if work.group[slot] < MIN_SIZE:
                given_up |= work.group[slot] > 0
                work.group[slot] = 0
                work.n_with[slot] = 0


@inlined
def pays(predicates: Any, slots: Any, order: Any, start: int, end: int, work: Any, n_touched: int) -> bool:
    """Whether a document at the node is expected to cost less after the choices than with all entries in one leaf."""
    n = end - start
    cut = 0.0
    n_attributes = 0
    for t in range(n_touched):
        slot = work.touched[t]
        if work.group[slot] > 0:
            n_attributes += 1
            cut += NS_EDGE + seen(slots, work, slot, n) * (NS_DIRECTORY + NS_NODE * min(2, work.group[slot]))
    n_left = 0
    for i in range(start, end):
        p = work.chosen[order[i]]
        if p < 0:
            n_left += 1
        else:
            slot = predicates.slot[p]
            share = bucket_share(predicates.low[p], predicates.high[p], slots.n_ranks[slot])
            cut += seen(slots, work, slot, n) * share * NS_CANDIDATE
    cut += NS_NODE + n_left * NS_CANDIDATE
    whole = NS_NODE + n * NS_CANDIDATE
    if n >= MATRIX_ENTRIES * n_touched:
        whole = min(whole, NS_NODE + matrix_cost(n, n_touched))
    return n_attributes > 0 and cut < whole


@allocating_kernel
def group_by_choice(predicates: Any, order: Any, start: int, end: int, work: Any, n_touched: int) -> int:
    """Reorders entries: those without a choice first. Returns where those of the first attribute begin."""
    n_left = 0
    for i in range(start, end):
        n_left += work.chosen[order[i]] < 0
    place = start + n_left
    for t in range(n_touched):
        work.place[work.touched[t]] = place
        place += work.group[work.touched[t]]
    left = start
    for i in range(start, end):
        entry = order[i]
        if work.chosen[entry] < 0:
            work.moved[left] = entry
            left += 1
        else:
            slot = predicates.slot[work.chosen[entry]]
            work.moved[work.place[slot]] = entry
            work.place[slot] += 1
    order[start:end] = work.moved[start:end]
    return left


START, END, PREFIX, LEVEL, PARENT, OWNER, SIZE = range(7)
"""A bucket while an attribute is clustered: the entries at home in it, its place in the grid, the bucket around it,
the bucket that they go to in the end, and how many go to this one."""


@allocating_kernel
def cluster(
    predicates: Any,
    intervals: Any,
    nodes: Any,
    work: Any,
    start: int,
    end: int,
    n_ranks: int,
    max_cap: int,
    by_cost: bool,
) -> None:
    """BE-Tree, Algorithm 6: buckets for entries start .. end, whose chosen predicates are on one attribute."""
    order, chosen, buckets = nodes.order, work.chosen, work.clusters
    top = home_level(1, max(1, n_ranks - 1))
    buckets[0, START], buckets[0, END], buckets[0, PREFIX] = start, end, 0
    buckets[0, LEVEL], buckets[0, PARENT] = top, -1
    n_buckets = 1
    b = 0
    while b < n_buckets:
        first, last, level = buckets[b, START], buckets[b, END], buckets[b, LEVEL]
        if last - first > max_cap and level > 0:
            n_home, n_lower = 0, 0
            for i in range(first, last):
                p = chosen[order[i]]
                if home_level(predicates.low[p], predicates.high[p]) == level:
                    n_home += 1
                elif not is_upper(predicates.low[p], level):
                    n_lower += 1
            home, lower, upper = first, first + n_home, first + n_home + n_lower
            for i in range(first, last):
                p = chosen[order[i]]
                if home_level(predicates.low[p], predicates.high[p]) == level:
                    work.moved[home] = order[i]
                    home += 1
                elif not is_upper(predicates.low[p], level):
                    work.moved[lower] = order[i]
                    lower += 1
                else:
                    work.moved[upper] = order[i]
                    upper += 1
            order[first:last] = work.moved[first:last]
            buckets[b, END] = home
            for half, half_start, half_end in ((0, home, lower), (1, lower, last)):
                if half_start < half_end:
                    buckets[n_buckets, START], buckets[n_buckets, END] = half_start, half_end
                    buckets[n_buckets, PREFIX] = 2 * buckets[b, PREFIX] + half
                    buckets[n_buckets, LEVEL], buckets[n_buckets, PARENT] = level - 1, b
                    n_buckets += 1
        b += 1
    # Breadth first, so that a bucket comes after the one around it.
    for b in range(n_buckets):
        buckets[b, OWNER] = b
        buckets[b, SIZE] = buckets[b, END] - buckets[b, START]
    if by_cost:
        for b in range(n_buckets - 1, 0, -1):
            if buckets[b, SIZE] * NS_CANDIDATE < NS_NODE:
                parent = buckets[b, PARENT]
                buckets[b, OWNER] = parent
                buckets[parent, SIZE] += buckets[b, SIZE]
        for b in range(1, n_buckets):
            buckets[b, OWNER] = buckets[buckets[b, OWNER], OWNER]
    # Entries in the order of their final buckets, and a node for each of these; an enclosing bucket first.
    ranked = preorder(buckets, n_buckets)
    place = start
    for r in range(n_buckets):
        target = ranked[r]
        if buckets[target, OWNER] != target:
            continue
        first = place
        for q in range(r, n_buckets):
            b = ranked[q]
            if not inside(buckets, b, target):
                break
            if buckets[b, OWNER] == target:
                for i in range(buckets[b, START], buckets[b, END]):
                    work.moved[place] = order[i]
                    place += 1
        if place > first:
            add_node(
                predicates,
                intervals,
                nodes,
                work,
                first,
                place,
                buckets[target, PREFIX],
                buckets[target, LEVEL],
                n_ranks,
            )
    order[start:end] = work.moved[start:end]


@inlined
def is_upper(low: int, level: int) -> bool:
    """Whether what a bucket of this level encloses and begins at `low` belongs in its upper half."""
    return ((low - 1) >> (level - 1)) & 1 == 1


@inlined
def inside(buckets: Any, b: int, target: int) -> bool:
    """Whether bucket b is the target or enclosed by it."""
    levels = buckets[target, LEVEL] - buckets[b, LEVEL]
    return levels >= 0 and buckets[b, PREFIX] >> levels == buckets[target, PREFIX]


@allocating_kernel
def preorder(buckets: Any, n_buckets: int) -> Any:
    """The buckets sorted by first rank, an enclosing one before those in it."""
    top = buckets[0, LEVEL]
    keys = np.empty(n_buckets, np.int64)
    for b in range(n_buckets):
        level = buckets[b, LEVEL]
        keys[b] = ((buckets[b, PREFIX] << level) << 6) | (top - level)
    return np.argsort(keys)


@inlined
def add_node(
    predicates: Any, intervals: Any, nodes: Any, work: Any, start: int, end: int, prefix: int, level: int, n_ranks: int
) -> None:
    """A node for a bucket, with the entries work.moved[start:end]; their chosen predicates are now on its path."""
    node = nodes.sizes[0]
    nodes.sizes[0] += 1
    low = 1 + (prefix << level)
    high = min(low + (1 << level) - 1, n_ranks - 1)
    nodes.bucket_low[node - 1], nodes.bucket_high[node - 1] = low, high
    nodes.start[node], nodes.end[node] = start, end
    for i in range(start, end):
        p = work.chosen[work.moved[i]]
        predicates.state[p] = path_state(predicates, p, low, high)
