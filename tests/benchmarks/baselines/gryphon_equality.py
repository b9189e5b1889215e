"""`gryphon_equality`: the parallel search tree where all tests are equalities, with successor nodes (Aguilera, Strom,
Sturman, Astley, Chandra, PODC 1999; the specialized algorithm of BE-Tree 7.2).

In: the ranks of a document. Out: the entries all of whose rank tests hold. Each test must accept one rank; an image
with other tests is refused, and `gryphon` is for it. `gryphon_tree` draws the tree.

At a node at most one edge has the document's value, so a walk follows values until a node lacks the document's, and
has then to go back to each node it came by, for what is below the edge `*` there. What is below is walked with values
that are known by then. So each node is given its successors: of each node on the path of values to it, the node that
the walk beyond the edge `*` reaches by the values known at the path's end. A document goes on from there, and the
tests in between are never made.

    a = 1 AND b = 2 AND c = 3      b = 2 AND c = 4        document a = 1, b = 2, c = 4

    node  a --1--> b --2--> c --3--> leaf             no edge 4 at the second c's node: its successor is the
          *                                           node of c below: b = 2 is known
          v
          b --2--> c --4--> leaf

Left open by the seeds, which only name the optimization, and decided here: a successor is as far along values as the
path tells, and has successors of its own; what is below `*` of the last node is walked from its first node. Space: one
successor for each node on the path of values, at most as many as an entry has tests.

Invariant: each leaf that a document comes to is reached once: successors of a node are those of its own path of
values, which begins after the last `*`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from baselines.flat_hash import FlatHash, find, flat_hash
from baselines.gryphon_tree import MatchingTree, matching_tree
from baselines.rank_tests import DenseRanks, RankTests, rank_tests
from numba import njit
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32


class Nodes(NamedTuple):
    """As in `MatchingTree`; `edges`: node << 32 | rank to edge; successors of node i are `successors[off[i] ..
    off[i + 1]]`, from the one nearest to the root on."""

    slot: Int32
    has_star: NDArray[np.bool_]
    leaf_off: NDArray[np.int64]
    leaf_entries: Int32
    edges: FlatHash
    edge_child: Int32
    successor_off: NDArray[np.int64]
    successors: Int32


class GryphonEqualityMatcher:
    """See the module.

    Raises:
        ValueError: a test accepts several ranks, or none.
    """

    __slots__ = ("_dense", "_nodes", "_out", "_stack")

    def __init__(self, image: Image) -> None:
        tests = rank_tests(image)
        if not are_equalities(tests):
            raise ValueError("not all tests are equalities")
        tree = matching_tree(tests)
        rank = tests.low[tests.off[tree.edge_test]].astype(np.int64)
        edges = flat_hash(tree.edge_node.astype(np.int64) << 32 | rank)
        off, successors = _successors(tree, rank, edges)
        leaves = tree.slot, tree.has_star, tree.leaf_off, tree.leaf_entries
        self._nodes = Nodes(*leaves, edges, tree.edge_child, off, successors)
        self._dense = DenseRanks(len(image.slots))
        self._out = np.empty(tests.n_entries, np.int32)
        # A node that waits is the child of an edge `*` of the tree, and no two of that edge wait.
        self._stack = np.empty(int(tree.has_star.sum()) + 1, np.int32)

    @property
    def n_bytes(self) -> int:
        arrays = (*self._nodes[:4], *self._nodes[5:])
        return self._nodes.edges.n_bytes + sum(array.nbytes for array in arrays)

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending."""
        return np.sort(self._out[: walk_values(self._nodes, ranks, self._stack, self._out)])

    def candidates_of(self, slots: Int32, ranks: Int32) -> Int32:
        """The same for a sparse document."""
        return self.candidates(self._dense.of(slots, ranks))


def are_equalities(tests: RankTests) -> bool:
    """Whether each test that an entry has accepts one rank."""
    return bool((tests.n_accepted[tests.tests] == 1).all())


def _successors(tree: MatchingTree, rank: NDArray[np.int64], edges: FlatHash) -> tuple[NDArray[np.int64], Int32]:
    off = np.zeros(tree.n_nodes + 1, np.int64)
    by_child = np.argsort(tree.edge_child, kind="stable")
    upward = tree.edge_node[by_child], rank[by_child], tree.edge_child[by_child]
    count_successors(*upward, tree.has_star, off)
    successors = np.empty(off[-1], np.int32)
    place_successors(*upward, tree.slot, tree.has_star, edges, tree.edge_child, off, successors)
    return off, successors


@njit(nogil=True, cache=True)
def count_successors(parent: Any, rank: Any, child: Any, has_star: Any, off: Any) -> None:
    """Makes offsets of zeros. Edges come by their children, so that a parent's are known before its children's."""
    for edge in range(len(child)):
        off[child[edge] + 1] = off[parent[edge] + 1] + has_star[parent[edge]]
    for node in range(1, len(off)):
        off[node] += off[node - 1]


@njit(nogil=True, cache=True)
def place_successors(
    parent: Any, rank: Any, child: Any, slot: Any, has_star: Any, edges: Any, edge_child: Any, off: Any,
    successors: Any,
) -> None:  # fmt: skip
    for edge in range(len(child)):
        above, to = np.int64(parent[edge]), off[child[edge]]
        for place in range(off[above], off[above + 1]):
            reached = np.int64(successors[place])
            if slot[reached] == slot[above]:
                further = find(edges, reached << 32 | rank[edge])
                if further >= 0:
                    reached = np.int64(edge_child[further])
            successors[to] = reached
            to += 1
        if has_star[above]:
            successors[to] = above + 1


@njit(nogil=True, cache=True)
def walk_values(nodes: Any, ranks: Any, stack: Any, out: Any) -> Any:
    """Writes the entries of all leaves that a document comes to; how many they are."""
    n, top = 0, 1
    stack[0] = 0
    while top:
        top -= 1
        node = np.int64(stack[top])
        while nodes.slot[node] >= 0:
            edge = find(nodes.edges, node << 32 | ranks[nodes.slot[node]])
            if edge < 0:
                break
            node = np.int64(nodes.edge_child[edge])
        if nodes.slot[node] < 0:
            for place in range(nodes.leaf_off[node], nodes.leaf_off[node + 1]):
                out[n] = nodes.leaf_entries[place]
                n += 1
        for place in range(nodes.successor_off[node], nodes.successor_off[node + 1]):
            stack[top] = nodes.successors[place]
            top += 1
        if nodes.has_star[node]:
            stack[top] = node + 1
            top += 1
    return n
