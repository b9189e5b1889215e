"""`profilec match FILE.prof... DOCS`: which profiles each document matches, as a stream.

In: profiles, an image or a store of them, and documents (`documents/`). Out: one result a document, in input order,
written as soon as its chunk is matched. Quantifiers range over the store: the documents of `--join-documents`, and with
`--process` those of the stream, each of which joins the store after it was matched. `--max-documents` and `--max-age`
say how many, and how long, it keeps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from profilec.cli import terminal
from profilec.cli.choices import Engine, Indexes, Master, Matchers, PhaseOrder
from profilec.cli.sources import STDIN, holds_profiles, names_store
from profilec.cli.terminal import CLEAN, ERROR, FINDINGS

if TYPE_CHECKING:
    from profilec.cli.documents.chunks import Chunk, Tally
    from profilec.cli.results import Results
    from profilec.profileset import ProfileSet


def match(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Profiles: .prof files, folders of them, an image, a store. Documents: others; - is standard input.",
        ),
    ],
    format_: Annotated[str, typer.Option("--format", metavar="ndjson|json|csv", help="How to write.")] = "ndjson",
    input_format: Annotated[
        str | None,
        typer.Option(
            "--input-format", metavar="ndjson|json|csv|parquet|arrow", help="How to read; else by the suffix."
        ),
    ] = None,
    only_matches: Annotated[bool, typer.Option("--only-matches", help="Leave out what matches no profile.")] = False,
    process: Annotated[
        bool, typer.Option("--process", help="Each document is an earlier document to those after it.")
    ] = False,
    join_documents: Annotated[
        list[str] | None,
        typer.Option("--join-documents", metavar="FILE", help="Earlier documents, oldest first; may be repeated."),
    ] = None,
    max_documents: Annotated[
        int | None, typer.Option("--max-documents", metavar="N", help="Keep the last N earlier documents.")
    ] = None,
    max_age: Annotated[
        str | None,
        typer.Option("--max-age", metavar="INTERVAL", help="Keep earlier documents that long, as '7 days'."),
    ] = None,
    age_of: Annotated[
        str | None, typer.Option("--age-of", metavar="ATTRIBUTE", help="The date or timestamp that tells the age.")
    ] = None,
    matcher: Matchers = None,
    index: Indexes = None,
    phase_order: PhaseOrder = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of compile.")
    ] = None,
    engine: Engine = "local",
    master: Master = None,
    skip_errors: Annotated[
        bool, typer.Option("--skip-errors", help="Match with the profiles that compile, and exit with 1.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first malformed record; a key that comes twice is one.")
    ] = False,
) -> None:
    """Write which profiles each document matches, in input order."""
    import profilec
    from profilec.cli.documents.chunks import MalformedError, Tally
    from profilec.cli.documents.formats import FORMATS, Input, InputError, read_documents
    from profilec.cli.load import load, load_history, read_options
    from profilec.cli.results import RESULT_FORMATS, Results
    from profilec.cli.spark_engine import MASTER, expect_engine

    terminal.expect_choice("--format", format_, RESULT_FORMATS)
    expect_engine(engine, {"--process": process, "--strict": strict}, {"--master": master})
    if input_format is not None:
        terminal.expect_choice("--input-format", input_format, FORMATS)
    profiles, documents = split(paths)
    if not profiles:
        terminal.stop("no profiles: name a .prof file, or a folder with some, before the documents")
    if [*profiles, *documents, *(join_documents or [])].count(STDIN) > 1:
        terminal.stop("standard input can be read only once, and is named for two things")
    profile_set, findings = load(
        profiles,
        skip_errors=skip_errors,
        options=read_options(option or [], matcher=matcher or [], index=index or [], phase_order=phase_order),
    )
    if (max_documents, max_age, age_of) != (None, None, None):
        if not process and not join_documents:
            terminal.stop("there are no earlier documents to keep: --process or --join-documents says which there are")
        _retain(profile_set, max_documents, max_age, age_of)
    tally = Tally(report=lambda message: terminal.say(message, "red"), strict=strict)
    names = _Names() if names_store(profiles[0]) else None
    if names is not None and engine == "spark":
        terminal.stop(f"{profiles[0]}: Spark takes files and images: `profilec store list --format prof` writes one")
    ids = profile_set.ids if names is None else names.ids
    results = Results(sys.stdout, format_, ids, only_matches=only_matches)
    try:
        with terminal.progress("matching") as advance:
            options = Input(
                tally,
                warn=terminal.warn,
                format=input_format,
                schema=profile_set.schema,
                advance=advance,
            )
            load_history(profile_set, join_documents or [], options)
            if engine == "spark":
                _match_by_spark(profile_set, documents, master or MASTER, input_format, results)
                documents = []
            for chunk in read_documents(documents, options):
                for number, matched in _match_chunk(profile_set, chunk, tally, process=process, names=names):
                    results.write(number, matched)
                results.flush()
    except InputError as error:
        terminal.stop(str(error))
    except MalformedError:
        results.close()
        raise typer.Exit(ERROR) from None
    except profilec.StoreError as error:
        terminal.stop(str(error))
    results.close()
    raise typer.Exit(FINDINGS if tally.n_malformed or findings.n_errors else CLEAN)


_FLUSHED = 1_000
"""Results between two that are written out."""


def _match_by_spark(
    profile_set: ProfileSet, documents: Sequence[str], master: str, input_format: str | None, results: Results
) -> None:
    from profilec.cli.spark_engine import matched, session

    with session(master) as spark:
        for number, found in matched(spark, profile_set, documents, input_format):
            results.write(number, found)
            if number % _FLUSHED == 0:
                results.flush()


def _retain(profile_set: ProfileSet, max_documents: int | None, max_age: str | None, age_of: str | None) -> None:
    """Bounds the store; ends the verb where the options make no sense."""
    try:
        profile_set.documents.retain(max_documents, max_age, age_of)
    except ValueError as error:
        message = str(error)
        for name in ("max_documents", "max_age", "age_of"):
            message = message.replace(name, f"--{name.replace('_', '-')}")
        terminal.stop(message)


def split(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Arguments as profiles and documents.

    >>> split(["a.prof", "docs.csv"]), split(["rules.txt", "docs.csv"]), split(["a.prof"])
    ((['a.prof'], ['docs.csv']), (['rules.txt'], ['docs.csv']), (['a.prof'], ['-']))
    """
    profiles = [path for path in paths if path != STDIN and holds_profiles(path)]
    documents = [path for path in paths if path not in profiles]
    if not profiles and len(documents) > 1:
        profiles = [documents.pop(0)]
    return profiles, documents or [STDIN]


