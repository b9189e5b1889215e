"""`is_list`: the interval skip list (Hanson, Johnson, Information Systems 21(3), 1996; compared with by Wu, Chen, Yu,
Mei, 5.4).

In: entries, each with the closed rank intervals that its test on the slot accepts. Out: for a rank, the entries whose
test holds.

    intervals    A: 2..8   B: 5..6
    level 1      header ----------> 5 ----A----> 8
    level 0      header ---> 2 -A-> 5 -B-> 6 --> 8          markers of edges
    nodes                    A      AB     B     A          markers of nodes

A skip list of the distinct endpoints. An interval has its marker on an edge that it contains, if it contains no edge
of a higher level above it, and on every node where an edge with its marker starts or ends. The search of a rank goes
down from the top level; on each level it takes the markers of the edge that the rank lies inside of, and at a node of
just that rank the node's markers, and is done.

Left open and decided here: levels are drawn with p = 1/2 and a fixed seed, at most log2 of the nodes and one more. The
list is made in one pass: the markers follow from the nodes and their levels, so that inserting the intervals one by
one would end in the same list, and the paper's adjustments are not needed. Nodes, edges and markers are flat arrays;
node 0 is the header, and edge `edge_off[x] + l` is that of node x on level l.

O(log n) to search, O(n log n) storage, both expected.

Invariant: the edges with an interval's marker are a chain from its first endpoint to its last; so it is found once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pyroaring import BitMap

from profilec.runtime.image import Int32
from profilec.runtime.indexes.endpoints import distinct
from profilec.runtime.indexes.interval import bitmap

_SEED = 1996


class Nodes(NamedTuple):
    """The skip list: node x > 0 has `key[x]`, on level l its next one is `forward[edge_off[x] + l]`, 0: none."""

    key: NDArray[np.int64]
    edge_off: NDArray[np.int64]
    forward: Int32


class Markers(NamedTuple):
    """Of edge or node i the entries `entries[off[i] .. off[i + 1]]`."""

    off: NDArray[np.int64]
    entries: Int32


class IntervalSkipList:
    """Rank to entries. `entries[i]` has the intervals `low[j]..high[j]`, j in `off[i] .. off[i+1]`.

    >>> off, low, high = (np.array(part, np.int32) for part in ([0, 2, 3], [3, 7, 4], [3, 9, 9]))
    >>> index = IntervalSkipList(np.array([5, 8], np.int32), off, low, high)
    >>> [sorted(index.stab(rank).tolist()) for rank in (2, 3, 5, 8, 10)]
    [[], [5], [8], [5, 8], []]
    """

    __slots__ = ("_nodes", "_of_edges", "_of_nodes", "_out", "constrained")

    def __init__(self, entries: Int32, off: Int32, low: Int32, high: Int32) -> None:
        self.constrained = bitmap(entries)
        points = distinct(low, high)
        self._nodes = _skip_list(points)
        owner = np.repeat(entries, np.diff(off)).astype(np.int32)
        first, last = np.searchsorted(points, low) + 1, np.searchsorted(points, high) + 1
        n_edges, n_nodes = len(self._nodes.forward), len(self._nodes.key)
        edge_off, node_off = np.zeros(n_edges + 1, np.int64), np.zeros(n_nodes + 1, np.int64)
        count_markers(first, last, self._nodes, edge_off, node_off)
        self._of_edges = Markers(edge_off, np.empty(edge_off[-1], np.int32))
        self._of_nodes = Markers(node_off, np.empty(node_off[-1], np.int32))
        place_markers(first, last, owner, self._nodes, self._of_edges, self._of_nodes)
        self._out = np.empty(len(low), np.int32)

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for part in (self._nodes, self._of_edges, self._of_nodes) for array in part)

    def entries_at(self, rank: int) -> BitMap:
        """The entries whose test on the slot holds at this rank."""
        return bitmap(self.stab(rank))

    def stab(self, rank: int) -> Int32:
        """The same as an array."""
        return self._out[: find_intervals(rank, self._nodes, self._of_edges, self._of_nodes, self._out)].copy()


def _skip_list(points: NDArray[Any]) -> Nodes:
    n_levels = max(1, len(points)).bit_length() + 1
    height = np.minimum(np.random.default_rng(_SEED).geometric(0.5, len(points)), n_levels)
    edge_off = np.zeros(len(points) + 2, np.int64)
    np.cumsum(np.concatenate((np.full(1, n_levels), height)), out=edge_off[1:])
    nodes = Nodes(np.concatenate((np.full(1, -1), points)).astype(np.int64), edge_off, np.zeros(edge_off[-1], np.int32))
    link(nodes, np.zeros(n_levels, np.int32))
    return nodes


@njit(nogil=True, cache=True)
def link(nodes: Any, following: Any) -> None:
    """Fills `forward`; `following` is zeros, one for each level."""
    for node in range(len(nodes.key) - 1, -1, -1):
        start = nodes.edge_off[node]
        for level in range(nodes.edge_off[node + 1] - start):
            nodes.forward[start + level] = following[level]
            following[level] = node


@njit(nogil=True, cache=True)
def _edge_within(nodes: Any, node: Any, last: Any) -> Any:
    """Of the edges of a node the highest that ends at a node no later than `last`, which is after the node."""
    edge = nodes.edge_off[node + 1] - 1
    while nodes.forward[edge] == 0 or nodes.forward[edge] > last:
        edge -= 1
    return edge


@njit(nogil=True, cache=True)
def count_markers(first: Any, last: Any, nodes: Any, edge_off: Any, node_off: Any) -> None:
    """Makes offsets of zeros: the markers of each edge and each node."""
    for row in range(len(first)):
        node = first[row]
        node_off[node + 1] += 1
        while node != last[row]:
            edge = _edge_within(nodes, node, last[row])
            edge_off[edge + 1] += 1
            node = np.int64(nodes.forward[edge])
            node_off[node + 1] += 1
    for number in range(1, len(edge_off)):
        edge_off[number] += edge_off[number - 1]
    for number in range(1, len(node_off)):
        node_off[number] += node_off[number - 1]


@njit(nogil=True, cache=True)
def place_markers(first: Any, last: Any, owner: Any, nodes: Any, of_edges: Any, of_nodes: Any) -> None:
    edge_at, node_at = of_edges.off[:-1].copy(), of_nodes.off[:-1].copy()
    for row in range(len(first)):
        node = first[row]
        of_nodes.entries[node_at[node]] = owner[row]
        node_at[node] += 1
        while node != last[row]:
            edge = _edge_within(nodes, node, last[row])
            of_edges.entries[edge_at[edge]] = owner[row]
            edge_at[edge] += 1
            node = np.int64(nodes.forward[edge])
            of_nodes.entries[node_at[node]] = owner[row]
            node_at[node] += 1


@njit(nogil=True, cache=True)
def find_intervals(rank: Any, nodes: Any, of_edges: Any, of_nodes: Any, out: Any) -> Any:
    """Writes the entries of the intervals that contain a rank; how many they are."""
    n, node = 0, 0
    for level in range(nodes.edge_off[1] - 1, -1, -1):
        following = nodes.forward[nodes.edge_off[node] + level]
        while following != 0 and nodes.key[following] <= rank:
            node = following
            following = nodes.forward[nodes.edge_off[node] + level]
        if node == 0:
            continue
        is_found = nodes.key[node] == rank
        place = node if is_found else nodes.edge_off[node] + level
        markers = of_nodes if is_found else of_edges
        for marker in range(markers.off[place], markers.off[place + 1]):
            out[n] = markers.entries[marker]
            n += 1
        if is_found:
            break
    return n
