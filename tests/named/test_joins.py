"""Quantified joins: the join table of Tatbul 2001, 4.2, and the traps of its phases and its pre-filter (4.3)."""

from __future__ import annotations

import pytest
from asking import truth

import profilec

UNKNOWN = None


@pytest.mark.parametrize("matcher", ["scan", "bitmap"])
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


def test_a_term_whose_new_attribute_is_absent_is_still_decided() -> None:
    assert truth("FORALL d (d.price > price)", {}) is True
    assert truth("FORALL d (d.price > price)", {}, {"price": 1}) is False
    assert truth("NOT EXISTS d (d.price > price)", {}, {"price": 1}) is True
    assert truth("FORALL d WHERE (d.user = user) (d.price > price)", {}, {"user": "ann"}) is True


def test_a_negated_join_can_save_a_profile_that_the_constants_leave_open() -> None:
    where = "(a = 1 OR NOT EXISTS d (d.x = x)) AND (b = 2 OR NOT FORALL d (d.x = x))"
    assert truth(where, {"x": 1}, {"x": 2}) is True
    assert truth(where, {"x": 2}, {"x": 2}) is UNKNOWN
    assert truth(where, {"a": 0, "x": 2}, {"x": 2}) is False
    assert truth(where, {"a": 1, "b": 2, "x": 2}, {"x": 2}) is True


def test_the_existence_constraint_of_forall() -> None:
    # No document has the attribute: EXISTS fails, FORALL fails too, but not over an empty store.
    assert truth("FORALL d (d.y > 0)", {}, {"x": 1}) is False
    assert truth("FORALL d (d.y > 0)", {}) is True
    assert truth("FORALL d (d.y > 0 OR d.x = 1)", {}, {"x": 1}) is True
    assert truth("FORALL d (d.y IS NULL)", {}, {"x": 1}) is True


def test_constant_and_join_predicates_together() -> None:
    # Tatbul 2001, 4.3.2, examples 6 and 7: what the new document's constants say of the earlier one.
    for price, stored, expected in [(10, 10, True), (10, 9, False), (9, 9, False)]:
        assert truth("price = 10 AND EXISTS d (d.price = price)", {"price": price}, {"price": stored}) is expected
    assert truth("price < 10 AND EXISTS d (d.price = price)", {"price": 9}, {"price": 9}) is True


def test_documents_that_go_count_no_more() -> None:
    profiles = profilec.compile({"low": "FORALL d (d.x > x)", "seen": "EXISTS d (d.x = x)"})
    profiles.documents.extend([{"x": 5}, {"x": 1}])
    assert profiles.match({"x": 1}) == ["seen"]
    profiles.documents.delete([1])
    assert profiles.match({"x": 1}) == ["low"]
    profiles.documents.add({"x": 1})
    assert profiles.match({"x": 1}) == ["seen"]
