"""Corners of the meaning that no counter-example names: truth tables, precedence, spellings, functions, odd values."""

from __future__ import annotations

from typing import Any

import pytest
from asking import truth

UNKNOWN = None


def test_and_or_not() -> None:
    for left, right, both, either in [
        ("TRUE", "NULL", UNKNOWN, True),
        ("FALSE", "NULL", False, UNKNOWN),
        ("NULL", "NULL", UNKNOWN, UNKNOWN),
        ("TRUE", "FALSE", False, True),
    ]:
        for one, other in ((left, right), (right, left)):
            assert truth(f"{one} AND {other}", {}) is both
            assert truth(f"{one} OR {other}", {}) is either
    assert truth("NOT NULL", {}) is UNKNOWN


def test_not_binds_tighter_than_and_and_and_than_or() -> None:
    assert truth("TRUE OR TRUE AND FALSE", {}) is True
    assert truth("NOT TRUE OR TRUE", {}) is True
    assert truth("NOT (TRUE OR TRUE)", {}) is False
    assert truth("NOT a = 1 AND b = 2", {"a": 3, "b": 2}) is True
    assert truth("2 BETWEEN 1 AND 3 AND TRUE", {}) is True
    assert truth("1 + 2 * 3 - 4 - 5 = -2", {}) is True
    assert truth("-a * 2 = 6", {"a": -3}) is True


def test_unicode_operators() -> None:
    document = {"a": 2, "b": 2, "c": 3, "d": 4, "e": 6}
    assert truth("a ≠ 1 ∧ (b ≤ 2 ∨ ¬ c ≥ 3) ∧ d ∈ (4) ∧ e ∉ (5)", document) is True
    assert truth("∃ d (d.x = x) ∧ ∀ d (d.x = x)", {"x": 1}, {"x": 1}) is True


@pytest.mark.parametrize("value", [0, "", False, [], {}, float("inf")])
def test_zero_and_what_is_empty_are_values(value: Any) -> None:
    assert truth("x IS NULL", {"x": value}) is False
    assert truth("COALESCE(x, 1) = 1", {"x": value}) is not True


def test_infinities_lie_beyond_all_numbers() -> None:
    assert truth("x > 1e1000", {"x": float("inf")}) is True
    assert truth("x < -1e1000", {"x": float("-inf")}) is True
    assert truth("x - x IS NULL", {"x": float("inf")}) is True


def test_numbers_are_written_in_many_ways() -> None:
    for literal in ("500", "500.", "5E2", "5e+2", "0500", "500.00", "+500", ".5E3"):
        assert truth(f"x = {literal}", {"x": 500}) is True, literal


def test_a_function_of_another_kind_is_null() -> None:
    document = {"x": 5, "y": "5"}
    for scalar in ("LOWER(x)", "UPPER(x)", "LENGTH(x)", "TRIM(x)", "SUBSTR(x, 1)", "ABS(y)", "ROUND(y)", "-y", "y + 1"):
        assert truth(f"{scalar} IS NULL", document) is True, scalar
    assert truth("COALESCE(z, y) = '5'", document) is True
    assert truth("CAST(y AS NUMBER) = x", document) is True


def test_functions() -> None:
    document = {"s": "  Grüße ", "n": -2.5}
    assert truth("TRIM(s) = 'Grüße' AND LENGTH(s) = 8 AND UPPER(TRIM(s)) = 'GRÜßE'", document) is True
    assert truth("SUBSTR(s, 3, 2) = 'Gr' AND SUBSTR(s, -1, 4) = '  ' AND SUBSTR(s, 99) = ''", document) is True
    assert truth(
        "ABS(n) = 2.5 AND ROUND(n) = -3 AND ROUND(1234.5678, 2) = 1234.57 AND ROUND(1250, -2) = 1300", document
    )


def test_the_end_of_a_text_is_the_end_of_a_regex() -> None:
    assert truth("x MATCHES 'b$'", {"x": "ab\n"}) is False
    assert truth("x MATCHES 'b.'", {"x": "ab\n"}) is False
    assert truth("x MATCHES '(?s)b.'", {"x": "ab\n"}) is True


def test_a_lone_surrogate_is_a_character_like_another() -> None:
    assert truth("x LIKE '_b'", {"x": "\ud800b"}) is True
    assert truth("x LIKE '%b'", {"x": "\ud800b"}) is True
    assert truth("x MATCHES '^.b$'", {"x": "\ud800b"}) is True
    assert truth("x = 'b'", {"x": "\ud800b"}) is False


def test_any_in_any_and_elements_that_are_no_records() -> None:
    items = [{"qty": 1, "parts": [{"w": 2}]}, 5, None]
    assert truth("ANY items AS i (ANY i.parts AS p (p.w > i.qty))", {"items": items}) is True
    assert truth("ANY items AS i (ANY(i.parts.w) = 2 AND i.qty = least)", {"items": items, "least": 1}) is True
    assert truth("ALL items AS i (i.qty IS NULL)", {"items": [5, None, "x"]}) is True
    assert truth("ANY(items.sku) = 'x' AND ANY(items.qty) > 3", {"items": [{"sku": "x"}, {"qty": 9}]}) is True
