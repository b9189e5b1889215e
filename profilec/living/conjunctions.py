"""A condition as conjunctions of intervals of keys: how the delta finds a profile.

In: a normal form, or leaves with the values that they ask about, which need none. Out: `Lowered`: conjunctions of which
at least one holds wherever the condition is TRUE, and whether that is all that there is to say.

    a = 1 AND (b > 2 OR c LIKE '%x%')     a in 1..1, b in 3..     (keys: of a double, the next one is "more")
                                          a in 1..1               which is not exact: the pattern is left
    a >= 1 AND a < 3                      a in 1..2               as one test, which more documents fail than either

A leaf that keys do not decide (a pattern, a term, IS NULL, what holds on absence) is left out of its conjunction, and
so is an OR that would make too many of them. Whoever finds such a profile runs its condition. Quantified expressions
are left to segments, whose joins have indexes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from profilec.grammar import ir
from profilec.grammar.templates import Asks, Bound, Literals, Template
from profilec.living.axes import HIGHEST, LOWEST, NO_CONSTANT, Axes, Axis
from profilec.planner.lower.programs import ProgramBuilder
from profilec.planner.normalize import normalize
from profilec.runtime.closed_intervals import Intervals, intersection
from profilec.runtime.program import Program
from profilec.runtime.store.order_keys import key_of_number, keys_beginning_with, order_key64
from profilec.values.kinds import Interval, Kind, kind_of
from profilec.values.patterns import LikePattern, parse_like
from profilec.values.types import Schema

MOST_CONJUNCTIONS = 16
"""Of a profile; an OR that makes more is left to whoever runs the condition."""


Test: TypeAlias = tuple[Axis, Intervals]
"""The key on an axis is in one of the intervals. A conjunction has one test of an axis at most."""


class Lowered(NamedTuple):
    """`is_exact`: the condition is TRUE exactly where a conjunction holds, of documents whose keys are exact."""

    conjunctions: list[list[Test]]
    is_exact: bool


_NESTING = frozenset({ir.Exists, ir.ForAll, ir.And, ir.Or, ir.Not, ir.IsTruth})
_MOST_KNOWN = 1_000
"""Leaves whose keys are remembered."""
_MOST_LITERALS = 10_000
"""Literals of leaves of known shapes whose keys are."""
_UNDECIDED = Lowered([[]], is_exact=False)
Form: TypeAlias = ir.Condition | Bound
"""A normal form; or what has a known shape, and is the AND of its leaves."""
_Ask: TypeAlias = "Callable[[str], list[Test] | None]"
"""What a leaf asks about a literal, as a conjunction; None where that is more than one, or less exact than of others.
"""


class _Plan(NamedTuple):
    """How the leaves of a template are lowered: the tests of those without a slot; of the others, their slots, and what
    lowers them."""

    tests: list[Test]
    asks: list[tuple[int, _Ask]]
    is_exact: bool

    def lowered(self, literals: Literals) -> Lowered | None:
        """None where it is not as simple."""
        tests: list[Test] = []
        for slot, lower in self.asks:
            own = lower(literals[slot])
            if own is None:
                return None
            tests += own
        tests += self.tests  # last: what all profiles of a shape ask is what tells least
        found = _by_axis(tests)
        return Lowered([] if found is None else [found], self.is_exact)


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
        self._n_literals = 0
        self._plans: dict[Template, _Plan | None] = {}
        self.programs = ProgramBuilder(schema)

    def lowered(self, form: Form) -> Lowered:
        """The conjunctions of a condition without quantified expressions."""
        if type(form) is Bound:
            return self._bound(form)
        assert isinstance(form, ir.Condition)
        if type(form) is ir.Literal:
            return Lowered([[]] if form.truth is True else [], is_exact=True)
        if type(form) is ir.And:
            return _all_of([self.lowered(operand) for operand in form.operands])
        if type(form) is ir.Or:
            return self._any_of(form)
        known = self._known.get(form)
        if known is None:
            known = self._leaf(form)
            if len(self._known) < _MOST_KNOWN:
                self._known[form] = known
        return known

    def _bound(self, bound: Bound) -> Lowered:
        """That of its leaves, though one may follow from another: its normal form would leave that one out."""
        template = bound.template
        if template not in self._plans:
            self._plans[template] = self._plan(bound)
        plan = self._plans[template]
        own = None if plan is None else plan.lowered(bound.literals)
        return self.lowered(normalize(bound.condition())) if own is None else own

    def _plan(self, first: Bound) -> _Plan | None:
        """How what has the template of this one is lowered, with other values of the same kinds; None where a leaf is
        several conjunctions, or none."""
        assert first.template.leaves is not None
        tests: list[Test] = []
        asks: list[tuple[int, _Ask]] = []
        is_exact = True
        for leaf in first.template.leaves:
            if isinstance(leaf, Asks):
                value = leaf.read(first.literals[leaf.slot])
                asks.append((leaf.slot, self._ask(leaf, value)))
                is_exact &= _may_be_exact(leaf.operator, value)
                continue
            own = self.lowered(normalize(leaf))
            if len(own.conjunctions) != 1:
                return None
            tests += own.conjunctions[0]
            is_exact &= own.is_exact
        return _Plan(tests, asks, is_exact)

    def _ask(self, leaf: Asks, example: Any) -> _Ask:
        """What lowers a leaf with values such as the example."""
        scalar, operator, _, read = leaf
        if isinstance(example, int | float | Decimal):
            axis, intervals = self._axes.order(scalar, self._program(scalar), Kind.NUMBER), _EXACTLY[operator]

            def of_number(literal: str) -> list[Test] | None:
                key, is_exact = key_of_number(read(literal))
                return [(axis, intervals(key))] if is_exact else None

            return of_number
        is_list, holds = isinstance(example, tuple), operator in ("=", "IN")
        if operator in ("=", "!=") or (is_list and isinstance(example[0], str)):
            return self._ask_same(leaf, is_list=is_list, holds=holds)
        is_exact = _may_be_exact(operator, example)

        def of_value(literal: str) -> list[Test] | None:
            value = read(literal)
            if operator == "LIKE":
                own = self._like(scalar, parse_like(value, None))
            elif operator in ("IN", "NOT IN"):
                own = self._in_values(scalar, value, holds=operator == "IN")
            else:
                own = self._compare(operator, scalar, value)
            return own.conjunctions[0] if len(own.conjunctions) == 1 and own.is_exact == is_exact else None

        return of_value

    def _ask_same(self, leaf: Asks, *, is_list: bool, holds: bool) -> _Ask:
        axis, key_of = self._axes.same(leaf.scalar, self._program(leaf.scalar))
        read = leaf.read
        known: dict[str, list[Test]] = {}

        def of_strings(literal: str) -> list[Test] | None:
            own = known.get(literal)
            if own is None:
                values = read(literal) if is_list else (read(literal),)
                own = [(axis, _among(map(key_of, values), holds=holds))]
                if self._n_literals < _MOST_LITERALS:
                    self._n_literals += 1
                    known[literal] = own
            return own

        return of_strings

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
            return self._in_values(left, (value,), holds=operator == "=")
        axis = self._axes.order(left, self._program(left), kind)
        _, key, is_exact = order_key64(value)
        if kind is Kind.STRING or not is_exact:
            return Lowered([[(axis, _around(operator, key))]], is_exact=False)
        return _one(axis, _EXACTLY[operator](key))

    def _like(self, text: ir.Scalar, pattern: LikePattern) -> Lowered:
        """What begins with the pattern's beginning; the rest is not decided."""
        begins = pattern.elements[0] if pattern.elements else ""
        if not isinstance(begins, str) or not begins:
            return _UNDECIDED
        axis = self._axes.order(text, self._program(text), Kind.STRING)
        return Lowered([[(axis, [keys_beginning_with(begins)])]], is_exact=False)

    def _in(self, item: ir.Scalar, options: tuple[ir.Scalar, ...], *, holds: bool) -> Lowered:
        values: list[Any] = [option.value for option in options if type(option) is ir.Constant]
        return self._in_values(item, values, holds=holds) if len(values) == len(options) else _UNDECIDED

    def _in_values(self, item: ir.Scalar, values: Sequence[Any], *, holds: bool) -> Lowered:
        kinds = {kind_of(value) for value in values}
        if len(kinds) != 1 or kinds & {Kind.NULL, Kind.OPAQUE}:
            return _UNDECIDED
        (kind,) = kinds
        if kind is Kind.STRING:
            axis, key_of = self._axes.same(item, self._program(item))
            return _one(axis, _among(map(key_of, values), holds=holds))
        keys = [order_key64(value) for value in values]
        if not all(key.is_exact for key in keys):
            return _UNDECIDED
        axis = self._axes.order(item, self._program(item), kind)
        return _one(axis, _among((key.key for key in keys), holds=holds))

    def _program(self, scalar: ir.Scalar) -> Callable[[], Program]:
        return lambda: self.programs.program(scalar)


