"""The lists of OpIndex: entries by pivot, their predicates by operator, each list in segments (OpIndex, 4.1 to 4.3).

In: rank tests. Out: flat arrays. Partition 0 has the entries without a pivot, partition p those of the p-th slot that
is one. List `partition * n_operators + operator` is cut into segments by attribute, these into predicates:

    list_off    list -> segments       attribute a is in segment a mod (number of segments), which is a power of two
    seg_off     segment -> predicates  sorted by (attribute, key)
    signature   per segment            the bits of its (attribute, key), or of its attributes
    key         attribute << 32 | key
    place       the counter of the predicate's conjunction; ~place where it refutes

Counters of a partition lie together (the paper's arrays V), in the order of entries: `entry[place]`, `needed[place]`.

Left open by the paper, or by its data model, and decided here. Equally rare attributes: the pivot is the one that the
entry asks first, as in the paper's example. A document's attributes must hold all of a pivot's, so a test that accepts
absence cannot be one; it refutes instead (`rank_tests`), and an entry that has no other is in partition 0, which every
document reads. Segments: the paper has 32 a list, here there are no more than predicates, for most of thousands of
lists are short. Insertion: an image never changes, so lists are sorted once.

Invariant: an entry's predicates are all in the lists of its partition, and `needed` is the number that must be found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32, gather
from profilec.runtime.indexes.posting_lists import offsets
from profilec.runtime.kernels import inlined
from profilec.runtime.matchers.opindex.operators import OPERATORS, Clauses
from profilec.runtime.matchers.rank_tests import RankTests

SEGMENTS = 32
"""The most segments of a list (OpIndex, 7.1)."""


class Lists(NamedTuple):
    """See the module. `partition[s]`: that of slot s, -1 where it is no pivot; `form, hashes_key`: of each operator."""

    partition: Int32
    form: Int32
    hashes_key: NDArray[np.bool_]
    list_off: Int32
    seg_off: Int32
    signature: NDArray[np.uint64]
    key: NDArray[np.int64]
    place: Int32
    entry: Int32
    needed: Int32
    bounds: Int32

    @property
    def n_without_pivot(self) -> int:
        """These have the first places."""
        return int((self.needed == 0).sum())


def lists_of(
    tests: RankTests, frequency: Sequence[float] | NDArray[Any] | None = None, segments: int = SEGMENTS
) -> Lists:
    """Builds all lists. `frequency`: how often documents have each slot's attribute; as often as entries ask for it,
    where nothing better is known (OpIndex, 4.1). `segments`: a power of two."""
    pivot = pivots(tests, entry_frequency(tests) if frequency is None else np.asarray(frequency))
    is_pivot = np.zeros(tests.n_slots, np.bool_)
    is_pivot[pivot[pivot >= 0]] = True
    partition = np.where(is_pivot, np.cumsum(is_pivot), -1).astype(np.int32)
    of_entry = np.zeros(len(pivot), np.int32)
    of_entry[pivot >= 0] = partition[pivot[pivot >= 0]]
    entry = np.argsort(of_entry, kind="stable").astype(np.int32)
    place_of = np.empty(len(entry), np.int32)
    place_of[entry] = np.arange(len(entry), dtype=np.int32)

    off, operator, key, n_needed = _predicates_of_tests(tests)
    rows, cut = gather(off, np.arange(len(key), dtype=np.int32), tests.tests)
    owner, test = np.repeat(tests.owners, np.diff(cut)), np.repeat(tests.tests, np.diff(cut))
    number = of_entry[owner].astype(np.int64) * len(OPERATORS) + operator[rows]
    place = np.where(tests.refutes[test], ~place_of[owner], place_of[owner])
    n_lists = (int(is_pivot.sum()) + 1) * len(OPERATORS)
    list_off, segment = _segments(number, tests.slot[test], n_lists, segments)
    keys = (tests.slot[test].astype(np.int64) << 32) | key[rows]
    order = np.lexsort((keys, segment))
    hashed = np.array([one.hashes_key for one in OPERATORS])[operator[rows]]
    signature = np.zeros(int(list_off[-1]), np.uint64)
    bits = _bit(tests.slot[test].astype(np.uint64), np.where(hashed, key[rows], 0).astype(np.uint64))
    np.bitwise_or.at(signature, segment, np.uint64(1) << bits)
    needed = np.bincount(tests.owners, n_needed[tests.tests], len(entry)).astype(np.int32)
    return Lists(
        partition,
        np.array([one.form for one in OPERATORS], np.int32),
        np.array([one.hashes_key for one in OPERATORS]),
        list_off,
        offsets(segment, int(list_off[-1])),
        signature,
        keys[order],
        place[order].astype(np.int32),
        entry,
        needed[entry],
        tests.bounds,
    )


def entry_frequency(tests: RankTests) -> NDArray[np.int64]:
    """How many entries ask for each slot."""
    asked = np.unique(tests.owners.astype(np.int64) * tests.n_slots + tests.slot[tests.tests])
    return np.bincount(asked % max(tests.n_slots, 1), minlength=tests.n_slots)


def pivots(tests: RankTests, frequency: NDArray[Any]) -> Int32:
    """Per entry the slot of its rarest attribute, of equally rare ones that of the first test; -1 for none."""
    rows = np.flatnonzero(~tests.refutes[tests.tests])
    slots, owners = tests.slot[tests.tests[rows]], tests.owners[rows]
    order = np.lexsort((rows, frequency[slots], owners))
    is_first = np.append(True, owners[order][1:] != owners[order][:-1])[: len(rows)]
    found = np.full(len(tests.entries), -1, np.int32)
    found[owners[order][is_first]] = slots[order][is_first]
    return found


def _predicates_of_tests(tests: RankTests) -> tuple[Int32, Int32, NDArray[np.int64], Int32]:
    """Per test its predicates, as offsets, operators and keys; and how many of them must be found."""
    clauses, test_of = _clauses(tests)
    left = np.ones(len(test_of), np.bool_)
    owners, operators, keys = [], [], []
    for number, operator in enumerate(OPERATORS):
        taken = left & operator.takes(clauses)
        left &= ~taken
        found = operator.predicates(clauses, taken)
        owners.append(test_of[found.clause])
        operators.append(np.full(len(found.clause), number, np.int32))
        keys.append(found.key)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    n_needed = np.bincount(test_of, minlength=len(tests.slot)).astype(np.int32)
    n_needed[tests.refutes] = 0
    off = offsets(owner, len(tests.slot))
    return off, np.concatenate(operators)[order], np.concatenate(keys)[order], n_needed


def _clauses(tests: RankTests) -> tuple[Clauses, Int32]:
    """The clauses of all tests, with their tests: one a test, but two, `>=` and `<=`, for an interval of one
    kind between both ends of it."""
    off, low, high = tests.of_present()
    n = np.diff(off)
    slot = np.repeat(tests.slot, n)
    first, last = _kind_of(tests.bounds, slot, low)
    is_between = (low > first) & (high < last) & (low < high) & np.repeat((n == 1) & ~tests.refutes, n)
    between = np.flatnonzero(is_between)
    test_of = np.concatenate((np.arange(len(n)), np.repeat(np.arange(len(n)), n)[between])).astype(np.int32)
    at_least = high.copy()
    at_least[between] = last[between]
    rows = np.concatenate((np.arange(len(low)), between))
    clauses = Clauses(
        np.concatenate((off, off[-1] + 1 + np.arange(len(between)))).astype(np.int32),
        np.concatenate((low, first[between])),
        np.concatenate((at_least, high[between])),
        first[rows],
        last[rows],
        tests.n_ranks[slot[rows]],
    )
    return clauses, test_of


def _kind_of(bounds: Int32, slots: Int32, ranks: Int32) -> tuple[Int32, Int32]:
    """The first and the last rank of the kind of each rank."""
    of_slot = bounds[slots]
    kind = (of_slot <= ranks[:, None]).sum(axis=1) - 1
    rows = np.arange(len(slots))
    return of_slot[rows, kind], of_slot[rows, kind + 1] - 1


def _segments(number: NDArray[np.int64], slots: Int32, n_lists: int, most: int) -> tuple[Int32, NDArray[np.int64]]:
    """The directory of lists, and of each predicate its segment."""
    n_predicates = np.bincount(number, minlength=n_lists)
    n_segments = np.minimum(most, 1 << np.frexp(np.maximum(n_predicates, 1))[1].astype(np.int64) - 1)
    n_segments[n_predicates == 0] = 0
    list_off = np.zeros(n_lists + 1, np.int32)
    np.cumsum(n_segments, out=list_off[1:])
    return list_off, list_off[number] + (slots & (n_segments[number] - 1))


def _bit(attribute: Any, key: Any) -> Any:
    """The bit of a signature, 0 to 63, for an attribute and a key (OpIndex, 4.2: h); all of them uint64."""
    return (((attribute * _ODD) ^ (key * _OTHER)) >> _SHIFT) & _LOW


_ODD, _OTHER = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77)
"""Products of 31 and 32 bits with these do not overflow."""
_SHIFT, _LOW = np.uint64(26), np.uint64(63)
bit_of = inlined(_bit)
"""`_bit`, for kernels."""
