"""Canonical text: `parse(print(ir))` is the very node, and the text is the shortest that says so."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings

from profilec.grammar import ir
from profilec.grammar.parse import parse_condition
from profilec.grammar.print import print_condition, print_scalar
from profilec.values.kinds import Date, Timestamp
from tests.grammar.ir_strategies import conditions

ELEMENT = ir.Attribute(ir.ELEMENT, ())
A, B, FIVE = ir.attribute("a"), ir.attribute("b"), ir.constant(5)


@settings(max_examples=150, deadline=None)
@given(conditions())
def test_text_reads_back_as_the_same_node(condition: ir.Condition) -> None:
    text = print_condition(condition)
    assert parse_condition(text).node is condition


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        # parentheses: only those that say something
        ("((a = 1)) AND (b = 2)", "a = 1 AND b = 2"),
        ("(a = 1 AND b = 2) OR c = 3", "a = 1 AND b = 2 OR c = 3"),
        ("a = 1 AND (b = 2 OR c = 3)", "a = 1 AND (b = 2 OR c = 3)"),
        ("(a = 1 AND b = 2) AND c = 3", "(a = 1 AND b = 2) AND c = 3"),
        ("NOT (a = 1)", "NOT a = 1"),
        ("NOT (a = 1 OR b = 2)", "NOT (a = 1 OR b = 2)"),
        ("NOT NOT a = 1", "NOT NOT a = 1"),
        ("(a + b) - (c - d) > (a * b) / (c % d)", "a + b - (c - d) > a * b / (c % d)"),
        ("((a) * (b + 1)) = -(c)", "a * (b + 1) = -c"),
        ("- -a = -(-5)", "-(-a) = 5"),
        ("-TRUE = -'x'", "-TRUE = -'x'"),
        # one form for what is one node
        ("a >= 1 AND a <= 5", "a BETWEEN 1 AND 5"),
        ("a >= 1 AND a <= 5 AND b = 2", "a >= 1 AND a <= 5 AND b = 2"),
        ("a BETWEEN 1 AND 5 AND b = 2", "a BETWEEN 1 AND 5 AND b = 2"),
        ("NOT a BETWEEN 1 AND 5", "a NOT BETWEEN 1 AND 5"),
        ("10 <= a < 30", "10 <= a AND a < 30"),
        ("10 <= a < 30 AND b = 2", "10 <= a < 30 AND b = 2"),
        ("NOT 10 <= a < 30 <= b", "NOT 10 <= a < 30 <= b"),
        ("(a = b = 2) OR NOT a = b = 2", "a = b AND b = 2 OR NOT (a = b AND b = 2)"),
        ("NOT a IN (1) OR NOT a IS NULL", "a NOT IN (1) OR a IS NOT NULL"),
        ("a != 1 AND a <> 1 AND a ≠ 1", "a != 1 AND a != 1 AND a != 1"),
        ("a RLIKE 'x' OR a ~ \"x\"", "a MATCHES 'x' OR a MATCHES 'x'"),
        ("a LIKE 'x!%' ESCAPE '!'", "a LIKE 'x!%' ESCAPE '!'"),
        ("a = TRUE", "a"),
        ("a IS TRUE AND (a) IS NOT TRUE", "a IS TRUE AND a IS NOT TRUE"),
        ("(a = 1) IS NULL", "(a = 1) IS UNKNOWN"),
        ("(a IS NULL) IS FALSE", "(a IS NULL) IS FALSE"),
        ("TRUE OR NULL", "TRUE OR NULL"),
        ("(TRUE) IS UNKNOWN AND TRUE IS NULL", "(TRUE) IS UNKNOWN AND TRUE IS NULL"),
        # names
        ("`price` = `in` AND `a.b` = a.b AND a.in = 1", "price = `in` AND `a.b` = a.b AND a.in = 1"),
        ("`o``tick` = date AND matches MATCHES 'x'", "`o``tick` = date AND matches MATCHES 'x'"),
        ("EXISTS x (x.a = a AND `d`.a = 1 AND `d` = 2)", "EXISTS d (d.a = a AND `d`.a = 1 AND `d` = 2)"),
        ("d.a = 1 AND d = 2", "d.a = 1 AND d = 2"),
        # literals
        ('a = "it\'s" AND a = "x""y"', "a = 'it''s' AND a = 'x\"y'"),
        ("a = 1.50 AND a = 5E2 AND a = -0.0", "a = 1.5 AND a = 500 AND a = 0"),
        ("a = DATE '2024-02-29'", "a = DATE '2024-02-29'"),
        ("a = TIMESTAMP '2024-02-29T12:00:00+01:00'", "a = TIMESTAMP '2024-02-29 11:00:00'"),
        ("a > b + INTERVAL '36 hours'", "a > b + INTERVAL '36 hours'"),
        # arrays
        ("tags CONTAINS 'x'", "ANY(tags) = 'x'"),
        ("'x' = ANY(tags)", "'x' = ANY(tags)"),
        ("10 <= ALL(s) <= 20", "10 <= ALL(s) <= 20"),
        ("ANY(s) >= 10 AND ANY(s) <= 20", "ANY(s) >= 10 AND ANY(s) <= 20"),
        ("ANY(s) NOT BETWEEN 10 AND 20", "ANY(s) NOT BETWEEN 10 AND 20"),
        ("NOT ANY(s) BETWEEN 10 AND 20", "NOT ANY(s) BETWEEN 10 AND 20"),
        ("ANY(flags) AND ANY(flags) IS NOT TRUE", "ANY(flags) = TRUE AND ANY(flags) IS NOT TRUE"),
        ("(ANY(flags) = TRUE) IS TRUE", "(ANY(flags) = TRUE) IS TRUE"),
        ("a IN (1, LOWER(ANY(tags)))", "a IN (1, LOWER(ANY(tags)))"),
        (
            "ANY items AS x (x.sku = 'x' AND ALL x.parts AS d (d.n > x.n AND d = 1))",
            "ANY items AS i (i.sku = 'x' AND ALL i.parts AS j (j.n > i.n AND d = 1))",
        ),
        # quantifiers
        (
            "FORALL x LAST 10 WHERE (x.a = a) WITHIN INTERVAL '1 month' OF at (x.b)",
            "FORALL d LAST 10 WITHIN INTERVAL '1 month' OF at WHERE (d.a = a) (d.b)",
        ),
    ],
)
def test_canonical_text(written: str, canonical: str) -> None:
    node = parse_condition(written).node
    assert print_condition(node) == canonical
    assert parse_condition(canonical).node is node


@pytest.mark.parametrize(
    "number",
    [0, -1, 10**999, 10**1000, 10**1999, -(10**1999), 10**999 - 1, int("9" * 1000) * 10**1000]
    + [Decimal(text) for text in ("1E-1000", "1E-1999", "-1.5E-999", "0." + "1" * 999, "1" * 999 + ".1")],
)
def test_numbers_at_the_edge_of_what_a_literal_can_say(number: int | Decimal) -> None:
    condition = ir.Compare("=", A, ir.constant(number))
    assert parse_condition(print_condition(condition)).node is condition


@pytest.mark.parametrize("text", ["0001-01-01 00:00:00+18:59", "9999-12-31 23:59:59.999999999-18:59"])
def test_moments_that_only_another_zone_keeps_in_the_calendar(text: str) -> None:
    condition = parse_condition(f"a = TIMESTAMP '{text}'").node
    assert parse_condition(print_condition(condition)).node is condition


@pytest.mark.parametrize(
    ("condition", "readable"),
    [
        (ir.Compare("=", ir.Call("FOLD", (A,)), FIVE), "FOLD(a) = 5"),
        (ir.Compare("=", ir.Call("NEGATE", (FIVE,)), A), "-5 = a"),
        (ir.Compare("=", A, ir.constant(10**2000 + 1)), None),
        (ir.Compare("=", A, ir.constant(Decimal("Infinity"))), "a = Infinity"),
        (ir.Compare("=", A, ir.Constant(Date, Date(10**9))), "a = DATE '1000000000'"),
        (ir.Compare("=", A, ir.Constant(Timestamp, Timestamp(10**30))), f"a = TIMESTAMP '{10**30}'"),
        (ir.Compare("=", ir.Attribute(ir.OLD, ("a",)), FIVE), "d.a = 5"),
        (ir.Compare("=", ir.Attribute(ir.ELEMENT + 1, ("a",)), FIVE), "j.a = 5"),
        (ir.Some(A, ir.Or((ir.Compare("=", ELEMENT, FIVE), ir.IsNull(ELEMENT)))), "ANY a AS i (i = 5 OR i IS NULL)"),
        (ir.Some(A, ir.Not(ir.Compare("=", ELEMENT, FIVE))), "ANY a AS i (NOT i = 5)"),
        (ir.Some(A, ir.Some(ELEMENT, ir.TRUE)), "ANY a AS i (ANY i AS j (TRUE))"),
        (ir.In(A, ()), "a IN ()"),
        (ir.And((ir.IsNull(A),)), "a IS NULL"),
    ],
)
def test_what_has_no_text_is_refused_or_made_readable(condition: ir.Condition, readable: str | None) -> None:
    with pytest.raises(ValueError, match=r"text|literal|number|function"):
        print_condition(condition)
    text = print_condition(condition, exact=False)
    assert readable is None or text == readable


def test_names_that_no_text_can_write() -> None:
    for part in ("", "a\nb"):
        with pytest.raises(ValueError, match="name"):
            print_condition(ir.IsNull(ir.Attribute(ir.NEW, (part,))))


def test_scalar() -> None:
    scalar = ir.Call("+", (ir.Attribute(ir.OLD, ("in",)), ir.Attribute(ir.ELEMENT, ("x", "y z"))))
    assert print_scalar(scalar) == "d.in + i.x.`y z`"


def test_wide_and_deep_conditions() -> None:
    wide = ir.Or(tuple(ir.Compare("=", A, ir.constant(n)) for n in range(100_000)))
    assert print_condition(wide).count(" OR ") == 99_999
    deep: ir.Condition = ir.IsNull(A)
    for _ in range(200):
        deep = ir.Not(ir.And((deep, ir.Compare("=", B, FIVE)))) if isinstance(deep, ir.Or) else ir.Or((deep, ir.TRUE))
    assert print_condition(deep, exact=True).count("(") == 200
