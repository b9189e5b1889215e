"""A flattened BE-Tree: where everything of it lies.

In: what `planner.lower.betree` loaded. Out: what the kernels read. One array of integers holds the
directories, nodes and leaves in the order in which a document reads them; the bit rows of matrix leaves stand in an
array of their own.

    header      see HEADER below, then one directory position (0: none) for each slot: the root's edges
    directory   n, then n first ranks ascending, then n + 1 offsets of target lists, then targets (positions of nodes)
                the targets of the last first rank that is <= the document's: all buckets that enclose it
    node        n edges, n leaves, then n x (slot, position of directory), then the positions of its leaves
    leaf        n entries (1 to 64, of a matrix to 512), form, n parts, position of n ids, then
      list      for each group: (slot, end) | for each entry: (low, high, position of its body) | ids | bodies
      body      n, m: the rest of the predicates, n x (slot, low, high), m x (slot, position of a set, its size) | sets
      set       size lows ascending and as many highs; or where size < 0 the lowest rank, and a bit for each of -size
      matrix    for each attribute: (slot, n cuts, position of cuts, position of rows, the row where it is absent)
                | ids | cuts, n ascending from 1 for each attribute, or where n < 0 the number of the row of each rank,
                a byte each
      row       a bit for each entry: its predicate holds for the ranks from one cut to the next, or it has none
    id          >= 0: the entry's only profile, and nothing else is to be checked.
                Else ~number: the entry is special[number].

The entries of a list are grouped by the attribute of their head: one predicate of each, or its hull where it has
several intervals (the exact one is then in the rest). A document without the attribute passes over the group,
unless its slot is written as ~slot, because a head holds on absence. The group of entries that have no open
predicate is ~n_slots: a slot of no document, with the head (0, 0).

PERF: the answer of a list is one word, that of a matrix at most a cache line, and so is each row of it. The row where
an attribute is absent stands beside its slot, two integers for a word, lower half first: a document that shares few
attributes with a matrix reads no other row of it.

Source: BE-Tree, 4.1 and Figure 2; the rows over elementary intervals are Tatbul 2001, 4.1.2, inside a leaf.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

N_SLOTS, ROOT, N_NODES, N_LEAVES, MOST_ATTRIBUTES, WIDEST = range(6)
"""Header: slots of documents, pseudo-slots included; the root's position; nodes; leaves; attributes of the matrix that
has most; words of the row that has most."""
HEADER = 16
LIST_ENTRIES = 64
MOST_WORDS = 8
"""Of a row."""
FORM_LIST, FORM_MATRIX = 0, 1
PARTS = 4
"""Where the groups or attributes of a leaf begin."""
GROUP, RECORD, ATTRIBUTE = 2, 3, 4
"""Integers of each; to those of an attribute two for each word of a row are added."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """See above. `special`: entries of several profiles, or of which something is left to check."""

    data: NDArray[np.int32]
    words: NDArray[np.uint64]
    special: NDArray[np.int32]

    @property
    def n_slots(self) -> int:
        """Slots of documents, pseudo-slots included."""
        return int(self.data[N_SLOTS])

    @property
    def n_nodes(self) -> int:
        return int(self.data[N_NODES])

    @property
    def nbytes(self) -> int:
        return self.data.nbytes + self.words.nbytes + self.special.nbytes
