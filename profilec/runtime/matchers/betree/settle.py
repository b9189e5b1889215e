"""Special entries: those of several profiles, and those of which something is left to check.

In: entries whose rank tests hold, and the document's dense ranks. Out: the bits of their profiles; entries that
compiled code cannot decide (their terms or joins run in Python) are handed back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import (
    OP_JUMP_IF_FALSE,
    OP_JUMP_IF_TRUE,
    OP_TEST,
    WANT_FALSE,
    WANT_NOT_TRUE,
    WANT_TRUE,
)
from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.betree.match import parts_of_ints, parts_of_longs, set_bit

PLAIN, CHECKED, HANDED_BACK = range(3)
"""Of a special entry: nothing is left to check; tests are; or a term or a join is."""


class Tables(NamedTuple):
    """What special entries need of the image, as kernels take it. They are known by their numbers.

    `bits`: the bit tests of each, numbered from 0, of which those that the tree has asked already hold.
    `bit_slot[b]`: the pseudo-slot of its pattern or term. `text_slot, text_first, text_last`: the pattern's own slot,
    and the ranks there that are strings. `most`: the most profiles of an entry, and how many more than one each all of
    them have together.
    """

    kind: NDArray[np.uint8]
    bit_off: NDArray[np.int32]
    bits: NDArray[np.int32]
    residual: NDArray[np.int32]
    profile_off: NDArray[np.int32]
    profiles: NDArray[np.int32]
    most: NDArray[np.int64]
    residual_off: NDArray[np.int32]
    residual_code: NDArray[np.int32]
    test_slot: NDArray[np.int32]
    test_off: NDArray[np.int32]
    test_low: NDArray[np.int32]
    test_high: NDArray[np.int32]
    bit_slot: NDArray[np.int32]
    bit_want: NDArray[np.uint8]
    text_slot: NDArray[np.int32]
    text_first: NDArray[np.int32]
    text_last: NDArray[np.int32]


@kernel
def settle_document(
    n_special: int,
    tables: Any,
    slots: Any,
    n_slots: int,
    data: Any,
    ints: Any,
    longs: Any,
    n_profiles: int,
    handed: Any,
) -> int:
    """After `match_document` found special entries; returns how many of them stand in `handed`."""
    ranks, _, _, _, _, _, special = parts_of_ints(data, ints)
    bits, summary, _, _ = parts_of_longs(longs, n_profiles)
    n_handed = 0
    for i in range(n_special):
        entry = special[i]
        if tables.kind[entry] == HANDED_BACK:
            handed[n_handed] = entry
            n_handed += 1
        elif settled(tables, entry, ranks):
            set_profiles(tables, entry, bits, summary)
    for i in range(n_slots):
        ranks[slots[i]] = 0
    return n_handed


@inlined
def set_profiles(tables: Any, entry: int, bits: Any, summary: Any) -> None:
    for p in range(tables.profile_off[entry], tables.profile_off[entry + 1]):
        set_bit(bits, summary, tables.profiles[p])


@inlined
def settled(tables: Any, entry: int, ranks: Any) -> bool:
    """Whether what is left to check of an entry holds."""
    if tables.kind[entry] == PLAIN:
        return True
    for b in range(tables.bit_off[entry], tables.bit_off[entry + 1]):
        if not bit_holds(tables, tables.bits[b], ranks):
            return False
    residual = tables.residual[entry]
    return residual < 0 or residual_holds(tables, residual, ranks)


@inlined
def residual_holds(tables: Any, residual: int, ranks: Any) -> bool:
    first, end = tables.residual_off[residual], tables.residual_off[residual + 1]
    row = first
    register = False
    while row < end:
        operation, argument = tables.residual_code[row, 0], tables.residual_code[row, 1]
        row += 1
        if operation == OP_TEST:
            register = test_holds(tables, argument, ranks)
        elif operation == OP_JUMP_IF_FALSE:
            if not register:
                row = first + argument
        elif operation == OP_JUMP_IF_TRUE:
            if register:
                row = first + argument
        else:
            register = argument != 0
    return register


@inlined
def test_holds(tables: Any, test: int, ranks: Any) -> bool:
    n_tests = len(tables.test_slot)
    if test >= n_tests:
        return bit_holds(tables, test - n_tests, ranks)
    rank = ranks[tables.test_slot[test]]
    low, high = tables.test_off[test], tables.test_off[test + 1]
    first = low
    while low < high:
        middle = (low + high) >> 1
        if tables.test_low[middle] <= rank:
            low = middle + 1
        else:
            high = middle
    return low > first and rank <= tables.test_high[low - 1]


@inlined
def bit_holds(tables: Any, bit: int, ranks: Any) -> bool:
    """NULL: what is no string neither matches a pattern nor fails to."""
    matched = ranks[tables.bit_slot[bit]] > 0
    text = ranks[tables.text_slot[bit]]
    is_text = (tables.text_first[bit] <= text) & (text <= tables.text_last[bit])
    want = tables.bit_want[bit]
    if want == WANT_TRUE:
        return matched
    if want == WANT_NOT_TRUE:
        return not matched
    if want == WANT_FALSE:
        return is_text and not matched
    return matched or not is_text
