"""All patterns of one slot, decided in one pass over the string.

In: the LIKE patterns and RE2 regexes that profiles ask of one slot. Out: for a string, the
patterns that match it. Three ways, so that a string is never tried against pattern after pattern:

    %lit%               Aho-Corasick over the literals ("atoms") of all patterns decides it
    general LIKE, regex  the atoms that a match cannot lack select the few that are tried one by one
    no usable atom      sets of regexes, SET_SIZE each, searched for together; a LIKE by its first or last character

Invariant: the answer is that of `like.like_holds` and `regex.regex_holds` pattern by pattern; time is linear in
the string and memory bounded, whatever the patterns and the string are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from profilec.runtime.image import Pattern
from profilec.runtime.like import LikeMatcher
from profilec.runtime.literals import MAX_LENGTH, required_literals
from profilec.runtime.regex import RegexSet, compile_regex, search, utf8
from profilec.values.folding import fold
from profilec.values.patterns import LikePattern, Wildcard

SET_SIZE = 50
"""PERF: a large set of patterns of many states costs more than its parts (character classes, 100 characters: 50
patterns 13 us, 200 patterns 122 us), small ones cost a call each."""
_CHUNK = 4096
_FLOOD = 8
_COMMON = frozenset(" .,-_/:;'\"=()")


class PatternSet:
    """The patterns of one slot; the answer is in positions of the sequence given.

    >>> from profilec.values.patterns import parse_like
    >>> patterns = [Pattern(0, parse_like("%lamp%"), None), Pattern(0, None, "^d.*[0-9]$"), Pattern(0, None, "x")]
    >>> sorted(PatternSet(patterns).matches("desk lamp 3"))
    [0, 1]
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._decide: list[Callable[[str, bytes], bool]] = []
        self._always: list[int] = []
        self._by_first: dict[str, list[int]] = {}
        self._by_last: dict[str, list[int]] = {}
        self._plain = _Atoms()
        self._folded = _Atoms()
        loose: list[tuple[int, str]] = []
        for number, pattern in enumerate(patterns):
            if pattern.like is not None:
                self._decide.append(_like_decider(pattern.like))
                self._file_like(number, pattern.like)
            elif pattern.regex is not None:
                self._decide.append(_regex_decider(pattern.regex))
                if not self._file_regex(number, pattern.regex):
                    loose.append((number, pattern.regex))
        self._plain.close()
        self._folded.close()
        self._sets = list(_regex_sets(loose))
        filed = {number for numbers, _ in self._sets for number in numbers}
        self._always += [number for number, _ in loose if number not in filed]

    def matches(self, text: str) -> list[int]:
        """The positions of the patterns that match, each once, in no order."""
        try:
            data = text.encode()
        except UnicodeEncodeError:
            # LIKE keeps lone surrogates apart, regexes read them as U+FFFD: no pass serves both.
            data = utf8(text)
            return [number for number, decide in enumerate(self._decide) if decide(text, data)]
        found, candidates = self._plain.select(data)
        if self._folded:
            more, unsure = self._folded.select(fold(text).encode())
            found += more
            candidates |= unsure
        candidates.update(self._always, self._by_first.get(text[:1], ()), self._by_last.get(text[-1:], ()))
        decide = self._decide
        found += [number for number in candidates if decide[number](text, data)]
        for numbers, regexes in self._sets:
            hits = regexes.matches(data)
            if hits is None:
                found += [number for number in numbers if decide[number](text, data)]
            else:
                found += [numbers[hit] for hit in hits]
        return found

    def _file_like(self, number: int, pattern: LikePattern) -> None:
        elements = pattern.elements
        literals = [element for element in elements if isinstance(element, str)]
        atom = max(literals, key=lambda literal: (_usable(literal), len(literal)), default="")
        if _usable(atom):
            decides = elements == (Wildcard.ANY_RUN, atom, Wildcard.ANY_RUN) and len(atom) <= MAX_LENGTH
            self._plain.add([atom[-MAX_LENGTH:]], number, decides=decides)
        elif elements and isinstance(elements[0], str):
            self._by_first.setdefault(elements[0][0], []).append(number)
        elif elements and isinstance(elements[-1], str):
            self._by_last.setdefault(elements[-1][-1], []).append(number)
        else:
            self._always.append(number)

    def _file_regex(self, number: int, regex: str) -> bool:
        """Whether the regex has atoms to be found by."""
        required = required_literals(regex)
        if required is None or not all(map(_usable, required.literals)):
            return False
        atoms = self._folded if required.folded else self._plain
        atoms.add(required.literals, number, decides=False)
        return True


