"""Joins with a DataFrame of earlier documents: the answers of the set's own store, by plans of equality joins."""

from __future__ import annotations

import datetime
import json
import random
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import profilec
from profilec.profileset import ProfileSet
from profilec.spark import SparkMatchError, explain, match
from profilec.spark.join_frames import plan_joins, with_lookups
from profilec.spark.places import by_place

DAY = datetime.timedelta(days=1)
EPOCH = datetime.datetime(2024, 1, 30, tzinfo=datetime.UTC)
COLUMNS = {
    "user": "string",
    "n": "int",
    "big": "bigint",
    "x": "double",
    "m": "decimal(38, 20)",
    "t": "timestamp",
    "day": "date",
    "flag": "boolean",
    "one": "string",
    "other": "string",
}
"""`one` and `other` become VARIANT: their values are of any kind."""
HALF, TENTH, BIG = Decimal("2.5"), Decimal("0.1"), Decimal("9007199254740992.0")
ANY = [0, 1, 2, TENTH, HALF, 9007199254740993, BIG, "a", "b", "1", "", "é", True, False, None, [1], {"k": 1}]
VALUES: dict[str, list[Any]] = {
    "user": ["ann", "bob", "cy", "", "a\0", "é"],
    "n": [0, 1, 2, 3, -1, 12, 120],
    "big": [0, 1, 2, 9007199254740992, 9007199254740993, -9007199254740993],
    "x": [0.0, -0.0, 1.0, 2.5, 0.1, -1.0, float("nan"), float("inf"), float("-inf"), 9007199254740992.0, 1e-7],
    "m": [Decimal(text) for text in ("0", "1.00", "0.1", "0.10000000000000000001", "2.5", "-1", "9007199254740993")],
    "t": [EPOCH + DAY / 2 * number for number in range(8)] + [EPOCH + DAY * number for number in (29, 30, 31, 61)],
    "day": [EPOCH.date() + DAY * number for number in range(5)] + [datetime.date(2024, 3, 1)],
    "flag": [True, False],
    "one": ANY,
    "other": ANY,
}
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
CONSTANTS = ("0", "1", "2", "0.1", "9007199254740993", "'a'", "'ann'", "TRUE", "NULL", "DATE '2024-01-31'")


def a_row(rng: random.Random) -> tuple[Any, ...]:
    return tuple(None if rng.random() < 0.15 else rng.choice(VALUES[name]) for name in COLUMNS)


def scalar(rng: random.Random, prefix: str) -> str:
    name = prefix + rng.choice(list(COLUMNS))
    return rng.choice([name] * 10 + [f"LOWER({name})", f"{name} + 1", f"COALESCE({name}, 2)"])


def alike(rng: random.Random) -> tuple[str, str]:
    """An expression over each side, mostly of values that compare."""
    name = rng.choice(list(COLUMNS))
    if rng.random() < 0.4:
        return f"d.{name}", name
    numbers = ("n", "big", "x", "m", "one", "other")
    if rng.random() < 0.6:
        return f"d.{rng.choice(numbers)}", rng.choice(numbers)
    return scalar(rng, "d."), scalar(rng, "")


def leaf(rng: random.Random) -> str:
    old, new = alike(rng)
    operator = rng.choice(OPERATORS)
    match rng.randrange(10):
        case 0 | 1 | 2:
            return f"{old} = {new}"
        case 3 | 4:
            return f"{old} {operator} {new}"
        case 5 | 6:
            return f"{old} {operator} {rng.choice(CONSTANTS)}"
        case 7:
            return f"{new} {operator} {rng.choice(CONSTANTS)}"
        case 8:
            of_one = ("d.user LIKE 'a%'", "d.flag", "NOT flag", "TRUE")
            return rng.choice([f"{old} IS NULL", f"{new} IS NOT NULL", *of_one])
    return rng.choice([f"{old} IN ({new}, 1, 'a')", f"{old} NOT IN ({new}, 1)", "d.n + n < 4", "d.x * x >= n"])


def body(rng: random.Random, depth: int = 2) -> str:
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
    if rng.random() < 0.2:
        interval = rng.choice(["1 day", "12 hours", "36 hours", "1 month", "2 months", "1 month 1 day", "0 days"])
        scopes += f"WITHIN INTERVAL '{interval}' OF {rng.choice(['t', 't', 'day', 'one'])} "
    if rng.random() < 0.4:
        scopes += f"WHERE ({rng.choice([leaf, leaf, body])(rng)}) "
    return f"{rng.choice(['EXISTS', 'FORALL'])} d {scopes}({body(rng, rng.choice([0, 1, 1, 2]))})"


