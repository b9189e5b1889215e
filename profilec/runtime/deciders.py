"""One pattern against one text.

In: a pattern of a slot. Out: what tells whether a text matches it, given the text and its UTF-8 (`regex.utf8`).

Invariant: the answer is that of `like.like_holds` and `regex.regex_holds`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from profilec.runtime.image import Pattern
from profilec.runtime.like import LikeMatcher
from profilec.runtime.literals import least_length
from profilec.runtime.regex import RegexSet, compile_regex, search
from profilec.values.patterns import LikePattern, Wildcard

Decider: TypeAlias = Callable[[str, bytes], bool]
_MAX_TOGETHER = 500
"""PERF: instructions of RE2 up to which a regex that counts is put into a set. The states of a set are those of its
regexes multiplied: one `.{200,}` among others makes 100 characters cost 1,500 us."""
_LONG_LINE = re.compile(r"(\()?\.(?(1)\))\{([1-9]\d*),\}", re.ASCII)
"""PERF: `.{1000,}` and its like, which RE2 takes 100 ms to prepare."""
_COUNTED = re.compile(r"\{\d")


def decider_of(pattern: Pattern) -> Decider:
    """What decides the pattern.

    >>> decide = decider_of(Pattern(0, None, "^a+$"))
    >>> decide("aa", b"aa"), decide("ab", b"ab")
    (True, False)

    Raises:
        ValueError: it is asked, and RE2 refuses the pattern.
    """
    if pattern.like is not None:
        return _like_decider(pattern.like)
    assert pattern.regex is not None
    return _regex_decider(pattern.regex)


def counts_far(pattern: str) -> bool:
    """Whether the regex counts so far (`.{200,}`) that it is best tried alone."""
    if not _COUNTED.search(pattern):
        return False
    try:
        return int(compile_regex(pattern).programsize) > _MAX_TOGETHER
    except ValueError:
        return True


def _like_decider(pattern: LikePattern) -> Decider:
    match pattern.elements:
        case (Wildcard.ANY_RUN, str() as literal, Wildcard.ANY_RUN):
            return lambda text, data: literal in text
    matcher = LikeMatcher(pattern)
    return lambda text, data: matcher.matches(text)


def _regex_decider(pattern: str) -> Decider:
    if (line := _LONG_LINE.fullmatch(pattern)) is not None:
        n = int(line[2])
        return lambda text, data: len(text) >= n and max(map(len, text.split("\n"))) >= n
    least = least_length(pattern)
    compiled: list[RegexSet] = []

    def decide(text: str, data: bytes) -> bool:
        if len(text) < least:
            return False
        if not compiled:
            compiled.append(_alone(pattern))
        hits = compiled[0].matches(data)
        return search(compile_regex(pattern), data) if hits is None else bool(hits)

    return decide


def _alone(pattern: str) -> RegexSet:
    """PERF: a set tells only that there is a match. To tell where, as a search does, can take RE2 100 times as long."""
    return RegexSet([pattern])
