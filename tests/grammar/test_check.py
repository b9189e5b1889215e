"""Checks: a warning where something can hardly have been meant, and none where it can."""

from __future__ import annotations

import pytest

from profilec.grammar.check import check
from profilec.grammar.infer import Typing
from profilec.grammar.parse import parse_condition
from profilec.values.kinds import Kind
from profilec.values.types import Field, Schema, Type

ITEM = Type("RECORD", fields=(Field("sku", Type("STRING")), Field("tags", Type("ARRAY", Type("STRING")))))
SCHEMA = Schema(
    (
        Field("price", Type("NUMBER")),
        Field("name", Type("STRING"), not_null=True),
        Field("flag", Type("BOOLEAN")),
        Field("day", Type("DATE")),
        Field("at", Type("TIMESTAMP")),
        Field("tags", Type("ARRAY", Type("STRING"))),
        Field("items", Type("ARRAY", ITEM)),
        Field("user", Type("RECORD", fields=(Field("city", Type("STRING")),))),
        Field("flat.name", Type("STRING")),
    )
)


def found(text: str, schema: Schema | None = None) -> list[tuple[str, str]]:
    """Code and the text it is said of."""
    diagnostics = check(parse_condition(text), text, schema)
    return [(d.code, text[(d.column or 0) - 1 : (d.end_column or 0) - 1]) for d in diagnostics]


@pytest.mark.parametrize(
    "text",
    [
        "a = b", "a != b != c", "a = b AND b = c", "a < b = c", "a BETWEEN 1 AND 1", "a >= 1 AND a <= 1",
        "a > 1 OR a < 0", "a > 1 AND b < 0", "a > 1 AND a != 1", "a > 'a' AND a < 2", "(a > 1 OR b) AND a < 0",
        "a = 1 AND a < 'x'", "a > b AND a < b", "LOWER(a) = 'x' AND LOWER(a) > 'w'", "a IN (1, 'x')", "a IN (1, NULL)",
        "a IN (b, 1)", "a NOT IN (b, c)", "NOT (a OR b)", "a LIKE b", "TRUE", "NULL OR a", "a IS NULL",
        "LOWER(a) IS NULL",
        "ABS(a) + 1 = LENGTH(b)", "COALESCE(a, 'x') = 1 OR COALESCE(a, 'x', 1) = 2", "a + b = 'x'", "- a = 1",
        "CAST(a AS DATE) = DATE '2024-01-01'", "CAST(a AS DATE) + INTERVAL '1 hour' > TIMESTAMP '2024-01-01'",
        "a - INTERVAL '1 day' > DATE '2024-01-01'", "EXISTS d (d.x = x)", "EXISTS d (`d x` = d.x)",
        "ANY(tags) = 'x'", "ALL(tags) != 'x'", "NOT ANY(tags) = 'x'", "ANY(tags) > 5 AND ANY(tags) < 1",
        "ANY items AS i (i.a = item)", "tags CONTAINS 'x' AND name CONTAINS 'y'", "ROUND(a, 2) = COALESCE(b, 1)",
        "SUBSTR(a, 1) = 'x'", "SUBSTR(a, 1, 2) = 'x'",
    ],
)  # fmt: skip
def test_nothing_is_said_without_reason(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "price < 10 AND name = 'x' AND flag AND day = DATE '2024-01-01' AND at > TIMESTAMP '2024-01-01'",
        "user.city = 'x' AND flat.name = 'x' AND `flat.name` = 'y'", "user IS NOT NULL AND tags IS NULL",
        "ANY(tags) = 'x' AND tags CONTAINS 'y' AND ANY(items.sku) LIKE 'x%' AND items.sku CONTAINS 'x'",
        "ANY items AS i (i.sku = name AND i.tags CONTAINS 'x' AND ANY i.tags AS t (price = 1))",
        "EXISTS d WITHIN INTERVAL '1 day' OF day WHERE (d.flag) (d.user.city = user.city AND ANY(d.tags) = name)",
        "COALESCE(name, 'x') LIKE 'x' AND LENGTH(name) = price", "COALESCE(tags, items) IS NULL", "flag IS UNKNOWN",
        "CAST(price AS STRING) = name AND CAST(day AS TIMESTAMP) < at", "flag = TRUE AND name IN ('x', NULL)",
        "at + INTERVAL '1 day' > at AND day + INTERVAL '1 month' > day AND day + INTERVAL '1 hour' > at",
    ],
)  # fmt: skip
def test_nothing_is_said_of_what_the_schema_allows(text: str) -> None:
    assert found(text, SCHEMA) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prise = 1 AND EXISTS d (d.prise = 1)", [("PC214", "prise"), ("PC214", "d.prise")]),
        ("ANY items AS i (i.ksu = 'x' AND i.tags = 'x')", [("PC214", "i.ksu"), ("PC611", "i.tags")]),
        ("ANY items AS i (ANY i.tags AS t (t.x = 1))", [("PC214", "t.x")]),
        ("ANY nothing AS n (n.x = 1 AND prise = 1)", [("PC214", "nothing"), ("PC214", "prise")]),
        ("ANY(items.skuu) = 'x'", [("PC214", "items.skuu")]),
        ("LOWER(prise) = 'x'", [("PC214", "prise")]),
        ("user = 'x'", [("PC611", "user")]),
        ("user", [("PC614", "user")]),
        ("ANY(user) = 'x'", [("PC215", "user")]),
        ("ANY(tags) = 5", [("PC603", "ANY(tags) = 5")]),
        ("price = name", [("PC603", "price = name")]),
        ("price + 1 = name", [("PC603", "price + 1 = name")]),
        ("name + 1 = price", [("PC215", "name")]),
        ("day = at", [("PC609", "day = at")]),
        ("day IN (at, day)", [("PC609", "at")]),
        ("CAST(price AS STRING) * 2 = 1", [("PC608", "CAST(price AS STRING)")]),
        ("name CONTAINS 'x'", [("PC613", "name CONTAINS 'x'")]),
        ("price CONTAINS 1", [("PC215", "price")]),
        ("EXISTS price (price.name = name)", [("PC610", "price")]),
        ("EXISTS d WITHIN INTERVAL '1 day' OF name (d.flag)", [("PC215", "WITHIN INTERVAL '1 day' OF name")]),
        ("FORALL d WITHIN INTERVAL '1 day' OF tags (d.flag)", [("PC215", "WITHIN INTERVAL '1 day' OF tags")]),
        ("FORALL d WITHIN INTERVAL '1 day' OF user.city (d.flag)", [("PC215", "WITHIN INTERVAL '1 day' OF user.city")]),
        ("EXISTS d WITHIN INTERVAL '1 day' OF e.at (d.flag)", [("PC214", "WITHIN INTERVAL '1 day' OF e.at")]),
        # What is no variable is an attribute of the new document.
        ("EXISTS d (e.price = price)", [("PC214", "e.price")]),
        ("EXISTS d WHERE (D.price = price) (d.flag)", [("PC214", "D.price")]),
        ("EXISTS d (d.flag) AND EXISTS e (d.price = e.price)", [("PC610", "d"), ("PC214", "d.price")]),
        (
            "EXISTS d WHERE (d.name = price) (d.price = name)",
            [("PC603", "d.name = price"), ("PC603", "d.price = name")],
        ),
        ("`user.city` = 'x'", [("PC214", "`user.city`")]),
    ],
)
def test_against_a_schema(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text, SCHEMA) == expected


