"""How often literals occur in the texts of a slot.

In: sampled texts, or none. Out: the share of texts that have one of some literals.

Without texts, a text has ASSUMED_CHARACTERS, and a literal of k characters stands at a place of it with the probability
SAME ** k.

PERF: at most MOST_CHARACTERS of text are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from statistics import fmean
from typing import TypeAlias

from profilec.values.folding import fold

MOST_CHARACTERS = 100_000
ASSUMED_CHARACTERS = 100.0
SAME = 1 / 20
RARE = 0.1
"""The share of a text's characters up to which some are rare in it."""

Has: TypeAlias = Callable[[str, str], bool]
"""Whether a text has a literal where it is looked for."""


class SeenTexts:
    """Some texts, in which is seen how often literals occur."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.n_characters = fmean(map(len, texts)) if texts else ASSUMED_CHARACTERS
        n = max(1, int(MOST_CHARACTERS / max(self.n_characters, 1.0)))
        self._plain = list(texts[:n])
        self._folded = list(map(fold, self._plain))
        self.n = len(self._plain)
        n_digits = sum(map(str.isdecimal, chain.from_iterable(self._plain)))
        self.digits_are_rare = n_digits <= RARE * sum(map(len, self._plain))
        self._known: dict[tuple[str, Has, bool], frozenset[int]] = {}

    def share(self, literals: Collection[str], has: Has, *, folded: bool = False) -> float:
        """The share of texts that have one of the literals."""
        if not self.n:
            n_places = self.n_characters if has is str.__contains__ else 1.0
            return min(1.0, n_places * sum(SAME ** len(literal) for literal in literals))
        return len(frozenset().union(*(self._having(literal, has, folded) for literal in literals))) / self.n

    def _having(self, literal: str, has: Has, folded: bool) -> frozenset[int]:
        key = literal, has, folded
        if key not in self._known:
            texts = self._folded if folded else self._plain
            self._known[key] = frozenset(place for place, text in enumerate(texts) if has(text, literal))
        return self._known[key]
