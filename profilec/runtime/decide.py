"""The rest of a document's decision: bit tests and residuals, each at most once.

In: entries whose rank tests hold. Out: those that hold. The patterns of a slot are decided
together, in one pass over the string; a term or a join is decided when an entry first asks for it.

Invariant: what is decided is what the image says, whoever asks and in whatever order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.encode import Encoded
from profilec.runtime.image import (
    BIT_PATTERN,
    BIT_TERM,
    OP_JOIN,
    OP_JOIN_NOT,
    OP_JUMP_IF_FALSE,
    OP_JUMP_IF_TRUE,
    OP_SET,
    OP_TEST,
    Image,
    Int32,
    gather,
    kept_offsets,
)
from profilec.runtime.joins.nested_loop import decide as decide_join
from profilec.runtime.patterns import PatternSet
from profilec.runtime.program import Document, run
from profilec.values.kinds import Kind, Truth

PatternMemo: TypeAlias = dict[tuple[int, str], list[int]]
"""Slot and string to the positions of the patterns that match it."""
_FALSE, _TRUE, _UNKNOWN = 0, 1, 2
_CODE: dict[Truth, int] = {False: _FALSE, True: _TRUE, None: _UNKNOWN}
# Row: bit_want. Column: the truth of the source.
_HOLDS = np.array([[0, 1, 0], [1, 0, 0], [1, 0, 1], [0, 1, 1]], np.bool_)


@dataclass(frozen=True, slots=True)
class _SlotPatterns:
    """The pattern leaves of one slot: `bits` ask for the patterns at `positions` of `patterns`."""

    patterns: PatternSet
    bits: NDArray[np.int64]
    positions: NDArray[np.int64]
    wants: NDArray[np.uint8]
    n_patterns: int


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a CSR array: the bit tests of one sort that each entry has."""

    offsets: Int32
    bits: Int32

    def failing(self, entries: Int32, holds: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Which of the entries have a bit test that does not hold."""
        bits, cut = gather(self.offsets, self.bits, entries)
        if not len(bits):
            return np.zeros(len(entries), np.bool_)
        failed = np.zeros(len(bits) + 1, np.int64)
        np.cumsum(~holds(bits), out=failed[1:])
        return failed[cut[1:]] > failed[cut[:-1]]


class Decider:
    """What is prepared once per image for deciding bits and residuals. Safe to share between threads."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.patterns: dict[int, _SlotPatterns] = {}
        by_slot: dict[int, list[int]] = {}
        for number, pattern in enumerate(image.patterns):
            by_slot.setdefault(pattern.slot, []).append(number)
        position_of = np.zeros(len(image.patterns), np.int64)
        slot_of = np.array([pattern.slot for pattern in image.patterns], np.int64)
        pattern_bits = np.flatnonzero(image.bit_kind == BIT_PATTERN)
        # The slot of a pattern bit; -1 for the bit of a term.
        self.bit_slot = np.full(len(image.bit_kind), -1, np.int64)
        self.bit_slot[pattern_bits] = bit_slots = slot_of[image.bit_source[pattern_bits]]
        for slot, numbers in by_slot.items():
            position_of[numbers] = np.arange(len(numbers))
            bits = pattern_bits[bit_slots == slot]
            self.patterns[slot] = _SlotPatterns(
                PatternSet([image.patterns[number] for number in numbers]),
                bits,
                position_of[image.bit_source[bits]],
                image.bit_want[bits],
                len(numbers),
            )
        term_bits = np.flatnonzero(image.bit_kind == BIT_TERM)
        sources = image.bit_source[term_bits]
        order = np.argsort(sources, kind="stable")
        ends = np.searchsorted(sources[order], np.arange(1, len(image.terms)))
        self.bits_of_term = np.split(term_bits[order], ends)
        self.rows = [rows for kind in (BIT_PATTERN, BIT_TERM) if (rows := _rows_of_kind(image, kind)) is not None]
        self.has_residuals = bool((image.entry_residual >= 0).any())
        # PERF: indexing a memoryview gives an int; indexing an array gives an object to be unpacked.
        self.code, self.code_off = image.residual_code.reshape(-1).data, image.residual_off.data
        self.test_slot, self.test_off = image.test_slot.data, image.test_off.data
        self.low, self.high = image.test_low.data, image.test_high.data
        self.bit_source = image.bit_source.data


class Decision:
    """One document's bits, terms and joins, as far as they have been asked for."""

    def __init__(
        self, decider: Decider, encoded: Encoded, number: int, store: Sequence[Document] | None, memo: PatternMemo
    ) -> None:
        """`number`: the document's place in `encoded`. `memo` is shared by the documents of a batch."""
        n_bits = len(decider.image.bit_kind)
        self._decider = decider
        self._encoded = encoded
        self._number = number
        self._ranks = encoded.ranks[number]
        self._store = store
        self._memo = memo
        self._bits = np.zeros(n_bits, np.bool_)
        self._known = np.zeros(n_bits, np.bool_)
        self._joins: dict[int, bool] = {}
        self._residuals: dict[int, bool] = {}

    def holding(self, entries: Int32) -> Int32:
        """Those of the entries, all of whose rank tests hold, that hold altogether; in the same order."""
        for rows in self._decider.rows:
            entries = entries[~rows.failing(entries, self.bits_hold)]
        if self._decider.has_residuals and len(entries):
            residuals = self._decider.image.entry_residual[entries]
            unsure = np.flatnonzero(residuals >= 0).tolist()
            failing = [place for place in unsure if not self.residual_holds(int(residuals[place]))]
            if failing:
                entries = np.delete(entries, failing)
        return entries

    def bits_hold(self, bits: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of the bit tests hold; numbered from 0."""
        unknown = bits[~self._known[bits]]
        if len(unknown):
            slots = self._decider.bit_slot[unknown]
            for slot in np.unique(slots).tolist():
                if slot >= 0:
                    self._decide_patterns(slot)
            for bit in unknown[slots < 0].tolist():
                if not self._known[bit]:
                    self._decide_term(self._decider.bit_source[bit])
        holds: NDArray[np.bool_] = self._bits[bits]
        return holds

    def residual_holds(self, residual: int) -> bool:
        known = self._residuals.get(residual)
        if known is None:
            known = self._residuals[residual] = self._run_residual(residual)
        return known

    def test_holds(self, test: int) -> bool:
        decider = self._decider
        n_tests = len(decider.test_slot)
        if test >= n_tests:
            bit = test - n_tests
            if not self._known[bit]:
                self._decide_bit(bit)
            return bool(self._bits[bit])
        rank = int(self._ranks[decider.test_slot[test]])
        start = decider.test_off[test]
        place = bisect_right(decider.low, rank, start, decider.test_off[test + 1]) - 1
        return place >= start and rank <= decider.high[place]

    def join_holds(self, join: int) -> bool:
        known = self._joins.get(join)
        if known is None:
            term = self._decider.image.joins[join]
            known = self._joins[join] = decide_join(term, self._encoded.document(self._number), self._store)
        return known

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

    def _decide_bit(self, bit: int) -> None:
        slot = int(self._decider.bit_slot[bit])
        if slot >= 0:
            self._decide_patterns(slot)
        else:
            self._decide_term(self._decider.bit_source[bit])

    def _decide_term(self, term: int) -> None:
        """All bits of one term."""
        image = self._decider.image
        truth = run(image.terms[term], self._encoded.document(self._number), store=self._store)
        same_term = self._decider.bits_of_term[term]
        self._bits[same_term] = _HOLDS[image.bit_want[same_term], _CODE[truth]]
        self._known[same_term] = True

    def _decide_patterns(self, slot_number: int) -> None:
        """All bits of the slot's patterns. NULL: what is no string neither matches nor fails to match."""
        leaves = self._decider.patterns[slot_number]
        slot = self._decider.image.slots[slot_number]
        rank, constants = self._ranks[slot_number], slot.constants
        truths = np.zeros(leaves.n_patterns, np.int8)
        if constants.first(Kind.STRING) <= rank <= constants.last(Kind.STRING):
            text = self._encoded.value(self._number, slot, slot_number)
            assert isinstance(text, str)
            matched = self._memo.get((slot_number, text))
            if matched is None:
                matched = self._memo[slot_number, text] = leaves.patterns.matches(text)
            truths[matched] = _TRUE
        else:
            truths[:] = _UNKNOWN
        self._bits[leaves.bits] = _HOLDS[leaves.wants, truths[leaves.positions]]
        self._known[leaves.bits] = True


def _rows_of_kind(image: Image, kind: int) -> _Rows | None:
    """The bit tests of one kind, entry by entry; None where there are none."""
    bit_of = image.entry_tests - image.n_tests
    of_kind = np.zeros(image.n_tests + len(image.bit_kind), np.bool_)
    of_kind[image.n_tests :] = image.bit_kind == kind
    wanted = of_kind[image.entry_tests]
    if not wanted.any():
        return None
    return _Rows(kept_offsets(image.entry_off, wanted), bit_of[wanted])
