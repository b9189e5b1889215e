"""A set as functions of SQL: the same answers as `ProfileSet`, in every shape of a query."""

from __future__ import annotations

import itertools
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import profilec
import profilec.spark
from profilec.spark import SparkMatchError

PROFILES = {
    "cheap": "price < 10",
    "acme": "brand = 'Acme' AND user.city = 'Bonn'",
    "tagged": "ANY(tags) = 'new'",
    "late": "at > TIMESTAMP '2020-01-01 00:00:00'",
    "lines": "ANY items AS i (i.sku = 'x' AND i.qty > 3)",
}
ROWS = """
    SELECT * FROM VALUES
      (1, 'Acme', named_struct('City', 'Bonn'), array('new'), timestamp'2021-01-01 00:00:00Z',
       array(named_struct('SKU', 'x', 'qty', 4))),
      (20, NULL, NULL, NULL, NULL, NULL),
      (5, 'Other', named_struct('City', 'Ulm'), array(), timestamp'1999-01-01 00:00:00Z', array())
    AS t(Price, brand, user, tags, at, items)
"""
EXPECTED = [["cheap", "acme", "tagged", "late", "lines"], [], ["cheap"]]
ACME = [["cheap", "acme"], [], ["cheap"]]
_numbers = itertools.count()


@pytest.fixture
def name(spark: Any) -> str:
    """A name that no function has."""
    spark.sql(ROWS).createOrReplaceTempView("sales")
    return f"match_{next(_numbers)}"


def asked(spark: Any, query: str) -> list[Any]:
    return [row[0] for row in spark.sql(query).collect()]


def refusal(spark: Any, query: str) -> str:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException) as caught:
        spark.sql(query).collect()
    return str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("struct(*)", EXPECTED),
        ("price => Price, brand => brand", [["cheap"], [], ["cheap"]]),
        ("named_struct('price', Price, 'tags', tags)", [["cheap", "tagged"], [], ["cheap"]]),
        ("to_json(struct(price AS price, brand, named_struct('city', user.city) AS user))", ACME),
        ("parse_json(to_json(struct(price AS price, tags)))", [["cheap", "tagged"], [], ["cheap"]]),
        ("struct(Price, parse_json(to_json(tags)) AS tags)", [["cheap", "tagged"], [], ["cheap"]]),
        ("struct(Price, struct(CAST(user.city AS VARIANT) AS city) AS user, brand)", ACME),
        ("struct(Price, map('city', user.city) AS user, brand)", ACME),
        ("if(Price > 10, NULL, struct(Price))", [["cheap"], [], ["cheap"]]),
        ("struct(CAST(Price AS DECIMAL(12, 3)) AS price)", [["cheap"], [], ["cheap"]]),
        ("struct(CAST(Price AS FLOAT) AS price)", [["cheap"], [], ["cheap"]]),
        ("struct(CAST(at AS TIMESTAMP_NTZ) AS at)", [["late"], [], []]),
    ],
)  # fmt: skip
def test_documents_in_every_form(spark: Any, name: str, arguments: str, expected: list[list[str]]) -> None:
    profilec.spark.register(spark, profilec.compile(PROFILES), name, missing="null")
    assert asked(spark, f"SELECT {name}({arguments}) AS ids FROM sales") == expected


def test_a_path_of_an_image_and_of_profiles(spark: Any, name: str, tmp_path: Path) -> None:
    text = "".join(f"PROFILE {id_} WHERE {where};\n" for id_, where in PROFILES.items())
    (tmp_path / "all.prof").write_text(text)
    profilec.compile(PROFILES).save(tmp_path / "all.image")
    for number, path in enumerate((tmp_path / "all.prof", str(tmp_path / "all.image"))):
        profilec.spark.register(spark, path, f"{name}_{number}")
        assert asked(spark, f"SELECT {name}_{number}(struct(*)) FROM sales") == EXPECTED


