"""SQL's predicates over arrays to ANY and ALL."""

from __future__ import annotations

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.reading.forms import (
    Read,
    Reading,
    arguments,
    read_scalar,
    reads_condition,
    refusal_of,
    unwrap,
)
from profilec.grammar.sql.reading.kinds import compare
from profilec.grammar.sql.reading.names import attribute_of, type_of
from profilec.grammar.sql.refusal import Refusal
from profilec.values.compare import MIRRORED_OPERATOR
from profilec.values.kinds import Kind

_ELEMENT = ir.Attribute(ir.ELEMENT, ())


def quantified(node: exp.Expr) -> tuple[str, exp.Expr] | None:
    """ANY and what it ranges over; None for any other node."""
    if isinstance(node, exp.Any | exp.All):
        (inner,) = arguments(node, "this")
        return type(node).__name__.upper(), unwrap(inner)
    if isinstance(node, exp.Anonymous) and node.name.upper() in ("ANY", "SOME", "ALL") and len(node.expressions) == 1:
        return "ALL" if node.name.upper() == "ALL" else "ANY", unwrap(node.expressions[0])
    return None


def read_quantified(
    operator: str, item_node: exp.Expr, word: str, over: exp.Expr, node: exp.Expr, reading: Reading
) -> ir.Condition:
    item = read_scalar(item_node, reading)
    join = ir.or_ if word == "ANY" else ir.and_
    if isinstance(over, exp.Array | exp.Tuple):
        return join([compare(operator, item, read_scalar(part, reading), node, reading) for part in over.expressions])
    if isinstance(over, exp.Select | exp.Subquery):
        raise refusal_of(over)
    array = _array(over, node, reading)
    # The element first, as one would write it; the operator turns round with it.
    body = compare(MIRRORED_OPERATOR[operator], _element(array, reading), item, node, reading)
    quantified = ir.Some(array, body) if word == "ANY" else ir.Every(array, body)
    if reading.traits.any_of_null == "unknown":
        return quantified
    if reading.traits.any_of_null == "empty":
        is_null = ir.IsNull(array)
        return ir.and_([ir.Not(is_null), quantified]) if word == "ANY" else ir.or_([is_null, quantified])
    raise Refusal(f"what {word} over an array means in {reading.dialect} is not known", None, node, "PC504")


@reads_condition(exp.ArrayContains)
def _read_array_contains(node: exp.Expr, reading: Reading) -> ir.Condition:
    array, item = arguments(node, "this", "expression")
    return read_list_contains(array, item, node, reading)


@reads_condition(exp.ArrayContainsAll)
def _read_contains_all(node: exp.Expr, reading: Reading) -> ir.Condition:
    """`tags @> ARRAY['x', 'y']`."""
    array, wanted = arguments(node, "this", "expression")
    if not isinstance(wanted, exp.Array) or not wanted.expressions:
        raise refusal_of(node)
    return ir.and_([read_list_contains(array, item, node, reading) for item in wanted.expressions])


def read_list_contains(array_node: exp.Expr, item_node: exp.Expr, node: exp.Expr, reading: Reading) -> ir.Condition:
    array = _array(unwrap(array_node), node, reading)
    item = read_scalar(item_node, reading)
    if not isinstance(item.scalar, ir.Constant) or item.kind is Kind.NULL:
        raise Refusal("an array asked for a value that is no constant", "write `a = ANY(array)`", node)
    some = ir.Some(array, compare("=", _element(array, reading), item, node, reading))
    if reading.traits.list_contains == "unknown":
        return some
    if reading.traits.list_contains == "false":
        # A NULL among the elements makes ANY UNKNOWN, and this function FALSE; an array that is NULL, both UNKNOWN.
        return ir.or_([ir.IsTruth(some, True), ir.and_([ir.IsNull(array), ir.UNKNOWN])])
    raise Refusal(f"what this function makes of NULLs in {reading.dialect} is not known", None, node, "PC504")


def _array(node: exp.Expr, whole: exp.Expr, reading: Reading) -> ir.Attribute:
    if not isinstance(node, exp.Column | exp.Dot):
        raise Refusal("an array that is no column", None, whole)
    attribute = attribute_of(node, reading)
    type_ = type_of(attribute, reading)
    if type_ is not None and type_.name != "ARRAY":
        raise Refusal(f"`{'.'.join(attribute.parts)}` is no array in the schema", None, node, "PC215")
    return attribute


def _element(array: ir.Attribute, reading: Reading) -> Read:
    type_ = type_of(array, reading)
    if type_ is None or type_.element is None:
        return Read(_ELEMENT)
    return Read(_ELEMENT, type_.element.kind, "integer" if type_.element.name == "INTEGER" else None)
