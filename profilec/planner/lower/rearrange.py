"""An image for documents of which more is known now than when it was made.

In: an image, sampled documents. Out: the image with each entry's tests in the order that these documents make best, and
its access predicate among them; without a tree. Slots, tests and residuals stay, so that no profile is read again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from profilec.planner.lower.build import Built
from profilec.planner.lower.entries import Entries, image_fields, order_of, ordered, share_equal
from profilec.planner.lower.expected import access_costs, expect
from profilec.planner.lower.join_load import join_load
from profilec.runtime.image import Image
from profilec.runtime.sampled import encode_sample


def rearranged(image: Image, sample: Any) -> Built:
    """As `ImageBuilder.build` would have made it with this sample.

    Raises:
        DocumentError: one of the sample is no document.
    """
    entries = Entries(
        image.entry_off.astype(np.int64),
        image.entry_tests,
        image.entry_residual,
        image.entry_profile_off.astype(np.int64),
        image.entry_profiles,
    )
    return arranged(image, entries, sample)


def arranged(image: Image, entries: Entries, sample: Any, *, share: bool = False) -> Built:
    """An image of which the entries are given. `sample`: as of `ImageBuilder.build`; `share`: makes equal entries, each
    of one profile, one."""
    sampled = None if sample is None else encode_sample(image, sample)
    asked = np.bincount(image.test_slot[entries.tests[entries.tests < image.n_tests]], minlength=len(image.slots))
    expected = expect(image, asked.astype(np.float64), image.n_profiles, sampled)
    costs = access_costs(image, expected)
    entries = ordered(entries, order_of(costs))
    if share:
        entries = share_equal(entries)
    image = replace(image, **image_fields(entries, costs), tree=None, join_tree=None)
    return Built(image, expected, sampled, join_load(image, sample))
