"""`profilec.spark.compile` and `check`: the set that `profilec.compile` makes of the same rows, and what is wrong."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import profilec
from profilec.spark import SparkMatchError, check, compile

CONDITIONS = {
    "cheap": "price < 10 AND brand IN ('Acme', 'Apex')",
    "either": "(a = 1 OR b LIKE 'x%') AND NOT c = 2",
    "tagged": "ANY(tags) = 'new'",
    "seen": "EXISTS d (d.isbn = isbn)",
    "never": "a < 1 AND a > 2",
    "warned": "price > '10'",
    "naïve 価": "name = '価'",
}
BAD = {"open": "price <", "odd": "price < 10 AND brand IN ()", "fine": "price < 10"}


def frame_of(
    spark: Any, rows: list[tuple[Any, Any]], n_partitions: int = 1, schema: str = "id STRING, condition STRING"
) -> Any:
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, n_partitions), schema)


def image_of(profiles: profilec.ProfileSet, path: Any) -> bytes:
    profiles.save(path)
    return bytes(path.read_bytes())


@pytest.mark.parametrize("n_partitions", [1, 4])
def test_the_same_image_as_of_the_local_compiler(spark: Any, n_partitions: int, tmp_path: Any) -> None:
    rng = random.Random(7)
    rows = {f"p{n}": f"price < {rng.randrange(99)} AND brand = 'b{rng.randrange(9)}'" for n in range(300)} | CONDITIONS
    schema, options = None, None
    if n_partitions == 4:
        schema, options = {"price": "NUMBER", "at": "TIMESTAMP"}, {"matcher": "access", "rules": "none"}
        rows = {f"p{n}": f"price < {n} OR NOT price > {n % 7} AND at IS NULL" for n in range(300)}
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "50")
    try:
        found = compile(frame_of(spark, list(rows.items()), n_partitions), schema=schema, options=options)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    expected = profilec.compile(rows, schema=schema, options=options)
    assert list(found.ids) == list(rows)
    assert found.diagnostics == expected.diagnostics
    assert image_of(found, tmp_path / "found") == image_of(expected, tmp_path / "expected")


def test_columns_of_other_names_and_ids_that_are_numbers(spark: Any) -> None:
    frame = spark.sql("SELECT * FROM VALUES (7, 'price < 1', 'x'), (8, 'price > 1', 'y') AS t(number, WHERE, owner)")
    found = compile(frame, id="number", condition="where")
    assert list(found.ids) == ["7", "8"]
    assert found.match({"price": 0}) == ["7"]
    assert check(frame, id="number", condition="where").collect() == []


def test_nothing(spark: Any) -> None:
    assert len(compile(frame_of(spark, []))) == 0
    assert check(frame_of(spark, [])).collect() == []


def test_errors_of_all_rows_are_raised_together(spark: Any) -> None:
    with pytest.raises(profilec.ProfileError) as expected:
        profilec.compile(BAD)
    with pytest.raises(profilec.ProfileError) as caught:
        compile(frame_of(spark, list(BAD.items()), 3))
    assert caught.value.diagnostics == expected.value.diagnostics
    assert {found.profile for found in caught.value.diagnostics} == {"open", "odd"}


def test_good_rows_compile_and_the_others_are_told(spark: Any) -> None:
    rows = [*BAD.items(), ("fine", "price < 11"), (None, "a = 1"), ("nothing", None), ("last", "price < 12")]
    rows.insert(0, ("last", "price <<"))
    found = compile(frame_of(spark, rows, 3), on_error="skip")
    assert list(found.ids) == ["fine", "last"]
    assert found["fine"].where == "price < 10"
    told = {(one.profile, one.code) for one in found.diagnostics}
    assert told == {
        ("open", "PC101"),
        ("odd", "PC115"),
        ("fine", "PC216"),
        (None, "PC217"),
        ("nothing", "PC120"),
        ("last", "PC116"),
    }
    checked = check(frame_of(spark, rows, 3))
    assert checked.columns == ["id", "condition", "code", "severity", "message", "line", "column", "hint"]
    assert {(row.id, row.code) for row in checked.collect()} == told
    by_code = {row.code: row for row in checked.collect()}
    assert (by_code["PC216"].condition, by_code["PC216"].message) == ("price < 11", "the id 'fine' is taken")
    assert (by_code["PC217"].id, by_code["PC217"].message) == (None, "the id is NULL")
    (empty_list,) = (one for one in found.diagnostics if one.code == "PC115")
    row = by_code["PC115"]
    assert (row.severity, row.message, row.line, row.column, row.hint) == (
        "error",
        empty_list.message,
        empty_list.line,
        empty_list.column,
        empty_list.hint,
    )


def test_diagnostics_are_in_the_order_of_the_rows(spark: Any) -> None:
    """Whatever their lines and columns, which are those of a row's condition."""
    rows = [
        ("late", "a = 1 AND b ="),
        ("warned", "c > 1 AND 1 = 2"),
        ("soon", "b ="),
        ("two", "a =\nOR"),
        ("null", None),
    ]
    rows += [("late", "<"), ("fine", "a = 1"), ("fine", "a = 2"), (None, "a = 1")]
    found = compile(frame_of(spark, rows, 4), on_error="skip").diagnostics
    assert [(one.profile, one.code) for one in found if one.profile != "two"] == [
        ("late", "PC101"),
        ("warned", "PC602"),
        ("soon", "PC101"),
        ("null", "PC120"),
        ("late", "PC101"),
        ("fine", "PC216"),
        (None, "PC217"),
    ]


