"""Generated profiles as rank tests over their values themselves, as the papers' own structures have them.

In: conjunctions. Out: rank tests whose ranks are the values 1 .. cardinality, with a test for each predicate; entries
are profiles. An index that enumerates the values of a range grows with the cardinality so, and not with the number of
constants, as it would over the ranks of an image.
"""

from __future__ import annotations

import numpy as np
from baselines.rank_tests import RankTests
from baselines.scan import bounds_of
from conjunctions import Conjunctions, Op, offsets_of


def value_tests(profiles: Conjunctions) -> RankTests:
    """The tests of profiles none of which asks for absence."""
    assert not (profiles.op == Op.IS_NULL).any()
    low, high, ranges, range_off, range_low, range_high = bounds_of(profiles)
    n_rows = len(profiles.op)
    several = ranges >= 0
    n_parts = np.ones(n_rows, np.int64)
    n_parts[several] = np.diff(range_off)
    owner = np.repeat(np.arange(n_rows), n_parts)
    lows, highs = low[owner], high[owner]
    lows[several[owner]], highs[several[owner]] = range_low, range_high
    # Within an entry the tests stand in the order of slots.
    entry = np.repeat(np.arange(len(profiles)), np.diff(profiles.off))
    order = np.lexsort((profiles.slot, entry)).astype(np.int32)
    n_ranks = np.full(profiles.n_attributes, profiles.cardinality + 1, np.int64)
    return RankTests(n_ranks, profiles.off, order, profiles.slot, offsets_of(n_parts), lows, highs)
