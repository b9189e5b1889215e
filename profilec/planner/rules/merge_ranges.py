"""merge_ranges: all that one AND or OR asks of one scalar, as one set of values."""

from __future__ import annotations

from collections.abc import Sequence

from profilec.grammar import ir
from profilec.planner.scalar_conditions import condition_of, only_scalar, value_set
from profilec.planner.wants import join


def merge_ranges(node: ir.Condition) -> ir.Condition:
    """
        a > 1 AND a > 2                  a > 2
        a < 1 AND a > 2                  FALSE
        a = 1 OR a = 2 OR a = 'x'        a IN (1, 2, 'x')
        a IN (1, 5, 9) AND a < 6         a IN (1, 5)
        a < 3 OR a BETWEEN 2 AND 7       a <= 7
        a != 1 AND a != 2                a NOT IN (1, 2)
        a = 1 AND a IS NULL              FALSE

    NULL: a set holds the values, NULL and arrays among them, for which the operands are TRUE; AND
    is intersection and OR is union, exactly. `a < 1 OR a >= 1` is the set of numbers, not TRUE: a
    string and NULL are not in it. FALSE for "no value" is a fold that only TRUE allows: `a < 1
    AND a > 2` is UNKNOWN where a is absent. ANY and ALL ask several values, and are not touched.

    What is asked of one scalar becomes one operand (or several, of an AND in an AND), in the
    place of the first. Where that takes more leaves than are there, they stay.

    >>> a = ir.attribute("a")
    >>> merge_ranges(ir.Or((ir.Compare("=", a, ir.constant(2)), ir.Compare("=", a, ir.constant(1))))).options
    (Constant(<class 'int'>, 1), Constant(<class 'int'>, 2))
    """
    connective: type[ir.And] | type[ir.Or] = type(node)  # type: ignore[assignment]
    operands: tuple[ir.Condition, ...] = node.operands  # type: ignore[attr-defined]
    groups: dict[ir.Scalar, list[ir.Condition]] = {}
    n_asking = 0
    for operand in operands:
        scalar = only_scalar(operand)
        if scalar is not None:
            n_asking += 1
            groups.setdefault(scalar, []).append(operand)
    if len(groups) == n_asking:
        return node
    merged: dict[ir.Condition, Sequence[ir.Condition]] = {}
    for scalar, group in groups.items():
        if len(group) > 1:
            of_group = node if len(group) == len(operands) else connective(tuple(group))
            instead = condition_of(scalar, value_set(of_group), of_group)
            if instead is not of_group and _n_leaves(instead) <= _n_leaves(of_group):
                merged.update((operand, ()) for operand in group)
                merged[group[0]] = instead.operands if type(instead) is connective else (instead,)
    if not merged:
        return node
    rewritten: list[ir.Condition] = []
    for operand in operands:
        rewritten.extend(merged.get(operand, (operand,)))
        merged[operand] = ()
    return join(connective, rewritten)


def _n_leaves(node: ir.Condition) -> int:
    count = 0
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if type(node) is ir.And or type(node) is ir.Or:
            waiting.extend(node.operands)
        else:
            count += 1
    return count
