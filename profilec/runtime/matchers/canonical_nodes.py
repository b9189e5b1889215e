"""The canonical nodes of rank intervals: each interval at few nodes, each rank under few.

In: intervals of the ranks of slots. Out: nodes of a binary tree over the ranks, one tree a slot.

    5 ranks     node   1                     node v has the children 2v and 2v + 1; rank r is node 5 + r.
                     2     3                 A rank lies under the nodes (5 + r) >> k, down to 1.
                   4   5  6  7               1..4 is at the nodes 3 and 4.
                  8 9
    rank          3 4  0  1  2

Theory: de Berg et al., Computational Geometry, 10.3 (segment trees); that any number of ranks will do, without
padding to a power of two, makes nodes that no interval is stored at, and changes nothing else.

Invariant: of the nodes that a rank lies under, exactly one holds an interval that contains it, and none any other. An
interval is at no more than 2 log2(ranks) nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32


def canonical_nodes(n_ranks: Int32, low: Int32, high: Int32) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of intervals and the nodes that they are at, in pairs. `n_ranks`: of the slot of each interval.

    >>> intervals, nodes = canonical_nodes(np.array([5]), np.array([1]), np.array([4]))
    >>> sorted(nodes.tolist())
    [3, 4]
    """
    number = np.arange(len(low))
    # Nodes from `left` to before `right`; each round moves both a level up, and stores what has no parent in it.
    left = n_ranks.astype(np.int64) + low
    right = n_ranks.astype(np.int64) + high + 1
    intervals, nodes = [number[:0]], [left[:0]]
    while len(left):
        is_right_child = (left & 1).astype(np.bool_)
        intervals.append(number[is_right_child])
        nodes.append(left[is_right_child])
        ends_in_left_child = (right & 1).astype(np.bool_)
        intervals.append(number[ends_in_left_child])
        nodes.append(right[ends_in_left_child] - 1)
        left = (left + 1) >> 1
        right >>= 1
        is_left = left < right
        left, right, number = left[is_left], right[is_left], number[is_left]
    return np.concatenate(intervals), np.concatenate(nodes)
