"""Sparse documents: of each only the slots whose rank is not 0; many of them in one CSR array.

In: the columns of a table, and the slots that they can decide. Out: what a kernel reads.

    doc_off    0        2     3           int64 [n + 1]
    doc_slots  2   17   2                 int32, of each document each slot once
    doc_ranks  5    1   9                 int32, > 0

The pseudo-slots of patterns follow the slots of the image: number `n_slots + p` has rank 1 where
pattern p matches the string of its slot, and is left out where it does not, or where there is no string.

Invariant: a row gives what its document gives, see `encode`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.columns import Column, Frame, distinct, find, rank_column
from profilec.runtime.image import Int32
from profilec.runtime.program import Parts, run
from profilec.runtime.ranking import MatchingEach, PreparedSlot, joined_matching
from profilec.values.kinds import DocumentError, from_document
from profilec.values.paths import elements_of
from profilec.values.types import read_as


class Sparse(NamedTuple):
    """Documents in rank space: see the module."""

    doc_off: NDArray[np.int64]
    doc_slots: Int32
    doc_ranks: Int32


def concatenate(parts: Sequence[Sparse]) -> Sparse:
    """The documents of the parts, one after another."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(part.doc_off[-1] for part in parts)])
    ends = [part.doc_off[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Sparse(
        np.concatenate([np.zeros(1, np.int64), *ends]),
        np.concatenate([np.empty(0, np.int32), *(part.doc_slots for part in parts)]),
        np.concatenate([np.empty(0, np.int32), *(part.doc_ranks for part in parts)]),
    )


def encode_frame(frame: Frame, slots: Sequence[PreparedSlot], names: Iterable[str], checked: Iterable[Parts]) -> Sparse:
    """The rows of a frame, of which `slots` are those that its columns or their absence can give a rank.

    `names`: the columns that a row has as a document; `checked`: attributes of which every value must have a kind.

    Raises:
        DocumentError: a column, or a value in one, is none that a document can have; it names the column.
    """
    encoding = _Encoding(frame, names, len(slots))
    for parts in checked:
        _check_values(parts, encoding.columns(parts))
    for slot in slots:
        encoding.add(slot)
    return encoding.sparse()


class _Encoding:
    """The columns of ranks and of patterns that are there so far."""

    def __init__(self, frame: Frame, names: Iterable[str], n_slots: int) -> None:
        self._frame = frame
        self._names = names
        self._rows: list[dict[str, Any]] | None = None
        self._found: dict[Parts, list[Column]] = {}
        self._cells = np.empty((n_slots, frame.n_rows), np.int32)
        self._column_slots: list[int] = []
        self._codes: list[NDArray[np.int64]] = []
        self._matching: list[MatchingEach] = []
        self._n_codes = 0

    def columns(self, parts: Parts) -> list[Column]:
        found = self._found.get(parts)
        if found is None:
            found = self._found[parts] = find(self._frame, parts)
        return found

    def add(self, slot: PreparedSlot) -> None:
        columns = {parts: self.columns(parts) for parts in slot.reads}
        ranks = self._cells[len(self._column_slots)]
        if not any(columns.values()):
            if slot.absent == 0:
                return
            rank, matching = slot.tell_absent()
            ranks[:] = rank
            if matching:
                off = np.array([0, len(matching)], np.int64)
                self._match(np.zeros(len(ranks), np.int64), MatchingEach(off, np.array(matching, np.int32)))
        elif slot.slot.parts is not None and not slot.has_patterns:
            self._rank_plain(slot, columns[slot.slot.parts], ranks)
        else:
            values, positions = self._values(slot, columns)
            of_value = np.fromiter(map(slot.ranking.rank_of, values), np.int32, len(values))
            np.take(of_value, positions, out=ranks)
            if slot.has_patterns:
                self._match(positions, slot.matching_each(values))
        self._column_slots.append(slot.number)

    def _match(self, codes: NDArray[np.int64], matching: MatchingEach) -> None:
        """Row i has the pseudo-slots of value `codes[i]`."""
        if len(matching.slots):
            self._codes.append(codes + self._n_codes)
            self._matching.append(matching)
            self._n_codes += len(matching.off) - 1

    def sparse(self) -> Sparse:
        n_rows = self._frame.n_rows
        if not self._column_slots:
            return Sparse(np.zeros(n_rows + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
        from profilec.runtime.encode_kernels import count_sparse, fill_sparse

        cells = self._cells[: len(self._column_slots)]
        codes = np.array(self._codes, np.int64).reshape(len(self._codes), n_rows)
        code_off, code_slots = joined_matching(self._matching)
        doc_off = np.empty(n_rows + 1, np.int64)
        count_sparse(cells, codes, code_off, doc_off)
        n = int(doc_off[-1])
        doc_slots, doc_ranks = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
        column_slots = np.array(self._column_slots, np.int32)
        fill_sparse(cells, column_slots, codes, code_off, code_slots, doc_slots, doc_ranks)
        return Sparse(doc_off, doc_slots[:n], doc_ranks[:n])

    def _rank_plain(self, slot: PreparedSlot, columns: list[Column], ranks: Int32) -> None:
        """NULL: where the column of that very name is NULL, the path is asked."""
        try:
            rank_column(columns[0], slot.ranking, ranks)
            for column in columns[1:]:
                others = np.empty_like(ranks)
                rank_column(column, slot.ranking, others)
                np.copyto(ranks, others, where=ranks == 0)
        except DocumentError as error:
            raise DocumentError(f"attribute {slot.slot.name!r}: {error}") from None

    def _values(self, slot: PreparedSlot, columns: dict[Parts, list[Column]]) -> tuple[list[Any], NDArray[np.int64]]:
        """The slot's values, and each row's position among them."""
        (parts, found), *more = columns.items()
        if more or len(found) != 1:
            if self._rows is None:
                self._rows = self._frame.rows(self._names)
            return [slot.value(row) for row in self._rows], np.arange(len(self._rows))
        values, positions = distinct(found[0])
        name = ".".join(parts)
        if slot.slot.parts is None:
            return [run(slot.slot.program, {name: value}) for value in values], positions
        try:
            return [read_as(from_document(value), slot.slot.type_) for value in values], positions
        except DocumentError as error:
            raise DocumentError(f"attribute {slot.slot.name!r}: {error}") from None


def _check_values(parts: Parts, columns: list[Column]) -> None:
    """A value of no kind is an error whether or not a term comes to be asked about it."""
    for column in columns:
        if isinstance(column, list):
            try:
                for value in column:
                    elements_of(from_document(value))
            except DocumentError as error:
                raise DocumentError(f"attribute {'.'.join(parts)!r}: {error}") from None
