"""Conditions about one scalar, as sets of values and back.

In: a signed leaf that asks one scalar about constants, or And/Or of such leaves. Out: the set of
the scalar's values for which it is TRUE; and from a set, the condition.

Invariant: `condition_of(scalar, value_set(c), c)` is TRUE for the same values as `c`, and of itself
gives itself. NULL: ANY and ALL ask many values at once, so they are never among these leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from profilec.grammar import ir
from profilec.planner import value_sets
from profilec.planner.value_sets import BOOLEAN, COMPARABLE, EMPTY, FULL, NULL, STRING, Cut, ValueSet
from profilec.planner.wants import Want, join, push, split
from profilec.values.compare import order_key
from profilec.values.kinds import kind_of


def asked_scalar(leaf: ir.Condition) -> ir.Scalar | None:
    """The scalar that a signed leaf asks about constants; None for every other condition."""
    if type(leaf) is ir.Not:
        leaf, _ = split(leaf)
    scalar: ir.Scalar
    if type(leaf) is ir.Compare:
        if type(leaf.right) is not ir.Constant:
            return None
        scalar = leaf.left
    elif type(leaf) is ir.In:
        for option in leaf.options:
            if type(option) is not ir.Constant:
                return None
        scalar = leaf.item
    elif type(leaf) is ir.IsNull:
        scalar = leaf.operand
    else:
        return None
    return None if type(scalar) is ir.Constant else scalar


def only_scalar(node: ir.Condition) -> ir.Scalar | None:
    """The one scalar that a whole condition asks about constants; None where there is no such one."""
    if type(node) is ir.And or type(node) is ir.Or:
        return _only_scalar_below(node)
    return asked_scalar(node)


@cache
def _only_scalar_below(node: ir.And | ir.Or) -> ir.Scalar | None:
    first = only_scalar(node.operands[0])
    if first is not None:
        for operand in node.operands:
            if only_scalar(operand) is not first:
                return None
    return first


def value_set(node: ir.Condition) -> ValueSet:
    """The values of its only scalar for which a condition is TRUE.

    >>> value_set(ir.Compare("<", ir.attribute("a"), ir.constant(5)))
    ((1,), (1, 5, 0))
    """
    if type(node) is ir.And or type(node) is ir.Or:
        return _value_set_below(node)
    if type(node) is not ir.Not:
        return _true_set(node)
    leaf, want = split(node)
    # NULL: NOT TRUE is the complement of TRUE; FALSE is not, except where UNKNOWN can't be.
    if want is Want.NOT_TRUE or type(leaf) is ir.IsNull:
        return value_sets.complement(_true_set(leaf))
    cuts = _false_set(leaf)
    return value_sets.complement(cuts) if want is Want.NOT_FALSE else cuts


@cache
def _value_set_below(node: ir.And | ir.Or) -> ValueSet:
    sets: list[ValueSet] = []
    for operand in node.operands:
        sets.append(value_set(operand))  # noqa: PERF401 (a comprehension costs a frame)
    return value_sets.intersection(sets) if type(node) is ir.And else value_sets.union(sets)


def forget() -> None:
    """Lets go of what was kept for the nodes met: it is for one normalization."""
    condition_of.cache_clear()
    _only_scalar_below.cache_clear()
    _value_set_below.cache_clear()


def _true_set(leaf: ir.Condition) -> ValueSet:
    if type(leaf) is ir.Compare:
        kind, value = _kind_and_value(leaf.right)
        return value_sets.of_comparison(leaf.operator, kind, value) if kind in COMPARABLE else EMPTY
    if type(leaf) is ir.In:
        # NULL: an option NULL makes nothing TRUE.
        return value_sets.of_points(point for point in map(_kind_and_value, leaf.options) if point[0] in COMPARABLE)
    if type(leaf) is ir.IsNull:
        return value_sets.of_kind(NULL)
    raise TypeError(f"no leaf over constants: {leaf!r}")


def _false_set(leaf: ir.Condition) -> ValueSet:
    """NULL: `x IN (…)` is FALSE only for a value that compares with every option: of their one kind."""
    if type(leaf) is not ir.In:
        raise TypeError(f"no leaf that carries NOT: {leaf!r}")
    kinds = {_kind_and_value(option)[0] for option in leaf.options}
    kind = min(kinds)
    if len(kinds) > 1 or kind not in COMPARABLE:
        return EMPTY
    return value_sets.intersection([value_sets.of_kind(kind), value_sets.complement(_true_set(leaf))])


def _kind_and_value(constant: ir.Scalar) -> tuple[int, Any]:
    value: Any = constant.value  # type: ignore[attr-defined]
    return kind_of(value).value, order_key(value)


@cache
def condition_of(scalar: ir.Scalar, cuts: ValueSet, source: ir.Condition) -> ir.Condition:
    """The condition about one scalar that is TRUE exactly for the values of a set, which `source` has described.

    IS NULL comes first, then points of all kinds, as one `=` or IN, then the ranges, kind by kind,
    with the points missing from a range as `!=` or NOT IN. A set that holds arrays and records,
    which no comparison reaches, is written as the NOT TRUE of its complement. "Any number" (date,
    timestamp) is `a < c OR a >= c` of the least such constant c in `source`.

    >>> a = ir.attribute("a")
    >>> either = ir.Or((ir.Compare("=", a, ir.constant(2)), ir.Compare("=", a, ir.constant(1))))
    >>> condition_of(a, value_set(either), either) is ir.In(a, (ir.constant(1), ir.constant(2)))
    True
    """
    if cuts in (EMPTY, FULL):
        return ir.TRUE if cuts else ir.FALSE
    if cuts[-1] == FULL[1]:
        return push(_positive(scalar, value_sets.complement(cuts), source), Want.NOT_TRUE, {})
    return _positive(scalar, cuts, source)


def _positive(scalar: ir.Scalar, cuts: ValueSet, source: ir.Condition) -> ir.Condition:
    alternatives: list[ir.Condition] = []
    points: list[ir.Constant] = []
    ranges: list[ir.Condition] = []
    for kind, own in _by_kind(cuts):
        if kind == NULL:
            alternatives.append(ir.IsNull(scalar))
        elif kind == BOOLEAN:
            points += [ir.constant(truth) for truth in (False, True) if _holds(own, truth)]
        else:
            for run in _runs(kind, own):
                if len(run) == 2 and _is_point(kind, *run):
                    points.append(ir.constant(run[1][1]))
                elif run == [*value_sets.of_kind(kind)]:
                    ranges += _any_of_kind(scalar, kind, source)
                else:
                    ranges.append(_range(scalar, kind, run))
    if points:
        alternatives.append(
            ir.In(scalar, tuple(points)) if len(points) > 1 else ir.Compare("=", scalar, points[0]),
        )
    return join(ir.Or, [*alternatives, *ranges])


def _by_kind(cuts: ValueSet) -> list[tuple[int, list[Cut]]]:
    """The set's cuts, parted at the borders between kinds."""
    parts: dict[int, list[Cut]] = {}
    for low, high in zip(cuts[::2], cuts[1::2], strict=True):
        for kind in range(low[0], high[0] + (len(high) > 1)):
            parts.setdefault(kind, []).extend((max(low, (kind,)), min(high, (kind + 1,))))
    return list(parts.items())


