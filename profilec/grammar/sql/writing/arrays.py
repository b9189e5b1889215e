"""ANY and ALL to SQL.

DuckDB       CASE over LEN(LIST_FILTER(array, LAMBDA element: body)): its lambdas know no third truth
Spark        EXISTS(array, element -> body), FORALL(array, element -> body), which do
PostgreSQL   value operator ANY(array), for a body that is one comparison of the element
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.writing.forms import Writing, column, refused
from profilec.grammar.sql.writing.scalars import write_scalar
from profilec.values.compare import MIRRORED_OPERATOR
from profilec.values.kinds import Kind

_COMPARISONS = {
    "=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip
WriteCondition = Callable[[ir.Condition, Writing], exp.Expr]


def write_quantified(node: ir.Some | ir.Every, writing: Writing, write_body: WriteCondition) -> exp.Expr:
    """The predicate over the array's elements; `write_body` writes what is asked of each."""
    writing.need("arrays", "ANY and ALL")
    type_ = writing.type_of(node.array)
    if type_ is not None and writing.schema is not None and writing.schema.field(".".join(node.array.parts)) is None:
        raise refused("ANY and ALL over a path through records", "declare the array itself")
    array = column(node.array, writing)
    if writing.name == "PostgreSQL":
        return _by_operator(node, array, writing)
    element = _fresh(node, writing)
    body = write_body(node.body, writing.within(node.array, element))
    some = isinstance(node, ir.Some)
    if writing.name in ("Spark", "Databricks"):
        return exp.Anonymous(this="EXISTS" if some else "FORALL", expressions=[array, _lambda(element, body)])
    decided = body if some else exp.Not(this=exp.Paren(this=body.copy()))
    unknown = exp.Is(this=exp.Paren(this=body.copy()), expression=exp.Null())
    case = exp.Case()
    for when, then in (
        (exp.Is(this=array.copy(), expression=exp.Null()), exp.Null()),
        (_any_left(array, element, decided), exp.Boolean(this=some)),
        (_any_left(array, element, unknown), exp.Null()),
    ):
        case.append("ifs", exp.If(this=when, true=then))
    case.set("default", exp.Boolean(this=not some))
    return exp.Paren(this=case)


def _by_operator(node: ir.Some | ir.Every, array: exp.Expr, writing: Writing) -> exp.Expr:
    element = ir.Attribute(ir.ELEMENT + len(writing.arrays), ())
    match node.body:
        case ir.Compare(operator, left, right) if left is element and not _names(right, element):
            operator, other = MIRRORED_OPERATOR[operator], right
        case ir.Compare(operator, other, right) if right is element and not _names(other, element):
            pass
        case _:
            raise refused("PostgreSQL asks of any element no more than one comparison")
    inner = writing.within(node.array, "")
    if inner.kind(element) is Kind.STRING and operator not in ("=", "!="):
        raise refused("PostgreSQL orders the strings of an array by its collation")
    wide = writing.schema is None and isinstance(other, ir.Constant)
    value = write_scalar(other, writing, wide=wide)
    over = exp.Paren(this=array)
    quantified = exp.Any(this=over) if isinstance(node, ir.Some) else exp.All(this=over)
    return _COMPARISONS[operator](this=value, expression=quantified)


def _any_left(array: exp.Expr, element: str, body: exp.Expr) -> exp.Expr:
    left = exp.Anonymous(this="LIST_FILTER", expressions=[array.copy(), _lambda(element, body)])
    return exp.GT(this=exp.Anonymous(this="LEN", expressions=[left]), expression=exp.Literal.number(0))


def _lambda(element: str, body: exp.Expr) -> exp.Expr:
    return exp.Lambda(this=body, expressions=[exp.to_identifier(element)])


def _names(node: ir.Node, attribute: ir.Attribute) -> bool:
    return node is attribute or any(_names(child, attribute) for child in ir.children(node))


def _fresh(node: ir.Node, writing: Writing) -> str:
    """A name for the element that no column has, as far as columns are known, and no element around."""
    taken = {*writing.elements, *_first_names(node)}
    if writing.schema is not None:
        taken.update(declared.name.lower() for declared in writing.schema.fields)
    number = 0
    while (name := f"element{number or ''}") in taken:
        number += 1
    return name


def _first_names(node: ir.Node) -> set[str]:
    if isinstance(node, ir.Attribute):
        return {node.parts[0].lower()} if node.parts else set()
    return set().union(*map(_first_names, ir.children(node)))
