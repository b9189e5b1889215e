"""Arguments to a compiled set, its diagnostics printed: how the verbs that need a set begin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from profilec.cli import terminal
from profilec.cli.sources import SourceError, find_files

if TYPE_CHECKING:
    from profilec.cli.documents.formats import Input
    from profilec.profileset import ProfileSet
    from profilec.values.types import Schema


def files_or_stop(arguments: Sequence[str]) -> list[Path]:
    """The files of profiles that arguments name; ends the verb where one names none."""
    try:
        return find_files(arguments)
    except SourceError as error:
        terminal.stop(str(error))


def schema_or_stop(arguments: Sequence[str], findings: terminal.Findings) -> Schema | None:
    """What the SCHEMA statements of files declare; None where there is none."""
    from profilec.planner.sources import Source

    try:
        return Source(files_or_stop(arguments), findings).schema(None)
    except OSError as error:
        terminal.stop(f"{error.filename}: {error.strerror}")


def load_history(profile_set: ProfileSet, paths: Sequence[str], options: Input) -> None:
    """Reads earlier documents into the set's store.

    Raises:
        InputError, MalformedError: as `read_documents`.
    """
    from profilec.cli.documents.formats import InputError, read_documents
    from profilec.values.kinds import DocumentError

    for chunk in read_documents(paths, options):
        try:
            profile_set.documents.extend(chunk.documents)
        except DocumentError as error:
            if not isinstance(chunk.documents, list):
                raise InputError(f"{chunk.name}: {error}") from None
            for line, document in zip(chunk.lines, chunk.documents, strict=True):
                try:
                    profile_set.documents.add(document)
                except DocumentError as found:
                    options.tally.malformed(chunk.name, line, str(found))
    options.tally.n_records = 0  # documents are numbered from the first that is matched


def load(
    arguments: Sequence[str], *, skip_errors: bool = False, options: dict[str, Any] | None = None
) -> tuple[ProfileSet, terminal.Findings]:
    """The compiled set of the files, and what was found in them.

    Ends the verb where they cannot be read, and where a profile has an error, unless `skip_errors`.
    """
    import profilec

    findings = terminal.Findings()
    try:
        files = files_or_stop(arguments)
        on_error = "skip" if skip_errors else "raise"
        with terminal.progress("compiling") as advance:
            profile_set = profilec.compile(files, options=options, on_error=on_error, progress=advance)
    except profilec.ProfileError as error:
        findings.all(error.diagnostics)
        raise typer.Exit(terminal.ERROR) from None
    except OSError as error:
        terminal.stop(f"{error.filename}: {error.strerror}")
    except ValueError as error:
        terminal.stop(str(error))
    findings.all(profile_set.diagnostics)
    return profile_set, findings


def read_options(given: Sequence[str], *, matcher: str | None = None, index: Sequence[str] = ()) -> dict[str, Any]:
    """The options of `compile` that the command line names.

    >>> read_options(["max_depth=500"], matcher="scan", index=["price=interval"])
    {'max_depth': 500, 'matcher': 'scan', 'index': {'price': 'interval'}}
    """
    options: dict[str, Any] = {}
    for option in given:
        name, value = _cut("--option", option)
        options[name] = int(value) if value.isdecimal() else value
    if matcher is not None:
        options["matcher"] = matcher
    if index:
        options["index"] = dict(_cut("--index", choice) for choice in index)
    return options


def _cut(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name or not value:
        terminal.stop(f"{option} takes NAME=VALUE, not {text!r}")
    return name, value
