"""Normal forms to an image: the last pass of the compiler, and the only one that knows the runtime.

programs.py   scalars and three-valued conditions as stack programs
leaves.py     a leaf as a row of numbers: slot, comparison, constants
skeleton.py   a normal form as AND/OR over leaf rows and joins
entries.py    which conjunctions are indexed, by which access predicate, with which residual
build.py      rows and skeletons of all profiles to the arrays of one image
entry_kernels.py, lists.py   what of that is compiled, for profiles that are no plain conjunctions
betree/       the tree that the default matcher walks, bulk-loaded from an image's entries
describe.py   a test of an image in the user's words
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.build import ImageBuilder
from profilec.planner.lower.skeleton import TooComplexError
from profilec.runtime.image import Image

__all__ = ["ImageBuilder", "TooComplexError", "with_tree"]


def with_tree(
    image: Image, max_cap: int | None = None, leaves: str = "any", presence: NDArray[np.float64] | None = None
) -> Image:
    """The image with its tree; arguments as in `betree.bulk_load`. (Its kernels are loaded only now.)"""
    from profilec.planner.lower.betree import bulk_load

    return replace(image, tree=bulk_load(image, max_cap=max_cap, leaves=leaves, presence=presence))
