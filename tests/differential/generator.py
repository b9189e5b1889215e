"""Worlds: Hypothesis builds the conditions first, then documents that lie on and beside their constants.

A fifth of all values at least are NULL (absent, None or NaN). Where a world is `tabular`, its
documents keep to the types of `pools.TYPES`; elsewhere an attribute holds what it likes. Where a
world has an `sql` engine, its conditions keep to what that engine says in the same words and with
the same meaning.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeAlias

from aim import aim
from declared import with_store_kept
from hypothesis import strategies as st
from pools import (
    ALL_NUMBERS,
    BIG,
    BOOLEANS,
    CASED,
    DATES,
    DAYS,
    DECIMALS,
    DOUBLES,
    ESCAPED,
    HUGE_INTEGERS,
    INTEGERS,
    ISO_TEXTS,
    MIXED,
    MOMENTS,
    NUMBERS,
    ODD_KINDS,
    PATTERNS,
    REGEXES,
    SMALL,
    STRINGS,
    TEXTS,
    TIMESTAMPS,
    TYPES,
    near,
)
from structures import (
    Alike,
    Arithmetic,
    Bare,
    Between,
    CastTo,
    Column,
    Comparison,
    Condition,
    Conjunction,
    Contains,
    Disjunction,
    Document,
    Elements,
    Function,
    Given,
    Is,
    It,
    Minus,
    Negation,
    Null,
    OneOf,
    Quantified,
    Records,
    Regex,
    Scalar,
    Shift,
    Truth,
    World,
    walk,
)

OPERATORS = ("=", "<", "<=", ">", ">=", "!=")
# Kinds of the columns that each scope has.
DOCUMENT = {"number": NUMBERS, "string": STRINGS, "boolean": BOOLEANS, "date": DATES, "timestamp": TIMESTAMPS}
ITEM = {"number": ("qty",), "string": ("sku",)}
PART = {"number": ("w",), "string": ("name",)}


Number: TypeAlias = Callable[[int, int], int]
"""Draws a number between two, both included; `random.Random.randint` is one."""


class Maker:
    """Makes one world. `visible` are the variables in scope with the kinds of their columns."""

    def __init__(self, number: Number, focus: str | None = None) -> None:
        self.number = number
        engines = (None, None, None, "sqlite", "duckdb") if focus in (None, "joins") else (None,)
        self.sql: str | None = self.pick(engines)
        self.tabular = self.sql is not None or self.chance(40)
        self.schema = self.chance(30)
        # Some worlds are about one thing, so that rare meetings (LOWER with İ, a month's end) do happen.
        self.focus: str | None = focus or self.pick((None, "calls", "text", "calls"))
        self.visible: dict[str | None, dict[str, tuple[str, ...]]] = {None: self.columns_of_document()}
        self.quantified = False
        # Of each scope and kind, the column that this condition speaks of most: rules merge what is asked of one.
        self.hot: dict[tuple[str | None, str], Column] = {}

    def pick(self, options: Iterable[Any]) -> Any:
        """One of them; shrinks to the first."""
        listed = tuple(options)
        return listed[self.number(0, len(listed) - 1)]

    def chance(self, percent: int) -> bool:
        """True in so many cases of a hundred; shrinks to False."""
        return self.number(1, 100) > 100 - percent

    def weighted(self, **weights: int) -> str:
        return self.pick([name for name, weight in weights.items() for _ in range(weight)])

    # Scalars.

    def columns_of_document(self) -> dict[str, tuple[str, ...]]:
        if self.sql:
            kinds = ("number", "string", "boolean") if self.sql == "sqlite" else tuple(DOCUMENT)
            return {kind: tuple(name for name in DOCUMENT[kind] if name != "cost") for kind in kinds}
        return DOCUMENT if self.tabular or self.schema else {**DOCUMENT, "mixed": MIXED}

    def kind(self) -> str:
        if self.focus == "text" and self.chance(75):
            return "string"
        if self.focus == "calls" and not self.sql and self.chance(75):
            return self.pick(("number", "number", "date", "string", "timestamp"))
        kinds = {kind for columns in self.visible.values() for kind in columns}
        return self.pick([kind for kind in ("number", "string", "number", *DOCUMENT, "mixed") if kind in kinds])

    def column(self, kind: str) -> Scalar:
        scopes = [variable for variable, columns in self.visible.items() if kind in columns]
        if not scopes:
            return self.literal(kind)
        variable = self.pick(reversed(scopes))
        if (variable, kind) in self.hot and self.chance(50):
            return self.hot[variable, kind]
        if variable is None and not self.sql and self.chance(10):
            dotted = {"string": ("user", "name"), "date": ("user", "address", "since")}.get(kind)
            if dotted:
                return Column(dotted)
            if kind == "number" and not self.schema:
                return Column(("a.b",), quoted=True) if self.chance(50) else Column(("a", "b"))
        column = Column((self.pick(self.visible[variable][kind]),), variable)
        self.hot.setdefault((variable, kind), column)
        return column

    def literal(self, kind: str) -> Given:
        if self.chance(3):
            return Given(None)
        match kind:
            case "number":
                return Given(self.number_literal())
            case "string":
                return Given(self.text())
            case "boolean":
                return Given(self.chance(50))
            case "date":
                return Given(self.pick(DAYS))
            case "timestamp":
                return Given(self.pick(MOMENTS))
        return Given(self.pick(ODD_KINDS)) if self.chance(50) else self.literal(self.pick(tuple(DOCUMENT)))

    def largest_integer(self) -> int:
        """DuckDB compares integers with doubles as doubles, also in `price + 9`; SQLite cannot add to a greater one."""
        return {None: 2**63 - 1, "sqlite": BIG + 1, "duckdb": BIG - 10}[self.sql]

    def text(self) -> str:
        return self.pick(CASED if self.focus == "text" and self.chance(60) else TEXTS)

    def number_literal(self) -> Any:
        if self.focus == "calls" and not self.sql and self.chance(60):
            return self.pick(SMALL)
        if self.sql:
            whole = [number for number in INTEGERS if abs(number) <= self.largest_integer()]
            return self.pick([*whole, *(Decimal(repr(number)) for number in DOUBLES if abs(number) < BIG)])
        return self.pick([*INTEGERS, *DECIMALS, *HUGE_INTEGERS, Decimal("0.1000000000000000000001"), Decimal("1E+22")])

    def scalar(self, kind: str, depth: int = 1) -> Scalar:
        if depth == 0 or not self.chance({"calls": 80, "text": 40}.get(self.focus or "", 25)):
            return self.column(kind) if self.chance(75) else self.literal(kind)
        if self.chance(20):
            return Function("COALESCE", (self.column(kind), self.literal(kind)))
        if self.sql:
            return self.sql_call(kind)
        return self.call(kind, depth - 1)

    def call(self, kind: str, depth: int) -> Scalar:
        match kind:
            case "number":
                return self.number_call(depth)
            case "string":
                if self.chance(20):
                    return CastTo(self.scalar(self.pick(("number", "boolean", "date", "timestamp")), 0), "STRING")
                if self.chance(50):
                    start, length = Given(self.number(-1, 3)), Given(self.number(0, 3))
                    return Function("SUBSTR", (self.scalar(kind, depth), start, length)[: self.pick((2, 3))])
                return Function(self.pick(("LOWER", "UPPER", "TRIM")), (self.scalar(kind, depth),))
            case "boolean":
                return CastTo(self.scalar(self.pick(("string", "number")), 0), "BOOLEAN")
            case "date" | "timestamp":
                if self.chance(20):
                    return CastTo(self.scalar(self.pick(("date", "timestamp", "string")), 0), kind.upper())
                seconds = self.pick((0, 3600, -1)) if kind == "timestamp" else 0
                months, days = self.pick((1, 0, -1, 12, -13)), self.pick((0, 0, 1, -1, 30))
                return Shift(self.scalar(kind, depth), self.pick("+-"), months, days, seconds)
        return self.column(kind)

    def number_call(self, depth: int) -> Scalar:
        match self.weighted(arithmetic=6, minus=1, length=1, abs=1, round=2, cast=2):
            case "arithmetic":
                right = Given(self.pick(SMALL)) if self.chance(60) else self.scalar("number", depth)
                return Arithmetic(self.pick("+-*//%%"), self.scalar("number", depth), right)
            case "minus":
                return Minus(self.scalar("number", depth))
            case "length":
                return Function("LENGTH", (self.scalar("string", depth),))
            case "abs":
                return Function("ABS", (self.scalar("number", depth),))
            case "round":
                digits = (Given(self.number(-2, 3)),) if self.chance(60) else ()
                return Function("ROUND", (self.scalar("number", depth), *digits))
        return CastTo(self.scalar(self.pick(("string", "number", "boolean")), 0), self.pick(("NUMBER", "INTEGER")))

    def sql_call(self, kind: str) -> Scalar:
        """What SQLite and DuckDB compute as profilec does: small integers exactly, doubles as doubles."""
        if kind == "string":
            return Function("SUBSTR", (self.column(kind), Given(self.number(1, 3)), Given(self.number(0, 3))))
        if kind != "number":
            return self.column(kind)
        if self.chance(30):
            return Function("LENGTH", (self.column("string"),))
        column = self.column(kind)
        if isinstance(column, Column) and column.parts[0] in ("price", "last"):
            return Arithmetic(self.pick("+-"), column, Given(self.number(0, 9)))
        return Arithmetic(self.pick("+-*"), column, Given(Decimal(self.pick(("1.5", "0.1")))))

    # Predicates.

    def whole_condition(self, depth: int) -> Condition:
        self.hot = {}
        return self.condition(depth)

    def condition(self, depth: int) -> Condition:
        if depth == 0 or self.chance(35):
            return self.predicate(depth)
        match self.weighted(all=6, any=6, negation=4, is_=3):
            case "all":
                return Conjunction(tuple(self.condition(depth - 1) for _ in range(self.number(2, 3))))
            case "any":
                return Disjunction(tuple(self.condition(depth - 1) for _ in range(self.number(2, 3))))
            case "negation":
                return Negation(self.condition(depth - 1))
        return Is(self.condition(depth - 1), self.pick((True, False, None)), self.chance(50))

    def predicate(self, depth: int) -> Condition:
        if self.sql:
            kind = self.weighted(simple=16, truth=1, quantified=4)
        else:
            kind = self.weighted(simple=16, truth=1, elements=3, records=2, quantified=4)
        inside = any(variable is not None for variable in self.visible)
        if kind == "truth":
            return Truth(self.pick((True, False, None)))
        if kind == "elements":
            return self.elements(depth)
        if kind == "records" and len(self.visible) < 3 and not self.quantified:
            return self.records(depth)
        if kind == "quantified" and not inside:
            return self.quantifier(depth)
        kind = self.kind()
        return self.simple(kind, self.scalar(kind))

    def simple(self, kind: str, operand: Scalar) -> Condition:
        """A predicate of `operand`."""
        shapes = {"compare": 8, "between": 2, "chain": 1, "one_of": 3, "null": 2}
        if kind in ("string", "mixed"):
            shapes |= {"alike": 5, "regex": 3} if self.sql != "sqlite" else {"alike": 5}
        if kind in ("boolean", "mixed") and isinstance(operand, Column):
            shapes["bare"] = 4
        match self.weighted(**shapes):
            case "bare" if isinstance(operand, Column):
                return Bare(operand)
            case "null":
                return Null(operand, self.chance(50))
            case "between":
                return Between(operand, self.other(kind), self.other(kind), self.chance(40))
            case "chain":
                low, high = self.other(kind), self.other(kind)
                return Comparison((low, operand, high), (self.pick(OPERATORS), self.pick(OPERATORS)))
            case "one_of":
                options = tuple(self.other(kind) for _ in range(self.pick((1, 2, 3, 4, 2, 3, 12))))
                return OneOf(operand, options, self.chance(40))
            case "alike":
                return self.alike(operand)
            case "regex":
                return Regex(operand, self.pick(REGEXES), self.chance(30))
        other = self.other(kind)
        if kind == "number" and isinstance(operand, Arithmetic | Function) and not self.sql and self.chance(70):
            other = Given(self.pick(SMALL))
        sides = (operand, other)
        return Comparison(sides if self.chance(70) else sides[::-1], (self.pick(OPERATORS),))

    def other(self, kind: str) -> Scalar:
        """What an operand is compared with: mostly a literal of its kind."""
        if not self.sql and self.chance(6):
            return self.literal("mixed")
        return self.literal(kind) if self.chance(75) else self.scalar(kind, 0)

    def alike(self, operand: Scalar) -> Condition:
        ignore_case, negated = not self.sql and self.chance(50 if self.focus == "text" else 25), self.chance(35)
        if self.chance(25):
            pattern, escape = self.pick(ESCAPED)
            return Alike(operand, Given(pattern), escape, ignore_case, negated)
        if not self.sql and self.chance(10):
            return Alike(operand, self.column("string"), self.pick((None, "!")), ignore_case, negated)
        pattern = self.pick(CASED if ignore_case else PATTERNS)
        if self.chance(30):
            pattern = self.pick(("%{}", "{}%", "%{}%", "{}_")).format(self.pick(TEXTS))
        return Alike(operand, Given(pattern), None, ignore_case, negated)

    # Arrays and earlier documents.

    def elements(self, depth: int) -> Condition:
        # An array of the new document, of the earlier one, or of the innermost record.
        variable = self.pick(reversed(self.visible))
        owner = self.visible[variable]
        if owner is PART:
            variable, owner = None, self.visible[None]
        if owner is ITEM:
            name, kind = self.pick(((("parts", "name"), "string"), (("parts", "w"), "number")))
        else:
            arrays = [(("tags",), "string"), (("scores",), "number"), (("days",), "date"), (("items", "sku"), "string")]
            if not self.schema:
                arrays += [(("mixed",), "mixed"), (("brand",), "string"), (("items", "parts", "w"), "number")]
            name, kind = self.pick(arrays)
        array = Column(name, variable)
        if self.chance(15):
            return Contains(array, self.other(kind), self.chance(20))
        operand: Scalar = It()
        if self.chance(15) and kind in ("string", "number"):
            operand = Function("LOWER" if kind == "string" else "ABS", (It(),))
        return Elements(self.pick(("ANY", "ALL")), array, self.simple(kind, operand))

    def records(self, depth: int) -> Condition:
        outer = self.visible
        inside = "i" in outer
        array = Column(("parts",), "i") if inside else Column(("items",))
        variable = "p" if inside else "i"
        self.visible = {**outer, variable: PART if inside else ITEM}
        body = self.condition(max(depth - 1, 1))
        self.visible = outer
        return Records(self.pick(("ANY", "ALL")), array, variable, body)

    def quantifier(self, depth: int) -> Condition:
        outer, self.quantified = self.visible, True
        self.visible = {**outer, "d": outer[None]}
        where = self.condition(self.number(0, 1)) if self.chance(25) else None
        body = self.condition(self.number(0, max(depth, 1)))
        within = (self.pick((0, 1, 29, 30)), ("sold_at",)) if self.sql != "sqlite" and self.chance(20) else None
        last = self.number(1, 3) if self.chance(40) else None
        self.visible, self.quantified = outer, False
        return Quantified(self.pick(("EXISTS", "FORALL")), "d", body, where, within, last)

    # Documents.

    def document(self, constants: dict[str, list[Any]]) -> Document:
        document: dict[str, Any] = {}
        for kind, columns in self.visible[None].items():
            for name in columns:
                self.fill(document, name, self.cell(kind, name, constants))
        if not self.sql:
            self.nested(document, constants)
        return document

    def fill(self, document: dict[str, Any], name: str, value: Any) -> None:
        if value is not None or self.chance(40):
            document[name] = value

    def cell(self, kind: str, name: str, constants: dict[str, list[Any]]) -> Any:
        if self.chance(25):
            return math.nan if kind == "number" and not self.sql and self.takes(name, math.nan) else None
        close = [value for constant in constants.get(name, ()) for value in near(constant) if self.takes(name, value)]
        if close and self.chance(65):
            return self.pick(close)
        return self.any_value(kind, name)

    def any_value(self, kind: str, name: str) -> Any:
        if not self.tabular and (kind == "mixed" or self.chance(8)):
            kind = self.pick((*DOCUMENT, "array", "record"))
        match kind:
            case "number":
                pool = SMALL if self.focus == "calls" and self.chance(70) else ALL_NUMBERS
                return self.pick([number for number in pool if self.takes(name, number)] or [None])
            case "string":
                return self.text()
            case "boolean":
                return self.chance(50)
            case "date" | "timestamp":
                moments: Any = DAYS if kind == "date" else MOMENTS
                return self.pick(ISO_TEXTS) if not self.tabular and self.chance(40) else self.pick(moments)
            case "array":
                return self.pick(([], [None], ["a", 1, None], [True], [{"sku": "a"}]))
        return self.pick(({}, {"b": 1}, {"name": "a", "address": {"city": "b"}}))

    def takes(self, name: str, value: Any) -> bool:
        """Whether the column may hold the value: any, unless it is a column of a table."""
        if not self.tabular:
            return True
        match value:
            case bool():
                return name in BOOLEANS
            case int():
                return name in ("price", "last", "qty") and abs(value) <= self.largest_integer()
            case float():
                fits = not self.sql or (math.isfinite(value) and (self.sql == "sqlite" or abs(value) <= BIG))
                return name in ("weight", "größe", "w", "scores") and fits
            case Decimal():
                places = value.as_tuple().exponent
                return name == "cost" and isinstance(places, int) and -10 <= places <= 0 and abs(value) < 10**20
            case str():
                return name in (*STRINGS, "sku", "name", "tags") and "\0" not in value
        return name in (TIMESTAMPS if hasattr(value, "hour") else (*DATES, "days"))

    def nested(self, document: dict[str, Any], constants: dict[str, list[Any]]) -> None:
        for name, kind in (("tags", "string"), ("scores", "number"), ("days", "date")):
            self.fill(document, name, self.array(lambda name=name, kind=kind: self.cell(kind, name, constants)))
        self.fill(document, "items", self.array(lambda: self.item(constants)))
        if self.chance(60):
            user: dict[str, Any] = {"name": self.cell("string", "name", constants)}
            if self.chance(60):
                user["address"] = {"since": self.cell("date", "day", constants)}
            document["user"] = user
        if not self.tabular and self.chance(30):
            # A flat key of a dotted name hides the path; one that holds NULL does not.
            document[self.pick(("user.name", "a.b", "items.sku"))] = self.cell("mixed", "a.b", constants)
        if not self.tabular and self.chance(30):
            document["a"] = {"b": self.cell("number", "a.b", constants)}

    def array(self, element: Callable[[], Any]) -> Any:
        if self.chance(25):
            return None
        return [element() for _ in range(self.number(0, 2))]

    def item(self, constants: dict[str, list[Any]]) -> Any:
        if self.chance(10):
            return None if self.tabular else self.pick((None, 1, "a", [], {}))
        item: dict[str, Any] = {}
        self.fill(item, "sku", self.cell("string", "sku", constants))
        self.fill(item, "qty", self.cell("number", "qty", constants))
        if self.chance(50):
            part = {"name": self.cell("string", "name", constants), "w": self.cell("number", "w", constants)}
            item["parts"] = [part, None][: self.number(0, 2)]
        return item


def constants_of(conditions: tuple[Condition, ...]) -> dict[str, list[Any]]:
    """By the last part of each attribute's name: the literals of the predicates that it stands in."""
    constants: dict[str, list[Any]] = {}
    for condition in conditions:
        for node in walk(condition):
            if isinstance(node, Comparison | Between | OneOf | Alike | Contains | Elements):
                columns = {part.parts[-1] for part in walk(node) if isinstance(part, Column)}
                values = [part.value for part in walk(node) if isinstance(part, Given) and part.value is not None]
                for column in columns:
                    constants.setdefault(column, []).extend(values)
    return constants


