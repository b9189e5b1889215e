"""Empty ranges: the bounds that an AND sets on one value, with nothing between them.

In: the comparisons of an AND, those of ANDs directly inside it included. Out: the first one that
leaves nothing, with the one it contradicts. `a > 5 AND a < 1`, `a BETWEEN 5 AND 1`, `a = 1 AND a = 2`.
"""

from __future__ import annotations

from dataclasses import dataclass

from profilec.grammar import ir
from profilec.grammar.located import Located
from profilec.values.compare import MIRRORED_OPERATOR, order
from profilec.values.kinds import Interval, Kind, Value, kind_of


@dataclass(slots=True)
class _Bounds:
    """The greatest lower and least upper bound so far: value, whether it is itself excluded, and its place."""

    low: tuple[Value, bool, Located] | None = None
    high: tuple[Value, bool, Located] | None = None

    def contradiction(self) -> tuple[Located, Located] | None:
        if self.low is None or self.high is None:
            return None
        (low, low_open, low_at), (high, high_open, high_at) = self.low, self.high
        sign = order(low, high)
        empty = sign is not None and (sign > 0 or (sign == 0 and (low_open or high_open)))
        return (low_at, high_at) if empty else None


def empty_range(conjunction: Located) -> tuple[Located, Located] | None:
    """Two comparisons under an AND that cannot both be TRUE, in the order written; None where there are none.

    >>> from profilec.grammar.parse import parse_condition
    >>> [(at.start, at.end) for at in empty_range(parse_condition("a > 5 AND b = 1 AND a < 1"))]
    [(0, 5), (20, 25)]
    """
    bounds: dict[tuple[ir.Node, Kind], list[tuple[str, Value, Located]]] = {}
    for comparison in _comparisons(conjunction):
        bound = _bound(comparison.node)
        if bound is not None:
            scalar, operator, value = bound
            bounds.setdefault((scalar, kind_of(value)), []).append((operator, value, comparison))
    for found in bounds.values():
        contradiction = _contradiction(found) if len(found) > 1 else None
        if contradiction is not None:
            first, second = sorted(contradiction, key=lambda located: (located.start, located.end))
            return first, second
    return None


def _contradiction(bounds: list[tuple[str, Value, Located]]) -> tuple[Located, Located] | None:
    """The first comparison that leaves nothing of what the ones before it allow, with one of those."""
    mine = _Bounds()
    for operator, value, at in bounds:
        _narrow(mine, operator, value, at)
        found = mine.contradiction()
        if found is not None:
            return found
    return None


def _comparisons(conjunction: Located) -> list[Located]:
    found, waiting = [], [conjunction]
    while waiting:
        located = waiting.pop()
        if type(located.node) is ir.And:
            waiting.extend(reversed(located.parts))
        elif type(located.node) is ir.Compare:
            found.append(located)
    return found


def _bound(node: ir.Node) -> tuple[ir.Scalar, str, Value] | None:
    """A comparison with a constant, the constant on the right."""
    if not isinstance(node, ir.Compare) or node.operator == "!=":
        return None
    left, right = node.left, node.right
    if isinstance(right, ir.Constant) and not isinstance(left, ir.Constant):
        scalar, operator, value = left, node.operator, right.value
    elif isinstance(left, ir.Constant) and not isinstance(right, ir.Constant):
        scalar, operator, value = right, MIRRORED_OPERATOR[node.operator], left.value
    else:
        return None
    return None if value is None or isinstance(value, Interval) else (scalar, operator, value)


def _narrow(bounds: _Bounds, operator: str, value: Value, at: Located) -> None:
    is_open = operator in ("<", ">")
    if operator in ("=", ">", ">="):
        sign = 1 if bounds.low is None else order(value, bounds.low[0])
        if bounds.low is None or sign == 1 or (sign == 0 and is_open):
            bounds.low = (value, is_open, at)
    if operator in ("=", "<", "<="):
        sign = -1 if bounds.high is None else order(value, bounds.high[0])
        if bounds.high is None or sign == -1 or (sign == 0 and is_open):
            bounds.high = (value, is_open, at)
