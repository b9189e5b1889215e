"""Parquet: batches of columns, as they lie in the file's row groups."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from profilec.cli.documents.chunks import CHUNK_RECORDS, Chunk, DamagedError, Tally, batched


def read_parquet(stream: BinaryIO, name: str, tally: Tally, *, columns: Callable[[list[str]], None]) -> Iterator[Chunk]:
    """The rows of a file. `columns` is told the columns' names first.

    Raises:
        DamagedError: the file is no Parquet, or is damaged.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with seekable(stream) as file:
            reader = parquet.ParquetFile(file)
            columns(reader.schema_arrow.names)
            yield from batched(reader.iter_batches(batch_size=CHUNK_RECORDS), name, tally)
    except (pa.ArrowException, OSError) as error:
        raise DamagedError(str(error).strip().partition("\n")[0]) from None


@contextmanager
def seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The stream itself, or where it is a pipe a copy in a temporary file: what is read from its end must be there."""
    if stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        yield copy
