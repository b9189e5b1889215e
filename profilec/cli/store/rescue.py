"""`profilec store backup|salvage`: a store in another place, and what is left of a damaged one.

In: the folder of a store. Out: a copy of it; or a `.prof` file of the profiles that can be read, and what was lost, on
standard error.

Invariant: nothing that is there is written over.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, cast

import typer

from profilec.cli import terminal
from profilec.cli.store.opening import StorePath, opened, told
from profilec.cli.terminal import CLEAN, FINDINGS, counted


def backup(
    path: StorePath,
    destination: Annotated[str, typer.Argument(metavar="DEST", help="The folder to make.")],
    link: Annotated[
        bool, typer.Option("--link", help="Link the segments' files: at once, but no protection from damage to them.")
    ] = False,
) -> None:
    """Copy a store, while others go on with it."""
    from profilec.store.backup import backup_store
    from profilec.store.store import Store

    with opened(path) as profile_set:
        backup_store(cast(Store, profile_set.keeper), Path(destination), link=link)


def salvage(
    path: StorePath,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.prof", help="The file to make.")],
) -> None:
    """Write down the profiles of a damaged store that can be read."""
    from profilec.cli.store.prof_file import ProfText, Written
    from profilec.grammar.limits import DEFAULT_LIMITS
    from profilec.store.salvage import salvage as salvaged

    with told():
        found = salvaged(path)
        profiles = (Written(one.id, one.where, one.properties, one.examples, one.comment) for one in found)
        text = ProfText(profiles, found.schema, DEFAULT_LIMITS)
        if Path(output).resolve().is_relative_to(Path(path).resolve()):
            terminal.stop(f"{output}: it would lie within the store; name another file with -o")
        _write_new(output, text)
    for line in [*found.lost, *text.lost]:
        terminal.warn(f"lost: {line}")
    terminal.say(f"{output}: {counted(text.n_written, 'profile')}")
    raise typer.Exit(FINDINGS if found.lost or text.lost else CLEAN)


def _write_new(output: str, pieces: Iterable[str]) -> None:
    try:
        with open(output, "x", encoding="utf-8") as file:
            file.writelines(pieces)
    except FileExistsError:
        terminal.stop(f"{output}: it is there already; name another file with -o")
