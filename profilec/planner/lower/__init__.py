"""Normal forms to an image: the last pass of the compiler, and the only one that knows the runtime.

programs.py   scalars and three-valued conditions as stack programs
leaves.py     a leaf as a row of numbers: slot, comparison, constants
skeleton.py   a normal form as AND/OR over leaf rows and joins
entries.py    which conjunctions are indexed, by which access predicate, with which residual
build.py      rows and skeletons of all profiles to the arrays of one image
expected.py   how often documents satisfy each test; rearrange.py an image for what is known of them now
unite.py      images to one of what is left of their profiles
workload.py   what matching a document comes to; unselective.py the entries by which an index has little to gain
pattern_loads.py   what the patterns of an attribute come to, by index; seen_texts.py how often texts have literals
entry_kernels.py, lists.py   what of that is compiled, for profiles that are no plain conjunctions
betree/       the tree that the default matcher walks, bulk-loaded from an image's entries
describe.py   a test of an image in the user's words
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.build import ImageBuilder
from profilec.planner.lower.skeleton import TooComplexError
from profilec.planner.ranking import NOT_RANKED, Ranking
from profilec.runtime.image import Image
from profilec.runtime.joins.literals import asks_joins_alone
from profilec.runtime.matchers.betree.tree import Tree
from profilec.runtime.sampled import Sampled

__all__ = ["ImageBuilder", "TooComplexError", "is_outranked", "with_tree"]


def with_tree(
    image: Image,
    max_cap: int | None = None,
    leaves: str = "any",
    presence: NDArray[np.float64] | None = None,
    ranking: Ranking = NOT_RANKED,
    sampled: Sampled | None = None,
    own: NDArray[np.bool_] | None = None,
) -> Image:
    """The image with its trees; arguments as in `betree.bulk_load`. (Its kernels are loaded only now.)

    `sampled`: documents that were matched with the trees that the image has, as they tell what is made anew;
    `own`: the entries that the tree is to have, of those that do not ask joins alone; None for all.
    """
    from profilec.planner.lower.betree import SeenTree, bulk_load

    def tree_of(entries: NDArray[np.bool_] | None, tree: Tree | None) -> Tree:
        seen = None if tree is None or sampled is None else SeenTree(tree, sampled)
        return bulk_load(
            image, max_cap=max_cap, leaves=leaves, presence=presence, entries=entries, ranking=ranking, seen=seen
        )

    joined = asks_joins_alone(image)
    if not joined.any():
        return replace(image, tree=tree_of(own, image.tree), join_tree=None)
    own = ~joined if own is None else own & ~joined
    return replace(image, tree=tree_of(own, image.tree), join_tree=tree_of(joined, image.join_tree))


def is_outranked(image: Image, ranking: Ranking, sampled: Sampled) -> bool:
    """Whether some node of the image's trees ranks below the threshold, for documents that were matched with them."""
    from profilec.planner.lower.betree import SeenTree, is_below, judged

    joined = asks_joins_alone(image)
    return any(
        is_below(judged(image, SeenTree(tree, sampled), ranking, entries), ranking.threshold)
        for tree, entries in ((image.tree, ~joined), (image.join_tree, joined))
        if tree is not None
    )
