"""A scan of the very predicates that an image holds, for any image of rank tests.

In: an image, and the ranks that documents may hold. Out: a scan of `baselines.scan` or
`baselines.programs`, and the coding of its documents. A slot's ranks that no document can hold (the gaps between
1, 2 and 3, where all values are integers) get no code, so that the values fit a mask where they can.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from baselines.programs import ProgramScan
from baselines.scan import BoundScan, MaskScan
from conjunctions import offsets_of
from numpy.typing import NDArray

from profilec.runtime.image import OP_JUMP_IF_FALSE, OP_JUMP_IF_TRUE, OP_SET, OP_TEST, Image, gather

_SLOT = np.int64(1) << 32
_ALL, _NONE = np.uint64(0xFFFF_FFFF_FFFF_FFFF), np.uint64(0)


@dataclass(frozen=True, slots=True)
class Coding:
    """Which ranks have a code: `keys` are slot << 32 | rank, ascending; those of a slot begin at `off[slot]`.

    Rank 0, absence, has code 0.
    """

    off: NDArray[np.int64]
    keys: NDArray[np.int64]

    @property
    def n_codes(self) -> int:
        """The most codes that a slot has."""
        return int(np.diff(self.off).max(initial=1))

    def codes(self, slots: NDArray[np.int32], ranks: NDArray[np.int32]) -> NDArray[np.int32]:
        """The dense codes of a document: the slots it has, with their ranks."""
        dense = np.zeros(max(1, len(self.off) - 1), np.int32)
        dense[slots] = np.searchsorted(self.keys, slots * _SLOT + ranks) - self.off[slots]
        return dense

    def intervals(
        self, slots: NDArray[np.int32], low: NDArray[np.int32], high: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Closed rank intervals as closed code intervals; one that no document meets ends before it starts."""
        first = np.searchsorted(self.keys, slots * _SLOT + low) - self.off[slots]
        last = np.searchsorted(self.keys, slots * _SLOT + high, side="right") - 1 - self.off[slots]
        return first, last


def coding_of(image: Image, held: NDArray[np.int32] | None = None) -> Coding:
    """`held[slot]` are the ranks that documents may have in a slot, besides 0; None for all ranks."""
    if held is None:
        keys = [slot * _SLOT + np.arange(own.constants.n_ranks) for slot, own in enumerate(image.slots)]
        flat = np.concatenate([np.zeros(0, np.int64), *keys])
    else:
        slots = np.arange(len(held), dtype=np.int64)[:, None] * _SLOT
        flat = np.unique(np.concatenate((slots, slots + held), axis=1))
    return Coding(np.searchsorted(flat, np.arange(len(image.slots) + 1) * _SLOT), flat)


def scan_of_image(image: Image, coding: Coding) -> MaskScan | BoundScan | ProgramScan:
    """The scan of an image's profiles, each predicate as often as profiles have it.

    Raises:
        ValueError: the image has patterns, terms or joins, or ORs over more codes than a mask holds.
    """
    if len(image.bit_kind) or len(image.joins):
        raise ValueError("a scan of rank tests knows no patterns, terms and joins")
    n_entries_of = np.bincount(image.entry_profiles, minlength=image.n_profiles)
    if (image.entry_residual >= 0).any() or n_entries_of.max(initial=0) > 1:
        return _programs(image, coding)
    entry_of = np.full(image.n_profiles, -1)
    entry_of[image.entry_profiles] = np.repeat(np.arange(image.n_entries), np.diff(image.entry_profile_off))
    possible = np.flatnonzero(entry_of >= 0)
    tests, cut = gather(image.entry_off, image.entry_tests, entry_of[possible])
    sizes = np.ones(image.n_profiles, np.int64)  # what cannot match has one predicate, that never holds
    sizes[possible] = np.diff(cut)
    off = offsets_of(sizes)
    rows = np.full(int(off[-1]), -1)
    rows[np.repeat(entry_of >= 0, sizes)] = tests
    slot = np.where(rows < 0, 0, np.append(image.test_slot, 0)[rows]).astype(np.int32)
    if coding.n_codes <= 64:
        return MaskScan(off.astype(np.int32), slot, np.append(_masks(image, coding), _NONE)[rows])
    low, high, ranges, *lists = _bounds(image, coding)
    return BoundScan(off.astype(np.int32), slot, low[rows], high[rows], ranges[rows], *lists)