def _all_of(parts: list[Lowered]) -> Lowered:
    conjunctions: list[list[Test]] = [[]]
    is_exact = True
    for own in parts:
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


def _by_axis(tests: list[Test]) -> list[Test] | None:
    """The conjunction of some tests, one for each axis; None where no key is in all intervals of an axis."""
    if len(dict(tests)) == len(tests):
        return tests
    by_axis: dict[Axis, Intervals] = {}
    for axis, intervals in tests:
        by_axis[axis] = intersection(by_axis[axis], intervals) if axis in by_axis else intervals
    return list(by_axis.items()) if all(by_axis.values()) else None


def _may_be_exact(operator: str, value: Any) -> bool:
    """Whether a leaf of this operator and a value of this kind can be decided by keys."""
    return operator != "LIKE" and not (isinstance(value, str) and operator not in ("=", "!="))


def _one(axis: Axis, intervals: Intervals) -> Lowered:
    return Lowered([[(axis, intervals)]] if intervals else [], is_exact=True)


def _among(keys: Iterable[int], *, holds: bool) -> Intervals:
    """These keys, or all others."""
    points = sorted(set(keys))
    return [(point, point) for point in points] if holds else _but(points)


def _but(points: list[int]) -> Intervals:
    """All keys but these. (No constant has the key NO_CONSTANT, which they hold for.)"""
    intervals, low = [], LOWEST
    for point in points:
        if low <= point - 1:
            intervals.append((low, point - 1))
        low = point + 1
    return [*intervals, (low, HIGHEST)] if low <= HIGHEST else intervals


_EXACTLY: dict[str, Callable[[int], Intervals]] = {
    "=": lambda key: [(key, key)],
    "!=": lambda key: _but([key]),
    "<": lambda key: [(LOWEST, key - 1)] if key > LOWEST else [],
    "<=": lambda key: [(LOWEST, key)],
    ">": lambda key: [(key + 1, HIGHEST)] if key < HIGHEST else [],
    ">=": lambda key: [(key, HIGHEST)],
}
"""Where a comparison with what has a key holds, no other value having it."""


def _around(operator: str, key: int) -> Intervals:
    """Where a comparison with what has this key may hold: others have it too."""
    if operator == "=":
        return [(key, key)]
    if operator == "!=":
        return [(LOWEST, HIGHEST)]
    return [(LOWEST, key)] if operator in ("<", "<=") else [(key, HIGHEST)]


assert NO_CONSTANT < 0  # below all constants, so that `_but` holds for it
