"""The reference interpreter against what the language says, case by case."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from profilec.grammar.parse import parse_condition
from profilec.planner.reference import evaluate
from profilec.values.kinds import DocumentError
from profilec.values.types import Field, Schema, Type

TRUE, FALSE, UNKNOWN = True, False, None
DAY = datetime.date(2024, 3, 10)


def truth(
    text: str, document: dict[str, Any], store: list[dict[str, Any]] | None = None, schema: Schema | None = None
) -> Any:
    return evaluate(parse_condition(text).node, document, store or [], schema)


@pytest.mark.parametrize(
    ("text", "document", "expected"),
    [
        # absence and NULL are one
        ("a = 1", {}, UNKNOWN),
        ("a != 1", {"a": None}, UNKNOWN),
        ("a IS NULL", {}, TRUE),
        ("a IS NULL", {"a": float("nan")}, TRUE),
        ("a IS NOT NULL", {"a": []}, TRUE),
        ("a = NULL", {"a": 1}, UNKNOWN),
        ("COALESCE(a, 0) < 5", {}, TRUE),
        # kinds do not compare
        ("a = '1'", {"a": 1}, UNKNOWN),
        ("a != '1'", {"a": 1}, UNKNOWN),
        ("a = 1", {"a": True}, UNKNOWN),
        ("a < 1 OR a >= 1", {"a": "x"}, UNKNOWN),
        ("a = DATE '2024-03-10'", {"a": DAY}, TRUE),
        ("a = TIMESTAMP '2024-03-10'", {"a": DAY}, UNKNOWN),
        ("a = 1", {"a": [1]}, UNKNOWN),
        # numbers compare exactly
        ("a = 9007199254740992", {"a": 9007199254740993}, FALSE),
        ("a < 9007199254740993", {"a": 9007199254740992.0}, TRUE),
        ("a = 0.1", {"a": 0.1}, TRUE),
        ("a + 0.2 = 0.3", {"a": 0.1}, FALSE),
        ("0.1 + 0.2 = 0.3", {}, TRUE),
        ("a / 0 IS NULL", {"a": 1}, TRUE),
        ("a % 3 = -1", {"a": -7}, TRUE),
        # lists
        ("a IN (1, NULL)", {"a": 1}, TRUE),
        ("a IN (1, NULL)", {"a": 2}, UNKNOWN),
        ("a NOT IN (1, NULL)", {"a": 2}, UNKNOWN),
        ("a NOT IN (1, 'a')", {"a": 2}, UNKNOWN),
        ("a NOT IN (1, 3)", {"a": 2}, TRUE),
        ("a IN (b, 1)", {"a": 2, "b": 2}, TRUE),
        ("3 NOT BETWEEN 5 AND NULL", {}, TRUE),
        ("3 BETWEEN 1 AND NULL", {}, UNKNOWN),
        # three truths
        ("a = 1 AND b = 1", {"b": 2}, FALSE),
        ("a = 1 OR b = 1", {"b": 1}, TRUE),
        ("NOT a = 1", {}, UNKNOWN),
        ("(a = 1) IS NOT TRUE", {}, TRUE),
        ("(a = 1) IS FALSE", {}, FALSE),
        ("(a = 1) IS UNKNOWN", {}, TRUE),
        ("(a = 1) IS NULL", {}, TRUE),
        ("flag", {"flag": True}, TRUE),
        ("flag", {"flag": 1}, UNKNOWN),
        ("NOT flag", {"flag": False}, TRUE),
        # patterns
        ("a LIKE 'A%'", {"a": "abc"}, FALSE),
        ("a ILIKE 'A%'", {"a": "abc"}, TRUE),
        ("a LIKE '_'", {"a": "😀"}, TRUE),
        ("a LIKE '1%'", {"a": 12}, UNKNOWN),
        ("a NOT LIKE '1%'", {"a": 12}, UNKNOWN),
        ("a LIKE b ESCAPE '!'", {"a": "%", "b": "!%"}, TRUE),
        ("a LIKE b ESCAPE '!'", {"a": "x", "b": "!x"}, UNKNOWN),
        ("a MATCHES 'b+'", {"a": "abbc"}, TRUE),
        ("a MATCHES '^b'", {"a": "abbc"}, FALSE),
        ("a MATCHES 'b'", {"a": 5}, UNKNOWN),
        ("a MATCHES '^.$'", {"a": "\ud800"}, TRUE),
        # arrays
        ("ANY(tags) = 'x'", {"tags": ["y", "x"]}, TRUE),
        ("ANY(tags) = 'x'", {"tags": []}, FALSE),
        ("ALL(tags) = 'x'", {"tags": []}, TRUE),
        ("ANY(tags) = 'x'", {}, UNKNOWN),
        ("ALL(tags) = 'x'", {"tags": "x"}, UNKNOWN),
        ("ANY(tags) = 'x'", {"tags": ["y", None]}, UNKNOWN),
        ("ALL(tags) = 'x'", {"tags": ["x", 1]}, UNKNOWN),
        ("ALL(tags) = 'x'", {"tags": ["y", 1]}, FALSE),
        ("ANY(tags) != 'x'", {"tags": ["x", "y"]}, TRUE),
        ("NOT ANY(tags) = 'x'", {"tags": ["x", "y"]}, FALSE),
        ("tags CONTAINS 'x'", {"tags": ("x",)}, TRUE),
        ("10 <= ANY(s) <= 20", {"s": [5, 25]}, FALSE),
        ("ANY(s) >= 10 AND ANY(s) <= 20", {"s": [5, 25]}, TRUE),
        (
            "ANY items AS i (i.sku = 'x' AND i.qty > 3)",
            {"items": [{"sku": "x", "qty": 1}, {"sku": "y", "qty": 9}]},
            FALSE,
        ),
        ("ANY items AS i (i.sku = 'x' AND i.qty > 3)", {"items": [{"sku": "x", "qty": 4}]}, TRUE),
        ("ANY items AS i (i.sku = sku)", {"items": [{"sku": "x"}, 7], "sku": "y"}, UNKNOWN),
        ("ANY orders AS o (ANY o.parts AS p (p.n > o.n))", {"orders": [{"n": 5, "parts": [{"n": 6}]}]}, TRUE),
        ("ANY(items.sku) = 'x'", {"items": [{"sku": "x"}]}, TRUE),
        # names
        ("a.b = 1", {"a.b": 1, "a": {"b": 2}}, TRUE),
        ("a.b = 2", {"a": {"b": 2}}, TRUE),
        ("`a.b` = 2", {"a": {"b": 2}}, UNKNOWN),
    ],
)
def test_truth(text: str, document: dict[str, Any], expected: bool | None) -> None:
    assert truth(text, document) is expected


@pytest.mark.parametrize(
    ("text", "store", "expected"),
    [
        ("EXISTS d (d.x = x)", [], FALSE),
        ("FORALL d (d.x = x)", [], TRUE),
        ("EXISTS d (d.x = x)", [{}, {"x": 1}], TRUE),
        ("EXISTS d (d.x = x)", [{}], FALSE),
        ("NOT EXISTS d (d.x = x)", [{}], TRUE),
        # an UNKNOWN spoils FORALL, which is FALSE then
        ("FORALL d (d.x != x)", [{"x": 2}, {}], FALSE),
        ("NOT FORALL d (d.x != x)", [{"x": 2}, {}], TRUE),
        ("FORALL d WHERE (d.x IS NOT NULL) (d.x != x)", [{"x": 2}, {}], TRUE),
        ("EXISTS d LAST 1 (d.x = x)", [{"x": 1}, {"x": 2}], FALSE),
        ("EXISTS d LAST 5 (d.x = x)", [{"x": 1}, {"x": 2}], TRUE),
        # LAST before WHERE
        ("EXISTS d WHERE (d.x = 1) LAST 1 (TRUE)", [{"x": 1}, {"x": 2}], FALSE),
        ("EXISTS d WITHIN INTERVAL '7 days' OF at (TRUE)", [{"at": datetime.date(2024, 3, 3)}], TRUE),
        ("EXISTS d WITHIN INTERVAL '7 days' OF at (TRUE)", [{"at": datetime.date(2024, 3, 2)}], FALSE),
        ("EXISTS d WITHIN INTERVAL '7 days' OF at (TRUE)", [{"at": datetime.date(2024, 3, 11)}, {}], FALSE),
        ("EXISTS d WITHIN INTERVAL '1 month' OF at (TRUE)", [{"at": datetime.date(2024, 2, 10)}], TRUE),
        ("FORALL d WITHIN INTERVAL '7 days' OF missing (FALSE)", [{"missing": DAY}], TRUE),
        ("EXISTS d (ANY(d.tags) = x)", [{"tags": [0, 1]}], TRUE),
        # `x` in the body is the new document's
        ("EXISTS d (d.y = x)", [{"x": 9, "y": 1}], TRUE),
    ],
)
def test_quantifiers(text: str, store: list[dict[str, Any]], expected: bool) -> None:
    assert truth(text, {"x": 1, "at": DAY}, store) is expected


def test_a_schema_reads_strings_as_dates_wherever_they_stand() -> None:
    date = Type("DATE")
    record = Type("RECORD", fields=(Field("on", date),))
    schema = Schema((Field("on", date), Field("items", Type("ARRAY", record)), Field("days", Type("ARRAY", date))))
    document = {"on": "2024-03-10", "items": [{"on": "2024-03-10"}], "days": ["2024-03-10", "soon"]}
    for text in (
        "on = DATE '2024-03-10'",
        "ANY items AS i (i.on = DATE '2024-03-10')",
        "ANY(items.on) = on",
        "ANY(days) = DATE '2024-03-10'",
        "EXISTS d (d.on = on)",
        "EXISTS d WITHIN INTERVAL '1 day' OF on (TRUE)",
    ):
        assert truth(text, document, [document], schema) is TRUE, text
    assert truth("on = DATE '2024-03-10'", document) is UNKNOWN


def test_a_value_of_no_kind_is_an_error_that_names_its_attribute() -> None:
    with pytest.raises(DocumentError, match="'a'"):
        truth("a = 1", {"a": b"bytes"})
    assert truth("b = 1", {"a": b"bytes"}) is UNKNOWN
