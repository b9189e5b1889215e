"""An image's entries as conjunctions with one test for each attribute, which is what overlap is defined for.

In: an image. Out: the profiles that are no such conjunctions, with the reason; and the tests, merged.

    p > 1 AND p != 3     tests of one slot   [3, 9]   [1, 4] [6, 9]     merged   [3, 4] [6, 9]

Why merge: a set may meet each of two predicates on an attribute with values of its own. Why no OR: in
`(p = 1 OR b = 'x') AND p = 2` the set {1, 2} of p satisfies either side, but no value of it does both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import BIT_TERM, OP_JOIN, OP_JOIN_NOT, Image, Int32, UInt8, gather

Bools = NDArray[np.bool_]
REASONS = (
    "",
    "it has an OR that is not about one attribute alone",
    "it names one attribute in two ways",
    "it compares an expression, not an attribute",
    "it searches strings for a pattern",
    "it looks into an array",
    "it asks for earlier documents",
)
"""Why overlap is not defined for a profile; 0 where it is."""
_OR, _TWO_NAMES, _EXPRESSION, _PATTERN, _ARRAY, _EARLIER = range(1, len(REASONS))


class Tests(NamedTuple):
    """Rank tests as in `Image`, and the entries' tests: of a slot an entry has at most one."""

    slot: Int32
    off: NDArray[np.int64]
    low: Int32
    high: Int32
    entry_off: NDArray[np.int64]
    entry_tests: Int32


def reasons(image: Image) -> UInt8:
    """Per profile the number of a reason against it; the greatest where there are several."""
    n_tests, n_entries = image.n_tests, image.n_entries
    of_test = np.zeros(n_tests + len(image.bit_kind), np.uint8)
    derived = np.array([slot.parts is None for slot in image.slots], np.bool_)
    of_test[:n_tests][derived[image.test_slot]] = _EXPRESSION
    of_test[n_tests:] = np.where(image.bit_kind == BIT_TERM, _ARRAY, _PATTERN)
    owner = np.repeat(np.arange(n_entries), np.diff(image.entry_off))
    of_entry = np.zeros(n_entries, np.uint8)
    of_entry[image.entry_residual >= 0] = _OR
    of_entry[_has_two_names(image, owner)] = _TWO_NAMES
    np.maximum.at(of_entry, owner, of_test[image.entry_tests])
    is_join = np.isin(image.residual_code[:, 0], (OP_JOIN, OP_JOIN_NOT))
    with_join = np.append(_counted(is_join, image.residual_off) > 0, False)  # the last is that of no residual, -1
    of_entry[with_join[image.entry_residual]] = _EARLIER
    of_profile = np.zeros(image.n_profiles, np.uint8)
    of_profile[_spread(image, owner)] = _OR
    np.maximum.at(of_profile, image.entry_profiles, np.repeat(of_entry, np.diff(image.entry_profile_off)))
    return of_profile


def _spread(image: Image, owner: NDArray[np.int64]) -> Bools:
    """The profiles of several entries that are not all about one slot: each entry is a branch of an OR."""
    is_rank_test = image.entry_tests < image.n_tests
    slot = image.test_slot[image.entry_tests[is_rank_test]]
    least, greatest = np.full(image.n_entries, len(image.slots)), np.full(image.n_entries, -1)
    np.minimum.at(least, owner[is_rank_test], slot)
    np.maximum.at(greatest, owner[is_rank_test], slot)
    n_profiles = np.diff(image.entry_profile_off)
    of_profile = np.full(image.n_profiles, len(image.slots)), np.full(image.n_profiles, -1)
    np.minimum.at(of_profile[0], image.entry_profiles, np.repeat(least, n_profiles))
    np.maximum.at(of_profile[1], image.entry_profiles, np.repeat(greatest, n_profiles))
    several = np.bincount(image.entry_profiles, minlength=image.n_profiles) > 1
    return several & (of_profile[0] < of_profile[1])


def _has_two_names(image: Image, owner: NDArray[np.int64]) -> Bools:
    """The entries with tests of two slots that one key of a document may decide: `a.b` and the same in back quotes."""
    number_of: dict[str, int] = {}
    keys = [f"{slot.name}\0" if slot.parts is None else ".".join(slot.parts) for slot in image.slots]
    key = np.array([number_of.setdefault(name, len(number_of)) for name in keys], np.int64)
    if len(number_of) == len(key):
        return np.zeros(image.n_entries, np.bool_)
    is_rank_test = image.entry_tests < image.n_tests
    slot = image.test_slot[image.entry_tests[is_rank_test]]
    entry = owner[is_rank_test]
    n_slots, n_keys = (
        np.bincount(np.unique(np.stack((entry, of)), axis=1)[0], minlength=image.n_entries) for of in (slot, key[slot])
    )
    return n_slots > n_keys


