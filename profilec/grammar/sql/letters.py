"""Letters whose case the dialects and we change alike.

LOWER, UPPER and ILIKE fold one code point to one here (`values.folding`); engines use the
lower-case form, Java and PostgreSQL also the context. They agree on ASCII and on nearly all
other letters. Where a constant holds one on which they do not, its predicate is not carried.

What no constant shows: a text may itself hold U+017F (long s), U+212A (Kelvin sign), U+0130 or
U+0131 (Turkish i), the old Cyrillic forms U+1C80 to U+1C88, or a letter like ß that has no single
upper case. They become ordinary letters in some engines and not in others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from profilec.grammar import ir
from profilec.grammar.sql.dialects import Traits
from profilec.values.folding import fold

# No letter beyond has case (Adlam ends here).
_LAST_CASED = 0x1E943
# Historic forms whose fold is an everyday letter.
_HISTORIC = frozenset("\u017f" + "".join(map(chr, range(0x1C80, 0x1C89))))
# What the full upper case of ß, ﬁ and their like has in it.
_GROWN = ("SS", "FF", "FI", "FL", "ST")


def has_case(text: str) -> bool:
    """Whether a change of case could change the text.

    >>> has_case("50 %"), has_case("50 km"), has_case("五十")
    (False, True, False)
    """
    return any(_is_cased(character) for character in text)


def folds_alike(text: str) -> bool:
    """Whether every engine that folds Unicode takes the same letters for the text's.

    >>> folds_alike("Café"), folds_alike("ΣΑΣ"), folds_alike("STRASSE"), folds_alike("Straße")
    (True, False, True, False)
    """
    return text.isascii() or not any(character in _odd_letters() for character in text if not character.isascii())


def case_conflict(scalars: Sequence[ir.Scalar], traits: Traits, *, equality: bool) -> str | None:
    """Why the values of a predicate, LOWER or UPPER of something among them, cannot be carried; None if they can.

    `equality`: the predicate asks only whether whole texts are equal.

    >>> from profilec.grammar.sql.dialects import traits_of
    >>> changed = ir.Call("LOWER", (ir.attribute("name"),))
    >>> case_conflict([changed, ir.constant("é")], traits_of("sqlite"), equality=True)
    'SQLite changes the case of A to Z only'
    """
    changed = [scalar for scalar in scalars if _calls(scalar, "LOWER") or _calls(scalar, "UPPER")]
    if not changed:
        return None
    others = [scalar for scalar in scalars if scalar not in changed]
    if len(changed) > 1 or not all(isinstance(other, ir.Constant) for other in others):
        return "LOWER or UPPER compared with a column's text, whose letters beyond A to Z dialects change differently"
    texts = [other.value for other in others if isinstance(other, ir.Constant) and isinstance(other.value, str)]
    if traits.letters == "ascii" and not all(text.isascii() for text in texts):
        return f"{traits.name} changes the case of A to Z only"
    if not all(folds_alike(text) for text in texts):
        return "a letter whose other case is not the same everywhere"
    if traits.upper_grows and any(_calls(scalar, "UPPER") for scalar in changed):
        match changed[0]:
            case ir.Call("UPPER", (inner,)):
                alone = not _calls(inner, "UPPER")
            case _:
                alone = False
        grown = any(pair in text for pair in _GROWN for text in texts)
        if not equality or not alone or grown:
            return f"UPPER makes two letters of one (SS of ß) in {traits.name}; LOWER does not"
    return None


def _calls(scalar: ir.Node, function: str) -> bool:
    if isinstance(scalar, ir.Call) and scalar.function == function:
        return True
    return any(_calls(child, function) for child in ir.children(scalar))


def _is_cased(character: str) -> bool:
    return not character == character.lower() == character.upper() == character.casefold()


@cache
def _odd_letters() -> frozenset[str]:
    """Letters that are not one of a pair of which each is the other's upper or lower case."""
    classes: dict[str, set[str]] = {}
    odd: set[str] = set()
    for character in map(chr, range(_LAST_CASED + 1)):
        if not _is_cased(character):
            continue
        lower, upper = character.lower(), character.upper()
        if len(lower) != 1 or len(upper) != 1 or len(character.casefold()) != 1 or lower.upper() != upper:
            odd.add(character)
        if character in _HISTORIC:
            odd.add(character)
            continue
        classes.setdefault(fold(character), {fold(character)}).add(character)
    for letters in classes.values():
        if len(letters) > 2 or odd & letters:
            odd |= letters
    return frozenset(odd)
