"""SQL comparisons to ours: the operators, BETWEEN, IN, IS, and equality that knows NULL."""

from __future__ import annotations

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.reading.arrays import quantified, read_list_contains, read_quantified
from profilec.grammar.sql.reading.forms import (
    Reading,
    arguments,
    is_condition,
    read_condition,
    read_scalar,
    reads_condition,
    refusal_of,
    unwrap,
)
from profilec.grammar.sql.reading.kinds import compare
from profilec.grammar.sql.refusal import Refusal
from profilec.values.compare import MIRRORED_OPERATOR
from profilec.values.kinds import Kind

_TIMES = (Kind.DATE, Kind.TIMESTAMP)

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip


@reads_condition(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
def _read_comparison(node: exp.Expr, reading: Reading) -> ir.Condition:
    left, right = arguments(node, "this", "expression")
    operator = _OPERATORS[type(node)]
    for side in (left, right):
        if is_condition(side):
            hint = (
                "write `10 <= a AND a <= 20`" if operator not in ("=", "!=") else "write parentheses, AND, OR and NOT"
            )
            raise Refusal("a comparison of conditions", hint, node)
    for side, other, mirrored in ((right, left, operator), (left, right, MIRRORED_OPERATOR[operator])):
        over = quantified(side)
        if over is not None:
            return read_quantified(mirrored, other, *over, node, reading)
    return compare(operator, read_scalar(left, reading), read_scalar(right, reading), node, reading)


@reads_condition(exp.Between)
def _read_between(node: exp.Expr, reading: Reading) -> ir.Condition:
    item, low, high = arguments(node, "this", "low", "high")
    for part in (item, low, high):
        if is_condition(part):
            raise Refusal("a comparison of conditions", None, node)
    read = read_scalar(item, reading)
    above = compare(">=", read, read_scalar(low, reading), node, reading)
    return ir.and_([above, compare("<=", read, read_scalar(high, reading), node, reading)])


@reads_condition(exp.NullSafeEQ, exp.NullSafeNEQ)
def _read_null_safe(node: exp.Expr, reading: Reading) -> ir.Condition:
    """`a IS NOT DISTINCT FROM b`: equal, or both NULL; never UNKNOWN."""
    left_node, right_node = arguments(node, "this", "expression")
    if is_condition(left_node) or is_condition(right_node):
        raise Refusal("a comparison of conditions", None, node)
    left, right = read_scalar(left_node, reading), read_scalar(right_node, reading)
    if left.kind is Kind.NULL or right.kind is Kind.NULL:
        same: ir.Condition = ir.IsNull(left.scalar if right.kind is Kind.NULL else right.scalar)
    else:
        same = ir.IsTruth(compare("=", left, right, node, reading), True)
        if not isinstance(left.scalar, ir.Constant) and not isinstance(right.scalar, ir.Constant):
            same = ir.or_([same, ir.and_([ir.IsNull(left.scalar), ir.IsNull(right.scalar)])])
    return ir.Not(same) if isinstance(node, exp.NullSafeNEQ) else same


@reads_condition(exp.Is)
def _read_is(node: exp.Expr, reading: Reading) -> ir.Condition:
    operand, test, negate = arguments(node, "this", "expression", "negate")
    inner, test = unwrap(operand), unwrap(test)
    truth = bool(test.args.get("this")) if isinstance(test, exp.Boolean) else None
    if not isinstance(test, exp.Boolean | exp.Null):
        raise refusal_of(node)
    if isinstance(test, exp.Null) and not is_condition(inner):
        result: ir.Condition = ir.IsNull(read_scalar(inner, reading).scalar)
    else:
        result = ir.IsTruth(read_condition(inner, reading), truth)
    return ir.Not(result) if negate else result


@reads_condition(exp.In)
def _read_in(node: exp.Expr, reading: Reading) -> ir.Condition:
    item_node, option_nodes, array = arguments(node, "this", "expressions", "field")
    if is_condition(item_node):
        raise Refusal("a comparison of conditions", None, node)
    if array is not None:
        return read_list_contains(array, item_node, node, reading)
    if not option_nodes:
        raise Refusal("IN with no values", None, node)
    item = read_scalar(item_node, reading)
    compared: list[ir.Compare] = []
    for option_node in option_nodes:
        condition = compare("=", item, read_scalar(option_node, reading), node, reading)
        assert isinstance(condition, ir.Compare)
        compared.append(condition)
    # A conversion may have changed the item beside some options and not beside others.
    if any(one.left is not compared[0].left for one in compared):
        return ir.or_(tuple(compared))
    return ir.In(compared[0].left, tuple(one.right for one in compared))
