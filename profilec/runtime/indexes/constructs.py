"""Virtual construct intervals, and the arithmetic of their numbers (VCI 2.2, 2.3, 3 and 4.1).

In: how long the longest construct is, L. Out: the constructs that an interval of cells is cut into, and those that may
cover a cell, by number.

    L = 4, simple     cell     0      1      2      3      4      5      6
    constructs               0 [0,1)  4 [1,2)  8 [2,3)  ...        of length 1
    that start there         1 [0,2)  5 [1,3)  9 [2,4)  ...                  2
                             2 [0,3)  6 [1,4) 10 [2,5)  ...                  3
                             3 [0,4)  7 [1,5) 11 [2,6)  ...                  4
    interval [0,6)           3 [0,4) and 17 [4,6)
    cell 3 is covered by     3   6 7   9 10 11   12 13 14 15
    its covering segment     3 .. 15, in which 4, 5 and 8 do not cover it

A *construct* is an interval that is defined before there are any entries: g of them start at each cell, in the order of
their lengths, so that the *coordinate* of the one that starts at cell a and is the p-th of its cell is `a g + p`
(Eq. 1 and 2). Which lengths there are is all that `sci` and `lci` differ in.

Left open by the paper and decided here:
- The paper's intervals contain both of their endpoints, so two constructs that meet both hold the value where they
  meet, and an entry would be found twice there. Here cells are the unit, and a construct is half-open: one of length l
  covers l cells. The coordinates and the cuts are the paper's. What covers a cell is less by the g constructs that end
  there: the covering segment has (L - 1) g + 1 of them, not L g + 1, and the distance table has the sum of all
  lengths, not that and g more (Eq. 3).
- The paper describes cells from the L-th on. Before it, the segment and the table begin with numbers below 0, which are
  no constructs.

Invariant: the constructs of an interval are apart and have its cells together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Int64: TypeAlias = NDArray[np.int64]
Bool: TypeAlias = NDArray[np.bool_]


class Constructs(Protocol):
    """The constructs that start at a cell."""

    @property
    def max_length(self) -> int:
        """L."""
        ...

    @property
    def lengths(self) -> Int64:
        """The lengths of the constructs of a cell, ascending; the last is L."""
        ...

    def places_of(self, lengths: Int64) -> Int64:
        """The places in `self.lengths` of constructs that are so long."""
        ...

    def n_pieces(self, lengths: Int64) -> Int64:
        """How many constructs intervals of so many cells are cut into."""
        ...

    def cut(self, lengths: Int64) -> Iterator[tuple[Bool, Int64, Int64]]:
        """Cuts remnants, of 1 to L cells: by construct which of them have it, where in them it starts, its length."""
        ...


def coordinates(constructs: Constructs, begin: Int64, length: Int64) -> Int64:
    """The numbers of the constructs that start at these cells and are so long (`find_coordinate`, Eq. 1 and 2)."""
    return begin * len(constructs.lengths) + constructs.places_of(length)


def decompose(constructs: Constructs, begin: Int64, end: Int64) -> tuple[Int64, Int64]:
    """Cuts the intervals `[begin[i], end[i])`, none of them empty, from the left (`INSERT`, Fig. 2).

    Returns, by construct, which interval it is of and its coordinate; the longest constructs of all come first.
    """
    longest = constructs.max_length
    n_whole = (end - begin - 1) // longest
    of = np.repeat(np.arange(len(begin)), n_whole)
    before = np.repeat(np.cumsum(n_whole) - n_whole, n_whole)
    start = begin[of] + (np.arange(len(of)) - before) * longest
    intervals, found = [of], [coordinates(constructs, start, np.full(len(of), longest))]
    start = begin + n_whole * longest
    for has, offset, length in constructs.cut(end - start):
        intervals.append(np.flatnonzero(has))
        found.append(coordinates(constructs, (start + offset)[has], length[has]))
    return np.concatenate(intervals), np.concatenate(found)


def extents(constructs: Constructs, numbers: Int64) -> tuple[Int64, Int64]:
    """Where constructs begin, and before which cell they end (4)."""
    begin, place = np.divmod(numbers, len(constructs.lengths))
    return begin, begin + constructs.lengths[place]


def first_covering(constructs: Constructs, cell: int) -> int:
    """The least number of a construct that covers the cell, C_min (3); below 0 for the first L - 1 cells."""
    n = len(constructs.lengths)
    return (cell - constructs.max_length + 1) * n + n - 1


def segment_size(constructs: Constructs) -> int:
    """How many numbers there are from the first construct that covers a cell to the last (3)."""
    return (constructs.max_length - 1) * len(constructs.lengths) + 1


def distance_table(constructs: Constructs) -> Int64:
    """What to add to `first_covering` to have the constructs that cover a cell; the same for each cell (4.1)."""
    n, lengths = len(constructs.lengths), constructs.lengths
    place = np.repeat(np.arange(n), lengths)
    earlier = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.sort((constructs.max_length - 1 - earlier) * n + place - (n - 1))
