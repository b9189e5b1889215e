"""A normal form as conjunctions of intervals of keys: how the delta finds a profile.

In: a normal form. Out: `Lowered`: conjunctions of which at least one holds wherever the condition is TRUE, and whether
that is all that there is to say.

    a = 1 AND (b > 2 OR c LIKE '%x%')     a in 1..1, b in 3..     (keys: of a double, the next one is "more")
                                          a in 1..1               which is not exact: the pattern is left
    a >= 1 AND a < 3                      a in 1..2               as one test, which more documents fail than either

A leaf that keys do not decide (a pattern, a term, IS NULL, what holds on absence) is left out of its conjunction, and
so is an OR that would make too many of them. Whoever finds such a profile runs its condition. Quantified expressions
are left to segments, whose joins have indexes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from profilec.grammar import ir
from profilec.living.axes import HIGHEST, LOWEST, NO_CONSTANT, Axes, Axis
from profilec.planner.lower.programs import ProgramBuilder
from profilec.runtime.closed_intervals import Intervals, intersection
from profilec.runtime.program import Program
from profilec.runtime.store.order_keys import keys_beginning_with, order_key64
from profilec.values.kinds import Interval, Kind, kind_of
from profilec.values.patterns import LikePattern, parse_like
from profilec.values.types import Schema

MOST_CONJUNCTIONS = 16
"""Of a profile; an OR that makes more is left to whoever runs the condition."""


class Test(NamedTuple):
    """The key on an axis is in one of the intervals. A conjunction has one test of an axis at most."""

    axis: Axis
    intervals: Intervals


class Lowered(NamedTuple):
    """`is_exact`: the condition is TRUE exactly where a conjunction holds, of documents whose keys are exact."""

    conjunctions: list[list[Test]]
    is_exact: bool


_NESTING = frozenset({ir.Exists, ir.ForAll, ir.And, ir.Or, ir.Not, ir.IsTruth})
_MOST_KNOWN = 1_000
"""Leaves whose keys are remembered."""
_UNDECIDED = Lowered([[]], is_exact=False)


def has_joins(condition: ir.Condition) -> bool:
    """Whether it ranges over the earlier documents."""
    if type(condition) is ir.And and _NESTING.isdisjoint(map(type, condition.operands)):  # PERF: nearly always
        return False
    pending: list[ir.Node] = [condition]
    while pending:
        node = pending.pop()
        if type(node) is ir.Exists or type(node) is ir.ForAll:
            return True
        if isinstance(node, ir.And | ir.Or | ir.Not | ir.IsTruth):
            pending += ir.children(node)
    return False


class Lowering:
    """Lowers normal forms onto axes, under one schema."""

    def __init__(self, axes: Axes, schema: Schema | None) -> None:
        self._axes = axes
        self._known: dict[ir.Condition, Lowered] = {}
        self.programs = ProgramBuilder(schema)

    def lowered(self, normal_form: ir.Condition) -> Lowered:
        """The conjunctions of a condition without quantified expressions."""
        if type(normal_form) is ir.Literal:
            return Lowered([[]] if normal_form.truth is True else [], is_exact=True)
        if type(normal_form) is ir.And:
            return self._all_of(normal_form)
        if type(normal_form) is ir.Or:
            return self._any_of(normal_form)
        known = self._known.get(normal_form)
        if known is None:
            known = self._leaf(normal_form)
            if len(self._known) < _MOST_KNOWN:
                self._known[normal_form] = known
        return known

    def _all_of(self, node: ir.And) -> Lowered:
        conjunctions: list[list[Test]] = [[]]
        is_exact = True
        known = self._known.get
        for operand in node.operands:
            own = known(operand) or self.lowered(operand)
            if len(conjunctions) * len(own.conjunctions) > MOST_CONJUNCTIONS:
                is_exact = False
                continue
            is_exact &= own.is_exact
            if len(own.conjunctions) == 1:  # PERF: nearly always
                for conjunction in conjunctions:
                    conjunction.extend(own.conjunctions[0])
            else:
                conjunctions = [[*one, *other] for one, other in product(conjunctions, own.conjunctions)]
        return Lowered([found for one in conjunctions if (found := _by_axis(one)) is not None], is_exact)

    def _any_of(self, node: ir.Or) -> Lowered:
        conjunctions: list[list[Test]] = []
        is_exact = True
        for operand in node.operands:
            own = self.lowered(operand)
            conjunctions += own.conjunctions
            is_exact &= own.is_exact
        if len(conjunctions) > MOST_CONJUNCTIONS or not all(conjunctions):
            return _UNDECIDED
        return Lowered(conjunctions, is_exact)

    def _leaf(self, leaf: ir.Condition) -> Lowered:
        if type(leaf) is ir.Compare:  # PERF: to match a pattern takes longer
            right = leaf.right
            if type(right) is not ir.Constant or isinstance(right.value, Interval):
                return _UNDECIDED
            return self._compare(leaf.operator, leaf.left, right.value)
        match leaf:
            case ir.Like(text, ir.Constant(value=str(pattern)), escape, False):
                return self._like(text, parse_like(pattern, escape))
            case ir.In(item, options):
                return self._in(item, options, holds=True)
            case ir.Not(ir.In(item, options)):
                return self._in(item, options, holds=False)
        return _UNDECIDED

    def _compare(self, operator: str, left: ir.Scalar, value: Any) -> Lowered:
        kind = kind_of(value)
        if kind is Kind.NULL:
            return Lowered([], is_exact=True)
        if kind is Kind.STRING and operator in ("=", "!="):
            axis, number = self._axes.same(left, self._program(left), value)
            return _one(axis, [(number, number)] if operator == "=" else _but([number]))
        axis = self._axes.order(left, self._program(left), kind)
        _, key, is_exact = order_key64(value)
        if kind is Kind.STRING or not is_exact:
            return Lowered([[Test(axis, _around(operator, key))]], is_exact=False)
        return _one(axis, _exactly(operator, key))

    def _like(self, text: ir.Scalar, pattern: LikePattern) -> Lowered:
        """What begins with the pattern's beginning; the rest is not decided."""
        begins = pattern.elements[0] if pattern.elements else ""
        if not isinstance(begins, str) or not begins:
            return _UNDECIDED
        axis = self._axes.order(text, self._program(text), Kind.STRING)
        return Lowered([[Test(axis, [keys_beginning_with(begins)])]], is_exact=False)

    def _in(self, item: ir.Scalar, options: tuple[ir.Scalar, ...], *, holds: bool) -> Lowered:
        values: list[Any] = [option.value for option in options if type(option) is ir.Constant]
        kinds = {kind_of(value) for value in values}
        if len(values) < len(options) or len(kinds) != 1 or kinds & {Kind.NULL, Kind.OPAQUE}:
            return _UNDECIDED
        (kind,) = kinds
        if kind is Kind.STRING:
            keyed = [self._axes.same(item, self._program(item), value) for value in values]
            axis, points = keyed[0][0], sorted({number for _, number in keyed})
        else:
            keys = [order_key64(value) for value in values]
            if not all(key.is_exact for key in keys):
                return _UNDECIDED
            axis, points = self._axes.order(item, self._program(item), kind), sorted({key.key for key in keys})
        return _one(axis, [(point, point) for point in points] if holds else _but(points))

    def _program(self, scalar: ir.Scalar) -> Callable[[], Program]:
        return lambda: self.programs.program(scalar)


