"""`profilec fmt FILE...`: writes files in the one layout that `grammar.format` gives them.

In: files of profiles. Out: the same files, rewritten where they differ; standard input is
formatted to standard output. With `--check` or `--diff` nothing is written.
"""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import Annotated

import typer

from profilec.cli import terminal
from profilec.cli.sources import STDIN_PATH


def fmt(
    paths: Annotated[
        list[str], typer.Argument(metavar="FILE", help=".prof files, folders of them, - for standard input.")
    ],
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if a file would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="As --check, and print what would change.")] = False,
) -> None:
    """Format files of profiles in place."""
    from profilec.cli.load import files_or_stop
    from profilec.grammar.diagnostics import ProfileError
    from profilec.grammar.format import format_text
    from profilec.grammar.statements import decode

    findings = terminal.Findings()
    n_changed = 0
    for path in files_or_stop(paths):
        try:
            data = path.read_bytes()
        except OSError as error:
            terminal.stop(f"{path}: {error.strerror}")
        text = decode(data, str(path), findings)
        if text is None:
            continue
        try:
            formatted = format_text(text, str(path))
        except ProfileError as error:
            findings.all(error.diagnostics)
            continue
        changed = formatted.encode() != data
        n_changed += changed
        if diff:
            sys.stdout.writelines(_diff(path, text, formatted))
        elif check:
            if changed:
                print(path)
        elif path == STDIN_PATH:
            sys.stdout.write(formatted)
        elif changed:
            path.write_bytes(formatted.encode())
            terminal.say(f"formatted {path}")
    if findings.n_errors:
        raise typer.Exit(terminal.ERROR)
    raise typer.Exit(terminal.FINDINGS if n_changed and (check or diff) else terminal.CLEAN)


def _diff(path: Path, before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"{path} (as it is)", f"{path} (formatted)"
    )
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
