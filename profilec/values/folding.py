"""Case, one code point to one code point (Unicode simple folding), so that `_` in LIKE keeps its width.

LOWER, UPPER and ILIKE use these; the length of the string never changes.
"""

from __future__ import annotations


class _OneToOne(dict[int, int]):
    """A translation table that fills itself: code point to code point."""

    def __init__(self, method: str) -> None:
        super().__init__()
        self._method = method

    def __missing__(self, code_point: int) -> int:
        character = chr(code_point)
        changed = getattr(character, self._method)()
        if len(changed) != 1 and self._method == "casefold":
            changed = character.lower()
        result = ord(changed) if len(changed) == 1 else code_point
        self[code_point] = result
        return result


_LOWER = _OneToOne("lower")
_UPPER = _OneToOne("upper")
_FOLD = _OneToOne("casefold")


def lower(text: str) -> str:
    """
    >>> lower("ΑΣ"), len(lower("İ"))
    ('ασ', 1)
    """
    return text.lower() if text.isascii() else text.translate(_LOWER)


def upper(text: str) -> str:
    """
    >>> upper("straße")
    'STRAßE'
    """
    return text.upper() if text.isascii() else text.translate(_UPPER)


def fold(text: str) -> str:
    """The form under which ILIKE compares: equal for strings that differ in case only.

    >>> fold("STRASSE") == fold("straße"), fold("ẞ") == fold("ß")
    (False, True)
    """
    return text.lower() if text.isascii() else text.translate(_FOLD)
