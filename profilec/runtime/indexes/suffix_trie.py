"""The pattern index `suffix_trie`: a trie of literals, in which each suffix of the text is looked up.

In: the patterns of one slot. Out: for a text, those that match.

    '%abc%'              filed by abc, which decides it
    '%abc'               filed by abc at the text's end, which decides it
    'a%bcd_', '%x%abc'   filed by bcd, by abc at the end; tried where they are found
    'err(or|no)[0-9]'    filed by what a match cannot lack (`literals`), error and errno; tried
    '%', '_', '[0-9]+'   not filed: the default decides these (`filed_patterns`)

A trie of the suffixes of all texts is not to be had, for texts come one by one; so it is the patterns' literals that
are in the trie, and the suffixes of the text that are looked up, each in one walk from its first character on. A
literal that stands in the text is the beginning of one of its suffixes; one that the text ends with is a whole suffix.
(A plain `LIKE '%abc'` of an attribute is an interval of ranks of its reverse when it comes from a condition, and no
pattern.)

Literals are cut to 48 characters, and then decide nothing, so that a text of n characters takes at most 48 n steps,
whatever the literals are. PERF: most suffixes begin with what no literal begins with; one lookup passes over these.

Source: none of the papers indexes patterns. Suffix tries and trees are Weiner's, Linear Pattern Matching Algorithms,
SWAT 1973; here text and patterns have changed places.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from profilec.runtime.image import Pattern
from profilec.runtime.indexes.filed_patterns import Filed, Key, filed_by
from profilec.runtime.indexes.literal_trie import LiteralTrie, TrieArrays, code_points
from profilec.runtime.literals import MAX_LENGTH, required_literals
from profilec.values.patterns import LikePattern, Wildcard

_ROOM = 1_024


class SuffixSearch:
    """Which keys stand in a text, or at its end.

    >>> search = SuffixSearch([Key("ab"), Key("ab", at_end=True), Key("bc")])
    >>> sorted(search.found("xab", b"xab")), sorted(search.found("abc", b"abc"))
    ([0, 1], [0, 2])
    """

    def __init__(self, keys: Sequence[Key]) -> None:
        literals = list(dict.fromkeys(key.literal for key in keys))
        number_of = {literal: number for number, literal in enumerate(literals)}
        self._trie = LiteralTrie(literals)
        self._lengths = list(map(len, literals))
        self._arrays: TrieArrays | None = None
        self._anywhere = [-1] * len(literals)
        self._at_end = [-1] * len(literals)
        for place, key in enumerate(keys):
            (self._at_end if key.at_end else self._anywhere)[number_of[key.literal]] = place

    def found(self, text: str, data: bytes) -> set[int]:
        """The numbers of the keys. PERF: by a kernel where Numba is loaded, 80 characters take 30 us; else 250 us."""
        return self.found_by_kernel(text) if "profilec.runtime.kernels" in sys.modules else self.found_by_walks(text)

    def found_by_walks(self, text: str) -> set[int]:
        """As `found`."""
        walk, anywhere, at_end, lengths = self._trie.from_node, self._anywhere, self._at_end, self._lengths
        n = len(text)
        found: set[int] = set()
        for position, node in enumerate(map(self._trie.root.get, text)):
            if node is None:
                continue
            for literal in walk(node, text, position + 1):
                found.add(anywhere[literal])
                if position + lengths[literal] == n:
                    found.add(at_end[literal])
        found.discard(-1)
        return found

    def found_by_kernel(self, text: str) -> set[int]:
        """As `found`."""
        from profilec.runtime.trie_kernels import find_literals

        if self._arrays is None:
            self._arrays = self._trie.arrays()
        codes, hits, position = code_points(text), np.empty(_ROOM, np.int64), 0
        met: set[int] = set()
        while position < len(codes):
            position = find_literals(codes, position, *self._arrays, hits)
            met.update(hits[1 : hits[0] + 1].tolist())
        found = {self._anywhere[hit >> 1] for hit in met}
        found.update(self._at_end[hit >> 1] for hit in met if hit & 1)
        found.discard(-1)
        return found


def filed_by_literal(pattern: Pattern) -> Filed | None:
    """By the longest literal of a LIKE, at the end where it is the last; by those that a regex cannot match without."""
    return filed_by(pattern, _of_like, required_literals)


def _of_like(pattern: LikePattern) -> Filed | None:
    elements = pattern.elements
    literals = [(len(element), place) for place, element in enumerate(elements) if isinstance(element, str)]
    if not literals:
        return None
    length, place = max(literals)
    literal = elements[place]
    assert isinstance(literal, str)
    at_end = place == len(elements) - 1
    around = (Wildcard.ANY_RUN, literal) if at_end else (Wildcard.ANY_RUN, literal, Wildcard.ANY_RUN)
    return Filed([Key(literal[-MAX_LENGTH:], at_end)], decides=elements == around and length <= MAX_LENGTH)
