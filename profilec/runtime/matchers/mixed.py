"""`mixed`: several matchers, each of its own entries.

In: a document. Out: what any of them finds.

Invariant: an entry is found by one of them at most. A profile of several entries may be found by some: who adds the
profiles of entries to profiles takes each once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32

if TYPE_CHECKING:
    from profilec.runtime.matchers.by_name import Matcher


class MixedMatcher:
    """See the module. Safe to use from several threads, as its parts are."""

    def __init__(self, parts: Mapping[str, Matcher]) -> None:
        """By the names of the matchers; at least one."""
        self.parts = parts
        self._parts = tuple(parts.values())

    def match(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[Int32, Int32]:
        """Of one document."""
        found = [part.match(slots, ranks, n_slots) for part in self._parts]
        return _ascending([profiles for profiles, _ in found]), _ascending([entries for _, entries in found])

    def count(self, slots: Int32, ranks: Int32, n_slots: int) -> tuple[int, Int32]:
        """Of one document."""
        found = [part.count(slots, ranks, n_slots) for part in self._parts]
        return sum(n for n, _ in found), _ascending([entries for _, entries in found])

    def match_batch(
        self, doc_off: NDArray[np.int64], doc_slots: Int32, doc_ranks: Int32
    ) -> tuple[NDArray[np.int64], Int32, NDArray[np.int64], Int32]:
        """Of many."""
        found = [part.match_batch(doc_off, doc_slots, doc_ranks) for part in self._parts]
        profiles = _merged([(off, profiles) for off, profiles, _, _ in found])
        return *profiles, *_merged([(off, entries) for _, _, off, entries in found])


def _ascending(parts: list[Int32]) -> Int32:
    filled = [part for part in parts if len(part)]
    if len(filled) < 2:
        return filled[0] if filled else parts[0]
    found = np.concatenate(filled)
    found.sort()
    return found


def _merged(parts: list[tuple[NDArray[np.int64], Int32]]) -> tuple[NDArray[np.int64], Int32]:
    """Lists of the same documents, each as offsets and elements, one after the other and ascending."""
    filled = [(off, elements) for off, elements in parts if len(elements)]
    if len(filled) < 2:
        return filled[0] if filled else parts[0]
    documents = np.concatenate([np.repeat(np.arange(len(off) - 1), np.diff(off)) for off, _ in filled])
    elements = np.concatenate([elements for _, elements in filled])
    order = np.lexsort((elements, documents))
    off = np.zeros_like(filled[0][0])
    for own, _ in filled:
        off += own
    return off, elements[order]