def merged_tests(image: Image) -> tuple[Tests, Bools]:
    """The tests of an image without bit tests and residuals; and the entries of which some were merged."""
    owner = np.repeat(np.arange(image.n_entries), np.diff(image.entry_off))
    slot = image.test_slot[image.entry_tests]
    order = np.lexsort((slot, owner))
    owner, slot, test = owner[order], slot[order], image.entry_tests[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (owner[1:] != owner[:-1]) | (slot[1:] != slot[:-1])
    group = np.cumsum(is_first) - 1
    sizes = np.bincount(group)
    repeated = sizes[group] > 1
    merged_from = np.flatnonzero(is_first & repeated)
    n_merged = len(merged_from)
    number = np.cumsum(is_first[repeated]) - 1  # of the merged test that each of the others goes into
    off, low, high = _in_all(image, test[repeated], number, sizes[group[merged_from]])
    test[merged_from] = image.n_tests + np.arange(n_merged, dtype=np.int32)
    was_merged = np.zeros(image.n_entries, np.bool_)
    was_merged[owner[merged_from]] = True
    n_of_entry = np.bincount(owner[is_first], minlength=image.n_entries)
    return Tests(
        np.concatenate((image.test_slot, slot[merged_from])),
        np.concatenate((image.test_off.astype(np.int64), image.test_off[-1] + off[1:])),
        np.concatenate((image.test_low, low)),
        np.concatenate((image.test_high, high)),
        np.concatenate((np.zeros(1, np.int64), np.cumsum(n_of_entry))),
        test[is_first],
    ), was_merged


def _in_all(
    image: Image, tests: Int32, number: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Int32, Int32]:
    """The ranks that all tests of a number accept, CSR; where a sweep over bounds has `sizes[number]` of them open."""
    lows, cut = gather(image.test_off, image.test_low, tests)
    highs, _ = gather(image.test_off, image.test_high, tests)
    own = np.repeat(number, np.diff(cut))
    bound, of = np.concatenate((lows, highs + 1)), np.concatenate((own, own))
    order = np.lexsort((bound, of))
    bound, of = bound[order], of[order]
    n_open = np.cumsum(np.where(order < len(lows), 1, -1))
    is_last = np.ones(len(order), np.bool_)  # of several at one rank
    is_last[:-1] = (bound[1:] != bound[:-1]) | (of[1:] != of[:-1])
    bound, of, n_open = bound[is_last], of[is_last], n_open[is_last]
    start = np.flatnonzero(n_open == sizes[of])
    off = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(of[start], minlength=len(sizes)))))
    return off, bound[start], bound[start + 1] - np.int32(1)


def _counted(flags: Bools, offsets: NDArray[np.integer]) -> NDArray[np.int64]:
    """The number of flags set in each part."""
    before = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=before[1:])
    counts: NDArray[np.int64] = before[offsets[1:]] - before[offsets[:-1]]
    return counts


class RankSets(NamedTuple):
    """A document of sets: slot `slots[i]`, ascending, holds the ranks low[v] .. high[v], v in off[i] .. off[i + 1].

    The intervals of a slot are sorted and disjoint. A slot that is not there holds rank 0 alone, which low[0] and
    high[0] say: off[0] is 1.
    """

    slots: Int32
    off: NDArray[np.int64]
    low: Int32
    high: Int32


def entries_met(tests: Tests, entries: NDArray[Any], sets: RankSets) -> NDArray[Any]:
    """Those of the entries all of whose tests accept some rank of the document's set: the plain definition."""
    own, cut = gather(tests.entry_off, tests.entry_tests, entries)
    distinct, place = np.unique(own, return_inverse=True)
    fails = ~_tests_met(tests, distinct, sets)
    met: NDArray[Any] = entries[_counted(fails[place], cut) == 0]
    return met


def _tests_met(tests: Tests, chosen: Int32, sets: RankSets) -> Bools:
    lows, cut = gather(tests.off, tests.low, chosen)
    highs, _ = gather(tests.off, tests.high, chosen)
    slot = np.repeat(tests.slot[chosen], np.diff(cut)).astype(np.int64)
    # An interval meets the set where the last of the set's that begins within it or before it reaches it.
    owner = np.concatenate((np.full(1, -1), np.repeat(sets.slots, np.diff(sets.off)))).astype(np.int64)
    place = np.searchsorted(owner << 32 | sets.low, slot << 32 | highs, side="right") - 1
    met = (owner[place] == slot) & (sets.high[place] >= lows)
    met |= ~np.isin(slot, sets.slots) & (lows == 0)
    return _counted(met, cut) > 0
