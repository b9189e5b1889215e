"""The examples of the seeds, with documents worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

import profilec

MATCHERS = ("scan", "bitmap")


@pytest.fixture(params=MATCHERS)
def matcher(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_seed_000_examples_1_to_3(matcher: str) -> None:
    profiles = profilec.compile(
        """
        PROFILE smith        WHERE author = "Smith";
        PROFILE databases    WHERE area = "Databases" AND year > 2000 AND doc_type = "CFP";
        PROFILE new_by_smith WHERE author = "Smith" AND 10 <= price <= 30 AND ∀ d (isbn ≠ d.isbn);
        """,
        options={"matcher": matcher},
    )
    assert profiles.match({"area": "Databases", "year": 2001, "doc_type": "CFP"}) == ["databases"]
    assert profiles.match({"area": "Databases", "year": 2000, "doc_type": "CFP"}) == []
    assert profiles.match({"area": "Databases", "year": 2001}) == []
    # Books as they arrive: the second copy of a book is not new any more.
    assert profiles.process({"author": "Smith", "price": 10, "isbn": "1"}) == ["smith", "new_by_smith"]
    assert profiles.process({"author": "Smith", "price": 30, "isbn": "2"}) == ["smith", "new_by_smith"]
    assert profiles.process({"author": "Smith", "price": 12, "isbn": "1"}) == ["smith"]
    assert profiles.process({"author": "Smith", "price": 31, "isbn": "3"}) == ["smith"]
    assert profiles.process({"author": "Smith", "price": 9.99, "isbn": "4"}) == ["smith"]
    assert profiles.process({"author": "Jones", "price": 12, "isbn": "5"}) == []
    assert profiles.process({"author": "Smith", "price": 12}) == ["smith"]  # has no isbn: not known to be new
    # From here on an earlier document lacks the isbn, which spoils FORALL (section 4.2: every bit is 1).
    assert profiles.process({"author": "Smith", "price": 12, "isbn": "6"}) == ["smith"]


def test_seed_000_example_5(matcher: str) -> None:
    profiles = profilec.compile(
        {"P1": "EXISTS d (price < d.price)", "P2": "FORALL d (year > d.year)", "P3": "EXISTS d (author = d.author)"},
        options={"matcher": matcher},
    )
    profiles.documents.extend(
        [{"price": 10, "year": 2000, "author": "Smith"}, {"price": 25, "year": 1999, "author": "Jones"}]
    )
    assert profiles.match({"price": 30, "year": 2001, "author": "Smith"}) == ["P2", "P3"]
    assert profiles.match({"price": 24, "year": 2000, "author": "Miller"}) == ["P1"]
    assert profiles.match({"price": 25, "year": 2001, "author": "Jones"}) == ["P2", "P3"]


SUBSCRIPTIONS = {
    "S1": "A = 2 AND B IN (3, 6, 9)",
    "S2": "A <= 8 AND C >= 2",
    "S3": "C = 6 AND B <= 4 AND E BETWEEN 3 AND 12",
    "S4": "A = 2",
    "S5": "D >= 12 AND E <= 9",
    "S6": "B IN (3, 6) AND C <= 4 AND D >= 10 AND E <= 7",
}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"A": 2, "B": 6}, ["S1", "S4"]),  # the event of seed 001, example 2
        ({"A": 2, "B": 4}, ["S4"]),
        ({"A": 2, "B": 9, "C": 2}, ["S1", "S2", "S4"]),
        ({"A": 8, "C": 2}, ["S2"]),
        ({"A": 9, "C": 2}, []),
        ({"A": 8, "C": 1}, []),
        ({"C": 6, "B": 4, "E": 3}, ["S3"]),
        ({"C": 6, "B": 4, "E": 12, "A": 3}, ["S2", "S3"]),
        ({"C": 6, "B": 4, "E": 13}, []),
        ({"C": 6, "B": 5, "E": 3}, []),
        ({"D": 12, "E": 9}, ["S5"]),
        ({"D": 11, "E": 9}, []),
        ({"D": 12, "E": 10}, []),
        ({"B": 3, "C": 4, "D": 10, "E": 7}, ["S6"]),
        ({"B": 6, "C": 4, "D": 12, "E": 7}, ["S5", "S6"]),
        ({"B": 9, "C": 4, "D": 10, "E": 7}, []),
        ({"A": 2, "B": 3, "C": 4, "D": 12, "E": 5}, ["S1", "S2", "S4", "S5", "S6"]),
        ({"A": 2, "B": 3, "C": 6, "D": 12, "E": 9}, ["S1", "S2", "S3", "S4", "S5"]),
        ({"A": 2.0, "B": 3, "Z": 1}, ["S1", "S4"]),
        ({"A": "2", "B": 3}, []),
        ({}, []),
    ],
)
def test_seed_001_table_1(matcher: str, event: dict[str, Any], expected: list[str]) -> None:
    profiles = profilec.compile(SUBSCRIPTIONS, options={"matcher": matcher})
    assert profiles.match(event) == expected
    assert list(profiles.match_batch([event])[0]) == expected
