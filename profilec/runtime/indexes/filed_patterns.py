"""Patterns filed by literals: what the indexes `trie`, `suffix_trie` and `aho_corasick` have in common.

In: the patterns of one slot, a rule that tells by which literals one is filed, and a way to look for literals. Out: for
a text, the patterns that match it.

    filed, and the literal decides      the pattern matches where the literal is found
    filed                               where one of its literals is found, it is a candidate, and tried
    not filed                           the default, `patterns.PatternSet`, decides them together

A regex that ignores case is filed by the literals of the folded text, which is then looked through as well.

Invariant: the answer is that of `like.like_holds` and `regex.regex_holds` pattern by pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from profilec.runtime.deciders import decider_of
from profilec.runtime.image import Pattern
from profilec.runtime.literals import Required
from profilec.runtime.patterns import Pairs, PatternSet
from profilec.runtime.regex import utf8
from profilec.values.folding import fold
from profilec.values.patterns import LikePattern


class Key(NamedTuple):
    """A literal, and whether it tells something only where the text ends with it."""

    literal: str
    at_end: bool = False


class Filed(NamedTuple):
    """A text that matches has one of the keys; where `folded`, the folded text has. `decides`: what has it matches."""

    keys: Sequence[Key]
    folded: bool = False
    decides: bool = False


class Search(Protocol):
    """What looks for keys, all different and numbered as they came, in a text."""

    def found(self, text: str, data: bytes) -> Collection[int]:
        """The numbers of those that the text has, each once; `data` is its UTF-8."""
        ...


File: TypeAlias = Callable[[Pattern], Filed | None]
"""How a pattern is filed; None where it cannot be."""
MakeSearch: TypeAlias = Callable[[Sequence[Key]], Search]


class FiledPatterns:
    """The patterns of one slot; see `patterns_by_name.PatternIndex`."""

    def __init__(self, file: File, search: MakeSearch, patterns: Sequence[Pattern]) -> None:
        self._decide = [decider_of(pattern) for pattern in patterns]
        plain, folded = _Shelf(), _Shelf()
        rest: list[int] = []
        for number, pattern in enumerate(patterns):
            filed = file(pattern)
            if filed is None:
                rest.append(number)
            else:
                (folded if filed.folded else plain).add(filed, number)
        unfiled = set(rest)
        self._filed = [number for number in range(len(patterns)) if number not in unfiled]
        self._plain, self._folded = plain.closed(search), folded.closed(search)
        self._unfiled = rest
        self._rest = PatternSet([patterns[number] for number in rest]) if rest else None

    def matches(self, text: str) -> list[int]:
        """The positions of the patterns that match, each once, in no order."""
        found = self._matching_filed(text)
        if self._rest is not None:
            found += [self._unfiled[place] for place in self._rest.matches(text)]
        return found

    def matches_each(self, texts: Sequence[str]) -> Pairs:
        """As `matches` of each text: the texts' places, and the patterns that match."""
        places, found = pairs_of(map(self._matching_filed, texts))
        if self._rest is not None:
            more_places, more = self._rest.matches_each(texts)
            places += more_places
            found += [self._unfiled[place] for place in more]
        return places, found

    def _matching_filed(self, text: str) -> list[int]:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            # LIKE keeps lone surrogates apart, regexes read them as U+FFFD: no search serves both.
            data = utf8(text)
            return [number for number in self._filed if self._decide[number](text, data)]
        found: list[int] = []
        candidates: set[int] = set()
        if self._plain is not None:
            self._plain.tell(text, data, found, candidates)
        if self._folded is not None:
            folded = fold(text)
            self._folded.tell(folded, folded.encode(), found, candidates)
        decide = self._decide
        found += [number for number in candidates if decide[number](text, data)]
        return found


def filed_by(
    pattern: Pattern,
    of_like: Callable[[LikePattern], Filed | None],
    required_of: Callable[[str], Required | None],
) -> Filed | None:
    """A LIKE as `of_like` files it; a regex by what is required of a text that it matches, where that is known."""
    if pattern.like is not None:
        return of_like(pattern.like)
    required = None if pattern.regex is None else required_of(pattern.regex)
    return None if required is None else Filed([Key(literal) for literal in required.literals], required.folded)


def pairs_of(matching: Iterable[Sequence[int]]) -> Pairs:
    """The places of texts, and the patterns that match them, of what matches each text.

    >>> pairs_of([[3], [], [1, 3]])
    ([0, 2, 2], [3, 1, 3])
    """
    places: list[int] = []
    found: list[int] = []
    for place, numbers in enumerate(matching):
        places += [place] * len(numbers)
        found += numbers
    return places, found


class _Shelf:
    """Keys, and of which patterns each tells that they match, or that they may."""

    def __init__(self) -> None:
        self._keys: dict[Key, int] = {}
        self._decided: list[list[int]] = []
        self._possible: list[list[int]] = []
        self._search: Search | None = None

    def add(self, filed: Filed, number: int) -> None:
        for key in dict.fromkeys(filed.keys):
            place = self._keys.setdefault(key, len(self._keys))
            if place == len(self._decided):
                self._decided.append([])
                self._possible.append([])
            (self._decided if filed.decides else self._possible)[place].append(number)

    def closed(self, search: MakeSearch) -> _Shelf | None:
        """Itself, ready to tell; None where it is empty."""
        if not self._keys:
            return None
        self._search = search(list(self._keys))
        return self

    def tell(self, text: str, data: bytes, found: list[int], candidates: set[int]) -> None:
        """Adds the patterns that match, and that may."""
        assert self._search is not None
        for place in self._search.found(text, data):
            found += self._decided[place]
            candidates.update(self._possible[place])
