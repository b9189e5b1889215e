"""The operators of OpIndex over ranks: each tells which clauses it takes, and the keys that these are filed under.

In: clauses, each some disjoint rank intervals of one slot. Out: predicates, a key each. A rank finds the predicates
that it satisfies by ranges of keys, which are one of the forms below (OpIndex, 4.2: range scans).

    operator         takes                                   key           a rank r of a kind of ranks f..l scans
    equal            points: =, IN (a disjunct each)         the point     r..r
    at_most          from a kind's first rank on             its last      r..l
    at_least         up to a kind's last rank                its first     f..r
    everything_but   all of a kind but a point: !=           the point     f..r-1 and r+1..l
    within           all others                              nodes         each node that r lies under

The paper's intervals are rewritten as `>=` AND `<=` (4.2), and so they are here where one interval of one kind is a
clause by itself. As one of several disjuncts, or as what refutes an entry, an interval must be found by one predicate:
`within` files it at its canonical nodes. Everything of a kind is `at_most`. Strict comparisons are none of their own:
ranks are discrete.

To add an operator: a class here, an object in OPERATORS before those that take the same clauses, and where none of the
forms finds its keys, one more in `match.scan`. The paper's prefix operator (6.2) is an interval of ranks here.

Invariant: of the predicates of a clause that are in lists, a rank finds one if it is in the clause, none otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32, kept_offsets
from profilec.runtime.matchers.canonical_nodes import canonical_nodes

EQUAL, UPWARD, DOWNWARD, OTHERS, NODES = range(5)
"""Forms of scans."""


class Clauses(NamedTuple):
    """Clause c has the intervals `off[c] .. off[c + 1]`, `low..high`, sorted and disjoint.

    `first, last`: of each interval, the ranks of the kind that it begins in; `n_ranks`: of its slot.
    """

    off: Int32
    low: Int32
    high: Int32
    first: Int32
    last: Int32
    n_ranks: Int32

    @property
    def owners(self) -> NDArray[np.int64]:
        """The clause of each interval."""
        return np.repeat(np.arange(len(self.off) - 1), np.diff(self.off))

    def with_intervals(self, n: int) -> NDArray[np.int64]:
        """The clauses of so many intervals."""
        return np.flatnonzero(np.diff(self.off) == n)


class Predicates(NamedTuple):
    """What an operator takes: the clause and the key of each predicate."""

    clause: NDArray[np.int64]
    key: NDArray[np.int64]


class Operator(Protocol):
    """One operator."""

    @property
    def name(self) -> str: ...

    @property
    def form(self) -> int:
        """How a rank finds keys."""
        ...

    @property
    def hashes_key(self) -> bool:
        """Whether a signature can tell keys apart: whether a scan is for single keys (OpIndex, 4.2)."""
        ...

    def takes(self, clauses: Clauses) -> NDArray[np.bool_]:
        """Which of the clauses it can have."""
        ...

    def predicates(self, clauses: Clauses, taken: NDArray[np.bool_]) -> Predicates:
        """Of the clauses `taken`."""
        ...


@dataclass(frozen=True, slots=True)
class Equal:
    """Points."""

    name: str = "equal"
    form: int = EQUAL
    hashes_key: bool = True

    def takes(self, clauses: Clauses) -> NDArray[np.bool_]:
        taken: NDArray[np.bool_] = np.diff(kept_offsets(clauses.off, clauses.low != clauses.high)) == 0
        return taken

    def predicates(self, clauses: Clauses, taken: NDArray[np.bool_]) -> Predicates:
        return _keyed(clauses, taken, clauses.low)


@dataclass(frozen=True, slots=True)
class AtMost:
    """`<=`, `<`, and all of a kind."""

    name: str = "at_most"
    form: int = UPWARD
    hashes_key: bool = False

    def takes(self, clauses: Clauses) -> NDArray[np.bool_]:
        return _single(clauses, (clauses.low == clauses.first) & (clauses.high <= clauses.last))

    def predicates(self, clauses: Clauses, taken: NDArray[np.bool_]) -> Predicates:
        return _keyed(clauses, taken, clauses.high)


@dataclass(frozen=True, slots=True)
class AtLeast:
    """`>=` and `>`."""

    name: str = "at_least"
    form: int = DOWNWARD
    hashes_key: bool = False

    def takes(self, clauses: Clauses) -> NDArray[np.bool_]:
        return _single(clauses, clauses.high == clauses.last)

    def predicates(self, clauses: Clauses, taken: NDArray[np.bool_]) -> Predicates:
        return _keyed(clauses, taken, clauses.low)


@dataclass(frozen=True, slots=True)
class EverythingBut:
    """`!=`."""

    name: str = "everything_but"
    form: int = OTHERS
    hashes_key: bool = False

    def takes(self, clauses: Clauses) -> NDArray[np.bool_]:
        taken = np.zeros(len(clauses.off) - 1, np.bool_)
        pairs = clauses.with_intervals(2)
        left = clauses.off[pairs]
        right = left + 1
        taken[pairs] = (
            (clauses.low[left] == clauses.first[left])
            & (clauses.high[left] + 2 == clauses.low[right])
            & (clauses.high[right] == clauses.last[left])
        )
        return taken

    def predicates(self, clauses: Clauses, taken: NDArray[np.bool_]) -> Predicates:
        numbers = np.flatnonzero(taken)
        return Predicates(numbers, clauses.high[clauses.off[numbers]].astype(np.int64) + 1)


@dataclass(frozen=True, slots=True)
class Within:
    """Any intervals."""

    name: str = "within"
    form: int = NODES
    hashes_key: bool = True

    def takes(self, clauses: Clauses) -> NDArray[np.bool_]:
        return np.ones(len(clauses.off) - 1, np.bool_)

    def predicates(self, clauses: Clauses, taken: NDArray[np.bool_]) -> Predicates:
        owners = clauses.owners
        intervals = np.flatnonzero(taken[owners])
        number, nodes = canonical_nodes(clauses.n_ranks[intervals], clauses.low[intervals], clauses.high[intervals])
        return Predicates(owners[intervals[number]], nodes)


OPERATORS: tuple[Operator, ...] = (Equal(), AtMost(), AtLeast(), EverythingBut(), Within())
"""A clause goes to the first that takes it."""


def _single(clauses: Clauses, is_such: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The clauses of one interval, where that is such."""
    taken = np.zeros(len(clauses.off) - 1, np.bool_)
    numbers = clauses.with_intervals(1)
    taken[numbers] = is_such[clauses.off[numbers]]
    return taken


def _keyed(clauses: Clauses, taken: NDArray[np.bool_], keys: Int32) -> Predicates:
    """A predicate for each interval of the clauses taken."""
    owners = clauses.owners
    rows = np.flatnonzero(taken[owners])
    return Predicates(owners[rows], keys[rows].astype(np.int64))
