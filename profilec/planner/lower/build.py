"""All profiles to one image.

In: normal forms, one at a time (`ImageBuilder.add`). Out: `runtime.image.Image`.

Plain conjunctions, nearly all of a real set, stay columns of numbers from the moment they are
added: no Python object is kept per profile. Others keep their skeleton until the ranks exist.

Invariant: the same normal forms in the same order give the same image, byte for byte.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from profilec.grammar import ir
from profilec.planner.lower.entries import entries_of
from profilec.planner.lower.leaves import Join, LeafTable, Op, Order
from profilec.planner.lower.ranks import RankSets, lay_out, rank_sets
from profilec.planner.lower.skeleton import (
    AllOf,
    AnyOf,
    Row,
    Skeleton,
    add_conjunction,
    all_of,
    residual_code,
    skeleton_of,
)
from profilec.runtime.image import Image, Slot
from profilec.values.types import Schema

Ints = npt.NDArray[np.int64]

PATTERN_SHARE = 0.02
TERM_SHARE = 0.1
"""Shares of the documents that a pattern and an ANY/ALL are taken to let through while none has been seen."""


class ImageBuilder:
    """Collects the normal forms of a profile set, in its order, and lowers them together."""

    def __init__(self, schema: Schema | None = None, max_terms: int = 1_000_000) -> None:
        self._table = LeafTable(schema)
        self._max_terms = max_terms
        self._n_profiles = 0
        self._plain_profile = array("i")
        self._plain_start = array("q")
        self._plain_end = array("q")
        self._others: list[tuple[int, Skeleton]] = []

    def add(self, normal_form: ir.Condition) -> None:
        """Takes the next profile.

        Raises:
            TooComplexError: the normal form, written out, has too many leaves. The profile is not added.
        """
        if type(normal_form) is ir.And:
            leaves = normal_form.operands
        elif type(normal_form) is ir.Or:
            leaves = ()
        else:
            leaves = (normal_form,)
        rows = add_conjunction(leaves, self._table) if leaves else None
        if rows is None:
            self._others.append((self._n_profiles, skeleton_of(normal_form, self._table, self._max_terms)))
        else:
            self._plain_profile.append(self._n_profiles)
            self._plain_start.append(rows[0])
            self._plain_end.append(rows[1])
        self._n_profiles += 1

    def build(self) -> Image:
        """The image of all profiles added."""
        table = self._table
        layout = lay_out(table)
        sets = rank_sets(table, layout)
        costs = _access_costs(table, sets)
        plain = _plain_entries(self._plain_profile, self._plain_start, self._plain_end, sets.test_of_row)
        others = _OtherEntries.of(self._others, sets.test_of_row, costs)
        entries = _share_equal(_ordered(_drop_impossible(_joined(plain, others), sets), costs))
        access = _access_tests(entries, costs)
        bit_rows = sets.bits
        ops = np.asarray(table.op, np.int64)[bit_rows]
        return Image(
            n_profiles=self._n_profiles,
            slots=tuple(
                Slot(
                    name=slot.name,
                    program=self._program(slot.derived),
                    parts=slot.derived.parts if isinstance(slot.derived, ir.Attribute) else None,
                    type_=table.programs.type_of(slot.derived) if isinstance(slot.derived, ir.Attribute) else None,
                    constants=constants,
                )
                for slot, constants in zip(table.slots, layout.constants, strict=True)
            ),
            test_slot=sets.slot.astype(np.int32),
            test_off=sets.off.astype(np.int32),
            test_low=sets.low.astype(np.int32),
            test_high=sets.high.astype(np.int32),
            bit_kind=(ops == Op.TERM).astype(np.uint8),
            bit_source=np.asarray(table.first, np.int32)[bit_rows],
            bit_want=np.asarray(table.kind, np.uint8)[bit_rows],
            patterns=tuple(table.patterns),
            terms=tuple(table.terms),
            joins=tuple(table.joins),
            entry_off=entries.off.astype(np.int32),
            entry_tests=entries.tests.astype(np.int32),
            entry_access=access.astype(np.int32),
            entry_residual=entries.residual.astype(np.int32),
            entry_profile_off=entries.profile_off.astype(np.int32),
            entry_profiles=entries.profiles.astype(np.int32),
            residual_off=others.residual_off,
            residual_code=others.residual_code,
            term_names=table.term_names,
            join_names=table.join_names,
        )

    def _program(self, derived: Any) -> Any:
        programs = self._table.programs
        if isinstance(derived, Order):
            return (*programs.program(derived.left), *programs.program(derived.right), ("order",))
        return programs.program(derived)


def _access_costs(table: LeafTable, sets: RankSets) -> npt.NDArray[np.float64]:
    """Per test the share of documents it is expected to let through; `inf` where it gives no access.

    Without statistics a value falls on each rank of its slot alike, and documents hold an
    attribute as often as profiles ask about it (OpIndex, 4.1).
    """
    slots = np.asarray(table.slot, np.int64)
    n_slots = len(table.slots)
    asked = np.bincount(slots[slots >= 0], minlength=n_slots).astype(np.float64)
    presence = asked / max(asked.max(initial=1.0), 1.0)
    costs = np.full(sets.n_tests + len(sets.bits), math.inf)
    costs[: sets.n_tests] = np.where(sets.on_absence, math.inf, sets.share * presence[sets.slot])
    for number, row in enumerate(sets.bits.tolist(), start=sets.n_tests):
        if table.kind[row] == 0:  # only what must be TRUE gives access
            is_term = table.op[row] == Op.TERM
            costs[number] = TERM_SHARE if is_term else PATTERN_SHARE * presence[table.slot[row]]
    return costs


class _Entries(NamedTuple):
    """Entries as columns: CSR of tests, CSR of profiles, and a residual's number or -1."""

    off: Ints
    tests: Ints
    residual: Ints
    profile_off: Ints
    profiles: Ints


