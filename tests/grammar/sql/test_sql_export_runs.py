"""Exported SQL, run in DuckDB and SQLite, has the truth that the condition has, for every row.

And read back, from the dialects of which there is no engine here too, it is a condition with that truth.
"""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from typing import Any

import duckdb
import pytest

from profilec.grammar.diagnostics import Diagnostic, ProfileError
from profilec.grammar.print import print_condition
from profilec.grammar.sql import export_condition, import_sql
from profilec.planner.reference import evaluate
from tests.grammar.sql.random_typed import ARRAYS, COLUMNS, Maker, as_python, random_rows, schema

N_ROWS = 60
N_CONDITIONS = 400
_DUCKDB = {"INTEGER": "BIGINT", "NUMBER": "DOUBLE", "STRING": "VARCHAR", "BOOLEAN": "BOOLEAN", "DATE": "DATE",
           "TIMESTAMP": "TIMESTAMP"}  # fmt: skip
_SQLITE = {"INTEGER": "INTEGER", "NUMBER": "REAL", "BOOLEAN": "INTEGER"}


class DuckDB:
    """The rows in a table of DuckDB."""

    arrays = True

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.connection = duckdb.connect()
        types = [f'"{column.name}" {_DUCKDB[column.type]}' for column in COLUMNS]
        types += [f"{column.name} {_DUCKDB[column.type]}[]" for column in ARRAYS]
        types.append("items STRUCT(sku VARCHAR, q BIGINT)[]")
        self.connection.execute(f"CREATE TABLE t ({', '.join(types)})")
        marks = ", ".join("?" for _ in types)
        for row in rows:
            values = [as_python(column, row[column.name]) for column in COLUMNS]
            values += [row[column.name] for column in ARRAYS]
            self.connection.execute(f"INSERT INTO t VALUES ({marks})", [*values, row["items"]])

    def truths(self, clause: str) -> list[bool | None]:
        return [truth for (truth,) in self.connection.execute(f"SELECT ({clause}) FROM t ORDER BY rowid").fetchall()]


class SQLite:
    """The rows in a STRICT table of SQLite; the exported text does not depend on case_sensitive_like."""

    arrays = False

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.connection = sqlite3.connect(":memory:")
        types = [f'"{column.name}" {_SQLITE.get(column.type, "TEXT")}' for column in COLUMNS]
        self.connection.execute(f"CREATE TABLE t ({', '.join(types)}) STRICT")
        marks = ", ".join("?" for _ in types)
        for row in rows:
            values = [row[column.name] for column in COLUMNS]
            self.connection.execute(f"INSERT INTO t VALUES ({marks})", values)

    def truths(self, clause: str) -> list[bool | None]:
        found = self.connection.execute(f"SELECT ({clause}) FROM t ORDER BY rowid").fetchall()
        return [None if truth is None else bool(truth) for (truth,) in found]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("dialect", "engine_type"), [("duckdb", DuckDB), ("sqlite", SQLite)])
def test_engine_agrees_with_reference(dialect: str, engine_type: type[DuckDB | SQLite], seed: int) -> None:
    rng = random.Random(f"{dialect} {seed}")
    rows = random_rows(rng, N_ROWS, arrays=engine_type.arrays)
    types = schema(arrays=engine_type.arrays)
    engine = engine_type(rows)
    make = Maker(rng, arrays=engine_type.arrays)
    counts: Counter[str] = Counter()
    for _ in range(N_CONDITIONS):
        condition = make.condition()
        try:
            clause = export_condition(condition, dialect, types)
        except ProfileError as error:
            counts[error.diagnostics[0].code] += 1
            continue
        try:
            got = engine.truths(clause)
        except duckdb.OutOfRangeException:  # an error, and no silent change
            counts["overflow"] += 1
            continue
        counts["run"] += 1
        expected = [evaluate(condition, row, schema=types) for row in rows]
        differing = [row for row, truth, other in zip(rows, got, expected, strict=True) if truth is not other]
        assert not differing, f"{print_condition(condition, exact=False)}\n{clause}\n{differing[0]}"
    assert set(counts) <= {"run", "overflow", "PC503"}
    # Most of what is asked has to be carried, or the test proves little.
    assert counts["run"] > N_CONDITIONS // 3, counts


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark", "sqlite"])
def test_what_was_exported_is_read_back(dialect: str) -> None:
    rng = random.Random(f"back {dialect}")
    arrays = dialect in ("postgres", "spark")  # DuckDB's CASE over arrays is not read
    rows, types = random_rows(rng, N_ROWS, arrays=arrays), schema(arrays=arrays)
    make = Maker(rng, arrays=arrays)
    counts: Counter[str] = Counter()
    for _ in range(N_CONDITIONS // 2):
        condition = make.condition(2)
        found: list[Diagnostic] = []
        try:
            clause = export_condition(condition, dialect, types)
        except ProfileError:
            counts["not exported"] += 1
            continue
        profiles = import_sql(clause, dialect, schema=types, report=found.append)
        counts["read" if profiles else found[0].code] += 1
        for profile in profiles:
            differing = [
                row
                for row in rows
                if evaluate(profile.condition, row, schema=types) is not evaluate(condition, row, schema=types)
            ]
            assert not differing, f"{clause}\n{profile.where}\n{differing[0]}"
    assert "PC501" not in counts, counts
    assert counts["read"] > N_CONDITIONS // 8, counts
