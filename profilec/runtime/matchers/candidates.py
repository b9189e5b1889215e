"""Matchers that tell entries by rank tests alone: everything else of these is left to Python.

In: a finder, over dense ranks or over sparse documents. Out: a matcher, over sparse documents.
"""

from __future__ import annotations

import threading
from typing import Any, Protocol

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

    @property
    def finder(self) -> EntryFinder:
        """What finds them."""
        return self._finder

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


class SparseFinder(Protocol):
    """Finds entries of sparse documents, many documents at a time."""

    @property
    def n_entries(self) -> int:
        """How many entries it is to find; numbered from 0."""
        ...

    def scratch(self) -> Any:
        """What one thread writes."""
        ...

    def find(
        self,
        scratch: Any,
        doc_off: NDArray[np.int64],
        slots: Int32,
        ranks: Int32,
        first: int,
        off: NDArray[np.int64],
        out: Int32,
    ) -> int:
        """Of documents in CSR form from number `first` on, as many as there is room for, the entries all of whose rank
        tests hold, ascending; the number of the next document.

        Those of a document are `out[off[d] : off[d + 1]]`, counted from 0 at the first of them, whose `off[d]` is not
        written. There is room for one more where `out` has two more elements left than there are entries.
        """
        ...


_MORE = 1 << 16
"""How many entries of a batch are found between two copies, beyond those of one document."""


class _Own(threading.local):
    """Each thread's own arrays."""

    def __init__(self, finder: SparseFinder) -> None:
        self.scratch = finder.scratch()
        self.out = np.empty(finder.n_entries + 2, np.int32)
        self.doc_off, self.off = np.zeros(2, np.int64), np.zeros(2, np.int64)


class SparseCandidateMatcher:
    """Of a finder over sparse documents. Safe to use from several threads."""

    __slots__ = ("_entries", "_finder", "_own")

    def __init__(self, finder: SparseFinder, entries: Int32) -> None:
        """`entries`: the numbers in the image of the entries that it finds, ascending."""
        self._finder = finder
        is_all = len(entries) == 0 or entries[-1] == len(entries) - 1
        self._entries = None if is_all else entries
        self._own = _Own(finder)

    @property
    def finder(self) -> SparseFinder:
        """What finds them."""
        return self._finder

    def match(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[Int32, Int32]:
        """No profile yet, and all entries whose rank tests hold."""
        own = self._own
        scratch, doc_off, off, out = own.scratch, own.doc_off, own.off, own.out
        doc_off[1] = n_slots
        self._finder.find(scratch, doc_off, slots, ranks, 0, off, out)
        return _NONE, self._numbered(out[: off.item(1)])

    def count(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[int, Int32]:
        """As `match`."""
        return 0, self.match(slots, ranks, n_slots)[1]

    def match_batch(
        self, doc_off: NDArray[np.int64], doc_slots: Int32, doc_ranks: Int32
    ) -> tuple[NDArray[np.int64], Int32, NDArray[np.int64], Int32]:
        """Many documents with each call of the finder."""
        off = np.zeros(len(doc_off), np.int64)
        out = np.empty(self._finder.n_entries + 2 + _MORE, np.int32)
        scratch, parts, n_found, first = self._own.scratch, [_NONE], 0, 0
        while first < len(doc_off) - 1:
            stop = self._finder.find(scratch, doc_off, doc_slots, doc_ranks, first, off, out)
            parts.append(self._numbered(out[: off.item(stop)]))
            off[first + 1 : stop + 1] += n_found
            n_found, first = off.item(stop), stop
        return np.zeros(len(doc_off), np.int64), _NONE, off, np.concatenate(parts)

    def _numbered(self, found: Int32) -> Int32:
        return found.copy() if self._entries is None else self._entries[found]