def condition(rng: random.Random) -> str:
    asked = rng.choice(["", "NOT "]) + quantified(rng)
    match rng.randrange(6):
        case 0:
            return f"n < {rng.randrange(4)} AND {asked}"
        case 1:
            return f"{asked} AND {quantified(rng)}"
        case 2:
            return f"{asked} OR user = 'ann'"
        case 3:
            return f"user LIKE 'a%' AND ({asked} OR {quantified(rng)} OR x > 1)"
    return asked


def frame_of(spark: Any, rows: list[tuple[Any, ...]]) -> Any:
    """The rows with the column `id`, their place."""
    types = {
        "string": pa.string(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "date": pa.date32(),
    }
    types |= {"timestamp": pa.timestamp("us", "UTC"), "boolean": pa.bool_(), "decimal(38, 20)": pa.decimal128(38, 20)}
    told = [(*row[:-2], *(json.dumps(value, default=float) for value in row[-2:])) for row in rows]
    columns = {"id": pa.array(range(len(rows)), pa.int32())}
    for place, (name, kind) in enumerate(COLUMNS.items()):
        columns[name] = pa.array([row[place] for row in told], types[kind])
    frame = spark.createDataFrame(pa.table(columns)).coalesce(2)
    return frame.selectExpr(
        "id", *(f"`{name}`" for name in list(COLUMNS)[:-2]), "parse_json(one) one", "parse_json(other) other"
    )


def documents_of(rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def expected(profiles: ProfileSet, rows: list[tuple[Any, ...]], new: list[tuple[Any, ...]]) -> list[list[str]]:
    judge = ProfileSet(profiles._parts)
    judge.documents.extend(documents_of(rows))
    return list(judge.match_batch(documents_of(new)))


def found(frame: Any) -> list[list[str]]:
    rows = frame.collect()
    assert sorted(row.id for row in rows) == list(range(len(rows)))
    return [list(row.profiles) for row in sorted(rows, key=lambda row: row.id)]


@pytest.mark.parametrize("world", range(6))
def test_all_conditions_give_what_the_store_gives(spark: Any, world: int) -> None:
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    rng = random.Random(seed)
    conditions = {f"p{number}": condition(rng) for number in range(18)}
    profiles = profilec.compile(conditions)
    rows = [a_row(rng) for _ in range((0, 1, 4, 12, 25, 40)[world])]
    new = [a_row(rng) for _ in range(25)]
    documents, df = frame_of(spark, rows + rows[:3]), frame_of(spark, new)
    wanted = expected(profiles, rows + rows[:3], new)
    for phase_order in ("constant_first", "join_first"):
        got = found(
            match(
                profiles,
                df,
                columns=["id"],
                documents=documents,
                allow_nested_loop=True,
                phase_order=phase_order,
                missing="null",
            )
        )
        for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
            different = {id_: conditions[id_] for id_ in set(one) ^ set(other)}
            assert not different, f"{phase_order}, {new[number]}: {different}, found are {one}; documents {rows}"


ROWS = "SELECT * FROM VALUES {} AS t(isbn, price)"
NEW = "('1', 4), ('1', 9), ('2', 4), ('3', 4), (NULL, 4), ('1', NULL)"
EARLIER = "('1', 5), ('1', 7), ('2', NULL), (NULL, 1)"


@pytest.fixture
def new(spark: Any) -> Any:
    return spark.sql(ROWS.format(NEW))


@pytest.fixture
def earlier(spark: Any) -> Any:
    return spark.sql(ROWS.format(EARLIER))


def matched(frame: Any) -> dict[tuple[Any, ...], list[str]]:
    return {tuple(row)[:-1]: row[-1] for row in frame.collect()}


def plan_of(frame: Any) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def count(operator: str, plan: str) -> int:
    """How often an operator stands in a plan."""
    return len(re.findall(rf"(?m)^[ :+-]*(?:\*\(\d+\) )?{operator}\b", plan))


def test_forall_is_the_anti_join_on_what_is_not_true(new: Any, earlier: Any) -> None:
    """A price that is NULL, on either side, is not known to be less: NOT EXISTS (price >= d.price) lets it through."""
    profiles = profilec.compile(
        {
            "all": "FORALL d WHERE (d.isbn = isbn) (price < d.price)",
            "naive": "NOT EXISTS d (d.isbn = isbn AND price >= d.price)",
        }
    )
    assert matched(match(profiles, new, documents=earlier)) == {
        ("1", 4): ["all", "naive"],
        ("1", 9): [],
        ("2", 4): ["naive"],
        ("3", 4): ["all", "naive"],
        (None, 4): ["all", "naive"],
        ("1", None): ["naive"],
    }


def test_never_seen_before_and_an_isbn_that_is_null(new: Any, earlier: Any) -> None:
    """FORALL d (isbn != d.isbn) is spoiled by one document without an isbn; NOT EXISTS asks equality alone."""
    profiles = profilec.compile({"all": "FORALL d (isbn != d.isbn)", "new": "NOT EXISTS d (d.isbn = isbn)"})
    found = matched(match(profiles, new, documents=earlier))
    assert found == {("1", 4): [], ("1", 9): [], ("2", 4): [], ("3", 4): ["new"], (None, 4): ["new"], ("1", None): []}
    found = matched(match(profiles, new, documents=earlier.where("isbn IS NOT NULL")))
    assert found[("3", 4)] == ["all", "new"]
    assert found[(None, 4)] == ["new"]
    nothing = matched(match(profiles, new, documents=earlier.where("price > 100")))
    assert set(map(tuple, nothing.values())) == {("all", "new")}


def test_terms_that_differ_in_constants_share_an_aggregate_and_a_join(spark: Any, new: Any, earlier: Any) -> None:
    keyed = {f"p{n}": f"EXISTS d (d.isbn = isbn AND d.price > {n})" for n in range(50)}
    frame = match(profilec.compile(keyed), new, documents=earlier)
    plan = plan_of(frame)
    assert count("SortAggregate", plan) == 2  # one, in two halves
    assert count("BroadcastHashJoin", plan) + count("SortMergeJoin", plan) == 1
    assert "NestedLoop" not in plan
    assert "Cartesian" not in plan
    assert matched(frame)[("1", 4)] == [f"p{n}" for n in range(7)]
    assert matched(frame)[("2", 4)] == []

    equal = {f"p{n}": f"EXISTS d (d.isbn = isbn AND d.price = {n})" for n in range(50)}
    frame = match(profilec.compile(equal), new, documents=earlier)
    assert count("BroadcastHashJoin", plan_of(frame)) + count("SortMergeJoin", plan_of(frame)) == 1
    assert matched(frame)[("1", 4)] == ["p5", "p7"]

    keyless = {f"p{n}": f"EXISTS d (d.price > {n})" for n in range(50)}
    frame = match(profilec.compile(keyless), new, documents=earlier)
    plan = plan_of(frame)
    assert not re.findall(r"\w*Join\b", plan)
    assert count("SortAggregate", plan) == 2
    assert matched(frame)[("2", 4)] == [f"p{n}" for n in range(7)]


def test_shapes_of_one_key_share_an_aggregate_and_a_join(spark: Any, new: Any, earlier: Any) -> None:
    profiles = profilec.compile(
        {
            "seen": "EXISTS d (d.isbn = isbn)",
            "unseen": "isbn IS NOT NULL AND NOT EXISTS d (d.isbn = isbn)",
            "cheaper": "FORALL d WHERE (d.isbn = isbn) (price < d.price)",
            "dearer": "EXISTS d (d.isbn = isbn AND d.price < price)",
            "one": "EXISTS d (d.isbn = isbn AND d.price = 5)",
        }
    )
    frame = match(profiles, new, documents=earlier)
    plan = plan_of(frame)
    assert count("SortAggregate", plan) == 2
    assert count("BroadcastHashJoin", plan) + count("SortMergeJoin", plan) == 1
    assert matched(frame) == {
        ("1", 4): ["seen", "cheaper", "one"],
        ("1", 9): ["seen", "dearer", "one"],
        ("2", 4): ["seen"],
        ("3", 4): ["unseen", "cheaper"],
        (None, 4): ["cheaper"],
        ("1", None): ["seen", "one"],
    }


def test_nothing_is_shuffled_but_the_two_sides_of_a_join(spark: Any, tmp_path: Path) -> None:
    """And only the columns that are read or kept are: of documents the keys alone travel."""
    spark.sql(f"SELECT *, 'x' AS note FROM ({ROWS.format(NEW)})").write.parquet(str(tmp_path / "new"))
    spark.sql(f"SELECT *, 'x' AS note FROM ({ROWS.format(EARLIER)})").write.parquet(str(tmp_path / "earlier"))
    new, earlier = spark.read.parquet(str(tmp_path / "new")), spark.read.parquet(str(tmp_path / "earlier"))
    profiles = profilec.compile({"seen": "EXISTS d (d.isbn = isbn)", "low": "FORALL d (price < d.price)"})
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        frame = match(profiles, new, columns=["price"], documents=earlier)
        plan = plan_of(frame)
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert count("SortMergeJoin", plan) == 1
    assert count("Exchange hashpartitioning", plan) == 2  # of the new rows, and within the aggregate
    assert count("Exchange SinglePartition", plan) == 1  # of the scalar subquery, one row for each task
    assert count("Exchange", plan) == 3
    assert sorted(re.findall(r"ReadSchema: (struct<.*>)", plan)) == [
        "struct<isbn:string,price:int>",
        "struct<isbn:string>",
        "struct<price:int>",
    ]
    plan = plan_of(match(profiles, new, columns=["price"], documents=earlier))
    assert count("BroadcastHashJoin", plan) == 1
    assert count("Exchange hashpartitioning", plan) == 1


def test_windows_are_joined_by_bucket(spark: Any) -> None:
    profiles = profilec.compile(
        {
            "again": "EXISTS d WITHIN INTERVAL '7 days' OF at (d.user = user)",
            "any": "EXISTS d WITHIN INTERVAL '1 month' OF at (TRUE)",
        }
    )
    rows = "SELECT user, CAST(at AS TIMESTAMP) AS at FROM VALUES {} AS t(user, at)"
    earlier = spark.sql(rows.format("('ann', '2024-03-01 00:00:00'), ('bob', '2024-02-29 12:00:00'), ('cy', NULL)"))
    new = spark.sql(
        rows.format(
            "('ann', '2024-03-08 00:00:00'), ('ann', '2024-03-08 00:00:01'), ('ann', '2024-02-29 00:00:00'), "
            "('bob', '2024-03-31 12:00:00'), ('bob', '2024-04-01 00:00:01'), ('cy', '2024-03-01 00:00:00'), "
            "('cy', NULL)"
        )
    )
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        frame = match(profiles, new.select("user", "at"), documents=earlier)
        assert "NestedLoop" not in plan_of(frame)
        found = {(row.user, str(row.at)): row.profiles for row in frame.collect()}
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
    wanted = ProfileSet(profiles._parts)
    wanted.documents.extend(earlier.toArrow())
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, wanted.match_batch(new.toArrow())))