def _plain_entries(profile: Iterable[int], start: Iterable[int], end: Iterable[int], test_of_row: Ints) -> _Entries:
    starts, ends = np.asarray(start, np.int64), np.asarray(end, np.int64)
    profiles = np.asarray(profile, np.int64)
    off = _offsets(ends - starts)
    # The rows of plain profiles lie in one piece each, in order; between them stand those of the others.
    rows = np.repeat(starts - off[:-1], ends - starts) + np.arange(off[-1])
    return _Entries(off, test_of_row[rows], np.full(len(profiles), -1), np.arange(len(profiles) + 1), profiles)


class _OtherEntries(NamedTuple):
    """The entries of profiles that are no plain conjunction, and all residual code."""

    entries: _Entries
    residual_off: npt.NDArray[np.int32]
    residual_code: npt.NDArray[np.int32]

    @classmethod
    def of(cls, others: list[tuple[int, Skeleton]], test_of_row: Ints, costs: npt.NDArray[np.float64]) -> _OtherEntries:
        tests: list[tuple[int, ...]] = []
        residual: list[int] = []
        profiles: list[int] = []
        codes: list[list[tuple[int, int]]] = []
        number_of_code: dict[tuple[tuple[int, int], ...], int] = {}
        cost = costs.tolist().__getitem__ if others else None
        for profile, rows in others:
            number_of_parts: dict[tuple[int, ...], int] = {}
            skeleton = _with_tests(rows, test_of_row, {})
            for entry in entries_of(skeleton, cost):  # type: ignore[arg-type]
                parts = tuple(map(id, entry.residual))
                number = number_of_parts.get(parts, -1) if parts else -1
                if parts and number < 0:
                    code = residual_code(all_of(list(entry.residual)))
                    number = number_of_code.setdefault(tuple(code), len(codes))
                    if number == len(codes):
                        codes.append(code)
                    number_of_parts[parts] = number
                tests.append(entry.tests)
                residual.append(number)
                profiles.append(profile)
        flat = np.array([test for entry_tests in tests for test in entry_tests], np.int64)
        entries = _Entries(
            _offsets(np.array([len(entry_tests) for entry_tests in tests], np.int64)),
            flat,
            np.array(residual, np.int64),
            np.arange(len(tests) + 1),
            np.array(profiles, np.int64),
        )
        rows_of_code = np.array([row for code in codes for row in code], np.int32).reshape(-1, 2)
        return cls(entries, _offsets(np.array([len(code) for code in codes], np.int64)).astype(np.int32), rows_of_code)


def _with_tests(skeleton: Skeleton, test_of_row: Ints, known: dict[int, Skeleton]) -> Skeleton:
    """The skeleton with test ids for rows; equal parts become one, and duplicates within an AND or OR go."""
    if isinstance(skeleton, Row):
        return Row(int(test_of_row[skeleton.number]))
    if isinstance(skeleton, bool | Join):
        return skeleton
    found = known.get(id(skeleton))
    if found is None:
        parts = tuple(dict.fromkeys([_with_tests(part, test_of_row, known) for part in skeleton.parts]))
        found = parts[0] if len(parts) == 1 else AllOf(parts) if isinstance(skeleton, AllOf) else AnyOf(parts)
        known[id(skeleton)] = found
    return found


