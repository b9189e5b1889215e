"""The join phase: which entries' join terms hold, all terms of a row of the join table at once.

In: entries whose other predicates hold, a new document and the store. Out: those whose joins hold. A residual that is
a plain AND of join terms, negated or not, is decided here for all entries together; of others the join terms are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32, kept_offsets
from profilec.runtime.joins.literals import Literals
from profilec.runtime.joins.new import NewDocument, NewDocuments
from profilec.runtime.joins.prefilter import PreFilter, Survivors
from profilec.runtime.joins.table import JoinTable, Truths
from profilec.runtime.program import Document
from profilec.runtime.store.documents import DocumentStore


class JoinPhase:
    """What is prepared once per image. Used under the store's lock."""

    def __init__(self, image: Image, *, with_prefilter: bool = True) -> None:
        self._image = image
        self._with_prefilter = with_prefilter
        self.prefilter: PreFilter | None = None
        """Made when the first document comes."""
        self.table = JoinTable(image.joins)
        self.literals = Literals.of_image(image)
        """What entries ask; once there is a pre-filter, without what it has replaced."""
        self.residual_left: Int32 = np.where(self.literals.alone, -1, image.entry_residual).astype(np.int32)

    def survivors(self, store: DocumentStore) -> Survivors | None:
        """What can match, as the pre-filter says; None where there is none."""
        return self.made_prefilter().survivors(store) if self._with_prefilter else None

    def made_prefilter(self) -> PreFilter:
        """The pre-filter, made when it is first asked for."""
        if self.prefilter is None:
            self.prefilter = PreFilter(self._image, self.table, self.literals)
            self.literals = self.prefilter.literals
        return self.prefilter

    def rows_of(self, entries: Int32) -> NDArray[np.int64]:
        """The rows of the table that the residuals of entries ask."""
        if len(self.table.rows) == 1 and not len(self.literals.unfiled):
            return np.zeros(min(1, len(entries)), np.int64)
        numbers, _ = self.literals.of(entries)
        return np.unique(self.table.row_of_term[numbers >> 1])


class GivenTruths(NamedTuple):
    """Truths of join terms that were found elsewhere. `truths`: a row for each document, by term; `rows`: which rows of
    the join table they are known of."""

    truths: Truths
    rows: NDArray[np.bool_]

    def part(self, start: int, stop: int) -> GivenTruths:
        """Those of some documents."""
        return GivenTruths(self.truths[start:stop], self.rows)


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
        """The entries without those that ask joins alone, of which one fails."""
        alone = self._phase.literals.alone[entries]
        if not alone.any():
            return entries
        asked = entries[alone]
        self._ask(self._phase.rows_of(asked).tolist())
        numbers, cut = self._phase.literals.of(asked)
        failed = self._truths[numbers >> 1] != numbers % 2
        holds = np.ones(len(entries), np.bool_)
        holds[alone] = np.diff(kept_offsets(cut, failed)) == 0
        return entries[holds]

    def joined(self, survivors: Survivors | None) -> Int32:
        """The entries that ask joins alone, all of whose joins hold, ascending."""
        self._ask(range(len(self._asked)) if survivors is None else survivors.rows)
        literals = self._phase.literals
        places = np.flatnonzero(literals.holding(self._truths))
        _, entries = literals.filed(places, places)
        entries = np.concatenate((literals.unfiled, entries))
        if survivors is not None:
            entries = entries[survivors.can_match[entries]]
        return np.sort(entries if literals.has_one else self.kept(entries))

    @property
    def n_asked(self) -> int:
        """Rows of the table asked so far."""
        return int(self._asked.sum())

    def holds_all(self, entry: int) -> bool:
        """Whether the joins of an entry hold that asks joins alone."""
        return all(self.holds(number >> 1) == number % 2 for number in self._phase.literals.of_one(entry))

    def holds(self, join: int) -> bool:
        """The truth of one."""
        row = self._phase.table.row_of_term.item(join)
        if not self._asked.item(row):
            self._ask([row])
        return self._truths.item(join)

    def _ask(self, rows: Iterable[int]) -> None:
        for row in rows:
            if self._asked.item(row):
                continue
            if self._new is None:
                self._new = NewDocument(self._document())
            self._phase.table.decide(row, self._new, self._store, self._truths)
            self._asked[row] = True


class BatchAnswers:
    """The same for the documents of a batch: each row of the table is asked once for all of them."""

    def __init__(
        self, phase: JoinPhase, new: NewDocuments, store: DocumentStore, given: GivenTruths | None = None
    ) -> None:
        self._phase = phase
        self._new = new
        self._store = store
        if given is None:
            shape = new.n, phase.table.n_terms
            given = GivenTruths(np.zeros(shape, np.bool_), np.zeros(len(phase.table.rows), np.bool_))
        self._truths, self._asked = given.truths.copy(), given.rows.copy()

    @property
    def n_documents(self) -> int:
        return self._new.n

    def ask(self, entries: Int32) -> None:
        """Asks for all joins of some entries."""
        self._ask(self._phase.rows_of(entries).tolist())

    def _ask(self, rows: Iterable[int]) -> None:
        for row in rows:
            if self._asked.item(row):
                continue
            self._phase.table.decide_many(row, self._new, self._store, self._truths)
            self._asked[row] = True

    def holding(self, documents: NDArray[np.int64], entries: Int32) -> NDArray[np.bool_]:
        """Whether the plain ANDs of joins of entries hold, each for a document; `ask` came before."""
        numbers, cut = self._phase.literals.of(entries)
        truths = self._truths[np.repeat(documents, np.diff(cut)), numbers >> 1]
        holds: NDArray[np.bool_] = np.diff(kept_offsets(cut, truths != numbers % 2)) == 0
        return holds

    def joined(self, survivors: Survivors | None) -> tuple[NDArray[np.int64], Int32]:
        """Documents, ascending, and for each the entries that ask joins alone, all of whose joins hold."""
        self._ask(range(len(self._asked)) if survivors is None else survivors.rows)
        literals = self._phase.literals
        documents, places = literals.held(self._truths)
        documents, entries = literals.filed(places, documents)
        if len(literals.unfiled):
            every = np.repeat(np.arange(self._new.n), len(literals.unfiled))
            documents = np.concatenate((every, documents))
            order = np.argsort(documents, kind="stable")
            documents = documents[order]
            entries = np.concatenate((np.tile(literals.unfiled, self._new.n), entries))[order]
        if survivors is not None and not survivors.are_all:
            can = survivors.can_match[entries]
            documents, entries = documents[can], entries[can]
        if literals.has_one:
            return documents, entries
        holds = self.holding(documents, entries)
        return documents[holds], entries[holds]

    @property
    def n_asked(self) -> int:
        """Rows of the table asked so far."""
        return int(self._asked.sum())

    def of(self, document: int) -> JoinAnswers:
        """Those of one document."""
        known = self._truths[document], self._asked.copy()
        return JoinAnswers(self._phase, lambda: self._new.alone(document).document, self._store, known)
