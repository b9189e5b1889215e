"""The rest of a conjunction: what is asked of each earlier document that is left, with the new one.

In: a condition over both, a store. Out: whether it is TRUE of one document, or of one of many: doubles tell for most of
these at once (`estimates`), and the others are asked exactly, the newest first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.joins.estimates import TRUE, Estimate
from profilec.runtime.program import Document, Program, run
from profilec.runtime.store.documents import DocumentStore
from profilec.runtime.store.programs import names_read

_AT_ONCE = 1_024
_FEW = 16
"""Documents that are asked at once."""


class Rest:
    """A condition bound to a store; used under the store's lock."""

    def __init__(self, program: Program, store: DocumentStore) -> None:
        self._program = program
        self._store = store
        self._names = names_read(program)
        self._estimate = Estimate(program, store)

    @property
    def is_estimated(self) -> bool:
        """Whether doubles can tell most of it."""
        return self._estimate.can_tell

    def holds(self, new: Document, serial: int) -> bool:
        """Whether it is TRUE of a document."""
        return self._is_true(new, np.array([serial]))

    def holds_of_some(self, new: Document, start: int, chosen: NDArray[np.bool_]) -> bool:
        """Whether it is TRUE of some document from serial `start` on that is chosen."""
        if self._estimate.can_tell and int(chosen.sum()) > _FEW:
            sets = self._estimate.sets(new, start, start + len(chosen))
            if (chosen & (sets == TRUE)).any():
                return True
            chosen = chosen & (sets & TRUE > 0)
        serials = np.flatnonzero(chosen)[::-1] + start
        return any(self._is_true(new, serials[at : at + _AT_ONCE]) for at in range(0, len(serials), _AT_ONCE))

    def _is_true(self, new: Document, serials: NDArray[np.int64]) -> bool:
        return any(run(self._program, new, old) is True for old in self._store.rows(serials, self._names))