@pytest.mark.parametrize(
    ("condition", "options", "message"),
    [
        (
            "EXISTS d (d.price < price AND d.isbn > isbn)",
            {},
            "profile 'p': EXISTS d (price > d.price AND isbn < d.isbn): several comparisons without an equality of "
            "the two documents are a nested loop; add an equality, as in d.user = user, or pass allow_nested_loop=True",
        ),
        ("FORALL d (d.price + price < 5)", {}, "conditions that mix both documents without an equality"),
        (
            "EXISTS d LAST 3 (d.isbn = isbn)",
            {},
            ": LAST needs an order of documents, and a DataFrame has none; say WITHIN",
        ),
        (
            "EXISTS d LAST 3 (d.isbn = isbn)",
            {"allow_nested_loop": True},
            "documents.orderBy(...).limit(n), and no LAST",
        ),
        ("EXISTS d (d.colour = isbn)", {"missing": "error"}, "documents: no column provides colour"),
    ],
)
def test_what_is_refused(new: Any, earlier: Any, condition: str, options: dict[str, Any], message: str) -> None:
    profiles = profilec.compile({"other": "price < 5", "p": condition, "q": condition})
    with pytest.raises(SparkMatchError, match=re.escape(message)):
        match(profiles, new, documents=earlier, **options)


