"""From an image's entries to its tree: BE-Tree's bulk load.

In: an image without a tree. Out: the tree. What a test asks of a document's slots becomes predicates over ranks:

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

from profilec.planner.lower.betree import costs
from profilec.planner.lower.betree.emit import ANY_FORM, LISTS_ONLY, MATRICES_ONLY, emit
from profilec.planner.lower.betree.grow import empty_nodes, grow
from profilec.planner.lower.betree.predicates import Intervals, Predicates, Slots
from profilec.planner.lower.expected import DOCUMENT_TO_PROFILE
from profilec.runtime.apart import apart
from profilec.runtime.element_terms import bits_told
from profilec.runtime.image import BIT_PATTERN, WANT_FALSE, WANT_TRUE, Image, gather
from profilec.runtime.matchers.betree.tree import Tree
from profilec.values.kinds import Kind

FORMS = {"any": ANY_FORM, "list": LISTS_ONLY, "matrix": MATRICES_ONLY}


def bulk_load(
    image: Image,
    *,
    max_cap: int | None = None,
    presence: NDArray[np.float64] | None = None,
    leaves: str = "any",
    entries: NDArray[np.bool_] | None = None,
) -> Tree:
    """The tree of an image's entries.

    Args:
        image: its `tree` is not looked at.
        max_cap: the leaf capacity: every leaf with more entries is cut, if it can be. None: BE-Tree's guide for the
            match probability that the predicates let expect (Table 4), and cuts only where they are expected to pay.
        presence: per slot the share of documents that have it; None: as often as profiles ask for it, times
            `DOCUMENT_TO_PROFILE`.
        leaves: "list" or "matrix" for leaves of that form only.
        entries: which of the entries it is to have; None for all.
    """
    tests = _tests(image)
    predicates, intervals = _predicates(image, tests)
    n_ranks = image.n_ranks
    n_slots = len(n_ranks)
    is_sampled = presence is not None
    if presence is None:
        asked = np.bincount(predicates.slot, minlength=n_slots)
        presence = np.minimum(1.0, DOCUMENT_TO_PROFILE * asked / max(1, image.n_entries))
    slots = Slots(presence, n_ranks, is_sampled)
    by_cost = max_cap is None
    if max_cap is None:
        max_cap = costs.max_cap(match_probability(predicates, slots))
    possible = _possible(predicates)
    nodes = empty_nodes(possible if entries is None else possible[entries[possible]], len(predicates.slot))
    grow(predicates, intervals, slots, nodes, max_cap, by_cost)
    ids, special = entry_ids(image)
    # PERF: copied, since numpy asks for large pages, and reading a tree is waiting for memory and for the page tables.
    grown = predicates, intervals, slots, nodes, ids, FORMS[leaves]
    data, words = (np.array(column) for column in apart(emit, *grown))
    for array in (data, words, special):
        array.flags.writeable = False
    return Tree(data, words, special)


def match_probability(predicates: Predicates, slots: Slots) -> float:
    """The mean over entries of the share of documents expected to satisfy them, predicates taken as independent."""
    n_entries = len(predicates.off) - 1
    if n_entries == 0:
        return 0.0
    width = (predicates.high - predicates.low + 1) / slots.n_ranks[predicates.slot]
    share = np.where(predicates.low == 0, width, slots.presence[predicates.slot] * width)
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.maximum(share, 1e-12)))))
    return float(np.exp(np.minimum(0.0, logs[predicates.off[1:]] - logs[predicates.off[:-1]])).mean())


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


def _predicates(image: Image, tests: _Tests) -> tuple[Predicates, Intervals]:
    """The predicates of all entries, each entry's in the order of its tests: most selective first."""
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


def _possible(predicates: Predicates) -> NDArray[np.int32]:
    """The entries all of whose predicates hold for some rank."""
    never = np.concatenate(([0], np.cumsum(predicates.first == predicates.last)))
    return np.flatnonzero(never[predicates.off[1:]] == never[predicates.off[:-1]]).astype(np.int32)
