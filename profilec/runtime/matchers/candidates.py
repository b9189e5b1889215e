"""Matchers that tell entries by rank tests alone: everything else of these is left to Python.

In: a matcher over dense ranks. Out: the same over sparse documents.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Image, Int32

_NONE = np.zeros(0, np.int32)


class EntryFinder(Protocol):
    """Finds entries by ranks."""

    def candidates(self, ranks: Int32) -> Int32:
        """The entries all of whose rank tests hold, ascending; `ranks`: one for each slot."""
        ...


class CandidateMatcher:
    """See the module."""

    __slots__ = ("_finder", "_n_slots", "_own")

    def __init__(self, image: Image, finder: EntryFinder, own: NDArray[np.bool_]) -> None:
        """`own`: the entries that it is to find."""
        self._finder = finder
        self._own = None if own.all() else own
        self._n_slots = len(image.slots)

    def match(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[Int32, Int32]:
        """No profile yet, and all entries whose rank tests hold."""
        return _NONE, self._candidates(slots[:n_slots], ranks[:n_slots])

    def count(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[int, Int32]:
        """As `match`."""
        return 0, self.match(slots, ranks, n_slots)[1]

    def match_batch(
        self, doc_off: NDArray[np.int64], doc_slots: Int32, doc_ranks: Int32
    ) -> tuple[NDArray[np.int64], Int32, NDArray[np.int64], Int32]:
        """Document by document."""
        found = []
        for start, end in zip(doc_off[:-1].tolist(), doc_off[1:].tolist(), strict=True):
            found.append(self._candidates(doc_slots[start:end], doc_ranks[start:end]))
        off = np.concatenate(([0], np.cumsum([len(entries) for entries in found], dtype=np.int64)))
        return np.zeros(len(doc_off), np.int64), _NONE, off, np.concatenate((_NONE, *found))

    def _candidates(self, slots: Int32, ranks: Int32) -> Int32:
        found = self._finder.candidates(self._dense(slots, ranks))
        return found if self._own is None else found[self._own[found]]

    def _dense(self, slots: Int32, ranks: Int32) -> Int32:
        dense = np.zeros(self._n_slots, np.int32)
        own = slots < self._n_slots  # without pseudo-slots
        dense[slots[own]] = ranks[own]
        return dense
