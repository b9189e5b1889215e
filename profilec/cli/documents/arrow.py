"""Arrow's own formats: record batches in a file (Feather is one), or in a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from profilec.cli.documents.chunks import Chunk, DamagedError, Tally, batched
from profilec.cli.documents.parquet import seekable

FILE_MAGIC = b"ARROW1"
STREAM_MAGIC = b"\xff\xff\xff\xff"
"""How a file and a stream begin."""


def read_arrow(stream: BinaryIO, name: str, tally: Tally, *, columns: Callable[[list[str]], None]) -> Iterator[Chunk]:
    """The rows of a file or of a stream. `columns` is told the columns' names first.

    Raises:
        DamagedError: it is neither, or is damaged.
    """
    import pyarrow as pa

    try:
        if not stream.peek(1).startswith(FILE_MAGIC):  # type: ignore[attr-defined]
            with pa.ipc.open_stream(stream) as reader:
                columns(reader.schema.names)
                yield from batched(reader, name, tally)
            return
        with seekable(stream) as file, pa.ipc.open_file(file) as reader:
            columns(reader.schema.names)
            yield from batched(_batches(reader), name, tally)
    except (pa.ArrowException, OSError) as error:
        raise DamagedError(str(error).strip().partition("\n")[0]) from None


def _batches(reader: Any) -> Iterator[Any]:
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)
