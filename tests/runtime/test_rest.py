"""What is asked of each earlier document with the new one: doubles tell most of it, and nothing wrong."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import profilec
from profilec.runtime.joins import rest
from profilec.runtime.joins.estimates import Estimate
from profilec.runtime.program import Program, run
from profilec.runtime.store.documents import DocumentStore
from profilec.values.kinds import Timestamp

NUMBERS: list[Any] = [
    *[0, 1, 2, 3, -1, 7, 0.1, 0.2, 0.30000000000000004, 1 / 3, -0.0, 1e-3],
    *[2**53, 2**53 + 1, -(2**60) - 1, 10**40, 1e300, 1e-300, 5e-324, float("inf"), float("-inf")],
    *[Decimal("0.1"), Decimal("0.3"), Decimal("0.10000000000000000001"), Decimal("1E-9999"), Decimal("1E+9999")],
]
OTHERS: list[Any] = [None, "a", "1", True, [1], {"x": 1}, Timestamp(5)]
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


def number(rng: random.Random, depth: int = 3) -> str:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(
            ["d.a", "d.b", "d.c.e", "a", "b", "0", "1", "0.1", "0.3", "1E-300", "9007199254740993", "NULL"]
        )
    if rng.random() < 0.25:
        return f"{rng.choice(['ABS', '-'])}({number(rng, depth - 1)})"
    return f"({number(rng, depth - 1)} {rng.choice('+-*/')} {number(rng, depth - 1)})"


def condition(rng: random.Random, depth: int = 2) -> str:
    if depth == 0 or rng.random() < 0.4:
        if rng.random() < 0.1:
            return f"{number(rng)} IS NULL"
        return f"{number(rng)} {rng.choice(OPERATORS)} {number(rng)}"
    inner = condition(rng, depth - 1)
    match rng.randrange(4):
        case 0:
            return f"NOT ({inner})"
        case 1:
            return f"({inner}) IS {rng.choice(['', 'NOT '])}{rng.choice(['TRUE', 'FALSE', 'UNKNOWN'])}"
    return f"({inner}) {rng.choice(['AND', 'OR'])} ({condition(rng, depth - 1)})"


def a_document(rng: random.Random) -> dict[str, Any]:
    def value() -> Any:
        pool = rng.choice([NUMBERS, NUMBERS, NUMBERS, [rng.uniform(-5, 5), rng.randint(-5, 5)], OTHERS])
        return rng.choice(pool)

    own = {name: value() for name in "ab" if rng.random() < 0.9}
    return own | rng.choice([{"c": {"e": value()}}, {"c.e": value()}, {}])


def program_of(text: str) -> Program:
    profiles = profilec.compile({"p": f"EXISTS d ({text})"}, options={"rules": "none"})
    return profiles._parts.image.joins[0].body


@pytest.mark.parametrize("seed", range(60))
def test_the_truth_is_among_those_that_are_told(seed: int) -> None:
    rng = random.Random(seed)
    program = program_of(condition(rng))
    earlier = [a_document(rng) for _ in range(60)]
    store = DocumentStore(earlier)
    with store.reading():
        estimate = Estimate(program, store)
        assert estimate.can_tell
        for _ in range(8):
            new = a_document(rng)
            told = estimate.sets(new, 0, len(earlier)).tolist()
            for old, truths in zip(earlier, told, strict=True):
                bit = {True: 1, False: 2, None: 4}[run(program, new, old)]
                assert truths & bit, (new, old)


def test_most_is_told() -> None:
    rng = random.Random(1)
    program = program_of("(d.x - x) * (d.x - x) + (d.y - y) * (d.y - y) < 25")
    store = DocumentStore([{"x": rng.uniform(-9, 9), "y": rng.randint(-9, 9)} for _ in range(1_000)])
    with store.reading():
        sets = Estimate(program, store).sets({"x": 0.5, "y": 1}, 0, 1_000)
    assert set(sets.tolist()) == {1, 2}


@pytest.mark.parametrize(
    "text", ["LENGTH(d.s) + a > 1", "LOWER(d.s) = s", "d.a % a = 1", "d.s LIKE s", "+".join(["d.a"] * 70) + " > a"]
)
def test_what_doubles_cannot_tell_is_asked(text: str) -> None:
    with DocumentStore().reading() as store:
        assert not Estimate(program_of(text), store).can_tell


@pytest.mark.parametrize("as_table", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_some_document_holds_as_by_definition(seed: int, as_table: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(rest, "_FEW", seed % 3)
    monkeypatch.setattr(rest, "_AT_ONCE", 3)
    program = program_of(condition(rng))
    documents: Sequence[dict[str, Any]] = [
        {"a": rng.choice([None, 1, 2, rng.randint(-9, 9)]), "b": rng.choice([None, 0.1, rng.uniform(-1, 1)])}
        for _ in range(50)
    ]
    store = DocumentStore()
    store.extend(pa.Table.from_pylist(documents) if as_table else documents)
    store.extend(documents[:7])
    with store.reading():
        asked = rest.Rest(program, store)
        for _ in range(20):
            new = a_document(rng)
            start = rng.randrange(50)
            chosen = np.array([rng.random() < 0.5 for _ in range(57 - start)], np.bool_)
            truths = [run(program, new, store.document(start + place)) is True for place in range(len(chosen))]
            assert asked.holds_of_some(new, start, chosen) == any(
                truth for truth, is_chosen in zip(truths, chosen.tolist(), strict=True) if is_chosen
            )
            assert asked.holds(new, start) == truths[0]


@pytest.mark.parametrize("key", ["", "d.g = g AND "])
def test_results_of_too_many_digits_are_null(key: str) -> None:
    """Exact products of integers and decimals get long, while their doubles stay near 1."""
    body = key + " * ".join(["((d.x + x) * x)"] * 18) + " > 0"
    profiles = profilec.compile({"e": f"EXISTS d ({body})", "n": f"NOT EXISTS d ({body})"})
    new = {"x": Decimal("1e-280"), "g": 1}
    for _ in range(3):
        profiles.documents.extend([{"x": 2**930, "g": 1}] * 16)
        assert profiles.match(new) == ["n"]


@pytest.mark.parametrize(
    ("text", "old", "new", "sets"),
    [
        # Whole numbers that doubles hold: ties are told.
        ("ABS(d.r - r) > 2", 1, 3, {2}),
        ("ABS(d.r - r) >= 2", 1, 3, {1}),
        ("d.r * r + 1 = 2 * r - 1", 1, 2, {1}),
        ("d.r * r + 1 = 3", 1, 2, {1}),
        ("d.r / r = 2", 4, 2, {1}),
        # Integers that no double holds: all but the nearest are told.
        ("ABS(d.r - r) < 5", 10**18 + 7, 10**18 - 1_000, {2}),
        ("ABS(d.r - r) < 5", 10**18 + 7, 10**18 + 8, {3}),
        # Decimals: near ones are not.
        ("d.r + r = 0.3", 0.1, 0.2, {3}),
        ("d.r + r < 0.4", 0.1, 0.2, {1}),
        ("d.r + r < 2E60", 1e60, 1, {7}),
    ],
)
def test_what_is_told(text: str, old: Any, new: Any, sets: set[int]) -> None:
    store = DocumentStore([{"r": old}] * 3)
    with store.reading():
        assert set(Estimate(program_of(text), store).sets({"r": new}, 0, 3).tolist()) == sets
