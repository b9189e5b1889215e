"""Matching with a tree: one document, or a batch.

In: sparse documents. Out: the ordinals of matching profiles, ascending.

The profiles found are bits, with a bit per 64 of these words on top, and are read off in order: that sorts them,
and one found through several entries is found once. Special entries are told apart, by number; `settle.py` goes on
with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import ONE, inlined, kernel, population, prefetch, trailing_zeros
from profilec.runtime.matchers.betree.leaf import check, ids_of, look_at
from profilec.runtime.matchers.betree.tree import FORM_LIST, N_NODES, N_SLOTS, N_WORDS
from profilec.runtime.matchers.betree.walk import walk


@kernel
def match_document(
    slots: Any,
    document_ranks: Any,
    n_slots: int,
    data: Any,
    words: Any,
    flips: Any,
    ints: Any,
    longs: Any,
    n_profiles: int,
) -> int:
    """Sets the bit of each profile whose entry holds; returns the number of special entries found.

    Where there are some, the document stays in the scratch ranks, for `settle_document`.
    """
    ranks, queue, special = parts_of_ints(data, ints)
    bits, summary, hits, row = parts_of_longs(data, longs, n_profiles)
    for i in range(n_slots):
        ranks[slots[i]] = document_ranks[i]
    n_reached = walk(data, slots, document_ranks, n_slots, ranks, queue)
    n_leaves = 0
    n_hits = 0
    for q in range(n_reached):
        if q + 3 < n_reached:
            ahead(data, queue[q + 3] + 1 + 2 * data[queue[q + 3]])
        node = queue[q]
        leaf = node + 1 + 2 * data[node]
        if data[leaf]:
            n_words = look_at(data, words, flips, leaf, ranks, hits, n_hits)
            if n_words:
                queue[n_leaves] = leaf
                n_leaves += 1
                n_hits += n_words
    n_special = 0
    at = 0
    for q in range(n_leaves):
        leaf = queue[q]
        n_words = check(data, words, flips, leaf, ranks, hits, at, row)
        ids, stride = ids_of(data, leaf)
        for w in range(n_words):
            found = hits[at + w]
            while found:
                id = ids + stride * ((w << 6) + trailing_zeros(found))
                id = data[id if stride == 1 else data[id]]
                found &= found - ONE
                if id >= 0:
                    set_bit(bits, summary, id)
                else:
                    special[n_special] = ~id
                    n_special += 1
        at += (data[leaf] + 63) >> 6
    if n_special == 0:
        for i in range(n_slots):
            ranks[slots[i]] = 0
    return n_special


@inlined
def ahead(data: Any, leaf: int) -> None:
    """Asks for the first lines of a leaf that is soon checked."""
    for line in range(leaf + 16, leaf + 3 + 3 * data[leaf + 2], 16):
        prefetch(data, line)


@inlined
def set_bit(bits: Any, summary: Any, profile: int) -> None:
    bits[profile >> 6] |= ONE << np.uint64(profile & 63)
    summary[profile >> 12] |= ONE << np.uint64((profile >> 6) & 63)


@inlined
def parts_of_ints(data: Any, ints: Any) -> Any:
    """Scratch: dense ranks with one slot more that is always NULL, the queue, special entries."""
    n_ranks = data[N_SLOTS] + 1
    n_nodes = data[N_NODES]
    return ints[:n_ranks], ints[n_ranks : n_ranks + n_nodes], ints[n_ranks + n_nodes :]


@inlined
def parts_of_longs(data: Any, longs: Any, n_profiles: int) -> Any:
    """Scratch: a bit per profile, a bit per word of these, the bits of all leaves, and a row of the largest."""
    n_words = (n_profiles + 63) >> 6
    n_summary = (n_words + 63) >> 6
    hits = n_words + n_summary
    row = hits + data[N_WORDS]
    return longs[:n_words], longs[n_words:hits], longs[hits:row], longs[row:]


@kernel
def take_profiles(longs: Any, n_profiles: int, out: Any) -> int:
    """Moves the profiles found to `out`, ascending; returns how many."""
    n_words = (n_profiles + 63) >> 6
    n_summary = (n_words + 63) >> 6
    return take_bits(longs[:n_words], longs[n_words : n_words + n_summary], out, 0)


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
    slots: Any,
    document_ranks: Any,
    n_slots: int,
    data: Any,
    words: Any,
    flips: Any,
    ints: Any,
    longs: Any,
    n_profiles: int,
) -> int:
    """Of how many entries some predicate is read for a document: those of groups that it does not pass over, and all of
    a matrix (for measuring)."""
    ranks, queue, _ = parts_of_ints(data, ints)
    for i in range(n_slots):
        ranks[slots[i]] = document_ranks[i]
    n_reached = walk(data, slots, document_ranks, n_slots, ranks, queue)
    n = 0
    for q in range(n_reached):
        leaf = queue[q] + 1 + 2 * data[queue[q]]
        if data[leaf + 1] != FORM_LIST:
            n += data[leaf]
            continue
        first = 0
        for group in range(leaf + 3, leaf + 3 + 2 * data[leaf + 2], 2):
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
    n_words = (n_profiles + 63) >> 6
    n_summary = (n_words + 63) >> 6
    bits, summary = longs[:n_words], longs[n_words : n_words + n_summary]
    n = 0
    for s in range(n_summary):
        group = summary[s]
        if group:
            summary[s] = 0
            while group:
                w = (s << 6) + trailing_zeros(group)
                group &= group - ONE
                n += population(bits[w])
                bits[w] = 0
    return n
