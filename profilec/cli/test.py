"""`profilec test FILE...`: asks each profile about its ACCEPTS and REJECTS examples.

In: files of profiles. Out: a result an example, and for each that fails a diagnostic and what
each predicate saw. The documents of GIVEN are the earlier documents of the examples after it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from profilec.cli import terminal

if TYPE_CHECKING:
    from profilec.grammar.diagnostics import Diagnostic
    from profilec.grammar.statements import Example
    from profilec.profileset import ProfileSet

_FORMATS = ("text", "ndjson", "json")


@dataclass(frozen=True, slots=True)
class _Case:
    """An example and the profile that it is about."""

    profile: str
    example: Example

    def holds(self, matched: Sequence[str]) -> bool:
        return (self.profile in matched) == (self.example.kind == "ACCEPTS")


def test(
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
) -> None:
    """Run the ACCEPTS and REJECTS examples of profiles."""
    from profilec.cli.load import load, read_options

    format_ = format_ or ("text" if sys.stdout.isatty() else "ndjson")
    terminal.expect_choice("--format", format_, _FORMATS)
    profile_set, findings = load(paths, skip_errors=True, options=read_options(option or []))
    cases = [_Case(id_, example) for id_ in profile_set.ids for example in profile_set.examples(id_)]
    passed, refused = _run(profile_set, cases)

    broken = findings.n_errors
    results = []
    for number, (case, good) in enumerate(zip(cases, passed, strict=True)):
        if number in refused:
            findings(_diagnostic(case, profile_set, "PC403", f"GIVEN, {refused[number]}"))
        elif not good:
            findings(_failure(case, profile_set))
            terminal.say(indent(_why(profile_set, case), "  "))
        results.append(
            {"profile": case.profile, "example": case.example.kind, "line": case.example.line, "passed": good}
        )
    if format_ == "text":
        n_failed = passed.count(False)
        print(f"{terminal.counted(len(cases), 'example')}: {len(cases) - n_failed:,} hold, {n_failed:,} fail")
    elif format_ == "json":
        print(json.dumps(results, ensure_ascii=False, indent=2))
    else:
        for result in results:
            print(json.dumps(result, ensure_ascii=False))
    raise typer.Exit(terminal.ERROR if broken else findings.status())


def _run(profile_set: ProfileSet, cases: Sequence[_Case]) -> tuple[list[bool], dict[int, str]]:
    """Whether each case holds, and why those were not asked whose earlier documents no store keeps.

    Cases with the same earlier documents are matched as one batch.
    """
    from profilec.values.kinds import DocumentError

    groups: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        groups.setdefault(repr(case.example.given), []).append(number)
    passed, refused = [False] * len(cases), {}
    for numbers in groups.values():
        given = cases[numbers[0]].example.given
        try:
            profile_set.documents.extend(given, partial=True)
        except DocumentError as error:
            refused.update(dict.fromkeys(numbers, str(error)))
            continue
        batch = profile_set.match_batch([cases[number].example.document for number in numbers])
        profile_set.documents.delete(range(len(given)))
        for row, number in enumerate(numbers):
            passed[number] = cases[number].holds(batch[row])
    return passed, refused


def _why(profile_set: ProfileSet, case: _Case) -> str:
    profile_set.documents.extend(case.example.given, partial=True)
    why = str(profile_set.why(case.example.document, case.profile))
    profile_set.documents.delete(range(len(case.example.given)))
    return why


def _failure(case: _Case, profile_set: ProfileSet) -> Diagnostic:
    """What is wrong with an example that does not hold."""
    if case.example.kind == "ACCEPTS":
        return _diagnostic(case, profile_set, "PC401", f"the profile {case.profile!r} does not match this document")
    return _diagnostic(case, profile_set, "PC402", f"the profile {case.profile!r} matches this document")


def _diagnostic(case: _Case, profile_set: ProfileSet, code: str, message: str) -> Diagnostic:
    """What there is to say of an example, at the place where it stands."""
    from profilec.grammar.diagnostics import Diagnostic

    example = case.example
    file, _, _ = profile_set.place(case.profile)
    line = None
    if file is not None and example.line is not None:
        line = _line_of(Path(file), example.line)
    return Diagnostic(
        code,
        "error",
        message,
        file,
        example.line,
        example.column,
        profile=case.profile,
        source_line=line,
    )


def _line_of(file: Path, number: int) -> str | None:
    """A line of a file of profiles; None where an image outlived it."""
    try:
        return file.read_text("utf-8-sig").split("\n")[number - 1].rstrip("\r")
    except (OSError, IndexError, UnicodeDecodeError):
        return None
