"""`bitmap`: an index on every slot, ANDed (Tatbul 2001, 4.1.2).

In: the ranks of a document. Out: the entries all of whose rank tests hold. Each slot gives the
bit vector of the entries that its value satisfies or that do not ask for it; what is in all of
them is left.

PERF: of a slot, only what a document can lose by it is stored: alive' = (alive - constrained) | (alive & satisfied).
Slots that many entries ask for come first. A run of BLOCK slots that are all NULL is one step, for a document
has few of many attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap

from profilec.runtime.closed_intervals import Intervals, intersection
from profilec.runtime.image import Image, Int32, gather, kept_offsets
from profilec.runtime.indexes.by_name import INDEXES, AttributeIndex, index_name
from profilec.runtime.indexes.interval import members

BLOCK = 16


@dataclass(frozen=True, slots=True)
class _Block:
    """Some slots, and the entries that fail where all of these are NULL."""

    slots: Int32
    indexes: tuple[AttributeIndex, ...]
    fail_on_null: BitMap


class BitmapMatcher:
    """One index per slot that entries have tests on: the interval index, where nothing else is asked for."""

    __slots__ = ("_all", "_blocks")

    def __init__(self, image: Image, index_of: Mapping[str, str] | None = None) -> None:
        """`index_of`: by the attribute or expression of a slot, the name of its index (`indexes.by_name`)."""
        self._all = BitMap()
        self._all.add_range(0, image.n_entries)
        indexes = sorted(_indexes(image, index_of or {}), key=lambda pair: (-len(pair[1].constrained), pair[0]))
        self._blocks: list[_Block] = []
        for start in range(0, len(indexes), BLOCK):
            block = indexes[start : start + BLOCK]
            fails = BitMap()
            for _, index in block:
                fails |= index.constrained - index.entries_at(0)
            slots = np.array([slot for slot, _ in block], np.int32)
            self._blocks.append(_Block(slots, tuple(index for _, index in block), fails))

    def probes(self) -> dict[int, Callable[[int], int]]:
        """By slot, how many entries its index gives for a rank."""
        return {
            int(slot): lambda rank, index=index: len(index.entries_at(rank))  # type: ignore[misc]
            for block in self._blocks
            for slot, index in zip(block.slots, block.indexes, strict=True)
        }

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending."""
        alive = self._all
        for block in self._blocks:
            if not alive:
                break
            of_block = ranks[block.slots].tolist()
            if not any(of_block):
                alive = alive - block.fail_on_null
                continue
            for rank, index in zip(of_block, block.indexes, strict=True):
                kept = alive & index.entries_at(rank)
                alive = alive - index.constrained
                alive |= kept
        return members(alive)


def _indexes(image: Image, index_of: Mapping[str, str]) -> list[tuple[int, AttributeIndex]]:
    """The slots that entries have rank tests on, each with its index."""
    is_rank_test = image.entry_tests < image.n_tests
    off = kept_offsets(image.entry_off, is_rank_test)
    tests = image.entry_tests[is_rank_test]
    entries = np.repeat(np.arange(image.n_entries, dtype=np.int32), np.diff(off))
    slots = image.test_slot[tests]
    order = np.argsort(slots, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(slots[order])) + 1)
    found = []
    for part in parts:
        if len(part):
            slot = int(slots[part[0]])
            make = INDEXES[index_name(image.slots[slot], index_of)]
            found.append((slot, make(*_intervals(image, entries[part], tests[part]))))
    return found


def _intervals(image: Image, entries: Int32, tests: Int32) -> tuple[Int32, Int32, Int32, Int32]:
    """What the index of one slot is made of; `entries[i]`, ascending, has `tests[i]`."""
    several = np.zeros(len(entries), np.bool_)
    repeated = entries[1:] == entries[:-1]
    several[1:] |= repeated
    several[:-1] |= repeated
    lows, cut = gather(image.test_off, image.test_low, tests[~several])
    highs, _ = gather(image.test_off, image.test_high, tests[~several])
    # An entry with several tests on the slot accepts what all of them do. Rare: rules merge such tests.
    accepted: dict[int, Intervals] = {}
    for entry, test in zip(entries[several].tolist(), tests[several].tolist(), strict=True):
        part = slice(image.test_off[test], image.test_off[test + 1])
        intervals = list(zip(image.test_low[part].tolist(), image.test_high[part].tolist(), strict=True))
        accepted[entry] = intersection(accepted[entry], intervals) if entry in accepted else intervals
    bounds = np.array([interval for intervals in accepted.values() for interval in intervals], np.int32).reshape(-1, 2)
    lengths = np.concatenate((np.diff(cut), np.array([len(intervals) for intervals in accepted.values()], np.int64)))
    return (
        np.concatenate((entries[~several], np.array(list(accepted), np.int32))),
        np.concatenate((np.zeros(1, np.int32), np.cumsum(lengths).astype(np.int32))),
        np.concatenate((lows, bounds[:, 0])),
        np.concatenate((highs, bounds[:, 1])),
    )
