"""The pattern index `aho_corasick`: one automaton over the literals that matches cannot lack.

In: the patterns of one slot. Out: for a text, those that match.

    '%abc%'                     filed by abc, which decides it
    'a%bcd_', 'err(or|no)!'     filed by bcd, by error! and errno!; tried where these are found
    '%', '_', '[0-9]+'          not filed: the default decides these (`filed_patterns`)

It differs from the default, which has an automaton as well, in that the automaton alone tells what occurs, be the
literals few, one common letter, or the texts many. Where regexes ignore case, another automaton reads the folded text.

Source: none of the papers indexes patterns. Aho and Corasick, Efficient String Matching, Communications of the ACM
18(6), 1975; the library is ahocorasick_rs. `atoms` keeps time linear where literals lie within one another.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from profilec.runtime.atoms import Atoms
from profilec.runtime.image import Pattern
from profilec.runtime.indexes.filed_patterns import Filed, Key, filed_by
from profilec.runtime.literals import MAX_LENGTH, required_literals
from profilec.values.patterns import LikePattern, Wildcard


class AutomatonSearch:
    """Which keys stand in a text.

    >>> sorted(AutomatonSearch([Key("ab"), Key("b"), Key("x")]).found("abc", b"abc"))
    [0, 1]
    """

    def __init__(self, keys: Sequence[Key]) -> None:
        self._atoms = Atoms(only_automaton=True)
        for number, key in enumerate(keys):
            self._atoms.add([key.literal], number, decides=True)
        self._atoms.close()

    def found(self, text: str, data: bytes) -> Collection[int]:
        """The numbers of the keys."""
        return self._atoms.occurring(text, data)


def filed_by_atom(pattern: Pattern) -> Filed | None:
    """By the longest literal of a LIKE, by those that a regex cannot match without."""
    return filed_by(pattern, _of_like, required_literals)


def _of_like(pattern: LikePattern) -> Filed | None:
    elements = pattern.elements
    atom = max((element for element in elements if isinstance(element, str)), key=len, default="")
    if not atom:
        return None
    decides = elements == (Wildcard.ANY_RUN, atom, Wildcard.ANY_RUN) and len(atom) <= MAX_LENGTH
    return Filed([Key(atom[-MAX_LENGTH:])], decides=decides)
