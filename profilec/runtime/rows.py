"""Documents of a batch, of which what a key has is gathered once for all who ask.

In: a sequence of mappings. Out: columns of them: the values of a key, and these as machine words.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.program import Document


class Absent:
    """Instead of the value of a key that a document has not."""


ABSENT = Absent()


class Values(NamedTuple):
    """What a key has in each document, or ABSENT; and the types of that."""

    values: list[Any]
    kinds: set[type]


class Rows(list[Document]):
    """The documents; columns are of dicts only. Not to be changed."""

    __slots__ = ("_values", "_words", "are_dicts", "n_items")

    def __init__(self, documents: Iterable[Document]) -> None:
        super().__init__(documents)
        self.are_dicts = set(map(type, self)) <= {dict}
        self.n_items = sum(map(len, self)) if self.are_dicts else 0
        """How many keys they have together."""
        self._values: dict[str, Values] = {}
        self._words: dict[str, NDArray[Any] | None] = {}

    def part(self, start: int, stop: int) -> Rows:
        """Some of the documents."""
        return self if stop - start == len(self) else Rows(self[start:stop])

    def values(self, key: str) -> Values:
        """Of each document."""
        found = self._values.get(key)
        if found is None:
            get: Any = dict.get
            values = list(map(get, self, repeat(key), repeat(ABSENT)))
            found = self._values[key] = Values(values, set(map(type, values)))
        return found

    def words(self, key: str) -> NDArray[Any] | None:
        """The values as `words_of` gives them."""
        if key not in self._words:
            self._words[key] = words_of(*self.values(key))
        return self._words[key]


def words_of(values: list[Any], kinds: set[type]) -> NDArray[Any] | None:
    """Values as machine words, where all of them are of one type that has some."""
    if kinds == {float}:
        return np.array(values, np.float64)
    if kinds == {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return None
    return None
