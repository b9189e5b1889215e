"""Recycling: what of an earlier tree stays, and what is inserted anew (BE-Tree, 5, "Recycling l-node").

In: an image's entries, the tree that they have, documents that were matched since. Out: `Earlier`, by which the next
tree is grown.

A leaf, bucket or partition whose rank is below the threshold is taken apart: its entries, those of all nodes under it
included, are inserted anew from the root on, with what is known by now. By the predicate that led to its leaf an entry
is seen to have lost its part of what that lost; where that is more than it gains, it is not to go there again. By any
other, a document that falls into its home bucket, as they were seen to, is expected to cost one evaluation.

The tree is flat and cannot be changed, so it is made again, and all other entries are sent the way that they went. They
come to the nodes in which they were, except that clustering is deterministic: a bucket is cut by what is in it now, so
that one which overflows no more is made one with the bucket around it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.betree.entries import entry_ids, possible, predicates_of
from profilec.planner.lower.betree.placed import Placed, placed
from profilec.planner.lower.betree.predicates import Intervals, Predicates
from profilec.planner.lower.betree.ranked import Earlier
from profilec.planner.lower.betree.ranks import Ranks, ranks_of
from profilec.planner.ranking import BY_COST, Ranking
from profilec.runtime.image import Image
from profilec.runtime.kernels import kernel
from profilec.runtime.matchers.betree.tree import Tree
from profilec.runtime.sampled import Sampled

Int32 = NDArray[np.int32]
Bools = NDArray[np.bool_]


class SeenTree(NamedTuple):
    """A tree of some of an image's entries, and documents that it matched: the latest last."""

    tree: Tree
    sampled: Sampled


class Judged(NamedTuple):
    """A tree's nodes with their ranks, and the step of each predicate on its entry's path."""

    placed: Placed
    predicates: Predicates
    step: Int32
    ranks: Ranks


def judged(image: Image, seen: SeenTree, ranking: Ranking, entries: Bools | None = None) -> Judged:
    """The ranks of a tree's nodes. `entries`: which of the image's it has; None for all."""
    predicates, intervals = predicates_of(image)
    own = possible(predicates)
    if entries is not None:
        own = own[entries[own]]
    ids, _ = entry_ids(image)
    return _judged(image, predicates, intervals, own, ids, ranking, seen)


def is_below(found: Judged, threshold: float) -> bool:
    """Whether some node ranks below the threshold."""
    leaves, subtrees = _below(found, threshold)
    return bool(leaves.any() or subtrees.any())


def recycled(
    image: Image,
    predicates: Predicates,
    intervals: Intervals,
    own: Int32,
    ids: Int32,
    ranking: Ranking,
    seen: SeenTree | None,
) -> Earlier:
    """What stays and what is inserted anew, of the entries `own`; where attributes are chosen by cost, nothing."""
    n_entries = len(predicates.off) - 1
    if ranking.by == BY_COST:
        return Earlier.none(0, 0)
    if seen is None:
        return Earlier.none(len(predicates.slot), n_entries)
    open_ = predicates._replace(state=np.zeros_like(predicates.state))
    found = _judged(image, open_, intervals, own, ids, ranking, seen)
    leaves, subtrees = _below(found, ranking.threshold)
    spread(found.placed.parent, subtrees)
    node_of, ranks = found.placed.node_of, found.ranks
    anew = (node_of < 0) | (leaves | subtrees)[node_of]
    owner = np.repeat(np.arange(n_entries), np.diff(predicates.off))
    depth = np.zeros(n_entries, np.int32)
    np.maximum.at(depth, owner, found.step)
    leads_to_leaf = (found.step > 0) & (found.step == depth[owner])
    seen_loss = (ranks.leaf_loss / np.maximum(ranks.n_own, 1))[node_of[owner]]
    loss = np.where(leads_to_leaf, seen_loss, _home_shares(predicates, seen.sampled))
    refused = leads_to_leaf & anew[owner] & (ranking.beta < ranking.gamma * seen_loss)
    return Earlier(np.where(anew[owner], np.int32(0), found.step), loss, refused, anew)


def _home_shares(predicates: Predicates, sampled: Sampled) -> NDArray[np.float64]:
    """The share of the documents that fall into the home bucket of each predicate; of one that holds on absence, 1."""
    bits = (predicates.low - 1) ^ (predicates.high - 1)
    level = np.where(bits > 0, np.frexp(bits.astype(np.float64))[1], 0).astype(np.int64)
    first = 1 + ((predicates.low.astype(np.int64) - 1) >> level << level)
    is_present = sampled.ranks > 0
    keys = np.sort(sampled.slots[is_present].astype(np.int64) << 32 | sampled.ranks[is_present])
    slot = predicates.slot.astype(np.int64) << 32
    inside = np.searchsorted(keys, slot | (first + (1 << level)), "left") - np.searchsorted(keys, slot | first, "left")
    return np.where(predicates.low > 0, inside / max(sampled.n, 1), 1.0)


def _judged(
    image: Image, predicates: Predicates, intervals: Intervals, own: Int32, ids: Int32, ranking: Ranking, seen: SeenTree
) -> Judged:
    nodes, step = placed(seen.tree, predicates, own, ids)
    ranks = ranks_of(nodes, predicates, intervals, seen.sampled, len(image.n_ranks), ranking)
    return Judged(nodes, predicates, step, ranks)


def _below(found: Judged, threshold: float) -> tuple[Bools, Bools]:
    """The nodes whose own leaf, and those all of which, ranks below the threshold. Not the root: no choice made it."""
    ranks = found.ranks
    leaves = (ranks.leaf < threshold) & (ranks.n_own > 0)
    subtrees = (ranks.bucket < threshold) | (ranks.partition < threshold)
    leaves[0] = subtrees[0] = False
    return leaves, subtrees


@kernel
def spread(parent: Any, flags: Any) -> None:
    """Sets the flags of all nodes under those whose flag is set."""
    for node in range(1, len(parent)):
        flags[node] |= flags[parent[node]]
