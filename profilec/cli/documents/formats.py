"""Which reader a file of documents wants, and the documents of several files as one input.

The format is the one that the user names, or else the suffix's; standard input and other
suffixes are looked into, and are NDJSON unless they begin like an array, an object over several
lines or a file of columns. A file called `.json` may hold any of these.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from profilec.cli.documents.arrow import FILE_MAGIC, STREAM_MAGIC, read_arrow
from profilec.cli.documents.chunks import Chunk, DamagedError, Tally, chunked
from profilec.cli.documents.csv_rows import HeaderError, read_csv
from profilec.cli.documents.json_lines import BOM, read_json_lines
from profilec.cli.documents.json_values import read_json_values
from profilec.cli.documents.parquet import read_parquet

if TYPE_CHECKING:
    from profilec.values.types import Schema

FORMATS = ("ndjson", "json", "csv", "parquet", "arrow")
_SUFFIXES = {
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
}
_BUFFER_BYTES = 1 << 20
_PARQUET_MAGIC = b"PAR1"
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\0", b"PK\x03\x04")
"""How files of gzip, zstd, bzip2, xz and zip begin."""


class InputError(Exception):
    """A file of documents that cannot be read at all."""


@dataclass(frozen=True, slots=True)
class Input:
    """How documents are to be read.

    `format` is one of FORMATS, or None to be found out; of files whose suffix says it, `suffix_first` finds
    it out all the same; `warn` is told once of each attribute
    that the schema does not know; `advance` is told how many bytes of how many are read of a file.
    """

    tally: Tally
    warn: Callable[[str], None]
    format: str | None = None
    schema: Schema | None = None
    advance: Callable[[int, int], None] = lambda done, total: None
    suffix_first: bool = False


def read_documents(paths: Iterable[str], options: Input) -> Iterator[Chunk]:
    """The documents of files, in order; `-` is standard input.

    Raises:
        InputError: a file cannot be opened, or is not of its format.
        MalformedError: a malformed record, under `strict`.
    """
    unknown = _UnknownAttributes(options.schema, options.warn)
    for path in _expand(paths):
        name = "<stdin>" if path == "-" else path
        try:
            with _open(path) as stream:
                total = None if path == "-" else Path(path).stat().st_size
                for chunk in _read(stream, name, Path(path).suffix.lower(), options, unknown):
                    yield chunk
                    if total:
                        options.advance(stream.tell(), total)
        except OSError as error:
            raise InputError(f"{name}: {error.strerror or error}") from None
        except (HeaderError, DamagedError) as error:
            raise InputError(f"{name}: {error}") from None


def _expand(paths: Iterable[str]) -> Iterator[str]:
    """Files as they are; of a folder, the files in it that have a suffix of documents, by name."""
    for path in paths:
        if path == "-" or not Path(path).is_dir():
            yield path
            continue
        files = [str(file) for file in sorted(Path(path).rglob("*")) if file.suffix.lower() in (*_SUFFIXES, ".json")]
        if not files:
            raise InputError(f"{path}: no {', '.join(_SUFFIXES)} or .json file in this folder")
        yield from files


def _open(path: str) -> AbstractContextManager[BinaryIO]:
    if path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed")
        return nullcontext(cast(BinaryIO, sys.stdin.buffer))
    return cast(AbstractContextManager[BinaryIO], Path(path).open("rb", buffering=_BUFFER_BYTES))


def _read(stream: BinaryIO, name: str, suffix: str, options: Input, unknown: _UnknownAttributes) -> Iterator[Chunk]:
    if stream.peek(1).startswith(_COMPRESSED):  # type: ignore[attr-defined]
        raise InputError(f"{name}: this is compressed; unpack it and pass `-`, as in `gzip -dc … | profilec match … -`")
    format_ = _format(stream, suffix, options)
    if format_ in ("parquet", "arrow"):
        read = read_parquet if format_ == "parquet" else read_arrow
        yield from read(stream, name, options.tally, columns=unknown.columns)
        return
    strict = options.tally.strict
    match format_:
        case "ndjson":
            items = read_json_lines(stream, strict=strict)
        case "json":
            items = read_json_values(stream, strict=strict)
        case _:
            delimiter = "\t" if suffix == ".tsv" else ","

            def header(names: list[str]) -> None:
                if len(names) == 1 and any(other in names[0] for other in ",;\t|" if other != delimiter):
                    wanted = "tabs" if delimiter == "\t" else "commas, or by tabs in a .tsv file"
                    options.warn(f"{name}: the header is one column, {names[0]!r}; columns are separated by {wanted}")
                unknown.columns(names)

            items = read_csv(stream, delimiter=delimiter, schema=options.schema, columns=header)
    for chunk in chunked(items, name, options.tally):
        if format_ != "csv":
            unknown.records(cast(list[dict[str, object]], chunk.documents))
        yield chunk


def _format(stream: BinaryIO, suffix: str, options: Input) -> str:
    given = options.format
    if options.suffix_first and suffix in (*_SUFFIXES, ".json"):
        given = None
    return given or _SUFFIXES.get(suffix) or _look(stream)


def _look(stream: BinaryIO) -> str:
    """The format of a stream, from what its buffer holds: `parquet`, `arrow`, `json` or `ndjson`."""
    head: bytes = stream.peek(1).removeprefix(BOM)  # type: ignore[attr-defined]
    if head.startswith(_PARQUET_MAGIC):
        return "parquet"
    if head.startswith((FILE_MAGIC, STREAM_MAGIC)):
        return "arrow"
    head = head.lstrip()
    if head.startswith(b"["):
        return "json"
    line, newline, rest = head.partition(b"\n")
    n_records = _n_records(line)
    starts_inside = bool(newline) and not n_records and rest.lstrip()[:1] not in (b"{", b"")
    return "json" if n_records > 1 or starts_inside else "ndjson"


def _n_records(line: bytes) -> int:
    """How many JSON values a line begins with: 0, 1, or 2 where another object follows the first."""
    try:
        text = line.decode(errors="replace").lstrip()
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return 0
    rest = text[end:].lstrip()
    return 2 if rest.startswith("{") else 0 if rest else 1


class _UnknownAttributes:
    """Warns once of each attribute of the documents that the schema does not declare."""

    def __init__(self, schema: Schema | None, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._checks = schema is not None
        self._seen: set[str] = set()
        self._declared: list[str] = []
        if schema is not None:
            self._declared = [field.name for field in schema.fields]
            self._seen = {*self._declared, *(name.partition(".")[0] for name in self._declared)}

    def columns(self, names: Iterable[str]) -> None:
        if not self._checks:
            return
        from profilec.grammar.diagnostics import did_you_mean

        for name in names:
            if name not in self._seen:
                self._seen.add(name)
                hint = did_you_mean(name, self._declared)
                self._warn(f"SCHEMA has no attribute `{name}`{'' if hint is None else '; ' + hint}")

    def records(self, documents: list[dict[str, object]]) -> None:
        if self._checks:
            for document in documents:
                if not self._seen.issuperset(document):
                    self.columns(document)
