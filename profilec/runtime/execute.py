"""An image at work: documents in, ordinals of matching profiles out.

In: an image, and documents with the store of the earlier ones. Out: for each document the
profiles that match it, ascending. Encode (`encode`), find the entries whose rank tests hold
(`matchers`), check their bits and residuals (`decide`), and name their profiles.

Invariant: the answer is the same for every matcher, for one document or many, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.columns import n_rows_of
from profilec.runtime.decide import Decider, Decision, PatternMemo
from profilec.runtime.encode import Encoded, Encoder
from profilec.runtime.image import Image, Int32, gather
from profilec.runtime.program import Document
from profilec.runtime.store.documents import DocumentStore


class Matcher(Protocol):
    """Finds entries by ranks."""

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending."""
        ...


def _scan(image: Image) -> Matcher:
    from profilec.runtime.matchers.scan import ScanMatcher

    return ScanMatcher(image)


def _bitmap(image: Image) -> Matcher:
    from profilec.runtime.matchers.bitmap import BitmapMatcher

    return BitmapMatcher(image)


MATCHERS: dict[str, Callable[[Image], Matcher]] = {"bitmap": _bitmap, "scan": _scan}


class Executor:
    """Matches documents against one image. Safe to use from several threads."""

    def __init__(self, image: Image, matcher: str = "bitmap") -> None:
        """Raises ValueError where there is no such matcher."""
        if matcher not in MATCHERS:
            raise ValueError(f"no matcher {matcher!r}; there are {', '.join(MATCHERS)}")
        self.image = image
        self._matcher = MATCHERS[matcher](image)
        self._encoder = Encoder(image)
        self._decider = Decider(image)

    def match(self, document: Document, store: Sequence[Document] | None = None) -> Int32:
        """The ordinals of the profiles that match, ascending.

        Raises:
            DocumentError: the document is no mapping, or an attribute that a profile uses holds a value of no kind.
        """
        ranks = self._encoder.encode(document)[None, :]
        return self._profiles(Encoded(ranks, [document], 0, {}, []), 0, _as_it_is(store), {})

    def match_batch(
        self, documents: Any, store: Sequence[Document] | None = None, threads: int | None = None
    ) -> tuple[NDArray[np.int64], Int32]:
        """The matches of many documents as a CSR array: int64[n + 1] offsets, and ordinals ascending within a document.

        `documents`: an iterable of mappings, an Arrow table or record batch, or a pandas frame. With `threads`, chunks
        of the batch are matched at the same time; much of the work holds Python's lock, so this gains little yet.

        Raises:
            DocumentError: as for `match`, naming the document or the column.
        """
        earlier = _as_it_is(store)
        n_rows = n_rows_of(documents)
        if n_rows is None and not isinstance(documents, list | tuple):
            documents = list(documents)
        n_documents = len(documents) if n_rows is None else n_rows
        n_threads = max(1, threads or 1)
        size = self._encoder.chunk_size(n_documents, n_threads)
        spans = [(start, min(start + size, n_documents)) for start in range(0, n_documents, size)]

        def match_part(span: tuple[int, int]) -> list[Int32]:
            encoded = self._encoder.encode_part(documents, *span)
            memo: PatternMemo = {}
            return [self._profiles(encoded, number, earlier, memo) for number in range(len(encoded.ranks))]

        if n_threads == 1 or len(spans) < 2:
            parts = [match_part(span) for span in spans]
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                parts = list(pool.map(match_part, spans))
        found = [profiles for part in parts for profiles in part]
        offsets = np.zeros(n_documents + 1, np.int64)
        np.cumsum([len(profiles) for profiles in found], out=offsets[1:])
        return offsets, np.concatenate([np.zeros(0, np.int32), *found])

    def _profiles(self, encoded: Encoded, number: int, store: Sequence[Document] | None, memo: PatternMemo) -> Int32:
        entries = self._matcher.candidates(encoded.ranks[number])
        if len(entries):
            entries = Decision(self._decider, encoded, number, store, memo).holding(entries)
        profiles, _ = gather(self.image.entry_profile_off, self.image.entry_profiles, entries)
        return np.unique(profiles)


def _as_it_is(store: Sequence[Document] | None) -> Sequence[Document] | None:
    """The store as it is when matching begins, whatever other threads add to it meanwhile."""
    return store.snapshot() if isinstance(store, DocumentStore) else store