SCHEMA_ROWS = [("typo", "prise < 10"), ("text", "price < 'x'"), ("fine", "price < 10 AND at > DATE '2020-01-01'")]


def test_the_schema_of_a_dataframe(spark: Any) -> None:
    documents = spark.sql(
        "SELECT 1 AS price, 1.5 AS weight, 'x' AS brand, true AS new, date'2020-01-01' AS at, "
        "timestamp_ntz'2020-01-01 00:00:00' AS seen, named_struct('tags', array('a')) AS more"
    )
    text = "price INTEGER, weight NUMBER, brand STRING, new BOOLEAN, at DATE, seen TIMESTAMP, "
    text += "more RECORD(tags ARRAY<STRING>)"
    frame = frame_of(spark, SCHEMA_ROWS)
    expected = profilec.compile(dict(SCHEMA_ROWS), schema=text, on_error="skip")
    told = sorted((one.profile, one.code, one.hint or "") for one in expected.diagnostics)
    assert {code for _, code, _ in told} == {"PC214", "PC603"}
    for schema in (documents, documents.schema):
        found = compile(frame, schema=schema, on_error="skip")
        assert (found.schema, found.diagnostics) == (expected.schema, expected.diagnostics)
        assert sorted((row.id, row.code, row.hint or "") for row in check(frame, schema=schema).collect()) == told


def test_columns_that_schema_has_no_type_for(spark: Any) -> None:
    documents = spark.sql(
        "SELECT 1 AS price, map('a', 1) AS m, parse_json('1') AS v, array(X'00') AS b, "
        "named_struct('x', 1, 'i', INTERVAL '1' MONTH) AS s"
    )
    message = re.escape("m (MAP<STRING,INT>), v (VARIANT), b (BINARY), s.i (INTERVAL MONTH): left out")
    frame = frame_of(spark, [("p", "price < 1 AND s.x = 1"), ("q", "m.a = 1")])
    with pytest.warns(UserWarning, match=message):
        found = compile(frame, schema=documents, on_error="skip")
    assert [(one.profile, one.code) for one in found.diagnostics] == [("q", "PC214")]


def test_warnings_and_what_is_too_complex(spark: Any) -> None:
    rows = [("warned", "price > '10'"), ("wide", "a = 1 AND b = 2 AND c = 3")]
    schema, options = {"price": "NUMBER", "a": "NUMBER", "b": "NUMBER", "c": "NUMBER"}, {"max_terms": 2}
    expected = profilec.compile(dict(rows), schema=schema, options=options, on_error="skip").diagnostics
    found = compile(frame_of(spark, rows), schema=schema, options=options, on_error="skip").diagnostics
    assert found == expected
    checked = check(frame_of(spark, rows), schema=schema, options=options).collect()
    assert sorted((row.code, row.message) for row in checked) == sorted((one.code, one.message) for one in expected)
    assert {row.code for row in checked} == {"PC603", "PC302"}


@pytest.mark.parametrize(
    ("columns", "arguments", "message"),
    [
        ("name STRING, condition STRING", {}, "no one column is named 'id': df has name, condition; name it with id="),
        ("id STRING, condition INT", {}, "the column 'condition' is INT, and condition= takes a STRING: CAST it"),
        ("id DOUBLE, condition STRING", {}, "the column 'id' is DOUBLE, and id= takes a STRING or a whole number"),
        ("id STRING, condition STRING", {"condition": "where"}, "no one column is named 'where'"),
    ],
)
def test_columns_that_are_none(spark: Any, columns: str, arguments: dict[str, str], message: str) -> None:
    frame = frame_of(spark, [], schema=columns)
    for function in (compile, check):
        with pytest.raises(SparkMatchError, match=re.escape(message)):
            function(frame, **arguments)


def test_arguments(spark: Any) -> None:
    frame = frame_of(spark, list(CONDITIONS.items()))
    with pytest.raises(ValueError, match="on_error takes 'raise', 'skip', not 'ignore'"):
        compile(frame, on_error="ignore")
    with pytest.raises(ValueError, match="option"):
        compile(frame, options={"matchers": "scan"})
    with pytest.raises(profilec.ProfileError, match="PC206"):
        check(frame, schema="price NUMMER")
    with pytest.raises(profilec.ProfileError, match="PC206"):
        compile(frame, schema="price NUMMER")
