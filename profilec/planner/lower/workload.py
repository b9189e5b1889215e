"""What matching a document is expected to come to: the sizes that cost formulas are made of.

In: an image, what is expected of each test, and a sample of documents in rank space, or none. Out: a `Workload`, of the
whole and of each group of entries: those that one attribute gives access to.

How many entries have their first test hold is the sum of its shares over all entries. What is left of them after one
more test, two more, or all, is seen in some entries of each group (`prefixes`).

PERF: at most MOST_ENTRIES entries are looked at, evenly spread, whatever there are: two seconds are all that planning a
million profiles may take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.expected import Expected, Floats
from profilec.planner.lower.prefixes import prefixes
from profilec.runtime.element_terms import are_run
from profilec.runtime.image import Image, Int32, gather
from profilec.runtime.joins.literals import asks_joins_alone
from profilec.runtime.matchers.groups import NO_GROUP, group_of
from profilec.runtime.sampled import Sampled

MOST_ENTRIES = 2_000
ENOUGH = 20
"""Entries of a group that have to be looked at before it counts what they tell, and not what all entries do."""


DENSE, SHARED = 1 / 64, 64
"""The share of documents, and the entries with one access test, from which on the tree has entries in leaves that are
looked at 64 at a time."""
FEW = 32
"""Entries up to which their profiles are put together one by one, by `runtime.execute`."""
KEPT, OF_A_RANK = 16_000_000, 50
"""How many tests the matcher `access` keeps, and what a value costs of these beside the tests that hold."""
BYTES_OF_KEPT = 8
"""Bytes of a limited memory for each."""
FIRST = 0.001
"""The share of values that come for the first time, of documents without end."""


class IndexLoad(NamedTuple):
    """An index of one attribute: `n_intervals` are filed in it, `n_points` of which are one constant, over `n_cells`
    elementary intervals; a value is in `n_held` of them."""

    n_intervals: int
    n_points: int
    n_cells: int
    n_held: float


class SlotLoad(NamedTuple):
    """One attribute or expression. `presence`: the share of documents that have it. `n_entries` have a test on it,
    which `whole` files. It gives access to `n_access` entries, of which a document finds `n_found`; `access` files the
    tests that find them, each once."""

    name: str
    presence: float
    n_entries: int
    whole: IndexLoad
    n_access: int
    n_found: float
    access: IndexLoad


class Workload(NamedTuple):
    """For one document, as expected:

    `n_intervals`: those of the tests, each test once; `present`: attributes that profiles ask for; `asked`: the
    share of values of which `access`, which keeps what an index told, asks the index; `held`: tests that
    hold, over all entries; `found`: entries whose access predicate holds, and those without one (`n_unselective`);
    `dense`: of these, entries that a share of DENSE of the documents find, or more, and those with an access test that
    many have; `looked_at`: tests of those found
    that are looked at until one fails; `partitioned`: entries whose first two tests hold; `rows`: entries all of whose
    tests hold, `matched` their profiles; `n_checked`: of these, entries that Python has to look at.

    Of a matcher that knows ranks alone, and no patterns or terms: `by_rank`: entries whose first rank test holds, and
    those without one; `left`: entries all of whose rank tests hold; `few`: the part of these that are the first FEW of
    the whole set; `n_decided`: the part of these that Python has to look at.

    `groups`: the same of the entries that one slot gives access to, which is then the only one of `slots`; last those
    that none does.
    """

    n_entries: int
    n_tests: int
    n_intervals: float
    n_unselective: int
    n_sampled: int
    present: float
    asked: float
    held: float
    found: float
    dense: float
    looked_at: float
    partitioned: float
    rows: float
    matched: float
    n_checked: float
    by_rank: float
    left: float
    few: float
    n_decided: float
    slots: tuple[SlotLoad, ...]
    groups: tuple[Workload, ...] = ()

    @property
    def attribute(self) -> str:
        """Of a group, the attribute or expression that gives access; "" for none."""
        return self.slots[0].name if self.slots else ""


def workload_of(image: Image, expected: Expected, sampled: Sampled | None) -> Workload:
    """What the image's entries, but for those that ask joins alone, come to for a document."""
    entries = np.flatnonzero(~asks_joins_alone(image)).astype(np.int32)
    shares = np.minimum(expected.shares, 1.0)
    slots = dict(_slots(image, entries, expected, shares))
    present = float(expected.presence[: len(image.slots)].sum())
    asked = _share_asked(slots.values())
    nothing = Workload(0, 0, 0.0, 0, expected.n_sampled, present, asked, *(0.0,) * 12, slots=())
    groups = list(_groups(image, entries, shares, sampled, slots, nothing))
    return together(groups, nothing)._replace(slots=tuple(slots.values()))


