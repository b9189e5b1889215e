"""A store that is opened for a verb.

In: the folder that an argument names. Out: the set, which is closed at the end; an error of the store, or of what was
to be changed, as messages and the status 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from profilec.cli import terminal
from profilec.cli.sources import names_store

if TYPE_CHECKING:
    from profilec.profileset import ProfileSet

StorePath = Annotated[str, typer.Argument(metavar="PATH", help="The folder of the store.")]
Sync = Annotated[
    str,
    typer.Option(
        "--sync",
        metavar="commit|batch|off",
        help="When changes are written through to the disk: each, now and then, when the system likes.",
    ),
]
SYNCS = ("commit", "batch", "off")


@contextmanager
def opened(path: str, sync: str = "commit", *, new: bool = False, **given: Any) -> Iterator[ProfileSet]:
    """The set of a store, which must be there, or, with `new`, not. `given`: schema and options of a new one."""
    import profilec

    terminal.expect_choice("--sync", sync, SYNCS)
    with told():
        if names_store(path) == new:
            terminal.stop(f"{path}: it is a store already" if new else f"{path}: {no_store(path)}")
        with profilec.open(path, sync=sync, **given) as profile_set:
            yield profile_set


def no_store(path: str) -> str:
    """Why a path is no store."""
    reason = "it is no store" if Path(path).exists() else "there is no such folder"
    return f"{reason}; `profilec store init` makes one"


@contextmanager
def told() -> Iterator[None]:
    """Errors of a store as messages, with which the verb ends."""
    import profilec

    try:
        yield
    except profilec.ProfileError as error:
        terminal.Findings().all(error.diagnostics)
        raise typer.Exit(terminal.ERROR) from None
    except KeyError as error:
        terminal.stop(str(error.args[0]))
    except OSError as error:
        terminal.stop(terminal.reason(error))
    except (profilec.StoreError, ValueError, TypeError) as error:
        terminal.stop(str(error))
