"""Text to IR: conditions of shapes seen before, and of shapes never seen, against a public SQL parser."""

from __future__ import annotations

import random
from collections.abc import Iterator

from figures import Row, seconds
from workloads import novel_condition, templated

TITLE = "Parsing: one condition, text to IR"


def rows(quick: bool) -> Iterator[Row]:
    import sqlglot

    from profilec.grammar.parse import parse_condition
    from profilec.grammar.shapes import ShapeCache

    n = 200 if quick else 5_000
    known = [statement.partition(" WHERE ")[2].rstrip(";\n") for statement in templated(n)]
    rng = random.Random(5)
    novel = [novel_condition(rng) for _ in range(n)]
    cache = ShapeCache(None)

    def cached() -> None:
        for condition in known:
            cache.condition(condition)

    def parsed(conditions: list[str]) -> None:
        for condition in conditions:
            parse_condition(condition)

    def by_sqlglot(conditions: list[str]) -> None:
        for condition in conditions:
            sqlglot.parse_one(condition)

    def microseconds(run: object, *arguments: object) -> float:
        return seconds(lambda: run(*arguments), 3) / n * 1e6  # type: ignore[operator]

    cached()  # the four templates are seen
    yield Row(
        "a shape seen before", microseconds(cached), "us", microseconds(by_sqlglot, known), "sqlglot, same text", 30
    )
    yield Row("a novel shape", microseconds(parsed, novel), "us", microseconds(by_sqlglot, novel), "sqlglot", 700)
