"""`profilec.spark.match`: the rows of a DataFrame with what they match."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import profilec
from profilec.spark import SparkMatchError, match

PROFILES = {"cheap": "price < 10", "acme": "brand = 'Acme'", "both": "price < 10 AND brand = 'Acme'"}
ROWS = "SELECT * FROM VALUES (1, 'Acme', 'x'), (20, NULL, 'y'), (30, 'Acme', 'z') AS t(price, Brand, note)"
EXPECTED = [["cheap", "acme", "both"], [], ["acme"]]


@pytest.fixture
def sales(spark: Any) -> Any:
    return spark.sql(ROWS)


@pytest.fixture(scope="module")
def profiles() -> profilec.ProfileSet:
    return profilec.compile(PROFILES)


def values(frame: Any) -> list[list[Any]]:
    return [list(row) for row in frame.collect()]


def test_a_set_that_changed_is_what_it_is_now(spark: Any) -> None:
    profiles = profilec.compile({"a": "x = 1", "b": "x = 2"})
    profiles.insert("c", "x = 1")
    profiles.delete("b")
    frame = spark.createDataFrame([(1,), (2,)], "x int")
    matched = match(profiles, frame)
    profiles.insert("d", "x = 2")
    assert sorted(row.profiles for row in matched.collect()) == [[], ["a", "c"]]
    assert sorted(row.profiles for row in match(profiles, frame).collect()) == [["a", "c"], ["d"]]


def test_an_array_for_each_row(sales: Any, profiles: profilec.ProfileSet) -> None:
    found = match(profiles, sales)
    assert found.columns == ["price", "Brand", "note", "profiles"]
    assert values(found) == [[*row, ids] for row, ids in zip(values(sales), EXPECTED, strict=True)]
    assert values(match(profiles, sales, columns=[])) == [[ids] for ids in EXPECTED]
    assert values(match(profiles, sales, columns=["note", "price"], output="ids")) == [
        ["x", 1, EXPECTED[0]],
        ["y", 20, EXPECTED[1]],
        ["z", 30, EXPECTED[2]],
    ]
    assert values(match(profiles, sales, columns=[], returns="ordinals")) == [[[0, 1, 2]], [[]], [[1]]]


def test_a_row_for_each_match(sales: Any, profiles: profilec.ProfileSet) -> None:
    found = [["x", "cheap"], ["x", "acme"], ["x", "both"], ["z", "acme"]]
    assert values(match(profiles, sales, "explode", ["note"])) == found
    assert values(match(profiles, sales, "pairs", ["note"])) == found
    assert match(profiles, sales, "explode").columns == ["price", "Brand", "note", "profile"]
    assert values(match(profiles, sales, "pairs", ["note"], returns="ordinals"))[-1] == ["z", 1]


def test_nothing_is_shuffled_and_only_what_is_asked_for_is_read(
    spark: Any, profiles: profilec.ProfileSet, tmp_path: Path
) -> None:
    spark.sql(ROWS).write.parquet(str(tmp_path / "sales"))
    frame = match(profiles, spark.read.parquet(str(tmp_path / "sales")), columns=[])
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "Exchange" not in plan
    assert re.search(r"ReadSchema: struct<price:int,Brand:string>", plan)


def test_columns_of_every_type_are_kept_as_they_are(spark: Any, profiles: profilec.ProfileSet) -> None:
    values_of_types = {
        "price": "1",
        "v": """parse_json('{"a": [1, 2.5]}')""",
        "m": "map('k', 1)",
        "a": "array(struct(1 AS x))",
        "b": "X'00'",
        "d": "CAST(1.5 AS DECIMAL(30, 2))",
        "t": "timestamp'2020-01-01 00:00:00'",
        "n": "timestamp_ntz'2020-01-01 00:00:00'",
        "s": "CAST(NULL AS STRING)",
        "i": "CAST(1 AS TINYINT)",
    }
    frame = spark.sql("SELECT " + ", ".join(f"{value} AS {name}" for name, value in values_of_types.items()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = match(profiles, frame)
    assert [field.dataType for field in found.schema[:-1]] == [field.dataType for field in frame.schema]
    (row,), (expected,) = found.collect(), frame.collect()
    assert list(map(str, row[:-1])) == list(map(str, expected))
    assert row[-1] == ["cheap"]


@pytest.mark.parametrize("n_partitions", [1, 3, 7])
def test_empty_partitions_and_many_batches(spark: Any, profiles: profilec.ProfileSet, n_partitions: int) -> None:
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    try:
        frame = spark.sql("SELECT id, id AS price, 'Acme' AS brand FROM range(0, 1000)").repartition(n_partitions, "id")
        found = {row.id: row.profiles for row in match(profiles, frame.where("id < 950 AND id % 7 != 3")).collect()}
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    expected = {n: ["cheap", "acme", "both"] if n < 10 else ["acme"] for n in range(950) if n % 7 != 3}
    assert found == expected
    assert match(profiles, frame.where("id < 0")).collect() == []


def test_json_columns(spark: Any) -> None:
    profiles = profilec.compile({"old": "payload.user.age > 60", "big": "n = 12345678901234567890.5"})
    frame = spark.createDataFrame(
        [('{"user": {"age": 61}}',), (None,), ('{"user": {"age": 12}}',)], "Payload string"
    ).selectExpr("Payload", "CAST('12345678901234567890.5' AS DECIMAL(22, 1)) AS n")
    found = match(profiles, frame, columns=[], json=["Payload"])
    assert values(found) == [[["old", "big"]], [["big"]], [["big"]]]
    with pytest.raises(SparkMatchError, match="json= names 'n', which is no STRING"):
        match(profiles, frame, json=["n"])
    with pytest.raises(SparkMatchError, match="json= names 'other'; there is no such column, but Payload, n"):
        match(profiles, frame, json=["other"])


def test_joins_range_over_a_data_frame(spark: Any, sales: Any) -> None:
    profiles = profilec.compile({"seen": "EXISTS d (d.brand = brand)", "new": "FORALL d (d.brand != brand)"})
    documents = spark.sql("SELECT 'Acme' AS brand")
    assert values(match(profiles, sales, columns=["note"], documents=documents)) == [
        ["x", ["seen"]],
        ["y", []],
        ["z", ["seen"]],
    ]
    assert len(profiles.documents) == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"mode": "list"}, ValueError, "mode takes 'array', 'explode', 'pairs', not 'list'"),
        ({"mode": "pairs"}, ValueError, "mode='pairs' needs columns="),
        ({"columns": ["nothing"]}, SparkMatchError, "columns= names 'nothing': df has price, Brand, note"),
        ({"columns": "note"}, TypeError, "columns takes a list of names"),
        ({"output": "note"}, SparkMatchError, "df has a column 'note' already"),
        ({"missing": "ignore"}, ValueError, "missing takes 'warn', 'error', 'null', not 'ignore'"),
        ({"returns": "names"}, ValueError, "returns takes 'ids', 'ordinals', not 'names'"),
        ({"ship_by": "post"}, ValueError, "ship_by takes 'auto', 'path', 'file', not 'post'"),
    ],
)
def test_arguments(
    sales: Any, profiles: profilec.ProfileSet, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        match(profiles, sales, **arguments)


def test_columns_that_are_not_there_are_told_before_any_row(spark: Any) -> None:
    profiles = profilec.compile({"p": "colour = 'red' AND price < 10"})
    with pytest.raises(SparkMatchError, match="no column provides colour; the columns are price, Brand, note"):
        match(profiles, spark.sql(ROWS), missing="error")
    with pytest.warns(UserWarning, match="no column provides colour"):
        match(profiles, spark.sql(ROWS))
    twice = spark.sql("SELECT 1 AS price, 2 AS price")
    with pytest.raises(SparkMatchError, match="two columns are named 'price'"):
        match(profiles, twice, missing="null")
    others = spark.sql("SELECT 1 AS price, 2 AS x, 3 AS X")
    assert values(match(profiles, others, missing="null")) == [[1, 2, 3, []]]
    assert values(match(profiles, others, columns=["price"], missing="null")) == [[1, []]]


def test_sessions_and_profiles_that_are_none(spark: Any, sales: Any) -> None:
    with pytest.raises(TypeError, match="profiles are a ProfileSet, or the path"):
        match(5, sales)
    with pytest.raises(FileNotFoundError, match=r"nothing\.prof: no such file"):
        match("nothing.prof", sales)


def test_images_are_sent_to_executors(spark: Any, sales: Any, profiles: profilec.ProfileSet) -> None:
    assert values(match(profiles, sales, columns=[], ship_by="file")) == [[ids] for ids in EXPECTED]