def test_several_sets(spark: Any, name: str) -> None:
    sets = {"all": profilec.compile(PROFILES), "dear": profilec.compile({"dear": "price > 3"})}
    profilec.spark.register(spark, sets, name, missing="null")
    assert asked(spark, f"SELECT {name}('all', struct(*)) FROM sales") == EXPECTED
    by_row = f"SELECT {name}(if(Price = 1, 'all', 'dear'), struct(*)) FROM sales"
    assert asked(spark, by_row) == [EXPECTED[0], ["dear"], ["dear"]]
    assert asked(spark, f"SELECT {name}('dear', price => Price) FROM sales") == [[], ["dear"], ["dear"]]
    assert "there is no set 'other'; there are 'all', 'dear'" in refusal(
        spark, f"SELECT {name}('other', struct(*)) FROM sales"
    )
    assert "no set is named" in refusal(spark, f"SELECT {name}(struct(*)) FROM sales")


def test_ordinals(spark: Any, name: str) -> None:
    profilec.spark.register(spark, profilec.compile(PROFILES), name, returns="ordinals")
    assert asked(spark, f"SELECT {name}(struct(*)) FROM sales") == [[0, 1, 2, 3, 4], [], [0]]
    assert (
        spark.sql(f"SELECT {name}(struct(*)) AS found FROM sales").schema.simpleString()
        == "struct<found:array<bigint>>"
    )


def test_why_and_one_profile(spark: Any, name: str) -> None:
    profiles = profilec.compile(PROFILES)
    profilec.spark.register(spark, profiles, replace=True)
    query = "SELECT profile_matches(struct(*), if(Price = 1, 'acme', if(Price = 5, NULL, 'cheap'))) FROM sales"
    assert asked(spark, query) == [True, False, None]
    told = asked(spark, "SELECT why_profiles(struct(*), 'cheap') FROM sales")
    assert told[0] == str(profiles.why({"price": 1}, "cheap"))
    from pyspark.sql.functions import lit, struct

    from profilec.spark import functions

    sales = spark.table("sales")
    found = sales.select(
        functions.match_profiles(struct("*")),
        functions.profile_matches(struct("*"), lit("late")),
        functions.why_profiles(struct("*"), lit("cheap")),
    )
    assert [list(row) for row in found.collect()] == [
        [ids, "late" in ids, text] for ids, text in zip(EXPECTED, told, strict=True)
    ]
    assert "no profile 'dear'" in refusal(spark, "SELECT profile_matches(struct(*), 'dear') FROM sales")


def test_why_and_one_profile_of_a_set_by_its_name(spark: Any, name: str) -> None:
    from pyspark.sql.functions import lit, struct

    from profilec.spark import functions

    profiles = profilec.compile(PROFILES)
    profilec.spark.register(spark, profiles, name)
    assert asked(spark, f"SELECT profile_{name}(struct(*), 'acme') FROM sales") == [True, False, False]
    (told, *_) = asked(spark, f"SELECT why_{name}(struct(*), 'cheap') FROM sales")
    assert told == str(profiles.why({"price": 1}, "cheap"))
    (found, *_) = spark.table("sales").select(functions.why_profiles(struct("*"), lit("cheap"), name=name)).collect()
    assert found[0] == told
    profilec.spark.register(spark, {"all": profiles}, f"{name}_several")
    assert asked(spark, f"SELECT profile_{name}_several('all', struct(*), 'late') FROM sales") == [True, False, False]
    with pytest.raises(ValueError, match=f"a function 'why_{name}' is there already"):
        profilec.spark.register(spark, profiles, f"why_{name}")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT Price, ids FROM (SELECT *, {f}(struct(*)) AS ids FROM sales) WHERE size(ids) > 0",
        "SELECT Price FROM sales WHERE size({f}(struct(*))) > 0",
        "SELECT Price, explode({f}(struct(*))) FROM sales",
        "SELECT Price, id FROM (SELECT *, {f}(struct(*)) AS ids FROM sales) LATERAL VIEW explode(ids) AS id "
        "WHERE size(ids) > 0",
        "SELECT ids, size(ids), get(ids, 0) FROM (SELECT {f}(struct(*)) AS ids FROM sales)",
        "SELECT id, count(*) FROM (SELECT explode({f}(struct(*))) AS id FROM sales) GROUP BY id",
        "WITH m AS (SELECT *, {f}(struct(*)) AS ids FROM sales) SELECT * FROM m "
        "WHERE array_contains(ids, 'cheap') AND size(ids) > 1",
        "SELECT * FROM (SELECT *, {f}(struct(*)) AS ids FROM sales) ORDER BY size(ids), Price",
    ],
)  # fmt: skip
def test_a_row_is_matched_once_whatever_the_query(spark: Any, name: str, query: str) -> None:
    profilec.spark.register(spark, profilec.compile(PROFILES), name)
    frame = spark.sql(query.format(f=name))
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert len(re.findall(rf"ArrowEvalPython \[{name}\(", plan)) == 1
    assert plan.count(f"{name}(") == 1
    assert frame.collect()