def test_documents_that_do_not_fit_the_set(spark: Any, new: Any, earlier: Any) -> None:
    profiles = profilec.compile("SCHEMA (isbn STRING, price NUMBER); PROFILE p WHERE EXISTS d (d.price < price);")
    with pytest.raises(SparkMatchError, match="documents: SCHEMA declares price as NUMBER, and the column is STRING"):
        match(profiles, new, documents=earlier.selectExpr("isbn", "CAST(price AS STRING) AS price"))
    with pytest.raises(SparkMatchError, match="documents: the column 'price' is of the type BINARY"):
        match(profiles, new, documents=earlier.selectExpr("isbn", "X'00' AS price"))
    with pytest.raises(ValueError, match="phase_order takes 'constant_first', 'join_first', not 'both'"):
        match(profiles, new, documents=earlier, phase_order="both")


def test_a_nested_loop_has_to_be_allowed(new: Any, earlier: Any) -> None:
    profiles = profilec.compile({"p": "EXISTS d (d.price > price AND d.isbn <= isbn) AND NOT EXISTS d (d.isbn = '9')"})
    found = matched(match(profiles, new, documents=earlier, allow_nested_loop=True))
    assert [key for key, ids in found.items() if ids] == [("1", 4), ("2", 4), ("3", 4)]


