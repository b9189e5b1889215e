"""The pattern indexes by their names.

In: the patterns (LIKE, ILIKE, MATCHES) of one slot. Out: what tells, for a text, those that match it.

They say nothing of ranks: an attribute has a pattern index beside its attribute index (`by_name`), with every matcher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeAlias

from profilec.runtime.image import Pattern, Slot
from profilec.runtime.indexes.aho_corasick import AutomatonSearch, filed_by_atom
from profilec.runtime.indexes.filed_patterns import FiledPatterns
from profilec.runtime.indexes.regex_set import RegexSetIndex
from profilec.runtime.indexes.suffix_trie import SuffixSearch, filed_by_literal
from profilec.runtime.indexes.trie import PrefixSearch, filed_by_prefix
from profilec.runtime.patterns import Pairs, PatternSet


class PatternIndex(Protocol):
    """The patterns of one slot, numbered as they came. Invariant: the answer is that of `like.like_holds` and
    `regex.regex_holds` pattern by pattern."""

    def matches(self, text: str) -> list[int]:
        """The patterns that match, each once, in no order."""
        ...

    def matches_each(self, texts: Sequence[str]) -> Pairs:
        """As `matches` of each text: the texts' places, and the patterns that match; each pair once, in no order."""
        ...


MakePatternIndex: TypeAlias = Callable[[Sequence[Pattern]], PatternIndex]
PATTERN_INDEXES: dict[str, MakePatternIndex] = {
    "aho_corasick": partial(FiledPatterns, filed_by_atom, AutomatonSearch),
    "patterns": PatternSet,
    "regex_set": RegexSetIndex,
    "suffix_trie": partial(FiledPatterns, filed_by_literal, SuffixSearch),
    "trie": partial(FiledPatterns, filed_by_prefix, PrefixSearch),
}
DEFAULT: MakePatternIndex = PATTERN_INDEXES["patterns"]
"""What neither an option nor the plan names: it chooses for each pattern by itself."""


def pattern_index_of(slot: Slot, index_of: Mapping[str, str]) -> MakePatternIndex:
    """What makes the index of a slot's patterns.

    Args:
        index_of: names of PATTERN_INDEXES by attribute or expression, with back-quotes or without. What is named for
            a text counts for its folded form, too, which ILIKE asks.
    """
    for name in names_of(slot) if index_of else ():
        if name in index_of:
            return PATTERN_INDEXES[index_of[name]]
    return DEFAULT


def names_of(slot: Slot) -> list[str]:
    """The names under which a slot's pattern index may be given, the slot's own first."""
    match slot.program:
        case (("attribute", 0, parts, _),) | (("attribute", 0, parts, _), ("call", "FOLD", 1)):
            names = [slot.name, ".".join(parts)]
        case _:
            names = [slot.name]
    if slot.program[-1] == ("call", "FOLD", 1):
        names.append(slot.name.removeprefix("FOLD(").removesuffix(")"))
    return names