def test_a_value_that_nobody_asks_for_is_not_computed(spark: Any, name: str) -> None:
    profilec.spark.register(spark, profilec.compile(PROFILES), name)
    frame = spark.sql(f"SELECT Price FROM (SELECT *, {name}(struct(*)) AS ids FROM sales)")
    assert "Python" not in frame._jdf.queryExecution().executedPlan().toString()


def test_the_plan_does_not_grow_with_the_set(spark: Any, name: str) -> None:
    lengths = []
    for n in (1, 5_000):
        profilec.spark.register(
            spark, profilec.compile({f"p{i}": f"price = {i}" for i in range(n)}), name, replace=True
        )
        frame = spark.sql(f"SELECT {name}(struct(*)) FROM sales")
        lengths.append(len(re.sub(r"#\d+", "#", frame._jdf.queryExecution().toString())))
    assert lengths[0] == lengths[1]


def test_another_image_at_the_path_is_used_by_the_next_query(spark: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / "set.image"
    profilec.compile({"one": "price < 10"}).save(path)
    profilec.spark.register(spark, path, name)
    query = f"SELECT {name}(struct(*)) FROM sales"
    assert asked(spark, query) == [["one"], [], ["one"]]
    profilec.compile({"two": "price > 10"}).save(path)
    assert asked(spark, query) == [[], ["two"], []]
    path.unlink()
    assert re.search(r"the image .*set\.image cannot be read here: No such file", refusal(spark, query))


def test_registered_again(spark: Any, name: str) -> None:
    profilec.spark.register(spark, profilec.compile({"one": "price < 10"}), name)
    with pytest.raises(ValueError, match=f"a function '{name}' is there already"):
        profilec.spark.register(spark, profilec.compile({"two": "price > 10"}), name)
    profilec.spark.register(spark, profilec.compile({"two": "price > 10"}), name, replace=True)
    assert asked(spark, f"SELECT {name}(struct(*)) FROM sales") == [[], ["two"], []]
    with pytest.raises(ValueError, match="'abs' is there already"):
        profilec.spark.register(spark, profilec.compile({"two": "price > 10"}), "abs")


def test_attributes_that_no_column_provides_are_told_at_registration(spark: Any, name: str) -> None:
    profiles = profilec.compile({"p": "price < 10 AND colour = 'red' AND user.name = 'Ann'"})
    message = "no column provides colour, user.name; the columns are Price, brand, user, tags, at, items"
    with pytest.warns(UserWarning, match=message):
        profilec.spark.register(spark, profiles, name, schema="sales")
    with pytest.raises(SparkMatchError, match=message):
        profilec.spark.register(spark, profiles, f"{name}_2", schema=spark.table("sales"), missing="error")
    assert not spark.catalog.functionExists(f"{name}_2")
    profilec.spark.register(spark, profiles, f"{name}_3", missing="error")
    assert message in refusal(spark, f"SELECT {name}_3(struct(*)) FROM sales")


def test_names_that_are_not_unique_without_case(spark: Any, name: str) -> None:
    profiles = profilec.compile({"p": "price < 10", "P": "PRICE < 10"})
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        profilec.spark.register(spark, profiles, name, missing="error")
        assert asked(spark, f"SELECT {name}(struct(20 AS PRICE, 1 AS price))") == [["p"]]
        found = refusal(spark, f"SELECT {name}(struct(20 AS Price, 1 AS pRICE))")
        assert "price could be Price or pRICE" in found
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


@pytest.mark.parametrize(
    ("schema", "column", "message"),
    [
        ("price NUMBER", "'12' AS price", "SCHEMA declares price as NUMBER, and the column is STRING"),
        ("tags ARRAY<STRING>", "'x' AS tags", "SCHEMA declares tags as ARRAY<STRING>, and the column is STRING"),
        ("at DATE", "timestamp'2020-01-01 00:00:00' AS at", "declares at as DATE, and the column is TIMESTAMP: CAST"),
        ("tags STRING", "array('x') AS tags", "and the column is ARRAY<STRING>: CAST the column"),
    ],
)
def test_columns_that_contradict_the_schema_of_the_set(
    spark: Any, name: str, schema: str, column: str, message: str
) -> None:
    attribute = schema.split(maxsplit=1)[0]
    profiles = profilec.compile({"p": f"{attribute} IS NULL"}, schema=schema)
    with pytest.raises(SparkMatchError, match=re.escape(message)):
        profilec.spark.register(spark, profiles, name, schema=spark.sql(f"SELECT {column}"))
    profilec.spark.register(spark, profiles, name)
    assert message in refusal(spark, f"SELECT {name}(struct({column}))")


def test_a_column_that_is_compared_with_another_type_only_is_warned_of(spark: Any, name: str) -> None:
    profiles = profilec.compile({"p": "price < 10"})
    with pytest.warns(UserWarning, match="price is compared with NUMBER only, and the column is STRING"):
        profilec.spark.register(spark, profiles, name, schema=spark.sql("SELECT '12' AS price"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("price, brand", "{f} takes one document, and was given 2 arguments: write {f}(struct(*)), of some columns"),
        ("brand, price", "of some columns {f}(struct(a, b)), or columns by name, {f}(a => a, b => b)"),
        ("'set', struct(*)", "{f}(a => a, b => b); its one set needs no name"),
        ("price", "a document is a struct, a VARIANT or JSON text, and not INT: write struct(a) for the column a"),
        ("array(price)", "and not ARRAY<INT>"),
        ("", "{f} takes one document, and was given 0 arguments"),
        ("'{{\"price\": }}'", "partition 0, row 0 (from 0): '{{\"price\": }}' is no JSON object: expecting value"),
        ("'[1]'", "is no JSON object: a record is an object, and this is an array"),
        ("parse_json('[1]')", "a document is an object, and this VARIANT holds an array"),
        ("struct(X'00' AS price)", "the column 'price' is of the type BINARY"),
        ("struct(INTERVAL '1' DAY AS price)", "the column 'price' is of the type INTERVAL DAY TO SECOND"),
    ],
)
def test_what_is_no_document(spark: Any, name: str, arguments: str, message: str) -> None:
    profilec.spark.register(spark, profilec.compile({"p": "price < 10"}), name)
    query = f"SELECT {name}({arguments.format()}) FROM sales LIMIT 1"
    told = refusal(spark, query)
    assert message.format(f=name) in told
    assert told.count("  File ") == 1  # whoever writes SQL has no use for ours


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("struct(*)", "{f}: no set is named; there are 'all', 'none': {f}('set', struct(*))"),
        ("Price, brand", "{f}: the name of a set is a STRING, and not INT"),
        ("brand, struct(*)", "{f}: there is no set 'Acme'; there are 'all', 'none'"),
        ("'all', Price, brand", "{f} takes the name of a set and one document, and was given 3 arguments"),
    ],
)
def test_arguments_where_there_are_several_sets(spark: Any, name: str, arguments: str, message: str) -> None:
    profilec.spark.register(spark, {"all": profilec.compile({"p": "price < 10"}), "none": profilec.compile({})}, name)
    assert message.format(f=name) in refusal(spark, f"SELECT {name}({arguments}) FROM sales LIMIT 1")


