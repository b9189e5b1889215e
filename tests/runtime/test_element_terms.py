"""Terms over elements, told together: what running each of them would say."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import profilec
from profilec.runtime import program
from profilec.runtime.element_terms import ElementTerms, access_of
from profilec.runtime.program import run
from profilec.values.kinds import DocumentError

INDEXED = {
    "ANY(tags) = 'x'": "=",
    "ANY(tags) IN ('x', 'y', NULL)": "=",
    "ANY(n) > 5": ">",
    "ANY(n) <= 1.5": "<=",
    "ANY(flags) = TRUE": "=",
    "ANY(items.sku) = 'q'": "=",
    "ANY items AS i (i.sku = 'q')": "=",
    "ANY items AS i (i.n > 3 AND i.sku = 'q')": "=",
    "ANY items AS i (i.sku = 'q' AND i.n > least)": "=",
    "ANY(n) BETWEEN 3 AND 5": ">=",
}
LEFT = ["ALL(tags) = 'x'", "ANY(tags) != 'x'", "ANY(tags) LIKE '%x_y%'", "ANY(tags) = b", "ANY(tags) IN ('x', b)"]
# Bodies that read no element, some of one instruction alone.
LEFT += ["ANY tags AS t (TRUE)", "ANY tags AS t (NULL)", "ANY tags AS t (1 = 1)", "ANY tags AS t (NULL AND t.x > 3)"]


def image_of(conditions: Any) -> Any:
    return profilec.compile({f"p{number}": text for number, text in enumerate(conditions)})._parts.image


@pytest.mark.parametrize(("condition", "operator"), INDEXED.items())
def test_what_is_indexed(condition: str, operator: str) -> None:
    (term,) = image_of([condition]).terms
    access = access_of(term)
    assert access is not None
    assert access.operator == operator


@pytest.mark.parametrize("condition", LEFT)
def test_what_is_not(condition: str) -> None:
    assert all(access_of(term) is None for term in image_of([condition]).terms)


NUMBERS = [0, 1, 5, -3, 2**63, 2**53 + 1, float(2**53), 1.5, Decimal("1.5"), Decimal("0.1"), 0.1]
VALUES: list[Any] = [
    None,
    True,
    False,
    *NUMBERS,
    float("inf"),
    float("nan"),
    "",
    "x",
    "y",
    "q",
    "5",
    [],
    ["x"],
    {"sku": 1},
]


def documents(rng: random.Random, n: int) -> Iterator[dict[str, Any]]:
    def array() -> Any:
        if rng.random() < 0.15:
            return rng.choice(VALUES)
        return rng.choices(VALUES, k=rng.randrange(5))

    for _ in range(n):
        items = [{"sku": rng.choice(VALUES), "n": rng.choice(VALUES)} for _ in range(rng.randrange(4))]
        document = {
            "tags": array(),
            "n": array(),
            "flags": array(),
            "items": items,
            "b": rng.choice(["x", 1]),
            "least": 1,
        }
        yield {key: value for key, value in document.items() if rng.random() < 0.8}


def conditions(rng: random.Random, n: int) -> list[str]:
    constants = [
        "0",
        "1",
        "5",
        "-3",
        "1.5",
        "0.1",
        "9007199254740993",
        "9223372036854775808",
        "'x'",
        "'y'",
        "''",
        "TRUE",
    ]

    def comparison(element: str) -> str:
        if rng.random() < 0.2:
            return f"{element} IN ({', '.join(rng.sample(constants, 3))}, NULL)"
        return f"{element} {rng.choice(['=', '=', '<', '<=', '>', '>=', '!='])} {rng.choice(constants)}"

    def term() -> str:
        if rng.random() < 0.3:
            body = " AND ".join(comparison(f"i.{rng.choice(['sku', 'n'])}") for _ in range(rng.randint(1, 3)))
            return f"ANY items AS i ({body})"
        return comparison(f"ANY({rng.choice(['tags', 'n', 'flags', 'items.sku'])})")

    def condition() -> str:
        first = rng.choice(["{}", "{}", "NOT {}", "{} IS TRUE", "{} IS NOT TRUE", "{} IS NOT FALSE", "{} IS FALSE"])
        text = first.format(f"({term()})")
        return f"{text} {rng.choice(['AND', 'OR'])} ({term()} OR b = 'x')" if rng.random() < 0.4 else text

    return [condition() for _ in range(n)]


@pytest.mark.parametrize("seed", range(8))
def test_every_term_as_if_it_were_run(seed: int) -> None:
    rng = random.Random(seed)
    terms = image_of(conditions(rng, 60)).terms
    told = ElementTerms(terms)
    assert any(told.is_indexed)
    for document in documents(rng, 60):
        expected = [n for n, term in enumerate(terms) if told.is_indexed[n] and run(term, document) is True]
        assert told.true_terms(document) == expected


@pytest.mark.parametrize("seed", range(2))
def test_every_matcher_says_the_same(seed: int) -> None:
    rng = random.Random(seed)
    profiles = {f"p{number}": text for number, text in enumerate(conditions(rng, 80))}
    asked = list(documents(rng, 60))
    judge = profilec.compile(profiles)  # `why` runs the condition as it was written
    expected = [[id for id in profiles if judge.why(each, id).truth is True] for each in asked]
    for matcher in ("betree", "betree:list", "betree:matrix", "bitmap", "scan"):
        compiled = profilec.compile(profiles, options={"matcher": matcher})
        assert [compiled.match(each) for each in asked] == expected, matcher
        assert [compiled.count(each) for each in asked] == [len(ids) for ids in expected]
        assert list(compiled.match_batch(asked)) == expected, matcher


def test_a_table() -> None:
    rows: list[dict[str, Any]] = [
        {"tags": ["x", "z"], "items": [{"sku": "q", "n": 1}, {"sku": "r", "n": 9}], "least": 0},
        {"tags": None, "items": [{"sku": "r", "n": 9}], "least": 5},
        {"tags": ["y", None], "items": [], "least": None},
    ]
    profiles = profilec.compile(
        {f"p{number}": text for number, text in enumerate(INDEXED)}, options={"matcher": "betree"}
    )
    table = pa.Table.from_pylist(rows)
    for threads in (1, 2):
        assert list(profiles.match_batch(table, threads=threads)) == [profiles.match(row) for row in rows]


def test_no_term_is_run_for_what_a_document_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = profilec.compile({f"p{number}": f"ANY(tags) = 't{number}'" for number in range(2_000)})
    documents = [{"tags": ["t7", "t1999", "none"]}, {}, {"other": 1}, {"tags": []}]
    profiles.match_batch(documents * 300)  # enough for the tree
    n_some = 0
    some = program._OPERATIONS["some"]

    def counting(*arguments: Any) -> None:
        nonlocal n_some
        n_some += 1
        some(*arguments)

    monkeypatch.setitem(program._OPERATIONS, "some", counting)
    assert [profiles.match(document) for document in documents] == [["p7", "p1999"], [], [], []]
    assert n_some == 0


def test_an_element_of_no_kind() -> None:
    profiles = profilec.compile({"p": "ANY items AS i (i.sku = 'q')"})
    with pytest.raises(DocumentError, match="document 1"):
        profiles.match_batch([{"items": []}, {"items": [{"sku": object()}]}])
    with pytest.raises(DocumentError):
        profiles.match({"items": [object()]})
