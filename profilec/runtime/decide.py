"""What is left to decide of an entry once its rank tests hold: bit tests and residuals, each at most once.

In: entries, and one document in rank space, patterns decided. Out: the entries that hold. A term or a join is run when
an entry first asks for it.

Invariant: what is decided is what the image says, whoever asks and in whatever order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.element_terms import bits_told
from profilec.runtime.image import (
    BIT_PATTERN,
    BIT_TERM,
    OP_JOIN,
    OP_JOIN_NOT,
    OP_JUMP_IF_FALSE,
    OP_JUMP_IF_TRUE,
    OP_SET,
    OP_TEST,
    WANT_FALSE,
    WANT_NOT_FALSE,
    WANT_NOT_TRUE,
    WANT_TRUE,
    Image,
    Int32,
    gather,
    kept_offsets,
)
from profilec.runtime.joins.phase import JoinAnswers, JoinPhase
from profilec.runtime.program import Document, run
from profilec.values.kinds import Kind, Truth

_HOLDS: dict[int, tuple[Truth, ...]] = {
    WANT_TRUE: (True,),
    WANT_FALSE: (False,),
    WANT_NOT_TRUE: (False, None),
    WANT_NOT_FALSE: (True, None),
}


_FEW = 64
"""Entries that are decided one by one."""


class Decider:
    """What is prepared once per image. Safe to share between threads."""

    def __init__(self, image: Image, *, with_prefilter: bool = True) -> None:
        self.image = image
        has_bits = image.entry_tests >= image.n_tests
        self._bit_off, bits = _part(image.entry_off, image.entry_tests, has_bits)
        self._bits = bits - image.n_tests
        self.is_simple = not len(self._bits) and not bool((image.entry_residual >= 0).any())
        self.strings = [
            (
                image.slots[pattern.slot].constants.first(Kind.STRING),
                image.slots[pattern.slot].constants.last(Kind.STRING),
            )
            for pattern in image.patterns
        ]
        # PERF: indexing a memoryview gives an int; indexing an array gives an object to be unpacked.
        self.code, self.code_off = image.residual_code.reshape(-1).data, image.residual_off.data
        self.test_slot, self.test_off = image.test_slot.data, image.test_off.data
        self.low, self.high = image.test_low.data, image.test_high.data
        self.bit_kind, self.bit_source, self.bit_want = image.bit_kind.data, image.bit_source.data, image.bit_want.data
        self.bit_told = bits_told(image)
        self.entry_bit_off, self.entry_bits = self._bit_off.data, self._bits.data
        self.entry_residual = image.entry_residual.data
        self.joins = JoinPhase(image, with_prefilter=with_prefilter) if len(image.joins) else None
        self.joined_have_tests = False
        """Whether entries that ask joins alone have other predicates."""
        if self.joins is not None:
            self.joined_have_tests = bool(np.diff(image.entry_off)[self.joins.literals.alone].any())
        self._tests_off, self._tests = image.entry_off.data, image.entry_tests.data
        self._rank_off, self._rank_tests = _part(image.entry_off, image.entry_tests, ~has_bits)

    def tests_of(self, entry: int) -> list[int]:
        """The tests of an entry, bit tests too."""
        return self._tests[self._tests_off[entry] : self._tests_off[entry + 1]].tolist()

    def tests_hold(self, ranks: Int32, documents: NDArray[np.int64], entries: Int32) -> NDArray[np.bool_]:
        """Whether all rank tests of entries hold, each for a document. `ranks`: a row for each document, by slot."""
        image = self.image
        tests, cut = gather(self._rank_off, self._rank_tests, entries)
        rank = ranks[np.repeat(documents, np.diff(cut)), image.test_slot[tests]]
        intervals, of_test = gather(image.test_off, np.arange(len(image.test_low), dtype=np.int32), tests)
        rank = np.repeat(rank, np.diff(of_test))
        inside = (image.test_low[intervals] <= rank) & (rank <= image.test_high[intervals])
        fails = np.diff(kept_offsets(of_test, inside)) == 0
        holds: NDArray[np.bool_] = np.diff(kept_offsets(cut, fails)) == 0
        return holds

    def needs_no_run(self, entries: Int32) -> NDArray[np.bool_]:
        """The entries of which joins alone, if anything, are left to decide, and these at once."""
        assert self.joins is not None
        needs: NDArray[np.bool_] = self._bit_off[entries + 1] > self._bit_off[entries]
        needs |= self.joins.residual_left[entries] >= 0
        return ~needs

    def bits_of(self, entries: Int32) -> tuple[Int32, NDArray[np.int64]]:
        """The bit tests of entries, CSR; numbered from 0."""
        return gather(self._bit_off, self._bits, entries)


def _part(offsets: Int32, elements: Int32, is_own: NDArray[np.bool_]) -> tuple[Int32, Int32]:
    """The CSR array of its own elements. PERF: it takes no memory where that is all of them, or none."""
    if is_own.all():
        return offsets, elements
    if not is_own.any():
        return np.broadcast_to(np.zeros(1, np.int32), offsets.shape), elements[:0]
    return kept_offsets(offsets, is_own), elements[is_own]


class Decision:
    """One document's bits and joins, as far as they have been asked for."""

    def __init__(
        self,
        decider: Decider,
        slots: Int32,
        ranks: Int32,
        document: Callable[[], Document],
        joins: JoinAnswers | None,
    ) -> None:
        """`slots`, `ranks`: the sparse document; `document` gives the document itself, should it be needed; `joins`:
        where the image has some."""
        self._decider = decider
        self._ranks = dict(zip(slots.tolist(), ranks.tolist(), strict=True))
        self._document = document
        self._joins = joins
        self._bits: dict[int, bool] = {}
        self._terms: dict[int, Truth] = {}
        self._residuals: dict[int, bool] = {}

    def holding(self, entries: Int32) -> Int32:
        """Those of the entries, all of whose rank tests hold, that hold altogether; in the same order."""
        if self._decider.is_simple or not len(entries):
            return entries
        if len(entries) <= _FEW:
            numbers = entries.tolist()
            held = [entry for entry in numbers if self._holds(entry)]
            return entries if len(held) == len(numbers) else np.array(held, np.int32)
        for kind in (BIT_PATTERN, BIT_TERM):  # terms last: they run in Python
            entries = entries[~self._failing(entries, kind)]
        residual = self._decider.image.entry_residual
        if self._joins is not None and self._decider.joins is not None:
            entries, residual = self._joins.kept(entries), self._decider.joins.residual_left
        residuals = residual[entries].tolist()
        failing = [place for place, r in enumerate(residuals) if r >= 0 and not self.residual_holds(r)]
        return np.delete(entries, failing) if failing else entries

    def satisfying(self, entries: Int32) -> Int32:
        """Those of the entries, which ask joins alone and whose joins hold, that hold altogether; in the same order."""
        decider = self._decider
        if not decider.joined_have_tests or not len(entries):
            return entries
        if len(entries) <= _FEW:
            held = [entry for entry in entries.tolist() if all(map(self.test_holds, decider.tests_of(entry)))]
            return np.array(held, np.int32)
        n_slots = len(decider.image.slots)
        ranks = np.zeros((1, n_slots), np.int32)
        for slot, rank in self._ranks.items():
            if slot < n_slots:
                ranks[0, slot] = rank
        entries = entries[decider.tests_hold(ranks, np.zeros(len(entries), np.int64), entries)]
        for kind in (BIT_PATTERN, BIT_TERM):
            entries = entries[~self._failing(entries, kind)]
        return entries

    def _holds(self, entry: int) -> bool:
        """PERF: for a few entries, Python's own arrays take a tenth of the time of numpy's."""
        decider = self._decider
        bits = decider.entry_bits[decider.entry_bit_off[entry] : decider.entry_bit_off[entry + 1]]
        if not all(map(self.bit_holds, bits)):
            return False
        residual = decider.entry_residual[entry]
        if residual < 0:
            return True
        if self._joins is not None and decider.joins is not None and decider.joins.residual_left.item(entry) < 0:
            return self._joins.holds_all(entry)
        return self.residual_holds(residual)

    def _failing(self, entries: Int32, kind: int) -> NDArray[np.bool_]:
        bits, cut = self._decider.bits_of(entries)
        of_kind = np.flatnonzero(self._decider.image.bit_kind[bits] == kind)
        failed = np.zeros(len(bits) + 1, np.int64)
        asked, place = np.unique(bits[of_kind], return_inverse=True)
        holds = np.array([self.bit_holds(bit) for bit in asked.tolist()], np.bool_)
        failed[of_kind[~holds[place]] + 1] = 1
        np.cumsum(failed, out=failed)
        return failed[cut[1:]] > failed[cut[:-1]]

    def residual_holds(self, residual: int) -> bool:
        known = self._residuals.get(residual)
        if known is None:
            known = self._residuals[residual] = self._run_residual(residual)
        return known

    def test_holds(self, test: int) -> bool:
        decider = self._decider
        n_tests = len(decider.test_slot)
        if test >= n_tests:
            return self.bit_holds(test - n_tests)
        rank = self._ranks.get(decider.test_slot[test], 0)
        start = decider.test_off[test]
        place = bisect_right(decider.low, rank, start, decider.test_off[test + 1]) - 1
        return place >= start and rank <= decider.high[place]

    def bit_holds(self, bit: int) -> bool:
        known = self._bits.get(bit)
        if known is None:
            source, is_term = self._decider.bit_source[bit], self._decider.bit_kind[bit] == BIT_TERM
            if is_term and self._decider.bit_told[bit]:
                is_true = self._decider.image.first_term_slot + source in self._ranks
                known = is_true == (self._decider.bit_want[bit] == WANT_TRUE)
            else:
                truth = self._term(source) if is_term else self._pattern(source)
                known = truth in _HOLDS[self._decider.bit_want[bit]]
            self._bits[bit] = known
        return known

    def join_holds(self, join: int) -> bool:
        assert self._joins is not None
        return self._joins.holds(join)

    def _term(self, term: int) -> Truth:
        if term not in self._terms:
            self._terms[term] = run(self._decider.image.terms[term], self._document())
        return self._terms[term]

    def _pattern(self, number: int) -> Truth:
        """NULL: what is no string neither matches nor fails to match."""
        image = self._decider.image
        if len(image.slots) + number in self._ranks:
            return True
        first, last = self._decider.strings[number]
        return False if first <= self._ranks.get(image.patterns[number].slot, 0) <= last else None

    def _run_residual(self, residual: int) -> bool:
        code, first, end = self._decider.code, self._decider.code_off[residual], self._decider.code_off[residual + 1]
        row, register = first, False
        while row < end:
            operation, argument = code[2 * row], code[2 * row + 1]
            row += 1
            if operation == OP_TEST:
                register = self.test_holds(argument)
            elif operation == OP_JUMP_IF_FALSE:
                row = row if register else first + argument
            elif operation == OP_JUMP_IF_TRUE:
                row = first + argument if register else row
            elif operation == OP_JOIN:
                register = self.join_holds(argument)
            elif operation == OP_JOIN_NOT:
                register = not self.join_holds(argument)
            else:
                assert operation == OP_SET
                register = bool(argument)
        return register
