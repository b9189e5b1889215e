"""cancel_complements: signs of one leaf that exclude, exhaust or imply each other."""

from __future__ import annotations

from profilec.grammar import ir
from profilec.planner.wants import Want, is_two_valued, join, split
from profilec.values.compare import NEGATED_OPERATOR

_T, _F, _NT, _NF = (1 << want for want in (Want.TRUE, Want.FALSE, Want.NOT_TRUE, Want.NOT_FALSE))
_EXCLUDE = (_T | _F, _T | _NT, _F | _NF)
_EXHAUST = (_T | _NT, _F | _NF, _NT | _NF)
# In an AND a sign is needless beside a stronger one, in an OR beside a weaker one.
_WEAK_TO_STRONG = {_NF: _T, _NT: _F}
_STRONG_TO_WEAK = {_T: _NF, _F: _NT}
_BASE_OPERATORS = ("=", "<", "<=")


def cancel_complements(node: ir.Condition) -> ir.Condition:
    """
        p AND NOT p                      FALSE
        p AND (p IS NOT TRUE)            FALSE
        p AND (p IS NOT FALSE)           p
        p OR (p IS NOT TRUE)             TRUE
        (p IS NOT TRUE) OR (p IS NOT FALSE)     TRUE
        p OR (p IS NOT FALSE)            p IS NOT FALSE

    NULL: each sign wants a set of truths, and these are unions and intersections of such sets.
    `p OR NOT p` stays: it is UNKNOWN where p is. Only of a leaf that is never UNKNOWN is it TRUE.
    `a < b` and `a >= b` are TRUE and FALSE of one leaf.

    >>> p = ir.Like(ir.attribute("a"), ir.constant("x%"), None, False)
    >>> cancel_complements(ir.And((p, ir.Not(p)))), cancel_complements(ir.Or((p, ir.Not(p)))) is ir.Or((p, ir.Not(p)))
    (Literal(False), True)
    """
    if len({_unsigned(operand) for operand in node.operands}) == len(node.operands):  # type: ignore[attr-defined]
        return node  # PERF: no leaf is here twice
    is_and = type(node) is ir.And
    signs: dict[ir.Condition, int] = {}
    placed: list[tuple[ir.Condition, int]] = []
    for operand in node.operands:  # type: ignore[attr-defined]
        leaf, sign = _leaf_and_sign(operand)
        placed.append((leaf, sign))
        signs[leaf] = signs.get(leaf, 0) | sign
    for leaf, held in signs.items():
        decided = is_two_valued(leaf) or any(held & both == both for both in (_EXCLUDE if is_and else _EXHAUST))
        if decided and held & (held - 1):
            return ir.FALSE if is_and else ir.TRUE
    needless = _WEAK_TO_STRONG if is_and else _STRONG_TO_WEAK
    kept = [
        operand
        for operand, (leaf, sign) in zip(node.operands, placed, strict=True)  # type: ignore[attr-defined]
        if not signs[leaf] & needless.get(sign, 0)
    ]
    return node if len(kept) == len(placed) else join(type(node), kept)  # type: ignore[arg-type]


def _unsigned(operand: ir.Condition) -> object:
    """The same for all signs of one leaf (and for other comparisons of the same two scalars)."""
    leaf = operand.operand if type(operand) is ir.Not else operand
    if type(leaf) is ir.IsTruth:
        leaf = leaf.operand
    return (leaf.left, leaf.right) if type(leaf) is ir.Compare else leaf


def _leaf_and_sign(operand: ir.Condition) -> tuple[ir.Condition, int]:
    leaf, want = split(operand)
    if type(leaf) is ir.Compare and leaf.operator not in _BASE_OPERATORS:
        base = ir.Compare(NEGATED_OPERATOR[leaf.operator], leaf.left, leaf.right)
        return base, _F if want is Want.TRUE else _NF
    return leaf, 1 << want
