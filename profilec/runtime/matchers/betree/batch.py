"""Matching a batch: documents go through the leaves together.

In: sparse documents (CSR). Out: the ordinals of each one's profiles (CSR), and the special entries that are left to
Python.

    walk        document by document: the leaves that each reaches
    check       leaf by leaf: all documents of a leaf, while it is in the cache; one bit per entry and document
    read off    document by document, as for a single one

Documents are taken by chunks, so that their dense ranks and bits stay near. Threads take batches of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import ONE, allocating_kernel, inlined, kernel, population, prefetch, trailing_zeros
from profilec.runtime.matchers.betree.leaf import check, ids_of, look_at
from profilec.runtime.matchers.betree.match import ahead, set_bit, take_bits
from profilec.runtime.matchers.betree.settle import HANDED_BACK, set_profiles, settled
from profilec.runtime.matchers.betree.tree import LARGEST_LEAF, N_NODES, N_SLOTS
from profilec.runtime.matchers.betree.walk import walk

MOST_DOCUMENTS = 1024
MOST_RANKS = 2_000_000
"""Documents of a chunk, and cells of their dense ranks."""
_DIGIT = 11


@allocating_kernel
def match_batch(
    off: Any, slots: Any, document_ranks: Any, data: Any, words: Any, flips: Any, tables: Any, n_profiles: int
) -> Any:
    """Documents `off[i] .. off[i + 1]` of `slots, document_ranks`.

    Returns int64[n + 1] offsets and int32 profiles ascending in each document; and likewise the special entries handed
    back, by number.

    PERF: this only makes room; the loops are in kernels that do not allocate, since others count references.
    """
    n_documents = len(off) - 1
    n_ranks = data[N_SLOTS] + 1
    n_words = (n_profiles + 63) >> 6
    bits, summary = np.zeros(n_words, np.uint64), np.zeros((n_words + 63) >> 6, np.uint64)
    queue, row = np.empty(data[N_NODES], np.int32), np.empty(data[LARGEST_LEAF] + 1, np.uint64)
    out_off, out = np.zeros(n_documents + 1, np.int64), np.empty(1024, np.int32)
    handed_off, handed = np.zeros(n_documents + 1, np.int64), np.empty(16, np.int32)
    size = max(1, min(MOST_DOCUMENTS, MOST_RANKS // n_ranks, n_documents))
    ranks = np.zeros((size, n_ranks), np.int32)
    leaves, owner, hits_at = np.empty(64 * size, np.int32), np.empty(64 * size, np.int32), np.empty(64 * size, np.int64)
    hits = np.empty(256 * size, np.uint64)
    pair_off = np.zeros(size + 1, np.int64)
    n = np.zeros(4, np.int64)
    for start in range(0, n_documents, size):
        stop = min(size, n_documents - start)
        n[PAIRS], n[HITS] = 0, 0
        done = 0
        while True:
            done = reach(
                off[start:], slots, document_ranks, done, stop, data, ranks, queue, leaves, owner, hits_at, pair_off, n
            )
            if done == stop:
                break
            longer = n[PAIRS] + data[N_NODES]
            leaves, owner, hits_at = with_room(leaves, longer), with_room(owner, longer), with_room(hits_at, longer)
        hits = with_room(hits, n[HITS])
        check_pairs(data, words, flips, leaves, hits_at, owner, by_leaf(leaves, n[PAIRS]), ranks, hits, row)
        for d in range(stop):
            most = count_found(data, tables, leaves, hits_at, pair_off[d], pair_off[d + 1], hits)
            out = with_room(out, n[OUT] + min(most, n_profiles) + 2)
            handed = with_room(handed, n[HANDED] + most)
            read_off(
                data, tables, leaves, hits_at, pair_off[d], pair_off[d + 1], hits, ranks[d], bits, summary, handed, n
            )
            n[OUT] = take_bits(bits, summary, out, n[OUT])
            out_off[start + d + 1], handed_off[start + d + 1] = n[OUT], n[HANDED]
        forget(off[start:], slots, stop, ranks)
    return out_off, out[: n[OUT]].copy(), handed_off, handed[: n[HANDED]].copy()


PAIRS, HITS, OUT, HANDED = range(4)
"""What `n` counts: pairs of leaf and document, words of hits, profiles found, entries handed back."""


@kernel
def reach(
    off: Any,
    slots: Any,
    document_ranks: Any,
    done: int,
    stop: int,
    data: Any,
    ranks: Any,
    queue: Any,
    leaves: Any,
    owner: Any,
    hits_at: Any,
    pair_off: Any,
    n: Any,
) -> int:
    """Walks for documents done .. stop; returns the first for whose leaves there was no room."""
    for d in range(done, stop):
        first, last = off[d], off[d + 1]
        own = ranks[d]
        for i in range(first, last):
            own[slots[i]] = document_ranks[i]
        n_reached = walk(data, slots[first:last], document_ranks[first:last], last - first, own, queue)
        if n[PAIRS] + n_reached > len(leaves):
            return d
        for q in range(n_reached):
            leaf = queue[q] + 1 + 2 * data[queue[q]]
            if data[leaf]:
                pair = n[PAIRS]
                leaves[pair], owner[pair], hits_at[pair] = leaf, d, n[HITS]
                n[HITS] += (data[leaf] + 63) >> 6
                n[PAIRS] += 1
        pair_off[d + 1] = n[PAIRS]
    return stop


@kernel
def check_pairs(
    data: Any,
    words: Any,
    flips: Any,
    leaves: Any,
    hits_at: Any,
    owner: Any,
    order: Any,
    ranks: Any,
    hits: Any,
    row: Any,
) -> None:
    """Checks every (leaf, document), the documents of a leaf one after another."""
    for i in range(len(order)):
        if i + 4 < len(order):
            prefetch(data, leaves[order[i + 4]])
        if i + 2 < len(order) and leaves[order[i + 2]] != leaves[order[i + 1]]:
            ahead(data, leaves[order[i + 2]])
        pair = order[i]
        leaf, at, own = leaves[pair], hits_at[pair], ranks[owner[pair]]
        n_words = look_at(data, words, flips, leaf, own, hits, at)
        if n_words:
            n_words = check(data, words, flips, leaf, own, hits, at, row)
        if n_words == 0:
            for w in range(at, at + ((data[leaf] + 63) >> 6)):
                hits[w] = 0


@kernel
def count_found(data: Any, tables: Any, leaves: Any, hits_at: Any, first: int, last: int, hits: Any) -> int:
    """The most profiles that the pairs of a document may give."""
    most = 0
    for pair in range(first, last):
        for w in range(hits_at[pair], hits_at[pair] + ((data[leaves[pair]] + 63) >> 6)):
            most += population(hits[w])
    return most * most_profiles(tables)


@inlined
def most_profiles(tables: Any) -> int:
    """The most profiles of an entry."""
    return tables.most[0]


@kernel
def read_off(
    data: Any,
    tables: Any,
    leaves: Any,
    hits_at: Any,
    first: int,
    last: int,
    hits: Any,
    ranks: Any,
    bits: Any,
    summary: Any,
    handed: Any,
    n: Any,
) -> None:
    """Sets the bits of the profiles that a document's pairs give, and appends the entries handed back."""
    for pair in range(first, last):
        leaf = leaves[pair]
        ids, stride = ids_of(data, leaf)
        for w in range((data[leaf] + 63) >> 6):
            found = hits[hits_at[pair] + w]
            while found:
                id = ids + stride * ((w << 6) + trailing_zeros(found))
                id = data[id if stride == 1 else data[id]]
                found &= found - ONE
                if id >= 0:
                    set_bit(bits, summary, id)
                elif tables.kind[~id] == HANDED_BACK:
                    handed[n[HANDED]] = ~id
                    n[HANDED] += 1
                elif settled(tables, ~id, ranks):
                    set_profiles(tables, ~id, bits, summary)