def test_calls_from_python_are_refused_ahead_of_any_job(spark: Any, name: str) -> None:
    from pyspark.sql.functions import col, lit, struct

    from profilec.spark import functions

    function = profilec.spark.register(spark, profilec.compile({"p": "price < 10"}), name)
    for call in (function, partial(functions.match_profiles, name=name)):
        with pytest.raises(SparkMatchError, match=re.escape(f"2 arguments: write {name}(struct(*))")):
            call(col("Price"), col("brand"))
    with pytest.raises(SparkMatchError, match=f"why_{name} takes one document and an id, and was given 1 argument:"):
        functions.why_profiles(struct("*"), name=name)
    several = profilec.spark.register(spark, {"all": profilec.compile({"p": "price < 10"})}, f"{name}_several")
    with pytest.raises(SparkMatchError, match="no set is named; there are 'all'"):
        several(struct("*"))
    found = spark.table("sales").select(several(lit("all"), price=col("Price")), function(struct("*"))).collect()
    assert [list(row) for row in found] == [[["p"], ["p"]], [[], []], [["p"], ["p"]]]


def test_the_failing_row_is_named(spark: Any, name: str) -> None:
    profilec.spark.register(spark, profilec.compile({"p": "price < 10"}), name)
    query = f"SELECT {name}(if(id = 12345, 'x', '{{}}')) FROM range(0, 20000, 1, 1)"
    assert "partition 0, row 12,345 (from 0): 'x' is no JSON object" in refusal(spark, query)


