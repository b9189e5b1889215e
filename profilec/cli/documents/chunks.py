"""Records numbered and gathered into chunks; what happens to a malformed one.

In: the items that a reader yields: records, malformed records, and FLUSH where the input has
nothing more just now. Out: chunks of at most CHUNK_RECORDS records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_RECORDS = 4_096
CHUNK_BYTES = 16 << 20
"""A chunk ends, too, when the text of its records is this long."""
MAX_RECORD_BYTES = 256 << 20
"""A longer record is malformed: an unclosed bracket must not read the rest of the input into memory."""


class Record(NamedTuple):
    """A document, the line on which it starts (from 1) and the length of its text."""

    line: int
    document: dict[str, Any]
    n_bytes: int = 0


class Malformed(NamedTuple):
    """A record that cannot be read. `column` counts from 1."""

    line: int
    message: str
    column: int | None = None


FLUSH = None
Item: TypeAlias = Record | Malformed | None
"""What readers yield; None is FLUSH."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Documents that are matched together.

    `numbers` are their numbers in the whole input, `lines` their lines (rows, from 1, where the file
    holds columns) in the file `name`; both ascend and are as long as `documents`.
    """

    name: str
    numbers: Sequence[int]
    lines: Sequence[int]
    documents: list[dict[str, Any]] | pa.RecordBatch

    def rows(self) -> list[dict[str, Any]]:
        """The documents one by one.

        Raises:
            DocumentError: a column has a type that no document's value can have.
        """
        if isinstance(self.documents, list):
            return self.documents
        from profilec.runtime.columns import frame_of

        frame = frame_of(self.documents, 0, self.documents.num_rows)
        return frame.rows(frame.columns)


class DamagedError(ValueError):
    """A file of columns that is not of its format, or that is damaged."""


class MalformedError(Exception):
    """A malformed record under --strict, which reports it and reads no further."""


@dataclass(slots=True)
class Tally:
    """How many records were read, and how many of them were malformed; shared by all files of one input."""

    report: Callable[[str], None]
    strict: bool = False
    n_records: int = 0
    n_malformed: int = 0

    def malformed(self, name: str, line: int, message: str, column: int | None = None) -> None:
        """Reports a record.

        Raises:
            MalformedError: under `strict`.
        """
        self.n_malformed += 1
        place = f"{name}:{line}" if column is None else f"{name}:{line}:{column}"
        self.report(f"{place}: error: malformed record: {message}")
        if self.strict:
            raise MalformedError


def chunked(items: Iterator[Item], name: str, tally: Tally) -> Iterator[Chunk]:
    """The records of one file, numbered on from those before.

    >>> items = iter([Record(1, {"a": 1}), Malformed(2, "no object"), Record(3, {"a": 2})])
    >>> [chunk.numbers for chunk in chunked(items, "f", Tally(report=print))]
    f:2: error: malformed record: no object
    [[0, 2]]

    Raises:
        MalformedError: at the first malformed record, under `strict`; what came before it was yielded.
    """
    numbers: list[int] = []
    lines: list[int] = []
    documents: list[dict[str, Any]] = []
    n_bytes = 0

    for item in items:
        if isinstance(item, Record):
            numbers.append(tally.n_records)
            lines.append(item.line)
            documents.append(item.document)
            tally.n_records += 1
            n_bytes += item.n_bytes
            full = len(documents) >= CHUNK_RECORDS or n_bytes >= CHUNK_BYTES
        else:
            full = item is FLUSH or tally.strict
        if full and documents:
            yield Chunk(name, numbers, lines, documents)
            numbers, lines, documents, n_bytes = [], [], [], 0
        if isinstance(item, Malformed):
            tally.n_records += 1
            tally.malformed(name, item.line, item.message, item.column)
    if documents:
        yield Chunk(name, numbers, lines, documents)


def batched(batches: Iterable[pa.RecordBatch], name: str, tally: Tally) -> Iterator[Chunk]:
    """The rows of one file of columns, numbered on from those before; a long batch is cut."""
    row = 1
    for batch in batches:
        for start in range(0, batch.num_rows, CHUNK_RECORDS):
            part = batch.slice(start, CHUNK_RECORDS)
            n = part.num_rows
            yield Chunk(name, range(tally.n_records, tally.n_records + n), range(row, row + n), part)
            tally.n_records += n
            row += n
