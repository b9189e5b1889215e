"""JSON that is not NDJSON: an array of records, or records one after the other over several lines.

The scanner finds where each record ends without understanding it: outside strings, only
brackets and the commas between records matter. So the input is never held whole, and a record
that is malformed inside is reported while those around it are read.

    [ {"a": "]"} , {"b" 1} , {"c": 3} ]
      ^^^^^^^^^^   ^^^^^^^   ^^^^^^^^
      a record     malformed, the next record begins after the comma at depth 1
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from profilec.cli.documents.chunks import FLUSH, MAX_RECORD_BYTES, Item, Malformed
from profilec.cli.documents.json_lines import BLOCK_BYTES, BOM
from profilec.cli.documents.json_text import RecordDecoder

# What says nothing about where a record ends: all but brackets (and, in the array itself, commas), and whole strings.
_IN_RECORD = re.compile(rb'(?:[^][{}"]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_IN_ARRAY = re.compile(rb'(?:[^][{}",]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_SPACE = b" \t\r\n"
_SPACES = re.compile(rb"[ \t\r\n]*+")


def read_json_values(stream: BinaryIO, *, strict: bool = False) -> Iterator[Item]:
    """The records of an array, or of a sequence of objects. After each block that the stream had ready comes a FLUSH.

    >>> import io
    >>> [item.line for item in read_json_values(io.BytesIO(b'[{"a": 1},\\n {"a": 2}]')) if item]
    [1, 2]
    """
    decode = RecordDecoder(strict=strict).decode
    scanner = _Scanner(stream)
    for item in scanner.items():
        yield decode(item.text, item.line) if isinstance(item, _Text) else item


class _Text(NamedTuple):
    """The text of one record and the line on which it starts."""

    line: int
    text: bytes


class _Scanner:
    """Cuts a stream into the texts of its records.

    Invariant: `start` is where the record that is looked for begins, `line` the line there; all
    up to `done` is scanned, and `depth` is the depth of brackets at `done`.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.buffer = b""
        self.start = 0
        self.done = 0
        self.line = 1
        self.depth = 0

    def items(self) -> Iterator[_Text | Malformed | None]:
        """The text of each record; FLUSH between blocks; Malformed for what is wrong between records."""
        while self._fill(BOM) and not self.buffer.strip(_SPACE):
            pass
        self._skip_space()
        if self.buffer[self.start : self.start + 1] == b"[":
            self.start = self.done = self.start + 1
            self.depth = 1
            yield from self._elements()
        else:
            yield from self._sequence()

    def _elements(self) -> Iterator[_Text | Malformed | None]:
        n_found = 0
        while True:
            mark = self._next_mark(_IN_RECORD if self.depth > 1 else _IN_ARRAY)
            if mark is None:
                yield FLUSH
                if not self._fill():
                    if self.depth == 1 and self._held():
                        yield self._take(len(self.buffer))
                    yield Malformed(self.line, "the input ends before the array does")
                    return
            elif mark == b"," or self.depth == 0:
                end = self.done - 1
                # `[]` holds nothing; anywhere else, nothing between two commas is a malformed record.
                if n_found or self.depth or self.buffer[self.start : end].strip(_SPACE):
                    yield self._take(end)
                    n_found += 1
                self.start = self.done
                if self.depth == 0:
                    yield from self._after_array()
                    return
            if self.done - self.start > MAX_RECORD_BYTES:
                yield self._too_long()
                return

    def _sequence(self) -> Iterator[_Text | Malformed | None]:
        while True:
            mark = self._next_mark(_IN_RECORD)
            if mark is None:
                yield FLUSH
                if not self._fill():
                    if self._held():
                        yield self._take(len(self.buffer))
                    return
            elif self.depth <= 0:
                yield self._take(self.done)
                self.depth = 0
            if self.done - self.start > MAX_RECORD_BYTES:
                yield self._too_long()
                return

    def _after_array(self) -> Iterator[Malformed]:
        while not self._held() and self._fill():
            pass
        if self._held():
            self._skip_space()
            yield Malformed(self.line, "text after the end of the array")

    def _next_mark(self, skip: re.Pattern[bytes]) -> bytes | None:
        """The next bracket or comma, whose depth then counts; None where the buffer has no more.

        `done` stays before a string that the buffer does not hold whole.
        """
        found = skip.match(self.buffer, self.done)
        assert found is not None
        self.done = found.end()
        mark = self.buffer[self.done : self.done + 1]
        if mark in (b"", b'"'):
            return None
        self.done += 1
        self.depth += (mark in b"[{") - (mark in b"]}")
        return mark

    def _take(self, end: int) -> _Text:
        """The record that ends at `end`; the next one is looked for from there."""
        self._skip_space()
        line, text = self.line, self.buffer[self.start : end].strip(_SPACE)
        self.line += self.buffer.count(b"\n", self.start, end)
        self.start = end
        return _Text(line, text)

    def _fill(self, prefix: bytes = b"") -> bool:
        """One more block, in place of what was taken; False at the end. `prefix` is dropped from the very start."""
        read = getattr(self.stream, "read1", self.stream.read)
        block = read(BLOCK_BYTES)
        if not self.buffer:
            block = block.removeprefix(prefix)
        self.buffer = self.buffer[self.start :] + block
        self.done -= self.start
        self.start = 0
        return bool(block)

    def _held(self) -> bool:
        return bool(self.buffer[self.start :].strip(_SPACE))

    def _skip_space(self) -> None:
        """Moves `start` to the record's first byte."""
        space = _SPACES.match(self.buffer, self.start)
        assert space is not None
        self.line += space[0].count(b"\n")
        self.start = space.end()
        self.done = max(self.done, self.start)

    def _too_long(self) -> Malformed:
        return Malformed(self.line, f"longer than {MAX_RECORD_BYTES >> 20} MiB; is a bracket or a quote never closed?")
