"""SQL as people write it for DuckDB and SQLite: read, it has the truth that the engine gives it.

What is refused is no failure here (the golden files say what is); a different truth is.
"""

from __future__ import annotations

import random

import pytest

from profilec.grammar.diagnostics import Diagnostic
from profilec.grammar.sql import import_sql
from profilec.planner.reference import evaluate
from tests.grammar.sql.golden import TESTDATA
from tests.grammar.sql.random_typed import random_rows, schema
from tests.grammar.sql.test_sql_export_runs import DuckDB, SQLite


def conditions(*names: str) -> list[str]:
    """One a line, ended by a semicolon."""
    files = [TESTDATA / f"run_{name}.sql" for name in names]
    return [line.removesuffix(";") for file in files for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("dialect", "engine_type", "at_least"), [("duckdb", DuckDB, 170), ("sqlite", SQLite, 138)])
@pytest.mark.parametrize("like_case", ["dialect", "sensitive"])
def test_engine_agrees_with_what_was_read(
    dialect: str, engine_type: type[DuckDB | SQLite], at_least: int, like_case: str
) -> None:
    rows = random_rows(random.Random(dialect), 80, arrays=engine_type.arrays)
    types = schema(arrays=engine_type.arrays)
    engine = engine_type(rows)
    if dialect == "sqlite" and like_case == "sensitive":
        engine.connection.execute("PRAGMA case_sensitive_like = ON")
    n_carried = 0
    for text in conditions("both", dialect):
        found: list[Diagnostic] = []
        query = f"SELECT * FROM t WHERE {text}"
        profiles = import_sql(query, dialect, schema=types, like_case=like_case, report=found.append)  # type: ignore[arg-type]
        assert bool(profiles) != any(diagnostic.severity == "error" for diagnostic in found)
        if not profiles:
            continue
        n_carried += 1
        expected = [evaluate(profiles[0].condition, row, schema=types) for row in rows]
        got = engine.truths(text)
        differing = [row for row, truth, other in zip(rows, got, expected, strict=True) if truth is not other]
        assert not differing, f"{text}\n{profiles[0].where}\n{differing[0]}"
    assert n_carried >= at_least
