"""`access`: each entry is found through its access predicate, and then its other predicates are checked.

In: sparse documents. Out: the entries all of whose rank tests hold. Each slot has an attribute index of any type
(`indexes.by_name`; Tatbul 2001, 4.1, for most of them) over the tests that are access predicates; what it tells for
the document's rank are the tests that hold, and their entries are the candidates.

    entry    by access test, so that those that are candidates together lie together; those without one come last
    off      the checks of each, its other tests, most selective first: the first that fails ends it
    check    slot, low, high, test   -1, or the test that has several intervals between low and high

Left open, and decided here: equal access predicates are one test of the index, however many entries have them. Where
an entry's access predicate is a bit test (a pattern, a term), no index of ranks can tell it, and the first of its rank
tests that refuses absence stands for it. Entries without any, and those that the planner gave none, are candidates of
every document.

PERF: Python asks the indexes, once for each attribute of the document, and keeps within a budget what they told of a
rank; one kernel goes over all candidates. Most tests have one interval, and are checked without being looked up.

Where some index is on secondary storage, so are all these arrays, in the same file (`store/node_file`), and mapped: a
process then has of its own no more than it writes, and what indexes told.

Invariant: the candidates are the entries whose access test holds, each once, and those without one.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32, gather, kept_offsets, read_only
from profilec.runtime.indexes.by_name import INDEXES, ON_DISK, AttributeIndex, index_name
from profilec.runtime.indexes.pbtree_on_disk import StoredPBTreeIndex, file_index
from profilec.runtime.indexes.posting_lists import offsets
from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.betree.match import set_bit, take_bits
from profilec.runtime.matchers.counters import bits_of
from profilec.runtime.matchers.rank_tests import RankTests, rank_tests
from profilec.runtime.store.node_file import NO_DISK, Disk, Filling, NodeFile, beside, temporary

_FEW = 4
"""Intervals that are looked at one by one."""
_KEPT = 16_000_000
"""How much is kept of what indexes told: tests, and for each rank as many as `_OF_A_RANK` more."""
_OF_A_RANK = 50
_BYTES_OF_KEPT = 8
"""Of the memory that a set is given, at most a half is for what is kept: 4 bytes each."""
_FORMAT = 1
"""Goes up where what is in the file changes."""
_NO_TESTS = array("I")


class Checks(NamedTuple):
    """Places of entries: those found by access test t are `by_test_off[t] .. by_test_off[t + 1]`, the last range those
    of every document. The entry at place p is `entry[p]`, and has the rows `off[p] .. off[p + 1]` of `check` left.

    Test t has the intervals `low[i]..high[i]`, i in `test_off[t] .. test_off[t + 1]`.
    """

    by_test_off: Int32
    entry: Int32
    off: Int32
    check: Int32
    test_off: Int32
    low: Int32
    high: Int32


class Scratch(NamedTuple):
    """What the kernel writes: the document's rank in each slot, and bits of entries."""

    ranks: Int32
    bits: NDArray[np.uint64]
    summary: NDArray[np.uint64]


class State(NamedTuple):
    """What an image is turned into. `access`: per entry, by its place among its own, its access test, -1 for none;
    `slot`: of each test its slot."""

    access: Int32
    slot: Int32
    checks: Checks


