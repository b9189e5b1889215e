"""`profilec import --dialect D FILE...`: WHERE clauses of a SQL dialect to profiles.

In: SQL files, or tables (CSV, Parquet, NDJSON) with an id and a condition in each row. Out: the
text of a `.prof` file. What cannot be carried over with its meaning is named on standard error,
and the others are written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from profilec.cli import terminal

if TYPE_CHECKING:
    from profilec.grammar.sql import ImportedProfile

_TABLES = (".csv", ".tsv", ".parquet", ".pq", ".ndjson", ".jsonl", ".json")
_CONDITION_COLUMNS = ("condition", "where")


def import_(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="SQL statements; or .csv, .parquet, .ndjson tables of id and condition; - is SQL from standard input.",
        ),
    ],
    dialect: Annotated[str, typer.Option("--dialect", metavar="NAME", help="duckdb, postgres, spark, sqlite, …")],
    schema: Annotated[
        list[str] | None,
        typer.Option("--schema", metavar="FILE.prof", help="SCHEMA statements that tell the columns' types."),
    ] = None,
    like_case: Annotated[
        str,
        typer.Option(
            "--like-case",
            metavar="dialect|sensitive",
            help="sensitive: strings compare by code point, whatever the dialect's default is.",
        ),
    ] = "dialect",
) -> None:
    """Turn WHERE clauses of a SQL dialect into profiles."""
    from profilec.cli.load import files_or_stop, schema_or_stop
    from profilec.grammar.declare import id_fault
    from profilec.grammar.diagnostics import ProfileError
    from profilec.grammar.format import format_text
    from profilec.grammar.sql import import_rows, import_sql
    from profilec.grammar.statements import decode

    terminal.expect_choice("--like-case", like_case, ("dialect", "sensitive"))
    findings = terminal.Findings()
    options: dict[str, Any] = {
        "schema": schema_or_stop(schema, findings) if schema else None,
        "like_case": like_case,
        "report": findings,
    }
    imported: dict[str, ImportedProfile] = {}
    for path in files_or_stop(paths):
        try:
            if path.suffix.lower() in _TABLES:
                profiles = import_rows(_rows(path, findings), dialect, file=str(path), **options)
            else:
                text = decode(path.read_bytes(), str(path), findings)
                profiles = [] if text is None else import_sql(text, dialect, file=str(path), **options)
        except ProfileError as error:  # there is no such dialect
            findings.all(error.diagnostics)
            raise typer.Exit(terminal.ERROR) from None
        except OSError as error:
            terminal.stop(f"{path}: {error.strerror}")
        for profile in profiles:
            fault = id_fault(profile.id) or ("it was given in another file, too" if profile.id in imported else None)
            if fault is not None:
                findings.error(f"{path}:{profile.line}: error: the id {profile.id!r}: {fault}")
            else:
                imported[profile.id] = profile
    lines = [f"PROFILE {_spelled(profile.id)} WHERE {profile.where};\n" for profile in imported.values()]
    sys.stdout.write(format_text("".join(lines), None))
    raise typer.Exit(findings.status())


def _spelled(id_: str) -> str:
    from profilec.grammar.lexer import is_plain_name
    from profilec.grammar.spell import quote

    return id_ if is_plain_name(id_) else quote(id_)


def _rows(path: Path, findings: terminal.Findings) -> Iterator[tuple[str | None, str]]:
    """Id and condition of each row: the columns of those names, or else the first two."""
    from profilec.cli.documents.chunks import Tally
    from profilec.cli.documents.formats import Input, InputError, read_documents
    from profilec.values.types import Field, Schema, Type

    text = Type("STRING")
    schema = Schema(tuple(Field(name, text) for name in ("id", *_CONDITION_COLUMNS)))
    options = Input(Tally(report=findings.error), warn=lambda message: None, schema=schema)
    try:
        for chunk in read_documents([str(path)], options):
            for row in chunk.rows():
                names = list(row)
                id_column = "id" if "id" in row else names[0]
                where_column = next((name for name in _CONDITION_COLUMNS if name in row), names[:2][-1])
                id_, where = row[id_column], row[where_column]
                yield None if id_ is None else str(id_), "" if where is None else str(where)
    except InputError as error:
        terminal.stop(str(error))
