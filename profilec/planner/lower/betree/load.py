"""From an image's entries to its tree: BE-Tree's bulk load.

In: an image without a tree. Out: the tree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.betree import costs
from profilec.planner.lower.betree.emit import ANY_FORM, LISTS_ONLY, MATRICES_ONLY, emit
from profilec.planner.lower.betree.entries import entry_ids, possible, predicates_of
from profilec.planner.lower.betree.grow import empty_nodes, grow
from profilec.planner.lower.betree.predicates import Predicates, Slots
from profilec.planner.lower.betree.recycle import SeenTree, recycled
from profilec.planner.lower.expected import DOCUMENT_TO_PROFILE
from profilec.planner.ranking import BY_COST, NOT_RANKED, Ranking
from profilec.runtime.apart import apart
from profilec.runtime.image import Image
from profilec.runtime.matchers.betree.tree import Tree

FORMS = {"any": ANY_FORM, "list": LISTS_ONLY, "matrix": MATRICES_ONLY}


def bulk_load(
    image: Image,
    *,
    max_cap: int | None = None,
    presence: NDArray[np.float64] | None = None,
    leaves: str = "any",
    entries: NDArray[np.bool_] | None = None,
    ranking: Ranking = NOT_RANKED,
    seen: SeenTree | None = None,
) -> Tree:
    """The tree of an image's entries.

    Args:
        image: its `tree` is not looked at.
        max_cap: the leaf capacity: every leaf with more entries is cut, if it can be. None: BE-Tree's guide for the
            match probability that the predicates let expect (Table 4), and cuts only where they are expected to pay,
            unless attributes are ranked.
        presence: per slot the share of documents that have it; None: as often as profiles ask for it, times
            `DOCUMENT_TO_PROFILE`.
        leaves: "list" or "matrix" for leaves of that form only.
        entries: which of the entries it is to have; None for all.
        ranking: how attributes are chosen, where not by cost.
        seen: the tree that these entries have now, and documents: what ranks low in it is made anew (`recycle`). Where
            attributes are not ranked it is not looked at.
    """
    predicates, intervals = predicates_of(image)
    n_ranks = image.n_ranks
    n_slots = len(n_ranks)
    is_sampled = presence is not None
    if presence is None:
        asked = np.bincount(predicates.slot, minlength=n_slots)
        presence = np.minimum(1.0, DOCUMENT_TO_PROFILE * asked / max(1, image.n_entries))
    slots = Slots(presence, n_ranks, is_sampled)
    by_cost = max_cap is None and ranking.by == BY_COST
    if max_cap is None:
        max_cap = costs.max_cap(match_probability(predicates, slots))
    own = possible(predicates)
    if entries is not None:
        own = own[entries[own]]
    ids, special = entry_ids(image)
    nodes = empty_nodes(own, len(predicates.slot))
    earlier = recycled(image, predicates, intervals, own, ids, ranking, seen)
    grow(predicates, intervals, slots, nodes, max_cap, by_cost, ranking, earlier)
    # PERF: copied, since numpy asks for large pages, and reading a tree is waiting for memory and for the page tables.
    grown = predicates, intervals, slots, nodes, ids, FORMS[leaves]
    data, words = (np.array(column) for column in apart(emit, *grown))
    for array in (data, words, special):
        array.flags.writeable = False
    return Tree(data, words, special)


def match_probability(predicates: Predicates, slots: Slots) -> float:
    """The mean over entries of the share of documents expected to satisfy them, predicates taken as independent."""
    n_entries = len(predicates.off) - 1
    if n_entries == 0:
        return 0.0
    width = (predicates.high - predicates.low + 1) / slots.n_ranks[predicates.slot]
    share = np.where(predicates.low == 0, width, slots.presence[predicates.slot] * width)
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.maximum(share, 1e-12)))))
    return float(np.exp(np.minimum(0.0, logs[predicates.off[1:]] - logs[predicates.off[:-1]])).mean())
