"""SQL's regular expressions to MATCHES."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.reading.forms import Reading, arguments, read_text, reads_condition, string_literal
from profilec.grammar.sql.refusal import Refusal
from profilec.grammar.sql.regexes import check_re2, translate


@reads_condition(exp.RegexpLike, exp.RegexpILike)
def _read_regex(node: exp.Expr, reading: Reading) -> ir.Condition:
    text_node, pattern_node = arguments(node, "this", "expression")
    pattern = string_literal(pattern_node, reading)
    if pattern is None:
        raise Refusal("a regular expression that is no string literal", None, node)
    match reading.traits.regex:
        case "re2" | "application":  # what REGEXP does in SQLite is up to the application; we are it
            own = pattern
        case "posix" | "java" as language:
            own = _translated(pattern, language, node)
        case None:
            raise Refusal(f"what a regular expression means in {reading.dialect} is not known", None, node, "PC504")
    if isinstance(node, exp.RegexpILike):
        if not pattern.isascii():
            raise Refusal("a regular expression with letters that ignores case", None, node, "PC504")
        own = f"(?i){own}"
    try:
        check_re2(own)
    except Refusal as refusal:
        refusal.node = node
        raise
    return ir.Matches(read_text(text_node, reading).scalar, own)


def _translated(pattern: str, language: Any, node: exp.Expr) -> str:
    try:
        return translate(pattern, language, "re2")
    except Refusal as refusal:
        refusal.node, refusal.code = node, "PC504"
        raise
