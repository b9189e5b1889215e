"""LIKE, ILIKE and MATCHES to SQL."""

from __future__ import annotations

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.letters import case_conflict, folds_alike, has_case
from profilec.grammar.sql.refusal import Refusal
from profilec.grammar.sql.regexes import translate
from profilec.grammar.sql.writing.forms import Writing, refused, string
from profilec.grammar.sql.writing.scalars import write_scalar
from profilec.values.patterns import LikePattern, Wildcard, parse_like

_ESCAPES = "!#^~|@\\"
_GLOB = {Wildcard.ANY_RUN: "*", Wildcard.ANY_ONE: "?"}


def write_like(node: ir.Like, writing: Writing) -> exp.Expr:
    """The LIKE or its like; constant patterns are written anew, with an escape only where they need one."""
    pattern_node = node.pattern
    if not isinstance(pattern_node, ir.Constant):
        return _like_of_column(node, writing)
    if pattern_node.value is None:
        return exp.Like(this=write_scalar(node.text, writing), expression=exp.Null())
    assert isinstance(pattern_node.value, str)
    pattern = parse_like(pattern_node.value, node.escape)
    literals = "".join(part for part in pattern.elements if isinstance(part, str))
    _check_letters(node, literals, writing)
    text = write_scalar(node.text, writing)
    if writing.traits.like == "ascii":
        if node.ignore_case:
            lowered = LikePattern(tuple(part.lower() if isinstance(part, str) else part for part in pattern.elements))
            return _glob(exp.Lower(this=text), lowered, writing)
        if any(letter.isascii() for letter in literals if has_case(letter)):
            return _glob(text, pattern, writing)
    return _like(exp.ILike if node.ignore_case else exp.Like, text, pattern, literals, writing)


def _check_letters(node: ir.Like, literals: str, writing: Writing) -> None:
    traits = writing.traits
    if traits.like not in ("case", "ascii"):
        raise refused(f"LIKE may ignore case in {writing.name}")
    if traits.like_has_classes and "[" in literals:
        raise refused(f"`[` in a LIKE of {writing.name}")
    if node.ignore_case:
        writing.need("scalars", "ILIKE")
        if not folds_alike(literals):
            raise refused("ILIKE with a letter whose other case is not the same everywhere")
        if traits.letters == "ascii" and any(has_case(letter) for letter in literals if not letter.isascii()):
            raise refused(f"ILIKE with a letter beyond A to Z, whose case {writing.name} does not ignore")
    conflict = case_conflict([node.text, ir.constant(literals)], traits, equality=False)
    if conflict is not None:
        raise refused(conflict)


def _like(form: type[exp.Expr], text: exp.Expr, pattern: LikePattern, literals: str, writing: Writing) -> exp.Expr:
    default = writing.traits.like_escape
    if default is None:
        raise refused(f"whether `\\` escapes in a LIKE of {writing.name} is not known")
    needed = "%" in literals or "_" in literals or bool(default and default in literals)
    if not needed:
        plain = "".join(part if isinstance(part, str) else part.value for part in pattern.elements)
        return form(this=text, expression=string(plain, writing))
    escape = next((character for character in _ESCAPES if character not in literals), None)
    if escape is None:
        raise refused("a pattern that has every character that could be its escape")
    escaped = [
        part.replace("%", escape + "%").replace("_", escape + "_") if isinstance(part, str) else part.value
        for part in pattern.elements
    ]
    like = form(this=text, expression=string("".join(escaped), writing))
    return exp.Escape(this=like, expression=exp.Literal.string(escape))


def _glob(text: exp.Expr, pattern: LikePattern, writing: Writing) -> exp.Expr:
    """SQLite's GLOB sees case whatever the connection's case_sensitive_like is."""
    parts = [
        "".join(f"[{letter}]" if letter in "*?[" else letter for letter in part)
        if isinstance(part, str)
        else _GLOB[part]
        for part in pattern.elements
    ]
    return exp.Glob(this=text, expression=string("".join(parts), writing))


def _like_of_column(node: ir.Like, writing: Writing) -> exp.Expr:
    """A pattern that each row brings: as ours, without an escape character."""
    traits = writing.traits
    no_escape = traits.like_escape == "" or writing.name == "PostgreSQL"
    if node.ignore_case or node.escape is not None or not no_escape or traits.like != "case":
        raise refused(f"a pattern that is no constant may mean something else in {writing.name}")
    conflict = case_conflict([node.text, node.pattern], traits, equality=False)
    if conflict is not None:
        raise refused(conflict)
    like = exp.Like(this=write_scalar(node.text, writing), expression=write_scalar(node.pattern, writing))
    if traits.like_escape:
        return exp.Escape(this=like, expression=exp.Literal.string(""))
    return like


def write_matches(node: ir.Matches, writing: Writing) -> exp.Expr:
    """The dialect's search for a regular expression."""
    conflict = case_conflict([node.text, ir.constant(node.pattern)], writing.traits, equality=False)
    if conflict is not None:
        raise refused(conflict)
    match writing.traits.regex if writing.can("regex") else None:
        case "re2":
            pattern = node.pattern
        case "posix" | "java" as language:
            try:
                pattern = translate(node.pattern, "re2", language)
            except Refusal as refusal:
                refusal.code = "PC503"
                raise
        case _:
            why = (
                "has no regular expressions of its own"
                if writing.name == "SQLite"
                else "may read the pattern otherwise"
            )
            raise refused(f"MATCHES cannot be carried to {writing.name}, which {why}")
    return exp.RegexpLike(this=write_scalar(node.text, writing), expression=string(pattern, writing))
