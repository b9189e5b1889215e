"""What deciding a slot's patterns is expected to come to, by each index that could have them.

In: an image, what is expected of its pattern bits, some sampled texts of each slot or none. Out: a `PatternLoad` for
each slot that patterns are asked of.

Which patterns are tried for a text is seen in the sampled texts (`seen_texts`): those whose literal is there.

PERF: of a slot's patterns at most MOST_PATTERNS are looked at, evenly spread.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from profilec.planner.lower.expected import Expected, Floats
from profilec.planner.lower.seen_texts import Has, SeenTexts
from profilec.runtime.atoms import FEW
from profilec.runtime.image import BIT_PATTERN, WANT_NOT_TRUE, WANT_TRUE, Image, Pattern
from profilec.runtime.indexes.aho_corasick import filed_by_atom
from profilec.runtime.indexes.filed_patterns import File
from profilec.runtime.indexes.patterns_by_name import names_of
from profilec.runtime.indexes.regex_set import regex_in_set
from profilec.runtime.indexes.suffix_trie import filed_by_literal
from profilec.runtime.indexes.trie import filed_by_prefix
from profilec.runtime.patterns import Way, way_of
from profilec.runtime.regex_sets import SET_SIZE, multiplies_states
from profilec.runtime.sampled import Sampled

MOST_PATTERNS = 500
WIDE_TOGETHER = 8
"""So many regexes that multiply the states of a set are no harm (of LIKE '%ab%cd', 1,000 characters: 10 patterns 13 us,
20 patterns 49 us, 50 patterns 490 us)."""


class Tried(NamedTuple):
    """Patterns that are tried one by one."""

    likes: float = 0.0
    regexes: float = 0.0

    def and_(self, is_like: bool, share: float) -> Tried:
        """One more, for a share of the texts."""
        return Tried(self.likes + share * is_like, self.regexes + share * (not is_like))

    def times(self, n: float) -> Tried:
        return Tried(self.likes * n, self.regexes * n)


class Filing(NamedTuple):
    """What an index does with a text, as expected: it looks for `n_keys` literals, those of the text and those of its
    folded form, in one search each, and for `n_literals` one by one; it reads the text with `n_sets` sets of regexes,
    of which `n_wide_sets` have too many states to be kept; it tries some patterns, and would try those that are
    `possible` for a text that has all literals. `n_unfiled` patterns it leaves to the default, which then does as
    `rest` says."""

    n_keys: tuple[float, ...] = ()
    n_literals: float = 0.0
    n_sets: float = 0.0
    n_wide_sets: float = 0.0
    tried: Tried = Tried()
    possible: Tried = Tried()
    n_unfiled: float = 0.0
    rest: Filing | None = None


class PatternLoad(NamedTuple):
    """The patterns of one slot. `names`: those under which their index may be forced, the slot's own first; `presence`:
    the share of documents that have it; `n_texts`: how many were looked at; `n_characters`: the mean length of a text,
    which matches `n_matching` of the `n_patterns`; `filings`: by the name of an index."""

    names: tuple[str, ...]
    presence: float
    n_patterns: int
    n_texts: int
    n_characters: float
    n_matching: float
    filings: Mapping[str, Filing]


def pattern_loads(image: Image, expected: Expected, sampled: Sampled | None) -> Iterator[PatternLoad]:
    """Those of an image's slots, in their order."""
    texts_of = {} if sampled is None else sampled.texts
    of_slot: dict[int, list[int]] = {}
    for number, pattern in enumerate(image.patterns):
        of_slot.setdefault(pattern.slot, []).append(number)
    matching = _matching(image, expected)
    for slot, numbers in sorted(of_slot.items()):
        presence = float(expected.presence[slot])
        n_matching = float(matching[numbers].sum()) / max(presence, 1e-9)
        patterns = [image.patterns[number] for number in numbers]
        load = pattern_load(patterns, texts_of.get(slot, ()))
        names = tuple(dict.fromkeys(names_of(image.slots[slot])))
        yield load._replace(names=names, presence=presence, n_matching=n_matching)


