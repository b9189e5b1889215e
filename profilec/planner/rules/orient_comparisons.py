"""orient_comparisons: the constant on the right, two attributes in one order."""

from __future__ import annotations

from profilec.grammar import ir
from profilec.planner.wants import signed, split
from profilec.values.compare import MIRRORED_OPERATOR


def orient_comparisons(node: ir.Condition) -> ir.Condition:
    """
        10 <= a     a >= 10
        b > a       a < b          attributes by document (new before old), then by name

    NULL: both sides are asked the same question, so the truth, UNKNOWN too, is the same.

    >>> orient_comparisons(ir.Compare("<=", ir.constant(10), ir.attribute("a"))).operator
    '>='
    """
    leaf, want = split(node)
    if type(leaf) is not ir.Compare:
        return node
    left, right = leaf.left, leaf.right
    if type(right) is ir.Constant:
        return node
    if type(left) is not ir.Constant:
        if type(left) is not ir.Attribute or type(right) is not ir.Attribute:
            return node
        if (left.scope, left.parts) <= (right.scope, right.parts):
            return node
    return signed(ir.Compare(MIRRORED_OPERATOR[leaf.operator], right, left), want)
