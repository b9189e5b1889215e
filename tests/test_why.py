"""`why`: one step for each predicate as it was written, and what it saw."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

import profilec


def lines(condition: str, document: dict[str, Any], schema: str | None = None) -> list[str]:
    """The steps as they are printed, with single spaces."""
    explanation = profilec.compile({"p": condition}, schema=schema).why(document, "p")
    return [" ".join(line.split()) for line in str(explanation).splitlines()[1:]]


@pytest.mark.parametrize(
    ("condition", "step"),
    [
        ("x BETWEEN 1 AND 2", "FALSE 1:1 x BETWEEN 1 AND 2 x is 3"),
        ("x NOT BETWEEN 1 AND top", "UNKNOWN 1:1 x NOT BETWEEN 1 AND top x is 3, top is NULL"),
        ("x NOT IN (1, 2)", "TRUE 1:1 x NOT IN (1, 2) x is 3"),
        ("s NOT LIKE 'a%'", "FALSE 1:1 s NOT LIKE 'a%' s is 'ab'"),
        ("tags NOT CONTAINS 'x'", "TRUE 1:1 tags NOT CONTAINS 'x' tags is ['y']"),
    ],
)
def test_a_predicate_that_is_made_of_several_is_one_step(condition: str, step: str) -> None:
    assert lines(condition, {"x": 3, "s": "ab", "tags": ["y"]}) == [step]


def test_links_of_a_chain_are_steps() -> None:
    assert lines("1 <= x <= 2", {"x": 3}) == [
        "FALSE 1:1 1 <= x <= 2",
        "TRUE 1:1 1 <= x x is 3",
        "FALSE 1:6 x <= 2 x is 3",
    ]


@pytest.mark.parametrize(
    ("schema", "time"),
    [(None, "'2024-01-01T00:00:00'"), ("at TIMESTAMP, x NUMBER", "TIMESTAMP '2024-01-01 00:00:00'")],
)
def test_within_shows_the_time_it_looks_back_from(schema: str | None, time: str) -> None:
    """A string is no time: without a schema, WITHIN has nothing in range."""
    condition = "EXISTS d WITHIN INTERVAL '1 hour' OF at (d.x = x)"
    assert lines(condition, {"at": "2024-01-01T00:00:00"}, schema) == [f"FALSE 1:1 {condition} at is {time}"]


INFINITY = float("inf")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (INFINITY, "Infinity"),
        (-INFINITY, "-Infinity"),
        (Decimal("Infinity"), "Infinity"),
        (10**1_500, "1" + "0" * 44 + "…"),
        (-(10**5_000), "-1" + "0" * 43 + "…"),
        (Decimal("1e-5000"), "1E-5000"),
        ([INFINITY, 10**5_000], "[inf, 1" + "0" * 38 + "…"),
        ({"k": [True, 10**5_000]}, "{'k': [True, 1" + "0" * 31 + "…"),
    ],
    ids=map(str, range(8)),
)
def test_numbers_of_any_size_are_shown(value: Any, shown: str) -> None:
    (line,) = lines("a > 1", {"a": value})
    assert line.partition(" a is ")[2][:45] == shown.replace("…", "")[:45]


def test_what_a_terminal_would_obey_is_escaped() -> None:
    (line,) = lines("a LIKE 'x\x1b[31m%'", {"a": "b\nc\x1b[31m\u202e\x9b é"})
    assert line == r"FALSE 1:1 a LIKE 'x\x1b[31m%' a is 'b\nc\x1b[31m\u202e\x9b é'"