def test_another_profilec_on_an_executor(spark: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from profilec.spark import images

    monkeypatch.setattr(images, "own_version", lambda: "0.0.1")
    profilec.spark.register(spark, profilec.compile({"p": "price < 10"}), name)
    assert "the driver has profilec 0.0.1, and this executor" in refusal(spark, f"SELECT {name}(struct(*)) FROM sales")


def test_nothing_to_match(spark: Any, name: str) -> None:
    profilec.spark.register(spark, profilec.compile({}), name)
    assert asked(spark, f"SELECT {name}(struct(*)) FROM sales") == [[], [], []]
    assert asked(spark, f"SELECT {name}(struct(*)) FROM sales WHERE Price < 0") == []


def test_joins_ask_the_documents_of_the_set(spark: Any, name: str) -> None:
    profiles = profilec.compile({"new": "FORALL d (brand != d.brand)", "dearer": "EXISTS d (d.price < price)"})
    profilec.spark.register(spark, profiles, f"{name}_0")
    profiles.documents.extend([{"brand": "Acme", "price": 4}])
    profilec.spark.register(spark, profiles, f"{name}_1")
    assert asked(spark, f"SELECT {name}_0(struct(*)) FROM sales") == [["new"]] * 3
    assert asked(spark, f"SELECT {name}_1(struct(*)) FROM sales") == [[], ["dearer"], ["new", "dearer"]]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kathmandu"])
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_time_zones_and_ansi_mode_change_no_answer(spark: Any, name: str, zone: str, ansi: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        profilec.spark.register(spark, profilec.compile(PROFILES), name)
        assert asked(spark, f"SELECT {name}(struct(*)) FROM ({ROWS})") == EXPECTED
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
        spark.conf.unset("spark.sql.ansi.enabled")
