"""An image at work: documents in, ordinals of matching profiles out.

In: an image, and documents with the store of the earlier ones. Out: for each document the
profiles that match it, ascending. Encode (`encode`), find what the compiled matcher can tell
(`matchers`), and decide the rest in Python (`decide`).

Invariant: the answer is the same for every matcher, for one document or many, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.columns import n_rows_of
from profilec.runtime.decide import Decider, Decision
from profilec.runtime.encode import SparseBatch, SparseDocument
from profilec.runtime.encode_elements import encoder_of
from profilec.runtime.image import Image, Int32, gather
from profilec.runtime.joins.new import NewDocuments
from profilec.runtime.joins.order import ALONE, IN_BATCH, JOIN_FIRST, PhaseOrder
from profilec.runtime.joins.phase import BatchAnswers, GivenTruths, JoinAnswers
from profilec.runtime.matchers.by_name import Matcher, Nothing, matcher_of
from profilec.runtime.matchers.mixed import MixedMatcher
from profilec.runtime.overlap import Overlap
from profilec.runtime.program import Document
from profilec.runtime.store.documents import DocumentStore
from profilec.runtime.store.node_file import NO_DISK, Disk
from profilec.values.locks import new_lock

_Store = Sequence[Document] | None


_FEW = 32
"""Entries whose profiles are put together one by one."""
_MAX_TRUTHS = 8_000_000


class Executor:
    """Matches documents against one image. Safe to use from several threads."""

    def __init__(
        self,
        image: Image,
        matcher: str = "betree",
        phase_order: str | None = None,
        *,
        prefilter: bool = True,
        groups: Mapping[str, str] | None = None,
        index_of: Mapping[str, str] | None = None,
        frequency: Sequence[float] | None = None,
        pattern_index: Mapping[str, str] | None = None,
        disk: Disk = NO_DISK,
    ) -> None:
        """`matcher`: a name of MATCHERS, or one with the form of leaves that the tree was loaded with: "betree:list".
        `phase_order`: one of PHASE_ORDERS, or None for the one that is expected to cost less. `prefilter`: pass over
        entries that cannot match, as the earlier documents are. `groups`: matchers of the entries that one attribute
        gives access to, by attribute, "" for none. `index_of`: names of indexes by attribute, where the
        matcher has some. `frequency`: of each slot, the share of documents that have it; None where nobody knows.
        `pattern_index`: names of pattern indexes by attribute; the default where there is none. `disk`: where indexes
        on secondary storage are, and how much memory there is.

        Raises ValueError where there is no such matcher.
        """
        self.image = image
        self._name = matcher
        self._matcher = matcher_of(image, matcher, groups=groups, index_of=index_of, frequency=frequency, disk=disk)
        self._encoder = encoder_of(image, pattern_index)
        self._encode = self._encoder.encode_sparse
        self._decider = Decider(image, with_prefilter=prefilter)
        self._joined: Matcher | None = None
        """What finds the entries that ask joins alone; None where there are none."""
        if self._decider.joins is not None and self._decider.joins.literals.alone.any():
            self._joined = matcher_of(image, matcher, joined=True, index_of=index_of, frequency=frequency, disk=disk)
            if self._decider.joins.literals.alone.all():
                self._matcher = Nothing()
            literals = self._decider.joins.literals
            sizes = len(self._decider.joins.table.rows), len(literals.used), int(literals.alone.sum())
            self._order = PhaseOrder(phase_order, ALONE, *sizes)
            self._order_in_batch = PhaseOrder(phase_order, IN_BATCH, *sizes)
        self._has_tree = matcher.startswith("betree") and not groups
        self._profiles_of = image.entry_profile_off.data, image.entry_profiles.data
        self._has_one_each = bool((np.diff(image.entry_profile_off) == 1).all())
        """Whether each entry is of one profile."""
        self._overlap: Overlap | None = None
        self._deciding = new_lock()
        """What joins ask of the store is kept there as it is found: one thread of a batch asks at a time."""

    @property
    def encode(self) -> Callable[[Document], SparseDocument]:
        """What gives a document's ranks."""
        return self._encode

    def prepare_as(self, other: Executor) -> None:
        """As `Encoder.prepare_as`."""
        self._encoder.prepare_as(other._encoder)

    @property
    def matcher(self) -> Matcher:
        """What finds the entries that do not ask joins alone."""
        return self._matcher

    @property
    def matchers(self) -> Mapping[str, Matcher]:
        """By name those that take part in that."""
        return self._matcher.parts if isinstance(self._matcher, MixedMatcher) else {self._name: self._matcher}

    @property
    def overlap(self) -> Overlap:
        """What matches documents of sets; made when the first comes. (No cached_property: its lock is copied by a
        fork as it is.)"""
        if self._overlap is None:
            self._overlap = Overlap(self.image, with_tree=self._has_tree)
        return self._overlap

    def match(self, document: Document, store: _Store = None) -> Int32:
        """The ordinals of the profiles that match, ascending.

        Raises:
            DocumentError: the document is no mapping, or an attribute that a profile uses holds a value of no kind.
        """
        slots, ranks, n_slots = self._encode(document)
        profiles, entries = self._matcher.match(slots, ranks, n_slots)
        if not len(entries) and self._joined is None:
            return profiles
        with self._reading(store) as earlier:
            joins = self._decider.joins
            answers = None if joins is None or earlier is None else JoinAnswers(joins, lambda: document, earlier)
            decision = Decision(self._decider, slots[:n_slots], ranks[:n_slots], lambda: document, answers)
            entries = decision.holding(entries)
            if self._joined is not None and answers is not None and earlier is not None:
                found = self._both_phases(self._joined, decision, answers, (slots, ranks, n_slots), earlier)
                entries = np.concatenate((entries, found))
        return self._with(profiles, entries)

    def _both_phases(
        self, joined: Matcher, decision: Decision, answers: JoinAnswers, document: SparseDocument, store: DocumentStore
    ) -> Int32:
        """The entries that ask joins alone and hold, by the order of phases that costs less."""
        assert self._decider.joins is not None
        survivors = self._decider.joins.survivors(store)
        if survivors is not None and not survivors.n:
            return np.zeros(0, np.int32)
        if self._order.choose(len(store.alive), None if survivors is None else len(survivors.rows)) == JOIN_FIRST:
            entries = answers.joined(survivors)
            self._order.saw_held(len(entries))
            return decision.satisfying(entries)
        n_before = answers.n_asked
        _, entries = joined.match(*document)
        if survivors is not None:
            entries = entries[survivors.can_match[entries]]
        held = decision.holding(entries)
        self._order.saw_survivors(len(entries), answers.n_asked - n_before)
        return held

    def count(self, document: Document, store: _Store = None) -> int:
        """How many profiles match; without naming them where none needs Python."""
        if self._joined is not None:
            return len(self.match(document, store))
        slots, ranks, n_slots = self._encode(document)
        n, entries = self._matcher.count(slots, ranks, n_slots)
        return len(self.match(document, store)) if len(entries) else n

    def any(self, document: Document, store: _Store = None) -> bool:
        """Whether some profile matches."""
        slots, ranks, n_slots = self._encode(document)
        n, entries = self._matcher.count(slots, ranks, n_slots)
        return n > 0 or ((len(entries) > 0 or self._joined is not None) and len(self.match(document, store)) > 0)

    def filtered(self, store: DocumentStore) -> dict[str, Any] | None:
        """Of the pre-filter, as the store is: its `constraints` on the earlier documents, the joins of entries in whose
        place one is asked (`joins_replaced`), the ordinals of the profiles none of whose entries can match
        (`cannot_match`). None where there is no pre-filter."""
        joins = self._decider.joins
        with self._reading(store) as earlier:
            survivors = None if joins is None or earlier is None else joins.survivors(earlier)
            if survivors is None or joins is None or joins.prefilter is None:
                return None
            entries = np.flatnonzero(survivors.can_match).astype(np.int32)
            can, _ = gather(self.image.entry_profile_off, self.image.entry_profiles, entries)
            left, _ = gather(
                self.image.entry_profile_off,
                self.image.entry_profiles,
                np.flatnonzero(~survivors.can_match).astype(np.int32),
            )
            return {
                "constraints": joins.prefilter.n_constraints,
                "joins_replaced": joins.prefilter.n_replaced,
                "cannot_match": np.setdiff1d(left, can).tolist(),
            }

    def match_batch(
        self, documents: Any, store: _Store = None, threads: int | None = None, given: GivenTruths | None = None
    ) -> tuple[NDArray[np.int64], Int32]:
        """The matches of many documents as a CSR array: int64[n + 1] offsets, and ordinals ascending within a document.

        `documents`: an iterable of mappings, an Arrow table or record batch, or a pandas frame. With `threads`, parts
        of the batch are matched at the same time: the kernels hold no lock, encoding dicts does. `given`: truths of
        join terms, for which the store is then not asked; the executor is one without a pre-filter, which asks it.

        Raises:
            DocumentError: as for `match`, naming the document or the column.
        """
        documents, spans = self._spans(documents, n_threads := max(1, threads or 1))

        with self._reading(store) as earlier:

            def match_part(span: tuple[int, int]) -> tuple[NDArray[np.int64], Int32]:
                known = None if given is None else given.part(*span)
                return self._match_encoded(self._encoder.encode_batch(documents, *span), earlier, known)

            if n_threads == 1 or len(spans) < 2:
                parts = [match_part(span) for span in spans]
            else:
                with ThreadPoolExecutor(n_threads) as pool:
                    parts = list(pool.map(match_part, spans))
        return _joined(parts)

    def rows_asked(self, documents: Any) -> NDArray[np.bool_]:
        """For each document of a batch, which rows of the join table are asked by entries whose constants let it
        through, undecided ones taken for TRUE. bool[n_documents, n_rows]"""
        joins = self._decider.joins
        documents, spans = self._spans(documents, 1)
        n_rows = 0 if joins is None else len(joins.table.rows)
        asked = np.zeros((spans[-1][1] if spans else 0, n_rows), np.bool_)
        for span in spans if joins is not None else ():
            assert joins is not None
            batch = self._encoder.encode_batch(documents, *span)
            for matcher in filter(None, (self._matcher, self._joined)):
                _, _, off, entries = matcher.match_batch(batch.doc_off, batch.doc_slots, batch.doc_ranks)
                numbers, cut = joins.literals.of(entries)
                of = np.repeat(np.repeat(np.arange(len(batch)), np.diff(off)), np.diff(cut))
                asked[span[0] + of, joins.table.row_of_term[numbers >> 1]] = True
        return asked

    def _spans(self, documents: Any, n_threads: int) -> tuple[Any, list[tuple[int, int]]]:
        """The documents, as what has a length, and the parts in which they are matched."""
        n_rows = n_rows_of(documents)
        if n_rows is None and not isinstance(documents, list | tuple):
            documents = list(documents)
        n_documents = len(documents) if n_rows is None else n_rows
        size = self._encoder.chunk_size(n_documents, n_threads)
        return documents, [(start, min(start + size, n_documents)) for start in range(0, n_documents, size)]

    @contextmanager
    def _reading(self, store: _Store) -> Iterator[DocumentStore | None]:
        """The store, held as it is until matching ends, whatever other threads add to it meanwhile; None where no
        join asks for it."""
        if self._decider.joins is None:
            yield None
            return
        if not isinstance(store, DocumentStore):
            store = DocumentStore(store or ())
        with store.reading():
            yield store

    def _match_encoded(
        self, batch: SparseBatch, store: DocumentStore | None, given: GivenTruths | None
    ) -> tuple[NDArray[np.int64], Int32]:
        off, profiles, handed_off, handed = self._matcher.match_batch(batch.doc_off, batch.doc_slots, batch.doc_ranks)
        joins = self._decider.joins
        if joins is None or store is None:
            if not len(handed):
                return off, profiles
            return self._merged(off, profiles, [self._held(batch, handed_off, handed, None, 0)])
        # A truth for each document and term: so many documents at a time that these are a few million.
        size = max(1, _MAX_TRUTHS // max(1, joins.table.n_terms))
        found: list[tuple[NDArray[np.int64], Int32]] = []
        with self._deciding:
            for start in range(0, len(batch), size):
                stop = min(start + size, len(batch))
                new = NewDocuments(stop - start, batch.frame(start, stop), partial(_document, batch, start))
                answers = BatchAnswers(joins, new, store, None if given is None else given.part(start, stop))
                if len(handed):
                    cut = handed_off[start : stop + 1]
                    documents = np.repeat(np.arange(stop - start), np.diff(cut))
                    found += self._settled(batch, start, answers, documents, handed[cut[0] : cut[-1]])
                if self._joined is not None:
                    found += self._joined_of_batch(self._joined, batch, start, stop, answers, store)
        return self._merged(off, profiles, found)

    def _joined_of_batch(
        self, joined: Matcher, batch: SparseBatch, start: int, stop: int, answers: BatchAnswers, store: DocumentStore
    ) -> list[tuple[NDArray[np.int64], Int32]]:
        """As `_both_phases`, of the documents from `start` to before `stop`."""
        cut = batch.doc_off[start : stop + 1]
        slots, ranks = batch.doc_slots[cut[0] : cut[-1]], batch.doc_ranks[cut[0] : cut[-1]]
        n, order = stop - start, self._order_in_batch
        assert self._decider.joins is not None
        survivors = self._decider.joins.survivors(store)
        if survivors is not None and not survivors.n:
            return []
        if order.choose(len(store.alive), None if survivors is None else len(survivors.rows)) == JOIN_FIRST:
            documents, entries = answers.joined(survivors)
            order.saw_held(len(entries) / n)
            if not self._decider.joined_have_tests:
                return [(documents + start, entries)]
            dense = np.zeros((n, len(self.image.slots)), np.int32)
            own = slots < dense.shape[1]  # without pseudo-slots
            dense[np.repeat(np.arange(n), np.diff(cut))[own], slots[own]] = ranks[own]
            holds = self._decider.tests_hold(dense, documents, entries)
            return self._settled(batch, start, answers, documents[holds], entries[holds])
        n_before = answers.n_asked
        _, _, handed_off, handed = joined.match_batch(cut - cut[0], slots, ranks)
        documents = np.repeat(np.arange(n), np.diff(handed_off))
        if survivors is not None:
            can = survivors.can_match[handed]
            documents, handed = documents[can], handed[can]
        held = self._settled(batch, start, answers, documents, handed)
        order.saw_survivors(len(handed) / n, answers.n_asked - n_before)
        return held

    def _settled(
        self,
        batch: SparseBatch,
        first: int,
        answers: BatchAnswers,
        documents: NDArray[np.int64],
        entries: Int32,
    ) -> list[tuple[NDArray[np.int64], Int32]]:
        """Documents of the batch, and for each the entries that hold. In: entries whose rank tests hold, each for a
        document, these numbered from `first` on and ascending."""
        if not len(entries):
            return []
        answers.ask(entries)
        alone = self._decider.needs_no_run(entries)
        holds = alone.copy()
        holds[alone] = answers.holding(documents[alone], entries[alone])
        found = [(documents[holds] + first, entries[holds])]
        if not alone.all():
            left = np.concatenate(([0], np.cumsum(np.bincount(documents[~alone], minlength=answers.n_documents))))
            found.append(self._held(batch, left, entries[~alone], answers, first))
        return found

    def _held(
        self, batch: SparseBatch, off: NDArray[np.int64], entries: Int32, answers: BatchAnswers | None, first: int
    ) -> tuple[NDArray[np.int64], Int32]:
        """Documents, from the batch's number `first` on, and the entries of each that hold."""
        documents, found = [], []
        for number, (start, end) in enumerate(pairwise(off.tolist())):
            if start < end:
                part = slice(int(batch.doc_off[first + number]), int(batch.doc_off[first + number + 1]))

                def document(number: int = first + number) -> Document:
                    return batch.document(number)

                joins = None if answers is None else answers.of(number)
                decision = Decision(self._decider, batch.doc_slots[part], batch.doc_ranks[part], document, joins)
                held = decision.holding(entries[start:end])
                found.append(held)
                documents.append(np.full(len(held), first + number))
        return np.concatenate((np.zeros(0, np.int64), *documents)), np.concatenate((entries[:0], *found))

    def _merged(
        self, off: NDArray[np.int64], profiles: Int32, found: list[tuple[NDArray[np.int64], Int32]]
    ) -> tuple[NDArray[np.int64], Int32]:
        """Profiles by document, with those of entries, each found for a document."""
        if not any(len(entries) for _, entries in found):
            return off, profiles
        documents, entries = found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
        if self._has_one_each:
            more = self.image.entry_profiles[entries]
        else:
            more, cut = gather(self.image.entry_profile_off, self.image.entry_profiles, entries)
            documents = np.repeat(documents, np.diff(cut))
        n = np.int64(self.image.n_profiles)
        if len(profiles):
            documents = np.concatenate((np.repeat(np.arange(len(off) - 1), np.diff(off)), documents))
            more = np.concatenate((profiles, more))
        keys = documents * n + more
        if not (keys[1:] > keys[:-1]).all():
            documents, more = np.divmod(_ascending(keys), n)
        merged = np.zeros(len(off), np.int64)
        np.cumsum(np.bincount(documents, minlength=len(off) - 1), out=merged[1:])
        return merged, more.astype(np.int32)

    def _with(self, profiles: Int32, entries: Int32) -> Int32:
        """The profiles, and those of the entries."""
        if not len(entries):
            return profiles
        if len(entries) + len(profiles) <= _FEW:  # PERF: as in `Decision`
            off, of_entry = self._profiles_of
            found = set(profiles.tolist())
            for entry in entries.tolist():
                found.update(of_entry[off[entry] : off[entry + 1]])
            return np.array(sorted(found), np.int32)
        more, _ = gather(self.image.entry_profile_off, self.image.entry_profiles, entries)
        return _ascending(np.concatenate((profiles, more)))


def _document(batch: SparseBatch, first: int, number: int) -> Document:
    return batch.document(first + number)


def _ascending(numbers: NDArray[Any]) -> NDArray[Any]:
    """The numbers in order, none twice."""
    if (numbers[1:] > numbers[:-1]).all():  # PERF: mostly they are
        return numbers
    numbers = np.sort(numbers)
    is_first = np.ones(len(numbers), np.bool_)
    is_first[1:] = numbers[1:] > numbers[:-1]
    return numbers[is_first]


def _joined(parts: Sequence[tuple[NDArray[np.int64], Int32]]) -> tuple[NDArray[np.int64], Int32]:
    """CSR arrays one after another."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(off[-1] for off, _ in parts)])
    off = [own[1:] + start for (own, _), start in zip(parts, starts[:-1], strict=True)]
    return (
        np.concatenate((np.zeros(1, np.int64), *off)),
        np.concatenate((np.zeros(0, np.int32), *(profiles for _, profiles in parts))),
    )