class AccessFinder:
    """See the module."""

    __slots__ = ("_given", "_indexes", "_most_kept", "_n_kept", "_n_slots", "_told", "access", "checks", "n_entries")

    def __init__(
        self,
        image: Image,
        own: NDArray[np.bool_],
        index_of: Mapping[str, str] | None = None,
        disk: Disk = NO_DISK,
    ) -> None:
        """`own`: the entries that it is to find; `index_of`: by attribute or expression, the name of its index; `disk`:
        where one on secondary storage is, and how much memory there is."""
        names = {number: index_name(slot, index_of or {}) for number, slot in enumerate(image.slots)}
        stored = [slot for slot, name in names.items() if name == ON_DISK]
        file = _file_of(image, own, stored, disk) if stored else None
        state = state_of(image, own) if file is None else _mapped(file)
        self.n_entries, self._n_slots = len(state.access), len(image.slots)
        self.access = state.access
        self.checks = state.checks
        self._given = tuple(self.checks)
        self._indexes: dict[int, AttributeIndex] = {}
        for slot, part in _parts(state.slot, state.access):
            if file is not None and names[slot] == ON_DISK:
                self._indexes[slot] = StoredPBTreeIndex.of(file, str(slot))
            else:
                self._indexes[slot] = INDEXES[names[slot]](part, *_intervals(state.checks, part))
        self._told: dict[tuple[int, int], array[int]] = {}
        self._n_kept = 0
        self._most_kept = _KEPT if disk.memory is None else min(_KEPT, disk.memory // _BYTES_OF_KEPT)

    def scratch(self) -> Scratch:
        """What one thread writes."""
        return Scratch(np.zeros(self._n_slots, np.int32), *bits_of(self.n_entries))

    def holding(self, slots: Int32, ranks: Int32) -> NDArray[np.uint32]:
        """The access tests that hold for a document."""
        found, told = array("I"), self._told
        for key in zip(slots.tolist(), ranks.tolist(), strict=True):
            tests = told.get(key)
            found += self._ask(key) if tests is None else tests
        return np.frombuffer(found, np.uint32) if found else _NONE

    def _ask(self, key: tuple[int, int]) -> array[int]:
        """What the index of a slot tells of a rank."""
        slot, rank = key
        if slot not in self._indexes:
            return _NO_TESTS
        tests = self._indexes[slot].entries_at(rank).to_array()
        if self._n_kept > self._most_kept:
            self._told.clear()
            self._n_kept = 0
        self._told[key] = tests
        self._n_kept += _OF_A_RANK + len(tests)
        return tests

    def probes(self) -> dict[int, Callable[[int], int]]:
        """By slot, how many entries its index gives for a rank."""
        off = self.checks.by_test_off

        def n_found(index: AttributeIndex, rank: int) -> int:
            tests = np.frombuffer(index.entries_at(rank).to_array(), np.uint32)
            return int((off[tests + 1] - off[tests]).sum())

        return {slot: partial(n_found, index) for slot, index in self._indexes.items()}

    def n_candidates(self, slots: Int32, ranks: Int32) -> int:
        """How many entries are checked for a document."""
        off, tests = self.checks.by_test_off, self.holding(slots, ranks)
        return int((off[tests + 1] - off[tests]).sum() + off[-1] - off[-2])

    def find(
        self,
        scratch: Scratch,
        doc_off: NDArray[np.int64],
        slots: Int32,
        ranks: Int32,
        first: int,
        off: NDArray[np.int64],
        out: Int32,
    ) -> int:
        """See `SparseFinder`."""
        n, document = 0, first
        for start, end in pairwise(doc_off[first:].tolist()):
            if n + self.n_entries + 2 > len(out):
                break
            own_slots, own_ranks = slots[start:end], ranks[start:end]
            tests = self.holding(own_slots, own_ranks)
            n = check_candidates(tests, own_slots, own_ranks, self._given, tuple(scratch), out, n)
            document += 1
            off[document] = n
        return document


_NONE = np.zeros(0, np.uint32)
_NONE.flags.writeable = False


def access_rows(tests: RankTests, has_access: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Per entry, the first row of `tests.tests` that asserts, -1 for none or where it has no access predicate.

    Tests stand most selective first, so that it is the image's own access predicate where that is a rank test.
    """
    rows = np.flatnonzero(~tests.refutes[tests.tests])
    owners = tests.owners[rows]
    is_first = np.append(True, owners[1:] != owners[:-1])[: len(owners)]
    found = np.full(len(tests.entries), -1, np.int64)
    found[owners[is_first]] = rows[is_first]
    found[~has_access] = -1
    return found


def _has_access(image: Image, own: NDArray[np.bool_]) -> NDArray[np.bool_]:
    has_access: NDArray[np.bool_] = image.entry_access[own] >= 0
    return has_access


def _checks(tests: RankTests, rows: NDArray[np.int64], access: Int32) -> Checks:
    n_tests = len(tests.slot)
    group = np.where(access < 0, n_tests, access)
    entry = np.argsort(group, kind="stable").astype(np.int32)
    is_left = np.ones(len(tests.tests), np.bool_)
    is_left[rows[rows >= 0]] = False
    left, off = gather(kept_offsets(tests.off, is_left), tests.tests[is_left], entry)
    check = _rows(tests)[left]
    columns = offsets(group, n_tests + 1), entry, off.astype(np.int32), check, tests.test_off, tests.low, tests.high
    return Checks(*map(read_only, columns))  # as they are where they are mapped: the kernel is compiled once


def _rows(tests: RankTests) -> Int32:
    """The row of `Checks.check` of each test; of one that never holds, an empty interval."""
    n_intervals = np.diff(tests.test_off)
    filled = np.flatnonzero(n_intervals)
    rows = np.full((len(n_intervals), 4), -1, np.int32)
    rows[:, 0] = tests.slot
    rows[:, 2] = -2
    rows[filled, 1] = tests.low[tests.test_off[filled]]
    rows[filled, 2] = tests.high[tests.test_off[filled + 1] - 1]
    several = np.flatnonzero(n_intervals > 1)
    rows[several, 3] = several
    return rows


def state_of(image: Image, own: NDArray[np.bool_]) -> State:
    """Of some entries of an image."""
    tests = rank_tests(image, own)
    rows = access_rows(tests, _has_access(image, own))
    access = np.where(rows < 0, -1, tests.tests[rows] if len(tests.tests) else -1).astype(np.int32)
    return State(access, tests.slot, _checks(tests, rows, access))


def _parts(slot_of: Int32, access: Int32) -> Iterator[tuple[int, Int32]]:
    """By slot, the access tests on it."""
    is_access = np.zeros(len(slot_of), np.bool_)
    is_access[access[access >= 0]] = True
    numbers = np.flatnonzero(is_access).astype(np.int32)
    numbers = numbers[np.argsort(slot_of[numbers], kind="stable")]
    for part in np.split(numbers, np.flatnonzero(np.diff(slot_of[numbers])) + 1):
        if len(part):
            yield int(slot_of[part[0]]), part


def _intervals(checks: Checks, part: Int32) -> tuple[Int32, Int32, Int32]:
    """The intervals of some tests: offsets, low, high."""
    low, cut = gather(checks.test_off, checks.low, part)
    high, _ = gather(checks.test_off, checks.high, part)
    return cut.astype(np.int32), low, high


def _file_of(image: Image, own: NDArray[np.bool_], stored: Sequence[int], disk: Disk) -> NodeFile:
    """The file of the state, and of the indexes of some slots."""

    def fill(filling: Filling) -> None:
        state = state_of(image, own)
        for slot, part in _parts(state.slot, state.access):
            if slot in stored:
                file_index(filling, str(slot), part, *_intervals(state.checks, part))
        for name, column in (("access", state.access), ("slot", state.slot), *state.checks._asdict().items()):
            filling.put(name, column.reshape(-1))

    if disk.beside is None:
        return temporary(fill, len(stored))
    digest = hashlib.blake2b(repr((_FORMAT, stored)).encode(), digest_size=8)
    arrays = (image.entry_off, image.entry_tests, image.entry_access, image.test_slot, image.test_off)
    for column in (own, *arrays, image.test_low, image.test_high):
        digest.update(column.data)
    return beside(disk.beside, digest.hexdigest(), fill, len(stored))


def _mapped(file: NodeFile) -> State:
    columns = {name: file.array(name) for name in Checks._fields}
    checks = Checks(**columns | {"check": columns["check"].reshape(-1, 4)})
    return State(file.array("access"), file.array("slot"), checks)


@kernel
def check_candidates(tests: Any, slots: Any, document_ranks: Any, given: Any, scratch: Any, out: Any, n: int) -> int:
    """Appends the entries found by the access tests, and those without one, that hold; how many `out` has."""
    checks = Checks(*given)
    ranks, bits, summary = scratch
    for i in range(len(slots)):
        if slots[i] < len(ranks):  # no pseudo-slot
            ranks[slots[i]] = document_ranks[i]
    for i in range(len(tests) + 1):
        test = np.int64(tests[i]) if i < len(tests) else len(checks.by_test_off) - 2
        for place in range(checks.by_test_off[test], checks.by_test_off[test + 1]):
            row, end = checks.off[place], checks.off[place + 1]
            while row < end and holds(checks, row, ranks):
                row += 1
            if row == end:
                set_bit(bits, summary, checks.entry[place])
    for i in range(len(slots)):
        if slots[i] < len(ranks):
            ranks[slots[i]] = 0
    return take_bits(bits, summary, out, n)


@inlined
def holds(checks: Any, row: int, ranks: Any) -> bool:
    """Whether one check does."""
    rank, test = ranks[checks.check[row, 0]], checks.check[row, 3]
    if rank < checks.check[row, 1] or rank > checks.check[row, 2]:
        return False
    if test < 0:
        return True
    start, end = checks.test_off[test], checks.test_off[test + 1]
    while end - start > _FEW:
        middle = (start + end) >> 1
        if checks.low[middle] <= rank:
            start = middle
        else:
            end = middle
    is_inside = False
    for j in range(start, end):
        is_inside |= checks.low[j] <= rank <= checks.high[j]
    return is_inside
