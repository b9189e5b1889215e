"""The conditions of the differential test, as the generator makes them and the judges read them.

Nothing here is profilec's: not its IR, not its values, not its names. A condition is made as one
of these structures first and printed afterwards (`printing.py` for profilec, `sql_judge.py` for
SQL), so that no parser stands between the generator and a judge.

A world is one case: some conditions, some new documents, the earlier documents, and how the
documents are handed over.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

Plain: TypeAlias = bool | int | Decimal | str | datetime.date | datetime.datetime | None


# Scalars.


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute. `variable` is None for the new document, else the name that a quantifier or ANY … AS gave."""

    parts: tuple[str, ...]
    variable: str | None = None
    quoted: bool = False  # one part in back-quotes: a flat key, never a path


@dataclass(frozen=True, slots=True)
class It:
    """The element that `ANY(array)` or `ALL(array)` stands for inside its predicate."""


@dataclass(frozen=True, slots=True)
class Given:
    """A literal."""

    value: Plain


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: str  # + - * / %
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Minus:
    operand: Scalar


@dataclass(frozen=True, slots=True)
class Shift:
    """A date or timestamp moved by an interval of months, days and seconds."""

    operand: Scalar
    operator: str  # + -
    months: int
    days: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    arguments: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class CastTo:
    operand: Scalar
    type: str


Scalar: TypeAlias = Column | It | Given | Arithmetic | Minus | Shift | Function | CastTo


# Conditions. `negated` is the NOT inside the predicate: NOT IN, NOT LIKE, IS NOT NULL.


@dataclass(frozen=True, slots=True)
class Truth:
    value: bool | None


@dataclass(frozen=True, slots=True)
class Bare:
    """An attribute that stands as a condition by itself."""

    column: Column


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a < b`, or a chain `a < b <= c`: one operator fewer than operands."""

    operands: tuple[Scalar, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between:
    operand: Scalar
    low: Scalar
    high: Scalar
    negated: bool


@dataclass(frozen=True, slots=True)
class OneOf:
    operand: Scalar
    options: tuple[Scalar, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Alike:
    """LIKE and ILIKE."""

    operand: Scalar
    pattern: Scalar
    escape: str | None
    ignore_case: bool
    negated: bool


@dataclass(frozen=True, slots=True)
class Regex:
    """MATCHES. The pattern is written in what RE2 and Python's `re` share."""

    operand: Scalar
    pattern: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Null:
    operand: Scalar
    negated: bool


@dataclass(frozen=True, slots=True)
class Is:
    """`(condition) IS [NOT] TRUE | FALSE | UNKNOWN`."""

    operand: Condition
    truth: bool | None
    negated: bool


@dataclass(frozen=True, slots=True)
class Negation:
    operand: Condition


@dataclass(frozen=True, slots=True)
class Conjunction:
    """AND."""

    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """OR."""

    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Elements:
    """A predicate in which `ANY(array)` (or `ALL(array)`) stands for `It()`."""

    quantifier: str  # ANY ALL
    array: Column
    body: Condition


@dataclass(frozen=True, slots=True)
class Contains:
    array: Column
    item: Scalar
    negated: bool


@dataclass(frozen=True, slots=True)
class Records:
    """`ANY array AS variable (body)`."""

    quantifier: str
    array: Column
    variable: str
    body: Condition


@dataclass(frozen=True, slots=True)
class Quantified:
    """`EXISTS d …` or `FORALL d …`. `within` is (days, attribute of both documents)."""

    quantifier: str
    variable: str
    body: Condition
    where: Condition | None = None
    within: tuple[int, tuple[str, ...]] | None = None
    last: int | None = None


Condition: TypeAlias = (
    Truth | Bare | Comparison | Between | OneOf | Alike | Regex | Null | Is | Negation | Conjunction | Disjunction
    | Elements | Contains | Records | Quantified
)  # fmt: skip

Document: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to the store before document number `before`: some documents go, by position, then others come."""

    before: int
    deleted: tuple[int, ...] = ()
    added: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True)
class World:
    """One case of the differential test.

    `schema`: the set declares the types of `generator.TYPES`. `tabular`: every document has values
    of those types, so that it can be a row of a table. `sql`: the engine that can judge this world
    too, or None. `rules`: which normalization rules run, a number from which a half is drawn, or
    "all" or "none". `style`: a number from which spellings, matcher and table types are drawn.
    `processed`: so many of the last documents join the store after their match (see `history.py`).
    `refused`: documents that the store does not keep (see `declared.py`).
    """

    conditions: tuple[Condition, ...]
    documents: tuple[Document, ...]
    earlier: tuple[Document, ...]
    schema: bool
    tabular: bool
    sql: str | None
    rules: str | int
    style: int
    changes: tuple[Change, ...] = ()
    processed: int = 0
    refused: tuple[Document, ...] = ()


def walk(structure: object) -> Iterator[Any]:
    """A structure and all structures in it, outermost first."""
    if dataclasses.is_dataclass(structure):
        yield structure
        for field in dataclasses.fields(structure):
            yield from walk(getattr(structure, field.name))
    elif isinstance(structure, tuple):
        for item in structure:
            yield from walk(item)
