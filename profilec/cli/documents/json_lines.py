"""NDJSON: one record a line. Blank lines are skipped; a byte order mark may come first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from profilec.cli.documents.chunks import FLUSH, MAX_RECORD_BYTES, Item, Malformed
from profilec.cli.documents.json_text import RecordDecoder

BLOCK_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"


def read_json_lines(stream: BinaryIO, *, strict: bool = False) -> Iterator[Item]:
    """The records of a stream. After each block that the stream had ready comes a FLUSH.

    >>> import io
    >>> [item.line for item in read_json_lines(io.BytesIO(b'{"a": 1}\\n\\n{"a": 2}')) if item]
    [1, 3]
    """
    decode = RecordDecoder(strict=strict).decode
    for line_number, line in _lines(stream):
        if line is None:
            yield FLUSH
        elif len(line) > MAX_RECORD_BYTES:
            yield Malformed(line_number, f"longer than {MAX_RECORD_BYTES >> 20} MiB")
        elif line and not line.isspace():
            yield decode(line, line_number)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines without their ends, and None between blocks.

    A line longer than MAX_RECORD_BYTES is cut there and the rest of it is dropped.
    """
    read = getattr(stream, "read1", stream.read)  # NULL: read1 returns what a pipe has; read would wait for more
    number = 1
    pieces: list[bytes] = []
    n_held = 0
    first = True
    while block := read(BLOCK_BYTES):
        if first:
            block, first = block.removeprefix(BOM), False
        lines = block.split(b"\n")
        for piece in lines[:-1]:
            pieces.append(piece)
            yield number, b"".join(pieces)
            pieces, n_held = [], 0
            number += 1
        if n_held <= MAX_RECORD_BYTES:
            pieces.append(lines[-1])
            n_held += len(lines[-1])
        yield number, FLUSH
    if pieces:
        yield number, b"".join(pieces)