@kernel
def forget(off: Any, slots: Any, stop: int, ranks: Any) -> None:
    """Empties the dense ranks of documents 0 .. stop."""
    for d in range(stop):
        for i in range(off[d], off[d + 1]):
            ranks[d, slots[i]] = 0


@allocating_kernel
def with_room(array: Any, n: int) -> Any:
    """The array, or a longer one with its content."""
    if n <= len(array):
        return array
    longer = np.empty(max(n, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


@allocating_kernel
def by_leaf(leaves: Any, n: int) -> Any:
    """The pairs sorted by leaf: a radix sort, digit by digit."""
    order, sorted_ = np.arange(n).astype(np.int32), np.empty(n, np.int32)
    counts = np.empty((1 << _DIGIT) + 1, np.int64)
    largest = 0
    for i in range(n):
        largest = max(largest, leaves[i])
    shift = 0
    while largest >> shift:
        by_digit(leaves, order, sorted_, counts, shift)
        order, sorted_ = sorted_, order
        shift += _DIGIT
    return order


@kernel
def by_digit(leaves: Any, order: Any, sorted_: Any, counts: Any, shift: int) -> None:
    """Sorts by one digit and keeps the order of equal ones."""
    counts[:] = 0
    for i in range(len(order)):
        counts[((leaves[order[i]] >> shift) & ((1 << _DIGIT) - 1)) + 1] += 1
    for digit in range(1, len(counts)):
        counts[digit] += counts[digit - 1]
    for i in range(len(order)):
        digit = (leaves[order[i]] >> shift) & ((1 << _DIGIT) - 1)
        sorted_[counts[digit]] = order[i]
        counts[digit] += 1