def _match_chunk(
    profile_set: ProfileSet, chunk: Chunk, tally: Tally, *, process: bool, names: _Names | None
) -> Iterator[tuple[int, Sequence[int]]]:
    """Number and profiles' indices of each document of a chunk that can be matched.

    Raises:
        InputError: a column has a type that no document's value can have.
    """
    from profilec.cli.documents.formats import InputError
    from profilec.values.kinds import DocumentError

    number_of = _Ordinals(profile_set) if names is None else names
    try:
        if process:
            yield from _match_singly(number_of, chunk, tally, profile_set.process)
            return
        batch = profile_set.match_batch(chunk.documents)
    except DocumentError as error:
        if not isinstance(chunk.documents, list):
            raise InputError(f"{chunk.name}: {error}") from None
        yield from _match_singly(number_of, chunk, tally, profile_set.match)
        return
    if names is not None:
        for row, number in enumerate(chunk.numbers):
            yield number, [names[id_] for id_ in batch[row]]
        return
    offsets, indices = batch.offsets.tolist(), batch.indices.tolist()
    for row, number in enumerate(chunk.numbers):
        yield number, indices[offsets[row] : offsets[row + 1]]


class _Names(dict[str, int]):
    """Numbers of ids of a set that may change meanwhile, given when an id first matches. `ids` are by them."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []

    def __missing__(self, id_: str) -> int:
        self[id_] = number = len(self.ids)
        self.ids.append(id_)
        return number


class _Ordinals(dict[str, int]):
    """Id to ordinal, of the ids asked for so far."""

    def __init__(self, profile_set: ProfileSet) -> None:
        super().__init__()
        self._profile_set = profile_set

    def __missing__(self, id_: str) -> int:
        self[id_] = ordinal = self._profile_set.ordinal(id_)
        return ordinal


def _match_singly(
    number_of: dict[str, int], chunk: Chunk, tally: Tally, match_one: Callable[[dict[str, Any]], list[str]]
) -> Iterator[tuple[int, Sequence[int]]]:
    from profilec.values.kinds import DocumentError

    for number, line, document in zip(chunk.numbers, chunk.lines, chunk.rows(), strict=True):
        try:
            matched = match_one(document)
        except DocumentError as error:
            tally.malformed(chunk.name, line, str(error))
            continue
        yield number, [number_of[id_] for id_ in matched]
