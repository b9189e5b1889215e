"""`lazy`: the entries one after another, each up to its first predicate that fails (Tatbul 2001, 4.1.5: the lazy
algorithm).

In: the ranks of a document. Out: the entries all of whose rank tests hold. O(kn) at worst and Omega(n) at best, for
one predicate of each entry is evaluated at least.

Left open by the paper and decided here: the tests of an entry come in the order of slots. `baselines.scan`, which
figures are ratios to, is this with each profile's most selective predicate first; both run the same kernel.
"""

from __future__ import annotations

import numpy as np
from baselines.rank_tests import DenseRanks, rank_tests, rows_of
from baselines.scan import scan_bounds

from profilec.runtime.image import Image, Int32


class LazyMatcher:
    """Rows as in `baselines.rank_tests`."""

    __slots__ = ("_dense", "_out", "_rows")

    def __init__(self, image: Image) -> None:
        self._rows = rows_of(rank_tests(image))
        self._dense = DenseRanks(len(image.slots))
        self._out = np.empty(image.n_entries, np.int32)

    @property
    def n_bytes(self) -> int:
        return self._rows.n_bytes

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending."""
        return self._out[: scan_bounds(*self._rows.arrays, ranks, self._out)].copy()

    def candidates_of(self, slots: Int32, ranks: Int32) -> Int32:
        """The same for a sparse document."""
        return self.candidates(self._dense.of(slots, ranks))
