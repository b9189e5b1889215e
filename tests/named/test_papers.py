"""The examples of the papers that the indexes come from, with documents worked out by hand.

- Tatbul 2001, section 3.2: Examples 1 to 3, profiles with constant and join predicates;
- Tatbul 2001, section 4.1.2: the elementary intervals of the endpoints 2, 5, 18 and 30;
- OpIndex, Table 1: six subscriptions, and the event of its Example 2.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from truths import OPTIONS, Options, named

import profilec
from profilec.runtime.image import Constants
from profilec.runtime.indexes.interval import IntervalIndex


@pytest.fixture(params=OPTIONS, ids=named)
def options(request: pytest.FixtureRequest) -> Options:
    """Options of `compile`: a matcher, and all rewrite rules or none."""
    given: Options = request.param
    return given


PAPER_000 = """
PROFILE by_smith WHERE author = "Smith";
PROFILE calls_for_papers WHERE area = "Databases" AND year > 2000 AND doc_type = "CFP";
PROFILE new_by_smith WHERE author = "Smith" AND 10 <= price <= 30 AND \u2200 d (isbn \u2260 d.isbn);
"""


def book(author: str, price: Any, isbn: str) -> dict[str, Any]:
    return {"author": author, "price": price, "isbn": isbn}


def test_examples_1_and_2_of_seed_000(options: Options) -> None:
    profiles = profilec.compile(PAPER_000, options=options)
    call = {"area": "Databases", "year": 2001, "doc_type": "CFP"}
    documents = [
        {"author": "Smith"},
        {"author": "smith"},
        {"author": "Smithson"},
        {},
        call,
        call | {"year": 2000},
        call | {"area": "Networks"},
        call | {"doc_type": "journal"},
        {"area": "Databases", "doc_type": "CFP"},
        call | {"author": "Smith"},
    ]
    expected = [
        ["by_smith"], [], [], [], ["calls_for_papers"], [], [], [], [], ["by_smith", "calls_for_papers"],
    ]  # fmt: skip
    assert [profiles.match(document) for document in documents] == expected
    assert list(map(list, profiles.match_batch(documents))) == expected


def test_example_3_of_seed_000_only_matches_what_was_never_received(options: Options) -> None:
    profiles = profilec.compile(PAPER_000, options=options)
    received = [
        (book("Smith", 10, "1"), True),  # the store is empty
        (book("Smith", 10, "1"), False),  # the very same again
        (book("Smith", 30, "2"), True),
        (book("Smith", 31, "3"), False),  # too dear, but received all the same
        (book("Smith", 20, "3"), False),
        (book("Smith", 9.99, "4"), False),
        (book("Jones", 20, "5"), False),
        (book("Smith", 20, "6"), True),
        ({"author": "Smith", "price": 20}, False),  # no isbn: its difference from any other is UNKNOWN
        (book("Smith", 20, "7"), False),  # one of the store has no isbn now, which spoils FORALL
    ]
    for document, is_new in received:
        matched = profiles.process(document)
        assert ("new_by_smith" in matched) is is_new, document
        assert ("by_smith" in matched) is (document["author"] == "Smith")


TABLE_1 = """
PROFILE S1 WHERE A = 2 AND B IN (3, 6, 9);
PROFILE S2 WHERE A <= 8 AND C >= 2;
PROFILE S3 WHERE C = 6 AND B <= 4 AND E BETWEEN 3 AND 12;
PROFILE S4 WHERE A = 2;
PROFILE S5 WHERE D >= 12 AND E <= 9;
PROFILE S6 WHERE B IN (3, 6) AND C <= 4 AND D >= 10 AND E <= 7;
"""
EVENTS = [
    ({"A": 2, "B": 6}, "S1 S4"),  # the event of Example 2
    ({}, ""),
    ({"A": 2}, "S4"),
    ({"A": 2, "B": 4}, "S4"),
    ({"A": 2, "B": 9, "C": 2}, "S1 S2 S4"),
    ({"A": 8, "C": 2}, "S2"),
    ({"A": 9, "C": 2}, ""),
    ({"A": 8, "C": 1}, ""),
    ({"B": 4, "C": 6, "E": 3}, "S3"),
    ({"B": 4, "C": 6, "E": 12}, "S3"),
    ({"B": 4, "C": 6, "E": 13}, ""),
    ({"B": 5, "C": 6, "E": 12}, ""),
    ({"D": 12, "E": 9}, "S5"),
    ({"D": 11, "E": 9}, ""),
    ({"D": 12, "E": 10}, ""),
    ({"B": 3, "C": 4, "D": 10, "E": 7}, "S6"),
    ({"B": 3, "C": 4, "D": 12, "E": 7}, "S5 S6"),
    ({"B": 9, "C": 4, "D": 10, "E": 7}, ""),
    ({"A": 2, "B": 3, "C": 4, "D": 12, "E": 7}, "S1 S2 S4 S5 S6"),
    ({"A": 2, "B": 3, "C": 6, "D": 12, "E": 7}, "S1 S2 S3 S4 S5"),
    ({"A": "2", "B": 6}, ""),  # a string is no number
]


def test_table_1_of_seed_001(options: Options) -> None:
    profiles = profilec.compile(TABLE_1, options=options)
    documents = [document for document, _ in EVENTS]
    expected = [ids.split() for _, ids in EVENTS]
    assert [profiles.match(document) for document in documents] == expected
    assert list(map(list, profiles.match_batch(documents))) == expected


@pytest.mark.parametrize("matcher", ["scan", "bitmap"])
def test_table_1_of_seed_001_over_its_whole_domain_of_columns(matcher: str) -> None:
    """Every combination of a few values of each attribute, absence among them, as Arrow columns."""
    values = {
        "A": (None, 2, 8, 9), "B": (None, 3, 4, 9), "C": (None, 1, 4, 6), "D": (None, 10, 12), "E": (None, 7, 9, 13),
    }  # fmt: skip
    rows = [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]

    def holds(row: dict[str, int | None]) -> list[str]:
        a, b, c, d, e = (float("nan") if value is None else value for value in row.values())
        conditions = {
            "S1": a == 2 and b in (3, 6, 9),
            "S2": a <= 8 and c >= 2,
            "S3": c == 6 and b <= 4 and 3 <= e <= 12,
            "S4": a == 2,
            "S5": d >= 12 and e <= 9,
            "S6": b in (3, 6) and c <= 4 and d >= 10 and e <= 7,
        }
        return [id_ for id_, does in conditions.items() if does]

    profiles = profilec.compile(TABLE_1, options={"matcher": matcher})
    assert list(map(list, profiles.match_batch(pa.Table.from_pylist(rows)))) == list(map(holds, rows))


ENDPOINTS = (2, 5, 18, 30)
CELLS = [
    (1, Fraction(3, 2), -(10**30)),
    (2,),
    (3, 4, Fraction(5, 2)),
    (5,),
    (6, 17),
    (18,),
    (19, 29),
    (30,),
    (31, 10**30),
]
"""Values of each elementary interval of section 4.1.2, in its order."""


def test_endpoints_2_5_18_30_of_seed_000_give_nine_elementary_intervals() -> None:
    constants = Constants(numbers=ENDPOINTS)
    ranks = [{constants.rank(float(v) if isinstance(v, Fraction) else v) for v in cell} for cell in CELLS]
    assert all(len(cell) == 1 for cell in ranks), "values of one elementary interval have one rank"
    ascending = [rank for cell in ranks for rank in cell]
    assert ascending == list(range(ascending[0], ascending[0] + 9))
    assert constants.rank(None) not in ascending


def test_an_elementary_interval_that_satisfies_no_profile_has_no_node() -> None:
    """Section 4.1.2's optimization: of nine elementary intervals, the profiles below leave four empty."""
    profiles = {"a": "price BETWEEN 2 AND 5", "b": "price = 18", "c": "price > 30"}
    constants = Constants(numbers=ENDPOINTS)
    low = [constants.rank(value) for value in (2, 18, 31)]
    high = [constants.rank(value) for value in (5, 18, 31)]
    off, low_rank, high_rank = (np.array(part, np.int32) for part in ([0, 1, 2, 3], low, high))
    index = IntervalIndex(np.arange(3, dtype=np.int32), off, low_rank, high_rank)
    held = [sorted(index.entries_at(constants.rank(float(cell[0])))) for cell in CELLS]
    assert held == [[], [0], [0], [0], [], [1], [], [], [2]]

    compiled = profilec.compile(profiles, options={"matcher": "bitmap"})
    matched = [compiled.match({"price": float(cell[0])}) for cell in CELLS]
    assert matched == [[list(profiles)[entry] for entry in cell] for cell in held]
