"""CSV and TSV: rows under a header, each column with one type.

A column's type is the one that SCHEMA declares for it, or else what Arrow's CSV reader infers
from the first SAMPLE_ROWS rows. An empty cell is NULL; so are, in a column that is no string,
the other spellings that Arrow takes for it (`NA`, `null`, …). A cell that its column's type
cannot read makes the row a malformed record.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from profilec.cli.documents.chunks import MAX_RECORD_BYTES, Item, Malformed, Record
from profilec.cli.documents.json_lines import BOM
from profilec.values.dates import parse_date, parse_timestamp
from profilec.values.json_text import number

if TYPE_CHECKING:
    from profilec.values.types import Schema, Type

SAMPLE_ROWS = 10_000

Row: TypeAlias = tuple[int, list[str]]
"""The line on which a row starts, and its cells."""
Read: TypeAlias = Callable[[str], Any]

_INTEGER = re.compile(r"[+-]?\d{1,4000}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


class HeaderError(ValueError):
    """A header that no rows can be read under."""


def read_csv(
    stream: BinaryIO, *, delimiter: str = ",", schema: Schema | None = None, columns: Callable[[list[str]], None]
) -> Iterator[Item]:
    """The rows of a stream as records. `columns` is told the header before the first of them.

    >>> import io
    >>> [item.document for item in read_csv(io.BytesIO(b"a,b\\n1,x\\n2.5,\\n"), columns=print)]
    ['a', 'b']
    [{'a': 1, 'b': 'x'}, {'a': 2.5, 'b': None}]

    Raises:
        HeaderError: a column's name comes twice.
    """
    rows = _rows(stream, delimiter)
    first = next(rows, None)
    if first is None:
        return
    if isinstance(first, Malformed):
        raise HeaderError(f"the header cannot be read: {first.message}")
    names = first[1]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise HeaderError(f"two columns are named {twice!r}")
    columns(names)
    sample = list(islice(rows, SAMPLE_ROWS))
    reads = _readers(names, sample, schema)
    for row in chain(sample, rows):
        yield row if isinstance(row, Malformed) else _record(names, reads, *row)


def _record(names: list[str], reads: list[Read], line: int, cells: list[str]) -> Record | Malformed:
    if len(cells) != len(names):
        return Malformed(line, f"{len(cells)} cells under a header of {len(names)}")
    document = {}
    for name, read, cell in zip(names, reads, cells, strict=True):
        try:
            document[name] = read(cell)
        except ValueError as error:
            return Malformed(line, f"column {name!r}: {error}")
    return Record(line, document, sum(map(len, cells)))


def _rows(stream: BinaryIO, delimiter: str) -> Iterator[Row | Malformed]:
    """The rows with their lines. NULL: bytes that are no UTF-8 come as surrogates, so that only their row is lost."""
    csv.field_size_limit(MAX_RECORD_BYTES)
    lines = (line.decode(errors="surrogateescape") for line in _without_bom(stream))
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Malformed(line, str(error))
            continue
        if not cells:
            continue
        try:
            "".join(cells).encode()
        except UnicodeEncodeError:
            yield Malformed(line, "not UTF-8")
            continue
        yield line, cells


def _without_bom(stream: BinaryIO) -> Iterator[bytes]:
    first = next(stream, None)
    if first is not None:
        yield first.removeprefix(BOM)
    yield from stream


def _readers(names: list[str], sample: list[Row | Malformed], schema: Schema | None) -> list[Read]:
    """How each column's cells are read."""
    declared = [schema.type_of((name,)) or schema.type_of(tuple(name.split("."))) if schema else None for name in names]
    inferred = _infer(names, sample) if None in declared else {}
    return [_typed(type_) if type_ is not None else inferred[name] for name, type_ in zip(names, declared, strict=True)]


def _typed(type_: Type) -> Read:
    match type_.name:
        case "NUMBER" | "INTEGER":
            return _or_null(_read_number)
        case "BOOLEAN":
            return _or_null(_read_boolean)
        case "ARRAY" | "RECORD":
            return _or_null(_read_json)
    return _read_string  # dates and timestamps too: the schema reads them where they are looked up


def _infer(names: list[str], sample: list[Row | Malformed]) -> dict[str, Read]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows(row[1] for row in sample if not isinstance(row, Malformed) and len(row[1]) == len(names))
    table = arrow_csv.read_csv(
        pa.BufferReader(text.getvalue().encode()),
        read_options=arrow_csv.ReadOptions(use_threads=False),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
    )
    return {field.name: _inferred(field.type) for field in table.schema}


def _inferred(type_: Any) -> Read:
    from pyarrow import types

    if types.is_integer(type_) or types.is_floating(type_):
        return _or_null(_read_number)
    if types.is_boolean(type_):
        return _or_null(_read_boolean)
    if types.is_date(type_):
        return _or_null(parse_date)
    if types.is_timestamp(type_):
        return _or_null(parse_timestamp)
    return _read_string


def _or_null(read: Read) -> Read:
    from pyarrow import csv as arrow_csv

    nulls = frozenset(arrow_csv.ConvertOptions().null_values)
    return lambda cell: None if cell in nulls else read(cell)


def _read_string(cell: str) -> str | None:
    return cell or None


def _read_number(cell: str) -> Any:
    text = cell.strip(" ")
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return number(text)
    if text.lower().lstrip("+-") in ("inf", "infinity"):
        return float(text)
    raise ValueError(f"{_short(cell)} is no number")


def _read_boolean(cell: str) -> bool:
    truth = _BOOLEANS.get(cell.strip(" ").lower())
    if truth is None:
        raise ValueError(f"{_short(cell)} is neither true nor false")
    return truth


def _read_json(cell: str) -> Any:
    import json

    try:
        return json.loads(cell, parse_float=number)
    except (ValueError, RecursionError):
        raise ValueError(f"{_short(cell)} is no JSON, which an array or a record is written in") from None


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else f"{cell[:40]}…")
