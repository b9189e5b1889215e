"""Statistics: a uniform sample, what it says of attributes, and its file."""

from __future__ import annotations

import datetime
import json
import random
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profilec.planner.statistics import Statistics, StatisticsError, reservoir, sample
from profilec.planner.statistics.attributes import N_BUCKETS
from profilec.planner.statistics.plain_json import plain, read_value
from profilec.planner.statistics.reservoir import Reservoir
from profilec.values.kinds import Date, DocumentError, Timestamp, from_document


def seeded(seed: int, capacity: int = 10) -> Reservoir:
    found = Reservoir(capacity)
    found._random = random.Random(seed)
    return found


def expect_uniform(counts: Counter[int], n_items: int, expected: float) -> None:
    assert set(counts) == set(range(n_items))
    assert all(abs(count - expected) < 6 * expected**0.5 for count in counts.values()), counts


def test_each_item_is_in_the_sample_as_often() -> None:
    counts: Counter[int] = Counter()
    for seed in range(2_000):
        kept = seeded(seed)
        for n in (3, 20, 1, 0, 36):
            kept.extend(range(kept.n_seen, kept.n_seen + n))
        assert len(set(kept.items)) == 10
        counts.update(kept.items)
    expect_uniform(counts, 60, 2_000 * 10 / 60)


@pytest.mark.parametrize(("n_one", "n_other"), [(40, 20), (5, 55), (55, 5), (4, 6), (0, 30)])
def test_two_samples_become_one(n_one: int, n_other: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[int] = Counter()
    n = n_one + n_other
    for seed in range(2_000):
        one, other = seeded(seed), seeded(-seed - 1)
        one.extend(range(n_one))
        other.extend(range(n_one, n))
        before = list(one.items), list(other.items)
        monkeypatch.setattr(reservoir, "_SEED", seed)
        merged = one.merged(other)
        assert before == (one.items, other.items)
        merged.extend(range(n, n + 10))
        assert len(set(merged.items)) == 10
        assert merged.n_seen == n + 10
        counts.update(merged.items)
    expect_uniform(counts, n + 10, 20_000 / (n + 10))


def test_a_half_is_a_sample_too() -> None:
    counts: Counter[int] = Counter()
    for seed in range(3_000):
        kept = seeded(seed)
        kept.extend(range(30))
        kept.halve()
        kept.extend(range(30, 50))
        assert len(set(kept.items)) == 5
        counts.update(kept.items)
    expect_uniform(counts, 50, 3_000 * 5 / 50)


VALUES: list[Any] = [
    1,
    10**40,
    1.5,
    float("inf"),
    Decimal("1.10"),
    Decimal("1E+50"),
    True,
    "text",
    "\ud800",
    None,
    datetime.date(2024, 2, 29),
    datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
    Date(10**8),
    Timestamp(-1),
    [1, [None, "x"]],
    {"a": {"b": [Decimal("0.1")]}},
    {"$date": 1},
    {"$date": 1, "b": 2},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_survive_json(value: Any) -> None:
    back = read_value(json.loads(json.dumps(plain(value))))
    assert plain(back) == plain(value)
    ours = from_document(value)
    if not isinstance(ours, list | dict):
        assert (type(back), back) == (type(ours), ours)


DOCUMENTS = st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from(VALUES)), max_size=30)


@given(DOCUMENTS)
def test_a_file_of_statistics_tells_all(documents: list[dict[str, Any]]) -> None:
    statistics = Statistics.of(documents, capacity=20)
    again = Statistics.from_json(statistics.to_json())
    assert again.to_json() == statistics.to_json()
    assert again.n_documents == len(documents)
    assert again.sample == statistics.sample


def test_what_is_told_of_an_attribute() -> None:
    documents = [
        {"price": number % 50, "brand": "Acme" if number % 4 else f"b{number}", "user": {"age": None}}
        for number in range(1_000)
    ]
    documents += [{"price": "none"}] * 1_000
    found = Statistics.of(documents)
    price, brand, age = found["price"], found["brand"], found["user.age"]
    assert (price.presence, price.nulls, price.n_distinct) == (1.0, 0.0, 51)
    assert price.kinds == {"number": 0.5, "string": 0.5}
    assert price.common[0] == ("none", 0.5)
    assert (brand.presence, brand.nulls, brand.n_distinct) == (0.5, 0.0, 251)
    assert brand.common == (("Acme", 0.375),)
    assert brand.lengths == (2, pytest.approx(3.97, abs=0.1), 4)
    (kind,) = brand.histogram
    buckets = brand.histogram[kind]
    assert len(buckets) <= N_BUCKETS
    assert sum(bucket.share for bucket in buckets) == pytest.approx(0.125)
    assert all(bucket.low <= bucket.high for bucket in buckets)
    assert max(bucket.share for bucket in buckets) < 2 * min(bucket.share for bucket in buckets)
    assert (age.presence, age.nulls) == (0.0, 0.5)


@pytest.mark.parametrize(("n_values", "low", "high"), [(100, 95, 105), (5_000, 4_000, 6_000), (10**9, 60_000, 100_000)])
def test_distinct_values_of_all_documents_are_estimated(n_values: int, low: int, high: int) -> None:
    rng = random.Random(1)
    statistics = Statistics.of(({"a": rng.randrange(n_values)} for _ in range(100_000)), capacity=5_000)
    assert low <= statistics["a"].n_distinct <= high


def test_the_sample_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "MAX_BYTES", 50_000)
    statistics = Statistics.of({"text": "x" * 1_000, "n": number} for number in range(10_000))
    assert len(statistics.to_json()) < 60_000
    assert statistics.n_documents == 10_000
    assert max(document["n"] for document in statistics.sample) > 7_000


@pytest.mark.parametrize("document", [5, None, [1], {"a": object()}])
def test_no_document(document: Any) -> None:
    with pytest.raises(DocumentError, match="document 1"):
        Statistics.of([{"a": 1}, document])


GOOD = Statistics.of([{"a": 1}, {"a": 2}]).to_json()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "\xff",
        "[" * 100_000,
        GOOD[:-10],
        GOOD.replace('"profilec_statistics": 1', '"profilec_statistics": 2'),
        GOOD.replace('"documents": 2', '"documents": 1'),
        GOOD.replace('"documents": 2', '"documents": "2"'),
        GOOD.replace('"capacity": 10000', '"capacity": 0'),
        GOOD.replace('{"a": 1}', '{"a": {"$decimal": "x"}}'),
        GOOD.replace('{"a": 1}', '{"a": {"$date": "soon"}}'),
        GOOD.replace('{"a": 1}', '{"a": {"$what": 1}}'),
        GOOD.replace('{"a": 1}', "5"),
    ],
)
def test_no_file_of_statistics(text: str) -> None:
    with pytest.raises(StatisticsError):
        Statistics.from_json(text)


def test_a_sample_of_no_document() -> None:
    with pytest.raises(ValueError, match="one document at least"):
        Statistics(0)
    empty = Statistics.of([])
    assert (empty.n_documents, empty.attributes) == (0, {})
    assert Statistics.from_json(empty.to_json()).n_documents == 0
    assert empty.merged(Statistics.of([{"a": 1}])).n_documents == 1
