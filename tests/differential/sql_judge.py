"""The second judge: SQLite and DuckDB, for what they can say with the same meaning.

SQLite has STRICT tables and `case_sensitive_like`, and compares an integer with a double exactly;
DuckDB has dates, booleans and RE2. The generator keeps a world that an engine judges to their
common language (`Maker.sql`). FORALL d (p) becomes NOT EXISTS (… WHERE p IS NOT TRUE).
"""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import duckdb
from history import spans
from structures import (
    Alike,
    Arithmetic,
    Bare,
    Between,
    Column,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Document,
    Function,
    Given,
    Is,
    Negation,
    Null,
    OneOf,
    Plain,
    Quantified,
    Regex,
    Scalar,
    Truth,
    World,
)

SQLITE_TYPES = {
    "price": "INTEGER", "last": "INTEGER", "weight": "REAL", "größe": "REAL",
    "brand": "TEXT", "date": "TEXT", "flag": "INTEGER", "matches": "INTEGER",
}  # fmt: skip
DUCKDB_TYPES = {
    "price": "BIGINT", "last": "BIGINT", "weight": "DOUBLE", "größe": "DOUBLE", "brand": "VARCHAR", "date": "VARCHAR",
    "flag": "BOOLEAN", "matches": "BOOLEAN", "day": "DATE", "given": "DATE", "sold_at": "TIMESTAMP",
    "escape": "TIMESTAMP",
}  # fmt: skip


class SqlPrinter:
    """Prints conditions over `fresh n` (the new documents) and `earlier d`, with every parenthesis."""

    def __init__(self, engine: str, n_earlier: int) -> None:
        self.engine = engine
        self.n_earlier = n_earlier

    def condition(self, node: Condition) -> str:
        match node:
            case Truth(value):
                return {True: "(1 = 1)", False: "(1 = 0)", None: "(NULL = 1)"}[value]
            case Bare(column):
                return self.scalar(column)
            case Comparison(operands, operators):
                texts = [self.scalar(operand) for operand in operands]
                pairs = zip(texts, operators, texts[1:], strict=False)
                return self.joined("AND", [f"({left} {operator} {right})" for left, operator, right in pairs])
            case Between(operand, low, high, negated):
                low_text, high_text = self.scalar(low), self.scalar(high)
                return f"({self.scalar(operand)} {self.no(negated)}BETWEEN {low_text} AND {high_text})"
            case OneOf(operand, options, negated):
                return f"({self.scalar(operand)} {self.no(negated)}IN ({', '.join(map(self.scalar, options))}))"
            case Alike(operand, pattern, escape, _, negated):
                ending = f" ESCAPE {self.literal(escape)}" if escape is not None else ""
                return f"({self.scalar(operand)} {self.no(negated)}LIKE {self.scalar(pattern)}{ending})"
            case Regex(operand, pattern, negated):
                return f"({self.no(negated)}regexp_matches({self.scalar(operand)}, {self.literal(pattern)}))"
            case Null(operand, negated):
                return f"({self.scalar(operand)} IS {self.no(negated)}NULL)"
            case Is(operand, truth, negated):
                word = {True: "TRUE", False: "FALSE", None: "NULL"}[truth]
                return f"({self.condition(operand)} IS {self.no(negated)}{word})"
            case Negation(operand):
                return f"(NOT {self.condition(operand)})"
            case Conjunction(operands):
                return self.joined("AND", [self.condition(operand) for operand in operands])
            case Disjunction(operands):
                return self.joined("OR", [self.condition(operand) for operand in operands])
            case Quantified():
                return self.quantified(node)
        raise TypeError(node)

    def quantified(self, node: Quantified) -> str:
        wanted = [self.condition(node.body)] if node.quantifier == "EXISTS" else [self.violates(node.body)]
        if node.last is not None:
            wanted.append(f"(d.position >= {self.n_earlier - node.last})")
        if node.within is not None:
            days, (name,) = node.within
            wanted.append(f"(d.{name} BETWEEN n.{name} - INTERVAL {days} DAY AND n.{name})")
        if node.where is not None:
            wanted.append(self.condition(node.where))
        query = f"EXISTS (SELECT 1 FROM earlier d WHERE {self.joined('AND', wanted)})"
        return query if node.quantifier == "EXISTS" else f"(NOT {query})"

    def violates(self, body: Condition) -> str:
        """NULL: a document for which the body is UNKNOWN spoils FORALL."""
        return f"({self.condition(body)} IS NOT TRUE)"

    def scalar(self, node: Scalar) -> str:
        match node:
            case Column(parts, variable, _):
                return f'{variable or "n"}."{parts[0]}"'
            case Given(value):
                return self.literal(value)
            case Arithmetic(operator, left, right):
                return f"({self.scalar(left)} {operator} {self.scalar(right)})"
            case Function(name, arguments):
                return f"{name}({', '.join(map(self.scalar, arguments))})"
        raise TypeError(node)

    def literal(self, value: Plain) -> str:
        match value:
            case None:
                return "NULL"
            case True | False:
                return "TRUE" if value else "FALSE"
            case str():
                return "'" + value.replace("'", "''") + "'"
            case datetime.datetime():
                return f"TIMESTAMP '{value.isoformat(' ')}'"
            case datetime.date():
                return f"DATE '{value.isoformat()}'"
            case Decimal():
                return f"CAST('{float(value)!r}' AS DOUBLE)" if self.engine == "duckdb" else repr(float(value))
        return str(value)

    def joined(self, word: str, conditions: Sequence[str]) -> str:
        return "(" + f" {word} ".join(conditions) + ")"

    def no(self, negated: bool) -> str:
        return "NOT " if negated else ""