def make_world(number: Number, focus: str | None = None) -> World:
    """A few conditions, a few documents for them, and a way to hand them over."""
    maker = Maker(number, focus)
    conditions = tuple(maker.whole_condition(maker.pick((0, 1, 0, 1, 2, 3))) for _ in range(maker.number(1, 6)))
    constants = constants_of(conditions)
    documents = tuple(maker.document(constants) for _ in range(maker.number(1, 3)))
    has_join = any(isinstance(node, Quantified) for node in walk(conditions))
    earlier = tuple(maker.document(constants) for _ in range(maker.number(0, 4))) if has_join else ()
    rules = maker.pick(("all", "none", "half"))
    half, style = maker.number(0, 2**16), maker.number(0, 2**16)
    n_more_conditions, n_more_documents = maker.number(0, 16), maker.number(0, 16)
    # Hypothesis takes its time for each draw: most of a world is drawn from a number that it drew.
    maker.number = random.Random(style).randint
    conditions += tuple(maker.whole_condition(maker.pick((0, 0, 1, 2))) for _ in range(n_more_conditions))
    constants = constants_of(conditions)
    documents += tuple(maker.document(constants) for _ in range(n_more_documents))
    if any(isinstance(node, Quantified) for node in walk(conditions)):
        earlier += tuple(maker.document(constants) for _ in range(maker.number(0, 5)))
    if not maker.sql:
        conditions = aim(conditions, documents, TYPES if maker.schema else None, style)
    world = World(
        conditions,
        documents,
        earlier,
        maker.schema,
        maker.tabular,
        maker.sql,
        half if rules == "half" else rules,
        style,
    )
    return with_store_kept(world)


@st.composite
def worlds(draw: Callable[[Any], Any]) -> World:
    """Worlds that Hypothesis draws, and shrinks."""
    return make_world(lambda low, high: draw(st.integers(low, high)))
