"""`profilec compile FILE.prof... -o IMAGE`: profiles to an image, which other verbs take in place of text.

In: files of profiles. Out: one file, and what it costs, on standard error; as JSON on standard output if asked for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from profilec.cli import terminal
from profilec.cli.terminal import CLEAN, FINDINGS
from profilec.cli.verify import as_json, summary


def compile_(
    paths: Annotated[
        list[str], typer.Argument(metavar="FILE", help=".prof files, folders of them, - for standard input.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="IMAGE", help="The file to write, as deals.prfi.")],
    schema: Annotated[
        list[str] | None,
        typer.Option("--schema", metavar="FILE.prof", help="SCHEMA statements that hold for the profiles too."),
    ] = None,
    statistics: Annotated[
        list[str] | None,
        typer.Option(
            "--statistics",
            metavar="DOCS",
            help="A sample of the documents to come, for the planner; the first 10,000 are read. May be repeated.",
        ),
    ] = None,
    matcher: Annotated[str | None, typer.Option("--matcher", help="Force a matcher; the answer is the same.")] = None,
    index: Annotated[
        list[str] | None, typer.Option("--index", metavar="ATTRIBUTE=NAME", help="Force an index; may be repeated.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="An option of compile.")
    ] = None,
    skip_errors: Annotated[
        bool, typer.Option("--skip-errors", help="Keep the profiles that compile, and exit with 1.")
    ] = False,
    format_: Annotated[
        str, typer.Option("--format", metavar="text|json", help="How to tell what was written.")
    ] = "text",
) -> None:
    """Compile profiles into an image, a file that loads in milliseconds."""
    from profilec.cli.load import files_or_stop, load, read_options, sample_or_stop, schema_or_stop
    from profilec.runtime.imagefile.container import ImageFile
    from profilec.saved_set import report

    terminal.expect_choice("--format", format_, ("text", "json"))
    files_or_stop(paths)  # ends where one is an image, which is compiled already
    declared = schema_or_stop(schema, terminal.Findings()) if schema else None
    options = read_options(option or [], matcher=matcher, index=index or [])
    sample = sample_or_stop(statistics, declared) if statistics else None
    profile_set, findings = load(paths, skip_errors=skip_errors, options=options, schema=declared, statistics=sample)
    try:
        profile_set.save(output)
    except OSError as error:
        terminal.stop(f"{output}: {error.strerror}")
    if Path(output).is_file():  # and no pipe, of which nothing is left to be told
        written = report(ImageFile.open(output))
        if format_ == "json":
            print(json.dumps(as_json(written), ensure_ascii=False))
        terminal.say(summary(written))
    raise typer.Exit(FINDINGS if findings.n_errors else CLEAN)
