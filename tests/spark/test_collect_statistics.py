"""`profilec.spark.collect_statistics`: what `Statistics` says of the same documents."""

from __future__ import annotations

import random
import warnings
from functools import partial
from typing import Any

import pytest

import profilec
from profilec.planner.statistics import Statistics
from profilec.runtime.columns import rows_at
from profilec.spark import SparkMatchError, collect_statistics

QUERY = """
    SELECT id AS number, concat('b', pmod(hash(id), 50)) AS brand, if(id % 3 = 0, NULL, id / 8) AS price,
           CAST(id AS DECIMAL(20, 2)) AS amount, id % 2 = 0 AS flag, DATE '2020-01-01' + CAST(id % 9 AS INT) AS day,
           TIMESTAMP '2020-01-01 00:00:00Z' AS at, array(id % 4, NULL) AS tags,
           named_struct('city', concat('c', id % 5), 'zip', id) AS user, map('k', id % 2) AS more
    FROM range(0, {n}, 1, {parts}) WHERE id % 10 != 9
"""
N = 3_000


def test_one_partition_gives_what_its_rows_give(spark: Any) -> None:
    frame = spark.sql(QUERY.format(n=N, parts=1))
    table = frame.toArrow()
    for capacity in (10_000, 200):
        expected = Statistics(capacity)
        expected.extend(table.num_rows, partial(rows_at, table))
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "700")
        try:
            found = collect_statistics(frame, capacity=capacity)
        finally:
            spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
        assert found.to_json() == expected.to_json()


@pytest.mark.parametrize("n_partitions", [2, 40])
def test_partitions_are_merged(spark: Any, n_partitions: int) -> None:
    frame = spark.sql(QUERY.format(n=N, parts=n_partitions))
    found = collect_statistics(frame)
    table = frame.toArrow()
    expected = Statistics()
    expected.extend(table.num_rows, partial(rows_at, table))
    assert (found.n_documents, found.n_sampled) == (expected.n_documents, expected.n_sampled) == (2_700, 2_700)
    assert list(found.attributes) == list(expected.attributes)
    for name, known in expected.attributes.items():  # nothing was left out, so that only the order differs
        one = found[name]
        assert (one.presence, one.nulls, one.kinds, one.n_distinct, one.lengths) == (
            known.presence,
            known.nulls,
            known.kinds,
            known.n_distinct,
            known.lengths,
        )
    assert collect_statistics(frame).to_json() == found.to_json()


def test_samples_of_partitions_that_differ_are_of_all_rows(spark: Any) -> None:
    """Each of 40 partitions, of unequal sizes, has values of its own: their shares in the sample are those of all."""
    capacity = 500
    rows = spark.sql("SELECT id, CAST(floor(sqrt(id / 10)) AS INT) AS part FROM range(0, 16000, 1, 40)")
    found = collect_statistics(rows, capacity=capacity)
    assert (found.n_documents, found.n_sampled) == (16_000, capacity)
    counts: dict[int, int] = {}
    for document in found.sample:
        assert int((document["id"] / 10) ** 0.5) == document["part"]
        counts[document["part"] // 10] = counts.get(document["part"] // 10, 0) + 1
    assert len({document["id"] for document in found.sample}) == capacity
    for quarter, share in enumerate((1 / 16, 3 / 16, 5 / 16, 7 / 16)):
        error = (share * (1 - share) / capacity) ** 0.5
        assert abs(counts[quarter] / capacity - share) < 4 * error
    distinct = Statistics.of(({"part": int((n / 10) ** 0.5)} for n in range(16_000)), capacity)["part"].n_distinct
    assert abs(found["part"].n_distinct - 40) <= abs(distinct - 40) + 4


def test_profiles_are_planned_with_them(spark: Any) -> None:
    rng = random.Random(3)
    conditions = {f"p{n}": f"brand = 'b{rng.randrange(60)}' AND price < {rng.randrange(300)}" for n in range(500)}
    found = collect_statistics(spark.sql(QUERY.format(n=N, parts=2)))
    profiles = profilec.compile(conditions, statistics=found)
    assert profiles.plan.n_sampled > 0
    documents = found.sample[:50]
    assert list(profiles.match_batch(documents)) == list(profilec.compile(conditions).match_batch(documents))


def test_only_what_profiles_ask_for_by_their_names(spark: Any) -> None:
    frame = spark.sql("SELECT id AS PRICE, named_struct('CITY', 'x', 'zip', 1) AS User, X'00' AS b FROM range(100)")
    profiles = profilec.compile({"p": "price < 10 AND user.city = 'x'"})
    found = collect_statistics(frame, profiles=profiles)
    assert found["price"].n_distinct == 100
    assert found["user.city"].common == (("x", 1.0),)
    profiles.replan(found)
    assert profiles.plan.n_sampled > 0
    with pytest.warns(UserWarning, match="no column provides colour"):
        collect_statistics(frame, profiles=profilec.compile({"p": "colour = 'red' AND price < 1"}))


def test_variant_and_json_are_looked_into(spark: Any) -> None:
    frame = spark.sql(
        """SELECT parse_json(concat('{"a": ', id, ', "b": [1, null]}')) AS v, concat('{"x": ', id % 2, '}') AS j,
        named_struct('w', parse_json('1.5')) AS s FROM range(60)"""
    )
    found = collect_statistics(frame, json=["j"])
    assert set(found.attributes) == {"j.x", "s.w", "v.a", "v.b"}
    assert (found["v.a"].n_distinct, found["j.x"].n_distinct) == (60, 2)
    with pytest.raises(Exception, match=r"collect_statistics, partition 0: document 2: 'x' is no JSON object"):
        collect_statistics(spark.sql("SELECT if(id = 2, 'x', '{}') AS j FROM range(0, 9, 1, 1)"), json=["j"])


def test_columns_of_types_that_no_document_has(spark: Any) -> None:
    frame = spark.sql(
        "SELECT 1 AS a, X'00' AS b, named_struct('c', X'00') AS s, INTERVAL '1' DAY AS i, make_interval(1) AS m"
    )
    with pytest.warns(
        UserWarning, match=r"has the type of b \(BINARY\), s \(BINARY\), i \(INTERVAL DAY TO SECOND\), m \(INTERVAL\)"
    ):
        found = collect_statistics(frame)
    assert list(found.attributes) == ["a"]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "no value of a document")
        assert list(collect_statistics(frame, unsupported="skip").attributes) == ["a"]
    with pytest.raises(SparkMatchError, match="pass unsupported='skip'"):
        collect_statistics(frame, unsupported="error")
    with pytest.raises(SparkMatchError, match="the column 'b' is of the type BINARY"):
        collect_statistics(frame.drop("m"), profiles=profilec.compile({"p": "b = 1"}))


def test_nothing_and_arguments(spark: Any) -> None:
    assert collect_statistics(spark.sql("SELECT 1 AS a WHERE false")).n_documents == 0
    with pytest.raises(ValueError, match="unsupported takes 'warn', 'error', 'skip'"):
        collect_statistics(spark.sql("SELECT 1 AS a"), unsupported="ignore")
    with pytest.raises(ValueError, match="a sample has one document at least"):
        collect_statistics(spark.sql("SELECT 1 AS a"), capacity=0)
    with pytest.raises(SparkMatchError, match="two columns are named 'a'"):
        collect_statistics(spark.sql("SELECT 1 AS a, 2 AS a"))
