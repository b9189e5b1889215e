"""Conditions of the IR to SQL conditions with the same three-valued meaning."""

from __future__ import annotations

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.letters import case_conflict
from profilec.grammar.sql.writing.arrays import write_quantified
from profilec.grammar.sql.writing.forms import Writing, refused, wrap
from profilec.grammar.sql.writing.numbers import form_of, meets_integers_only
from profilec.grammar.sql.writing.patterns import write_like, write_matches
from profilec.grammar.sql.writing.scalars import write_scalar
from profilec.values.compare import compare
from profilec.values.kinds import Interval, Kind, Truth

_COMPARISONS = {
    "=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip
_TRUE = ir.constant(True)
_LONGEST_CHAIN = 400


def write_condition(node: ir.Condition, writing: Writing) -> exp.Expr:
    """The condition in SQL.

    Raises:
        Refusal: the dialect has none with the same meaning.
    """
    match node:
        case ir.Literal(truth):
            return _truth(truth, writing)
        case ir.And() if (between := _between(node)) is not None:
            return _write_between(*between, writing)
        case ir.And(operands):
            return _join(exp.And, [write_condition(operand, writing) for operand in operands])
        case ir.Or(operands):
            return _join(exp.Or, [write_condition(operand, writing) for operand in operands])
        case ir.Not(operand):
            return exp.Not(this=_negated(write_condition(operand, writing)))
        case ir.IsTruth(operand, truth):
            return _is_truth(write_condition(operand, writing), truth, writing)
        case ir.Compare(operator, ir.Constant(_, left), ir.Constant(_, right)):
            if isinstance(left, Interval) or isinstance(right, Interval):
                raise refused("an interval by itself")
            return _truth(compare(operator, left, right), writing)
        case ir.Compare():
            return _compare(node, writing)
        case ir.In(item, options):
            sides = _sides("=", (item, *options), writing)
            return exp.In(this=_collated("=", sides, (item,), writing)[0], expressions=sides[1:])
        case ir.Like():
            return write_like(node, writing)
        case ir.Matches():
            return write_matches(node, writing)
        case ir.IsNull(operand):
            return exp.Is(this=wrap(write_scalar(operand, writing, wide=True)), expression=exp.Null())
        case ir.Some() | ir.Every():
            return write_quantified(node, writing, write_condition)
    raise refused("a quantifier over earlier documents has no place in a WHERE clause of one table")


def _truth(truth: Truth, writing: Writing) -> exp.Expr:
    if not writing.can("is_truth"):  # a dialect that may have no literal of it
        other = exp.Null() if truth is None else exp.Literal.number(int(truth))
        return exp.EQ(this=exp.Literal.number(1), expression=other)
    if truth is not None:
        return exp.Boolean(this=truth)
    return exp.cast(exp.Null(), "boolean") if writing.traits.booleans else exp.Null()


def _join(form: type[exp.And | exp.Or], operands: list[exp.Expr]) -> exp.Expr:
    """PERF: a chain to the left, which sqlglot writes without recursion; a long one in pieces.

    SQLite refuses an expression that is nested deeper than 1,000, as it takes a chain of as many operands to be.
    """
    while len(operands) > _LONGEST_CHAIN:
        pieces = [operands[at : at + _LONGEST_CHAIN] for at in range(0, len(operands), _LONGEST_CHAIN)]
        operands = [exp.Paren(this=_join(form, piece)) for piece in pieces]
    joined, *rest = [_operand(operand, form) for operand in operands]
    for operand in rest:
        joined = form(this=joined, expression=operand)
    return joined


def _operand(node: exp.Expr, form: type[exp.Expr]) -> exp.Expr:
    """A condition under AND or OR."""
    return exp.Paren(this=node) if isinstance(node, exp.Connector) and not isinstance(node, form) else node


def _negated(node: exp.Expr) -> exp.Expr:
    """A condition under NOT; dialects differ in how tightly NOT binds, so little stands there bare."""
    return exp.Paren(this=node) if isinstance(node, exp.Connector | exp.Not | exp.Between | exp.Binary) else node


def _is_truth(operand: exp.Expr, truth: Truth, writing: Writing) -> exp.Expr:
    if writing.can("is_truth"):
        test = exp.Null() if truth is None else exp.Boolean(this=truth)
        return exp.Is(this=operand if isinstance(operand, exp.Column) else exp.Paren(this=operand), expression=test)
    negated = exp.Not(this=exp.Paren(this=operand.copy()))
    conditions: list[exp.Expr] = [operand, negated] if truth is None else [operand] if truth else [negated]
    case = exp.Case()
    for condition in conditions:
        case.append("ifs", exp.If(this=condition, true=exp.Literal.number(0 if truth is None else 1)))
    case.set("default", exp.Literal.number(1 if truth is None else 0))
    return exp.EQ(this=case, expression=exp.Literal.number(1))


# Comparisons.


def _compare(node: ir.Compare, writing: Writing) -> exp.Expr:
    if node.operator == "=" and node.right is _TRUE and isinstance(node.left, ir.Attribute) and writing.traits.booleans:
        return write_scalar(node.left, writing)
    left, right = _sides(node.operator, (node.left, node.right), writing)
    left, right = _collated(node.operator, [left, right], (node.left, node.right), writing)
    return _COMPARISONS[node.operator](this=left, expression=right)


def _sides(operator: str, scalars: tuple[ir.Scalar, ...], writing: Writing) -> list[exp.Expr]:
    """What is compared, after all that could make a dialect compare it in another way."""
    kinds = {writing.kind(scalar) for scalar in scalars} - {Kind.NULL}
    if Kind.OPAQUE in kinds:
        raise refused("a comparison of a whole array or record, which is UNKNOWN here")
    if Kind.STRING in kinds:
        how = writing.traits.equality if operator in ("=", "!=") else writing.traits.ordering
        if how != "bytes" and not (writing.name == "PostgreSQL" and how is not None):
            raise refused(f"{writing.name} may compare strings by a collation; we do by code point")
        conflict = case_conflict(scalars, writing.traits, equality=operator in ("=", "!="))
        if conflict is not None:
            raise refused(conflict)
    if kinds == {None} and operator not in ("=", "!=") and writing.traits.ordering != "bytes":
        raise refused(
            f"{writing.name} orders strings by the column's collation, and these may be strings",
            "declare the attributes in a schema",
        )
    wide = Kind.NUMBER in kinds and meets_integers_only(scalars, writing)
    if Kind.NUMBER in kinds:
        conflict = case_conflict(scalars, writing.traits, equality=False)
        if conflict is not None:
            raise refused(conflict)
        for scalar in scalars:
            if writing.kind(scalar) is Kind.NUMBER:
                form_of(scalar, writing)
    return [write_scalar(scalar, writing, wide=wide) for scalar in scalars]


def _collated(operator: str, sides: list[exp.Expr], scalars: tuple[ir.Scalar, ...], writing: Writing) -> list[exp.Expr]:
    """An order of strings that is not by code point by default gets a collation that is."""
    ordered = operator not in ("=", "!=") and writing.traits.ordering != "bytes"
    if not ordered or Kind.STRING not in {writing.kind(scalar) for scalar in scalars}:
        return sides
    at = next(at for at, scalar in enumerate(scalars) if not isinstance(scalar, ir.Constant))
    sides[at] = exp.Collate(this=wrap(sides[at]), expression=exp.to_identifier("C", quoted=True))
    return sides


def _between(node: ir.And) -> tuple[ir.Scalar, ir.Scalar, ir.Scalar] | None:
    match node.operands:
        case (ir.Compare(">=", low_item, low), ir.Compare("<=", high_item, high)) if low_item is high_item:
            return (low_item, low, high) if not isinstance(low_item, ir.Constant) else None
    return None


def _write_between(item: ir.Scalar, low: ir.Scalar, high: ir.Scalar, writing: Writing) -> exp.Expr:
    sides = _sides(">=", (item, low, high), writing)
    item_node, low_node, high_node = _collated(">=", sides, (item, low, high), writing)
    return exp.Between(this=item_node, low=low_node, high=high_node)
