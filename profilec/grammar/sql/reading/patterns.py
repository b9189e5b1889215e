"""LIKE, GLOB and their kin to our LIKE, with the escape and the case that the dialect means."""

from __future__ import annotations

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.letters import folds_alike, has_case
from profilec.grammar.sql.reading.arrays import quantified, read_list_contains
from profilec.grammar.sql.reading.forms import (
    Read,
    Reading,
    arguments,
    read_text,
    reads_condition,
    refusal_of,
    string_literal,
    unwrap,
)
from profilec.grammar.sql.reading.names import attribute_of, type_of
from profilec.grammar.sql.reading.strings import check_case
from profilec.grammar.sql.refusal import Refusal
from profilec.values.kinds import Kind
from profilec.values.patterns import LikePattern, Wildcard, parse_like, print_like


@reads_condition(exp.Escape)
def _read_escape(node: exp.Expr, reading: Reading) -> ir.Condition:
    like, escape_node = arguments(node, "this", "expression")
    escape = string_literal(escape_node, reading)
    if not isinstance(like, exp.Like | exp.ILike) or escape is None or len(escape) > 1:
        raise Refusal("an ESCAPE that is no single character", None, node)
    return _likes(like, escape, reading)


@reads_condition(exp.Like, exp.ILike)
def _read_like(node: exp.Expr, reading: Reading) -> ir.Condition:
    return _likes(node, None, reading)


def _likes(node: exp.Expr, escape: str | None, reading: Reading) -> ir.Condition:
    """One LIKE, or the several of `LIKE ANY (…)`."""
    text_node, pattern_node, negate = arguments(node, "this", "expression", "negate")
    text = read_text(text_node, reading)
    ignore_case = isinstance(node, exp.ILike)
    several = quantified(pattern_node)
    if several is None:
        result = _like(text, pattern_node, escape, ignore_case, node, reading)
    else:
        word, over = several
        if not isinstance(over, exp.Array | exp.Tuple | exp.Literal):
            raise refusal_of(node)
        patterns = over.expressions or [over]
        if negate and len(patterns) > 1:
            raise Refusal("NOT LIKE of several patterns", "write NOT (a LIKE 'x' OR a LIKE 'y')", node)
        likes = [_like(text, pattern, escape, ignore_case, node, reading) for pattern in patterns]
        result = ir.or_(likes) if word == "ANY" else ir.and_(likes)
    return ir.Not(result) if negate else result


def _like(
    text: Read,
    pattern_node: exp.Expr,
    escape: str | None,
    ignore_case: bool,
    node: exp.Expr,
    reading: Reading,
) -> ir.Condition:
    traits = reading.traits
    pattern = string_literal(pattern_node, reading)
    if pattern is None:
        return _like_of_column(text, pattern_node, escape, ignore_case, node, reading)
    if escape is None:
        escape = traits.like_escape
        if escape is None and "\\" in pattern:
            raise Refusal(f"whether `\\` escapes in a LIKE of {reading.dialect} is not known", None, node, "PC504")
    if traits.like_has_classes and "[" in pattern:
        raise Refusal(f"`[` begins a set of characters in a LIKE of {reading.dialect}", None, node)
    elements = _like_elements(pattern, escape or None, node, reading)
    literals = "".join(part for part in elements.elements if isinstance(part, str))
    ignore_case = _ignores_case(literals, ignore_case, text, node, reading)
    check_case([text.scalar, ir.constant(literals)], node, reading)
    own_pattern, own_escape = print_like(elements)
    if escape and own_escape is not None and _parsed(pattern, escape) == elements:
        own_pattern, own_escape = pattern, escape
    return ir.Like(text.scalar, ir.constant(own_pattern), own_escape, ignore_case)


def _parsed(pattern: str, escape: str | None) -> LikePattern | None:
    try:
        return parse_like(pattern, escape)
    except ValueError:
        return None


def _like_elements(pattern: str, escape: str | None, node: exp.Expr, reading: Reading) -> LikePattern:
    """The pattern as the dialect reads it; in some an escape before any character gives that character."""
    if not reading.traits.like_escapes_any or escape is None:
        try:
            return parse_like(pattern, escape)
        except ValueError as error:
            raise Refusal(str(error), None, node) from None
    elements: list[str | Wildcard] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, None)
            if escaped is None:
                raise Refusal(f"the escape {escape!r} at the end of {pattern!r} escapes nothing", None, node)
            elements.append(escaped)
        else:
            elements.append(Wildcard(character) if character in "%_" else character)
    return _joined(elements)


