"""The shape cache: whatever it answers is what the parser says, and it never swallows a diagnostic."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profilec.grammar import ir
from profilec.grammar.check import findings
from profilec.grammar.diagnostics import ProfileError
from profilec.grammar.limits import DEFAULT_LIMITS, Limits
from profilec.grammar.parse import parse_condition
from profilec.grammar.print import print_condition
from profilec.grammar.shapes import _LITERAL, ShapeCache
from profilec.grammar.templates import Bound
from profilec.values.types import Field, Schema, Type
from tests.grammar.ir_strategies import conditions

SCHEMA = Schema(
    (
        Field("price", Type("NUMBER")),
        Field("brand", Type("STRING")),
        Field("x", Type("BOOLEAN")),
        Field("tags", Type("ARRAY", Type("STRING"))),
        Field("sold_at", Type("TIMESTAMP")),
    )
)


def parsed(text: str, schema: Schema | None = None) -> ir.Node | None:
    """The slow way: the node, or None where there is anything to say about the text."""
    try:
        located = parse_condition(text)
    except ProfileError:
        return None
    return None if findings(located, text, schema) else located.node


def of(cache: ShapeCache, text: str) -> ir.Node | None:
    """The condition that a cache reads."""
    found = cache.read(text)
    return found.condition() if isinstance(found, Bound) else found


def learnt(text: str, schema: Schema | None = None, limits: Limits = DEFAULT_LIMITS) -> ShapeCache:
    """A cache that has seen a text, and others like it, often enough to know its shape."""
    cache = ShapeCache(schema, limits)
    for _ in range(2):
        cache.read(text)
    return cache


_numbers = st.integers(0, 12).map(str) | st.sampled_from(["1.5", ".5", "5.", "1E3", "0.10", "9" * 1001, "1e-2000"])
_strings = st.sampled_from(
    ["''", '""', "'x'", '"x"', "'it''s'", '"%"', "'x%'", "'5'", "'a AND b'", "'--'", "'('", "'?'"]
)


def _other(literal: str, draw: st.DrawFn) -> str:
    """Another literal of the same kind; now and then one of another."""
    if literal[0] == "(":
        item = _strings if literal[1] in "'\"" else _numbers | _numbers.map("-{}".format)
        return f"({', '.join(draw(st.lists(item, min_size=1, max_size=4)))})"
    same, other = (_strings, _numbers) if literal[0] in "'\"" else (_numbers, _strings)
    return draw(same if draw(st.integers(0, 9)) else other)


@st.composite
def _families(draw: st.DrawFn) -> list[str]:
    """Texts of one shape, more or less: one condition, its literals replaced again and again."""
    plain = st.sampled_from(
        [
            "price < 5 AND brand = 'x' AND price IN (1, 2)",
            "price BETWEEN 1 AND 5 AND NOT brand LIKE 'x%' OR price >= -1.5",
            "10 <= price < 30 AND price != 4 AND price + 1 > 2 AND price > 3",
            "brand IN ('a', 'b') OR brand MATCHES '^a' OR brand LIKE 'a!%' ESCAPE '!'",
            "ANY(tags) = 'x' AND tags CONTAINS 'y' AND (price = 1) IS NOT TRUE",
            "EXISTS d WHERE (d.brand = 'x') LAST 5 (d.price > 3 AND d.price < 9)",
            "FORALL d WITHIN INTERVAL '1 day' OF sold_at (d.price < 7 AND brand IN (d.brand, 'x'))",
            "sold_at > TIMESTAMP '2024-01-01' AND price IN (1, NULL, 'x') AND ROUND(price, 1) = 2",
            "price >= 1 AND price > 2 AND price <= 7 AND (price < 9 AND brand = 'b')",
            "price = 1 -- 5 or 'six\n AND brand = 'x'",
            "`a 1` = 1 AND `it's` = 'x'",
            "price = - 5 AND price < -(3) AND price > +1",
        ]
    )
    text = draw(plain | conditions(2).map(print_condition))
    pieces = _LITERAL.split(text)
    family = [text, text]
    for _ in range(4):
        pieces[1::2] = [_other(literal, draw) for literal in pieces[1::2]]
        family.append("".join(pieces))
        pieces = _LITERAL.split(text)
    return family


@settings(max_examples=150, deadline=None)
@given(_families(), st.sampled_from([None, SCHEMA]))
def test_an_answer_is_that_of_the_parser(family: list[str], schema: Schema | None) -> None:
    cache = ShapeCache(schema)
    for text in family:
        found = of(cache, text)
        assert found is None or found is parsed(text, schema), text


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("price < 5 AND brand = 'x'", 'price < 6.50 AND brand = "it\'s"'),
        ("price BETWEEN 1 AND 5", "price BETWEEN 2 AND 2.5"),
        ("10 <= price < 30", "1 <= price < 3"),
        ("price = -5 OR price = - 5", "price = -6.0 OR price = - 7"),
        ("price IN (1, 2)", "price IN (1,2, -3.50, 1e3)"),
        ("price IN (1, b, 2) OR brand IN ('x')", "price IN (3, b, 4) OR brand IN ('y')"),
        ("brand NOT LIKE 'x%' AND brand ILIKE 'y_'", "brand NOT LIKE '%x' AND brand ILIKE ''"),
        ("brand LIKE 'x!%' ESCAPE '!' AND price = 1", "brand LIKE 'x!%' ESCAPE '!' AND price = 2"),
        ("brand MATCHES 'x+' AND price = 1", "brand MATCHES 'x+' AND price = 2"),
        ("at > DATE '2024-01-31' AND price = 1", "at > DATE '2024-01-31' AND price = 2"),
        ("ROUND(price, 2) > 5", "ROUND(price, 2) > 6"),
        ("(price = 1) IS NOT TRUE OR NOT price = 2", "(price = 3) IS NOT TRUE OR NOT price = 4"),
        ("ANY(tags) = 'x' AND ALL items AS i (i.n > 1)", "ANY(tags) = 'y' AND ALL items AS i (i.n > 2)"),
        (
            "EXISTS d WHERE (d.n = 1) WITHIN INTERVAL '7 days' OF at LAST 5 (d.x = x AND d.n > 1)",
            "EXISTS d WHERE (d.n = 2) WITHIN INTERVAL '7 days' OF at LAST 5 (d.x = x AND d.n > 3)",
        ),
        ("a IS NULL OR EXISTS d (d.x = 1)", "a IS NULL OR EXISTS d (d.x = 2)"),
    ],
)
def test_text_of_a_known_shape_is_bound(text: str, alike: str) -> None:
    found = of(learnt(text), alike)
    assert found is not None
    assert found is parsed(alike)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        # what only the values tell
        ("price BETWEEN 1 AND 5", "price BETWEEN 5 AND 1"),
        ("price > 1 AND (brand = 'x' AND 5 > price)", "price > 6 AND (brand = 'x' AND 5 > price)"),
        ("price = 1 AND price >= 0", "price = 1 AND price >= 2"),
        ("price = 1", f"price = {'9' * 1001}"),
        ("price IN (1, 2)", f"price IN (1, {'9' * 1001})"),
        ("brand LIKE 'x!%' ESCAPE '!'", "brand LIKE 'x!y' ESCAPE '!'"),
        ("brand MATCHES 'x+'", "brand MATCHES '(x'"),
        ("at > DATE '2024-01-31'", "at > DATE '2024-02-31'"),
        ("EXISTS d LAST 5 (d.x = 1)", "EXISTS d LAST 0 (d.x = 1)"),
        # kinds are part of the shape
        ("LOWER(brand) = 'x'", "LOWER(brand) = 5"),
        ("LOWER(brand) IN ('x', 'y')", "LOWER(brand) IN (1, 2)"),
        ("a NOT IN (b, 1, 2)", "a NOT IN (b, 1, 'x')"),
        # no literals, for all their looks
        ("`a 1` = 1", "`a 2` = 1"),
        ("a = 1 -- 5", "a = 1 -- 6"),
        ("a = 1 AND b = 'x'", "a = 1 AND b = 'x' -- 'y'"),
        ("a1 = 1", "a2 = 1"),
    ],
)
def test_what_the_shape_does_not_tell_goes_to_the_parser(text: str, other: str) -> None:
    assert parsed(text) is not None
    assert of(learnt(text), other) in (None, parsed(other))


@pytest.mark.parametrize(
    ("text", "other"),
    [("price < 5", "price < 'x'"), ("brand = 'x'", "brand = 5"), ("brand IN ('x', 'y')", "brand IN (1, 2)")],
)
def test_literals_are_checked_against_the_schema(text: str, other: str) -> None:
    cache = learnt(text, SCHEMA)
    assert of(cache, text) is parsed(text, SCHEMA)
    for _ in range(4):
        assert of(cache, other) is None


def test_a_shape_that_has_a_diagnostic_is_never_bound() -> None:
    cache = ShapeCache(SCHEMA)
    assert [of(cache, f"unknown = {n}") for n in range(8)] == [None] * 8


def test_limits_hold() -> None:
    wide = "price IN (" + ", ".join(map(str, range(100))) + ")"
    assert of(learnt("price IN (1, 2)"), wide) is parsed(wide)
    assert of(learnt("price IN (1, 2)", limits=Limits(max_terms=50)), wide) is None
    assert of(learnt("price IN (1, 2)", limits=Limits(max_size=50)), wide) is None
    deep = "NOT (NOT (NOT price = 1))"
    assert of(learnt(deep, limits=Limits(max_depth=3)), deep) is None


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from profilec.grammar import shapes, templates

    monkeypatch.setattr(shapes, "_MOST_SHAPES", 4)
    monkeypatch.setattr(shapes, "_MOST_SEEN", 8)
    monkeypatch.setattr(shapes, "_MOST_VARIANTS", 2)
    monkeypatch.setattr(templates, "_MOST_FORMS", 2)
    monkeypatch.setattr(templates, "_MOST_PREDICATES", 5)
    cache = ShapeCache()
    for n in range(20):
        for value in (1, 1, 2, 3):
            text = f"a{n} = {value} AND ROUND(b, {n}) > {value} AND c IN ({value}, 2)"
            assert of(cache, text) in (None, parsed(text))
            text = f"a = {value} AND LENGTH(b) > {n} AND b MATCHES '{n}'"
            assert of(cache, text) in (None, parsed(text))
    assert len(cache._shapes) <= 4
    assert len(cache._seen) <= 8
    assert all(shape is None or len(shape.variants) <= 2 for shape in cache._shapes.values())
    assert sum(map(len, cache._predicates._forms.values())) <= 5
