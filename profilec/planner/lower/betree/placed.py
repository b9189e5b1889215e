"""Where a tree has its entries: the flat arrays of a `Tree` read back.

In: a tree, and the predicates of the entries that it was loaded from. Out: its nodes, and the node of each entry.

A leaf tells of most entries their profile only. Where a profile has several entries, each of them is taken to be in the
first leaf that tells of it to whose path it fits. That is where it is, or might be as well; one that is left over
has no place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.betree.predicates import OPEN, path_state
from profilec.runtime.apart import apart
from profilec.runtime.kernels import allocating_kernel, inlined
from profilec.runtime.matchers.betree.tree import HEADER, N_NODES, N_SLOTS, ROOT, Tree

Int32 = NDArray[np.int32]


class Placed(NamedTuple):
    """Node v > 0 is the bucket of ranks `low[v] .. high[v]` of the attribute `slot[v]` under the node `parent[v]`; that
    comes before it, and the buckets of one attribute under one node stand together. Node 0 is the root.
    `node_of[entry]`: the node whose leaf it is in, -1 for none."""

    parent: Int32
    slot: Int32
    low: Int32
    high: Int32
    node_of: Int32


def placed(tree: Tree, predicates: Any, entries: Int32, ids: Int32) -> tuple[Placed, Int32]:
    """The nodes of a tree and the places of its `entries`; and of each predicate, which step of its entry's path it is
    (from 1; 0: none). The states of predicates are written. `ids`: what the leaves say of each entry."""
    simple = entries[ids[entries] >= 0]
    simple = simple[np.argsort(ids[simple], kind="stable")]
    step = np.zeros(len(predicates.slot), np.int32)
    columns = apart(read_back, tree.data, tree.special, predicates, simple, ids, step)
    return Placed(*columns), step


@allocating_kernel
def read_back(data: Any, special: Any, predicates: Any, simple: Any, ids: Any, step: Any) -> Any:
    """The columns of `Placed`; fills `step` and the states of predicates."""
    n = data[N_NODES]
    position, parent, slot = np.empty(n, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    low, high = np.zeros(n, np.int32), np.zeros(n, np.int32)
    nodes = position, parent, slot, low, high
    around, path = np.empty(66, np.int64), np.empty(n, np.int64)
    node_of = np.full(len(predicates.off) - 1, -1, np.int32)
    of_simple = ids[simple]
    position[0] = data[ROOT]
    node, n_found = 0, 1
    while node < n_found:
        at = position[node]
        if node == 0:
            for root_slot in range(data[N_SLOTS]):
                if data[HEADER + root_slot]:
                    n_found = add_buckets(data, data[HEADER + root_slot], node, root_slot, nodes, n_found, around)
        for edge in range(at + 2, at + 2 + 2 * data[at], 2):
            n_found = add_buckets(data, data[edge + 1], node, data[edge], nodes, n_found, around)
        first_leaf = at + 2 + 2 * data[at]
        for place in range(first_leaf, first_leaf + data[at + 1]):
            leaf = data[place]
            for i in range(data[leaf + 3], data[leaf + 3] + data[leaf]):
                if data[i] < 0:
                    put(predicates, nodes, node_of, step, path, special[~data[i]], node)
                else:
                    q = np.searchsorted(of_simple, data[i])
                    while q < len(simple) and of_simple[q] == data[i]:
                        if node_of[simple[q]] < 0 and put(predicates, nodes, node_of, step, path, simple[q], node):
                            break
                        q += 1
        node += 1
    return parent, slot, low, high, node_of


@inlined
def add_buckets(data: Any, directory: int, parent: int, slot: int, nodes: Any, n: int, around: Any) -> int:
    """Appends the nodes of a cluster directory; returns how many there are then.

    The lists of a directory follow one another as a stack of enclosing buckets does: what two of them begin with
    alike goes on, the rest of the first ends and the rest of the second begins.
    """
    position, parents, slots, low, high = nodes
    n_bounds = data[directory]
    lists = directory + 1 + n_bounds
    targets = lists + n_bounds + 1
    n_around = 0
    for b in range(n_bounds):
        bound, first = data[directory + 1 + b], targets + data[lists + b]
        n_now, n_same = data[lists + b + 1] - data[lists + b], 0
        while n_same < min(n_around, n_now) and position[around[n_same]] == data[first + n_same]:
            n_same += 1
        for i in range(n_same, n_around):
            high[around[i]] = bound - 1
        for i in range(n_same, n_now):
            position[n], parents[n], slots[n], low[n] = data[first + i], parent, slot, bound
            around[i] = n
            n += 1
        n_around = n_now
    return n


@inlined
def put(predicates: Any, nodes: Any, node_of: Any, step: Any, path: Any, entry: int, node: int) -> bool:
    """Puts an entry into a node's leaf, if it fits to the path there; writes its states and steps."""
    _, parent, slot, low, high = nodes
    n_steps, ancestor = 0, node
    while ancestor > 0:
        path[n_steps] = ancestor
        ancestor = parent[ancestor]
        n_steps += 1
    for n in range(1, n_steps + 1):
        ancestor = path[n_steps - n]
        p = enclosed(predicates, entry, slot[ancestor], low[ancestor], high[ancestor])
        if p < 0:
            for q in range(predicates.off[entry], predicates.off[entry + 1]):
                predicates.state[q], step[q] = OPEN, 0
            return False
        predicates.state[p] = path_state(predicates, p, low[ancestor], high[ancestor])
        step[p] = n
    node_of[entry] = node
    return True


@inlined
def enclosed(predicates: Any, entry: int, slot: int, low: int, high: int) -> int:
    """The first open predicate of an entry on a slot that a bucket encloses; -1 if there is none."""
    for p in range(predicates.off[entry], predicates.off[entry + 1]):
        is_inside = low <= predicates.low[p] and predicates.high[p] <= high
        if is_inside and predicates.slot[p] == slot and predicates.state[p] == OPEN:
            return p
    return -1