def _ignores_case(literals: str, ignore_case: bool, text: Read, node: exp.Expr, reading: Reading) -> bool:
    """Whether ours is an ILIKE; refuses a pattern whose letters the dialect folds in another way."""
    how = reading.traits.like
    if ignore_case:
        if how is None or reading.traits.letters is None:
            raise Refusal(f"what ILIKE folds in {reading.dialect} is not known", None, node, "PC504")
        if not folds_alike(literals):
            raise Refusal("ILIKE with letters whose other case is not the same everywhere", None, node, "PC504")
        return True
    if reading.sensitive or how == "case" or text.binary:
        return False
    if how == "ascii":
        if not has_case(literals):
            return False
        if not has_case("".join(letter for letter in literals if not letter.isascii())):
            return True
        raise Refusal(
            f"LIKE in {reading.dialect} ignores the case of A to Z and of no other letter",
            "import with like_case=sensitive where case_sensitive_like is on",
            node,
            "PC504",
        )
    by = "whether LIKE sees case is left to the column's collation" if how else "whether LIKE sees case is not known"
    raise Refusal(f"{by} in {reading.dialect}", "import with like_case=sensitive where it sees case", node, "PC504")


def _like_of_column(
    text: Read,
    pattern_node: exp.Expr,
    escape: str | None,
    ignore_case: bool,
    node: exp.Expr,
    reading: Reading,
) -> ir.Condition:
    """A pattern that each record brings along; it is read as ours, so the dialect's must be the same."""
    pattern = read_text(pattern_node, reading)
    sees_case = reading.sensitive or reading.traits.like == "case"
    if ignore_case or escape or reading.traits.like_escape != "" or reading.traits.like_has_classes or not sees_case:
        raise Refusal(f"a pattern that is no literal may mean something else in {reading.dialect}", None, node, "PC504")
    check_case([text.scalar, pattern.scalar], node, reading)
    return ir.Like(text.scalar, pattern.scalar, None, False)


@reads_condition(exp.Glob)
def _read_glob(node: exp.Expr, reading: Reading) -> ir.Condition:
    """SQLite's and DuckDB's GLOB, which sees case: `*` and `?`, and sets that no LIKE has."""
    text_node, pattern_node = arguments(node, "this", "expression")
    pattern = string_literal(pattern_node, reading)
    if pattern is None or reading.dialect not in ("SQLite", "DuckDB"):
        raise refusal_of(node)
    elements: list[str | Wildcard] = []
    at = 0
    while at < len(pattern):
        character, width = pattern[at], 1
        if character == "[":
            if pattern[at + 2 : at + 3] != "]" or pattern[at + 1] in "^!]":
                raise Refusal("a set of characters in GLOB", None, node)
            character, width = pattern[at + 1], 3
        elif character in "*?":
            elements.append(Wildcard.ANY_RUN if character == "*" else Wildcard.ANY_ONE)
            at += 1
            continue
        elif character == "\\" and reading.dialect == "DuckDB":
            raise Refusal("an escape in GLOB", None, node)
        elements.append(character)
        at += width
    own_pattern, own_escape = print_like(_joined(elements))
    return ir.Like(read_text(text_node, reading).scalar, ir.constant(own_pattern), own_escape, False)


def _joined(elements: list[str | Wildcard]) -> LikePattern:
    """The pattern of single characters and wildcards."""
    joined: list[str | Wildcard] = []
    for element in elements:
        if joined and isinstance(element, str) and isinstance(joined[-1], str):
            joined[-1] += element
        elif not (joined and element is Wildcard.ANY_RUN and joined[-1] is element):
            joined.append(element)
    return LikePattern(tuple(joined))


@reads_condition(exp.StartsWith, exp.EndsWith, exp.Contains)
def _read_part_of_string(node: exp.Expr, reading: Reading) -> ir.Condition:
    """STARTS_WITH, ENDS_WITH and CONTAINS with a constant: the LIKE of it."""
    text_node, part_node = arguments(node, "this", "expression")
    part = string_literal(part_node, reading)
    if isinstance(node, exp.Contains):
        column = unwrap(text_node)
        type_ = type_of(attribute_of(column, reading), reading) if isinstance(column, exp.Column) else None
        if type_ is not None and type_.name == "ARRAY" and reading.dialect == "DuckDB":
            return read_list_contains(text_node, part_node, node, reading)
        if not reading.traits.contains_strings and (type_ is None or type_.kind is not Kind.STRING):
            raise Refusal(
                f"CONTAINS may be about an array or a text index in {reading.dialect}",
                "write LIKE '%x%'",
                node,
                "PC504",
            )
    if part is None:
        raise Refusal("a part of a string that is no literal", "write a LIKE", node)
    text = read_text(text_node, reading)
    before = () if isinstance(node, exp.StartsWith) else (Wildcard.ANY_RUN,)
    after = () if isinstance(node, exp.EndsWith) else (Wildcard.ANY_RUN,)
    if not part:
        raise Refusal("the empty string as a part", None, node)
    check_case([text.scalar, ir.constant(part)], node, reading)
    if reading.traits.equality != "bytes" and not reading.sensitive:
        raise Refusal(f"whether {reading.dialect} sees case here is not known", None, node, "PC504")
    pattern, escape = print_like(LikePattern((*before, part, *after)))
    return ir.Like(text.scalar, ir.constant(pattern), escape, False)