def _holds(cuts: list[Cut], truth: bool) -> bool:
    at = value_sets.before(BOOLEAN, truth)
    return sum(cut <= at for cut in cuts) % 2 == 1


def _runs(kind: int, cuts: list[Cut]) -> list[list[Cut]]:
    """The kind's intervals; those that only a point parts stay together, as one run with a hole."""
    runs: list[list[Cut]] = []
    for low, high in zip(cuts[::2], cuts[1::2], strict=True):
        last = runs[-1][-1] if runs else low
        if len(last) == 3 and last[2] == 0 and low == value_sets.after(kind, last[1]):
            runs[-1] += (low, high)
        else:
            runs.append([low, high])
    return runs


def _is_point(kind: int, low: Cut, high: Cut) -> bool:
    return len(high) == 3 and high[2] == 1 and low == value_sets.before(kind, high[1])


def _range(scalar: ir.Scalar, kind: int, run: list[Cut]) -> ir.Condition:
    low, high = run[0], run[-1]
    leaves: list[ir.Condition] = []
    holes = [ir.constant(cut[1]) for cut in run[1:-1:2]]
    if low == value_sets.after(STRING, ""):
        holes.insert(0, ir.constant(""))  # all strings but '' are rather `!= ''` than `> ''`
    elif len(low) == 3:
        leaves.append(ir.Compare(">" if low[2] else ">=", scalar, ir.constant(low[1])))
    if len(high) == 3:
        leaves.append(ir.Compare("<=" if high[2] else "<", scalar, ir.constant(high[1])))
    if holes:
        leaves.append(ir.Compare("!=", scalar, holes[0]) if len(holes) == 1 else ir.Not(ir.In(scalar, tuple(holes))))
    return join(ir.And, leaves)


def _any_of_kind(scalar: ir.Scalar, kind: int, source: ir.Condition) -> list[ir.Condition]:
    """The alternatives that together are TRUE for every value of the kind, and for no other."""
    if kind == STRING:
        return [ir.Compare(">=", scalar, ir.constant(""))]
    middle = ir.constant(min(value for its_kind, value in _constants_in(source) if its_kind == kind))
    return [ir.Compare("<", scalar, middle), ir.Compare(">=", scalar, middle)]


def _constants_in(condition: ir.Condition) -> Iterator[tuple[int, Any]]:
    waiting: list[ir.Node] = [condition]
    while waiting:
        node = waiting.pop()
        if type(node) is ir.Constant:
            yield _kind_and_value(node)
        else:
            waiting.extend(ir.children(node))
