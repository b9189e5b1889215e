"""Random conditions over a typed table, and its rows: what SQL and we must agree on.

Every column has one type, a fifth of the values and more are NULL, constants come from the same
small pools as the values (so that they meet), and the texts hold the characters that dialects
treat in different ways.
"""

from __future__ import annotations

import datetime
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from profilec.grammar import ir
from profilec.values.dates import parse_date, parse_timestamp
from profilec.values.kinds import Interval
from profilec.values.types import Field, Schema, Type

STRINGS = ["", "a", "A", "ab", "aB", "abc", "a%b", "a_b", "a\\b", "50%", "é", "É", "ßa", "it's", "a\nb", " ab ",
           "b*[x]", "ab?", "ΔΔ", "😀a", "9", "true", "2024-01-31"]  # fmt: skip
INTEGERS = [-7, -1, 0, 1, 2, 3, 10, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1]
DOUBLES = [-7.5, -1.0, -0.5, 0.0, 0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 10.25, 1e15]
DATES = ["2024-01-31", "2024-02-29", "1969-12-31", "2023-12-31"]
TIMES = ["2024-01-31 00:00:00", "2024-01-31 00:00:00.5", "2024-02-29 23:59:59.999999", "1969-12-31 23:59:59"]
PATTERNS = [
    "a%",
    "%b",
    "%",
    "_",
    "a_b",
    "a!%b",
    "%!_%",
    "ab",
    "",
    "%a%b%",
    "é%",
    "%\\%",
    "%*%",
    "[%",
    "%?",
    "__",
    "%A%",
    "!!%",
]
REGEXES = [
    "a",
    "^a",
    "b$",
    "^a.b$",
    "a\\.b",
    "[a-c]+",
    "(a|b)b",
    "^$",
    "a{2}",
    "[^a]b",
    "\\d",
    "\\s",
    "é",
    "^[^ ]*$",
    "a|é",
]
_OPERATORS = ["=", "!=", "<", "<=", ">", ">="]
_SPANS = [
    Interval(1, 0, 0),
    Interval(0, 1, 0),
    Interval(-1, 2, 0),
    Interval(0, 0, 500_000_000),
    Interval(12, 0, 3_600 * 10**9),
]


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    values: list[Any]


COLUMNS = [
    Column("i", "INTEGER", INTEGERS), Column("j", "INTEGER", INTEGERS), Column("Order", "INTEGER", [1, 2, 3]),
    Column("x", "NUMBER", DOUBLES), Column("y", "NUMBER", DOUBLES),
    Column("s", "STRING", STRINGS), Column("name", "STRING", STRINGS),
    Column("f", "BOOLEAN", [True, False]), Column("g", "BOOLEAN", [True, False]),
    Column("d", "DATE", DATES), Column("e", "DATE", DATES),
    Column("ts", "TIMESTAMP", TIMES), Column("u", "TIMESTAMP", TIMES),
]  # fmt: skip
ARRAYS = [Column("tags", "STRING", STRINGS), Column("nums", "INTEGER", INTEGERS)]
RECORDS = Field(
    "items", Type("ARRAY", Type("RECORD", fields=(Field("sku", Type("STRING")), Field("q", Type("INTEGER")))))
)


def schema(*, arrays: bool) -> Schema:
    """The table's types."""
    fields = [Field(column.name, Type(column.type)) for column in COLUMNS]
    if arrays:
        fields += [Field(column.name, Type("ARRAY", Type(column.type))) for column in ARRAYS]
        fields.append(RECORDS)
    return Schema(tuple(fields))


def random_rows(rng: random.Random, n_rows: int, *, arrays: bool) -> list[dict[str, Any]]:
    """Documents; dates and timestamps as ISO strings, which the schema reads as such."""
    return [_random_row(rng, arrays) for _ in range(n_rows)]


def _random_row(rng: random.Random, arrays: bool) -> dict[str, Any]:
    row = {column.name: _or_null(rng, rng.choice(column.values)) for column in COLUMNS}
    if arrays:
        for column in ARRAYS:
            elements = [_or_null(rng, rng.choice(column.values)) for _ in range(rng.randrange(4))]
            row[column.name] = _or_null(rng, elements)
        records = [
            {"sku": _or_null(rng, rng.choice(STRINGS)), "q": _or_null(rng, rng.choice(INTEGERS))}
            for _ in range(rng.randrange(4))
        ]
        row["items"] = _or_null(rng, records)
    return row


def _or_null(rng: random.Random, value: Any) -> Any:
    return None if rng.random() < 0.25 else value


