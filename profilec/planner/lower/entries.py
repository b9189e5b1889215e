"""Entries: the conjunctions that are indexed, each with its access predicate and its residual.

In: rows of plain conjunctions, and skeletons of the profiles that are none. Out: entries such that a profile's
condition holds for a document exactly when all tests and the residual of one of its entries hold.

The access predicate of an AND is its cheapest child's; of an OR, the union of its children's.
What holds on absence, joins and negated terms give none, and an OR that holds one of those has
none; so no CNF or DNF is built to find it, and there are never more entries than leaves.

LAYOUT: entries are in the order of their profiles, and the tests of each most selective first; so they are kept as
places in that order (`Order`) until all is done.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.leaves import Op, Rows
from profilec.planner.lower.ranks import offsets, spans
from profilec.planner.lower.skeleton import Connectives
from profilec.runtime.apart import apart

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Floats = NDArray[np.float64]

_NO_BOUND, _LOWER, _UPPER = 0, 1, 2
_RANGES = {
    (Op.AT_LEAST, Op.AT_MOST): Op.BETWEEN,
    (Op.GREATER, Op.LESS): Op.OPEN_BETWEEN,
    (Op.GREATER, Op.AT_MOST): Op.LEFT_OPEN,
    (Op.AT_LEAST, Op.LESS): Op.RIGHT_OPEN,
}


class Pairs(NamedTuple):
    """Rows that are bounds of one slot in one AND: `x >= 1` and `x < 5` are `1 <= x < 5`, a row of its own."""

    lower: Int32
    upper: Int32


class Conjunctions(NamedTuple):
    """Plain conjunctions: CSR of rows. Where bounds were merged, ~p is the row of pair p."""

    off: Int64
    rows: Int32


class Entries(NamedTuple):
    """Entries as columns: CSR of tests, CSR of profiles, and a residual's number or -1."""

    off: Int64
    tests: Int32
    residual: Int32
    profile_off: Int64
    profiles: Int32


_NONE = np.zeros(0, np.int32)
NO_ENTRIES = Entries(np.zeros(1, np.int64), _NONE, _NONE, np.zeros(1, np.int64), _NONE)


class Order(NamedTuple):
    """Tests by what they let through, the most selective first (ties by id): `place` of each test, and back."""

    place: Int32
    test: Int32


def bounds_of(rows: Rows) -> NDArray[np.uint8]:
    """Whether each row is a lower or an upper bound (1, 2), or none (0)."""
    bound = np.zeros(len(rows.op), np.uint8)
    bound[(rows.op == Op.GREATER) | (rows.op == Op.AT_LEAST)] = _LOWER
    bound[(rows.op == Op.LESS) | (rows.op == Op.AT_MOST)] = _UPPER
    bound[rows.negated > 0] = _NO_BOUND
    return bound


def ranges(rows: Rows, pairs: Pairs) -> Rows:
    """The rows that say what pairs of bounds say."""
    of_ops = np.zeros((len(Op), len(Op)), np.int32)
    for ops, merged in _RANGES.items():
        of_ops[ops] = merged
    lower, upper = pairs
    return Rows(
        slot=rows.slot[lower],
        op=of_ops[rows.op[lower], rows.op[upper]],
        kind=rows.kind[lower],
        first=rows.first[lower],
        second=rows.first[upper],
        negated=np.zeros(len(lower), np.int32),
    )


def merge_bounds(conjunctions: Conjunctions, rows: Rows) -> tuple[Conjunctions, Pairs]:
    """Makes two bounds of one slot one row, so that an entry tests an attribute once.

    The first row of a slot takes the first bound that makes a range with it.
    """
    off, of_entry = conjunctions
    bound = bounds_of(rows)[of_entry]
    owner = np.repeat(np.arange(len(off) - 1, dtype=np.int32), np.diff(off))
    # PERF: only the entries that have bounds of both sorts are sorted.
    sorts = np.zeros(len(off) - 1, np.uint8)
    sorts[owner[bound == _LOWER]] |= _LOWER
    sorts[owner[bound == _UPPER]] |= _UPPER
    chosen = np.flatnonzero((sorts == _LOWER | _UPPER)[owner])
    key = owner[chosen].astype(np.int64) << 32 | (rows.slot[of_entry[chosen]] + 1)
    order = np.argsort(key, kind="stable")
    key, chosen = key[order], chosen[order]
    begins = np.ones(len(key), np.bool_)
    begins[1:] = key[1:] != key[:-1]
    group = np.cumsum(begins) - 1
    first = chosen[np.flatnonzero(begins)][group]
    one, other = of_entry[first], of_entry[chosen]
    taken = np.flatnonzero((bound[first] + bound[chosen] == _LOWER | _UPPER) & (rows.kind[one] == rows.kind[other]))
    taken = taken[np.diff(group[taken], prepend=-1) > 0]
    one, other, first, second = one[taken], other[taken], first[taken], chosen[taken]
    is_lower = bound[first] == _LOWER
    pairs, number = _distinct(Pairs(np.where(is_lower, one, other), np.where(is_lower, other, one)))
    merged = of_entry.copy()
    merged[first] = ~number
    sizes = np.diff(off)
    sizes -= np.bincount(owner[second], minlength=len(sizes))
    return Conjunctions(offsets(sizes), np.delete(merged, second)), pairs


