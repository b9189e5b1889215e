"""AND, OR, NOT, TRUE, FALSE and NULL as conditions."""

from __future__ import annotations

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.reading.forms import Reading, arguments, read_condition, reads_condition, unwrap


@reads_condition(exp.And, exp.Or)
def _read_connector(node: exp.Expr, reading: Reading) -> ir.Condition:
    """PERF: a chain of 100,000 operands is a tree of that depth; it is walked, not recursed into."""
    kind = type(node)
    operands: list[exp.Expr] = []
    while type(node) is kind:
        node, last = arguments(node, "this", "expression")
        operands.append(last)
    operands.append(node)
    read = [read_condition(operand, reading) for operand in reversed(operands)]
    return ir.and_(read) if kind is exp.And else ir.or_(read)


@reads_condition(exp.Not)
def _read_not(node: exp.Expr, reading: Reading) -> ir.Condition:
    (operand,) = arguments(node, "this")
    return ir.Not(read_condition(operand, reading))


@reads_condition(exp.Paren)
def _read_paren(node: exp.Expr, reading: Reading) -> ir.Condition:
    return read_condition(unwrap(node), reading)


@reads_condition(exp.Boolean)
def _read_boolean(node: exp.Expr, reading: Reading) -> ir.Condition:
    return ir.Literal(bool(node.args.get("this")))


@reads_condition(exp.Null)
def _read_null(_: exp.Expr, __: Reading) -> ir.Condition:
    return ir.UNKNOWN
