"""absorb_terms: what a weaker or stronger neighbour makes needless."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice

from profilec.grammar import ir
from profilec.planner.wants import join

# PERF: subset tests that one node may cost, per term. Terms that all share their rarest part would
# need all pairs; beyond the budget they stay, which is right, only longer.
_TESTS_PER_TERM = 16


def absorb_terms(node: ir.Condition) -> ir.Condition:
    """
        p OR (p AND q)                   p
        p AND (p OR q)                   p
        (p AND q) OR (p AND q AND r)     p AND q

    NULL: the laws of absorption hold for minimum and maximum over FALSE < UNKNOWN < TRUE.

    Each operand is the set of its parts (a leaf: of itself), and goes where another's is a subset
    of it. Each set is filed under its rarest part, so one is tested only against sets filed under
    a part of its own.

    >>> p, q = (ir.Compare("=", ir.attribute(name), ir.constant(1)) for name in "pq")
    >>> absorb_terms(ir.Or((ir.And((p, q)), p))) is p
    True
    """
    connective = type(node)
    inner = ir.Or if connective is ir.And else ir.And
    operands: tuple[ir.Condition, ...] = node.operands  # type: ignore[attr-defined]
    if inner not in [type(operand) for operand in operands]:
        return node
    # The order within a set is no order to rely on (the budget makes it matter); that of the operands is.
    terms = [operand.operands if type(operand) is inner else (operand,) for operand in operands]
    flat = [*chain.from_iterable(terms)]
    if len(set(flat)) == len(flat):
        return node  # PERF: no part is here twice
    frequency = Counter(flat)
    parts = [frozenset(term) for term in terms]
    filed: dict[ir.Condition, list[int]] = {}
    for at, term in enumerate(terms):
        filed.setdefault(min(term, key=frequency.__getitem__), []).append(at)
    budget = _TESTS_PER_TERM * len(terms)
    kept: list[ir.Condition] = []
    for at, term in enumerate(terms):
        candidates = (other for part in term for other in filed.get(part, ()))
        absorbed = False
        for other in islice(candidates, max(budget, 0)):
            budget -= 1
            # Of two terms with the same parts the first stays.
            if parts[other] <= parts[at] and (len(parts[other]) < len(parts[at]) or other < at):
                absorbed = True
                break
        if not absorbed:
            kept.append(operands[at])
    return node if len(kept) == len(operands) else join(connective, kept)  # type: ignore[arg-type]