def _joined(plain: _Entries, others: _OtherEntries) -> _Entries:
    """Both sorts of entries in one, ordered by profile."""
    more = others.entries
    sizes = np.concatenate((np.diff(plain.off), np.diff(more.off)))
    tests = np.concatenate((plain.tests, more.tests))
    profiles = np.concatenate((plain.profiles, more.profiles))
    residual = np.concatenate((plain.residual, more.residual))
    entries = _Entries(_offsets(sizes), tests, residual, np.arange(len(sizes) + 1), profiles)
    return _taken(entries, np.argsort(profiles, kind="stable"))


def _taken(entries: _Entries, chosen: Ints) -> _Entries:
    """The chosen entries, each of one profile, in the order chosen."""
    sizes = np.diff(entries.off)[chosen]
    off = _offsets(sizes)
    rows = np.repeat(entries.off[:-1][chosen] - off[:-1], sizes) + np.arange(off[-1])
    return _Entries(
        off, entries.tests[rows], entries.residual[chosen], np.arange(len(chosen) + 1), entries.profiles[chosen]
    )


def _drop_impossible(entries: _Entries, sets: RankSets) -> _Entries:
    """Without the entries that hold a test no rank satisfies: `x = NULL`, `a < 1 AND a < NULL`."""
    impossible = np.zeros(sets.n_tests + len(sets.bits), np.bool_)
    impossible[: sets.n_tests] = sets.off[1:] == sets.off[:-1]
    if not impossible.any():
        return entries
    owner = np.repeat(np.arange(len(entries.residual)), np.diff(entries.off))
    hit = np.bincount(owner, impossible[entries.tests], minlength=len(entries.residual)) > 0
    return _taken(entries, np.flatnonzero(~hit))


def _ordered(entries: _Entries, costs: npt.NDArray[np.float64]) -> _Entries:
    """Each entry's tests most selective first (ties by id), and none twice."""
    owner = np.repeat(np.arange(len(entries.residual)), np.diff(entries.off))
    order = np.lexsort((entries.tests, costs[entries.tests], owner))
    tests = entries.tests[order]
    kept = np.ones(len(tests), np.bool_)
    kept[1:] = (tests[1:] != tests[:-1]) | (owner[1:] != owner[:-1])
    off = _offsets(np.bincount(owner[kept], minlength=len(entries.residual)))
    return entries._replace(off=off, tests=tests[kept])


def _share_equal(entries: _Entries) -> _Entries:
    """Entries with the same tests and residual become one with many profiles, where the first of them stood."""
    n_entries = len(entries.residual)
    sizes = np.diff(entries.off)
    first = np.arange(n_entries)
    signature = _signatures(entries)
    order = np.lexsort((*signature, entries.residual, sizes))
    same = np.zeros(n_entries, np.bool_)
    same[1:] = sizes[order][1:] == sizes[order][:-1]
    for column in (*signature, entries.residual):
        same[1:] &= column[order][1:] == column[order][:-1]
    group = np.cumsum(~same) - 1
    leader = np.minimum.reduceat(order, np.flatnonzero(~same)) if n_entries else order
    first[order] = leader[group]
    first = _verified(entries, first)
    by_first = np.argsort(first, kind="stable")
    leaders, counts = np.unique(first, return_counts=True)
    merged = _taken(entries, leaders)
    return merged._replace(profile_off=_offsets(counts), profiles=entries.profiles[by_first])


def _signatures(entries: _Entries) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Two 64-bit sums of mixed test ids per entry."""
    sums = []
    for factor in (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)):
        mixed = (entries.tests.astype(np.uint64) + np.uint64(1)) * factor
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)))
        sums.append(running[entries.off[1:]] - running[entries.off[:-1]])
    return sums[0], sums[1]


def _verified(entries: _Entries, first: Ints) -> Ints:
    """`first` where the entries really are equal test by test; a collision of signatures shares nothing."""
    followers = np.flatnonzero(first != np.arange(len(first)))
    sizes = np.diff(entries.off)[followers]
    off = _offsets(sizes)
    steps = np.arange(off[-1])
    own = np.repeat(entries.off[:-1][followers] - off[:-1], sizes) + steps
    leading = np.repeat(entries.off[:-1][first[followers]] - off[:-1], sizes) + steps
    differ = entries.tests[own] != entries.tests[leading]
    if differ.any():
        wrong = np.unique(np.repeat(followers, sizes)[differ])
        first[wrong] = wrong
    return first


def _access_tests(entries: _Entries, costs: npt.NDArray[np.float64]) -> Ints:
    """Per entry its access predicate: the first test, since tests stand most selective first; -1 for none."""
    access = np.full(len(entries.residual), -1)
    filled = entries.off[1:] > entries.off[:-1]
    leading = entries.tests[entries.off[:-1][filled]]
    access[filled] = np.where(np.isinf(costs[leading]), -1, leading)
    return access


def _offsets(sizes: Ints) -> Ints:
    off = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=off[1:])
    return off
