"""What contradicts SCHEMA is not kept, whichever way it comes, and nothing changes by it."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import profilec
from profilec import DocumentError

SCHEMA = (
    "price NUMBER, n INTEGER, isbn STRING NOT NULL, flag BOOLEAN, day DATE, at TIMESTAMP, tags ARRAY<STRING>, "
    "author RECORD(name STRING NOT NULL, born DATE), user.city STRING"
)
GOOD: list[dict[str, Any]] = [
    {"isbn": "1"},
    {"isbn": "1", "price": 2.5, "n": 2.0, "flag": True, "day": "2026-01-02", "at": "2026-01-02T03:04:05Z"},
    {
        "isbn": "1",
        "price": Decimal("1E+400"),
        "n": 10**30,
        "day": datetime.date(2026, 1, 2),
        "at": datetime.datetime.now(),
    },
    {"isbn": "1", "tags": ["a", None], "author": {"name": "x", "born": "1970-01-01"}, "user": {"city": "Delft"}},
    {"isbn": "1", "tags": [], "author": None, "user.city": "Delft", "what": "ever", "price": float("nan")},
]
BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "attribute 'isbn' is NOT NULL in SCHEMA, and missing"),
    ({"isbn": 5}, "attribute 'isbn' is STRING in SCHEMA, and is 5, a number"),
    ({"isbn": "1", "price": "5"}, "attribute 'price' is NUMBER in SCHEMA, and is '5', a string"),
    ({"isbn": 10**5_000}, "attribute 'isbn' is STRING in SCHEMA, and is 1"),
    ({"isbn": "1", "n": 2.5}, "attribute 'n' is INTEGER in SCHEMA, and is 2.5, a number"),
    ({"isbn": "1", "n": float("inf")}, "attribute 'n' is INTEGER in SCHEMA"),
    ({"isbn": "1", "flag": 1}, "attribute 'flag' is BOOLEAN in SCHEMA, and is 1, a number"),
    ({"isbn": "1", "day": "soon"}, "attribute 'day' is DATE in SCHEMA, and is 'soon', a string"),
    ({"isbn": "1", "at": 17}, "attribute 'at' is TIMESTAMP in SCHEMA, and is 17, a number"),
    ({"isbn": "1", "tags": "a"}, r"attribute 'tags' is ARRAY<STRING> in SCHEMA, and is 'a', a string"),
    ({"isbn": "1", "tags": ["a", 1]}, r"attribute 'tags' is ARRAY<STRING> in SCHEMA, and has 1, a number"),
    ({"isbn": "1", "price": [1]}, "attribute 'price' is NUMBER in SCHEMA, and is an array"),
    ({"isbn": "1", "author": {}}, "its name, which is NOT NULL, is missing"),
    ({"isbn": "1", "author": {"name": 7}}, "its name, which is STRING, is 7, a number"),
    ({"isbn": "1", "user": {"city": 1}}, "attribute 'user.city' is STRING in SCHEMA"),
    ({"isbn": "1", "price": "x" * 1_000}, "'x{39}…, a string"),
]


def a_set() -> profilec.ProfileSet:
    profiles = profilec.compile("PROFILE p WHERE EXISTS d (d.isbn = isbn);", schema=SCHEMA)
    profiles.documents.add({"isbn": "0"})
    return profiles


@pytest.mark.parametrize("document", GOOD)
def test_what_is_declared_is_kept(document: dict[str, Any]) -> None:
    profiles = a_set()
    profiles.documents.add(document)
    profiles.documents.extend([document] * 3)
    assert len(profiles.documents) == 5


@pytest.mark.parametrize(("document", "message"), BAD)
def test_what_contradicts_it_is_not(document: dict[str, Any], message: str) -> None:
    profiles = a_set()
    assert profiles.match({"isbn": "0"}) == ["p"]
    for use in (profiles.documents.add, profiles.process):
        with pytest.raises(DocumentError, match=message):
            use(document)
    with pytest.raises(DocumentError, match=f"document 2: .*{message}"):
        profiles.documents.extend([*GOOD[:2], document, {}, *GOOD[2:]])
    assert list(profiles.documents) == [{"isbn": "0"}]
    assert profiles.match({"isbn": "0"}) == ["p"]


def test_tables() -> None:
    profiles = a_set()
    good = {"isbn": ["1", "2"], "price": [1, None]}
    profiles.documents.extend(pa.table(good))
    profiles.documents.extend(pd.DataFrame(good))
    with pytest.raises(DocumentError, match="document 1: attribute 'isbn' is NOT NULL"):
        profiles.documents.extend(pa.table({"isbn": ["1", None]}))
    with pytest.raises(DocumentError, match="document 0: attribute 'price' is NUMBER"):
        profiles.documents.extend(pa.table({"isbn": ["1", None], "price": ["1", "2"]}))
    with pytest.raises(
        DocumentError, match="document 1: attribute 'tags' is ARRAY<STRING> in SCHEMA, and has 2, a number"
    ):
        profiles.documents.extend(pa.table({"isbn": ["1", "2"], "tags": [[], [2]]}))
    assert len(profiles.documents) == 5


def test_a_set_that_is_loaded_knows_it_too(tmp_path: Any) -> None:
    a_set().save(tmp_path / "set.prfi")
    profiles = profilec.load(tmp_path / "set.prfi")
    with pytest.raises(DocumentError, match="NOT NULL"):
        profiles.documents.add({})
    assert len(profiles.documents) == 0


def test_partial_documents_may_lack_what_is_not_null() -> None:
    profiles = a_set()
    profiles.documents.extend([{"price": 1, "author": {"born": "1970-01-01"}}], partial=True)
    with pytest.raises(DocumentError, match="document 0: attribute 'price' is NUMBER"):
        profiles.documents.extend([{"price": "1"}], partial=True)
    assert len(profiles.documents) == 2