def _by_axis(tests: list[Test]) -> list[Test] | None:
    """The conjunction of some tests, one for each axis; None where no key is in all intervals of an axis."""
    if len({test.axis for test in tests}) == len(tests):
        return tests
    by_axis: dict[Axis, Intervals] = {}
    for axis, intervals in tests:
        by_axis[axis] = intersection(by_axis[axis], intervals) if axis in by_axis else intervals
    return [Test(*one) for one in by_axis.items()] if all(by_axis.values()) else None


def _one(axis: Axis, intervals: Intervals) -> Lowered:
    return Lowered([[Test(axis, intervals)]] if intervals else [], is_exact=True)


def _but(points: list[int]) -> Intervals:
    """All keys but these. (No constant has the key NO_CONSTANT, which they hold for.)"""
    intervals, low = [], LOWEST
    for point in points:
        if low <= point - 1:
            intervals.append((low, point - 1))
        low = point + 1
    return [*intervals, (low, HIGHEST)] if low <= HIGHEST else intervals


def _exactly(operator: str, key: int) -> Intervals:
    match operator:
        case "=":
            return [(key, key)]
        case "!=":
            return _but([key])
        case "<":
            return [(LOWEST, key - 1)] if key > LOWEST else []
        case "<=":
            return [(LOWEST, key)]
        case ">":
            return [(key + 1, HIGHEST)] if key < HIGHEST else []
    return [(key, HIGHEST)]


def _around(operator: str, key: int) -> Intervals:
    """Where a comparison with what has this key may hold: others have it too."""
    if operator == "=":
        return [(key, key)]
    if operator == "!=":
        return [(LOWEST, HIGHEST)]
    return [(LOWEST, key)] if operator in ("<", "<=") else [(key, HIGHEST)]


assert NO_CONSTANT < 0  # below all constants, so that `_but` holds for it
