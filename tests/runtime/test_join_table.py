"""The join table against the nested loop: every shape of term, over stores that grow and shrink."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import profilec
import profilec.runtime.decide as decide_module
from profilec.runtime import execute
from profilec.runtime.joins import probes, rest
from profilec.runtime.joins.costs import BITS, SCAN, WALK, cost
from profilec.runtime.joins.nested_loop import decide
from profilec.runtime.joins.new import NewDocument
from profilec.runtime.joins.table import JoinTable, rows_of
from profilec.runtime.program import JoinTerm
from profilec.runtime.store import documents, groups, sorted_index
from profilec.runtime.store.documents import DocumentStore
from profilec.values.kinds import Date, Timestamp

DAY = 86_400 * 10**9
NUMBERS = [
    0,
    1,
    2,
    3,
    -1,
    2**53,
    2**53 + 1,
    float(2**53),
    0.1,
    Decimal("0.1"),
    Decimal("0.10000000000000000001"),
    1e300,
]
NUMBERS += [10**400, float("inf"), float("-inf"), -0.0]
STRINGS = ["", "a", "b", "a longer text", "a longer tale", "A", "a\0", "é", "\U0001f600", "a%"]
OTHERS = [None, None, True, False, float("nan"), Date(3), Timestamp(5 * DAY), [], ["a"], [1, 2], {"a": 1}]
COLUMNS = ("a", "b", "s", "u", "t")
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


def value(rng: random.Random, name: str) -> Any:
    if rng.random() < 0.12:
        return rng.choice([*NUMBERS, *STRINGS, *OTHERS])
    if name == "s":
        return rng.choice(STRINGS)
    if name == "u":
        return rng.choice(["ann", "bob", "cy"])
    if name == "t":
        return Timestamp(rng.randrange(0, 10) * DAY // 2)
    return rng.choice(NUMBERS) if rng.random() < 0.3 else rng.randrange(0, 6)


def a_document(rng: random.Random) -> dict[str, Any]:
    return {name: value(rng, name) for name in COLUMNS if rng.random() < 0.85}


def scalar(rng: random.Random, prefix: str) -> str:
    name = prefix + rng.choice(COLUMNS)
    return rng.choice([name] * 8 + [f"LOWER({name})", f"{name} + 1", f"ABS({name})", f"COALESCE({name}, 2)"])


def constant(rng: random.Random) -> str:
    return rng.choice(
        ["0", "1", "2", "3", "0.1", "9007199254740993", "'a'", "'ann'", "'a longer text'", "TRUE", "NULL"]
    )


def leaf(rng: random.Random) -> str:
    operator = rng.choice(OPERATORS)
    old, new = scalar(rng, "d."), scalar(rng, "")
    match rng.randrange(12):
        case 0 | 1 | 2 | 3:
            return f"{old} {operator} {new}"
        case 4:
            return f"{new} {operator} {old}"
        case 5 | 6:
            return f"{old} {operator} {constant(rng)}"
        case 7:
            return f"{constant(rng)} {operator} {new}"
        case 8:
            return f"{old} {operator} {scalar(rng, 'd.')}"
        case 9:
            return rng.choice([f"{old} IS NULL", f"{new} IS NOT NULL", f"{old} LIKE 'a%'", "ANY(d.a) = 1", "TRUE"])
        case 10:
            return f"{old} {rng.choice(['', 'NOT '])}IN ({new}, {constant(rng)}, {scalar(rng, 'd.')})"
    mixed = rng.choice(["d.a + a", "(d.a - a) * (d.b - b)", "ABS(d.a - b) / a", "-d.b * b", "d.a + d.b - 2 * a"])
    return f"{mixed} {operator} {constant(rng)}"


def body(rng: random.Random, depth: int = 2) -> str:
    if depth == 0 or rng.random() < 0.4:
        return leaf(rng)
    match rng.randrange(5):
        case 0:
            return f"NOT ({body(rng, depth - 1)})"
        case 1:
            return f"({body(rng, depth - 1)}) IS {rng.choice(['', 'NOT '])}{rng.choice(['TRUE', 'FALSE', 'UNKNOWN'])}"
    word = rng.choice([" AND ", " AND ", " OR "])
    return word.join(f"({body(rng, depth - 1)})" for _ in range(rng.randint(2, 3)))


def quantified(rng: random.Random) -> str:
    scopes = ""
    if rng.random() < 0.2:
        scopes += f"LAST {rng.randrange(0, 12)} "
    if rng.random() < 0.2:
        scopes += "WITHIN INTERVAL '1 day' OF t "
    if rng.random() < 0.3:
        scopes += f"WHERE ({body(rng, 1)}) "
    return f"{rng.choice(['EXISTS', 'FORALL'])} d {scopes}({body(rng)})"


def conditions(rng: random.Random) -> Iterator[str]:
    for _ in range(rng.randint(3, 8)):
        yield quantified(rng)
    shape = rng.choice(
        [
            "EXISTS d (d.u = u AND d.a {} {})",
            "FORALL d WHERE (d.u = u) (d.a {} {})",
            "FORALL d (d.s {} {})",
            "EXISTS d (d.a < a AND b {} {})",
            "EXISTS d (d.a > a AND d.s {} {})",
            "EXISTS d LAST 3 (d.a {} {})",
            "NOT EXISTS d (d.s {} {} AND d.u = u)",
        ]
    )
    for operator in rng.sample(OPERATORS, 2):
        for _ in range(rng.randint(1, 12)):
            yield shape.format(operator, constant(rng))


def terms_of(texts: list[str]) -> list[JoinTerm]:
    profiles = profilec.compile(
        {f"p{number}": text for number, text in enumerate(texts)},
        options={"rules": "none", "max_terms": 10_000},
        on_error="skip",
    )
    return list(profiles._parts.image.joins)


@pytest.mark.parametrize("seed", range(40))
def test_every_term_as_by_definition(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    if seed % 2:  # what large stores do
        monkeypatch.setattr(rest, "_FEW", 0)
        monkeypatch.setattr(probes, "_FIRST_BLOCK", 5)
        monkeypatch.setattr(sorted_index, "_MOST", 4)
        monkeypatch.setattr(sorted_index, "_TOGETHER", 2)
        monkeypatch.setattr(groups, "_FEW", 2)
        monkeypatch.setattr(documents, "_CHUNK", 3)
        monkeypatch.setattr(documents, "_DEAD", 30)
    dear = (None, SCAN, WALK, BITS)[seed // 2 % 4]
    monkeypatch.setattr(probes, "cost", lambda way, sizes: 1e9 if way == dear else cost(way, sizes))
    terms = terms_of(list(conditions(rng)))
    table, store = JoinTable(terms), DocumentStore()
    table_of_shrinking = JoinTable(terms)
    for step in range(12):
        match rng.randrange(4):
            case 0:
                store.add(a_document(rng))
            case 1 | 2:
                store.extend([a_document(rng) for _ in range(rng.choice([1, 5, 60]))])
            case 3 if len(store):
                chosen = rng.sample(range(len(store)), rng.randint(1, max(1, len(store) // 2)))
                store.delete(chosen)
        earlier = list(store)
        for _ in range(3):
            new = a_document(rng)
            wanted = [decide(term, new, earlier) for term in terms]
            for asked in (table, table_of_shrinking) if step % 2 else (table,):
                with store.reading():
                    assert asked.truths(NewDocument(new), store).tolist() == wanted, (new, earlier)


def profile(rng: random.Random) -> str:
    """A condition with joins anywhere."""
    parts = [quantified(rng) for _ in range(rng.randint(1, 2))]
    parts += rng.choices(
        ["a = 1", "b > 2", "s LIKE '%a%'", "u = 'ann'", "a < b", "a IS NULL", "ANY(a) = 1"], k=rng.randint(0, 2)
    )
    rng.shuffle(parts)
    text = rng.choice([" AND ", " AND ", " OR "]).join(parts)
    return f"NOT ({text})" if rng.random() < 0.2 else text


@pytest.mark.parametrize("matcher", ["betree", "scan"])
@pytest.mark.parametrize("order", ["constant_first", "join_first", None])
@pytest.mark.parametrize("seed", range(8))
def test_a_batch_is_what_its_documents_are_alone(
    seed: int, order: str | None, matcher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(execute, "_MAX_TRUTHS", 50)
    texts = {f"p{number}": profile(rng) for number in range(15)}
    forced: dict[str, Any] = {"prefilter": seed % 3 > 0}
    if order is not None:
        forced["phase_order"] = order
    profiles = profilec.compile(texts, options={"matcher": matcher, "rules": "none", **forced}, on_error="skip")
    if seed % 2:
        monkeypatch.setattr(decide_module, "_FEW", 0)
        monkeypatch.setattr(execute, "_FEW", 0)
    judge = profilec.compile(texts, options={"rules": "none"}, on_error="skip")
    profiles.documents.extend([a_document(rng) for _ in range(40)])
    batch = [a_document(rng) for _ in range(30)]
    earlier = list(profiles.documents)
    for new, found, alone in zip(batch, profiles.match_batch(batch), map(profiles.match, batch), strict=True):
        assert found == alone
        judge.documents = DocumentStore(earlier)
        assert alone == [id_ for id_ in judge.ids if judge.why(new, id_).truth]
    plain = [{k: v for k, v in new.items() if type(v) is (str if k in "su" else int) and k != "t"} for new in batch]
    for row in plain:
        row.update({name: None for name in COLUMNS if name not in row})
        row.update({name: row[name] % 2**40 for name in "ab" if row[name] is not None})
    table = pa.table({name: pa.array([row[name] for row in plain]) for name in COLUMNS})
    assert list(profiles.match_batch(table)) == list(map(profiles.match, plain))
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda new: profiles.match_batch([new] * 20, threads=2)[7], plain)) == list(
            map(profiles.match, plain)
        )


def test_terms_that_differ_in_constants_are_one_row() -> None:
    texts = [f"EXISTS d (d.user = user AND d.amount > {amount})" for amount in range(100)]
    (row,) = rows_of(terms_of(texts))
    assert len(row.terms) == 100
    assert row.strategies == ("key-partitioned sorted probe",)


@pytest.mark.parametrize(
    ("text", "strategies"),
    {
        "EXISTS d (d.a < a)": ("extreme value",),
        "FORALL d (d.a < a)": ("extreme value",),
        "EXISTS d (d.a = a)": ("hash probe",),
        "EXISTS d (d.a = a AND d.b = b)": ("hash probe",),
        "NOT EXISTS d (d.a = a AND d.b < b AND d.s LIKE 'a%')": ("key-partitioned sorted probe",),
        "FORALL d WHERE (d.a = a) (d.b < b)": ("key-partitioned sorted probe",),
        "FORALL d (d.a = a AND d.b < b)": ("extreme value", "extreme value"),
        "EXISTS d WITHIN INTERVAL '1 day' OF t (TRUE)": ("sorted probe",),
        "EXISTS d (d.a > a AND d.a < b)": ("sorted probe",),
        "EXISTS d (d.a > a AND d.b < b)": ("document bit sets",),
        "EXISTS d LAST 5 (d.a > a)": ("document bit sets",),
        "EXISTS d WITHIN INTERVAL '1 hour' OF t (d.a = a AND d.s != s)": ("walk of a group",),
        "EXISTS d (d.a + a < 5)": ("scan of columns",),
        "EXISTS d (d.a < a OR d.b = b)": ("extreme value", "hash probe"),
    }.items(),
)
def test_each_shape_is_asked_in_its_way(text: str, strategies: tuple[str, ...]) -> None:
    (row,) = rows_of(terms_of([text]))
    assert row.strategies == strategies


def test_constants_of_other_types_are_other_shapes() -> None:
    terms = terms_of(
        ["EXISTS d (d.a + 1 < a)", "EXISTS d (d.a IN (1, 2) AND d.b < b)", "EXISTS d (d.a IN (TRUE, 2) AND d.b < b)"]
    )
    assert len(rows_of(terms)) == 3
