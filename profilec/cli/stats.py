"""`profilec stats DOCS...`: what documents are like, for the planner and for whoever asks.

In: files of documents, of earlier statistics, or both. Out: statistics of all of them together, as a table to be read
or as JSON; with `-o` a file that `--statistics` takes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from profilec.cli import terminal
from profilec.cli.terminal import CLEAN, FINDINGS, counted

if TYPE_CHECKING:
    from profilec.cli.documents.formats import Input
    from profilec.planner.statistics import AttributeStatistics, Statistics

_FORMATS = ("text", "json")


def stats(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCS", help="Documents, or files of statistics, which are merged; - for standard input."
        ),
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write them to a file, as documents.stats.")
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", metavar="N", min=1, help="How many documents are kept, at random.")
    ] = 10_000,
    documents_format: Annotated[
        str | None,
        typer.Option("--input-format", metavar="ndjson|json|csv|parquet|arrow", help="Default: what they look like."),
    ] = None,
    schema: Annotated[
        list[str] | None,
        typer.Option("--schema", metavar="FILE.prof", help="SCHEMA statements: the types of CSV columns and dates."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="End at the first malformed record.")] = False,
    format_: Annotated[
        str | None, typer.Option("--format", metavar="text|json", help="Default: text on a terminal, else json.")
    ] = None,
) -> None:
    """Sample documents: which attributes they have, how often, and with which values."""
    from profilec.cli.documents.chunks import MalformedError, Tally
    from profilec.cli.documents.formats import FORMATS, Input
    from profilec.cli.load import schema_or_stop

    format_ = format_ or ("text" if sys.stdout.isatty() else "json")
    terminal.expect_choice("--format", format_, _FORMATS)
    if documents_format is not None:
        terminal.expect_choice("--input-format", documents_format, FORMATS)
    declared = schema_or_stop(schema, terminal.Findings()) if schema else None
    tally = Tally(report=lambda message: terminal.say(message, "red"), strict=strict)
    options = Input(tally, terminal.warn, format=documents_format, schema=declared)
    try:
        found = read_statistics(paths, options, sample)
    except MalformedError:
        raise typer.Exit(terminal.ERROR) from None
    if output is not None:
        _expect_no_loss(output, paths)
        try:
            found.save(output)
        except OSError as error:
            terminal.stop(terminal.reason(error))
        terminal.say(f"{output}: {counted(found.n_sampled, 'document')} of {found.n_documents:,}")
    else:
        print(found.to_json() if format_ == "json" else text(found), end="" if format_ == "json" else "\n")
    raise typer.Exit(FINDINGS if tally.n_malformed else CLEAN)


def read_statistics(paths: Sequence[str], options: Input, capacity: int = 10_000) -> Statistics:
    """The statistics of files: documents, or statistics; ends the verb where one cannot be read.

    Raises:
        MalformedError: a malformed record, under `strict`.
    """
    from profilec.cli.documents.formats import InputError, read_documents
    from profilec.planner.statistics import Statistics, StatisticsError
    from profilec.runtime.columns import rows_at
    from profilec.values.kinds import DocumentError

    found = Statistics(capacity)
    earlier: list[Statistics] = []
    documents = [path for path in paths if not _has_statistics(path)]
    try:
        earlier += [Statistics.load(path) for path in paths if path not in documents]
        for chunk in read_documents(documents, options):
            rows = chunk.documents
            if isinstance(rows, list):
                found.extend(len(rows), rows)
            else:
                found.extend(rows.num_rows, partial(rows_at, rows))
    except (InputError, StatisticsError, DocumentError) as error:
        terminal.stop(str(error))
    except OSError as error:
        terminal.stop(terminal.reason(error))
    if not documents and earlier:
        found = earlier.pop(0)
    for other in earlier:
        found = found.merged(other)
    return found


def _has_statistics(path: str) -> bool:
    from profilec.planner.statistics.sample import is_statistics

    try:
        with open(path, "rb") as file:
            return is_statistics(file.read(200))
    except OSError:
        return False  # a folder, a pipe, or nothing: who reads documents will tell


def _expect_no_loss(output: str, inputs: Sequence[str]) -> None:
    """Ends the verb where documents would be replaced."""
    target = Path(output)
    if not target.is_file() or _has_statistics(output):
        return
    if any(Path(path).is_file() and Path(path).samefile(target) for path in inputs):
        terminal.stop(f"{output}: it is read here, and would be lost; name another file with -o")
    terminal.stop(f"{output}: it is there, and has no statistics; name another file with -o")


def text(statistics: Statistics) -> str:
    """A line for each attribute.

    >>> from profilec.planner.statistics import Statistics
    >>> print(text(Statistics.of([{"price": 5}, {"price": 7}, {}])))
    3 of 3 documents
    attribute  present  kinds       distinct  values
    price          67%  number 67%         2  5 to 7
    """
    from profilec.planner.drawing import aligned

    rows = [("attribute", "present", "kinds", "distinct", "values")]
    for name, found in statistics.attributes.items():
        kinds = ", ".join(f"{kind} {share:.0%}" for kind, share in found.kinds.items())
        rows.append((name, f"{found.presence:.0%}", kinds, f"{found.n_distinct:,}", _values(found)))
    heading = f"{statistics.n_sampled:,} of {counted(statistics.n_documents, 'document')}"
    return "\n".join([heading, *aligned(rows, right={1, 3})])


def _values(found: AttributeStatistics) -> str:
    parts = [f"{_shown(value)} {share:.2g}" for value, share in found.common[:_FEW]]
    parts += [f"{_shown(buckets[0].low)} to {_shown(buckets[-1].high)}" for buckets in found.histogram.values()]
    return ", ".join(parts)


_FEW = 3
_WIDE = 24


def _shown(value: Any) -> str:
    from profilec.grammar.diagnostics import escaped
    from profilec.values.dates import print_date, print_timestamp
    from profilec.values.kinds import Date, Timestamp
    from profilec.values.numbers import print_number

    match value:
        case bool():
            return str(value).upper()
        case str():
            return escaped(repr(value if len(value) <= _WIDE else value[:_WIDE] + "…"))
        case Date():
            return print_date(value) or str(value.days)
        case Timestamp():
            return print_timestamp(value) or str(value.nanos)
    shown = print_number(value)
    return shown if len(shown) <= _WIDE else shown[:_WIDE] + "…"
