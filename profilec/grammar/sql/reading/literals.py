"""SQL literals to constants."""

from __future__ import annotations

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.reading.forms import (
    Read,
    Reading,
    read_scalar,
    reads_scalar,
    refusal_of,
    string_literal,
    unwrap,
)
from profilec.grammar.sql.reading.numbers import number_literal
from profilec.grammar.sql.refusal import Refusal
from profilec.values.kinds import Kind


@reads_scalar(exp.Literal, exp.National, exp.RawString, exp.ByteString)
def _read_literal(node: exp.Expr, reading: Reading) -> Read:
    text = string_literal(node, reading)
    if text is None:
        if not isinstance(node, exp.Literal):
            raise refusal_of(node)
        return number_literal(node.name, node, reading)
    if text == "" and reading.traits.empty_is_null:
        raise Refusal(f"'' is NULL in {reading.dialect}", "write IS NULL", node, "PC504")
    return Read(ir.constant(text), Kind.STRING)


@reads_scalar(exp.Boolean)
def _read_boolean(node: exp.Expr, reading: Reading) -> Read:
    if not reading.traits.booleans:
        raise Refusal(f"TRUE and FALSE are the numbers 1 and 0 in {reading.dialect}", "write 1 or 0", node, "PC504")
    return Read(ir.constant(bool(node.args.get("this"))), Kind.BOOLEAN)


@reads_scalar(exp.Null)
def _read_null(_: exp.Expr, __: Reading) -> Read:
    return Read(ir.NULL, Kind.NULL)


@reads_scalar(exp.Paren)
def _read_paren(node: exp.Expr, reading: Reading) -> Read:
    return read_scalar(unwrap(node), reading)
