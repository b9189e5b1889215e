"""The join phase: which entries' join terms hold, all terms of a row of the join table at once.

In: entries whose other predicates hold, a new document and the store. Out: those whose joins hold. A residual that is
a plain AND of join terms, negated or not, is decided here for all entries together; of others the join terms are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import OP_JOIN, OP_JOIN_NOT, OP_JUMP_IF_FALSE, Image, Int32, gather
from profilec.runtime.joins.new import NewDocument, NewDocuments
from profilec.runtime.joins.table import JoinTable, Truths
from profilec.runtime.program import Document
from profilec.runtime.store.documents import DocumentStore


class JoinPhase:
    """What is prepared once per image. Used under the store's lock."""

    def __init__(self, image: Image) -> None:
        self.table = JoinTable(image.joins)
        code, off = image.residual_code, image.residual_off
        is_join = (code[:, 0] == OP_JOIN) | (code[:, 0] == OP_JOIN_NOT)
        self._join_off = _counts_off(is_join, off)
        self._joins = code[is_join, 1]
        self._wants = code[is_join, 0] == OP_JOIN
        is_plain = _is_plain(code, off)
        residual = image.entry_residual
        self.is_plain = np.append(is_plain, False)[residual]
        """Per entry, whether its residual is an AND of joins."""
        self.residual_left: Int32 = np.where(self.is_plain, -1, residual).astype(np.int32)
        self._residual = residual

    def joins_of(self, entries: Int32) -> tuple[Int32, NDArray[np.bool_], NDArray[np.int64]]:
        """The joins in the residuals of entries, whether each is to hold, and what cuts them by entry."""
        residuals = self._residual[entries]
        has = np.flatnonzero(residuals >= 0)
        places, cut = gather(self._join_off, np.arange(len(self._joins), dtype=np.int32), residuals[has])
        sizes = np.zeros(len(entries), np.int64)
        sizes[has] = np.diff(cut)
        return self._joins[places], self._wants[places], np.concatenate(([0], np.cumsum(sizes)))

    def kept(self, entries: Int32, truths: Callable[[Int32], NDArray[np.bool_]]) -> Int32:
        """The entries without those whose plain AND of joins fails. `truths`: of the joins given."""
        plain = self.is_plain[entries]
        if not plain.any():
            return entries
        joins, wants, cut = self.joins_of(entries[plain])
        failed = np.concatenate(([0], np.cumsum(truths(joins) != wants)))
        holds = np.ones(len(entries), np.bool_)
        holds[plain] = failed[cut[1:]] == failed[cut[:-1]]
        return entries[holds]


class JoinAnswers:
    """The truths of join terms for one new document, each row of the table asked once."""

    def __init__(
        self,
        phase: JoinPhase,
        document: Callable[[], Document],
        store: DocumentStore,
        known: tuple[Truths, NDArray[np.bool_]] | None = None,
    ) -> None:
        """`known`: truths, and which rows of the table they are known of."""
        self._phase = phase
        self._document = document
        self._store = store
        self._new: NewDocument | None = None
        table = phase.table
        self._truths, self._asked = known or (np.zeros(table.n_terms, np.bool_), np.zeros(len(table.rows), np.bool_))

    def kept(self, entries: Int32) -> Int32:
        """See `JoinPhase.kept`."""
        return self._phase.kept(entries, self.truths)

    def truths(self, joins: Int32) -> Truths:
        """The truths of some joins."""
        rows = self._phase.table.row_of_term[joins]
        self._ask(np.unique(rows[~self._asked[rows]]).tolist())
        truths: Truths = self._truths[joins]
        return truths

    def holds(self, join: int) -> bool:
        """The truth of one."""
        row = self._phase.table.row_of_term.item(join)
        if not self._asked.item(row):
            self._ask([row])
        return self._truths.item(join)

    def _ask(self, rows: Iterable[int]) -> None:
        for row in rows:
            if self._new is None:
                self._new = NewDocument(self._document())
            self._phase.table.decide(row, self._new, self._store, self._truths)
            self._asked[row] = True


class BatchAnswers:
    """The same for the documents of a batch: each row of the table is asked once for all of them."""

    def __init__(self, phase: JoinPhase, new: NewDocuments, store: DocumentStore) -> None:
        self._phase = phase
        self._new = new
        self._store = store
        self._truths: Truths = np.zeros((new.n, phase.table.n_terms), np.bool_)
        self._asked = np.zeros(len(phase.table.rows), np.bool_)

    def ask(self, entries: Int32) -> None:
        """Asks for all joins of some entries."""
        joins, _, _ = self._phase.joins_of(entries)
        rows = self._phase.table.row_of_term[joins]
        for row in np.unique(rows[~self._asked[rows]]).tolist():
            self._phase.table.decide_many(row, self._new, self._store, self._truths)
            self._asked[row] = True

    def holding(self, documents: NDArray[np.int64], entries: Int32) -> NDArray[np.bool_]:
        """Whether the plain ANDs of joins of entries hold, each for a document; `ask` came before."""
        joins, wants, cut = self._phase.joins_of(entries)
        truths = self._truths[np.repeat(documents, np.diff(cut)), joins]
        failed = np.concatenate(([0], np.cumsum(truths != wants)))
        holds: NDArray[np.bool_] = failed[cut[1:]] == failed[cut[:-1]]
        return holds

    def of(self, document: int) -> JoinAnswers:
        """Those of one document."""
        return JoinAnswers(self._phase, lambda: self._new.alone(document).document, self._store, self._given(document))

    def _given(self, document: int) -> tuple[Truths, NDArray[np.bool_]]:
        return self._truths[document], self._asked.copy()


def _counts_off(flags: NDArray[np.bool_], off: Int32) -> NDArray[np.int64]:
    """Offsets of what is flagged, part by part."""
    before = np.concatenate(([0], np.cumsum(flags, dtype=np.int64)))
    return before[off]


def _is_plain(code: Int32, off: Int32) -> NDArray[np.bool_]:
    """Per residual, whether it is joins with a jump to the end between them."""
    lengths = np.diff(off)
    rows = np.arange(len(code)) - np.repeat(off[:-1], lengths)
    is_join = (code[:, 0] == OP_JOIN) | (code[:, 0] == OP_JOIN_NOT)
    is_jump = (code[:, 0] == OP_JUMP_IF_FALSE) & (code[:, 1] == np.repeat(lengths, lengths))
    other = np.where(rows % 2 == 0, ~is_join, ~is_jump)
    has_other: NDArray[np.bool_] = np.diff(_counts_off(other, off)) > 0
    return ~has_other
