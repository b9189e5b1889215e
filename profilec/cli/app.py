"""The command `profilec`: its verbs and the options that belong to none of them."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Annotated, NoReturn

import typer

from profilec.cli import (
    bench,
    calibrate,
    check,
    compile,
    explain,
    export,
    fmt,
    import_,
    match,
    stats,
    terminal,
    test,
    verify,
    warmup,
)
from profilec.cli.store import verbs as store

app = typer.Typer(
    name="profilec",
    help="Stored WHERE clauses, compiled: check them, and ask which of them a record matches.",
    epilog="Exit status: 0 clean, 1 findings, 2 error.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
app.command("check")(check.check)
app.command("fmt")(fmt.fmt)
app.command("test")(test.test)
app.command("match")(match.match)
app.command("explain")(explain.explain)
app.command("stats")(stats.stats)
app.command("bench")(bench.bench)
app.command("calibrate")(calibrate.calibrate)
app.command("compile")(compile.compile_)
app.command("verify")(verify.verify)
app.command("warmup")(warmup.warmup)
app.command("import")(import_.import_)
app.command("export")(export.export)
app.add_typer(store.app, name="store")


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        print(f"profilec {version('profilec')}")
    except PackageNotFoundError:
        print("profilec (run from its source, not installed)")
    raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Stored WHERE clauses, compiled: check them, and ask which of them a record matches."""


def main() -> NoReturn:
    """Runs the command line of this process, and ends it with its status."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  as long as the process lives
    if sys.stdout is None:
        terminal.say("error: standard output is closed", "red")
        _leave(terminal.ERROR)
    # Ids and texts are Unicode whatever the locale says.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    terminal.say_what_is_logged()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except SystemExit as done:
        _leave(done.code if isinstance(done.code, int) else terminal.CLEAN)
    except BrokenPipeError:
        _leave(terminal.FINDINGS)  # as when the reader goes before the last of the output
    except OSError as error:
        if error.filename is None and error.errno is not None:  # what is opened by name was told where it is read
            error.filename = "standard output"
        terminal.say(f"error: {terminal.reason(error)}", "red")
    _leave(terminal.ERROR)


def _leave(status: int) -> NoReturn:
    """Ends the process without tearing down the interpreter around threads of libraries.

    Once, and not again, a process that had read CSV ended with status 134 after its last output; that its cause was a
    thread of Arrow is a guess.
    """
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(status)
