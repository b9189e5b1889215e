"""How long the longest virtual construct should be (VCI 5.3).

In: the form of the index, how many cells there are, how many cells each interval has. Out: L, a power of two.

The paper has no formula for L: it measures the total storage for L = 2, 4, 8, ... and reads the least from the curve
(Fig. 5). What the curve is made of follows from sections 2 to 4, and `storage` adds it up. Longer constructs mean fewer
of them to an interval, and more of them, and longer bit vectors, to a cell.

Left open by the paper and decided here: how large a covering segment may become. It says what a search costs, and
storage, the least of which may be at an L of any size, says nothing about that. No L is taken with which a search
would look at more than `MAX_EXAMINED` headers or bits, but 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from profilec.runtime.indexes.constructs import Constructs, Int64, segment_size

Form: TypeAlias = Literal["plain", "clipped", "virtual", "table"]

MIN_LENGTH = 2
"""The paper's least: with L = 1 every form is a list of entries by cell."""
MAX_EXAMINED = 1 << 14
"""PERF: these many are looked at in some ten microseconds."""
HEADER_BITS = 64
ID_BITS = 32


def storage(constructs: Constructs, form: Form, n_cells: int, lengths: Int64) -> int:
    """The bits that an index stores for intervals of `lengths` cells, of `n_cells` in all.

    R cells have N = R g constructs, where g is L for simple and log2(L) + 1 for logarithmic ones. There are

        a header for each construct                         N                                       (2.2)
        an entry for each construct of an interval          the sum of n_pieces over intervals      (2.2, 2.3)
        plain: a bit vector for each cell                   R N                                     (2.2)
        clipped: one of the covering segment for each       R ((L - 1) g + 1)                       (3)
        virtual: nothing else                               0                                       (4)
        table: one distance table                           the sum of the g lengths                (4.1)

    A header is `HEADER_BITS` bits, an entry or a distance `ID_BITS`.

    >>> import numpy as np
    >>> from profilec.runtime.indexes.sci import SimpleConstructs
    >>> four = SimpleConstructs(4)
    >>> storage(four, "plain", 7, np.array([6, 2])) - storage(four, "virtual", 7, np.array([6, 2])) == 7 * 28
    True
    """
    n = n_cells * len(constructs.lengths)
    stored = n * HEADER_BITS + int(constructs.n_pieces(lengths).sum()) * ID_BITS
    match form:
        case "plain":
            return stored + n_cells * n
        case "clipped":
            return stored + n_cells * segment_size(constructs)
        case "virtual":
            return stored
        case "table":
            return stored + table_size(constructs) * ID_BITS


def table_size(constructs: Constructs) -> int:
    """How many constructs cover a cell: one of length l covers it from l cells."""
    return int(constructs.lengths.sum())


def n_examined(constructs: Constructs, form: Form) -> int:
    """How many headers or bits a search looks at."""
    return table_size(constructs) if form == "table" else segment_size(constructs)


def best(kind: Callable[[int], Constructs], form: Form, n_cells: int, lengths: Int64) -> Constructs:
    """The constructs with which least is stored; of equals, the shorter ones.

    None are longer than the least power of two that no interval is longer than: more would save no entry.
    """
    chosen = kind(MIN_LENGTH)
    least = storage(chosen, form, n_cells, lengths)
    longest = int(lengths.max(initial=1))
    length = MIN_LENGTH
    while length < longest:
        length *= 2
        constructs = kind(length)
        if n_examined(constructs, form) > MAX_EXAMINED:
            break
        stored = storage(constructs, form, n_cells, lengths)
        if stored < least:
            chosen, least = constructs, stored
    return chosen
