"""What the nodes of a tree are worth, as documents were: their ranks (BE-Tree, 5).

In: the nodes of a tree and its entries' predicates, with their states, and documents in rank space, the latest last.
Out: a rank for each node of the paper's kinds.

    leaf        (l-node) beta * Gain - gamma * Loss of the entries that a node has itself.
                Gain: their subsumed and covered predicates, weighted.
                Loss: predicate evaluations for entries that a document then does not match. Predicates are taken in
                their order until one fails, without the subsumed ones; that is counted for a leaf of any form, though a
                matrix looks at all its entries at once.
    bucket      (c-node) the ranks of its leaf and of the partitions under it - gamma * Loss.
                Loss: the evaluation of its own predicate by documents that match nothing under it; none at the root.
    partition   (p-node) the ranks of its buckets. It has no predicate of its own, and so no loss.

Losses are means over a window of the latest matching operations, those that do not come to the node included: a key is
as bad as it draws documents in vain. The window is as long as a tenth of the entries under the node (7), and no shorter
than `LEAST_WINDOW`: a tenth of a leaf is less than one document, and a mean over one tells nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.betree.placed import Placed
from profilec.planner.lower.betree.predicates import COVERED, SUBSUMED, Intervals, Predicates
from profilec.planner.ranking import Ranking
from profilec.runtime.image import Int32
from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.sampled import Sampled

Floats = NDArray[np.float64]

WINDOW_SHARE = 0.1
LEAST_WINDOW, MOST_WINDOW = 100, 1_000
"""Documents of a window."""


class _Documents(NamedTuple):
    """The arrays of `Sampled`, as a kernel takes them."""

    off: NDArray[np.int64]
    slots: Int32
    ranks: Int32


class Ranks(NamedTuple):
    """Of each node: the rank of its leaf, of its bucket, and of the partition that it is a bucket of (the root: 0).
    `leaf_loss`: predicate evaluations that a document is made in vain in its leaf. `n_own`: entries of its leaf."""

    leaf: Floats
    bucket: Floats
    partition: Floats
    leaf_loss: Floats
    n_own: NDArray[np.int64]


def ranks_of(
    placed: Placed, predicates: Predicates, intervals: Intervals, sampled: Sampled, n_slots: int, ranking: Ranking
) -> Ranks:
    """The ranks of a tree's nodes; without documents nothing is lost. `n_slots`: of documents, with pseudo-slots."""
    parent, node_of = placed.parent, placed.node_of
    n_nodes = len(parent)
    in_tree = np.flatnonzero(node_of >= 0)
    n_own = np.bincount(node_of[in_tree], minlength=n_nodes)
    n_under = n_own.astype(np.float64)
    add_up(parent, n_under)
    entries = in_tree[np.argsort(node_of[in_tree], kind="stable")]
    off = np.concatenate(([0], np.cumsum(n_own)))
    leaf_loss, bucket_loss = np.zeros(n_nodes), np.zeros(n_nodes)
    add_losses(
        predicates,
        intervals,
        placed,
        (off, entries),
        (_window(n_own), _window(n_under)),
        _Documents(sampled.off, sampled.slots, sampled.ranks),
        (np.zeros(n_slots + 1, np.int32), np.zeros(n_nodes, np.bool_), np.zeros(n_nodes, np.bool_)),
        leaf_loss,
        bucket_loss,
    )
    leaf_loss /= np.clip(sampled.n, 1, _window(n_own))
    bucket_loss /= np.clip(sampled.n, 1, _window(n_under))
    leaf = ranking.beta * _gain(placed, predicates, ranking) - ranking.gamma * leaf_loss
    bucket = leaf - ranking.gamma * bucket_loss
    add_up(parent, bucket)
    begins = np.append(True, (np.diff(parent) != 0) | (np.diff(placed.slot) != 0))
    number = np.cumsum(begins) - 1
    partition = np.bincount(number, bucket)[number]
    partition[0] = 0.0
    return Ranks(leaf, bucket, partition, leaf_loss, n_own)


def _window(n_entries: NDArray[Any]) -> NDArray[np.int64]:
    """Documents of the windows of nodes with so many entries."""
    return np.clip(np.ceil(WINDOW_SHARE * n_entries), LEAST_WINDOW, MOST_WINDOW).astype(np.int64)


def _gain(placed: Placed, predicates: Predicates, ranking: Ranking) -> Floats:
    """alpha_s * subsumed + alpha_c * covered predicates of the entries of each leaf."""
    node = np.repeat(placed.node_of, np.diff(predicates.off))
    gain = np.zeros(len(placed.parent))
    for state, weight in ((SUBSUMED, ranking.alpha_s), (COVERED, ranking.alpha_c)):
        gain += weight * np.bincount(node[predicates.state == state], minlength=len(gain))
    return gain


@kernel
def add_up(parent: Any, values: Any) -> None:
    """Adds to each node's value those of all nodes under it."""
    for node in range(len(parent) - 1, 0, -1):
        values[parent[node]] += values[node]


@kernel
def add_losses(
    predicates: Any,
    intervals: Any,
    placed: Any,
    owned: Any,
    windows: Any,
    documents: Any,
    scratch: Any,
    leaf_loss: Any,
    bucket_loss: Any,
) -> None:
    """Adds up what documents lose in each node.

    `owned`: CSR of the entries of each node; `windows`: of its leaf, and of itself; `scratch`: a document's ranks, all
    0, the last of a slot that none has, as the root's is; and of each node whether it comes there and what it matches.
    """
    off, entries = owned
    leaf_window, window = windows
    ranks, comes, matches = scratch
    for age in range(min(len(documents.off) - 1, window[0])):
        first, last = documents.off[len(documents.off) - 2 - age], documents.off[len(documents.off) - 1 - age]
        for i in range(first, last):
            ranks[documents.slots[i]] = documents.ranks[i]
        for node in range(len(placed.parent)):
            rank = ranks[placed.slot[node]]
            inside = placed.low[node] <= rank <= placed.high[node]
            comes[node] = node == 0 or (inside and comes[placed.parent[node]])
            matches[node] = False
            if comes[node]:
                for e in range(off[node], off[node + 1]):
                    n_evaluated = evaluated_in_vain(predicates, intervals, ranks, entries[e])
                    matches[node] |= n_evaluated == 0
                    if age < leaf_window[node]:
                        leaf_loss[node] += n_evaluated
        for node in range(len(placed.parent) - 1, 0, -1):
            if matches[node]:
                matches[placed.parent[node]] = True
            elif comes[node] and age < window[node]:
                bucket_loss[node] += 1.0
        for i in range(first, last):
            ranks[documents.slots[i]] = 0


@inlined
def evaluated_in_vain(predicates: Any, intervals: Any, ranks: Any, entry: int) -> int:
    """The predicates of an entry that are evaluated until one fails, that one included; 0 if none does."""
    n = 0
    for p in range(predicates.off[entry], predicates.off[entry + 1]):
        if predicates.state[p] != SUBSUMED:
            n += 1
            rank = ranks[predicates.slot[p]]
            holds = False
            for v in range(predicates.first[p], predicates.last[p]):
                holds |= intervals.low[v] <= rank <= intervals.high[v]
            if not holds:
                return n
    return 0