def _distinct(pairs: Pairs) -> tuple[Pairs, Int32]:
    """The distinct pairs, and the number of each pair among them."""
    keys, number = np.unique(pairs.lower.astype(np.int64) << 32 | pairs.upper, return_inverse=True)
    return Pairs((keys >> 32).astype(np.int32), keys.astype(np.int32)), number.astype(np.int32)


def order_of(costs: Floats) -> Order:
    """The order of tests by cost."""
    test = np.argsort(costs, kind="stable").astype(np.int32)
    place = np.empty_like(test)
    place[test] = np.arange(len(test), dtype=np.int32)
    return Order(place, test)


def plain_entries(off: Int64, tests: Int32, profiles: Int32) -> Entries:
    """An entry for each conjunction of tests."""
    n = len(profiles)
    return Entries(off, tests, np.full(n, -1, np.int32), np.arange(n + 1), profiles)


FEW = 50
"""Profiles that are lowered without compiling."""


class Expressions:
    """The profiles that are no plain conjunction, on their way to entries; kernels are not compiled for a few."""

    @np.errstate(over="ignore")  # hashes wrap around
    def __init__(self, connectives: Connectives, roots: Int32, rows: Rows, n_slots: int) -> None:
        from profilec.planner.lower import entry_kernels, lists

        if len(roots) > FEW:
            lists.compile_kernels()
        self._kernels = entry_kernels
        self._connectives = connectives
        self._roots = roots
        simplified = apart(entry_kernels.simplify, *connectives, rows.slot, rows.kind, bounds_of(rows), n_slots)
        self._simplified = simplified
        counts, self._reached = apart(
            entry_kernels.count_rows,
            connectives.part_off,
            connectives.parts,
            simplified.pair_off,
            roots,
            len(rows.slot),
        )
        self.pairs, self._number_of_pair = _distinct(Pairs(simplified.lower, simplified.upper))
        self.row_counts: Int64 = counts[: len(rows.slot)]
        """Profiles that have each row."""
        self.pair_counts: Int64 = np.bincount(
            self._number_of_pair, counts[len(rows.slot) :], minlength=len(self.pairs.lower)
        ).astype(np.int64)
        """Profiles that have each pair, as often as they have it."""

    @np.errstate(over="ignore")
    def entries(
        self, test_of_row: Int32, test_of_pair: Int32, costs: Floats, n_joins: int, profiles: Int32
    ) -> tuple[Entries, Int32, NDArray[np.int32]]:
        """The entries of the roots, whose profiles are given, and all residual code: what cuts it, and its rows."""
        kernels = self._kernels
        known, lists, of_lists = apart(
            kernels.number_expressions,
            self._connectives.sort,
            self._reached,
            self._simplified,
            np.concatenate((test_of_row, test_of_pair[self._number_of_pair])),
            costs,
            n_joins,
        )
        roots = self._roots.copy()
        is_connective = (roots < 0) & (~roots & 3 == kernels.CONNECTIVE)
        roots[is_connective] = known[~roots[is_connective] >> 2]
        covers, residuals = apart(kernels.cover, roots, lists, of_lists, costs)
        residual_off, code = apart(kernels.residual_code, residuals, lists)
        entries = Entries(
            covers.off,
            covers.tests,
            covers.residual,
            np.arange(len(covers.place) + 1),
            profiles[covers.place],
        )
        return entries, residual_off, code.reshape(-1, 2)


def joined(one: Entries, other: Entries) -> Entries:
    """The entries of two sets of profiles in one, ordered by profile."""
    if not len(other.residual):
        return one
    sizes = np.concatenate((np.diff(one.off), np.diff(other.off)))
    tests = np.concatenate((one.tests, other.tests))
    profiles = np.concatenate((one.profiles, other.profiles))
    residual = np.concatenate((one.residual, other.residual))
    entries = Entries(offsets(sizes), tests, residual, np.arange(len(sizes) + 1), profiles)
    return taken(entries, np.argsort(profiles, kind="stable"))