def as_python(column: Column, value: Any) -> Any:
    """The value as a database driver takes it."""
    if value is None or column.type not in ("DATE", "TIMESTAMP"):
        return value
    kind = datetime.date if column.type == "DATE" else datetime.datetime
    return kind.fromisoformat(value.replace(".5", ".500000"))


class Maker:
    """Makes conditions. `arrays` adds ANY and ALL."""

    def __init__(self, rng: random.Random, *, arrays: bool) -> None:
        self.rng = rng
        self.arrays = arrays
        self.element: Column | None = None

    def condition(self, depth: int = 3) -> ir.Condition:
        rng = self.rng
        if depth == 0 or rng.random() < 0.35:
            return self.predicate()
        match rng.randrange(6):
            case 0 | 1:
                return ir.and_([self.condition(depth - 1) for _ in range(rng.randrange(2, 4))])
            case 2 | 3:
                return ir.or_([self.condition(depth - 1) for _ in range(rng.randrange(2, 4))])
            case 4:
                return ir.Not(self.condition(depth - 1))
        return ir.IsTruth(self.condition(depth - 1), rng.choice([True, False, None]))

    def predicate(self) -> ir.Condition:
        rng = self.rng
        forms = (
            [self.comparison] * 5
            + [self.choice] * 2
            + [self.like] * 3
            + [self.regex, self.null, self.bare, self.literal]
        )
        if self.arrays:
            forms += [self.quantified] * 2
        return rng.choice(forms)()

    def column(self, type_: str) -> ir.Scalar:
        names = [column.name for column in COLUMNS if column.type == type_]
        return ir.Attribute(ir.NEW, (self.rng.choice(names),))

    def constant(self, type_: str) -> ir.Constant:
        rng = self.rng
        if rng.random() < 0.05:
            return ir.NULL
        match type_:
            case "INTEGER":
                return ir.constant(rng.choice([*INTEGERS, 5, 7]))
            case "NUMBER":
                return ir.constant(
                    rng.choice([Decimal("0.1"), Decimal("0.3"), Decimal("-7.5"), 2, 3, 0, Decimal("2.25")])
                )
            case "STRING":
                return ir.constant(rng.choice(STRINGS))
            case "BOOLEAN":
                return ir.constant(rng.choice([True, False]))
            case "DATE":
                return ir.constant(parse_date(rng.choice(DATES)))
        return ir.constant(parse_timestamp(rng.choice(TIMES)))

    def scalar(self, type_: str, depth: int = 2) -> ir.Scalar:
        rng = self.rng
        if depth == 0 or rng.random() < 0.6:
            return self.column(type_)
        match type_:
            case "INTEGER":
                return self.integer(depth - 1)
            case "NUMBER":
                return self.number(depth - 1)
            case "STRING":
                return self.string(depth - 1)
            case "BOOLEAN":
                return ir.Call("COALESCE", (self.column("BOOLEAN"), ir.constant(rng.random() < 0.5)))
        return self.time(type_, depth - 1)

    def integer(self, depth: int) -> ir.Scalar:
        rng = self.rng
        match rng.randrange(8):
            case 0 | 1:
                operands = (self.scalar("INTEGER", depth), ir.constant(rng.choice([1, 2, 3, -2])))
                return ir.Call(rng.choice("+-*%"), operands)
            case 2:
                return ir.Call(rng.choice("+-%"), (self.scalar("INTEGER", depth), self.scalar("INTEGER", depth)))
            case 3:
                return ir.Call("LENGTH", (self.scalar("STRING", depth),))
            case 4:
                return ir.Call(rng.choice(["ABS", "NEGATE"]), (self.scalar("INTEGER", depth),))
            case 5:
                return ir.Call("COALESCE", (self.scalar("INTEGER", depth), ir.constant(rng.choice([0, 5]))))
            case 6:
                return ir.Cast(self.scalar(rng.choice(["INTEGER", "NUMBER", "BOOLEAN"]), depth), "INTEGER")
        return ir.Call("ROUND", (self.scalar(rng.choice(["INTEGER", "NUMBER"]), depth),))

    def number(self, depth: int) -> ir.Scalar:
        rng = self.rng
        match rng.randrange(7):
            case 0 | 1:
                types = [rng.choice(["INTEGER", "NUMBER"]) for _ in range(2)]
                return ir.Call("/", (self.scalar(types[0], depth), self.scalar(types[1], depth)))
            case 2:
                return ir.Call("/", (self.scalar("NUMBER", depth), ir.constant(rng.choice([2, 3, Decimal("0.5")]))))
            case 3 | 4:
                return ir.Call(rng.choice("+-*%"), (self.scalar("NUMBER", depth), self.constant_or_column("NUMBER")))
            case 5:
                return ir.Call("COALESCE", (self.scalar("NUMBER", depth), ir.constant(rng.choice([0, Decimal("0.5")]))))
        return ir.Call("ROUND", (self.scalar("NUMBER", depth), ir.constant(rng.choice([0, 1]))))

    def constant_or_column(self, type_: str) -> ir.Scalar:
        return self.constant(type_) if self.rng.random() < 0.5 else self.column(type_)

    def string(self, depth: int) -> ir.Scalar:
        rng = self.rng
        inner = self.scalar("STRING", depth)
        match rng.randrange(6):
            case 0 | 1:
                return ir.Call(rng.choice(["LOWER", "UPPER", "TRIM"]), (inner,))
            case 2:
                return ir.Call(
                    "SUBSTR", (inner, ir.constant(rng.choice([-1, 0, 1, 2, 5])), ir.constant(rng.choice([0, 1, 3])))
                )
            case 3:
                return ir.Call("SUBSTR", (inner, ir.constant(rng.choice([0, 1, 2]))))
            case 4:
                return ir.Call("COALESCE", (inner, self.constant("STRING")))
        return ir.Cast(self.scalar(rng.choice(["STRING", "INTEGER", "BOOLEAN", "DATE"]), depth), "STRING")

    def time(self, type_: str, depth: int) -> ir.Scalar:
        rng = self.rng
        other = "TIMESTAMP" if type_ == "DATE" else "DATE"
        if rng.random() < 0.3:
            return ir.Cast(self.scalar(other, depth), type_)
        spans = [span for span in _SPANS if type_ == "TIMESTAMP" or not span.nanos]
        return ir.Call(rng.choice("+-"), (self.scalar(type_, depth), ir.constant(rng.choice(spans))))

    def any_type(self) -> str:
        return self.rng.choice(["INTEGER", "NUMBER", "STRING", "STRING", "BOOLEAN", "DATE", "TIMESTAMP"])

    def comparison(self) -> ir.Condition:
        rng = self.rng
        type_ = self.any_type()
        left = self.scalar(type_)
        right = self.constant(type_) if rng.random() < 0.6 else self.scalar(type_)
        if rng.random() < 0.2:
            left, right = right, left
        if rng.random() < 0.2:
            return ir.And((ir.Compare(">=", left, right), ir.Compare("<=", left, self.constant(type_))))
        return ir.Compare(rng.choice(_OPERATORS), left, right)

    def choice(self) -> ir.Condition:
        rng = self.rng
        type_ = self.any_type()
        options = tuple(self.constant(type_) for _ in range(rng.randrange(1, 4)))
        if rng.random() < 0.2:
            options = (*options, self.column(type_))
        return ir.In(self.scalar(type_), options)

    def like(self) -> ir.Condition:
        rng = self.rng
        pattern = rng.choice(PATTERNS)
        escape = "!" if "!" in pattern else None
        return ir.Like(self.scalar("STRING"), ir.constant(pattern), escape, rng.random() < 0.4)

    def regex(self) -> ir.Condition:
        return ir.Matches(self.scalar("STRING"), self.rng.choice(REGEXES))

    def null(self) -> ir.Condition:
        return ir.IsNull(self.scalar(self.any_type()))

    def bare(self) -> ir.Condition:
        return ir.Compare("=", self.column("BOOLEAN"), ir.constant(True))

    def literal(self) -> ir.Condition:
        return ir.Literal(self.rng.choice([True, False, None]))

    def quantified(self) -> ir.Condition:
        rng = self.rng
        word = rng.choice([ir.Some, ir.Every])
        if rng.random() < 0.3:
            sku, q = ir.Attribute(ir.ELEMENT, ("sku",)), ir.Attribute(ir.ELEMENT, ("q",))
            body = rng.choice([ir.and_, ir.or_])(
                [ir.Compare(rng.choice(_OPERATORS), sku, self.constant_or_column("STRING")),
                 ir.Compare(rng.choice(_OPERATORS), q, self.constant("INTEGER"))]
            )  # fmt: skip
            return word(ir.Attribute(ir.NEW, ("items",)), body)
        column = rng.choice(ARRAYS)
        element = ir.Attribute(ir.ELEMENT, ())
        body = ir.Compare(rng.choice(_OPERATORS), element, self.constant_or_column(column.type))
        if rng.random() < 0.2:
            body = ir.Not(ir.In(element, (self.constant(column.type), self.constant(column.type))))
        elif column.type == "STRING" and rng.random() < 0.2:
            body = ir.Like(element, ir.constant(rng.choice(PATTERNS[:4])), None, False)
        return word(ir.Attribute(ir.NEW, (column.name,)), body)