def test_constants_that_fail_keep_rows_from_the_join(spark: Any, earlier: Any) -> None:
    """With the constants first a row whose constants fail has a key that no document has."""
    profiles = profilec.compile(
        {"p": "price < 5 AND EXISTS d (d.isbn = isbn)", "q": "price < 3 AND FORALL d (d.isbn = isbn)"}
    )
    new = spark.sql(ROWS.format("('1', 4), ('1', 9), ('2', 4), ('2', 1), (NULL, 3)"))
    for phase_order, n_joined in (("constant_first", 3), ("join_first", 4), (None, 3)):
        joins = plan_joins(
            profiles,
            new,
            earlier,
            missing="warn",
            json=(),
            ship_by="auto",
            directory=None,
            allow_nested_loop=False,
            phase_order=phase_order,
        )
        own = by_place(new, range(len(new.columns)))
        assert with_lookups(joins, own, tuple(new.columns)).where("l0 IS NOT NULL").count() == n_joined
        found = matched(match(profiles, new, documents=earlier, phase_order=phase_order))
        assert found == {("1", 4): ["p"], ("1", 9): [], ("2", 4): ["p"], ("2", 1): ["p"], (None, 3): []}


def test_columns_are_bound_without_case_and_json_is_read(spark: Any, new: Any) -> None:
    profiles = profilec.compile({"p": "EXISTS d (d.isbn = isbn AND d.info.left > 0)"})
    text = """'{"left": 2}'"""
    earlier = spark.sql(f"SELECT '1' AS ISBN, {text} AS info UNION ALL SELECT '2', NULL")
    found = matched(match(profiles, new, documents=earlier, json=["info"]))
    assert [key for key, ids in found.items() if ids] == [("1", 4), ("1", 9), ("1", None)]


def test_modes_and_rows_of_other_columns(spark: Any, new: Any, earlier: Any) -> None:
    profiles = profilec.compile({"seen": "EXISTS d (d.isbn = isbn)", "low": "price < 5"})
    frame = match(profiles, new, "pairs", ["isbn"], documents=earlier, returns="ordinals")
    found = sorted(map(tuple, frame.collect()), key=str)
    assert found == [("1", 0), ("1", 0), ("1", 0), ("1", 1), ("2", 0), ("2", 1), ("3", 1), (None, 1)]


def test_columns_twice_and_images_that_are_sent(new: Any, earlier: Any) -> None:
    profiles = profilec.compile({"seen": "EXISTS d (d.isbn = isbn)"})
    twice = new.selectExpr("1 AS x", "isbn", "2 AS x")
    found = matched(match(profiles, twice, columns=["isbn"], documents=earlier, ship_by="file", missing="error"))
    assert found == {("1",): ["seen"], ("2",): ["seen"], ("3",): [], (None,): []}


def test_no_column_at_all(new: Any, earlier: Any) -> None:
    profiles = profilec.compile(
        {"some": "EXISTS d (TRUE)", "none": "FORALL d (FALSE)", "five": "EXISTS d (d.price = 5)"}
    )
    found = match(profiles, new, columns=[], documents=earlier).collect()
    assert [row.profiles for row in found] == [["some", "five"]] * 6
    found = match(profiles, new, columns=[], documents=earlier.where("price > 9")).collect()
    assert [row.profiles for row in found] == [["none"]] * 6
    assert match(profiles, new.where("price > 99"), documents=earlier).collect() == []


def test_explain_shows_both_plans(new: Any, earlier: Any) -> None:
    profiles = profilec.compile({"p": "price < 5 AND EXISTS d (d.isbn = isbn)", "q": "FORALL d (d.price > price)"})
    text = explain(profiles, new, earlier)
    ours, joins, physical = text.split("\n\n", 2)
    assert ours.splitlines()[3].split() == ["├─", "joins", "2", "join", "terms,", "by", "Spark", "1"]
    assert "pre-filter" in profiles.explain()
    for of_the_set_alone in ("pre-filter", "of the join table", "what it costs to ask", "cannot match yet"):
        assert of_the_set_alone not in text
    assert "not selective: q" in ours
    assert joins == (
        "Joins with documents: 1 by key, 1 as scalar subqueries; phase order: constant_first\n"
        "  EXISTS d (isbn = d.isbn)\n"
        "    l0, join by 1 key: whether there is a document\n"
        "  FORALL d (price < d.price)\n"
        "    l1, scalar subquery: least, kinds"
    )
    assert physical.startswith("== Physical Plan ==")
    assert "MapInArrow JoinedTask" in physical
    assert explain(profiles, new).startswith(profiles.explain())  # its own documents are asked by its own plan
