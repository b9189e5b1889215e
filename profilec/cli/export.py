"""`profilec export --dialect D FILE...`: each profile as a WHERE clause of a SQL dialect.

In: files of profiles. Out: a statement a profile, under its id as a comment, as `import` reads
them back. What the dialect cannot say with the same meaning is named on standard error.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated

import typer

from profilec.cli import terminal


def export(
    paths: Annotated[
        list[str], typer.Argument(metavar="FILE", help=".prof files, folders of them, an image, - for standard input.")
    ],
    dialect: Annotated[str, typer.Option("--dialect", metavar="NAME", help="duckdb, postgres, spark, sqlite, …")],
    format_: Annotated[str, typer.Option("--format", metavar="sql|ndjson", help="How to write.")] = "sql",
) -> None:
    """Turn profiles into WHERE clauses of a SQL dialect."""
    from profilec.cli.load import files_or_stop, load
    from profilec.cli.sources import holds_image, names_store
    from profilec.grammar.diagnostics import ProfileError
    from profilec.grammar.limits import DEFAULT_LIMITS
    from profilec.grammar.sql import export_condition
    from profilec.grammar.sql.dialects import dialect_name
    from profilec.planner.sources import Source

    terminal.expect_choice("--format", format_, ("sql", "ndjson"))
    findings = terminal.Findings()
    try:
        dialect_name(dialect)
        if any(holds_image(path) or names_store(path) for path in paths):
            profile_set, _ = load(paths)
            source, declared = Source([profile_set[id_] for id_ in profile_set], findings), profile_set.schema
        else:
            source, declared = Source(files_or_stop(paths), findings), None
    except ProfileError as error:  # there is no such dialect
        findings.all(error.diagnostics)
        raise typer.Exit(terminal.ERROR) from None
    except OSError as error:
        terminal.stop(terminal.reason(error))
    schema = source.schema(declared)
    for statement in source.statements(schema, DEFAULT_LIMITS):
        try:
            where = export_condition(statement.condition, dialect, schema, profile=statement.id)
        except ProfileError as error:
            findings.all(
                replace(diagnostic, file=statement.file, line=statement.line, column=statement.column)
                for diagnostic in error.diagnostics
            )
            continue
        if format_ == "ndjson":
            print(json.dumps({"profile": statement.id, "where": where}, ensure_ascii=False))
        else:
            print(f"-- id: {statement.id}\nWHERE {where};")
    raise typer.Exit(findings.status())
