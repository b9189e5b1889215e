"""Worlds of quantified joins: profiles that ask the earlier documents, and a store that comes and goes.

What `generator.py` makes seldom, these have always: keys, bounds and windows between two
documents, terms that differ in a constant only, and a store of few distinct values, so that groups
are large and windows are met at their edges. A world in a few has hundreds or thousands of
earlier documents.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
import random
from decimal import Decimal
from typing import Any

from declared import with_store_kept
from generator import OPERATORS, Maker, Number, constants_of
from hypothesis import strategies as st
from pools import BIG, CASED, DAYS, MOMENTS, ODD_KINDS, TEXTS
from structures import (
    Alike,
    Arithmetic,
    Between,
    Change,
    Column,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Document,
    Elements,
    Function,
    Given,
    It,
    Negation,
    OneOf,
    Plain,
    Quantified,
    Scalar,
    Shift,
    World,
    walk,
)

SIZES = (0, 0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40)
LARGE = (200, 300, 500, 1_000, 3_000)
WINDOWS = (1, 0, 7, 30)
"""Days of WITHIN."""
TICK = datetime.timedelta(microseconds=1)
CLOSE: list[list[Any]] = [
    [1, 1.0, Decimal("1.0"), 2],
    [BIG + 1, float(BIG), BIG, BIG - 1],
    [0.1, Decimal("0.1"), Decimal("0.1000000000000000000001"), 0.30000000000000004],
    [0, -0.0, Decimal("-0"), 5e-324],
    [10**30, 1e30, 2**63, -(2**63)],
    [1.5, Decimal("1.5"), -1.5, math.inf],
]
"""Numbers that are equal, or nearly, in different types."""
MANY_KINDS = ["a", True, 1, DAYS[0], MOMENTS[0], [1, "a"], None, math.nan]
MOST_ASKED = 4_000
"""Conditions times earlier documents times new ones: the judge is slow."""


class JoinMaker(Maker):
    """A maker of conditions that ask earlier documents, of which there are `size` at first."""

    def __init__(self, number: Number, size: int) -> None:
        super().__init__(number, "joins")
        self.size = size
        self.few = {kind: self.few_values(kind) for kind in self.visible[None]}
        if not self.tabular and self.chance(30):
            self.few = {kind: [*few, *MANY_KINDS] for kind, few in self.few.items()}
        self.percent_odd = self.pick((10, 0, 40))
        """Of a document's values: those that may be anything, NULL among them."""

    def few_values(self, kind: str) -> list[Any]:
        """The few values that most attributes of a kind have in this world."""
        match kind:
            case "number":
                few: list[Any] = list(range(self.pick((3, 10, 20))))
                if self.sql:
                    return [*few, *map(float, few), *self.pick(((), (0.1, 1.5), (1000, -1)))]
                return few if self.chance(40) else [*few[:3], *self.pick(CLOSE), *self.pick(CLOSE)]
            case "string":
                return [self.pick(CASED if self.chance(20) else TEXTS) for _ in range(self.pick((2, 5, 9)))]
            case "boolean":
                return [True, False]
            case "date":
                day = self.pick(DAYS)
                return [day - datetime.timedelta(days=days + late) for days in (*WINDOWS, 2) for late in (0, 1)]
            case "timestamp":
                now = self.pick(MOMENTS)
                edges = [now - datetime.timedelta(days=days) for days in (*WINDOWS, 2)]
                return [edge + late for edge in edges for late in (TICK, 0 * TICK, -TICK)]
        return [*ODD_KINDS, *CLOSE[0], math.nan, [1, "a"], ["a"], {"b": 1}]

    # Documents.

    def cell(self, kind: str, name: str, constants: dict[str, list[Any]]) -> Any:
        if self.chance(self.percent_odd):
            return super().cell(kind, name, constants)
        few = [value for value in self.few.get(kind, ()) if self.takes(name, value)]
        return self.pick(few) if few else super().cell(kind, name, constants)

    def crowd(self, n_documents: int, constants: dict[str, list[Any]]) -> tuple[Document, ...]:
        """Many documents are a few over and over, of which some have one value of their own: it may decide alone."""
        few = [self.document(constants) for _ in range(min(n_documents, self.pick((40, 40, 3, 1))))]
        percent_own = self.pick((100, 20, 1))
        kinds = {name: kind for kind, names in self.visible[None].items() for name in names}
        crowd = list(few)
        while len(crowd) < n_documents:
            name = self.pick(kinds)
            own = {name: self.cell(kinds[name], name, constants)} if self.chance(percent_own) else {}
            crowd.append({**self.pick(few), **own})
        for place in {0, len(crowd) - 1} if crowd and self.chance(60) else ():
            crowd[place] = self.document(constants)
        return tuple(crowd)

    def change(self, before: int, constants: dict[str, list[Any]]) -> Change:
        """Some of the store go: the oldest, the newest, any, or all. Some come: one, a few, or many."""
        size = self.size
        n_gone = self.pick((1, 0, 2, size // 2))
        any_ = tuple(self.number(-size, size) for _ in range(n_gone))
        deleted = self.pick((any_, tuple(range(n_gone)), tuple(range(-n_gone, 0)), any_, tuple(range(size + 9))))
        return Change(before, deleted, self.crowd(self.pick((0, 1, 2, 1, 12)), constants))

    # Literals: mostly values that documents have.

    def literal(self, kind: str) -> Given:
        few = [written(value) for value in self.few.get(kind, ())]
        few = [value for value in few if value is not None]
        return Given(self.pick(few)) if few and self.chance(75) else super().literal(kind)

    # Conditions.

    def predicate(self, depth: int) -> Condition:
        if self.quantified:
            return self.atom()
        is_outermost = len(self.visible) == 1
        return self.quantifier(depth) if is_outermost and self.chance(75) else super().predicate(depth)

    def quantifier(self, depth: int) -> Condition:
        outer, self.quantified = self.visible, True
        self.visible = {**outer, "d": outer[None]}
        body = self.body()
        where = self.body() if self.chance(25) else None
        timed = self.sql != "sqlite" and self.chance(25)
        within = (self.pick(WINDOWS), (self.pick(("sold_at", "day", "sold_at", "escape")),)) if timed else None
        last = max(1, self.pick((self.size, 1, 2, 3, self.size - 1, self.size + 1, self.size // 2)))
        self.visible, self.quantified = outer, False
        kind = self.pick(("EXISTS", "FORALL"))
        return Quantified(kind, "d", body, where, within, last if self.chance(25) else None)

    def body(self) -> Condition:
        match self.weighted(one=5, keyed=4, all=3, any=2, negation=1, general=2):
            case "one":
                return self.atom()
            case "keyed":
                keys = [self.joined("=") for _ in range(self.pick((1, 1, 2)))]
                rest = [
                    self.pick((self.bound, self.bound, self.constant, self.atom))() for _ in range(self.pick((1, 2)))
                ]
                return Conjunction(tuple(keys + rest if self.chance(70) else rest + keys))
            case "all":
                return Conjunction(tuple(self.atom() for _ in range(self.number(2, 4))))
            case "any":
                return Disjunction((self.atom(), self.body() if self.chance(30) else self.atom()))
            case "negation":
                return Negation(self.body() if self.chance(30) else self.atom())
        return self.condition(2)

    def atom(self) -> Condition:
        names = {"key": 4, "bound": 5, "differs": 1, "constant": 4, "derived": 2, "old": 2, "any": 3, "between": 2}
        match self.weighted(**names, **({} if self.sql else {"elements": 2, "pattern": 1})):
            case "key":
                return self.joined("=")
            case "bound":
                return self.bound()
            case "differs":
                return self.joined("!=")
            case "constant":
                return self.constant()
            case "derived":
                return self.derived()
            case "old":
                kind = self.joined_kind()
                return Comparison((self.side("d", kind), self.side("d", kind)), (self.pick(OPERATORS),))
            case "between":
                return self.between()
            case "elements":
                return self.joined_elements()
            case "pattern":
                return Alike(
                    self.side(None, "string"), self.side("d", "string"), None, self.chance(50), self.chance(30)
                )
        kind = self.joined_kind()
        return self.simple(kind, self.side(self.pick(("d", "d", None)), kind))

    def joined_kind(self) -> str:
        kinds = self.visible[None]
        return self.pick([kind for kind in ("number", "string", "number", "timestamp", *kinds) if kind in kinds])

    def side(self, variable: str | None, kind: str) -> Column:
        """An attribute of the earlier document or the new one: mostly the first of its kind."""
        names = self.visible[variable][kind]
        if kind == "string" and not self.sql and self.chance(5):
            return Column(("user", "name"), variable)
        return Column((names[0] if self.chance(60) else self.pick(names),), variable)

    def joined(self, operator: str) -> Condition:
        kind = self.joined_kind()
        sides = (self.side("d", kind), self.side(None, kind))
        return Comparison(sides if self.chance(70) else sides[::-1], (operator,))

    def bound(self) -> Condition:
        return self.joined(self.pick(("<", "<=", ">", ">=", "<", "!=")))

    def constant(self) -> Condition:
        kind = self.joined_kind()
        sides = (self.side("d", kind), self.literal(kind))
        return Comparison(sides if self.chance(70) else sides[::-1], (self.pick(OPERATORS),))

    def derived(self) -> Condition:
        kind = self.pick([kind for kind in ("number", "string", "number", "date") if kind in self.visible[None]])
        old, new = self.side("d", kind), self.side(None, kind)
        if kind == "number" and {old.parts[0], new.parts[0]} <= {"price", "last"} and self.chance(25):
            return Comparison((Arithmetic("-", old, new), self.literal(kind)), (self.pick(OPERATORS),))
        sides: tuple[Scalar, Scalar] = (self.computed(kind, old), new)
        if self.chance(40):
            sides = (old if self.chance(50) else sides[0], self.computed(kind, new))
        return Comparison(sides if self.chance(70) else sides[::-1], (self.pick(OPERATORS),))

    def computed(self, kind: str, column: Column) -> Scalar:
        """A derived attribute; for SQL, one that it computes alike."""
        whole = column.parts[0] in ("price", "last")
        if kind == "string":
            part = Function("SUBSTR", (column, Given(1), Given(self.number(1, 2))))
            return (
                part if self.sql else self.pick((part, *(Function(n, (column,)) for n in ("LOWER", "UPPER", "TRIM"))))
            )
        if kind == "date":
            return column if self.sql else Shift(column, self.pick("+-"), self.number(0, 1), self.number(0, 2), 0)
        moved = Arithmetic(self.pick("+-"), column, Given(self.number(1, 3)))
        if self.sql:
            return moved if whole else column
        return self.pick((moved, Function("ABS", (column,)), Arithmetic("%", column, Given(3)), moved))

    def between(self) -> Condition:
        """One document's value between two, or among some, of the other's and of literals."""
        kind = self.joined_kind()
        inner, outer = self.pick(((None, "d"), ("d", None)))
        others = [self.side(outer, kind) if self.chance(70) else self.literal(kind) for _ in range(self.number(2, 4))]
        match self.weighted(between=2, chain=2, one_of=2):
            case "between":
                return Between(self.side(inner, kind), others[0], others[1], self.chance(30))
            case "chain":
                operators = (self.pick(("<", "<=")), self.pick(("<=", "<", "!=")))
                return Comparison((others[0], self.side(inner, kind), others[1]), operators)
        return OneOf(self.side(inner, kind), tuple(others), self.chance(30))

    def joined_elements(self) -> Condition:
        """Some element of one document's array, and the other document's attribute."""
        inner, outer = self.pick((("d", None), (None, "d")))
        name, kind = self.pick((("tags", "string"), ("scores", "number")))
        body = Comparison((It(), self.side(outer, kind)), (self.pick(("=", "=", *OPERATORS)),))
        return Elements(self.pick(("ANY", "ANY", "ALL")), Column((name,), inner), body)

    # Profiles that share terms.

    def varied(self, node: Any) -> Any:
        """The same, with other literals where something is compared with them: a term of the same shape."""
        match node:
            case Comparison(operands, operators):
                return Comparison(tuple(map(self.another, operands)), operators)
            case Between(operand, low, high, negated):
                return Between(operand, self.another(low), self.another(high), negated)
            case tuple():
                return tuple(map(self.varied, node))
        if dataclasses.is_dataclass(node) and not isinstance(node, type):
            fields = {field.name: self.varied(getattr(node, field.name)) for field in dataclasses.fields(node)}
            return type(node)(**fields)
        return node

    def another(self, scalar: Scalar) -> Scalar:
        if not isinstance(scalar, Given) or scalar.value is None or self.chance(10):
            return scalar
        return self.literal(kind_of(scalar.value))

    def again(self, term: Condition) -> Condition:
        """A profile that asks a term which another asks too."""
        kind = self.kind()
        plain = self.simple(kind, self.column(kind))
        match self.weighted(alone=1, all=3, any=2, negation=1):
            case "alone":
                return term
            case "all":
                return Conjunction((plain, term))
            case "any":
                return Disjunction((plain, term))
        return Conjunction((plain, Negation(term)))

    def relatives(self, conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
        """More profiles: terms used again, and up to 50 that differ in their constants."""
        terms = [node for node in walk(conditions) if isinstance(node, Quantified)]
        more: list[Condition] = []
        if terms and self.chance(40):
            more += [self.again(self.pick(terms)) for _ in range(self.number(1, 3))]
        compared = [condition for condition in conditions if any(isinstance(part, Given) for part in walk(condition))]
        if compared and self.chance(40):
            condition = self.pick(compared)
            more += [self.varied(condition) for _ in range(self.pick((3, 8, 50)))]
        return tuple(more)


def written(value: Any) -> Plain:
    """A document's value as a literal; None where there is none."""
    match value:
        case float():
            return Decimal(repr(value)) if math.isfinite(value) else None
        case list() | dict():
            return None
        case Decimal():
            return value if value.is_finite() and not value.is_signed() else None
    return value  # type: ignore[no-any-return]


def kind_of(value: Plain) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | Decimal():
            return "number"
        case datetime.datetime():
            return "timestamp"
        case datetime.date():
            return "date"
    return "string"


def make_join_world(number: Number, sizes: tuple[int, ...] = SIZES) -> World:
    """Some profiles, a store, new documents for it, and what happens to the store between them."""
    size = sizes[number(0, len(sizes) - 1)]
    maker = JoinMaker(number, size)
    conditions = tuple(maker.whole_condition(maker.pick((0, 0, 1, 2))) for _ in range(maker.number(1, 6)))
    conditions += maker.relatives(conditions)
    conditions = conditions[: max(1, MOST_ASKED // max(size, 1))]
    most_documents = max(1, MOST_ASKED // (max(size, 1) * len(conditions)))
    constants = constants_of(conditions)
    earlier = maker.crowd(size, constants)
    documents: tuple[Document, ...] = ()
    for _ in range(min(maker.number(1, 8), most_documents)):
        # One that was asked before tells whether the answer changes with the store; one that is stored has equals.
        again = maker.pick([documents, (), earlier, ()])
        documents += (maker.pick(again) if again else maker.document(constants),)
    changes = tuple(maker.change(maker.number(0, len(documents) - 1), constants) for _ in range(maker.number(0, 3)))
    rules = maker.pick(("all", "none", maker.number(0, 2**16)))
    style, processed = maker.number(0, 2**16), maker.pick((0, 0, 1, 3))
    world = World(
        conditions,
        documents,
        earlier,
        maker.schema,
        maker.tabular,
        maker.sql,
        rules,
        style,
        changes,
        min(processed, len(documents)),
    )
    return with_store_kept(world)


def join_worlds() -> st.SearchStrategy[World]:
    """Worlds of which one in a dozen has a large store, each made from one number."""

    def world(seed: int) -> World:
        draw = random.Random(seed)
        return make_join_world(draw.randint, LARGE if draw.randrange(12) == 0 else SIZES)

    return st.integers(0, 2**32).map(world)
