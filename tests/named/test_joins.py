"""Quantified joins: the join table of Tatbul 2001, 4.2, and the traps of its phases and its pre-filter (4.3)."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from asking import truth
from truths import OPTIONS, Options, named

import profilec

UNKNOWN = None
ORDERS = ("constant_first", "join_first")


OPERATORS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@pytest.fixture(params=[{**own, "phase_order": order} for own in OPTIONS for order in ORDERS], ids=named)
def options(request: pytest.FixtureRequest) -> Options:
    """Options of `compile`: a matcher, all rewrite rules or none, and an order of phases."""
    given: Options = request.param
    return given


def test_example_3_of_tatbul_2001(options: Options) -> None:
    where = "author = 'Smith' AND 10 <= price <= 30 AND FORALL d (isbn != d.isbn)"
    profiles = profilec.compile({"new": where}, options=options)
    smith = {"author": "Smith", "price": 10}
    profiles.documents.extend([smith | {"isbn": "1"}, {"author": "Jones", "price": 5, "isbn": "2"}])
    assert profiles.match(smith | {"isbn": "3"}) == ["new"]
    assert profiles.match(smith | {"isbn": "2"}) == []
    assert profiles.match(smith | {"isbn": "3", "price": 31}) == []
    assert profiles.match(smith | {"isbn": "3", "author": "Jones"}) == []
    assert profiles.match(smith) == []


def test_example_5_of_tatbul_2001(options: Options) -> None:
    """The pairs of its table read <new, old>, though the header has them the other way round."""
    profiles = profilec.compile(
        {"P1": "EXISTS d (price < d.price)", "P2": "FORALL d (year > d.year)", "P3": "EXISTS d (author = d.author)"},
        options=options,
    )
    profiles.documents.extend([{"price": 10, "year": 2000, "author": "Smith"}, {"price": 25, "year": 1999}])
    assert profiles.match({"price": 30, "year": 2001, "author": "Smith"}) == ["P2", "P3"]
    assert profiles.match({"price": 24, "year": 2000, "author": "Miller"}) == ["P1"]
    assert profiles.match({"price": 25, "year": 2001, "author": "Jones"}) == ["P2"]
    assert profiles.match({}) == []


def test_a_term_whose_new_attribute_is_absent_is_still_decided() -> None:
    assert truth("FORALL d (d.price > price)", {}) is True
    assert truth("FORALL d (d.price > price)", {}, {"price": 1}) is False
    assert truth("NOT FORALL d (d.price > price)", {}, {"price": 1}) is True
    assert truth("EXISTS d (d.price > price)", {}, {"price": 1}) is False
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


def test_examples_6_and_7_of_tatbul_2001(options: Options) -> None:
    """What a constant and a join predicate imply of the earlier documents (4.3.2)."""
    wheres = {
        "6": "price = 10 AND EXISTS d (d.price = price)",
        "6, implied": "price = 10 AND EXISTS d (d.price = 10)",
        "7": "price < 10 AND EXISTS d (d.price = price)",
        "7, implied": "price < 10 AND EXISTS d (d.price < 10)",
    }
    profiles = profilec.compile(wheres, options=options)
    assert profiles.match({"price": 10}) == profiles.match({"price": 9}) == []
    profiles.documents.add({"price": 9})
    assert profiles.match({"price": 10}) == []
    assert profiles.match({"price": 9}) == ["7", "7, implied"]
    assert profiles.match({"price": 8}) == ["7, implied"]  # the constraint does not replace the join predicate
    profiles.documents.add({"price": 10})
    assert profiles.match({"price": 10}) == ["6", "6, implied"]


@pytest.mark.parametrize("kind", ["EXISTS", "FORALL"])
def test_table_2_of_tatbul_2001(kind: str, options: Options) -> None:
    """All cells (d.price OP1 price) AND (price OP2 10), those in which nothing is implied too."""
    wheres = {
        f"{old_to_new} {new_to_10}": f"price {new_to_10} 10 AND {kind} d (d.price {old_to_new} price)"
        for old_to_new in OPERATORS
        for new_to_10 in OPERATORS
    }
    profiles = profilec.compile(wheres, options=options)
    quantified = any if kind == "EXISTS" else all
    for store in ([], [10], [9], [11], [8, 9], [9, 10, 11], [11, 12]):
        profiles.documents.delete(range(len(profiles.documents)))
        profiles.documents.extend([{"price": price} for price in store])
        for new in (8, 9, 10, 11, 12):
            expected = [
                id_
                for id_ in wheres
                for old_to_new, new_to_10 in [map(OPERATORS.__getitem__, id_.split())]
                if new_to_10(new, 10) and quantified(old_to_new(old, new) for old in store)
            ]
            assert profiles.match({"price": new}) == expected, (store, new)


def test_keys_never_partition_the_body_of_forall() -> None:
    """Of A's documents alone all would be lower; B's has another user, which makes the body FALSE."""
    stored = [{"u": "A", "m": 1}, {"u": "B", "m": 1}]
    new = {"u": "A", "m": 5}
    assert truth("FORALL d (d.u = u AND d.m < m)", new, *stored) is False
    assert truth("FORALL d WHERE (d.u = u) (d.m < m)", new, *stored) is True
    assert truth("FORALL d (d.u = u AND d.m < m)", new, stored[0]) is True
    assert truth("FORALL d (d.u != u OR d.m < m)", new, *stored) is True
    assert truth("NOT FORALL d (d.u = u AND d.m < m)", new, *stored) is True


def test_profiles_that_no_join_decides(options: Options) -> None:
    """Whichever phase comes first, join-free profiles match, and so do those whose constants suffice."""
    wheres = {
        "plain": "a = 1",
        "or": "a = 1 OR EXISTS d (d.x = x)",
        "or not": "a = 1 OR NOT FORALL d (d.x = x)",
        "and": "a = 1 AND EXISTS d (d.x = x)",
        "join": "EXISTS d (d.x = x)",
        "true": "TRUE",
    }
    profiles = profilec.compile(wheres, options=options)
    assert profiles.match({"a": 1, "x": 1}) == ["plain", "or", "or not", "true"]
    assert profiles.match({}) == ["true"]
    profiles.documents.add({"x": 1})
    assert profiles.match({"a": 1, "x": 2}) == ["plain", "or", "or not", "true"]
    assert profiles.match({"a": 1, "x": 1}) == ["plain", "or", "or not", "and", "join", "true"]
    assert profiles.match({"x": 1}) == ["or", "join", "true"]
    assert profiles.match({"a": 2}) == ["or not", "true"]


def test_the_last_document_alone_is_asked() -> None:
    """The extremes of the whole store say nothing of its last documents."""
    where = "price = 5 AND FORALL d LAST 1 (d.price < price)"
    assert truth(where, {"price": 5}, {"price": 10}, {"price": 3}) is True
    assert truth(where, {"price": 5}, {"price": 3}, {"price": 10}) is False
    assert truth("EXISTS d LAST 1 (d.price > price)", {"price": 5}, {"price": 10}, {"price": 3}) is False
    assert truth("EXISTS d LAST 2 (d.price > price)", {"price": 5}, {"price": 10}, {"price": 3}) is True


def test_a_term_of_many_profiles(options: Options) -> None:
    term = "EXISTS d (d.user = user AND d.amount > amount)"
    wheres = {f"p{n}": f"country = {n} AND {term}" for n in range(100)}
    wheres |= {f"n{n}": f"country = {n} AND NOT {term}" for n in range(100)}
    wheres |= {f"c{n}": f"EXISTS d (d.user = user AND d.amount > {n})" for n in range(100)}
    profiles = profilec.compile(wheres, options=options)
    profiles.documents.extend([{"user": "ann", "amount": 50}, {"user": "bob", "amount": 99}, {"user": "ann"}])
    lower, higher = [f"c{n}" for n in range(50)], [f"c{n}" for n in range(99)]
    assert profiles.match({"country": 7, "user": "ann", "amount": 49}) == ["p7", *lower]
    assert profiles.match({"country": 7, "user": "ann", "amount": 50}) == ["n7", *lower]
    assert profiles.match({"country": 99, "user": "bob", "amount": 50}) == ["p99", *higher]
    assert profiles.match({"country": 1, "user": "cem", "amount": 0}) == ["n1"]
    assert profiles.match({"country": 1}) == ["n1"]


def test_an_extreme_that_goes_and_comes_back(options: Options) -> None:
    wheres = {
        "above": "EXISTS d (d.x > x)",
        "all below": "FORALL d (d.x < x)",
        "user's": "EXISTS d (d.u = u AND d.x > x)",
    }
    profiles = profilec.compile(wheres, options=options)
    store = profiles.documents
    new = {"u": 1, "x": 5}
    store.extend([{"u": 1, "x": 9}, {"u": 2, "x": 9}, {"u": 1, "x": 4}])
    assert profiles.match(new) == ["above", "user's"]
    store.delete([0])  # the other 9 is still there
    assert profiles.match(new) == ["above"]
    store.delete([0])
    assert profiles.match(new) == ["all below"]
    store.add({"u": 1, "x": 6})
    assert profiles.match(new) == ["above", "user's"]
    store.delete([-1])
    store.add({"u": 1})
    assert profiles.match(new) == []  # one without x spoils FORALL
    store.delete([0, 1])
    assert profiles.match(new) == ["all below"]
    store.extend([{"u": 1, "x": "9"}, {"u": 1, "x": True}, {"u": 1, "x": [9]}])
    assert profiles.match(new) == []  # no numbers


@pytest.mark.parametrize("body", ["d.x = x", "d.x != x", "d.x > x", "d.x = 1", "d.x IS NULL", "TRUE", "NULL", "FALSE"])
def test_an_empty_range(body: str) -> None:
    now: dict[str, Any] = {"x": 1}
    for scope in ("", "LAST 3 ", "WITHIN INTERVAL '1 day' OF t ", "WHERE (d.k = k) "):
        assert truth(f"EXISTS d {scope}({body})", now) is False
        assert truth(f"FORALL d {scope}({body})", now) is True
    # t and k are absent of the new document: nothing is in range.
    for scope in ("WITHIN INTERVAL '1 day' OF t ", "WHERE (d.k = k) ", "WHERE (FALSE) ", "WHERE (d.x > 1) LAST 1 "):
        assert truth(f"EXISTS d {scope}({body})", now, {"x": 1, "k": 1}) is False
        assert truth(f"FORALL d {scope}({body})", now, {"x": 1, "k": 1}) is True


def test_documents_that_go_count_no_more() -> None:
    profiles = profilec.compile({"low": "FORALL d (d.x > x)", "seen": "EXISTS d (d.x = x)"})
    profiles.documents.extend([{"x": 5}, {"x": 1}])
    assert profiles.match({"x": 1}) == ["seen"]
    profiles.documents.delete([1])
    assert profiles.match({"x": 1}) == ["low"]
    profiles.documents.add({"x": 1})
    assert profiles.match({"x": 1}) == ["seen"]