def together(groups: Sequence[Workload], nothing: Workload) -> Workload:
    """The entries of some groups as one workload, in which slots are those that give access. `nothing`: one of the same
    documents."""
    sizes = {name: sum(getattr(group, name) for group in groups) for name in _SUMS}
    slots = tuple(slot for group in groups for slot in group.slots)
    return nothing._replace(**sizes, slots=slots, groups=tuple(groups))


_SUMS = tuple(name for name in Workload._fields if name not in ("n_sampled", "present", "asked", "slots", "groups"))


def in_memory_of(workload: Workload, n_bytes: int) -> Workload:
    """The same where `access` keeps no more of what indexes told than such a memory lets it."""
    asked = _share_asked(workload.slots, min(KEPT, n_bytes // BYTES_OF_KEPT))
    return workload._replace(asked=asked, groups=tuple(group._replace(asked=asked) for group in workload.groups))


def _share_asked(slots: Iterable[SlotLoad], most: int = KEPT) -> float:
    return max(1.0 - most / max(n_to_keep(slots), 1.0), FIRST)


def n_to_keep(slots: Iterable[SlotLoad]) -> float:
    """What `access` keeps of all that the indexes of some slots can tell."""
    return sum(slot.access.n_cells * (OF_A_RANK + slot.access.n_held) for slot in slots if slot.n_access)


def found_by(image: Image, expected: Expected) -> float:
    """How many entries a document finds by the access predicates that they have."""
    access = image.entry_access[~asks_joins_alone(image)]
    shares = np.minimum(expected.shares[access[access >= 0]], 1.0)
    return float(shares.sum()) + int(np.count_nonzero(access < 0))


def _groups(
    image: Image,
    entries: Int32,
    shares: Floats,
    sampled: Sampled | None,
    slots: dict[int, SlotLoad],
    nothing: Workload,
) -> Iterator[Workload]:
    of_entry = group_of(image)[entries]
    numbers, group = np.unique(np.where(of_entry == NO_GROUP, len(image.slots), of_entry), return_inverse=True)

    def of_groups(weights: NDArray[Any]) -> Floats:
        return np.bincount(group, weights, len(numbers)).astype(np.float64)

    tests, cut = gather(image.entry_off, image.entry_tests, entries)
    is_rank = tests < image.n_tests
    owner = np.repeat(np.arange(len(entries)), np.diff(cut))
    n_uses = np.bincount(tests, minlength=len(shares))
    intervals = np.zeros(len(tests))
    intervals[is_rank] = (np.diff(image.test_off) / np.maximum(n_uses[: image.n_tests], 1))[tests[is_rank]]
    held = np.bincount(owner[is_rank], shares[tests[is_rank]], len(entries))
    access = image.entry_access[entries]
    found = np.where(access < 0, 1.0, shares[access]) if len(shares) else np.ones(len(entries))
    n_entries, n_found = of_groups(np.ones(len(entries))), of_groups(found)
    n_by_rank = of_groups(_found_by_rank(image, len(entries), tests[is_rank], owner[is_rank], shares))
    seen = _Left(image, entries, shares, sampled, group, len(numbers))
    checked, decided = _is_checked(image)[entries], _is_decided(image)[entries]
    rows = n_found * seen.share("all")
    n_profiles = np.diff(image.entry_profile_off)[entries]
    left = n_by_rank * seen.share("ranks")
    columns = {
        "n_entries": n_entries.astype(np.int64),
        "n_tests": of_groups(np.diff(cut)).astype(np.int64),
        "n_intervals": of_groups(np.bincount(owner, intervals, len(entries))),
        "n_unselective": of_groups(access < 0).astype(np.int64),
        "held": of_groups(held),
        "found": n_found,
        "dense": of_groups(np.where((found >= DENSE) | _is_shared(access), found, 0.0)),
        "looked_at": n_found * seen.share("looked_at"),
        "partitioned": n_found * seen.share("two"),
        "rows": rows,
        "matched": rows * of_groups(found * n_profiles) / np.maximum(n_found, 1e-300),
        "n_checked": n_found * seen.share("all", checked),
        "by_rank": n_by_rank,
        "left": left,
        "few": left * min(FEW / max(float(left.sum()), 1e-300), 1.0),
        "n_decided": n_by_rank * seen.share("ranks", decided),
    }
    for number, *row in zip(numbers.tolist(), *(column.tolist() for column in columns.values()), strict=True):
        own = (slots[number],) if number in slots else ()
        yield nothing._replace(**dict(zip(columns, row, strict=True)), slots=own)


class _Left:
    """What some entries of each group tell of those that are found."""

    def __init__(
        self,
        image: Image,
        entries: Int32,
        shares: Floats,
        sampled: Sampled | None,
        group: NDArray[np.intp],
        n_groups: int,
    ) -> None:
        step = max(1, len(entries) // MOST_ENTRIES)
        self._chosen = slice(step // 2, None, step)
        self._seen = prefixes(image, entries[self._chosen], shares, sampled)
        self._group, self._n_groups = group[self._chosen], n_groups
        self._is_enough = np.bincount(self._group, minlength=n_groups) >= ENOUGH

    def share(self, name: str, own: NDArray[np.bool_] | None = None) -> Floats:
        """Per group, for each entry that is found: a column of `Prefixes`, of the entries `own` of all."""
        of = getattr(self._seen, name) * (1.0 if own is None else own[self._chosen])
        by = self._seen.first_rank if name == "ranks" else self._seen.first
        first = np.bincount(self._group, by, self._n_groups)
        of_group = np.bincount(self._group, of, self._n_groups) / np.maximum(first, 1e-300)
        of_all = float(of.sum()) / max(float(by.sum()), 1e-300)
        return np.where(self._is_enough & (first > 0), of_group, of_all)


def _found_by_rank(image: Image, n_entries: int, tests: Int32, owner: NDArray[np.int64], shares: Floats) -> Floats:
    """Per entry, the share of documents that its first rank test lets through which refuses absence; 1 without one.
    `tests`: the rank tests of the entries, one after the other; `owner`: the place of each one's entry."""
    refuses = np.ones(image.n_tests, np.bool_)
    refuses[np.repeat(np.arange(image.n_tests), np.diff(image.test_off))[image.test_low == 0]] = False
    owner, tests = owner[refuses[tests]], tests[refuses[tests]]
    found = np.ones(n_entries)
    with_one, first = np.unique(owner, return_index=True)
    found[with_one] = shares[tests[first]]
    return found


def _is_shared(access: Int32) -> NDArray[np.bool_]:
    """Per entry, whether SHARED or more have its access test."""
    if not len(access):
        return np.zeros(0, np.bool_)
    is_shared: NDArray[np.bool_] = (np.bincount(access + 1) >= SHARED)[access + 1] & (access >= 0)
    return is_shared


def _is_checked(image: Image) -> NDArray[np.bool_]:
    """The entries of which Python has to run something when all else holds."""
    bits, residuals = are_run(image)
    of_residual: NDArray[np.bool_] = np.append(residuals, False)[image.entry_residual]
    return _asks(image, bits) | of_residual


def _is_decided(image: Image) -> NDArray[np.bool_]:
    """The entries that have more than rank tests."""
    return _asks(image, np.ones(len(image.bit_kind), np.bool_)) | (image.entry_residual >= 0)


def _asks(image: Image, bits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The entries that have some of these bit tests."""
    is_one = np.concatenate((np.zeros(image.n_tests, np.bool_), bits))
    owner = np.repeat(np.arange(image.n_entries), np.diff(image.entry_off))
    asks = np.zeros(image.n_entries, np.bool_)
    asks[owner[is_one[image.entry_tests]]] = True
    return asks


def _slots(image: Image, entries: Int32, expected: Expected, shares: Floats) -> Iterator[tuple[int, SlotLoad]]:
    """The slots that these entries have rank tests on."""
    n = len(image.slots)
    tests, _ = gather(image.entry_off, image.entry_tests, entries)
    tests = tests[tests < image.n_tests]
    access = image.entry_access[entries]
    access = access[(access >= 0) & (access < image.n_tests)]
    n_entries, n_access = (np.bincount(image.test_slot[of], minlength=n) for of in (tests, access))
    found = np.bincount(image.test_slot[access], shares[access], n)
    whole, by_access = (_index_loads(image, of, expected, shares) for of in (tests, np.unique(access)))
    for slot in np.flatnonzero(n_entries).tolist():
        yield (
            slot,
            SlotLoad(
                image.slots[slot].name,
                float(expected.presence[slot]),
                int(n_entries[slot]),
                whole[slot],
                int(n_access[slot]),
                float(found[slot]),
                by_access[slot],
            ),
        )


def _index_loads(image: Image, tests: Int32, expected: Expected, shares: Floats) -> list[IndexLoad]:
    """Of each slot, an index of those of these tests that are on it."""
    n = len(image.slots)
    slot = image.test_slot[tests]
    points = np.concatenate(([0], np.cumsum(image.test_low == image.test_high)))
    n_intervals, n_points = np.diff(image.test_off), points[image.test_off[1:]] - points[image.test_off[:-1]]
    intervals, of_one, held = (np.bincount(slot, of[tests], n) for of in (n_intervals, n_points, shares))
    of_a_value = held / np.maximum(expected.presence[:n], 1e-9)
    cells = np.array([of.constants.n_ranks for of in image.slots], np.int64)
    return list(
        map(
            IndexLoad,
            intervals.astype(np.int64).tolist(),
            of_one.astype(np.int64).tolist(),
            np.minimum(cells, 2 * intervals.astype(np.int64) + 1).tolist(),
            of_a_value.tolist(),
        )
    )
