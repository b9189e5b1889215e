"""`profilec fmt FILE...`: writes files in the one layout that `grammar.format` gives them.

In: files of profiles. Out: the same files, rewritten where they differ; standard input is
formatted to standard output. With `--check` or `--diff` nothing is written.
"""

from __future__ import annotations

import difflib
import errno
import os
import shutil
import sys
import tempfile
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
        formatted = format_text(text, str(path), report=findings)
        written = formatted.encode("utf-8", "surrogateescape")
        changed = written != data
        n_changed += changed
        if diff:
            sys.stdout.writelines(_diff(path, text, formatted))
        elif check:
            if changed:
                print(path)
        elif path == STDIN_PATH:
            sys.stdout.write(formatted)
        elif changed:
            try:
                _replace(path, written)
            except OSError as error:
                terminal.stop(f"{path}: {error.strerror}")
            terminal.say(f"formatted {path}")
    if findings.n_errors:
        raise typer.Exit(terminal.ERROR)
    raise typer.Exit(terminal.FINDINGS if n_changed and (check or diff) else terminal.CLEAN)


def _replace(path: Path, data: bytes) -> None:
    """Puts new bytes in a file's place at once, so that a full disk or a crash cannot cost what was there."""
    target = path.resolve()
    if not os.access(target, os.W_OK):  # to put another in its place, writing to the folder would be enough
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            file.write(data)
            file.close()
            shutil.copymode(target, file.name)
            os.replace(file.name, target)
        except OSError:
            os.unlink(file.name)
            raise


def _diff(path: Path, before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"{path} (as it is)", f"{path} (formatted)"
    )
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
