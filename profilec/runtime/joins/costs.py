"""What each way to ask a conjunction costs, in nanoseconds for one new document.

In: the shape of a conjunction, how many earlier documents there are, and how many have its keys' values. Out: the ways
that are open to it, the cheapest first.

    extreme value, hash probe, key-partitioned sorted probe     probe: whatever the number D of documents
    sorted probe                                                probe + descent log D
    document bit sets       for each comparison a union of bit vectors: bits + D bit, n times
    walk of a group         g documents one by one: probe + g (step + n test)
    scan of columns         scan + D (n + 1) cell

n is the number of comparisons. Where there is a rest, a document costs run more; or estimate, in a scan, if doubles can
tell. What LAST leaves out is neither walked over nor scanned.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from profilec.runtime.joins.conjuncts import Comparison, Conjunction

EXTREME = "extreme value"
HASH = "hash probe"
KEYED = "key-partitioned sorted probe"
SORTED = "sorted probe"
BITS = "document bit sets"
WALK = "walk of a group"
SCAN = "scan of columns"


class Units(NamedTuple):
    """In ns: see the module."""

    probe: float = 10_000
    descent: float = 800
    bits: float = 20_000
    bit: float = 0.05
    step: float = 1_000
    test: float = 500
    run: float = 20_000
    scan: float = 50_000
    cell: float = 3
    estimate: float = 60


UNITS = Units()


class Way(NamedTuple):
    """How a conjunction is asked, and what that costs in ns."""

    name: str
    ns: float


def strategies_of(conjunction: Conjunction, last: int | None) -> tuple[str, ...]:
    """The ways that are open to a conjunction; from the first on, as they are preferred where sizes do not matter."""
    n = len(conjunction.comparisons)
    if last is None and conjunction.rest is None and n < 2:
        if conjunction.keys:
            return (KEYED if n else HASH), WALK, SCAN
        return (EXTREME, BITS, SCAN) if n and conjunction.filter is None else (EXTREME, SCAN)
    if conjunction.keys:
        return WALK, SCAN
    if conjunction.rest is None and conjunction.filter is None and n:
        if last is None and is_range(conjunction.comparisons):
            return SORTED, BITS, SCAN
        return BITS, SCAN
    return (SCAN,)


def strategy_of(conjunction: Conjunction, last: int | None) -> str:
    """The first of them."""
    return strategies_of(conjunction, last)[0]


def is_range(comparisons: tuple[Comparison, ...]) -> bool:
    """Whether they ask for the values between two."""
    if len(comparisons) != 2 or comparisons[0].old != comparisons[1].old:
        return False
    if any(comparison.or_other for comparison in comparisons):
        return False
    return sorted(comparison.operator[0] for comparison in comparisons) == ["<", ">"]


class Sizes(NamedTuple):
    """`n_documents` of the store, of which `n_in_group` have the values of the keys; what LAST says; how many
    comparisons there are; whether there is a rest, and whether that can be estimated."""

    n_documents: int
    n_in_group: int
    last: int | None
    n_comparisons: int
    has_rest: bool
    is_estimated: bool

    @property
    def n_last(self) -> int:
        """Documents that LAST leaves."""
        return self.n_documents if self.last is None else min(self.last, self.n_documents)


def ways_of(conjunction: Conjunction, sizes: Sizes) -> list[Way]:
    """The ways that are open, the cheapest first."""
    ways = [Way(name, cost(name, sizes)) for name in strategies_of(conjunction, sizes.last)]
    return sorted(ways, key=lambda way: way.ns)


def cost(name: str, sizes: Sizes) -> float:
    """What a way costs, in ns."""
    unit, n, n_last = UNITS, sizes.n_comparisons, sizes.n_last
    if name == SORTED:
        return unit.probe + unit.descent * math.log2(sizes.n_documents + 1)
    if name == BITS:
        return n * (unit.bits + sizes.n_documents * unit.bit)
    if name == WALK:
        return unit.probe + min(sizes.n_in_group, n_last) * (unit.step + n * unit.test + sizes.has_rest * unit.run)
    if name == SCAN:
        rest = 0.0 if not sizes.has_rest else unit.estimate if sizes.is_estimated else unit.run
        return unit.scan + n_last * ((n + 1) * unit.cell + rest)
    return unit.probe
