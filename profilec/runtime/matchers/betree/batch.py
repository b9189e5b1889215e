"""Matching a batch: documents go through the leaves together.

In: sparse documents (CSR). Out: the ordinals of each one's profiles (CSR), and the special entries that are left to
Python.

    walk        document by document: the leaves that each reaches
    check       leaf by leaf where many documents share one, while it is in the cache; a bit per entry and document
    read off    document by document, as for a single one

Documents are taken by chunks, so that their dense ranks and bits stay near. Threads take batches of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.kernels import ONE, allocating_kernel, inlined, kernel, population, prefetch, trailing_zeros
from profilec.runtime.matchers.betree.leaf import AT_ONCE, check_some, words_of
from profilec.runtime.matchers.betree.match import set_bit, take_bits
from profilec.runtime.matchers.betree.settle import HANDED_BACK, set_profiles, settled
from profilec.runtime.matchers.betree.tree import MOST_ATTRIBUTES, MOST_WORDS, N_LEAVES, N_NODES, WIDEST
from profilec.runtime.matchers.betree.walk import leaves_of, walk
from profilec.runtime.sort_kernels import sorted_order

N_DOCUMENTS, MOST_DOCUMENTS = 1024, 16_384
NEAR_RANKS, MOST_RANKS = 400_000, 2_000_000
"""Documents of a chunk, and cells of their dense ranks: up to which these stay near, and at all."""
MOST_PAIRS = 400_000
"""Leaves that documents of a chunk of more than N_DOCUMENTS may reach together, as those before them did."""
SHARED = 2
"""Documents a leaf from which on it pays to bring these together; fewer are better taken one by one."""
MUCH = 1 << 25
"""Profiles for which room is made without looking how many there really are."""
AHEAD = 6
"""Pairs between which memory is asked for and read."""


class DenseRows(NamedTuple):
    """A row of ranks for each document of a chunk, and a bit for each that is not 0; all 0 between chunks.

    PERF: kept by who matches: rows of many slots are larger than what is written to them. What is not used of them
    takes no memory.
    """

    ranks: NDArray[np.int32]
    present: NDArray[np.uint64]
    in_use: NDArray[np.bool_]
    """Of length 1. True where a chunk begins: an interrupt ended the last one, and left the rest filled."""
    n_reached: NDArray[np.int64]
    """Of length 1: the leaves that a document of the last chunk reached, rounded up; 0 before the first."""

    @classmethod
    def of(cls, n_slots: int) -> DenseRows:
        n = min(MOST_DOCUMENTS, max(N_DOCUMENTS, NEAR_RANKS // (n_slots + 1)))
        n = max(1, min(n, MOST_RANKS // (n_slots + 1)))
        return cls(
            np.zeros((n, n_slots + 1), np.int32),
            np.zeros((n, (n_slots >> 6) + 1), np.uint64),
            np.zeros(1, np.bool_),
            np.zeros(1, np.int64),
        )

    def next_size(self) -> int:
        """Documents of the next chunk.

        PERF: the more there are, the more of them meet in a leaf while it is in the cache.
        """
        n_reached = int(self.n_reached[0])
        n = N_DOCUMENTS if not n_reached else max(N_DOCUMENTS, MOST_PAIRS // n_reached)
        return min(n, len(self.ranks))


class FoundBatch(NamedTuple):
    """CSR of profiles, ascending in each document, and of special entries, by number, that Python has to decide."""

    off: NDArray[np.int64]
    profiles: NDArray[np.int32]
    handed_off: NDArray[np.int64]
    handed: NDArray[np.int32]


def match_batch(
    off: NDArray[np.int64],
    slots: NDArray[np.int32],
    document_ranks: NDArray[np.int32],
    data: NDArray[np.int32],
    words: NDArray[np.uint64],
    tables: Any,
    n_profiles: int,
    scratch: DenseRows,
) -> FoundBatch:
    """Documents `off[i] .. off[i + 1]` of `slots, document_ranks`.

    PERF: answers are made room for here, since numpy asks for large pages, and writing them is most of the work where
    many profiles match.
    """
    n_documents = len(off) - 1
    out_off, handed_off = np.zeros(n_documents + 1, np.int64), np.zeros(n_documents + 1, np.int64)
    profiles, handed = [], []
    stop = 0
    while stop < n_documents:
        start, stop = stop, min(stop + scratch.next_size(), n_documents)
        own = out_off[start : stop + 1], handed_off[start : stop + 1]
        pairs = pairs_of(off[start : stop + 1], slots, document_ranks, data, words, scratch)
        sizes = most_found(data, tables, pairs, n_profiles, False)
        if sizes[0] > MUCH:
            sizes = most_found(data, tables, pairs, n_profiles, True)
        out, own_handed = np.empty(sizes[0] + 2, np.int32), np.empty(sizes[1], np.int32)
        read_all(data, tables, pairs, n_profiles, out, own_handed, *own)
        forget(off[start : stop + 1], slots, scratch.ranks, scratch.present, scratch.in_use)
        profiles.append(filled(out, own[0]))
        handed.append(filled(own_handed, own[1]))
    return FoundBatch(out_off, joined(profiles), handed_off, joined(handed))


def filled(room: NDArray[np.int32], off: NDArray[np.int64]) -> NDArray[np.int32]:
    """What was written to an array; on its own where most of the room is empty."""
    n = int(off[-1] - off[0])
    return room[:n] if 2 * n >= len(room) else room[:n].copy()


def joined(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """One array of all; PERF: a single one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int32), *parts])


