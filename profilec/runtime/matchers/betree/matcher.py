"""The matcher of an image that has a tree.

In: sparse documents. Out: ordinals of profiles, ascending, and the entries that Python has to decide. Scratch belongs
to a thread, so that several may match at once; kernels hold no lock.
"""

from __future__ import annotations

import threading
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.element_terms import are_run
from profilec.runtime.image import (
    BIT_TERM,
    WANT_NOT_TRUE,
    Image,
    Int32,
    gather,
    kept_offsets,
)
from profilec.runtime.matchers.betree.batch import DenseRows, FoundBatch, match_batch
from profilec.runtime.matchers.betree.match import (
    count_candidates,
    count_profiles,
    match_and_take,
    match_document,
    scratch_of,
    take_profiles,
)
from profilec.runtime.matchers.betree.settle import CHECKED, HANDED_BACK, PLAIN, Tables, settle_document
from profilec.runtime.matchers.betree.tree import Tree
from profilec.values.kinds import Kind

Found: TypeAlias = tuple[Int32, Int32]
"""Profiles that match, and entries that do if what Python has to check of them holds."""


NONE_HANDED = np.empty(0, np.int32)


class _Scratch(threading.local):
    """What kernels write: `match.parts_of_ints`, `match.parts_of_longs`, and their answers."""

    def __init__(self, tree: Tree, n_profiles: int) -> None:
        self.ints, self.longs = scratch_of(tree, n_profiles)
        self.out = np.empty(n_profiles + 2, np.int32)
        self.handed = np.empty(len(tree.special), np.int32)
        self.given = tree.data, tree.words, self.ints, self.longs, n_profiles, self.out
        """What `match_and_take` is given besides a document. PERF: what belongs to a thread takes long to be found."""
        self._n_slots = tree.n_slots
        self._rows: DenseRows | None = None

    @property
    def rows(self) -> DenseRows:
        """Those of a batch; made when the first comes. (No cached_property: its lock is copied by a fork as it is.)"""
        if self._rows is None:
            self._rows = DenseRows.of(self._n_slots)
        return self._rows


class BETreeMatcher:
    """Matches sparse documents; safe to use from several threads."""

    def __init__(self, image: Image, tree: Tree | None) -> None:
        """`tree`: one of the image's."""
        if tree is None:
            raise ValueError("the image has no tree: compile the profiles with the matcher 'betree'")
        self._tree = tree
        self._arrays = tree.data, tree.words
        self._n_profiles = image.n_profiles
        self._tables = tables_of(image, tree.special)
        self._scratch = _Scratch(tree, image.n_profiles)

    def match(self, slots: Int32, ranks: Int32, n_slots: int) -> Found:
        """One document."""
        given = self._scratch.given
        n = match_and_take(slots, ranks, n_slots, *given)
        if n >= 0:
            return given[-1][:n].copy(), NONE_HANDED
        scratch = self._scratch
        n_handed = self._settle(scratch, ~n, slots, n_slots)
        n = take_profiles(scratch.longs, self._n_profiles, scratch.out)
        return scratch.out[:n].copy(), self._tree.special[scratch.handed[:n_handed]]

    def count(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[int, Int32]:
        """How many profiles match; where Python has entries to decide, they come with it and are not counted."""
        scratch, n_handed = self._find(slots, ranks, n_slots)
        if n_handed:
            n = take_profiles(scratch.longs, self._n_profiles, scratch.out)
        else:
            n = count_profiles(scratch.longs, self._n_profiles)
        return n, self._tree.special[scratch.handed[:n_handed]]

    def match_batch(self, doc_off: NDArray[np.int64], doc_slots: Int32, doc_ranks: Int32) -> FoundBatch:
        """Documents in CSR form."""
        tables, rows = self._tables, self._scratch.rows
        found = match_batch(doc_off, doc_slots, doc_ranks, *self._arrays, tables, self._n_profiles, rows)
        return found._replace(handed=self._tree.special[found.handed])

    def count_candidates(self, slots: Int32, ranks: Int32, n_slots: int) -> int:
        """Of how many entries some predicate is read."""
        scratch = self._scratch
        return int(
            count_candidates(slots, ranks, n_slots, *self._arrays, scratch.ints, scratch.longs, self._n_profiles)
        )

    def _find(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[_Scratch, int]:
        scratch = self._scratch
        n_special = match_document(slots, ranks, n_slots, *self._arrays, scratch.ints, scratch.longs, self._n_profiles)
        return scratch, self._settle(scratch, n_special, slots, n_slots) if n_special else 0

    def _settle(self, scratch: _Scratch, n_special: int, slots: Int32, n_slots: int) -> int:
        """How many entries Python has to decide."""
        data, ints, longs = self._arrays[0], scratch.ints, scratch.longs
        return settle_document(
            n_special, self._tables, slots, n_slots, data, ints, longs, self._n_profiles, scratch.handed
        )


def tables_of(image: Image, special: Int32) -> Tables:
    """What kernels need of an image to settle special entries, which `special` numbers."""
    n_slots = len(image.slots)
    tests, test_cut = gather(image.entry_off, image.entry_tests, special)
    is_bit = tests >= image.n_tests
    profiles, profile_cut = gather(image.entry_profile_off, image.entry_profiles, special)
    pattern_slot = np.array([pattern.slot for pattern in image.patterns], np.int32)
    strings = [image.slots[pattern.slot].constants for pattern in image.patterns]
    first = np.array([constants.first(Kind.STRING) for constants in strings], np.int32)
    last = np.array([constants.last(Kind.STRING) for constants in strings], np.int32)
    is_term = image.bit_kind == BIT_TERM
    source = np.where(is_term, 0, image.bit_source)

    def of_pattern(column: Int32) -> Int32:
        return column[source] if len(column) else np.zeros(len(source), np.int32)

    bits, residual = (tests[is_bit] - image.n_tests).astype(np.int32), image.entry_residual[special]
    bit_off = kept_offsets(test_cut, is_bit)
    tables = Tables(
        _kinds(image, bit_off, bits, residual),
        bit_off,
        bits,
        residual,
        profile_cut.astype(np.int32),
        profiles,
        np.array([np.diff(profile_cut).max(initial=1), np.maximum(0, np.diff(profile_cut) - 1).sum()]),
        image.residual_off,
        image.residual_code,
        image.test_slot,
        image.test_off,
        image.test_low,
        image.test_high,
        (image.bit_source + np.where(is_term, image.first_term_slot, n_slots)).astype(np.int32),
        image.bit_want,
        of_pattern(pattern_slot),
        of_pattern(first),
        of_pattern(last),
    )
    return Tables(*[_read_only(column) for column in tables])


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A kernel is compiled for one sort of array: mapped ones cannot be written to."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _kinds(image: Image, bit_off: Int32, bits: Int32, residual: Int32) -> NDArray[np.uint8]:
    """What is left to check of each special entry when its rank tests hold."""
    to_check = image.bit_want > WANT_NOT_TRUE  # the others are predicates of the tree
    is_run, residual_is_run = are_run(image)
    kinds = np.full(len(residual), PLAIN, np.uint8)
    owner = np.repeat(np.arange(len(residual)), np.diff(bit_off))
    kinds[residual >= 0] = CHECKED
    kinds[owner[to_check[bits]]] = CHECKED
    kinds[owner[is_run[bits]]] = HANDED_BACK
    kinds[np.append(residual_is_run, False)[residual]] = HANDED_BACK
    return kinds
