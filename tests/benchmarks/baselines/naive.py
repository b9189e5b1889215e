"""`naive`: every predicate of every entry, one after another (Tatbul 2001, 4.1.5: the naive algorithm).

In: the ranks of a document. Out: the entries all of whose rank tests hold. O(kn), k being the tests of an entry and n
the entries: it "evaluates each profile in sequence without using any index", and goes on after a test that fails.

It is `lazy` without leaving, and neither is what `scan` of `baselines.scan` is, where each profile's most selective
predicate comes first.
"""

from __future__ import annotations

from typing import Any

from baselines.rank_tests import RowMatcher
from numba import njit


@njit(nogil=True, cache=True)
def evaluate_all(
    off: Any, slot: Any, low: Any, high: Any, ranges: Any, range_off: Any, range_low: Any, range_high: Any,
    ranks: Any, out: Any,
) -> Any:  # fmt: skip
    n = 0
    for entry in range(len(off) - 1):
        n_failed = 0
        for row in range(off[entry], off[entry + 1]):
            rank = ranks[slot[row]]
            holds = low[row] <= rank <= high[row]
            which = ranges[row]
            if which >= 0:
                holds = False
                for part in range(range_off[which], range_off[which + 1]):
                    holds |= range_low[part] <= rank <= range_high[part]
            n_failed += not holds
        if n_failed == 0:
            out[n] = entry
            n += 1
    return n


class NaiveMatcher(RowMatcher):
    """Rows as in `baselines.rank_tests`."""

    kernel = staticmethod(evaluate_all)
