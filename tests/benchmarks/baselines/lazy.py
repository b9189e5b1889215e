"""`lazy`: the entries one after another, each up to its first predicate that fails (Tatbul 2001, 4.1.5: the lazy
algorithm).

In: the ranks of a document. Out: the entries all of whose rank tests hold. O(kn) at worst and Omega(n) at best, for
one predicate of each entry is evaluated at least.

Left open by the paper and decided here: the tests of an entry come in the order of slots. `baselines.scan`, which
figures are ratios to, is this with each profile's most selective predicate first; both run the same kernel.
"""

from __future__ import annotations

from baselines.rank_tests import RowMatcher
from baselines.scan import scan_bounds


class LazyMatcher(RowMatcher):
    """Rows as in `baselines.rank_tests`."""

    kernel = staticmethod(scan_bounds)