def _code_intervals(image: Image, coding: Coding) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The test, first and last code of each interval that some code is in."""
    owner = np.repeat(np.arange(image.n_tests), np.diff(image.test_off))
    first, last = coding.intervals(image.test_slot[owner], image.test_low, image.test_high)
    met = first <= last
    return owner[met], first[met], last[met]


def _masks(image: Image, coding: Coding) -> NDArray[np.uint64]:
    owner, first, last = _code_intervals(image, coding)
    mask = np.zeros(image.n_tests, np.uint64)
    of_interval = (_ALL << first.astype(np.uint64)) & (_ALL >> (63 - last).astype(np.uint64))
    np.bitwise_or.at(mask, owner, of_interval)
    return mask


def _bounds(image: Image, coding: Coding) -> tuple[NDArray[np.int32], ...]:
    """Per test, and for one that never holds, low, high and number of ranges; then the ranges."""
    owner, first, last = _code_intervals(image, coding)
    low, high = np.ones(image.n_tests + 1, np.int64), np.zeros(image.n_tests + 1, np.int64)
    off = offsets_of(np.bincount(owner, minlength=image.n_tests))
    filled = np.flatnonzero(off[1:] > off[:-1])
    low[filled], high[filled] = first[off[filled]], last[off[filled + 1] - 1]
    ranges = np.full(image.n_tests + 1, -1)
    several = np.flatnonzero(np.diff(off) > 1)
    ranges[several] = np.arange(len(several))
    chosen = ranges[owner] >= 0
    range_off = offsets_of(np.diff(off)[several])
    return tuple(column.astype(np.int32) for column in (low, high, ranges, range_off, first[chosen], last[chosen]))


def _programs(image: Image, coding: Coding) -> ProgramScan:
    """Profiles of several entries or with residuals: entry after entry, until one holds."""
    if coding.n_codes > 64:
        raise ValueError(f"{coding.n_codes} codes do not fit a mask")
    masks = _masks(image, coding)
    entries_of: list[list[int]] = [[] for _ in range(image.n_profiles)]
    for entry in range(image.n_entries):
        for profile in image.entry_profiles[image.entry_profile_off[entry] : image.entry_profile_off[entry + 1]]:
            entries_of[profile].append(entry)
    rows: list[tuple[int, np.uint64, int]] = []
    sizes: list[int] = []
    for entries in entries_of:
        program = _program(image, entries)
        sizes.append(len(program))
        for number, (test, if_true, if_false) in enumerate(program):
            slot, mask = (int(image.test_slot[test]), masks[test]) if test >= 0 else (0, _ALL if test == -1 else _NONE)
            if if_true != number + 1 != if_false:
                raise ValueError(f"row {number} goes on with neither of its rows")
            rows.append((slot, mask, 2 * if_false if if_true == number + 1 else 2 * if_true + 1))
    slots, row_masks, jumps = zip(*rows, strict=True) if rows else ((), (), ())
    return ProgramScan(
        offsets_of(np.array(sizes, np.int64)).astype(np.int32),
        np.array(slots, np.int32),
        np.array(row_masks, np.uint64),
        np.array(jumps, np.int32),
    )


_Target = tuple[int, int]
"""A row of the residual of an entry, or of its tests (negative: -1 is the first): entry's place, row."""


def _program(image: Image, entries: list[int]) -> list[tuple[int, int, int]]:
    """Rows (test, row if it holds, row if not) of a profile; test -1 always holds, -2 never."""
    if not entries:
        return [(-2, 1, 2)]
    items: list[tuple[int, _Target | bool, _Target | bool]] = []
    number_of: dict[_Target, int] = {}
    for place, entry in enumerate(entries):
        failed: _Target | bool = (place + 1, -1) if place + 1 < len(entries) else False
        tests = image.entry_tests[image.entry_off[entry] : image.entry_off[entry + 1]].tolist() or [-1]
        residual = int(image.entry_residual[entry])
        code = image.residual_code[image.residual_off[residual] : image.residual_off[residual + 1]].tolist()
        code = [] if residual < 0 else code
        for number, test in enumerate(tests):
            number_of[place, -1 - number] = len(items)
            following = (place, -2 - number) if number + 1 < len(tests) else _after(code, 0, True, place, failed)
            items.append((test, following, failed))
        for row, (operation, argument) in enumerate(code):
            if operation == OP_TEST:
                number_of[place, row] = len(items)
                if_true, if_false = (_after(code, row + 1, truth, place, failed) for truth in (True, False))
                items.append((argument, if_true, if_false))
    n = len(items)

    def resolved(target: _Target | bool) -> int:
        return (n if target else n + 1) if isinstance(target, bool) else number_of[target]

    return [(test, resolved(if_true), resolved(if_false)) for test, if_true, if_false in items]


def _after(code: list[list[int]], row: int, register: bool, place: int, failed: _Target | bool) -> _Target | bool:
    """Where a residual goes from a row on, with this in its register: to its next test, or to its end."""
    while row < len(code):
        operation, argument = code[row]
        if operation == OP_TEST:
            return place, row
        if operation == OP_SET:
            register = bool(argument)
        jumps = operation == (OP_JUMP_IF_TRUE if register else OP_JUMP_IF_FALSE)
        row = argument if jumps else row + 1
    return register or failed
