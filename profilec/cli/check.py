"""`profilec check FILE...`: every error and warning of the files, read as one set.

In: files of profiles. Out: the diagnostics, for people on standard error; where standard output
is no terminal, also as NDJSON there.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from profilec.cli import terminal
from profilec.cli.terminal import counted

if TYPE_CHECKING:
    from profilec.grammar.diagnostics import Diagnostic

_FORMATS = ("text", "ndjson", "json")
_FIELDS = ("code", "severity", "message", "file", "line", "column", "end_column", "hint", "profile")


def check(
    paths: Annotated[
        list[str], typer.Argument(metavar="FILE", help=".prof files, folders of them, an image, - for standard input.")
    ],
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="text|ndjson|json", help="Default: text on a terminal, else ndjson."),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of compile.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings are findings too.")] = False,
) -> None:
    """Report all errors and warnings of profiles."""
    from profilec.cli.load import load, read_options

    format_ = format_ or ("text" if sys.stdout.isatty() else "ndjson")
    terminal.expect_choice("--format", format_, _FORMATS)
    profile_set, findings = load(paths, skip_errors=True, images_findings=True, options=read_options(option or []))
    if format_ == "text":
        compiled = counted(len(profile_set), "profile") + (" compiles" if len(profile_set) == 1 else " compile")
        print(f"{compiled}: {counted(findings.n_errors, 'error')}, {counted(findings.n_warnings, 'warning')}")
    elif format_ == "json":
        print(json.dumps(list(map(_as_json, profile_set.diagnostics)), ensure_ascii=False, indent=2))
    else:
        for diagnostic in profile_set.diagnostics:
            print(json.dumps(_as_json(diagnostic), ensure_ascii=False))
    raise typer.Exit(findings.status(strict=strict))


def _as_json(diagnostic: Diagnostic) -> dict[str, str | int | None]:
    return {name: getattr(diagnostic, name) for name in _FIELDS}
