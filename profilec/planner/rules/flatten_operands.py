"""flatten_operands: AND in AND, OR in OR."""

from __future__ import annotations

from profilec.grammar import ir


def flatten_operands(node: ir.Condition) -> ir.Condition:
    """
        p AND (q AND r)     p AND q AND r
        p OR (q OR r)       p OR q OR r

    NULL: AND and OR are minimum and maximum over FALSE < UNKNOWN < TRUE, which associate.
    Nests of any depth are opened at once, and one that stands twice only once: p AND p is p.

    >>> p, q, r = (ir.Compare("=", ir.attribute(name), ir.constant(1)) for name in "pqr")
    >>> flatten_operands(ir.And((p, ir.And((q, r))))) is ir.And((p, q, r))
    True
    """
    connective = type(node)
    operands = node.operands  # type: ignore[attr-defined]
    if connective not in [type(operand) for operand in operands]:
        return node
    flat: list[ir.Condition] = []
    opened: set[ir.Condition] = set()
    waiting: list[ir.Condition] = [*reversed(operands)]
    while waiting:
        operand = waiting.pop()
        if type(operand) is not connective:
            flat.append(operand)
        elif operand not in opened:
            opened.add(operand)
            waiting.extend(reversed(operand.operands))  # type: ignore[attr-defined]
    return connective(tuple(flat)) if len(flat) > 1 else flat[0]
