"""`gryphon`: the parallel search tree, for any rank tests (Aguilera, Strom, Sturman, Astley, Chandra, PODC 1999; the
generic algorithm of BE-Tree 7.2).

In: the ranks of a document. Out: the entries all of whose rank tests hold. `gryphon_tree` draws the tree. From the
root on, each edge whose test holds is followed, and `*` too.

Left open by the seeds and decided here: how the edges of a node that hold are found. A test that accepts a single
rank, or several, has a place in a hash table for each, by node and rank. Of other intervals, a node has those that
start first first, with the greatest end so far: they are read from the first that may reach the rank up to the last
that starts by then, so that no edge is tested that cannot hold. Absence is a rank as others are: tests that accept it
are edges, and need nothing of their own.

Invariant: intervals of a test are apart, so that an edge is followed once, and an entry found once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from baselines.flat_hash import FlatHash, find, flat_hash
from baselines.gryphon_tree import MatchingTree, matching_tree
from baselines.rank_tests import DenseRanks, RankTests, rank_tests
from conjunctions import offsets_of
from numba import njit
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32


class Edges(NamedTuple):
    """Children by node << 32 | rank: those at place i of `points` are `point_child[point_off[i] .. point_off[i + 1]]`.

    Of node n the intervals `low[j]..high[j]`, j in off[n] .. off[n + 1], by `low`, to `child[j]`; `highest[j]` is the
    greatest `high` from off[n] up to there.
    """

    points: FlatHash
    point_off: NDArray[np.int64]
    point_child: Int32
    off: NDArray[np.int64]
    low: Int32
    high: Int32
    highest: Int32
    child: Int32


class GryphonMatcher:
    """See the module."""

    __slots__ = ("_dense", "_edges", "_nodes", "_out", "_stack")

    def __init__(self, image: Image) -> None:
        tests = rank_tests(image)
        tree = matching_tree(tests)
        self._nodes = tree.slot, tree.has_star, tree.leaf_off, tree.leaf_entries
        self._edges = _edges(tree, tests)
        self._dense = DenseRanks(len(image.slots))
        self._out = np.empty(tests.n_entries, np.int32)
        # What waits are children of edges, each once.
        self._stack = np.empty(len(tree.edge_node) + 1, np.int32)

    @property
    def n_bytes(self) -> int:
        edges = self._edges
        return edges.points.n_bytes + sum(array.nbytes for array in (*self._nodes, *edges[1:]))

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending."""
        return np.sort(self._out[: walk(*self._nodes, self._edges, ranks, self._stack, self._out)])

    def candidates_of(self, slots: Int32, ranks: Int32) -> Int32:
        """The same for a sparse document."""
        return self.candidates(self._dense.of(slots, ranks))


def _edges(tree: MatchingTree, tests: RankTests) -> Edges:
    n_parts = np.diff(tests.off)[tree.edge_test]
    edge = np.repeat(np.arange(len(tree.edge_node)), n_parts)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    part = np.repeat(tests.off[tree.edge_test], n_parts) + within
    node, child = tree.edge_node[edge].astype(np.int64), tree.edge_child[edge]
    low, high = tests.low[part], tests.high[part]
    is_point = low == high
    keys = node[is_point] << 32 | low[is_point]
    by_key = np.argsort(keys, kind="stable")
    present, starts = np.unique(keys[by_key], return_index=True)
    others = np.flatnonzero(~is_point)
    others = others[np.lexsort((low[others], node[others]))]
    off = offsets_of(np.bincount(node[others], minlength=tree.n_nodes))
    # The running maximum of each node: what is added is taken off again.
    shifted = node[others] << 32 | high[others]
    highest = np.maximum.accumulate(shifted) & 0x7FFF_FFFF
    return Edges(
        flat_hash(present),
        np.append(starts, len(keys)).astype(np.int64),
        child[is_point][by_key],
        off,
        low[others],
        high[others],
        highest.astype(np.int32),
        child[others],
    )


@njit(nogil=True, cache=True)
def _first_reaching(highest: Any, low: Any, high: Any, rank: Any) -> Any:
    """The first of `highest[low .. high]`, ascending, that is no less than the rank."""
    while low < high:
        middle = (low + high) // 2
        if highest[middle] < rank:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def walk(
    slot: Any, has_star: Any, leaf_off: Any, leaf_entries: Any, edges: Any, ranks: Any, stack: Any, out: Any
) -> Any:
    """Writes the entries of all leaves that a document comes to; how many they are."""
    n, top = 0, 1
    stack[0] = 0
    while top:
        top -= 1
        node = np.int64(stack[top])
        while True:
            if slot[node] < 0:
                for place in range(leaf_off[node], leaf_off[node + 1]):
                    out[n] = leaf_entries[place]
                    n += 1
                break
            rank = ranks[slot[node]]
            place = find(edges.points, node << 32 | rank)
            if place >= 0:
                for row in range(edges.point_off[place], edges.point_off[place + 1]):
                    stack[top] = edges.point_child[row]
                    top += 1
            row, last = edges.off[node], edges.off[node + 1]
            row = _first_reaching(edges.highest, row, last, rank)
            while row < last and edges.low[row] <= rank:
                if edges.high[row] >= rank:
                    stack[top] = edges.child[row]
                    top += 1
                row += 1
            if not has_star[node]:
                break
            node += 1
    return n
