r"""The pattern index `regex_set`: RE2 sets over all patterns, each text read once for each set.

In: the patterns of one slot. Out: for a text, those that match. A LIKE is translated:

    'a.c%'      (?s)\Aa\.c             'a_c'      (?s)\Aa.c\z
    '%abc%'     (?s)abc                ''         (?s)\A\z

Sets are cut to fit RE2's memory (`regex_sets`). Decided on their own: a pattern too large even alone, and one that
counts far (`.{200,}`, or many `_`), whose states would multiply those of the others. A set that runs out of memory
while it reads a text is no answer, and its patterns are decided one by one.

A LIKE that writes a lone surrogate has no UTF-8, and matches no text that has: it is in no set. A text that holds one
is decided pattern by pattern.

Source: none of the papers indexes patterns. Sets of regexes as one automaton are RE2's (R. Cox, Regular Expression
Matching in the Wild, 2010).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from profilec.runtime.deciders import counts_far, decider_of
from profilec.runtime.image import Pattern
from profilec.runtime.indexes.filed_patterns import pairs_of
from profilec.runtime.patterns import Pairs
from profilec.runtime.regex import utf8
from profilec.runtime.regex_sets import RegexSets
from profilec.values.patterns import LikePattern, Wildcard

_MOST_ANY_ONE = 32
"""PERF: `_` in a LIKE that is put into a set; behind a `%` each of them can double the states."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class RegexSetIndex:
    """The patterns of one slot; see `patterns_by_name.PatternIndex`.

    >>> from profilec.values.patterns import parse_like
    >>> index = RegexSetIndex([Pattern(0, parse_like("l_mp%"), None), Pattern(0, None, "[0-9]$")])
    >>> sorted(index.matches("lamp 3")), index.matches("a lamp 3")
    ([0, 1], [1])
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._decide = [decider_of(pattern) for pattern in patterns]
        self._alone: list[int] = []
        together: list[tuple[int, str]] = []
        for number, pattern in enumerate(patterns):
            regex = regex_in_set(pattern)
            if regex is None:
                self._alone.append(number)
            elif pattern.like is None or not _SURROGATE.search(regex):
                together.append((number, regex))
        self._sets = RegexSets(together, self._decide)
        self._alone += self._sets.left_out

    def matches(self, text: str) -> list[int]:
        """The positions of the patterns that match, each once, in no order."""
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = utf8(text)
            return [number for number, decide in enumerate(self._decide) if decide(text, data)]
        found = [number for number in self._alone if self._decide[number](text, data)]
        found += self._sets.matching(text, data)
        return found

    def matches_each(self, texts: Sequence[str]) -> Pairs:
        """As `matches` of each text: the texts' places, and the patterns that match."""
        return pairs_of(map(self.matches, texts))


def regex_in_set(pattern: Pattern) -> str | None:
    """The regex that stands for the pattern in a set; None where it is to be decided on its own."""
    if pattern.like is not None:
        many = pattern.like.elements.count(Wildcard.ANY_ONE) > _MOST_ANY_ONE
        return None if many else regex_of_like(pattern.like)
    assert pattern.regex is not None
    return None if counts_far(pattern.regex) else pattern.regex


def regex_of_like(pattern: LikePattern) -> str:
    r"""The regex that is found in just those texts that the pattern matches.

    >>> from profilec.values.patterns import parse_like
    >>> regex_of_like(parse_like("50%_")), regex_of_like(parse_like("%"))
    ('(?s)\\A50.*.\\z', '(?s)')
    """
    elements = pattern.elements
    begins_anywhere = elements[:1] == (Wildcard.ANY_RUN,)
    ends_anywhere = elements[-1:] == (Wildcard.ANY_RUN,)
    inner = elements[begins_anywhere : len(elements) - ends_anywhere]
    middle = "".join(map(_element_regex, inner))
    return "(?s)" + ("" if begins_anywhere else r"\A") + middle + ("" if ends_anywhere else r"\z")


def _element_regex(element: str | Wildcard) -> str:
    if isinstance(element, str):
        return re.escape(element)
    return ".*" if element is Wildcard.ANY_RUN else "."