class Pairs(NamedTuple):
    """The leaves that documents reach: those of document d are `off[d] .. off[d + 1]`. The entries of pair p that hold
    are the bits of `hits` from `hit_at[p]` on; -1: none holds. `n_found`: how many hold for each document; `ranks`: a
    dense row for each."""

    off: NDArray[np.int64]
    leaves: NDArray[np.int32]
    hit_at: NDArray[np.int64]
    hits: NDArray[np.uint64]
    n_found: NDArray[np.int64]
    ranks: NDArray[np.int32]


def pairs_of(
    off: NDArray[np.int64],
    slots: NDArray[np.int32],
    document_ranks: NDArray[np.int32],
    data: NDArray[np.int32],
    words: NDArray[np.uint64],
    scratch: DenseRows,
) -> Pairs:
    """Walks and checks for a chunk of documents."""
    ranks, present, in_use, n_reached = scratch
    if in_use[0]:
        ranks.fill(0)
        present.fill(0)
    in_use[0] = True
    n_documents = len(off) - 1
    queue, reached = np.empty(data[N_NODES], np.int32), np.empty(data[N_LEAVES], np.int32)
    leaves, owner = np.empty(64 * n_documents, np.int32), np.empty(64 * n_documents, np.int32)
    pair_off = np.zeros(n_documents + 1, np.int64)
    done = 0
    while True:
        done = reach(off, slots, document_ranks, done, data, ranks, present, queue, reached, leaves, owner, pair_off)
        if done == n_documents:
            break
        longer = max(2 * len(leaves), int(pair_off[done]) + len(reached))
        leaves, owner = np.resize(leaves, longer), np.resize(owner, longer)
    n_pairs = int(pair_off[n_documents])
    n_reached[0] = -(-n_pairs // max(n_documents, 1)) or 1
    leaves, owner = leaves[:n_pairs], owner[:n_pairs]
    hit_at, n_found = np.full(n_pairs, -1, np.int64), np.zeros(n_documents, np.int64)
    hits = np.empty(n_pairs * int(data[WIDEST]), np.uint64)  # mostly fewer; what is not written to takes no memory
    rows = np.empty(AT_ONCE * (data[MOST_ATTRIBUTES] + 1), np.int32)
    found, left = np.empty(AT_ONCE * MOST_WORDS, np.uint64), np.empty(AT_ONCE, np.int32)
    order = sorted_order(leaves) if n_pairs > SHARED * data[N_LEAVES] else np.arange(n_pairs, dtype=np.int32)
    asked = leaves[order], owner[order], order
    check_pairs(data, words, *asked, ranks, present, found, left, rows, hit_at, hits, n_found)
    return Pairs(pair_off, leaves, hit_at, hits, n_found, ranks)


@kernel
def reach(
    off: Any,
    slots: Any,
    document_ranks: Any,
    done: int,
    data: Any,
    ranks: Any,
    present: Any,
    queue: Any,
    reached: Any,
    leaves: Any,
    owner: Any,
    pair_off: Any,
) -> int:
    """Walks for documents from `done` on; returns the first for whose leaves there was no room."""
    for d in range(done, len(off) - 1):
        first, last = off[d], off[d + 1]
        own = ranks[d]
        for i in range(first, last):
            own[slots[i]] = document_ranks[i]
            present[d, slots[i] >> 6] |= ONE << np.uint64(slots[i] & 63)
        n_nodes = walk(data, slots[first:last], document_ranks[first:last], last - first, own, queue)
        n_leaves = leaves_of(data, queue, n_nodes, reached, 0)
        pair = pair_off[d]
        if pair + n_leaves > len(leaves):
            return d
        for q in range(n_leaves):
            leaves[pair + q], owner[pair + q] = reached[q], d
        pair_off[d + 1] = pair + n_leaves
    return len(off) - 1


@kernel
def check_pairs(
    data: Any,
    words: Any,
    leaves: Any,
    owner: Any,
    order: Any,
    ranks: Any,
    present: Any,
    found: Any,
    left: Any,
    rows: Any,
    hit_at: Any,
    hits: Any,
    n_found: Any,
) -> None:
    """Checks leaves[i] for document owner[i], which is pair order[i]."""
    n_hits = 0
    for start in range(0, len(order), AT_ONCE):
        stop = min(len(order), start + AT_ONCE)
        for i in range(stop, min(len(order), stop + AT_ONCE)):
            prefetch(present[owner[i]], 0)
            if leaves[i] != leaves[i - 1]:
                for line in range(leaves[i], leaves[i] + 64, 16):
                    prefetch(data, line)
        some, own = leaves[start:stop], owner[start:stop]
        for k in range(check_some(data, words, some, own, ranks, present, found, left, rows)):
            n = 0
            for w in range(words_of(data, some[left[k]])):
                hits[n_hits + w] = found[MOST_WORDS * k + w]
                n += population(found[MOST_WORDS * k + w])
            if n:
                hit_at[order[start + left[k]]] = n_hits
                n_hits += words_of(data, some[left[k]])
                n_found[own[left[k]]] += n


@kernel
def most_found(data: Any, tables: Any, pairs: Any, n_profiles: int, is_exact: bool) -> Any:
    """The most profiles and the most entries that a chunk may give; `is_exact`: each entry is looked at."""
    more_each, more_together = tables.most[0] - 1, tables.most[1]
    most, n_entries = 0, 0
    for d in range(len(pairs.n_found)):
        n_found = pairs.n_found[d]
        if is_exact:
            more = 0
            for pair in range(pairs.off[d], pairs.off[d + 1]):
                if pairs.hit_at[pair] >= 0:
                    more += more_of_hits(data, tables, pairs.leaves[pair], pairs.hits, pairs.hit_at[pair])
        else:
            more = min(n_found * more_each, more_together)
        n_entries += n_found
        most += min(n_profiles, n_found + more)
    return most, n_entries


@inlined
def more_of_hits(data: Any, tables: Any, leaf: int, hits: Any, hit_at: int) -> int:
    """How many profiles more than one each the entries of a leaf have that hold, whatever is left to check."""
    more = 0
    for w in range(words_of(data, leaf)):
        holds = hits[hit_at + w]
        while holds:
            id = data[data[leaf + 3] + 64 * w + trailing_zeros(holds)]
            holds &= holds - ONE
            if id < 0:
                more += tables.profile_off[~id + 1] - tables.profile_off[~id] - 1
    return more


@allocating_kernel
def read_all(
    data: Any, tables: Any, pairs: Any, n_profiles: int, out: Any, handed: Any, out_off: Any, handed_off: Any
) -> None:
    """Fills `out` and `handed`, and goes on with their offsets from where the last chunk ended.

    PERF: this only makes room; the loops are in a kernel that does not allocate, since others count references.
    """
    n_words = (n_profiles + 63) >> 6
    bits, summary = np.zeros(n_words, np.uint64), np.zeros((n_words + 63) >> 6, np.uint64)
    read_off(data, tables, pairs, bits, summary, out, handed, out_off, handed_off)


@kernel
def read_off(
    data: Any,
    tables: Any,
    pairs: Any,
    bits: Any,
    summary: Any,
    out: Any,
    handed: Any,
    out_off: Any,
    handed_off: Any,
) -> None:
    """Of each document, what its pairs give: the bits of profiles, taken in order, and the entries handed back."""
    leaves, hit_at, hits = pairs.leaves, pairs.hit_at, pairs.hits
    n_out, n_handed = 0, 0
    for d in range(len(pairs.n_found)):
        last = pairs.off[d + 1]
        for pair in range(pairs.off[d], last):
            if pair + AHEAD < last and hit_at[pair + AHEAD] >= 0:
                prefetch(data, leaves[pair + AHEAD] + 3)
            if pair + 2 < last and hit_at[pair + 2] >= 0:
                ids = data[leaves[pair + 2] + 3]
                for line in range(ids, ids + data[leaves[pair + 2]], 16):
                    prefetch(data, line)
            if hit_at[pair] < 0:
                continue
            for w in range(words_of(data, leaves[pair])):
                first_id, holds = np.uint64(data[leaves[pair] + 3] + 64 * w), hits[hit_at[pair] + w]
                while holds:
                    id = data[first_id + np.uint64(trailing_zeros(holds))]
                    holds &= holds - ONE
                    if id >= 0:
                        set_bit(bits, summary, id)
                    elif tables.kind[~id] == HANDED_BACK:
                        handed[n_handed] = ~id
                        n_handed += 1
                    elif settled(tables, ~id, pairs.ranks[d]):
                        set_profiles(tables, ~id, bits, summary)
        n_out = take_bits(bits, summary, out, n_out)
        out_off[d + 1] = out_off[0] + n_out
        handed_off[d + 1] = handed_off[0] + n_handed


@kernel
def forget(off: Any, slots: Any, ranks: Any, present: Any, in_use: Any) -> None:
    """Empties the rows of a chunk."""
    for d in range(len(off) - 1):
        for i in range(off[d], off[d + 1]):
            ranks[d, slots[i]] = 0
            present[d, slots[i] >> 6] = 0
    in_use[0] = False
