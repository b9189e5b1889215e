"""Matching with a tree: one document.

In: a sparse document. Out: the ordinals of matching profiles, ascending.

The profiles found are bits, with a bit per 64 of these words on top, and are read off in order: that sorts them,
and one found through several entries is found once. Special entries are told apart, by number; `settle.py` goes on
with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.kernels import ONE, inlined, kernel, population, prefetch, trailing_zeros
from profilec.runtime.matchers.betree.leaf import AT_ONCE, check_some, words_of
from profilec.runtime.matchers.betree.tree import (
    FORM_LIST,
    GROUP,
    HEADER,
    MOST_ATTRIBUTES,
    MOST_WORDS,
    N_LEAVES,
    N_NODES,
    N_SLOTS,
    PARTS,
    Tree,
)
from profilec.runtime.matchers.betree.walk import leaves_of, walk


@kernel
def match_document(
    slots: Any, document_ranks: Any, n_slots: int, data: Any, words: Any, ints: Any, longs: Any, n_profiles: int
) -> int:
    """Sets the bit of each profile whose entry holds; returns the number of special entries found.

    Where there are some, the document stays in the scratch ranks, for `settle_document`. Until the profiles are taken
    or counted the scratch is in use, and says so in its last word: where an interrupt came between, it is emptied now.
    """
    if longs[-1] != 0:
        longs[:] = 0
        ints[:] = 0
    longs[-1] = ONE
    ranks, queue, leaves, left, owner, rows, special = parts_of_ints(data, ints)
    bits, summary, found, present = parts_of_longs(longs, n_profiles)
    for i in range(n_slots):
        ranks[slots[i]] = document_ranks[i]
        present[slots[i] >> 6] |= ONE << np.uint64(slots[i] & 63)
    n_leaves = leaves_of(data, queue, walk(data, slots, document_ranks, n_slots, ranks, queue), leaves, 0)
    one_ranks, one_present = ranks.reshape((1, len(ranks))), present.reshape((1, len(present)))
    n_special = 0
    for start in range(0, n_leaves, AT_ONCE):
        some = leaves[start : min(n_leaves, start + AT_ONCE)]
        n_left = check_some(data, words, some, owner, one_ranks, one_present, found, left, rows)
        for k in range(n_left):
            leaf = some[left[k]]
            if k + 1 < n_left:
                ids_ahead(data, some[left[k + 1]])
            for w in range(words_of(data, leaf)):
                ids, holds = np.uint64(data[leaf + 3] + 64 * w), found[MOST_WORDS * k + w]
                while holds:
                    id = data[ids + np.uint64(trailing_zeros(holds))]
                    holds &= holds - ONE
                    if id >= 0:
                        set_bit(bits, summary, id)
                    else:
                        special[n_special] = ~id
                        n_special += 1
    for i in range(n_slots):
        present[slots[i] >> 6] = 0
        if n_special == 0:
            ranks[slots[i]] = 0
    return n_special


@inlined
def ids_ahead(data: Any, leaf: int) -> None:
    """Asks for the ids of a leaf."""
    for line in range(data[leaf + 3], data[leaf + 3] + data[leaf], 16):
        prefetch(data, line)


@inlined
def set_bit(bits: Any, summary: Any, profile: int) -> None:
    """PERF: unsigned numbers spare the test for negative ones."""
    ordinal = np.uint64(np.uint32(profile))
    bits[ordinal >> np.uint64(6)] |= ONE << (ordinal & np.uint64(63))
    summary[ordinal >> np.uint64(12)] |= ONE << ((ordinal >> np.uint64(6)) & np.uint64(63))


@inlined
def parts_of_ints(data: Any, ints: Any) -> Any:
    """Scratch: dense ranks with one slot more that is always NULL, the queue, leaves, those left of some, their owners
    (0), their rows, special entries."""
    queue = data[N_SLOTS] + 1
    leaves = queue + data[N_NODES]
    left = leaves + data[N_LEAVES]
    owner = left + AT_ONCE
    rows = owner + AT_ONCE
    special = rows + AT_ONCE * (data[MOST_ATTRIBUTES] + 1)
    return (
        ints[:queue],
        ints[queue:leaves],
        ints[leaves:left],
        ints[left:owner],
        ints[owner:rows],
        ints[rows:special],
        ints[special:],
    )


@inlined
def parts_of_longs(longs: Any, n_profiles: int) -> Any:
    """Scratch: a bit per profile, a bit per word of these, the entries that hold of some leaves, a bit per slot (and
    then whether all this is in use)."""
    n_words = (n_profiles + 63) >> 6
    found = n_words + ((n_words + 63) >> 6)
    present = found + AT_ONCE * MOST_WORDS
    return longs[:n_words], longs[n_words:found], longs[found:present], longs[present:]


def scratch_of(tree: Tree, n_profiles: int) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """The integers and words that `parts_of_ints` and `parts_of_longs` cut."""
    header = tree.data[:HEADER].astype(np.int64)
    n_rows = AT_ONCE * (header[MOST_ATTRIBUTES] + 1)
    n_ints = header[N_SLOTS] + 1 + header[N_NODES] + header[N_LEAVES] + 2 * AT_ONCE + n_rows + len(tree.special) + 1
    n_words = (n_profiles + 63) >> 6
    n_longs = n_words + ((n_words + 63) >> 6) + AT_ONCE * MOST_WORDS + (header[N_SLOTS] >> 6) + 2
    return np.zeros(n_ints, np.int32), np.zeros(n_longs, np.uint64)


@kernel
def match_and_take(
    slots: Any,
    document_ranks: Any,
    n_slots: int,
    data: Any,
    words: Any,
    ints: Any,
    longs: Any,
    n_profiles: int,
    out: Any,
) -> int:
    """Both `match_document` and `take_profiles`: the number of profiles, or ~n after finding n special entries.

    PERF: a call from Python costs more than many a document.
    """
    n_special = match_document(slots, document_ranks, n_slots, data, words, ints, longs, n_profiles)
    return ~n_special if n_special else take_profiles(longs, n_profiles, out)


@kernel
def take_profiles(longs: Any, n_profiles: int, out: Any) -> int:
    """Moves the profiles found to `out`, ascending; returns how many."""
    bits, summary, _, _ = parts_of_longs(longs, n_profiles)
    n = take_bits(bits, summary, out, 0)
    longs[-1] = 0
    return n


@inlined
def take_bits(bits: Any, summary: Any, out: Any, n: int) -> int:
    """Appends the bits set to `out`, ascending, and clears them; returns its new length.

    PERF: two are written whether they are there or not, since a word has mostly one or two and a wrong guess costs
    more; `out` has room for two more than there are.
    """
    for s in range(len(summary)):
        group = summary[s]
        if group:
            summary[s] = 0
            while group:
                w = (s << 6) + trailing_zeros(group)
                group &= group - ONE
                word = bits[w]
                bits[w] = 0
                n_set = population(word)
                out[n] = (w << 6) + trailing_zeros(word)
                word &= word - ONE
                out[n + 1] = (w << 6) + trailing_zeros(word)
                for i in range(2, n_set):
                    word &= word - ONE
                    out[n + i] = (w << 6) + trailing_zeros(word)
                n += n_set
    return n


@kernel
def count_candidates(
    slots: Any, document_ranks: Any, n_slots: int, data: Any, words: Any, ints: Any, longs: Any, n_profiles: int
) -> int:
    """Of how many entries some predicate is read for a document: those of groups that it does not pass over, and all of
    a matrix (for measuring)."""
    ranks, queue, leaves, _, _, _, _ = parts_of_ints(data, ints)
    for i in range(n_slots):
        ranks[slots[i]] = document_ranks[i]
    n = 0
    for q in range(leaves_of(data, queue, walk(data, slots, document_ranks, n_slots, ranks, queue), leaves, 0)):
        leaf = leaves[q]
        if data[leaf + 1] != FORM_LIST:
            n += data[leaf]
            continue
        first = 0
        for group in range(leaf + PARTS, leaf + PARTS + GROUP * data[leaf + 2], GROUP):
            slot, end = data[group], data[group + 1]
            if slot < 0 or ranks[slot] > 0:
                n += end - first
            first = end
    for i in range(n_slots):
        ranks[slots[i]] = 0
    return n


@kernel
def count_profiles(longs: Any, n_profiles: int) -> int:
    """How many profiles were found; forgets them."""
    bits, summary, _, _ = parts_of_longs(longs, n_profiles)
    n = 0
    for s in range(len(summary)):
        group = summary[s]
        if group:
            summary[s] = 0
            while group:
                w = (s << 6) + trailing_zeros(group)
                group &= group - ONE
                n += population(bits[w])
                bits[w] = 0
    longs[-1] = 0
    return n
