"""The parts of joins in Spark without Spark: its aggregates are written out here, and the nested loop is the judge."""

from __future__ import annotations

import random
from collections import defaultdict
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import profilec
from profilec.runtime.joins.conjuncts import Comparison
from profilec.runtime.joins.nested_loop import decide
from profilec.spark import join_plan
from profilec.spark.join_groups import Constants, Group
from profilec.spark.join_keys import Key, has_buckets, key_of
from profilec.spark.join_plan import COMPARED, JoinPlan
from profilec.spark.join_rows import RelationRows, lookup_keys, new_documents
from profilec.spark.join_truths import Joined, TruthFinder
from profilec.spark.relations import Relation
from profilec.values.compare import order
from profilec.values.dates import add_interval
from profilec.values.kinds import NANOS_PER_DAY, Date, Interval, Kind, Timestamp

NUMBERS = [0, 1, 2, 3, -1, 12, 120, 123, -12, -120, -123, 2**53, 2**53 + 1, float(2**53), 0.1, Decimal("0.1"), -0.0]
NUMBERS += [Decimal("0.10000000000000000001"), 1e300, 10**400, -(10**400), 10**5000, 10**5000 + 1, 5e-324, -5e-324]
NUMBERS += [float("inf"), float("-inf"), Decimal("Infinity"), Decimal("1E+2000"), Decimal("-1E-2000"), Decimal("1.50")]
STRINGS = ["", "a", "b", "ab", "A", "a\0", "é", "\U0001f600", "\uffff", "\ud800", "ann"]
TIMES = [Timestamp(number * NANOS_PER_DAY // 2) for number in (0, 1, 2, 3, 5, 58, 60, 62, 119, 120, 121)]
TIMES += [Timestamp(-1), Timestamp(10**20), Timestamp(-(10**20))]
DAYS = [Date(number) for number in (0, 1, 2, 30, 31, 59, -1, 10**7, -(10**7))]
FIRST = -719162
"""0001-01-01, where the calendar begins."""
DAYS += [Date(FIRST), Date(FIRST + 19), Date(FIRST + 40)]
TIMES += [Timestamp(day.days * NANOS_PER_DAY) for day in DAYS]
OTHERS: list[Any] = [None, True, False, float("nan"), [], [1, "a"], {"k": 1}]
COLUMNS: dict[str, list[Any]] = {
    "u": ["ann", "bob", 1, 2],
    "n": NUMBERS[:5],
    "m": NUMBERS,
    "s": STRINGS,
    "t": [*TIMES, *DAYS],
}
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
CONSTANTS = ("0", "1", "2", "0.1", "9007199254740993", "'a'", "'ann'", "TRUE", "NULL", "DATE '1970-01-02'")


def a_document(rng: random.Random) -> dict[str, Any]:
    anything = [*NUMBERS, *STRINGS, *TIMES, *DAYS, *OTHERS]
    return {
        name: rng.choice(anything if rng.random() < 0.15 else values)
        for name, values in COLUMNS.items()
        if rng.random() < 0.85
    }


def scalar(rng: random.Random, prefix: str, name: str) -> str:
    return rng.choice(
        [prefix + name] * 9 + [f"LOWER({prefix}{name})", f"{prefix}{name} + 1", f"COALESCE({prefix}{name}, 2)"]
    )


def leaf(rng: random.Random) -> str:
    name = rng.choice(list(COLUMNS))
    other = name if rng.random() < 0.7 else rng.choice(list(COLUMNS))
    old, new, operator = scalar(rng, "d.", name), scalar(rng, "", other), rng.choice(OPERATORS)
    match rng.randrange(11):
        case 0 | 1 | 2:
            return f"{old} = {new}"
        case 3 | 4:
            return f"{old} {operator} {new}"
        case 5 | 6:
            return f"{old} {operator} {rng.choice(CONSTANTS)}"
        case 7:
            return f"{new} {operator} {rng.choice(CONSTANTS)}"
        case 8:
            return rng.choice(["d.u IS NULL", "n IS NOT NULL", "d.s LIKE 'a%'", "d.m", "NOT m", "TRUE", "ANY(d.s) = 1"])
        case 9:
            return rng.choice([f"{old} IN ({new}, 1, 'a')", f"{old} NOT IN ({new}, 1)", "d.u = 'ann'", "d.u = 'bob'"])
    return rng.choice(["d.n + n < 4", "d.n * n >= m", f"{old} BETWEEN {new} AND 2"])


def body(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.35:
        return leaf(rng)
    if rng.random() < 0.15:
        return f"NOT ({body(rng, depth - 1)})"
    if rng.random() < 0.1:
        return f"({body(rng, depth - 1)}) IS {rng.choice(['', 'NOT '])}{rng.choice(['TRUE', 'FALSE', 'UNKNOWN'])}"
    word = rng.choice([" AND ", " AND ", " AND ", " OR "])
    return word.join(f"({body(rng, depth - 1)})" for _ in range(2))


def quantified(rng: random.Random) -> str:
    scopes = ""
    if rng.random() < 0.3:
        intervals = ["1 day", "12 hours", "36 hours", "1 month", "2 months", "1 month 1 day", "0 days", "30 days"]
        scopes += f"WITHIN INTERVAL '{rng.choice(intervals)}' OF {rng.choice(['t', 't', 't', 'm'])} "
    if rng.random() < 0.4:
        scopes += f"WHERE ({body(rng, rng.choice([0, 0, 1]))}) "
    return f"{rng.choice(['EXISTS', 'FORALL'])} d {scopes}({body(rng, rng.choice([0, 1, 1, 2]))})"


def aggregated(relation: Relation, rows: pa.RecordBatch) -> dict[Any, dict[str, Any]]:
    """By key what Spark aggregates; of a relation without a key there is one row at any rate."""
    groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    if not relation.keys:
        groups[None] = []
    for row in rows.to_pylist():
        groups[row.get("key")].append(row)
    found = {}
    for key, own in groups.items():
        told: dict[str, Any] = {}
        for place in range(relation.n_words):
            words = [row[f"w{place}"] for row in own]
            told[f"w{place}"] = reduce(int.__or__, words) if words else None
        for place, one in enumerate(relation.extremes):
            values = [row[f"v{one.values}"] for row in own if row[f"v{one.values}"] is not None]
            told[f"e{place}"] = (min if one.function == "min" else max)(values) if values else None
        for place in range(len(relation.walked)):
            told[f"d{place}"] = [row[f"d{place}"] for row in own if row[f"d{place}"] is not None]
        found[key] = told
    return found


def truths(
    profiles: Any, plan: JoinPlan, rows: list[dict[str, Any]], new: list[dict[str, Any]]
) -> np.ndarray[Any, Any]:
    """What the plan gives; documents that are walked over are carried by their places."""
    places = pa.StructArray.from_arrays([pa.array(range(len(rows)), pa.int64())], names=["place"])
    groups = [aggregated(one, RelationRows(one).rows(new_documents(rows), places)) for one in plan.relations]
    documents = new_documents(new)
    joined = []
    for lookup in plan.lookups:
        relation = plan.relations[lookup.relation]
        keys = [None] * len(new)
        if lookup.keys:
            keys = lookup_keys(documents, lookup.keys, np.ones(len(new), np.bool_)).to_pylist()
        types = {f"w{place}": pa.int64() for place in range(relation.n_words)}
        types |= {f"e{place}": pa.binary() for place in range(len(relation.extremes))}
        types |= {f"d{place}": pa.list_(places.type) for place in range(len(relation.walked))}
        column = [groups[lookup.relation].get(key) for key in keys]
        joined.append(Joined(relation, pa.array(column, pa.struct(list(types.items())))))
    earlier = [lambda array: [rows[place] for place in array.field("place").to_pylist()]] * len(joined)
    given = TruthFinder(plan).truths(documents, joined, earlier)
    for number, row in enumerate(plan.rows):
        assert given.rows[number] == (number not in {left.row for left in plan.left})
        if not given.rows[number]:
            assert not given.truths[:, row.terms].any()
    return given.truths


@pytest.mark.parametrize("attempt", range(8))
def test_joins_say_what_the_nested_loop_says(attempt: int) -> None:
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    rng = random.Random(seed)
    n_decided = 0
    for size in (0, 1, 3, 8, 25):
        conditions = {f"p{number}": quantified(rng) for number in range(40)}
        profiles = profilec.compile(conditions)
        plan = JoinPlan(profiles._image, lambda program: COMPARED, lambda program: COMPARED)
        rows = [a_document(rng) for _ in range(size)]
        new = [a_document(rng) for _ in range(12)]
        found = truths(profiles, plan, rows, new)
        left = {int(term) for one in plan.left for term in plan.rows[one.row].terms}
        for number, term in enumerate(profiles._image.joins):
            if number in left:
                continue
            n_decided += 1
            wanted = [decide(term, document, rows) for document in new]
            assert found[:, number].tolist() == wanted, (term, rows, new)
    assert n_decided > 60


@pytest.mark.parametrize(
    "values", [NUMBERS, STRINGS, TIMES, DAYS, [True, False]], ids=lambda values: type(values[0]).__name__
)
def test_keys_have_the_order_of_values(values: list[Any]) -> None:
    for one in values:
        for other in values:
            left, right = key_of(one), key_of(other)
            assert left is not None
            assert right is not None
            assert (left > right) - (left < right) == order(one, other), (one, other)


def test_values_that_compare_with_nothing_have_no_key() -> None:
    assert [key_of(value) for value in (None, [], {"a": 1})] == [None] * 3
    kinds = [1, "1", True, Date(1), Timestamp(1)]
    assert len({key_of(value) for value in kinds}) == len(kinds)


ATTRIBUTE = (("attribute", 0, ("t",), None),)
INTERVALS = [
    Interval(0, 1, 0),
    Interval(0, 0, NANOS_PER_DAY // 2),
    Interval(0, 1, NANOS_PER_DAY // 2),
    Interval(0, 30, 0),
]
INTERVALS += [Interval(1, 0, 0), Interval(2, 0, 0), Interval(12, 0, 0)]


@pytest.mark.parametrize("interval", INTERVALS, ids=str)
def test_a_window_is_in_two_buckets(interval: Interval) -> None:
    """What is between t - interval and t is in the bucket of t, or in the one before."""
    times: list[Any] = [*TIMES, *DAYS, *map(Date, range(90)), *(Timestamp(day * NANOS_PER_DAY) for day in range(90))]
    documents = new_documents([{"t": time} for time in times])
    assert has_buckets(interval)
    of_old, same, before = (Key(ATTRIBUTE, interval, back).of(documents) for back in (None, 0, 1))
    for number, time in enumerate(times):
        first = add_interval(time, interval, -1)
        for other, old in enumerate(times):
            in_range = type(first) is type(old) is type(time) and first <= old <= time
            found = same[number] is not None and of_old[other] == same[number] and old <= time
            found |= before[number] is not None and of_old[other] == before[number] and first <= old
            assert found == in_range, (time, old)


def test_intervals_that_make_no_buckets() -> None:
    for interval in (Interval(0, 0, 0), Interval(1, 1, 0), Interval(1, 0, 1), Interval(-1, 0, 0), Interval(0, -1, 0)):
        assert not has_buckets(interval)


def test_constants_are_compared_after_the_join() -> None:
    """A NULL among the constants, and values none of which compares."""
    comparison = Comparison(ATTRIBUTE, "!=", None, or_other=True)
    constants = Constants(comparison, [None, 1, "a"])
    assert constants.holding(Group({}, {}, frozenset())).tolist() == [False] * 3
    assert constants.holding(Group({}, {}, frozenset([Kind.NULL]))).tolist() == [True] * 3
    key = key_of(1)
    assert key is not None
    assert constants.holding(Group({1: key}, {1: key}, frozenset([Kind.NUMBER]))).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("condition", "most"),
    [
        ("EXISTS d (d.u = u AND d.s = '{}')", join_plan.MOST_FILTERS),
        ("EXISTS d (d.u = u AND d.s = '{}' AND d.n < n)", join_plan.MOST_VALUES),
        ("EXISTS d (d.u = u AND d.s = '{}' AND d.n + n < 3)", join_plan.MOST_VALUES),
        ("EXISTS d (d.u = u AND d.s = '{}' AND d.n < 3)", join_plan.MOST_VALUES),
        ("EXISTS d (d.u = u AND d.n < {} AND n > 3)", None),
        ("EXISTS d (d.u = u AND d.n < n AND n > {})", None),
    ],
)
def test_constants_up_to_which_terms_are_joined(
    condition: str, most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if most == join_plan.MOST_FILTERS:
        monkeypatch.setattr(join_plan, "MOST_FILTERS", 60)
        most = 60
    for n in (most, most + 1) if most else (100,):
        profiles = profilec.compile({f"p{number}": condition.format(number) for number in range(n)})
        plan = JoinPlan(profiles._image, lambda program: COMPARED, lambda program: COMPARED)
        assert bool(plan.left) == (n == (most and most + 1))
        assert len(plan.lookups) == (0 if plan.left else 1)
