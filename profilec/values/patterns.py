"""LIKE patterns: read once into elements, then matched in time linear in text times pattern.

The matcher here is the plain definition; the runtime decides all patterns of an attribute in
one pass, and is tested against this.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from profilec.values.folding import fold


class Wildcard(Enum):
    """`%` is any run of code points, newlines included; `_` is one code point."""

    ANY_RUN = "%"
    ANY_ONE = "_"


@dataclass(frozen=True, slots=True)
class LikePattern:
    """A LIKE pattern without its escapes: runs of literal text, and wildcards. Adjacent `%` are one."""

    elements: tuple[str | Wildcard, ...]


def parse_like(pattern: str, escape: str | None = None) -> LikePattern:
    r"""The elements of a pattern.

    >>> parse_like("50\\%_x%%", "\\").elements
    ('50%', <Wildcard.ANY_ONE: '_'>, 'x', <Wildcard.ANY_RUN: '%'>)

    Raises:
        ValueError: the escape is not one character, or escapes nothing that needs it.
    """
    if escape is not None and len(escape) != 1:
        raise ValueError(f"ESCAPE takes one character, not {escape!r}")
    elements: list[str | Wildcard] = []
    literal: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == escape:
            if position == len(pattern) or pattern[position] not in ("%", "_", escape):
                raise ValueError(f"the escape {escape!r} at character {position} of {pattern!r} escapes nothing")
            literal.append(pattern[position])
            position += 1
        elif character in "%_":
            if literal:
                elements.append("".join(literal))
                literal.clear()
            wildcard = Wildcard(character)
            if not (wildcard is Wildcard.ANY_RUN and elements and elements[-1] is Wildcard.ANY_RUN):
                elements.append(wildcard)
        else:
            literal.append(character)
    if literal:
        elements.append("".join(literal))
    return LikePattern(tuple(elements))


def fold_pattern(pattern: LikePattern) -> LikePattern:
    """The pattern that ILIKE asks of the folded text."""
    return LikePattern(tuple(fold(part) if isinstance(part, str) else part for part in pattern.elements))


def print_like(pattern: LikePattern) -> tuple[str, str | None]:
    """Pattern text and the escape it needs (None where it needs none)."""
    literals = "".join(part for part in pattern.elements if isinstance(part, str))
    if "%" not in literals and "_" not in literals:
        return "".join(part if isinstance(part, str) else part.value for part in pattern.elements), None
    escape = next(c for c in "\\!#^~|" + "".join(map(chr, range(0xE000, 0xF8FF))) if c not in literals)
    escaped = [
        part.replace("%", escape + "%").replace("_", escape + "_") if isinstance(part, str) else part.value
        for part in pattern.elements
    ]
    return "".join(escaped), escape


def like_matches(pattern: LikePattern, text: str) -> bool:
    """Whether the whole text matches: greedy, going back to the last `%` only.

    >>> like_matches(parse_like("a%b_"), "axxbc")
    True
    """
    symbols: list[str | Wildcard] = []
    for element in pattern.elements:
        symbols.extend(element if isinstance(element, str) else (element,))
    at = position = 0
    retry_at, retry_position = -1, 0
    while position < len(text):
        symbol = symbols[at] if at < len(symbols) else None
        if symbol is Wildcard.ANY_RUN:
            at += 1
            retry_at, retry_position = at, position
        elif symbol is Wildcard.ANY_ONE or symbol == text[position]:
            at += 1
            position += 1
        elif retry_at >= 0:
            retry_position += 1
            at, position = retry_at, retry_position
        else:
            return False
    return all(symbol is Wildcard.ANY_RUN for symbol in symbols[at:])
