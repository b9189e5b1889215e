"""SQL strings and the functions on them to ours."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.letters import case_conflict
from profilec.grammar.sql.reading.forms import (
    Read,
    Reading,
    arguments,
    read_scalar,
    read_text,
    reads_scalar,
    refusal_of,
    string_literal,
    whole_constant,
)
from profilec.grammar.sql.refusal import Refusal
from profilec.values.kinds import Kind


@reads_scalar(exp.Collate)
def _read_collate(node: exp.Expr, reading: Reading) -> Read:
    text, collation = arguments(node, "this", "expression")
    name = collation.name.upper()
    if name not in ("C", "POSIX", "UCS_BASIC", "BINARY", "UTF8_BINARY") and not name.endswith(("_BIN", "_BIN2")):
        raise Refusal(f"the collation {collation.name} is not in the language", "strings compare by code point", node)
    return replace(read_scalar(text, reading), binary=True)


@reads_scalar(exp.Lower, exp.Upper)
def _read_case(node: exp.Expr, reading: Reading) -> Read:
    (operand,) = arguments(node, "this")
    if reading.traits.letters is None:
        raise Refusal(f"whose case LOWER and UPPER change in {reading.dialect} is not known", None, node, "PC504")
    name = "LOWER" if isinstance(node, exp.Lower) else "UPPER"
    return Read(ir.Call(name, (read_text(operand, reading).scalar,)), Kind.STRING)


def check_case(scalars: list[ir.Scalar], node: exp.Expr, reading: Reading, *, equality: bool = False) -> None:
    """Refuses a predicate whose LOWER or UPPER meets letters that the dialect changes in another way."""
    conflict = case_conflict(scalars, reading.traits, equality=equality)
    if conflict is not None:
        raise Refusal(conflict, None, node, "PC504")


@reads_scalar(exp.Length)
def _read_length(node: exp.Expr, reading: Reading) -> Read:
    (operand, binary) = arguments(node, "this", "binary")
    if reading.traits.length != "characters" or binary:
        hint = "write CHAR_LENGTH" if binary else None
        raise Refusal(f"LENGTH does not count characters in {reading.dialect}", hint, node, "PC504")
    read = read_scalar(operand, reading)
    if read.kind is None and reading.dialect == "DuckDB":
        hint = "declare the attribute in a schema"
        raise Refusal("LENGTH may be that of an array in DuckDB", hint, node, "PC504")
    return Read(ir.Call("LENGTH", (read_text(operand, reading).scalar,)), Kind.NUMBER, "integer")


@reads_scalar(exp.Trim)
def _read_trim(node: exp.Expr, reading: Reading) -> Read:
    operand, characters, position = arguments(node, "this", "expression", "position")
    blanks = characters is not None and string_literal(characters, reading) == " "
    if (position or "BOTH") != "BOTH" or (characters is not None and not blanks):
        raise Refusal("TRIM of one side, or of other characters than blanks, is not in the language", None, node)
    if not blanks and reading.traits.trim != "spaces":
        raise Refusal(f"TRIM may take away more than blanks in {reading.dialect}", "write TRIM(a, ' ')", node, "PC504")
    return Read(ir.Call("TRIM", (read_text(operand, reading).scalar,)), Kind.STRING)


@reads_scalar(exp.Substring)
def _read_substring(node: exp.Expr, reading: Reading) -> Read:
    operand, start_node, length_node = arguments(node, "this", "start", "length")
    if start_node is None:
        raise refusal_of(node)
    start = whole_constant(start_node, reading)
    length = None if length_node is None else whole_constant(length_node, reading)
    if start < 1 and reading.traits.negative_start != "before":
        raise Refusal(f"a start below 1 does not count from the beginning in {reading.dialect}", None, node, "PC504")
    return _substring(operand, start, length, node, reading)


@reads_scalar(exp.Left)
def _read_left(node: exp.Expr, reading: Reading) -> Read:
    operand, length = arguments(node, "this", "expression")
    return _substring(operand, 1, whole_constant(length, reading), node, reading)


def _substring(operand: exp.Expr, start: int, length: int | None, node: exp.Expr, reading: Reading) -> Read:
    if length is not None and length < 0:
        raise Refusal("a substring of negative length", None, node)
    bounds = (start,) if length is None else (start, length)
    text = read_text(operand, reading).scalar
    return Read(ir.Call("SUBSTR", (text, *map(ir.constant, bounds))), Kind.STRING)
