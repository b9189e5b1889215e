"""Groups of entries, each found by a matcher of its own.

In: an image. Out: of each entry its group, which is the slot of its access predicate; the entries of each matcher.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32

NO_GROUP = -1
"""Entries that no attribute's value finds: a pattern, a term or nothing does."""


def group_of(image: Image) -> Int32:
    """Per entry the slot that gives access to it, or NO_GROUP."""
    access = image.entry_access
    is_of_slot = (access >= 0) & (access < image.n_tests)
    group = np.full(image.n_entries, NO_GROUP, np.int32)
    group[is_of_slot] = image.test_slot[access[is_of_slot]]
    return group


def entries_of(image: Image, matcher: str, groups: Mapping[str, str]) -> dict[str, NDArray[np.bool_]]:
    """By matcher its entries: those of `groups`, by the attribute or expression that gives access, "" for none; and of
    `matcher` all others."""
    names = [slot.name for slot in image.slots]
    chosen = [groups.get(name, matcher) for name in (*names, "")]
    group = group_of(image)
    return {
        name: np.array([one == name for one in chosen], np.bool_)[group]  # NO_GROUP, -1, is the last one
        for name in dict.fromkeys((matcher, *groups.values()))
    }