def _usable(atom: str) -> bool:
    """Whether few strings hold the atom: two characters, or one that is rare in text."""
    return len(atom) > 1 or (bool(atom) and atom not in _COMMON and not (atom.isascii() and atom.isalnum()))


def _like_decider(pattern: LikePattern) -> Callable[[str, bytes], bool]:
    matcher = LikeMatcher(pattern)
    return lambda text, data: matcher.matches(text)


def _regex_decider(pattern: str) -> Callable[[str, bytes], bool]:
    compiled: list[Any] = []

    def decide(text: str, data: bytes) -> bool:
        if not compiled:
            compiled.append(compile_regex(pattern))
        return search(compiled[0], data)

    return decide


def _regex_sets(loose: list[tuple[int, str]]) -> Iterable[tuple[list[int], RegexSet]]:
    """Sets of at most SET_SIZE; one that RE2 finds too large is halved, a pattern too large even alone is left out."""
    pending = [loose[start : start + SET_SIZE] for start in range(0, len(loose), SET_SIZE)]
    while pending:
        part = pending.pop()
        try:
            yield [number for number, _ in part], RegexSet([source for _, source in part])
        except ValueError:
            if len(part) > 1:
                pending += [part[: len(part) // 2], part[len(part) // 2 :]]


class _Atoms:
    """Literals, and what it says of which pattern that one occurs: that it matches, or that it may."""

    def __init__(self) -> None:
        self._keys: dict[bytes, int] = {}
        self._decided: list[list[int]] = []
        self._possible: list[list[int]] = []
        self._automaton: Any = None
        self._overlap = 0

    def __bool__(self) -> bool:
        return bool(self._keys)

    def add(self, atoms: Iterable[str], number: int, *, decides: bool) -> None:
        for atom in atoms:
            key = self._keys.setdefault(atom.encode("utf-8", "surrogatepass"), len(self._keys))
            if key == len(self._decided):
                self._decided.append([])
                self._possible.append([])
            (self._decided if decides else self._possible)[key].append(number)

    def close(self) -> None:
        """Builds the automaton; nothing is added afterwards."""
        if self._keys:
            self._automaton = _automaton(list(self._keys))
            self._overlap = max(map(len, self._keys)) - 1

    def select(self, data: bytes) -> tuple[list[int], set[int]]:
        """The patterns that match for sure, each once, and those that may."""
        decided: list[int] = []
        possible: set[int] = set()
        if self._automaton is not None:
            for key in self._occurring(data):
                decided += self._decided[key]
                possible.update(self._possible[key])
        return decided, possible

    def _occurring(self, data: bytes) -> set[int]:
        """The keys that occur in the text.

        PERF: every occurrence is reported, and a key within a key within a key makes them many
        (`a`, `aa`, … in `aaaa…`). So the text is read in overlapping chunks, and after a flood the
        keys that are found already leave the automaton.
        """
        if len(data) <= _CHUNK:
            return {hit[0] for hit in self._automaton.find_matches_as_indexes(data, overlapping=True)}
        found: set[int] = set()
        automaton, keys = self._automaton, list(range(len(self._keys)))
        names = list(self._keys)
        view = memoryview(data)
        for start in range(0, len(data) - self._overlap, _CHUNK):
            chunk = view[start : start + _CHUNK + self._overlap]
            hits = automaton.find_matches_as_indexes(chunk, overlapping=True)
            found.update({keys[hit[0]] for hit in hits})
            if len(found) == len(names):
                break
            if len(hits) > _FLOOD * _CHUNK:
                keys = [key for key in range(len(names)) if key not in found]
                automaton = _automaton([names[key] for key in keys])
        return found


def _automaton(keys: list[bytes]) -> Any:
    from ahocorasick_rs import BytesAhoCorasick

    return BytesAhoCorasick(keys)
