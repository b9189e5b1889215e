"""The pre-filter: it passes over what cannot match, and nothing else."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import profilec
from profilec.runtime.joins.table import JoinTable
from profilec.values.kinds import Timestamp

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
VALUES: list[Any] = [0, 1, 2, 2.5, 3, 4, 5, "a", "b", "c", None, True, [1], Timestamp(5), 2**53 + 1]
LITERALS = ["0", "1", "2", "3", "4", "'b'", "2.5", "9007199254740993", "NULL", "TRUE"]


def constant(rng: random.Random) -> str:
    operator = rng.choice(OPERATORS)
    return rng.choice(
        [f"a {operator} {rng.choice(LITERALS)}"] * 4
        + [
            "a BETWEEN 1 AND 3",
            "a NOT IN (2, 3)",
            "a IN (1, 4)",
            "a IS NULL",
            "LOWER(a) = 'b'",
            "NOT a BETWEEN 2 AND 3",
        ]
    )


def join(rng: random.Random) -> str:
    operator = rng.choice(OPERATORS)
    quantifier = rng.choice(["EXISTS", "FORALL", "NOT EXISTS", "NOT FORALL"])
    scope = rng.choice(["", "", "", "LAST 2 ", "WHERE (d.b = b) ", "WHERE (d.a > 1) "])
    body = rng.choice(
        [f"d.a {operator} a"] * 4
        + [
            f"a {operator} d.a",
            f"d.a {operator} {rng.choice(LITERALS)}",
            f"NOT d.a {operator} a",
            f"d.a {operator} a AND d.b = b",
            f"d.a {operator} a OR d.b = b",
            "LOWER(d.a) = LOWER(a)",
            "d.b IS NULL",
            "d.b LIKE 'a%' AND d.a = a",
            f"(d.a {operator} a) IS UNKNOWN",
        ]
    )
    return f"{quantifier} d {scope}({body})"


def document(rng: random.Random) -> dict[str, Any]:
    return {name: rng.choice(VALUES) for name in "ab" if rng.random() < 0.85}


@pytest.mark.parametrize("order", ["constant_first", "join_first"])
@pytest.mark.parametrize("seed", range(25))
def test_the_answer_never_changes(seed: int, order: str) -> None:
    rng = random.Random(seed)
    texts = {
        f"p{number}": " AND ".join([constant(rng)] * rng.randint(0, 1) + [join(rng) for _ in range(rng.randint(1, 2))])
        for number in range(60)
    }
    given = {"matcher": "betree" if seed % 2 else "scan", "phase_order": order, "rules": "none"}
    with_it, without = (profilec.compile(texts, options={**given, "prefilter": is_on}) for is_on in (True, False))
    pool = [document(rng) for _ in range(rng.choice([1, 2, 8]))]
    for _ in range(8):
        added = [rng.choice(pool) for _ in range(rng.choice([0, 1, 5]))]
        gone = rng.sample(range(len(with_it.documents)), rng.randint(0, len(with_it.documents)))
        for profiles in (with_it, without):
            profiles.documents.delete(gone)
            profiles.documents.extend(added)
        asked = [document(rng) for _ in range(6)]
        assert [with_it.match(new) for new in asked] == [without.match(new) for new in asked]
        assert list(with_it.match_batch(asked)) == list(without.match_batch(asked))


@pytest.mark.parametrize(
    ("where", "passes", "fails"),
    [
        # Existence of the attribute.
        ("EXISTS d (d.isbn = isbn)", [{"isbn": 1}], [{"x": 1}]),
        ("FORALL d (d.price < price)", [{"price": 1}], [{"price": 1}, {}]),
        # Constant predicates on earlier documents.
        ("EXISTS d (d.price > 10)", [{"price": 11}], [{"price": 10}]),
        ("EXISTS d (d.price > 1 AND d.brand LIKE 'a%')", [{"price": 2, "brand": "a"}], [{"price": 2, "brand": "b"}]),
        ("FORALL d (d.price BETWEEN 5 AND 10)", [{"price": 7}], [{"price": 7}, {"price": 11}]),
        # Both together: examples 6 and 7, and the rows of Table 2.
        ("price = 10 AND EXISTS d (d.price = price)", [{"price": 10}], [{"price": 9}]),
        ("price < 10 AND EXISTS d (d.price = price)", [{"price": 9}], [{"price": 10}]),
        ("price < 10 AND EXISTS d (d.price < price)", [{"price": 9}], [{"price": 10}]),
        ("price < 10 AND EXISTS d (d.price <= price)", [{"price": 9}], [{"price": 10}]),
        ("price <= 10 AND EXISTS d (d.price = price)", [{"price": 10}], [{"price": 11}]),
        ("price <= 10 AND EXISTS d (d.price < price)", [{"price": 9}], [{"price": 10}]),
        ("price <= 10 AND EXISTS d (d.price <= price)", [{"price": 10}], [{"price": 11}]),
        ("price > 10 AND EXISTS d (d.price = price)", [{"price": 11}], [{"price": 10}]),
        ("price > 10 AND EXISTS d (d.price > price)", [{"price": 11}], [{"price": 10}]),
        ("price > 10 AND EXISTS d (d.price >= price)", [{"price": 11}], [{"price": 10}]),
        ("price >= 10 AND EXISTS d (d.price = price)", [{"price": 10}], [{"price": 9}]),
        ("price >= 10 AND EXISTS d (d.price > price)", [{"price": 11}], [{"price": 10}]),
        ("price >= 10 AND EXISTS d (d.price >= price)", [{"price": 10}], [{"price": 9}]),
        ("price = 10 AND EXISTS d (d.price != price)", [{"price": 9}], [{"price": 10}]),
        ("price > 10 AND FORALL d (d.price > price)", [{"price": 11}], [{"price": 11}, {"price": 10}]),
        ("price = 10 AND NOT EXISTS d (d.price = price)", [{"price": 9}], [{"price": 10}]),
        ("price BETWEEN 5 AND 10 AND EXISTS d (d.price = price)", [{"price": 7}], [{"price": 4}, {"price": 11}]),
        ("price IN (5, 10) AND EXISTS d (d.price = price)", [{"price": 10}], [{"price": 7}]),
    ],
)
def test_what_is_implied(where: str, passes: list[dict[str, Any]], fails: list[dict[str, Any]]) -> None:
    for earlier, left in ((passes, "every profile can match"), (fails, "1 profile cannot match yet")):
        profiles = profilec.compile({"p": where})
        profiles.documents.extend(earlier)
        assert left in profiles.explain(), earlier


@pytest.mark.parametrize(
    "where",
    [
        "price = 5 AND FORALL d LAST 1 (d.price < price)",
        "price = 5 AND FORALL d WHERE (d.brand = brand) (d.price < price)",
        "price = 5 AND FORALL d (d.price < price OR d.brand = brand)",
        "a = 1 OR EXISTS d (d.price > 100)",
    ],
)
def test_what_implies_nothing(where: str) -> None:
    profiles = profilec.compile({"p": where})
    profiles.documents.extend([{"price": 10}, {"price": 3}])
    assert "cannot match yet" not in profiles.explain()


@pytest.mark.parametrize(
    ("where", "n_replaced"),
    [
        # The row of = in Table 2; constants alone; what asks nothing else.
        ("price = 10 AND EXISTS d (d.price = price)", 1),
        ("price = 10 AND EXISTS d (d.price >= price)", 1),
        ("price = 10 AND FORALL d (d.price != price)", 1),
        ("price = 10 AND NOT EXISTS d (d.price < price)", 1),
        ("EXISTS d (d.price > 10)", 1),
        ("EXISTS d (d.brand LIKE 'a%')", 1),
        ("NOT EXISTS d (d.price > 10 OR d.price < 2)", 1),
        ("price = 10 AND EXISTS d (d.price = price) AND EXISTS d (d.isbn = isbn)", 1),
        # Example 7, and more than one value or one condition: something would be lost.
        ("price < 10 AND EXISTS d (d.price = price)", 0),
        ("price IN (5, 10) AND EXISTS d (d.price = price)", 0),
        ("EXISTS d (d.price = price)", 0),
        ("price = 10 AND EXISTS d LAST 3 (d.price = price)", 0),
        ("price = 10 AND EXISTS d WHERE (d.brand = brand) (d.price = price)", 0),
        ("price = 10 AND EXISTS d (d.price = price AND d.sold)", 0),
        ("price = 10 AND EXISTS d (d.price + 1 = price + 1)", 0),
        ("price = 10 AND EXISTS d (d.price > price OR d.price < 2)", 0),
    ],
)
def test_a_constraint_replaces_a_join_that_it_decides(where: str, n_replaced: int) -> None:
    profiles = profilec.compile({"p": where}, options={"rules": "none"})
    told = json.loads(profiles.explain(format="json"))["prefilter"]
    assert told["joins_replaced"] == n_replaced


@pytest.mark.parametrize("order", ["constant_first", "join_first"])
def test_a_join_that_is_replaced_is_not_asked(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = profilec.compile({"p": "price = 10 AND EXISTS d (d.price = price)"}, options={"phase_order": order})
    profiles.documents.add({"price": 10})
    monkeypatch.setattr(JoinTable, "decide", None)
    monkeypatch.setattr(JoinTable, "decide_many", None)
    new = [{"price": 10}, {"price": 9}] * 40
    assert list(map(profiles.match, new)) == list(profiles.match_batch(new)) == [["p"], []] * 40


def test_it_goes_with_the_store() -> None:
    profiles = profilec.compile({"p": "price > 10 AND EXISTS d (d.price > price)", "q": "price = 1"})
    told = []
    for change in (
        lambda documents: None,
        lambda documents: documents.add({"price": 20}),
        lambda documents: documents.add({"price": 30}),
        lambda documents: documents.delete([0]),
        lambda documents: documents.delete([0]),
    ):
        change(profiles.documents)
        told.append("cannot match yet" in profiles.explain())
    assert told == [True, False, False, False, True]


def test_it_can_be_switched_off() -> None:
    profiles = profilec.compile({"p": "EXISTS d (d.a = a)"}, options={"prefilter": False})
    assert "pre-filter of" not in profiles.explain()
    assert "1 join term, no pre-filter" in profiles.explain()
    with pytest.raises(ValueError, match="prefilter takes True or False"):
        profilec.compile({"p": "a = 1"}, options={"prefilter": "yes"})
