"""An image's entries as predicates over ranks.

In: an image. Out: `Predicates`. What a test asks of a document's slots becomes predicates:

    rank test               slot in its intervals
    pattern, TRUE           its pseudo-slot is 1
    pattern, FALSE          its pseudo-slot is 0, and the text is a string
    pattern, NOT TRUE       its pseudo-slot is 0
    indexed term, TRUE      its pseudo-slot is 1; NOT TRUE: 0
    others, residuals       left to be checked when all this holds; the entry is then a special one, see `tree.py`
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.betree.predicates import Intervals, Predicates
from profilec.runtime.element_terms import bits_told
from profilec.runtime.image import BIT_PATTERN, WANT_FALSE, WANT_TRUE, Image, gather
from profilec.values.kinds import Kind


def predicates_of(image: Image) -> tuple[Predicates, Intervals]:
    """The predicates of all entries, each entry's in the order of its tests: most selective first; all of them open."""
    tests = _tests(image)
    of_test, cut = gather(tests.off, np.arange(len(tests.slot), dtype=np.int32), image.entry_tests)
    off = cut[image.entry_off]
    first, last = tests.first[of_test], tests.last[of_test]
    low, high = (np.append(bounds, np.int32(0)) for bounds in tests.intervals)  # a test may have no interval
    return Predicates(
        off,
        tests.slot[of_test],
        low[first],
        high[last - 1],
        first,
        last,
        np.zeros(len(of_test), np.uint8),
    ), tests.intervals


def possible(predicates: Predicates) -> NDArray[np.int32]:
    """The entries all of whose predicates hold for some rank."""
    never = np.concatenate(([0], np.cumsum(predicates.first == predicates.last)))
    return np.flatnonzero(never[predicates.off[1:]] == never[predicates.off[:-1]]).astype(np.int32)


def entry_ids(image: Image) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What a leaf says of each entry: its only profile, or ~number where more is to be found or checked; and the
    entries so numbered."""
    n_profiles = np.diff(image.entry_profile_off)
    simple = (n_profiles == 1) & (image.entry_residual < 0)
    checked = np.zeros(image.n_tests + len(image.bit_kind), np.bool_)
    checked[image.n_tests :] = ~bits_told(image)
    owner = np.repeat(np.arange(image.n_entries), np.diff(image.entry_off))
    simple[owner[checked[image.entry_tests]]] = False
    special = np.flatnonzero(~simple).astype(np.int32)
    ids = np.empty(image.n_entries, np.int32)
    ids[special] = ~np.arange(len(special), dtype=np.int32)
    ids[simple] = image.entry_profiles[image.entry_profile_off[:-1][simple]]
    return ids, special


class _Tests:
    """Each test of the image as none, one or two predicates: `off` cuts `slot`, `first`, `last` (of `intervals`)."""

    def __init__(
        self,
        off: NDArray[np.int64],
        slot: NDArray[np.int32],
        first: NDArray[np.int32],
        last: NDArray[np.int32],
        intervals: Intervals,
    ):
        self.off, self.slot, self.first, self.last, self.intervals = off, slot, first, last, intervals


def _tests(image: Image) -> _Tests:
    """The image's rank tests as they are, then its bit tests."""
    n_slots, n_intervals = len(image.slots), len(image.test_low)
    low, high = list(image.test_low[:0]), list(image.test_high[:0])
    off, slot = [len(image.test_slot)], []
    first, last = [], []

    def add(of_slot: int, of_low: int, of_high: int) -> None:
        slot.append(of_slot)
        first.append(n_intervals + len(low))
        last.append(n_intervals + len(low) + 1)
        low.append(of_low)
        high.append(of_high)

    bits = image.bit_kind.tolist(), image.bit_source.tolist(), image.bit_want.tolist(), bits_told(image).tolist()
    for kind, source, want, is_told in zip(*bits, strict=True):
        if is_told or (kind == BIT_PATTERN and want == WANT_FALSE):
            matched = int(want == WANT_TRUE)
            add(source + (n_slots if kind == BIT_PATTERN else image.first_term_slot), matched, matched)
            if want == WANT_FALSE:
                text = image.patterns[source].slot
                constants = image.slots[text].constants
                add(text, constants.first(Kind.STRING), constants.last(Kind.STRING))
        off.append(len(image.test_slot) + len(slot))
    return _Tests(
        np.concatenate((np.arange(len(image.test_slot)), np.array(off, np.int64))),
        np.concatenate((image.test_slot, np.array(slot, np.int32))),
        np.concatenate((image.test_off[:-1], np.array(first, np.int32))),
        np.concatenate((image.test_off[1:], np.array(last, np.int32))),
        Intervals(
            np.concatenate((image.test_low, np.array(low, np.int32))),
            np.concatenate((image.test_high, np.array(high, np.int32))),
        ),
    )
