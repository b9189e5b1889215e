"""`profilec compile FILE.prof... -o IMAGE`: profiles to an image, which other verbs take in place of text.

In: files of profiles. Out: one file, and what it costs, on standard error; as JSON on standard output if asked for.

Invariant: no text is lost: neither what is read, nor other profiles, can be what is written.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from profilec.cli import terminal
from profilec.cli.choices import Indexes, Matchers, PhaseOrder
from profilec.cli.sources import SUFFIX, holds_image, names_image
from profilec.cli.terminal import CLEAN, FINDINGS
from profilec.cli.verify import as_json, summary


def compile_(
    paths: Annotated[
        list[str], typer.Argument(metavar="FILE", help=".prof files, folders of them, - for standard input.")
    ],
    outputs: Annotated[
        list[str],
        typer.Option(
            "--output", "-o", metavar="IMAGE", help="The file to write, as deals.prfi; - for standard output."
        ),
    ],
    schema: Annotated[
        list[str] | None,
        typer.Option("--schema", metavar="FILE.prof", help="SCHEMA statements that hold for the profiles too."),
    ] = None,
    statistics: Annotated[
        list[str] | None,
        typer.Option(
            "--statistics",
            metavar="FILE",
            help="Documents like those to come, or what `profilec stats` wrote of them; may be repeated.",
        ),
    ] = None,
    calibration: Annotated[
        str | None, typer.Option("--calibration", metavar="FILE", help="Unit costs that `profilec calibrate` measured.")
    ] = None,
    matcher: Matchers = None,
    index: Indexes = None,
    phase_order: PhaseOrder = None,
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
    from profilec.cli.load import files_or_stop, load, read_options, schema_or_stop, statistics_or_stop
    from profilec.runtime.imagefile.container import ImageFile
    from profilec.saved_set import report

    terminal.expect_choice("--format", format_, ("text", "json"))
    output = _one_output(outputs, format_)
    sources = files_or_stop(paths)  # ends where one is an image, which is compiled already
    for path in filter(holds_image, paths):
        terminal.stop(f"{path}: it is an image, and this takes the text of profiles")
    _expect_no_loss(output, [*sources, *files_or_stop(schema or ()), *map(Path, statistics or ())])
    declared = schema_or_stop(schema, terminal.Findings()) if schema else None
    options = read_options(option or [], matcher=matcher or [], index=index or [], phase_order=phase_order)
    known = statistics_or_stop(statistics, declared) if statistics else None
    profile_set, findings = load(
        paths, skip_errors=skip_errors, options=options, schema=declared, statistics=known, calibration=calibration
    )
    if output == _STDOUT:
        profile_set.save(sys.stdout.buffer)
        raise typer.Exit(FINDINGS if findings.n_errors else CLEAN)
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


_STDOUT = "-"
_BEGINNING = 1 << 16


def _one_output(outputs: Sequence[str], format_: str) -> str:
    """Where to write; ends the verb where that makes no sense."""
    from profilec.planner.options import NAMES

    for output in outputs:
        name, equals, _ = output.partition("=")
        if equals and name in NAMES:
            terminal.stop(f"-o names the file to write; an option of compile is given as --option {output}")
    if len(outputs) > 1:
        terminal.stop(f"one image is written, and -o names {len(outputs)}: {', '.join(outputs)}")
    if outputs[0] == _STDOUT and format_ == "json":
        terminal.stop("-o -: standard output takes the image, so nothing can be told there with --format json")
    if outputs[0] == _STDOUT and sys.stdout.isatty():
        terminal.stop("-o -: an image is no text for a terminal; redirect standard output, or name a file")
    return outputs[0]


def _expect_no_loss(output: str, inputs: Sequence[Path]) -> None:
    """Ends the verb where an image would replace what is read, or other profiles."""
    target = Path(output)
    if output == _STDOUT or not target.is_file():
        return
    for path in inputs:
        inside = path.is_dir() and target.resolve().is_relative_to(path.resolve()) and not names_image(output)
        if inside or (path.is_file() and path.samefile(target)):
            terminal.stop(f"{output}: it is read here, and would be lost; name another file with -o")
    if _is_text(target):
        terminal.stop(f"{output}: it has profiles as text, which would be lost; name another file with -o")


def _is_text(path: Path) -> bool:
    """Whether a file is one of profiles, by its name or by a line that begins one."""
    from profilec.grammar.cut import RESTART

    if names_image(str(path)):
        return False
    try:
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except OSError:
        return False  # whether it can be written will be told
    named_so = path.suffix == SUFFIX and bool(beginning.strip())
    return named_so or RESTART.search(beginning.decode("utf-8", "ignore")) is not None
