"""The matching tree of `gryphon` (Aguilera, Strom, Sturman, Astley, Chandra, PODC 1999), as flat arrays.

In: the rank tests of an image's entries. Out: nodes and edges, which `gryphon` and `gryphon_equality` walk.

    entry 0: a = 1 AND b = 2       entry 1: a = 1 AND c < 3      entry 2: c < 3      order a, b, c

    node 0  a  --1--> node 2  b  --2--> leaf 4: 0
            |                 *
            |                 v
            |         node 3  c  --<3--> leaf 5: 1
            *
            v
    node 1  c  --<3--> leaf 6: 2

A node asks for an attribute. Each test on it that entries below have is an edge, and what does not ask for the
attribute is below the edge `*`. An entry is at one leaf. A document follows each edge whose test holds, and `*`.

Trivial tests are left out: a node of which only `*` would go out is not there. Edge `*` of node i leads to node
i + 1: the nodes that are met after the same edge are side by side, in the order of attributes, a leaf at their end.

Left open by the seeds, which only name the algorithm, and decided here: the order of attributes is the same for the
whole tree, those that most entries ask for first, so that few edges are `*`. Equal tests are one edge.

Invariant: children have greater numbers; level after level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from baselines.rank_tests import RankTests
from conjunctions import offsets_of
from numpy.typing import NDArray

from profilec.runtime.image import Int32

_LEAF = np.int64(2**31 - 1)
"""The position of a leaf in the order: after all attributes."""


@dataclass(frozen=True, slots=True)
class MatchingTree:
    """Node i asks for slot `slot[i]`, or is a leaf, -1, with the entries leaf_entries[leaf_off[i] .. leaf_off[i + 1]].

    `has_star[i]`: edge `*` leads to i + 1. Edge j goes from node `edge_node[j]`, ascending, to `edge_child[j]` where
    test `edge_test[j]` holds. The root is node 0.
    """

    slot: Int32
    has_star: NDArray[np.bool_]
    leaf_off: NDArray[np.int64]
    leaf_entries: Int32
    edge_node: Int32
    edge_test: Int32
    edge_child: Int32

    @property
    def n_nodes(self) -> int:
        return len(self.slot)


def matching_tree(tests: RankTests) -> MatchingTree:
    """The tree of all entries. Without entries its root is an empty leaf."""
    n_asking = np.bincount(tests.slot[tests.tests], minlength=len(tests.n_ranks))
    place = np.empty(len(n_asking), np.int64)
    by_place = np.argsort(-n_asking, kind="stable")
    place[by_place] = np.arange(len(by_place))
    owner = tests.owner
    order = np.lexsort((place[tests.slot[tests.tests]], owner))
    own_tests = tests.tests[order]
    off = tests.entry_off

    # A group is the entries that come by the same edges; group g of a level has the nodes `first[g]` and following.
    entries, group = np.arange(tests.n_entries), np.zeros(tests.n_entries, np.int64)
    n_groups, n_nodes, level = 1, 0, 0
    parts: list[_Level] = []
    while n_groups:
        is_leaf = off[entries] + level == off[entries + 1]
        test = np.full(len(entries), -1, np.int64)
        test[~is_leaf] = own_tests[off[entries[~is_leaf]] + level]
        at = np.where(is_leaf, _LEAF, place[tests.slot[test]] if len(tests.slot) else _LEAF)
        by_node = np.lexsort((test, at, group))
        entries, group, test, at = entries[by_node], group[by_node], test[by_node], at[by_node]
        parts.append(_level(entries, group, test, at, n_nodes, n_groups, by_place))
        below = parts[-1].n_nodes
        goes_on = test >= 0
        entries, group = entries[goes_on], parts[-1].edge_of[goes_on]
        n_groups, n_nodes, level = len(parts[-1].edge_node), n_nodes + below, level + 1
    return _joined(parts)


@dataclass(frozen=True, slots=True)
class _Level:
    """Nodes and edges of one level; `edge_of`: for each entry that came in the number of its edge in the level."""

    n_nodes: int
    first_of_group: NDArray[np.int64]
    slot: NDArray[np.int64]
    has_star: NDArray[np.bool_]
    n_at_leaf: NDArray[np.int64]
    leaf_entries: NDArray[np.int64]
    edge_node: NDArray[np.int64]
    edge_test: NDArray[np.int64]
    edge_of: NDArray[np.int64]


def _level(
    entries: NDArray[np.int64],
    group: NDArray[np.int64],
    test: NDArray[np.int64],
    at: NDArray[np.int64],
    n_before: int,
    n_groups: int,
    by_place: NDArray[np.int64],
) -> _Level:
    if not len(entries):  # no entries at all
        empty = np.zeros(0, np.int64)
        return _Level(
            1, np.zeros(1, np.int64), np.full(1, -1), np.zeros(1, np.bool_), np.zeros(1, np.int64), *[empty] * 4
        )
    starts_node = _differs(group) | _differs(at)
    node = np.cumsum(starts_node) - 1
    group_of_node, at_of_node = group[starts_node], at[starts_node]
    first_of_group = np.searchsorted(group_of_node, np.arange(n_groups))
    is_leaf = at_of_node == _LEAF
    slot = np.full(len(at_of_node), -1, np.int64)
    slot[~is_leaf] = by_place[at_of_node[~is_leaf]]
    has_star = np.append(group_of_node[1:] == group_of_node[:-1], False)
    starts_edge = (starts_node | _differs(test)) & (test >= 0)
    return _Level(
        len(at_of_node),
        first_of_group + n_before,
        slot,
        has_star,
        np.bincount(node[test < 0], minlength=len(at_of_node)),
        entries[test < 0],
        node[starts_edge] + n_before,
        test[starts_edge],
        np.cumsum(starts_edge) - 1,
    )


def _differs(column: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where an element is not what is before it."""
    differs = np.ones(len(column), np.bool_)
    differs[1:] = column[1:] != column[:-1]
    return differs


def _joined(parts: list[_Level]) -> MatchingTree:
    children = [part.first_of_group for part in parts[1:]]
    return MatchingTree(
        np.concatenate([part.slot for part in parts]).astype(np.int32),
        np.concatenate([part.has_star for part in parts]),
        offsets_of(np.concatenate([part.n_at_leaf for part in parts])),
        np.concatenate([part.leaf_entries for part in parts]).astype(np.int32),
        np.concatenate([part.edge_node for part in parts]).astype(np.int32),
        np.concatenate([part.edge_test for part in parts]).astype(np.int32),
        np.concatenate([np.zeros(0, np.int64), *children]).astype(np.int32),
    )
