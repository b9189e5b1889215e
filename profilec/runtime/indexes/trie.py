"""The pattern index `trie`: a trie of what patterns begin with, walked once from the beginning of the text.

In: the patterns of one slot. Out: for a text, those that match.

    'abc%'                         filed by abc, which decides it
    'abc', 'abc_', 'abc%d'         filed by abc, and tried where the text begins so
    '^abc', '^(ab|cd)x+'           filed by abc; by abx and cdx; tried
    '%abc', '_a%', 'abc' as regex  not filed: the default decides these (`filed_patterns`)

The walk (`literal_trie`) reads no more of a text than the longest prefix has, 48 characters at most: a longer prefix is
cut, and then decides nothing. It is for patterns that have a beginning; with many of the others choose another index.
(A plain `LIKE 'abc%'` of an attribute is an interval of ranks when it comes from a condition, and no pattern.)

Source: none of the papers indexes patterns. Tries are Fredkin's, Communications of the ACM 3(9), 1960.
"""

from __future__ import annotations

from collections.abc import Sequence

from profilec.runtime.image import Pattern
from profilec.runtime.indexes.filed_patterns import Filed, Key, filed_by
from profilec.runtime.indexes.literal_trie import LiteralTrie
from profilec.runtime.literals import MAX_LENGTH, required_prefixes
from profilec.values.patterns import LikePattern, Wildcard


class PrefixSearch:
    """Which keys a text begins with.

    >>> PrefixSearch([Key("ab"), Key("b"), Key("a")]).found("abc", b"abc")
    [2, 0]
    """

    def __init__(self, keys: Sequence[Key]) -> None:
        self._trie = LiteralTrie([key.literal for key in keys])

    def found(self, text: str, data: bytes) -> list[int]:
        """The numbers of the keys."""
        return self._trie.standing_at(text, 0)


def filed_by_prefix(pattern: Pattern) -> Filed | None:
    """By what the pattern begins with."""
    return filed_by(pattern, _of_like, required_prefixes)


def _of_like(pattern: LikePattern) -> Filed | None:
    match pattern.elements:
        case (str() as literal, *others):
            decides = others == [Wildcard.ANY_RUN] and len(literal) <= MAX_LENGTH
            return Filed([Key(literal[:MAX_LENGTH])], decides=decides)
    return None
