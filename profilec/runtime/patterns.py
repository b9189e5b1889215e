"""All patterns of one slot, decided in one pass over the string.

In: the LIKE patterns and RE2 regexes that profiles ask of one slot. Out: for a string, the
patterns that match it. Three ways, so that a string is never tried against pattern after pattern:

    %lit%               the search for the literals of all patterns together (`atoms`) decides it
    general LIKE, regex  the atoms that a match cannot lack select the few that are tried one by one
    no usable atom      sets of regexes, searched for together (`regex_sets`); a LIKE by its first or last character;
                        a regex that counts far (`.{200,}`) on its own, where the text is long enough for it

Invariant: the answer is that of `like.like_holds` and `regex.regex_holds` pattern by pattern; time is linear in
the string and memory bounded, whatever the patterns and the string are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import chain
from typing import TypeAlias

from profilec.runtime.atoms import Atoms
from profilec.runtime.deciders import Decider, counts_far, decider_of
from profilec.runtime.image import Pattern
from profilec.runtime.literals import MAX_LENGTH, required_literals
from profilec.runtime.regex import utf8
from profilec.runtime.regex_sets import RegexSets
from profilec.values.folding import fold
from profilec.values.patterns import LikePattern, Wildcard

_COMMON = frozenset(" .,-_/:;'\"=()")

Pairs: TypeAlias = tuple[list[int], list[int]]
"""Two lists of one length."""


class Way(Enum):
    """How a pattern is decided: by an atom that occurs; tried where one does, in the text or in its folded form; tried
    where the text begins, or ends, with a character; in a set of regexes; tried whatever the text is."""

    DECIDED = "decided"
    ATOM = "atom"
    FOLDED = "folded"
    FIRST = "first"
    LAST = "last"
    TOGETHER = "together"
    ALONE = "alone"


def way_of(pattern: Pattern) -> tuple[Way, Sequence[str]]:
    """How the pattern is decided, and by which atoms, or which character.

    >>> from profilec.values.patterns import parse_like
    >>> way_of(Pattern(0, parse_like("%lamp%"), None)), way_of(Pattern(0, None, "err(or|no)[0-9]"))
    ((<Way.DECIDED: 'decided'>, ['lamp']), (<Way.ATOM: 'atom'>, ('error', 'errno')))
    """
    if pattern.like is not None:
        return _way_of_like(pattern.like)
    assert pattern.regex is not None
    required = required_literals(pattern.regex)
    if required is not None and all(map(_usable, required.literals)):
        return Way.FOLDED if required.folded else Way.ATOM, required.literals
    return Way.ALONE if counts_far(pattern.regex) else Way.TOGETHER, ()


def _way_of_like(pattern: LikePattern) -> tuple[Way, Sequence[str]]:
    elements = pattern.elements
    literals = [element for element in elements if isinstance(element, str)]
    atom = max(literals, key=lambda literal: (_usable(literal), len(literal)), default="")
    if _usable(atom):
        decides = elements == (Wildcard.ANY_RUN, atom, Wildcard.ANY_RUN) and len(atom) <= MAX_LENGTH
        return Way.DECIDED if decides else Way.ATOM, [atom[-MAX_LENGTH:]]
    if elements and isinstance(elements[0], str):
        return Way.FIRST, elements[0][0]
    if elements and isinstance(elements[-1], str):
        return Way.LAST, elements[-1][-1]
    return Way.ALONE, ()


class PatternSet:
    """The patterns of one slot; the answer is in positions of the sequence given.

    >>> from profilec.values.patterns import parse_like
    >>> patterns = [Pattern(0, parse_like("%lamp%"), None), Pattern(0, None, "^d.*[0-9]$"), Pattern(0, None, "x")]
    >>> sorted(PatternSet(patterns).matches("desk lamp 3"))
    [0, 1]
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._decide: list[Decider] = list(map(decider_of, patterns))
        self._always: list[int] = []
        self._by_first: dict[str, list[int]] = {}
        self._by_last: dict[str, list[int]] = {}
        self._plain = Atoms()
        self._folded = Atoms()
        loose: list[tuple[int, str]] = []
        for number, pattern in enumerate(patterns):
            way, literals = way_of(pattern)
            match way:
                case Way.DECIDED | Way.ATOM:
                    self._plain.add(literals, number, decides=way is Way.DECIDED)
                case Way.FOLDED:
                    self._folded.add(literals, number, decides=False)
                case Way.FIRST:
                    self._by_first.setdefault(literals[0], []).append(number)
                case Way.LAST:
                    self._by_last.setdefault(literals[0], []).append(number)
                case Way.TOGETHER:
                    assert pattern.regex is not None
                    loose.append((number, pattern.regex))
                case Way.ALONE:
                    self._always.append(number)
        self._plain.close()
        self._folded.close()
        self._sets = RegexSets(loose, self._decide)
        self._always += self._sets.left_out
        self._unfiled = bool(self._always or self._by_first or self._by_last)
        only_plain = not (self._unfiled or self._sets or self._folded)
        self._contains = self._plain.deciding() if only_plain else None
        self._only_plain = only_plain

    def matches(self, text: str) -> list[int]:
        """The positions of the patterns that match, each once, in no order."""
        if self._contains is not None:
            return [number for atom, numbers in self._contains if atom in text for number in numbers]
        try:
            data = text.encode()
        except UnicodeEncodeError:
            # LIKE keeps lone surrogates apart, regexes read them as U+FFFD: no pass serves both.
            data = utf8(text)
            return [number for number, decide in enumerate(self._decide) if decide(text, data)]
        found: list[int] = []
        candidates: set[int] = set()
        keys = self._plain.occurring(text, data)
        if keys:
            self._plain.tell(keys, found, candidates)
        elif self._only_plain:
            return found
        if self._folded:
            folded = fold(text)
            self._folded.tell(self._folded.occurring(folded, folded.encode()), found, candidates)
        candidates.update(self._unfiled_of(text) if self._unfiled else ())
        decide_of = self._decide
        found += [number for number in candidates if decide_of[number](text, data)]
        if self._sets:
            found += self._sets.matching(text, data)
        return found

    def matches_each(self, texts: Sequence[str]) -> Pairs:
        """As `matches` of each text: the texts' places, and the patterns that match; each pair once, in no order.

        PERF: the atoms are looked for in many texts together. Nothing is made for a text, only for a match: the garbage
        collector would walk all that is.
        """
        places: list[int] = []
        found: list[int] = []
        if self._contains is not None:
            for atom, numbers in self._contains:
                holding = [place for place, text in enumerate(texts) if atom in text]
                for number in numbers:
                    places += holding
                    found += [number] * len(holding)
            return places, found
        try:
            data = "".join(texts).encode()
        except UnicodeEncodeError:
            for place, text in enumerate(texts):
                matching = self.matches(text)
                places += [place] * len(matching)
                found += matching
            return places, found
        candidates: set[int] = set()
        n_patterns, decide_of = len(self._decide), self._decide
        self._plain.tell_each(self._plain.occurring_in_each(texts, data), places, found, candidates, n_patterns)
        if self._folded:
            folded = list(map(fold, texts))
            in_folded = self._folded.occurring_in_each(folded, "".join(folded).encode())
            self._folded.tell_each(in_folded, places, found, candidates, n_patterns)
        latest, data = -1, b""
        for candidate in sorted(candidates):
            place, number = divmod(candidate, n_patterns)
            if place != latest:
                latest, data = place, texts[place].encode()
            if decide_of[number](texts[place], data):
                places.append(place)
                found.append(number)
        if self._unfiled or self._sets:
            for place, text in enumerate(texts):
                data = text.encode()
                matching = [number for number in self._unfiled_of(text) if decide_of[number](text, data)]
                matching += self._sets.matching(text, data)
                places += [place] * len(matching)
                found += matching
        return places, found

    def _unfiled_of(self, text: str) -> Iterable[int]:
        """The patterns without an atom that may match."""
        return chain(self._always, self._by_first.get(text[:1], ()), self._by_last.get(text[-1:], ()))


def _usable(atom: str) -> bool:
    """Whether few strings hold the atom: two characters, or one that is rare in text."""
    return len(atom) > 1 or (bool(atom) and atom not in _COMMON and not (atom.isascii() and atom.isalnum()))
