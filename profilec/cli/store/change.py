"""`profilec store init|add|remove|import|compact`: what changes a store.

In: the folder, ids and conditions, or files of profiles. Out: a change that is whole or was not; what was done, on
standard error.
"""

from __future__ import annotations

from typing import Annotated

import typer

from profilec.cli import terminal
from profilec.cli.store.opening import StorePath, Sync, opened
from profilec.cli.terminal import counted

Replace = Annotated[bool, typer.Option("--replace", help="Replace profiles whose ids are there already.")]


def init(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The folder to make.")],
    schema: Annotated[
        list[str] | None,
        typer.Option("--schema", metavar="FILE.prof", help="SCHEMA statements that hold for all its profiles."),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of compile, for good.")
    ] = None,
    sync: Sync = "commit",
) -> None:
    """Make an empty store."""
    from profilec.cli.load import read_options, schema_or_stop

    findings = terminal.Findings()
    declared = schema_or_stop(schema, findings) if schema else None
    if findings.n_errors:
        raise typer.Exit(terminal.ERROR)
    with opened(path, sync, new=True, schema=declared, options=read_options(option or [])):
        pass


def add(
    path: StorePath,
    id_: Annotated[str, typer.Argument(metavar="ID", help="The id of the profile.")],
    condition: Annotated[str, typer.Argument(metavar="CONDITION", help="Its condition, as text.")],
    replace: Replace = False,
    sync: Sync = "commit",
) -> None:
    """Add a profile."""
    findings = terminal.Findings()
    with opened(path, sync) as profile_set:
        change = profile_set.put_many if replace else profile_set.insert_many
        findings.all(change({id_: condition}))


def remove(
    path: StorePath,
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="The ids of the profiles.")],
    sync: Sync = "commit",
) -> None:
    """Remove profiles, all of them or, where one is not there, none."""
    with opened(path, sync) as profile_set:
        try:
            profile_set.delete_many(ids)
        except KeyError as error:
            terminal.stop(f"{path}: {error.args[0]}")


def import_(
    path: StorePath,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE.prof", help=".prof files, folders of them, - for standard input.")
    ],
    replace: Replace = False,
    sync: Sync = "commit",
) -> None:
    """Add the profiles of files, all of them or, where one has an error, none."""
    from profilec.cli.load import files_or_stop

    findings = terminal.Findings()
    sources = files_or_stop(files)
    with opened(path, sync) as profile_set:
        n_before = len(profile_set)
        findings.all((profile_set.put_many if replace else profile_set.insert_many)(sources))
        n_after = len(profile_set)
        terminal.say(f"{path}: {counted(n_after - n_before, 'profile')} more, {n_after:,} in all")


def compact(path: StorePath, sync: Sync = "commit") -> None:
    """Merge all changes with what was there, without what was removed."""
    with opened(path, sync) as profile_set:
        profile_set.compact()
        terminal.say(f"{path}: {counted(len(profile_set), 'profile')}")
