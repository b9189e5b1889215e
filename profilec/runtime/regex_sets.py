"""Many regexes of one slot, searched for together in sets of a size that RE2 takes.

In: regexes, each with the number of its pattern, and what decides each pattern by itself. Out: the numbers of those
that match a text.

Invariant: a set that runs out of memory is no answer: its patterns are decided one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from profilec.runtime.deciders import Decider
from profilec.runtime.regex import RegexSet

SET_SIZE = 50
"""PERF: a large set of patterns of many states costs more than its parts (character classes, 100 characters: 50
patterns 13 us, 200 patterns 122 us), small ones cost a call each."""

_TOKEN = re.compile(r"\\[pP]\{\^?\w+\}|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|.", re.DOTALL)
_WIDE = (".", "[^", "\\D", "\\S", "\\W", "\\p", "\\P", "\\C")
_DIGITS = ("\\d", "[0-9]")


def multiplies_states(regex: str, *, digits_are_rare: bool = True) -> bool:
    """Whether the regex may stay half found while others begin, so that a set of such has a state for each combination.
    It may where it has a part that nearly any character goes on with, or repeats more than one character, space or,
    where texts have few of them, digits.

    >>> multiplies_states("lamp.*[0-9]"), multiplies_states("[a-z]{9}"), multiplies_states("^[ab]x+[0-9]*$")
    (True, True, False)
    """
    narrow = ("\\s", *_DIGITS) if digits_are_rare else ("\\s",)
    before = ")"
    for token in _TOKEN.findall(regex):
        is_repeat = token in ("*", "+") or (token[0] == "{" and len(token) > 1)
        if token.startswith(_WIDE) or (is_repeat and before not in narrow and (len(before) > 1 or before == ")")):
            return True
        before = token
    return False


class RegexSets:
    """Regexes, cut into sets. `left_out`: the numbers of those that are too large even alone, which no set tells of.

    >>> from profilec.runtime.deciders import decider_of
    >>> from profilec.runtime.image import Pattern
    >>> sources = ["^a", "b$", "c"]
    >>> sets = RegexSets(list(enumerate(sources)), [decider_of(Pattern(0, None, source)) for source in sources])
    >>> sorted(sets.matching("ab", b"ab"))
    [0, 1]
    """

    def __init__(self, numbered: Sequence[tuple[int, str]], decide: Sequence[Decider]) -> None:
        """`decide`: of all patterns, by number."""
        self._decide = decide
        self._sets = list(_sets(numbered))
        inside = {number for numbers, _ in self._sets for number in numbers}
        self.left_out = [number for number, _ in numbered if number not in inside]

    def __bool__(self) -> bool:
        return bool(self._sets)

    def matching(self, text: str, data: bytes) -> list[int]:
        """The numbers of those that match; `data` is the text's UTF-8."""
        found: list[int] = []
        for numbers, regexes in self._sets:
            hits = regexes.matches(data)
            if hits is None:
                found += [number for number in numbers if self._decide[number](text, data)]
            else:
                found += [numbers[hit] for hit in hits]
        return found


def _sets(numbered: Sequence[tuple[int, str]]) -> Iterable[tuple[list[int], RegexSet]]:
    """Sets of at most SET_SIZE; one that RE2 finds too large is halved, a pattern too large even alone is left out."""
    pending = [numbered[start : start + SET_SIZE] for start in range(0, len(numbered), SET_SIZE)]
    while pending:
        part = pending.pop()
        try:
            yield [number for number, _ in part], RegexSet([source for _, source in part])
        except ValueError:
            if len(part) > 1:
                pending += [part[: len(part) // 2], part[len(part) // 2 :]]
