"""factor_common: what all alternatives share, stated once."""

from __future__ import annotations

from profilec.grammar import ir
from profilec.planner.wants import join


def factor_common(node: ir.Condition) -> ir.Condition:
    """
        (p AND q) OR (p AND r)      p AND (q OR r)
        (p OR q) AND (p OR r)       p OR (q AND r)

    NULL: minimum and maximum over FALSE < UNKNOWN < TRUE distribute over each other.

    Only parts that all operands have are taken out: there is one way to do that, it never
    makes a condition longer, and it gives an OR the access path of an AND. An operand that
    is nothing but the common part makes the others needless.

    >>> p, q, r = (ir.Compare("=", ir.attribute(name), ir.constant(1)) for name in "pqr")
    >>> factor_common(ir.Or((ir.And((p, q)), ir.And((p, r))))) is ir.And((p, ir.Or((q, r))))
    True
    """
    connective: type[ir.And] | type[ir.Or] = type(node)  # type: ignore[assignment]
    inner = ir.Or if connective is ir.And else ir.And
    operands: tuple[ir.Condition, ...] = node.operands  # type: ignore[attr-defined]
    common: dict[ir.Condition, None] | None = None
    for operand in operands:
        if type(operand) is not inner:
            return node
        common = dict.fromkeys(operand.operands if common is None else (p for p in operand.operands if p in common))
        if not common:
            return node
    assert common is not None
    rests = [[part for part in operand.operands if part not in common] for operand in operands]  # type: ignore[attr-defined]
    if not all(rests):
        return join(inner, list(common))
    return join(inner, [*common, join(connective, [join(inner, rest) for rest in rests])])
