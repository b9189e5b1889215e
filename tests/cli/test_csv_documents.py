"""Reading CSV: each column has the type of SCHEMA, or else the one that Arrow infers."""

import io
from decimal import Decimal
from typing import Any

import pytest

from profilec.cli.documents.chunks import Record
from profilec.cli.documents.csv_rows import HeaderError, read_csv
from profilec.values.kinds import Date, Timestamp
from profilec.values.types import Field, Schema, Type


def rows(data: bytes, **options: Any) -> list[Any]:
    items = read_csv(io.BytesIO(data), columns=lambda names: None, **options)
    return [(i.line, i.document if isinstance(i, Record) else i.message) for i in items if i is not None]


def test_inferred_types() -> None:
    data = b"n,x,flag,day,at,name\n1,0.10,true,1970-01-02,1970-01-01 00:00:01,a\n9007199254740993,2,false,,,1\n"
    assert [document for _, document in rows(data)] == [
        {"n": 1, "x": 0.1, "flag": True, "day": Date(1), "at": Timestamp(10**9), "name": "a"},
        {"n": 9007199254740993, "x": 2, "flag": False, "day": None, "at": None, "name": "1"},
    ]


def test_types_of_the_schema_come_first() -> None:
    schema = Schema(
        (Field("zip", Type("STRING")), Field("n", Type("NUMBER")), Field("t", Type("ARRAY", Type("NUMBER"))))
    )
    data = b'zip,n,t\n00123,12345678901234567890.5,"[1, 2]"\n,NA,\n'
    assert [document for _, document in rows(data, schema=schema)] == [
        {"zip": "00123", "n": Decimal("12345678901234567890.5"), "t": [1, 2]},
        {"zip": None, "n": None, "t": None},
    ]


def test_rows_that_cannot_be_read() -> None:
    schema = Schema((Field("n", Type("NUMBER")), Field("flag", Type("BOOLEAN")), Field("s", Type("STRING"))))
    data = b'n,flag,s\n1,true,ok\nx,true,a\n2,maybe,b\n3,true\n4,true,\xff\n\n5,true,"two\nlines"\n6,true,last\n'
    assert rows(data, schema=schema) == [
        (2, {"n": 1, "flag": True, "s": "ok"}),
        (3, "column 'n': 'x' is no number"),
        (4, "column 'flag': 'maybe' is neither true nor false"),
        (5, "2 cells under a header of 3"),
        (6, "not UTF-8"),
        (8, {"n": 5, "flag": True, "s": "two\nlines"}),
        (10, {"n": 6, "flag": True, "s": "last"}),
    ]


def test_a_value_beyond_the_sample_does_not_change_the_columns_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profilec.cli.documents.csv_rows.SAMPLE_ROWS", 1)
    assert rows(b"n\n1\n2.5\nx\n") == [(2, {"n": 1}), (3, {"n": 2.5}), (4, "column 'n': 'x' is no number")]


def test_tabs_and_byte_order_mark() -> None:
    assert rows(b"\xef\xbb\xbfa\tb\n1\tx,y\n", delimiter="\t") == [(2, {"a": 1, "b": "x,y"})]


def test_header_that_names_a_column_twice() -> None:
    with pytest.raises(HeaderError, match="two columns are named 'a'"):
        rows(b"a,a\n1,2\n")


def test_empty_file() -> None:
    assert rows(b"") == []
