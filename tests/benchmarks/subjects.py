"""What is measured: the matcher of an image, behind the few calls that benchmarks make.

In: an image, and generated documents encoded for it. Out: ordinals of matching profiles, and what
finding them took. Documents are encoded beforehand: encoding has a benchmark of its own.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from documents import Documents
from numba import njit
from numpy.typing import NDArray

from profilec.planner.lower import with_tree
from profilec.runtime.image import Image, Int32
from profilec.runtime.matchers.betree.match import match_document, take_profiles
from profilec.runtime.matchers.betree.matcher import BETreeMatcher
from profilec.runtime.matchers.betree.settle import settle_document
from profilec.values.kinds import Kind


@dataclass(frozen=True, slots=True)
class Batch:
    """Sparse documents: document i has rank `ranks[j]` > 0 in slot `slots[j]`, j in `off[i] .. off[i + 1]`."""

    off: NDArray[np.int64]
    slots: Int32
    ranks: Int32

    def __len__(self) -> int:
        return len(self.off) - 1

    def document(self, number: int) -> tuple[Int32, Int32]:
        """Slots and ranks of one document."""
        start, end = self.off[number], self.off[number + 1]
        return self.slots[start:end], self.ranks[start:end]

    def first(self, n: int) -> Batch:
        """The first n documents."""
        n = min(n, len(self))
        return Batch(self.off[: n + 1], self.slots[: self.off[n]], self.ranks[: self.off[n]])


def encoded(image: Image, documents: Documents) -> Batch:
    """Documents in the ranks of an image of generated attributes; those that no profile asks for are left out."""
    slot_of = np.full(documents.n_attributes, -1, np.int32)
    for number, slot in enumerate(image.slots):
        slot_of[int(slot.name.removeprefix("a"))] = number
    slots = slot_of[documents.slots]
    asked = slots >= 0
    owner = np.repeat(np.arange(len(documents)), np.diff(documents.off))[asked]
    slots, values = slots[asked], documents.values[asked]
    ranks = np.zeros(len(slots), np.int32)
    order = np.argsort(slots, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(slots[order])) + 1):
        if len(rows):
            ranks[rows] = number_ranks(image, int(slots[rows[0]]), values[rows])
    off = np.searchsorted(owner, np.arange(len(documents) + 1)).astype(np.int64)
    return Batch(off, slots, ranks)


def number_ranks(image: Image, slot: int, values: Int32) -> Int32:
    """The ranks of integers in a slot all of whose numbers are integers."""
    constants = image.slots[slot].constants
    numbers = np.array(constants.numbers, np.int64)
    below = np.searchsorted(numbers, values, side="left") + np.searchsorted(numbers, values, side="right")
    return (constants.first(Kind.NUMBER) + below).astype(np.int32)


class Subject:
    """The product's matcher for one image."""

    def __init__(self, image: Image, matcher: str) -> None:
        self.name = matcher
        self._image = image
        self._matcher = BETreeMatcher(image, image.tree)

    @property
    def n_bytes(self) -> int:
        """The bytes of the arrays that matching reads."""
        tree = self._image.tree
        assert tree is not None
        tables = self._matcher._tables
        own = (tables.kind, tables.bit_off, tables.bits, tables.residual, tables.profile_off, tables.profiles)
        read = tree.nbytes + sum(array.nbytes for array in own)
        if (tables.residual >= 0).any():
            names = ("residual_off", "residual_code", "test_slot", "test_off", "test_low", "test_high")
            read += sum(getattr(tables, name).nbytes for name in names)
        return int(read)

    def match_kernel(self, slots: Int32, ranks: Int32) -> Int32:
        """The ordinals of the profiles that one document matches, ascending."""
        return self._matcher.match(slots, ranks, len(slots))[0]

    def match_each(self, batch: Batch, start: int, n: int) -> int:
        """n documents from one on, one after the other, with no Python between them; how many profiles were found."""
        matcher, scratch = self._matcher, self._matcher._scratch
        written = scratch.ints, scratch.longs, scratch.out, scratch.handed
        read = (*matcher._arrays, matcher._tables, self._image.n_profiles)
        return int(match_each(batch.off, batch.slots, batch.ranks, start, n, *read, *written))

    def match_batch_kernel(self, batch: Batch, threads: int) -> tuple[NDArray[np.int64], Int32]:
        """The matches of all documents as offsets and ordinals."""
        if threads == 1:
            one = self._matcher.match_batch(batch.off, batch.slots, batch.ranks)
            return one.off, one.profiles
        cuts = [len(batch) * number // threads for number in range(threads + 1)]
        spans = [batch.off[start : end + 1] for start, end in pairwise(cuts)]
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(lambda off: self._matcher.match_batch(off, batch.slots, batch.ranks), spans))
        starts = np.cumsum([0, *(part.off[-1] for part in found)])
        off = [part.off[1:] + start for part, start in zip(found, starts[:-1], strict=True)]
        return np.concatenate(([0], *off)), np.concatenate([part.profiles for part in found])

    def candidates(self, slots: Int32, ranks: Int32) -> int:
        """How many profiles have a predicate read for the document."""
        return self._matcher.count_candidates(slots, ranks, len(slots))


def build(image: Image, matcher: str = "betree", max_cap: int | None = None) -> Subject:
    """The matcher, ready to match; "betree:list" and "betree:matrix" have leaves of that form only."""
    return Subject(with_tree(image, max_cap, matcher.partition(":")[2] or "any"), matcher)


@njit(nogil=True)
def match_each(
    off: Any, slots: Any, ranks: Any, start: int, n: int,
    data: Any, words: Any, tables: Any, n_profiles: int, ints: Any, longs: Any, out: Any, handed: Any,
) -> Any:  # fmt: skip
    """Documents start .. start + n, counted round."""
    n_found = 0
    for number in range(start, start + n):
        first, last = off[number % (len(off) - 1)], off[number % (len(off) - 1) + 1]
        own, own_ranks = slots[first:last], ranks[first:last]
        n_special = match_document(own, own_ranks, last - first, data, words, ints, longs, n_profiles)
        if n_special:
            settle_document(n_special, tables, own, last - first, data, ints, longs, n_profiles, handed)
        n_found += take_profiles(longs, n_profiles, out)
    return n_found