def pattern_load(patterns: Sequence[Pattern], texts: Sequence[str]) -> PatternLoad:
    """Of patterns that every document has a text for, as long as these texts, which match none."""
    step = max(1, -(-len(patterns) // MOST_PATTERNS))
    chosen = patterns[step // 2 :: step]
    seen = SeenTexts(texts)
    times = len(patterns) / max(len(chosen), 1)
    filings = {
        "aho_corasick": _filed(filed_by_atom, chosen, seen, times, str.__contains__),
        "patterns": _by_default(chosen, seen, times),
        "regex_set": _in_sets(chosen, seen, times),
        "suffix_trie": _filed(filed_by_literal, chosen, seen, times, str.__contains__),
        "trie": _filed(filed_by_prefix, chosen, seen, times, str.startswith),
    }
    return PatternLoad(("",), 1.0, len(patterns), seen.n, seen.n_characters, 0.0, filings)


def _filed(file: File, patterns: Sequence[Pattern], texts: SeenTexts, times: float, has: Has) -> Filing:
    """Of an index of `filed_patterns`. `times`: how many patterns each of these stands for."""
    own, rest = _Counted(), []
    for pattern in patterns:
        filed = file(pattern)
        if filed is None:
            rest.append(pattern)
            continue
        literals = [key.literal for key in filed.keys]
        own.keys[filed.folded].update(literals)
        if not filed.decides:
            at = str.endswith if filed.keys[0].at_end else has
            own.try_(pattern, texts.share(literals, at, folded=filed.folded))
    left = _by_default(rest, texts, times) if rest else None
    tried = own.tried.times(times), own.possible.times(times)
    return Filing(own.n_keys(times), 0.0, 0.0, 0.0, *tried, len(rest) * times, left)


def _by_default(patterns: Sequence[Pattern], texts: SeenTexts, times: float) -> Filing:
    own = _Counted()
    for pattern in patterns:
        way, literals = way_of(pattern)
        match way:
            case Way.DECIDED:
                own.keys[False].update(literals)
            case Way.ATOM | Way.FOLDED:
                folded = way is Way.FOLDED
                own.keys[folded].update(literals)
                own.try_(pattern, texts.share(literals, str.__contains__, folded=folded))
            case Way.FIRST:
                own.try_(pattern, texts.share(literals, str.startswith))
            case Way.LAST:
                own.try_(pattern, texts.share(literals, str.endswith))
            case Way.TOGETHER:
                own.put_together(pattern, pattern.regex or "", texts)
            case Way.ALONE:
                own.try_(pattern, 1.0)
    n_keys = own.n_keys(times)
    searched = tuple(n for n in n_keys if n > FEW)
    tried = own.tried.times(times), own.possible.times(times)
    return Filing(searched, sum(n_keys) - sum(searched), *own.n_sets(times), *tried)


def _in_sets(patterns: Sequence[Pattern], texts: SeenTexts, times: float) -> Filing:
    own = _Counted()
    for pattern in patterns:
        regex = regex_in_set(pattern)
        if regex is None:
            own.try_(pattern, 1.0)
        else:
            own.put_together(pattern, regex, texts)
    return Filing((), 0.0, *own.n_sets(times), own.tried.times(times))


class _Counted:
    """What some patterns come to. `keys`: literals that are looked for, by whether in the folded text."""

    def __init__(self) -> None:
        self.keys: dict[bool, set[str]] = {False: set(), True: set()}
        self._together = 0
        self._wide = 0.0
        self.tried = self.possible = Tried()

    def try_(self, pattern: Pattern, share: float) -> None:
        """The pattern is tried for this share of the texts."""
        is_like = pattern.regex is None
        self.tried = self.tried.and_(is_like, share)
        self.possible = self.possible.and_(is_like, 1.0)

    def put_together(self, pattern: Pattern, regex: str, texts: SeenTexts) -> None:
        """The pattern is put into a set, as this regex. One that has a beginning is half found only where that is."""
        self._together += 1
        if multiplies_states(regex, digits_are_rare=texts.digits_are_rare):
            begins = filed_by_prefix(pattern)
            if begins is None:
                self._wide += 1.0
            else:
                literals = [key.literal for key in begins.keys]
                self._wide += texts.share(literals, str.startswith, folded=begins.folded)

    def n_keys(self, times: float) -> tuple[float, ...]:
        return tuple(len(of) * times for of in self.keys.values() if of)

    def n_sets(self, times: float) -> tuple[float, float]:
        """The sets, and those of them that have many states."""
        n = float(math.ceil(self._together * times / SET_SIZE))
        return n, n if self._wide * times > WIDE_TOGETHER * n else 0.0


def _matching(image: Image, expected: Expected) -> Floats:
    """Per pattern the share of documents that match it; 0 where no profile asks for what is TRUE, or is not."""
    shares = expected.shares[image.n_tests :]
    shares = np.where(image.bit_want == WANT_NOT_TRUE, 1.0 - shares, shares)
    is_told = (image.bit_kind == BIT_PATTERN) & np.isin(image.bit_want, (WANT_TRUE, WANT_NOT_TRUE))
    matching = np.zeros(len(image.patterns))
    matching[image.bit_source[is_told]] = shares[is_told]
    return matching