def test_the_unknown_name_that_is_a_path() -> None:
    text = "`user.city` = 'x'"
    (diagnostic,) = check(parse_condition(text), text, SCHEMA)
    assert diagnostic.hint == "in back-quotes this is one name; the path is written user.city"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a", None), ("1", Kind.NUMBER), ("'x'", Kind.STRING), ("a + b", None), ("1 + 2", Kind.NUMBER),
        ("a * b", Kind.NUMBER), ("LOWER(a)", Kind.STRING), ("COALESCE(1, NULL)", Kind.NUMBER),
        ("COALESCE(1, 'x')", None), ("CAST(a AS INTEGER)", Kind.NUMBER), ("a + INTERVAL '1 day'", None),
        ("DATE '2024-01-01' + INTERVAL '1 day'", Kind.DATE), ("INTERVAL '1 hour' + DATE '2024-01-01'", Kind.TIMESTAMP),
        ("TIMESTAMP '2024-01-01' - INTERVAL '1 day'", Kind.TIMESTAMP), ("NULL", Kind.NULL),
    ],
)  # fmt: skip
def test_kinds_of_values(text: str, kind: Kind | None) -> None:
    assert Typing(None).kind_of(parse_condition(f"{text} = other").node.left) is kind  # type: ignore[attr-defined]


def test_a_long_conjunction_is_checked_in_linear_time() -> None:
    text = " AND ".join(f"a{n} > {n} AND a{n} < {n + 1}" for n in range(20_000))
    assert check(parse_condition(text), text) == []


def test_nested_conjunctions_are_looked_at_once() -> None:
    text = "(a > 5 AND (b AND (a < 1 AND c)))"
    assert found(text) == [("PC607", "a > 5 AND (b AND (a < 1")]


def test_a_path_that_a_range_variable_would_have_is_guessed() -> None:
    text = "EXISTS d (e.price > price)"
    (finding,) = check(parse_condition(text), text, SCHEMA)
    assert finding.hint == "did you mean `d.price`? d is the earlier document here"
