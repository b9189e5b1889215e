"""remove_duplicates: each operand once."""

from __future__ import annotations

from profilec.grammar import ir
from profilec.planner.wants import join


def remove_duplicates(node: ir.Condition) -> ir.Condition:
    """
        p AND q AND p     p AND q
        p OR q OR p       p OR q

    NULL: the minimum and the maximum of a truth with itself are that truth. Equal operands are
    one node, so this is a set of identities; the first of them keeps its place.

    >>> p, q = (ir.Compare("=", ir.attribute(name), ir.constant(1)) for name in "pq")
    >>> remove_duplicates(ir.Or((p, q, p))) is ir.Or((p, q))
    True
    """
    operands = node.operands  # type: ignore[attr-defined]
    once = dict.fromkeys(operands)
    return node if len(once) == len(operands) else join(type(node), list(once))  # type: ignore[arg-type]
