"""A compiled set as one segment of a living one.

In: a compiled set, the places of its profiles, and which of them died. Out: the profiles that a document matches, by
place, of those seen at a moment.

Invariant: `places` ascend, since the compiled set is in the order of places; `died` changes only from ALIVE to a moment
to come, so that whoever matches at an earlier moment sees what he saw.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.compiled_set import CompiledSet
from profilec.living.delta import ALIVE
from profilec.runtime.store.documents import DocumentStore

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Segment:
    """See the module. `places` and `died` are int64, one of each profile."""

    __slots__ = ("_is_alive", "_last_death", "compiled", "died", "first", "last", "n_dead", "number", "places")

    def __init__(self, compiled: CompiledSet, places: Int64, died: Int64 | None = None, number: int | None = 0) -> None:
        self.compiled = compiled
        self.number = number
        """By which it is kept; None where it is not, but the changes are that it is made of."""
        self.places = places
        self.first, self.last = (int(places[0]), int(places[-1])) if len(places) else (0, -1)
        """The least and the greatest place."""
        self.died = np.full(len(places), ALIVE, np.int64) if died is None else died
        self._is_alive = self.died == ALIVE
        """PERF: an eighth of `died`, for whoever comes after all that died."""
        self._last_death = int(self.died[~self._is_alive].max(initial=0))
        self.n_dead = int(np.count_nonzero(~self._is_alive))

    def __len__(self) -> int:
        """How many profiles are alive."""
        return len(self.places) - self.n_dead

    def find(self, id: str) -> int | None:
        """The ordinal of an id that is alive."""
        ordinal = self.compiled.find(id)
        return ordinal if ordinal is not None and self.died[ordinal] == ALIVE else None

    def find_many(self, ids: list[str]) -> list[tuple[int, int]]:
        """Of ids those that are alive: their places among these, and their ordinals."""
        ordinals = self.compiled.parts.table.ordinals(ids)
        numbers = np.flatnonzero(ordinals >= 0)
        if len(numbers):
            numbers = numbers[self.died[ordinals[numbers]] == ALIVE]
        return list(zip(numbers.tolist(), ordinals[numbers].tolist(), strict=True))

    def kill(self, ordinal: int, moment: int) -> None:
        """The profile is not seen from this moment on."""
        self._last_death = moment  # first: whoever reads looks at it last
        self.died[ordinal] = moment
        self._is_alive[ordinal] = False
        self.n_dead += 1

    def revive(self, ordinal: int) -> None:
        """It did not die, after all: nobody has seen that it did."""
        if self.died[ordinal] != ALIVE:
            self.died[ordinal] = ALIVE
            self._is_alive[ordinal] = True
            self.n_dead = int(np.count_nonzero(self.died != ALIVE))

    def alive(self, moment: int) -> Int64:
        """The ordinals seen at a moment."""
        if not self.n_dead:
            return np.arange(len(self.places))
        return np.flatnonzero(self.died > moment)

    def match(self, document: Mapping[str, Any], store: DocumentStore, moment: int) -> Int32:
        """The ordinals that a document matches."""
        found = self.compiled.executor().match(document, store)
        return found[self._are_seen(found, moment)] if self.n_dead else found

    def match_batch(self, documents: Any, store: DocumentStore, threads: int, moment: int) -> tuple[Int64, Int32]:
        """The same of many documents, as CSR."""
        offsets, found = self.compiled.executor().match_batch(documents, store, threads=threads)
        if not self.n_dead:
            return offsets, found
        dead = np.flatnonzero(~self._are_seen(found, moment))
        return offsets - np.searchsorted(dead, offsets), np.delete(found, dead)

    def _are_seen(self, ordinals: Int32, moment: int) -> NDArray[np.bool_]:
        are_alive = self._is_alive.take(ordinals)
        return are_alive if self._last_death <= moment else self.died.take(ordinals) > moment
