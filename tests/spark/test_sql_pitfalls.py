"""What docs/spark.md says under "Pitfalls": what Spark refuses of the functions, and how often it evaluates them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import profilec
import profilec.spark

NAME = "match_pitfalls"
F = f"{NAME}(struct(price, brand))"
STAR = f"{NAME}(struct(*))"


@pytest.fixture(autouse=True)
def _views(spark: Any) -> Iterator[None]:
    spark.sql("SELECT * FROM VALUES (1, 'Acme'), (20, 'Acme'), (5, 'x') AS t(price, brand)").createOrReplaceTempView(
        "rows"
    )
    profiles = profilec.compile({"cheap": "price < 10", "acme": "brand = 'Acme'"})
    profilec.spark.register(spark, profiles, NAME, replace=True)
    spark.sql(f"CREATE OR REPLACE TEMP VIEW matched AS SELECT *, {STAR} AS ids FROM rows")
    yield
    for view in ("rows", "matched"):
        spark.catalog.dropTempView(view)


def evaluations(frame: Any) -> int:
    """How often the plan evaluates the function for each row."""
    plan = frame._jdf.queryExecution().executedPlan().toString()
    return sum(calls.count(f"{NAME}(") for calls in re.findall(r"ArrowEvalPython \[(.*?)\], \[", plan))


@pytest.mark.parametrize(
    ("query", "n"),
    [
        (f"SELECT {F} AS found FROM rows WHERE size({F}) > 0", 2),
        (f"SELECT size({F}), {F} FROM rows", 2),
        (f"SELECT size(ids), ids FROM (SELECT {STAR} AS ids FROM rows) WHERE size(ids) > 0", 1),
        (f"SELECT {F} AS found, count(*) FROM rows GROUP BY {F}", 1),
        (f"SELECT {F} AS found, count(*) FROM rows GROUP BY found", 1),
        (f"SELECT {F} AS found, count(*) FROM rows GROUP BY ALL", 1),
        (f"SELECT brand, {NAME}(struct(brand, max(price) AS price)) FROM rows GROUP BY brand", 1),
        (f"SELECT sum(size(ids)) FROM (SELECT {STAR} AS ids FROM rows)", 1),
        (f"SELECT DISTINCT {F} FROM rows", 1),
        (f"SELECT price FROM rows ORDER BY size({F})", 1),
        (f"SELECT row_number() OVER (PARTITION BY {F} ORDER BY price) FROM rows", 1),
        (f"SELECT price, id FROM rows LATERAL VIEW explode({F}) m AS id WHERE price > 3", 1),
        (f"SELECT *, explode({STAR}) FROM rows", 1),
        ("SELECT ids FROM matched", 1),
        ("SELECT price FROM matched", 0),
        ("SELECT a.ids, b.ids FROM matched a JOIN matched b USING (price)", 2),
        (f"WITH m AS (SELECT *, {STAR} AS ids FROM rows) SELECT a.ids, b.ids FROM m a JOIN m b USING (price)", 2),
    ],
)  # fmt: skip
def test_how_often_a_row_is_matched(spark: Any, query: str, n: int) -> None:
    frame = spark.sql(query)
    assert evaluations(frame) == n
    assert frame.collect()


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"SELECT sum(size({F})) FROM rows", "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION"),
        (f"SELECT count(*) FILTER (WHERE size({F}) > 1) FROM rows", "INVALID_AGGREGATE_FILTER"),
        (f"SELECT brand FROM rows GROUP BY brand HAVING max(size({F})) > 1", "AGGREGATE_FUNCTION_WITH_NONDET"),
        (f"SELECT id FROM rows LATERAL VIEW explode({STAR}) m AS id", "INVALID_USAGE_OF_STAR_OR_REGEX"),
        (f"SELECT m.ids FROM rows, LATERAL (SELECT {F} AS ids) m", "NON_DETERMINISTIC_LATERAL_SUBQUERIES"),
        (f"SELECT 1 FROM rows JOIN rows b ON size({NAME}(struct(b.price))) > 0", "INVALID_NON_DETERMINISTIC_EXP"),
        (f"SELECT transform(array(1), x -> size({NAME}(struct(x AS price)))) FROM rows", "LAMBDA_FUNCTION_WITH"),
        (f"CREATE VIEW of_all AS SELECT {NAME}(struct(id)) AS ids FROM range(3)", "INVALID_TEMP_OBJ_REFERENCE"),
    ],
)  # fmt: skip
def test_what_spark_refuses(spark: Any, query: str, reason: str) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException, match=reason):
        spark.sql(query)


def test_a_filter_is_not_moved_below(spark: Any) -> None:
    plan = spark.sql("SELECT ids FROM matched WHERE price > 3")._jdf.queryExecution().executedPlan().toString()
    assert plan.index("Filter") < plan.index("ArrowEvalPython")


def test_a_view_that_is_cached_is_matched_no_more(spark: Any) -> None:
    spark.sql("CACHE TABLE matched")
    try:
        plan = spark.sql("SELECT * FROM matched a JOIN matched b USING (price)")._jdf.queryExecution().executedPlan()
        assert plan.toString().count("Scan In-memory table matched") == 2
    finally:
        spark.sql("UNCACHE TABLE matched")


def test_which_set_a_view_uses_when_another_is_registered(spark: Any) -> None:
    frame = spark.table("rows").selectExpr(f"{STAR} AS ids")
    profilec.spark.register(spark, profilec.compile({"other": "price < 10"}), NAME, replace=True)
    assert [row.ids for row in spark.sql("SELECT ids FROM matched").collect()] == [["other"], [], ["other"]]
    assert [row.ids for row in frame.collect()] == [["cheap", "acme"], ["acme"], ["cheap"]]
