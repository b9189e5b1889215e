"""Literals that hit: where a computed value is compared, its literal becomes what a document gives.

A random literal rarely lies on the boundary of `ROUND(a / 3, 1) <= ?`; what the judge computes
for one of the documents does.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from judge import Judge, Scope, Types
from structures import Column, Comparison, Condition, Document, Given, It, Plain, Scalar, walk


def aim(conditions: tuple[Condition, ...], documents: Sequence[Document], types: Types | None, style: int) -> Any:
    """The conditions, in which most literals that a computed value is compared with are hits."""
    return _Aim(documents, types, random.Random(style)).rewrite(conditions)


class _Aim:
    def __init__(self, documents: Sequence[Document], types: Types | None, draw: random.Random) -> None:
        self.judge = Judge((), types)
        self.documents = documents
        self.types = types
        self.draw = draw

    def rewrite(self, node: Any) -> Any:
        match node:
            case Comparison((left, Given(_) as literal), operators) if self.is_computed(left):
                return Comparison((left, self.hit(left, literal)), operators)
            case Comparison((Given(_) as literal, right), operators) if self.is_computed(right):
                return Comparison((self.hit(right, literal), right), operators)
            case tuple():
                return tuple(map(self.rewrite, node))
        if dataclasses.is_dataclass(node) and not isinstance(node, type):
            fields = {field.name: self.rewrite(getattr(node, field.name)) for field in dataclasses.fields(node)}
            return type(node)(**fields)
        return node

    def is_computed(self, scalar: Scalar) -> bool:
        """Whether the scalar is more than a name or a literal, and of the new document alone."""
        if isinstance(scalar, Column | Given | It) or self.draw.random() < 0.3:
            return False
        return not any(isinstance(part, It) or (isinstance(part, Column) and part.variable) for part in walk(scalar))

    def hit(self, scalar: Scalar, otherwise: Given) -> Given:
        document = self.judge.read(self.draw.choice(self.documents), self.types)
        literal = _literal(self.judge.stands_for(self.judge.value(scalar, Scope(document, {}))))
        return otherwise if literal is None else Given(literal)


def _literal(value: Any) -> Plain:
    """The literal of a value; None where it has none, or one that nobody would write."""
    match value:
        case bool() | str() | datetime.date():
            return value
        case Fraction(denominator=1) if abs(value) < 10**40:
            return int(value)
        case Fraction() if abs(value) < 10**40:
            decimal = Decimal(value.numerator) / Decimal(value.denominator)
            return decimal if Fraction(decimal) == value and decimal.as_tuple().exponent > -40 else None  # type: ignore[operator]
    return None
