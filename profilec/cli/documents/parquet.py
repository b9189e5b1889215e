"""Parquet: batches of columns, as they lie in the file's row groups."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import BinaryIO

from profilec.cli.documents.chunks import CHUNK_RECORDS, Chunk, Tally


class DamagedError(ValueError):
    """A file that is no Parquet, or that is damaged."""


def read_parquet(stream: BinaryIO, name: str, tally: Tally, *, columns: Callable[[list[str]], None]) -> Iterator[Chunk]:
    """The rows of a file. `columns` is told the columns' names first.

    A Parquet file is read from its end, so a pipe is copied to a temporary file first.

    Raises:
        DamagedError: the file is no Parquet, or is damaged.
    """
    if stream.seekable():
        yield from _read(stream, name, tally, columns)
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        yield from _read(copy, name, tally, columns)


def _read(stream: object, name: str, tally: Tally, columns: Callable[[list[str]], None]) -> Iterator[Chunk]:
    import pyarrow as pa
    from pyarrow import parquet

    row = 1
    try:
        file = parquet.ParquetFile(stream)
        columns(file.schema_arrow.names)
        for batch in file.iter_batches(batch_size=CHUNK_RECORDS):
            n = batch.num_rows
            if n:
                yield Chunk(name, range(tally.n_records, tally.n_records + n), range(row, row + n), batch)
                tally.n_records += n
                row += n
    except (pa.ArrowException, OSError) as error:
        raise DamagedError(str(error).strip().partition("\n")[0]) from None
