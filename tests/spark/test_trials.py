"""What trials found in Spark: rows without columns, names that tell nothing, VARIANT, documents of shards."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import profilec
import profilec.spark
from profilec.spark import SparkMatchError, collect_statistics, match
from profilec.spark.any_values import values_of


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def values(frame: Any) -> list[list[Any]]:
    return [list(row) for row in frame.collect()]


@pytest.mark.parametrize(
    "condition",
    [
        "EXISTS d (TRUE)",
        "EXISTS d (x = 5)",
        "NOT EXISTS d (TRUE)",
        "FORALL d (x > 7)",
        "FORALL d WHERE (x = 5) (x > 7)",
        "EXISTS d (d.zz IS NULL)",
        "FORALL d (d.zz = 1)",
    ],
)
@pytest.mark.parametrize("n_documents", [0, 2])
def test_joins_that_read_no_column_of_the_documents(spark: Any, condition: str, n_documents: int) -> None:
    profiles = profilec.compile({"p": condition})
    documents = spark.createDataFrame([(1,), (2,)], "a int").limit(n_documents)
    found = values(match(profiles, spark.sql("SELECT 5 AS x"), columns=[], documents=documents, missing="null"))
    profiles.documents.extend([{"a": 1}, {"a": 2}][:n_documents])
    assert found == [[profiles.match({"x": 5})]]


def test_rows_of_which_no_column_is_read(spark: Any) -> None:
    profiles = profilec.compile({"always": "TRUE", "none": "nothing IS NULL"})
    assert match(profiles, spark.range(1_000), columns=[], missing="null").count() == 1_000
    assert match(profiles, spark.range(3).select(), missing="null").count() == 3
    exploded = match(profiles, spark.range(2), "explode", columns=[], missing="null")
    assert values(exploded) == [["always"], ["none"]] * 2
    assert collect_statistics(spark.range(5).select()).n_documents == 5


def test_columns_whose_names_tell_nothing(spark: Any) -> None:
    frame = spark.sql("SELECT 1 AS `a.b`, 2 AS `q``r`, 3 AS y, 4 AS y, 5 AS price, 6 AS PRICE, 7 AS found, 8 AS c0")
    profiles = profilec.compile({"dots": "`a.b` = 1", "exact": "price = 5 AND PRICE = 6", "found": "found = 7"})
    assert values(match(profiles, frame)) == [[1, 2, 3, 4, 5, 6, 7, 8, ["dots", "exact", "found"]]]
    assert values(match(profiles, frame, "pairs", ["found", "a.b"]))[0] == [7, 1, "dots"]
    joins = profilec.compile({"p": "EXISTS d (d.`a.b` = `a.b` AND d.found = found AND d.y2 < c0)"})
    documents = spark.sql("SELECT 1 AS `a.b`, 7 AS found, 3 AS y2, 0 AS key, 1 AS k0, 2 AS K0")
    assert values(match(joins, frame, columns=["found"], documents=documents)) == [[7, ["p"]]]
    assert collect_statistics(frame.drop("y")).n_documents == 1
    table = spark.sql("SELECT 'x' AS id, 'y' AS ID, 'a = 1' AS condition")
    assert list(profilec.spark.compile(table)) == ["x"]
    with pytest.raises(SparkMatchError, match="df has a column 'PRICE' already"):
        match(profiles, frame, output="PRICE")


@pytest.mark.parametrize("how", [{"shards": 2}, {}])
def test_documents_of_shards_are_bound_like_others(spark: Any, how: dict[str, Any]) -> None:
    profiles = profilec.compile(
        {"seen": "EXISTS d (d.isbn = isbn)", "inner": "EXISTS d (d.j.isbn = isbn)", "k": "isbn >= 0"}
    )
    frame = spark.sql("SELECT id AS ISBN FROM range(3)")
    documents = spark.sql("""SELECT 1 AS ISBN, '{"isbn": 2}' AS j, X'00' AS b""")
    found = match(profiles, frame, documents=documents, json=["j"], missing="null", **how)
    assert sorted(values(found)) == [[0, ["k"]], [1, ["seen", "k"]], [2, ["inner", "k"]]]
    variant = spark.sql("""SELECT parse_json('1') AS isbn, parse_json('{"isbn": 2}') AS j""")
    assert sorted(values(match(profiles, frame, documents=variant, **how)))[2] == [2, ["inner", "k"]]
    with pytest.raises(SparkMatchError, match="documents: no column provides isbn"):
        match(profiles, frame, documents=spark.sql("SELECT '{}' AS j"), missing="error", json=["j"], **how)


def test_sliced_maps_of_variant() -> None:
    def variant(number: int) -> dict[str, bytes]:
        return {"value": bytes([0b1100, number]), "metadata": b"\x01\x00\x00"}

    kind = pa.struct([("value", pa.binary()), pa.field("metadata", pa.binary(), metadata={"variant": "true"})])
    rows = [[("a", variant(1))], [("b", variant(2)), ("x", None)], [("c", variant(3))], None, [("d", variant(4))]]
    maps = pa.array(rows, pa.map_(pa.string(), kind))
    expected = [{"a": 1}, {"b": 2, "x": None}, {"c": 3}, None, {"d": 4}]
    lists = pa.array([[row] for row in rows], pa.list_(maps.type))
    for start in range(5):
        assert values_of(maps.slice(start, 3)) == expected[start : start + 3]
        assert values_of(lists.slice(start)) == [[one] for one in expected[start:]]


@pytest.mark.parametrize(
    ("value", "condition"),
    [
        ("parse_json('12345678901234567890123456.789')", "v = 12345678901234567890123456.789"),
        ("parse_json('99999999999999999999999999999999999999')", "v = 99999999999999999999999999999999999999"),
        ("CAST(CAST(0.1 AS FLOAT) AS VARIANT)", "v = 0.1"),
        ("CAST(CAST('NaN' AS FLOAT) AS VARIANT)", "v IS NULL"),
        ("CAST(CAST(0.1 AS DOUBLE) AS VARIANT)", "v = 0.1"),
        ("CAST(date_add(DATE'9999-12-31', 10) AS VARIANT)", "v > DATE '9999-12-31'"),
        ("CAST(DATE'2020-01-02' AS VARIANT)", "v = DATE '2020-01-02'"),
        ("CAST(timestamp'2020-01-02 03:04:05.678901Z' AS VARIANT)", "v = TIMESTAMP '2020-01-02 03:04:05.678901'"),
        ("CAST(timestamp_ntz'2020-01-02 03:04:05' AS VARIANT)", "v = TIMESTAMP '2020-01-02 03:04:05'"),
        ("to_variant_object(named_struct('f', CAST(0.1 AS FLOAT), 'a', array(1, 2)))", "v.f = 0.1 AND ANY(v.a) = 2"),
    ],
)
def test_what_is_in_variant(spark: Any, value: str, condition: str) -> None:
    profiles = profilec.compile({"p": condition})
    assert values(match(profiles, spark.sql(f"SELECT {value} AS v"), columns=[])) == [[["p"]]]


def test_an_image_that_asks_for_other_columns_than_the_plan_reads(spark: Any, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    path = tmp_path / "set.image"
    profilec.compile({"one": "a = 1"}).save(path)
    found = match(path, spark.sql("SELECT 1 AS a, 2 AS b"), columns=["a"])
    profilec.compile({"two": "a < 2"}).save(path)
    assert values(found) == [[1, ["two"]]]
    profilec.compile({"bb": "b = 2"}).save(path)
    with pytest.raises(
        PySparkException, match="the image was replaced by one that asks for b, of which no column is read"
    ):
        found.collect()


def test_a_worker_reads_json_for_those_alone_who_ask_for_it(spark: Any, tmp_path: Path) -> None:
    profiles = tmp_path / "set.image"
    profilec.compile({"inner": "j.a = 1", "text": "j LIKE '{%'"}).save(profiles)
    frame = spark.sql("""SELECT '{"a": 1}' AS j""").coalesce(1)
    for json, expected in ([["j"], ["inner"]], [[], ["text"]]) * 2:
        assert values(match(profiles, frame, columns=[], json=json, missing="null")) == [[expected]]


def test_columns_that_spark_sends_to_no_function(spark: Any) -> None:
    frame = spark.sql("SELECT 1 AS x, INTERVAL '1' MONTH AS m")
    assert values(match(profilec.compile({"p": "x = 1"}), frame, columns=["x"])) == [[1, ["p"]]]
    with pytest.raises(SparkMatchError, match="the column 'm' is of the type INTERVAL MONTH,"):
        match(profilec.compile({"p": "m IS NULL"}), frame, columns=["x"])


def test_functions_by_odd_names_types_and_threads(spark: Any) -> None:
    from profilec.spark import functions

    profilec.spark.register(spark, profilec.compile({"p": "self = 1"}), replace=True)
    assert spark.sql("SELECT match_profiles(self => 1)").first()[0] == ["p"]
    profilec.spark.register(spark, {"x": profilec.compile({"p": "a = 1"})}, "match_large_types", replace=True)
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    try:
        assert spark.sql("SELECT match_large_types('x', struct(1 AS a))").first()[0] == ["p"]
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(functions.match_profiles("a")))
    thread.start()
    thread.join()
    assert found


def test_streams_take_the_options_of_joins(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"a": 2, "b": 1}\n')
    rows = spark.readStream.schema("a INT, b INT").json(str(tmp_path / "in"))
    documents = spark.sql("SELECT 1 AS a, 2 AS b")
    profilec.spark.process_stream(
        profilec.compile({"p": "EXISTS d (d.a < a AND d.b > b)"}),
        rows,
        output=tmp_path / "out",
        checkpoint=tmp_path / "checkpoint",
        documents=documents,
        allow_nested_loop=True,
        phase_order="join_first",
        trigger={"availableNow": True},
    ).awaitTermination()
    assert [row.profiles for row in spark.read.parquet(str(tmp_path / "out")).collect()] == [["p"]]
