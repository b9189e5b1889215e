"""Documents for an image that has indexed terms: as `encode`, with the pseudo-slots of the terms that are TRUE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from profilec.runtime.element_terms import ElementTerms
from profilec.runtime.encode import Encoder, SparseBatch, SparseDocument
from profilec.runtime.image import Image
from profilec.runtime.program import Document, attributes_read
from profilec.runtime.ranking import keys_of
from profilec.values.kinds import DocumentError


def encoder_of(image: Image, pattern_index: Mapping[str, str] | None = None) -> Encoder:
    """What encodes documents for an image. `pattern_index`: names of pattern indexes by attribute, see `Encoder`."""
    terms = ElementTerms(image.terms)
    return ElementEncoder(image, terms, pattern_index) if terms else Encoder(image, pattern_index)


class ElementEncoder(Encoder):
    """Safe to share between threads."""

    def __init__(self, image: Image, terms: ElementTerms, pattern_index: Mapping[str, str] | None = None) -> None:
        super().__init__(image, pattern_index)
        self._terms = terms
        self._first_slot = image.first_term_slot
        indexed = [term for term, is_indexed in zip(image.terms, terms.is_indexed, strict=True) if is_indexed]
        self._names = {key: None for term in indexed for parts in attributes_read(term) for key in keys_of(parts)}

    def encode_sparse(self, document: Document) -> SparseDocument:
        """See `Encoder`."""
        slots, ranks, n = super().encode_sparse(document)
        terms = self._true_terms(document)
        if not terms:
            return slots, ranks, n
        more = np.array(terms, np.int32)
        more += self._first_slot
        return np.concatenate((slots[:n], more)), np.concatenate((ranks[:n], np.ones_like(more))), n + len(more)

    def encode_batch(self, documents: Any, start: int, stop: int) -> SparseBatch:
        """See `Encoder`."""
        batch = super().encode_batch(documents, start, stop)
        terms: list[int] = []
        counts = np.zeros(len(batch), np.int64)
        for number, document in enumerate(batch.rows(self._names)):
            try:
                found = self._true_terms(document)
            except DocumentError as error:
                raise DocumentError(f"document {start + number}: {error}") from None
            counts[number] = len(found)
            terms += found
        if terms:
            places = np.repeat(batch.doc_off[1:], counts)
            batch.doc_slots = np.insert(batch.doc_slots, places, np.array(terms, np.int32) + np.int32(self._first_slot))
            batch.doc_ranks = np.insert(batch.doc_ranks, places, np.int32(1))
            batch.doc_off = batch.doc_off + np.concatenate(([0], np.cumsum(counts)))
        return batch

    def _true_terms(self, document: Document) -> list[int]:
        return [] if self._names.keys().isdisjoint(document) else self._terms.true_terms(document)