def taken(entries: Entries, chosen: Int64) -> Entries:
    """The chosen entries, each of one profile, in the order chosen."""
    sizes = np.diff(entries.off)[chosen]
    return Entries(
        offsets(sizes),
        entries.tests[spans(entries.off[chosen], sizes)],
        entries.residual[chosen],
        np.arange(len(chosen) + 1),
        entries.profiles[chosen],
    )


def drop_impossible(entries: Entries, impossible: NDArray[np.bool_]) -> Entries:
    """Without the entries that hold a test no rank satisfies: `x = NULL`, `a < 1 AND a < NULL`."""
    if not impossible.any():
        return entries
    hits = np.flatnonzero(impossible[entries.tests])
    possible = np.ones(len(entries.residual), np.bool_)
    possible[np.searchsorted(entries.off, hits, side="right") - 1] = False
    return taken(entries, np.flatnonzero(possible))


def ordered(entries: Entries, order: Order) -> Entries:
    """Each entry's tests in their order, and none twice."""
    key = np.repeat(np.arange(len(entries.residual)), np.diff(entries.off))
    key <<= 32
    key |= order.place[entries.tests]
    key.sort()
    kept = np.ones(len(key), np.bool_)
    kept[1:] = key[1:] != key[:-1]
    if not kept.all():
        key = key[kept]
        entries = entries._replace(off=offsets(np.bincount(key >> 32, minlength=len(entries.residual))))
    return entries._replace(tests=order.test[key.astype(np.int32)])  # the lower half


def share_equal(entries: Entries) -> Entries:
    """Entries with the same tests and residual become one with many profiles, where the first of them stood."""
    signature = _signatures(entries)
    order = np.argsort(signature, kind="stable")
    begins = np.ones(len(order), np.bool_)
    begins[1:] = signature[order[1:]] != signature[order[:-1]]
    first = np.empty_like(order)
    first[order] = order[begins][np.cumsum(begins) - 1]
    first = _verified(entries, first)
    leaders, counts = np.unique(first, return_counts=True)
    if len(leaders) == len(first):
        return entries
    merged = taken(entries, leaders)
    return merged._replace(profile_off=offsets(counts), profiles=entries.profiles[np.argsort(first, kind="stable")])


def _signatures(entries: Entries) -> NDArray[np.uint64]:
    """A number for each entry: equal for equal ones, and hardly ever for others."""
    mixed = entries.tests.astype(np.uint64)
    mixed += np.uint64(1)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    running = np.zeros(len(mixed) + 1, np.uint64)
    np.cumsum(mixed, out=running[1:])
    signature = running[entries.off[1:]] - running[entries.off[:-1]]
    signature += entries.residual.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    return signature


def _verified(entries: Entries, first: Int64) -> Int64:
    """`first` where the entries really are equal test by test; a collision of signatures shares nothing."""
    followers = np.flatnonzero(first != np.arange(len(first)))
    leaders = first[followers]
    sizes = np.diff(entries.off)
    equal = (sizes[followers] == sizes[leaders]) & (entries.residual[followers] == entries.residual[leaders])
    first[followers[~equal]] = followers[~equal]
    followers, leaders = followers[equal], leaders[equal]
    sizes = sizes[followers]
    own = entries.tests[spans(entries.off[followers], sizes)]
    differ = own != entries.tests[spans(entries.off[leaders], sizes)]
    if differ.any():
        wrong = np.repeat(followers, sizes)[differ]
        first[wrong] = wrong
    return first


def access_tests(entries: Entries, costs: Floats) -> Int32:
    """Per entry its access predicate: the first test, since tests stand most selective first; -1 for none."""
    access = np.full(len(entries.residual), -1, np.int32)
    filled = entries.off[1:] > entries.off[:-1]
    leading = entries.tests[entries.off[:-1][filled]]
    access[filled] = np.where(np.isinf(costs[leading]), -1, leading)
    return access


def image_fields(entries: Entries, costs: Floats) -> dict[str, Any]:
    """Entries as fields of an image, with the access predicate that the costs of tests give each."""
    return {
        "entry_off": entries.off.astype(np.int32),
        "entry_tests": entries.tests,
        "entry_access": access_tests(entries, costs),
        "entry_residual": entries.residual,
        "entry_profile_off": entries.profile_off.astype(np.int32),
        "entry_profiles": entries.profiles,
    }
