"""One LIKE pattern against one string, in linear time and in compiled code.

In: a `LikePattern` and a text. Out: whether the whole text matches, the same answer as
`values.patterns.like_matches`, which is the definition. The text is compared at its two ends;
what lies between the first and the last `%` is searched for with `str.find`, or with RE2 where
it holds a `_`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from profilec.runtime.regex import compile_regex, search
from profilec.values.folding import fold
from profilec.values.patterns import LikePattern, Wildcard, fold_pattern, like_matches, parse_like

_SURROGATE = re.compile("[\ud800-\udfff]")
_NONCHARACTERS = tuple(chr(plane * 0x10000 + 0xFFFF) for plane in range(17))


@lru_cache(maxsize=4096)
def read_like(pattern: str, escape: str | None, ignore_case: bool) -> LikePattern | None:
    """The pattern, folded where case is ignored; None where its escape escapes nothing."""
    try:
        read = parse_like(pattern, escape)
    except ValueError:
        return None
    return fold_pattern(read) if ignore_case else read


def like_holds(pattern: LikePattern, text: str, ignore_case: bool = False) -> bool:
    """Whether the whole text matches; with `ignore_case` the text is folded, the pattern is folded already.

    >>> like_holds(parse_like("a%b_"), "axxbc"), like_holds(parse_like("a_"), "a")
    (True, False)
    """
    return _matcher(pattern).matches(fold(text) if ignore_case else text)


class LikeMatcher:
    """A pattern, cut into what is compared at the start, at the end, and searched for in between."""

    __slots__ = ("_head", "_middle", "_min_length", "_open", "_pattern", "_placeholder", "_plain", "_regex", "_tail")

    def __init__(self, pattern: LikePattern) -> None:
        segments: list[list[str | Wildcard]] = [[]]
        for element in pattern.elements:
            if element is Wildcard.ANY_RUN:
                segments.append([])
            else:
                segments[-1].append(element)
        self._pattern = pattern
        self._open = len(segments) > 1
        self._head = _Segment(segments[0])
        self._tail = _Segment(segments[-1] if self._open else [])
        self._middle = [segment for segment in segments[1:-1] if segment]
        self._min_length = sum(_length(segment) for segment in segments)
        plain = [segment[0] for segment in self._middle if len(segment) == 1 and isinstance(segment[0], str)]
        self._plain: list[str] | None = plain if len(plain) == len(self._middle) else None
        self._regex: object = None
        literals = "".join(part for part in pattern.elements if isinstance(part, str))
        # A lone surrogate has no UTF-8; in the text it may be any character that the pattern does not write.
        free = (character for character in _NONCHARACTERS if character not in literals)
        self._placeholder = None if _SURROGATE.search(literals) else next(free, None)

    def matches(self, text: str) -> bool:
        length, head, tail = len(text), self._head, self._tail
        if length < self._min_length or (not self._open and length != self._min_length):
            return False
        if not head.at(text, 0) or not tail.at(text, length - tail.length):
            return False
        if not self._middle:
            return True
        end = length - tail.length
        if self._plain is None:
            return self._search(text[head.length : end], text)
        position = head.length
        for literal in self._plain:
            found = text.find(literal, position, end)
            if found < 0:
                return False
            position = found + len(literal)
        return True

    def _search(self, between: str, text: str) -> bool:
        """Whether the segments of the middle follow one another in `between`: RE2 decides."""
        try:
            data = between.encode()
        except UnicodeEncodeError:
            if self._placeholder is None:
                return like_matches(self._pattern, text)
            data = _SURROGATE.sub(self._placeholder, between).encode()
        if self._regex is None:
            try:
                self._regex = compile_regex(".*?".join(map(_segment_regex, self._middle)), dot_newline=True)
            except ValueError:  # too large for RE2, or it holds a lone surrogate
                self._regex = False
        if self._regex is False:
            return like_matches(self._pattern, text)
        return search(self._regex, data)


class _Segment:
    """Literals and `_` at fixed places."""

    __slots__ = ("_parts", "length")

    def __init__(self, elements: list[str | Wildcard]) -> None:
        self._parts: list[tuple[int, str]] = []
        self.length = 0
        for element in elements:
            if isinstance(element, str):
                self._parts.append((self.length, element))
            self.length += _length([element])

    def at(self, text: str, position: int) -> bool:
        return all(text.startswith(literal, position + offset) for offset, literal in self._parts)


@lru_cache(maxsize=4096)
def _matcher(pattern: LikePattern) -> LikeMatcher:
    return LikeMatcher(pattern)


def _length(segment: list[str | Wildcard]) -> int:
    return sum(len(element) if isinstance(element, str) else 1 for element in segment)


def _segment_regex(segment: list[str | Wildcard]) -> str:
    return "".join(re.escape(element) if isinstance(element, str) else "." for element in segment)
