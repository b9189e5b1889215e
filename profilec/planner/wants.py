"""Negation normal form: what is wanted of a condition, pushed down to its leaves.

In: a condition and a want. Out: a condition that is TRUE exactly where the first has the truth
wanted, made of And and Or over *signed leaves*:

    want         signed leaf                        mirrored by NOT    in other words
    TRUE         leaf                               FALSE
    FALSE        Not(leaf)                          TRUE
    NOT_TRUE     Not(IsTruth(leaf, True))           NOT_FALSE          FALSE or UNKNOWN
    NOT_FALSE    Not(IsTruth(leaf, False))          NOT_TRUE           TRUE or UNKNOWN

NULL: under three-valued logic "not TRUE" is not "FALSE", hence four wants and not two. A
comparison carries no Not: the FALSE of `a < 5` is `a >= 5` (UNKNOWN for the same values), its
NOT FALSE the NOT TRUE of `a >= 5`. A leaf that is never UNKNOWN has two wants only.

Invariant: a result holds TRUE or FALSE only as a whole, and never NULL. Only its TRUE matters,
so a fold that keeps TRUE alone is allowed on it (`a < 1 AND a > 2` to FALSE).

ANY and ALL stay leaves, bodies untouched. EXISTS and FORALL ask where their bodies are TRUE, so
a body (and a WHERE of the range) is pushed on its own, with the want TRUE.
"""

from __future__ import annotations

from enum import IntEnum

from profilec.grammar import ir
from profilec.values.compare import NEGATED_OPERATOR


class Want(IntEnum):
    """The truths wanted of a condition."""

    TRUE = 0
    FALSE = 1
    NOT_TRUE = 2
    NOT_FALSE = 3


MIRRORED = (Want.FALSE, Want.TRUE, Want.NOT_FALSE, Want.NOT_TRUE)
"""What is wanted of `c` where the index is wanted of NOT c."""
_POSITIVE = (True, False, False, True)
"""Whether TRUE fulfils the want."""
_TRUTHS: tuple[tuple[bool | None, ...], ...] = ((True,), (False,), (False, None), (True, None))

_PLAIN_LEAVES = frozenset((ir.Compare, ir.Like, ir.Matches, ir.IsNull, ir.Some, ir.Every))

Memo = dict[tuple[ir.Condition, Want | None], ir.Condition]


def fulfils(truth: bool | None, want: Want) -> bool:
    """Whether a truth is among those wanted."""
    return truth in _TRUTHS[want]


def is_two_valued(leaf: ir.Condition) -> bool:
    """Whether a leaf is never UNKNOWN."""
    return type(leaf) in (ir.IsNull, ir.Exists, ir.ForAll)


def signed(leaf: ir.Condition, want: Want) -> ir.Condition:
    """The signed leaf: TRUE where the leaf has the truth wanted. A Literal gives a Literal.

    >>> leaf = ir.Compare("<", ir.attribute("a"), ir.constant(5))
    >>> signed(leaf, Want.FALSE).operator, signed(leaf, Want.NOT_FALSE).operand.operand.operator
    ('>=', '>=')
    """
    if want is Want.TRUE and type(leaf) is not ir.Literal:
        return leaf
    kind = type(leaf)
    if kind is ir.Literal:
        return ir.TRUE if fulfils(leaf.truth, want) else ir.FALSE  # type: ignore[attr-defined]
    if is_two_valued(leaf):
        return leaf if _POSITIVE[want] else ir.Not(leaf)
    if kind is ir.Compare:
        if want is not Want.NOT_TRUE:
            leaf = ir.Compare(NEGATED_OPERATOR[leaf.operator], leaf.left, leaf.right)  # type: ignore[attr-defined]
        return leaf if want is Want.FALSE else ir.Not(ir.IsTruth(leaf, True))
    if want is Want.FALSE:
        return ir.Not(leaf)
    return ir.Not(ir.IsTruth(leaf, want is Want.NOT_TRUE))


def split(node: ir.Condition) -> tuple[ir.Condition, Want]:
    """Leaf and want of a signed leaf: the inverse of `signed`."""
    if type(node) is not ir.Not:
        return node, Want.TRUE
    inner = node.operand
    if type(inner) is ir.IsTruth:
        return inner.operand, Want.NOT_TRUE if inner.truth else Want.NOT_FALSE
    return inner, Want.FALSE


