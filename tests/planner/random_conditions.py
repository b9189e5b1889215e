"""Random conditions and documents over few attributes and few values, so that they meet often.

A quarter of a document's values is missing or NULL; the rest are of all kinds, arrays and records
among them. Conditions are as the parser builds them: quantifiers not in one another, elements in the
bodies of ANY and ALL only.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from profilec.grammar import ir
from profilec.values.kinds import Date, Timestamp

NUMBERS = (0, 1, 2, 3, Decimal("0.1"), 2**53, 2**53 + 1, -1)
FEW = (1, 2, 3)
STRINGS = ("", "a", "ab", "b", "%", "ä", "A")
DATES = (Date(0), Date(1), Timestamp(0), Timestamp(1))
CONSTANTS = (*NUMBERS, *STRINGS, True, False, *DATES)
PATTERNS = ("a%", "%b", "%", "a", "_", "", "%a%")
REGEXES = ("a", "^b", "a|b", ".")
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
FUNCTIONS = (("LOWER", 1), ("LENGTH", 1), ("ABS", 1), ("+", 2), ("-", 2), ("/", 2), ("COALESCE", 2), ("SUBSTR", 2))


@dataclass(frozen=True)
class Where:
    """Which attributes may be named, and how deep conditions may still go."""

    depth: int = 3
    scopes: tuple[int, ...] = (ir.NEW,)
    in_quantifier: bool = False


def random_condition(rng: random.Random, where: Where = Where()) -> ir.Condition:
    """Any condition; about a third of the nodes are leaves."""
    if where.depth == 0 or rng.random() < 0.3:
        return _random_leaf(rng, where)
    below = replace(where, depth=where.depth - 1)
    match rng.randrange(10):
        case 0 | 1 | 2:
            return ir.And(tuple(random_condition(rng, below) for _ in range(rng.randint(2, 4))))
        case 3 | 4 | 5:
            return ir.Or(tuple(random_condition(rng, below) for _ in range(rng.randint(2, 4))))
        case 6 | 7:
            return ir.Not(random_condition(rng, below))
        case 8:
            return ir.IsTruth(random_condition(rng, below), rng.choice((True, False, None)))
    return _random_bound(rng, below)


def _random_bound(rng: random.Random, where: Where) -> ir.Condition:
    """ANY, ALL, EXISTS or FORALL."""
    if rng.random() < 0.5 and len(where.scopes) < 3:
        element = ir.ELEMENT + sum(scope >= ir.ELEMENT for scope in where.scopes)
        array = ir.attribute(rng.choice(("tags", "items", "items.x")), rng.choice((ir.NEW, where.scopes[-1])))
        body = random_condition(rng, replace(where, depth=min(where.depth, 1), scopes=(*where.scopes, element)))
        return rng.choice((ir.Some, ir.Every))(array, body)
    if where.in_quantifier or ir.ELEMENT in where.scopes:
        return _random_leaf(rng, where)
    inside = replace(where, depth=min(where.depth, 2), scopes=(ir.NEW, ir.OLD), in_quantifier=True)
    selection = random_condition(rng, replace(inside, depth=0)) if rng.random() < 0.3 else None
    scope = ir.Scope(selection, None, None, rng.choice((None, None, 1)))
    return rng.choice((ir.Exists, ir.ForAll))(random_condition(rng, inside), scope)


def _random_leaf(rng: random.Random, where: Where) -> ir.Condition:
    match rng.randrange(16):
        case 0 | 1 | 2 | 3:
            return ir.Compare(rng.choice(OPERATORS), _random_scalar(rng, where), _random_constant(rng))
        case 4:
            return ir.Compare(rng.choice(OPERATORS), _random_scalar(rng, where), _random_scalar(rng, where))
        case 5:
            return ir.Compare(rng.choice(OPERATORS), _random_constant(rng), _random_scalar(rng, where))
        case 6 | 7:
            options = [_random_constant(rng) for _ in range(rng.randint(1, 4))]
            if rng.random() < 0.2:
                options.append(_random_attribute(rng, where))
            return ir.In(_random_scalar(rng, where), tuple(options))
        case 8:
            pattern = ir.constant(rng.choice(PATTERNS)) if rng.random() < 0.8 else _random_scalar(rng, where)
            return ir.Like(_random_scalar(rng, where), pattern, None, rng.random() < 0.3)
        case 9:
            return ir.Matches(_random_scalar(rng, where), rng.choice(REGEXES))
        case 10:
            return ir.IsNull(_random_scalar(rng, where))
        case 11 | 12 | 13 | 14 if where.scopes == (ir.NEW,):
            element = ir.Compare(rng.choice(OPERATORS), ir.Attribute(ir.ELEMENT, ()), ir.constant(rng.choice(FEW)))
            return rng.choice((ir.Some, ir.Every))(ir.attribute("tags"), element)
    return ir.Literal(rng.choice((True, False, None)))


def _random_scalar(rng: random.Random, where: Where) -> ir.Scalar:
    if rng.random() < 0.85:
        return _random_attribute(rng, where)
    if rng.random() < 0.3:
        return ir.Cast(
            rng.choice((_random_attribute(rng, where), _random_constant(rng))), rng.choice(("STRING", "NUMBER"))
        )
    function, n_arguments = rng.choice(FUNCTIONS)
    return ir.Call(
        function,
        tuple(rng.choice((_random_attribute(rng, where), _random_constant(rng))) for _ in range(n_arguments)),
    )


def _random_attribute(rng: random.Random, where: Where) -> ir.Scalar:
    scope = rng.choice(where.scopes)
    if scope >= ir.ELEMENT and rng.random() < 0.5:
        return ir.Attribute(scope, ())
    return ir.attribute(rng.choice(("a", "a", "b", "x", "tags")), scope)


def _random_constant(rng: random.Random) -> ir.Scalar:
    if rng.random() < 0.08:
        return ir.NULL
    return ir.constant(rng.choice(NUMBERS if rng.random() < 0.5 else CONSTANTS))


def random_document(rng: random.Random) -> dict[str, Any]:
    """A document that has most of the attributes."""
    document: dict[str, Any] = {name: _random_value(rng) for name in ("a", "b", "x") if rng.random() < 0.85}
    if rng.random() < 0.8:
        document["tags"] = [
            rng.choice(FEW) if rng.random() < 0.7 else _random_value(rng) for _ in range(rng.randrange(4))
        ]
    if rng.random() < 0.8:
        document["items"] = [
            {name: _random_value(rng) for name in ("a", "x", "b")} if rng.random() < 0.8 else _random_value(rng)
            for _ in range(rng.randrange(3))
        ]
    return document


def _random_value(rng: random.Random) -> Any:
    if rng.random() < 0.12:
        return None
    if rng.random() < 0.08:
        return rng.choice(([1], {"x": 1}, float("nan"), 0.1, 1.0, 0.5, float("inf")))
    return rng.choice(NUMBERS if rng.random() < 0.5 else CONSTANTS)
