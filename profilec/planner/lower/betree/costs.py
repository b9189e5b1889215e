"""What the tree's builder weighs: default unit costs in nanoseconds, and the seed's guide to leaf capacity.

The costs are of the kernels in `runtime.matchers.betree` on one core with a tree larger than the cache.
"""

from __future__ import annotations

NS_NODE = 50.0
"""Reaching a node and its leaf: mostly waiting for memory."""
NS_CANDIDATE = 4.0
"""The head of one entry of a predicate list."""
NS_DIRECTORY = 40.0
"""Searching a cluster directory."""
NS_EDGE = 1.5
"""Looking whether a document has the attribute of an edge."""
NS_LEAF = 20.0
"""Beginning with a matrix."""
NS_ROW = 3.0
"""One attribute of a matrix."""
NS_WORD = 0.5
"""One word of a row."""

MATRIX_ENTRIES = 1.5
"""Entries per attribute from which a leaf is worth a matrix."""
MATRIX_ENTRIES_UNHEADED = 0.5
"""The same for entries that absence satisfies: in a list they are never passed over."""
MATRIX_FILLED, HEADS_HELD = 0.3, 0.1
"""Where a smaller share of a matrix than this would stand for predicates, and a smaller share of a list's heads is
expected to hold, the list is smaller and faster."""
MOST_INTERVALS = 64
"""Intervals of an entry that may be in a matrix: each brings its attribute up to two more rows."""
MIN_SIZE = 3
"""BE-Tree, 4.2: fewer entries than this make no partition."""


def max_cap(match_probability: float) -> int:
    """BE-Tree, Table 4: the leaf capacity for an expected match probability.

    >>> [max_cap(probability) for probability in (0.0001, 0.01, 0.5)]
    [5, 20, 160]
    """
    if match_probability < 0.01:
        return 5
    return 20 if match_probability < 0.1 else 160