class SqlJudge:
    """Connections that are kept, for tables that are made anew for each world."""

    def __init__(self) -> None:
        self._sqlite = sqlite3.connect(":memory:")
        self._sqlite.execute("PRAGMA case_sensitive_like = ON")
        self._duckdb = duckdb.connect()
        self._duckdb.execute("SET threads = 1")

    def judged(self, world: World, printer: type[SqlPrinter] = SqlPrinter) -> list[list[bool | None]]:
        """The truth of each condition (inner) for each new document (outer)."""
        assert world.sql
        rows: list[list[bool | None]] = []
        for span in spans(world):
            rows += self.truths(world.sql, world.conditions, span.documents, span.store, printer)
        return rows

    def truths(
        self,
        engine: str,
        conditions: Sequence[Condition],
        documents: Sequence[Document],
        earlier: Sequence[Document],
        printer: type[SqlPrinter] = SqlPrinter,
    ) -> list[list[bool | None]]:
        """The truth of each condition (inner) for each new document (outer)."""
        connection: Any = self._sqlite if engine == "sqlite" else self._duckdb
        types = SQLITE_TYPES if engine == "sqlite" else DUCKDB_TYPES
        ending = " STRICT" if engine == "sqlite" else ""
        for table, records in (("fresh", documents), ("earlier", earlier)):
            columns = ", ".join(f'"{name}" {type_}' for name, type_ in types.items())
            connection.execute(f"DROP TABLE IF EXISTS {table}")
            connection.execute(f"CREATE TABLE {table} (position INTEGER, {columns}){ending}")
            rows = [(place, *(record.get(name) for name in types)) for place, record in enumerate(records)]
            for some in (rows[first : first + 50] for first in range(0, len(rows), 50)):
                row = f"(?{', ?' * len(types)})"
                values = [value for row in some for value in row]
                connection.execute(f"INSERT INTO {table} VALUES {', '.join([row] * len(some))}", values)
        prints = printer(engine, len(earlier))
        # One by one: DuckDB takes half a minute to plan 50 subqueries of one SELECT.
        answers = [
            connection.execute(f"SELECT {prints.condition(condition)} FROM fresh n ORDER BY position").fetchall()
            for condition in conditions
        ]
        return [[None if truth is None else bool(truth) for (truth,) in row] for row in zip(*answers, strict=True)]
