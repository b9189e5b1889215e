"""Documents against the lists of OpIndex (OpIndex, section 5, Algorithm 2).

In: sparse documents. Out: the entries all of whose rank tests hold. For each attribute of the document that is a pivot,
and for what has no pivot, each attribute's rank is looked for in each operator's list: in the one segment that can have
the attribute, if its signature does not say that it has not. What a scan finds counts down (`counters`).

Invariant: counters of partitions whose pivot the document has not are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32
from profilec.runtime.kernels import ONE, inlined, kernel
from profilec.runtime.matchers.betree.match import set_bit, take_bits
from profilec.runtime.matchers.counters import (
    Scratch,
    count,
    is_untouched,
    next_document,
    refute,
)
from profilec.runtime.matchers.opindex.lists import Lists, bit_of, lists_of
from profilec.runtime.matchers.opindex.operators import DOWNWARD, EQUAL, NODES, OTHERS, UPWARD
from profilec.runtime.matchers.rank_tests import RankTests


class OpIndexFinder:
    """See the package."""

    __slots__ = ("_given", "_n_without_pivot", "lists", "n_entries")

    def __init__(
        self,
        tests: RankTests,
        frequency: Sequence[float] | NDArray[Any] | None = None,
        make: Callable[..., Lists] = lists_of,
    ) -> None:
        """`frequency`: see `lists_of`, which is what `make` is if not another."""
        self.lists = make(tests, frequency)
        self._given = tuple(self.lists)
        self.n_entries = len(tests.entries)
        self._n_without_pivot = self.lists.n_without_pivot

    def scratch(self) -> Scratch:
        """What one thread writes."""
        return Scratch.of(self.n_entries)

    def find(
        self,
        scratch: Scratch,
        doc_off: NDArray[np.int64],
        slots: Int32,
        ranks: Int32,
        first: int,
        off: NDArray[np.int64],
        out: Int32,
    ) -> int:
        """See `SparseFinder`."""
        n_without = self._n_without_pivot
        return int(match_documents(doc_off, slots, ranks, first, self._given, n_without, tuple(scratch), off, out))


@kernel
def match_documents(
    doc_off: Any, slots: Any, ranks: Any, first: int, given: Any, n_without: int, scratch: Any, off: Any, out: Any
) -> int:
    """The entries of documents from `first` on, as many documents as `out` has room for; the number of the next."""
    lists = Lists(*given)
    state, bits, summary = scratch
    n = 0
    for document in range(first, len(doc_off) - 1):
        if n + len(lists.entry) + 2 > len(out):
            return document
        base = next_document(state)
        start, end = doc_off[document], doc_off[document + 1]
        search_partition(0, slots, ranks, start, end, lists, state, base, bits, summary)
        for i in range(start, end):
            if slots[i] < len(lists.partition):  # no pseudo-slot
                partition = lists.partition[slots[i]]
                if partition > 0:
                    search_partition(partition, slots, ranks, start, end, lists, state, base, bits, summary)
        for place in range(n_without):
            if is_untouched(state, base, place):
                set_bit(bits, summary, lists.entry[place])
        n = take_bits(bits, summary, out, n)
        off[document + 1] = n
    return len(doc_off) - 1


@kernel
def search_partition(
    partition: int, slots: Any, ranks: Any, start: int, end: int, lists: Any, state: Any, base: int, bits: Any,
    summary: Any,
) -> None:  # fmt: skip
    """Finds the predicates of one partition that a document satisfies."""
    for operator in range(len(lists.form)):
        number = partition * len(lists.form) + operator
        first_segment = lists.list_off[number]
        n_segments = lists.list_off[number + 1] - first_segment
        if n_segments == 0:
            continue
        form, hashes_key = lists.form[operator], lists.hashes_key[operator]
        for i in range(start, end):
            slot = slots[i]
            if slot >= len(lists.partition):
                continue
            segment = first_segment + (slot & (n_segments - 1))
            rank = int(ranks[i])
            if form == NODES:
                node = lists.bounds[slot, lists.bounds.shape[1] - 1] + rank
                while node > 0:
                    if may_have(lists, segment, slot, node):
                        scan(lists, segment, slot, node, node, state, base, bits, summary)
                    node >>= 1
            elif may_have(lists, segment, slot, rank if hashes_key else 0):
                if form == EQUAL:
                    scan(lists, segment, slot, rank, rank, state, base, bits, summary)
                    continue
                kind = 1
                while lists.bounds[slot, kind + 1] <= rank:
                    kind += 1
                first, last = int(lists.bounds[slot, kind]), int(lists.bounds[slot, kind + 1]) - 1
                if form == UPWARD:
                    scan(lists, segment, slot, rank, last, state, base, bits, summary)
                elif form == DOWNWARD:
                    scan(lists, segment, slot, first, rank, state, base, bits, summary)
                elif form == OTHERS:
                    scan(lists, segment, slot, first, rank - 1, state, base, bits, summary)
                    scan(lists, segment, slot, rank + 1, last, state, base, bits, summary)


@inlined
def may_have(lists: Any, segment: int, slot: int, key: int) -> bool:
    """Whether the segment's signature says so."""
    bit = ONE << bit_of(np.uint64(slot), np.uint64(key))
    return bool(lists.signature[segment] & bit != 0)


@kernel
def scan(
    lists: Any, segment: int, slot: int, first: int, last: int, state: Any, base: int, bits: Any, summary: Any
) -> None:
    """The predicates on a slot with keys from `first` to `last`."""
    low, high = lists.seg_off[segment], lists.seg_off[segment + 1]
    end = high
    from_key, to_key = (np.int64(slot) << 32) | first, (np.int64(slot) << 32) | last
    while low < high:
        middle = (low + high) >> 1
        if lists.key[middle] < from_key:
            low = middle + 1
        else:
            high = middle
    while low < end and lists.key[low] <= to_key:
        place = lists.place[low]
        if place < 0:
            refute(state, base, lists.needed, ~place, lists.entry[~place], bits)
        elif count(state, base, lists.needed, place):
            set_bit(bits, summary, lists.entry[place])
        low += 1