def join(connective: type[ir.And] | type[ir.Or], operands: list[ir.Condition]) -> ir.Condition:
    """And or Or of operands whose UNKNOWN is as good as FALSE, without TRUE and FALSE in it.

    >>> join(ir.And, [ir.TRUE, ir.Literal(False)]), join(ir.Or, [ir.TRUE, ir.FALSE])
    (Literal(False), Literal(True))
    """
    neutral, absorbing = (ir.TRUE, ir.FALSE) if connective is ir.And else (ir.FALSE, ir.TRUE)
    if absorbing in operands:
        return absorbing
    kept = [operand for operand in operands if operand is not neutral]
    if len(kept) < 2:
        return kept[0] if kept else neutral
    return connective(tuple(kept))


def push(node: ir.Condition, want: Want, memo: Memo) -> ir.Condition:
    """The condition in negation normal form that is TRUE where `node` has the truth wanted.

    `memo` keeps shared sub-conditions shared; start with an empty one.

    >>> a = ir.Compare("=", ir.attribute("a"), ir.constant(1))
    >>> push(ir.Not(ir.And((a, ir.IsTruth(a, True)))), Want.TRUE, {}).operands == (
    ...     signed(a, Want.FALSE), signed(a, Want.NOT_TRUE))
    True
    """
    if type(node) in _PLAIN_LEAVES:
        return signed(node, want)  # PERF: nearly all nodes
    if type(node) is ir.And or type(node) is ir.Or:
        found = memo.get((node, want))
        if found is None:
            # NOT TRUE of an AND: some operand is not TRUE. NOT FALSE of it: no operand is FALSE.
            connective = ir.And if (type(node) is ir.And) is _POSITIVE[want] else ir.Or
            operands: list[ir.Condition] = []
            for operand in node.operands:
                operands.append(push(operand, want, memo))  # noqa: PERF401 (a comprehension costs a frame)
            found = memo[node, want] = join(connective, operands)
        return found
    match node:
        case ir.Not(operand):
            return push(operand, MIRRORED[want], memo)
        case ir.IsTruth(operand, None):
            return _push_is_unknown(operand, _POSITIVE[want], memo)
        case ir.IsTruth(operand, truth):
            wanted = Want.TRUE if truth else Want.FALSE
            return push(operand, wanted if _POSITIVE[want] else Want(wanted + 2), memo)
        case ir.In(item, options) if any(type(option) is not ir.Constant for option in options):
            return push(ir.or_([ir.Compare("=", item, option) for option in options]), want, memo)
        case ir.Exists(body, scope) | ir.ForAll(body, scope):
            return signed(type(node)(push(body, Want.TRUE, memo), _push_scope(scope, memo)), want)
    return signed(node, want)


def _push_is_unknown(operand: ir.Condition, positive: bool, memo: Memo) -> ir.Condition:
    """IS UNKNOWN is "not TRUE and not FALSE"; FALSE of what never is UNKNOWN, so that a nest of it does not double."""
    if _never_unknown(operand, memo):
        return ir.FALSE if positive else ir.TRUE
    if positive:
        return join(ir.And, [push(operand, Want.NOT_TRUE, memo), push(operand, Want.NOT_FALSE, memo)])
    return join(ir.Or, [push(operand, Want.TRUE, memo), push(operand, Want.FALSE, memo)])


def _push_scope(scope: ir.Scope, memo: Memo) -> ir.Scope:
    if scope.where is None:
        return scope
    where = push(scope.where, Want.TRUE, memo)
    return ir.Scope(None if where is ir.TRUE else where, scope.within, scope.within_of, scope.last)


def _never_unknown(node: ir.Condition, memo: Memo) -> bool:
    match node:
        case ir.Literal(truth):
            return truth is not None
        case ir.Not(operand):
            return _never_unknown(operand, memo)
        case ir.And(operands) | ir.Or(operands):
            if (node, None) not in memo:
                answer = True
                for operand in operands:
                    answer = answer and _never_unknown(operand, memo)
                memo[node, None] = ir.Literal(answer)
            return memo[node, None] is ir.TRUE
    return type(node) is ir.IsTruth or is_two_valued(node)
