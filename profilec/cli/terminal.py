"""What a verb says beside its results: diagnostics, progress, the exit status.

Invariant: nothing here writes to standard output. Colours and progress bars appear only where
standard error is a terminal, and only then is rich imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, Protocol

import typer

if TYPE_CHECKING:
    from profilec.grammar.diagnostics import Diagnostic

CLEAN = 0
FINDINGS = 1
ERROR = 2


class Advance(Protocol):
    """Tells a progress bar how much is done in all; `total` where it becomes known."""

    def __call__(self, done: int, total: int | None = None) -> None: ...


class Findings:
    """Prints diagnostics and counts them.

    >>> Findings().status(strict=True)
    0
    """

    def __init__(self) -> None:
        self.n_errors = 0
        self.n_warnings = 0

    def __call__(self, diagnostic: Diagnostic) -> None:
        self.count([diagnostic])
        say(diagnostic.render(), "red" if diagnostic.severity == "error" else "yellow")

    def error(self, message: str) -> None:
        """An error that has no code."""
        self.n_errors += 1
        say(message, "red")

    def all(self, diagnostics: Iterable[Diagnostic]) -> None:
        for diagnostic in diagnostics:
            self(diagnostic)

    def count(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Diagnostics that are not printed."""
        for diagnostic in diagnostics:
            if diagnostic.severity == "error":
                self.n_errors += 1
            else:
                self.n_warnings += 1

    def status(self, *, strict: bool = False) -> int:
        """CLEAN or FINDINGS; warnings are findings only where the user is strict."""
        return FINDINGS if self.n_errors or (strict and self.n_warnings) else CLEAN


def say(text: str, colour: str | None = None) -> None:
    """A message on standard error; `colour` is given to its first line on a terminal.

    What a terminal would obey is escaped.
    """
    from profilec.grammar.diagnostics import escaped

    text = "\n".join(map(escaped, text.split("\n")))
    if colour is not None and sys.stderr.isatty():
        head, newline, rest = text.partition("\n")
        text = typer.style(head, fg=colour, bold=True) + newline + rest
    print(text, file=sys.stderr)


def say_what_is_logged() -> None:
    """What the runtime logs from now on, as that it compiles kernels, is said as the verbs' own warnings are."""
    import logging

    class Said(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            tell = warn if record.levelno >= logging.WARNING else say
            tell(record.getMessage())

    log = logging.getLogger("profilec")
    log.addHandler(Said())
    log.setLevel(logging.INFO)


def reason(error: OSError) -> str:
    """What the system refused, and of which file.

    >>> reason(FileNotFoundError(2, "No such file or directory", "a.prof")), reason(ChildProcessError("it died"))
    ('a.prof: No such file or directory', 'it died')
    """
    return f"{'' if error.filename is None else f'{error.filename}: '}{error.strerror or error}"


def counted(n: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "error"), counted(1200, "error")
    ('1 error', '1,200 errors')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def warn(message: str) -> None:
    say(f"warning: {message}", "yellow")


def stop(message: str) -> NoReturn:
    """Ends the verb: it cannot do what it was asked."""
    say(f"error: {message}", "red")
    raise typer.Exit(ERROR)


def expect_choice(option: str, given: str, choices: Sequence[str]) -> None:
    """Ends the verb where an option is none of its choices."""
    if given not in choices:
        stop(f"{option} is one of {', '.join(choices)}, not {given!r}")


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Advance]:
    """A progress bar while standard error is a terminal and results do not scroll past on the same one."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield lambda done, total=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)

        def advance(done: int, total: int | None = None) -> None:
            if total is not None:
                bar.update(task, completed=done, total=total)
            else:
                bar.update(task, completed=done)

        yield advance
