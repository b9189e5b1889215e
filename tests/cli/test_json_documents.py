"""Reading NDJSON and JSON: what is malformed is reported with its line, and costs only itself."""

import io
import json
import random
from decimal import Decimal
from typing import Any

import pytest

from profilec.cli.documents import chunks, formats, json_lines, json_values
from profilec.cli.documents.chunks import Malformed, Record
from profilec.cli.documents.json_lines import read_json_lines
from profilec.cli.documents.json_values import read_json_values


def lines(data: bytes, **options: bool) -> list[Any]:
    return [_plain(item) for item in read_json_lines(io.BytesIO(data), **options) if item is not None]


def values(data: bytes, **options: bool) -> list[Any]:
    return [_plain(item) for item in read_json_values(io.BytesIO(data), **options) if item is not None]


def _plain(item: Record | Malformed) -> tuple[int, Any]:
    return (item.line, item.document) if isinstance(item, Record) else (item.line, item.message)


class OneByteAtATime(io.RawIOBase):
    """A pipe whose writer is slow."""

    def __init__(self, data: bytes) -> None:
        self._stream = io.BytesIO(data)

    def read1(self, size: int = -1) -> bytes:
        return self._stream.read(1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1', "expecting ',' delimiter"),
        (b"[1]", "a record is an object, and this is an array"),
        (b"null", "a record is an object, and this is null"),
        (b'"x"', "a record is an object, and this is a string"),
        (b'{"a": "\xff"}', "byte 0xff is not UTF-8"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "an integer of too many digits"),
        (b'{"a": 1e99999999999999999999}', "the exponent of 1e99999999999999999999 is beyond all measure"),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_malformed_line_costs_only_itself(data: bytes, message: str) -> None:
    assert lines(b'{"n": 1}\n' + data + b'\n{"n": 2}\n') == [(1, {"n": 1}), (2, message), (3, {"n": 2})]


def test_blank_lines_count_but_hold_nothing() -> None:
    assert lines(b'\xef\xbb\xbf\n{"n": 1}\r\n  \n{"n": 2}') == [(2, {"n": 1}), (4, {"n": 2})]


def test_a_key_that_comes_twice() -> None:
    data = b'{"a": 1, "a": 2}'
    assert lines(data) == [(1, {"a": 2})]
    assert lines(data, strict=True) == [(1, 'the key "a" comes twice')]


def test_numbers_keep_their_digits() -> None:
    texts = ["0.1", "9007199254740993", "9007199254740993.0", "1e2", "0.1000000000000000055", "1E-400", "-0.30"]
    ((_, record),) = lines(('{"n": [' + ", ".join(texts) + "]}").encode())
    assert [Decimal(str(number)) for number in record["n"]] == [Decimal(text) for text in texts]
    assert [type(number) for number in record["n"][:2]] == [float, int]


def test_nan_is_null_unless_strict() -> None:
    assert lines(b'{"n": NaN}') == [(1, {"n": None})]
    assert lines(b'{"n": NaN}', strict=True) == [(1, "NaN is no JSON")]


def test_line_longer_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (json_lines, json_values):
        monkeypatch.setattr(module, "MAX_RECORD_BYTES", 1 << 20)
    data = b'{"n": 1}\n' + b"x" * (5 << 20) + b'\n{"n": 2}'
    assert lines(data) == [(1, {"n": 1}), (2, "longer than 1 MiB"), (3, {"n": 2})]


def test_an_unclosed_bracket_does_not_read_the_rest_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_values, "MAX_RECORD_BYTES", 1 << 20)
    found = values(b'[{"n": 1}, {"n": [' + b'{"n": 2}, ' * 1_000_000)
    assert [line for line, _ in found] == [1, 1]
    assert found[1][1].startswith("longer than 1 MiB; is a bracket or a quote never closed?")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"[]", []),
        (b"", []),
        (b" \n", []),
        (b'[{"a": 1},\n\n {"a": 2}]', [(1, {"a": 1}), (3, {"a": 2})]),
        (b'{"a":\n1}\n{"a": 2}', [(1, {"a": 1}), (3, {"a": 2})]),
        (b'[{"a": "]},{"}, {"b" 1}, {"c": 3}]', [(1, {"a": "]},{"}), (1, "expecting ':' delimiter"), (1, {"c": 3})]),
        (b'[{"a": "\\"]"}]', [(1, {"a": '"]'})]),
        (b'[{"a": 1},, {"a": 2}]', [(1, {"a": 1}), (1, "expecting value"), (1, {"a": 2})]),
        (b'[{"a": 1}', [(1, {"a": 1}), (1, "the input ends before the array does")]),
        (b'[{"a": 1}] {"a": 2}', [(1, {"a": 1}), (1, "text after the end of the array")]),
        (b'[1, {"a": "\xff"}]', [(1, "a record is an object, and this is a number"), (1, "byte 0xff is not UTF-8")]),
        (b'{"a": 1} ] {"a": 2}', [(1, {"a": 1}), (1, "expecting value"), (1, {"a": 2})]),
    ],
)
def test_json_values(data: bytes, expected: list[Any]) -> None:
    assert values(data) == expected


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("as_array", [True, False])
def test_blocks_may_end_anywhere(
    block: int, indent: int | None, as_array: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(block)
    pieces = ['"x"', "}]{", ",", "\\", "é\n", "", "価"]
    records = [{"s": chance.choice(pieces), "n": [chance.random(), {"k": []}]} for _ in range(40)]
    text = json.dumps(records, indent=indent) if as_array else "\n".join(json.dumps(r, indent=indent) for r in records)
    monkeypatch.setattr(json_values, "BLOCK_BYTES", block)
    assert [document for _, document in values(text.encode())] == records


def test_records_are_ready_as_soon_as_a_pipe_has_them() -> None:
    """A chunk must not wait for 4,096 records of a pipe that has one a second."""
    tally = chunks.Tally(report=print)
    pipe = OneByteAtATime(b'{"n": 1}\n{"n": 2}\n')
    found = list(chunks.chunked(read_json_lines(pipe), "pipe", tally))  # type: ignore[arg-type]
    assert [chunk.numbers for chunk in found] == [[0], [1]]


def test_malformed_records_keep_their_numbers() -> None:
    said: list[str] = []
    tally = chunks.Tally(report=said.append)
    (chunk,) = chunks.chunked(read_json_lines(io.BytesIO(b'{"n": 1}\noops\n{"n": 2}\n')), "f", tally)
    assert (list(chunk.numbers), list(chunk.lines), tally.n_malformed) == ([0, 2], [1, 3], 1)
    assert said == ["f:2:1: error: malformed record: expecting value"]


def test_strict_yields_what_came_before_and_stops() -> None:
    tally = chunks.Tally(report=lambda message: None, strict=True)
    found = []
    with pytest.raises(chunks.MalformedError):
        found.extend(chunks.chunked(read_json_lines(io.BytesIO(b'{"n": 1}\noops\n{"n": 2}')), "f", tally))
    stream = chunks.chunked(read_json_lines(io.BytesIO(b'{"n": 1}\noops\n{"n": 2}\n')), "f", tally)
    assert next(stream).documents == [{"n": 1}]
    with pytest.raises(chunks.MalformedError):
        next(stream)


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        (b'{"n": 1}{"n": 2}', "json"),
        (b'{"n": 1} {"n": 2}\n', "json"),
        (b'{"n": 1} oops\n{"n": 2}\n', "ndjson"),
        (b'{"n": 1}\n', "ndjson"),
        (b'{"n":\n1}', "json"),
        (b'oops\n{"n": 2}\n', "ndjson"),
    ],
)
def test_records_on_one_line_are_a_sequence(text: bytes, format_: str) -> None:
    assert formats._look(io.BufferedReader(io.BytesIO(text))) == format_  # type: ignore[arg-type]
