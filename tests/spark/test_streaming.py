"""Streams: the functions of SQL and `match` in streaming queries, and `process_stream`."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import profilec
import profilec.spark
from profilec.spark import SparkMatchError, match, process_stream

PROFILES = {"cheap": "price < 10", "acme": "brand = 'Acme'", "both": "price < 10 AND brand = 'Acme'"}
JOINS = {"seen": "EXISTS d (d.brand = brand)", "low": "FORALL d (price < d.price)", "cheap": "price < 10"}
FILES = [
    [{"id": 0, "price": 1, "brand": "Acme"}, {"id": 1, "price": 20, "brand": None}],
    [{"id": 2, "price": 30, "brand": "Acme"}],
    [{"id": 3, "price": 5, "brand": "Apex"}, {"id": 4, "price": 0, "brand": None}],
]
SCHEMA = "id INT, price INT, brand STRING"
EXPECTED = {0: ["cheap", "acme", "both"], 1: [], 2: ["acme"], 3: ["cheap"], 4: ["cheap"]}
NOW = {"availableNow": True}
_numbers = itertools.count()


def put(folder: Path, number: int, rows: list[dict[str, Any]]) -> None:
    """A file of a source, of another time than all others, so that files come in order."""
    folder.mkdir(exist_ok=True)
    part = folder / f".{number}.part"
    part.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    os.utime(part, (1e9 + number, 1e9 + number))
    part.rename(folder / f"{number}.json")


def streamed(spark: Any, folder: Path) -> Any:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for number, rows in enumerate(FILES):
        put(tmp_path / "in", number, rows)
    return tmp_path / "in"


@pytest.fixture
def sales(spark: Any, source: Path) -> Any:
    """A stream of three micro-batches."""
    frame = streamed(spark, source)
    frame.createOrReplaceTempView("sales_stream")
    return frame


def written(spark: Any, frame: Any, tmp_path: Path, mode: str = "append") -> list[list[Any]]:
    """What a query over all that there is writes to memory."""
    name = f"written_{next(_numbers)}"
    writer = frame.writeStream.format("memory").queryName(name).outputMode(mode).trigger(**NOW)
    writer.option("checkpointLocation", str(tmp_path / name)).start().awaitTermination()
    return sorted(list(row) for row in spark.table(name).collect())


def found_in(spark: Any, folder: Path) -> dict[int, list[str]]:
    return {row.id: row.profiles for row in spark.read.parquet(str(folder)).collect()}


def processed(profiles: profilec.ProfileSet, batches: list[list[dict[str, Any]]]) -> dict[int, list[str]]:
    """By id, what the rows match where those of all earlier micro-batches are the documents."""
    found = {}
    for rows in batches:
        found |= {row["id"]: profiles.match(row) for row in rows}
        profiles.documents.extend(rows)
    return found


QUERIES: dict[str, tuple[str, list[list[Any]]]] = {
    "append": ("SELECT id, {f}(struct(*)) FROM sales_stream", [[id_, ids] for id_, ids in EXPECTED.items()]),
    "append, filtered": ("SELECT id FROM sales_stream WHERE size({f}(struct(*))) > 0", [[0], [2], [3], [4]]),
    "append, exploded": (
        "SELECT id, explode({f}(struct(*))) FROM sales_stream",
        sorted([id_, name] for id_, ids in EXPECTED.items() for name in ids),
    ),
    "append, named columns": (
        "SELECT id, {f}(price => price, brand => brand) FROM sales_stream",
        [[id_, ids] for id_, ids in EXPECTED.items()],
    ),
    "update": (
        "SELECT name, count(*) FROM (SELECT explode({f}(struct(*))) AS name FROM sales_stream) GROUP BY name",
        sorted([["acme", 1], ["both", 1], ["cheap", 1], ["acme", 2], ["cheap", 3]]),
    ),
    "complete": (
        "SELECT name, count(*) FROM (SELECT explode({f}(struct(*))) AS name FROM sales_stream) GROUP BY name",
        [["acme", 2], ["both", 1], ["cheap", 3]],
    ),
    "complete, by the matches": (
        "SELECT {f}(struct(*)) AS ids, count(*) FROM sales_stream GROUP BY ids",
        [[[], 1], [["acme"], 1], [["cheap"], 2], [["cheap", "acme", "both"], 1]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_the_function_in_every_output_mode(spark: Any, sales: Any, tmp_path: Path, query: str) -> None:
    name = f"match_stream_{next(_numbers)}"
    profilec.spark.register(spark, profilec.compile(PROFILES), name)
    text, expected = QUERIES[query]
    assert written(spark, spark.sql(text.format(f=name)), tmp_path, query.split(",", maxsplit=1)[0]) == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("array", [[id_, ids] for id_, ids in EXPECTED.items()]),
        ("explode", sorted([id_, name] for id_, ids in EXPECTED.items() for name in ids)),
    ],
)
def test_match_over_a_stream(spark: Any, sales: Any, tmp_path: Path, mode: str, expected: list[list[Any]]) -> None:
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup()
    frame = match(profilec.compile(PROFILES), sales, mode, columns=["id"], missing="error")
    assert spark.sparkContext.statusTracker().getJobIdsForGroup() == jobs
    assert frame.isStreaming
    assert written(spark, frame, tmp_path) == expected


def test_joins_over_a_stream_ask_the_documents_given_or_those_of_the_set(
    spark: Any, sales: Any, tmp_path: Path
) -> None:
    profiles = profilec.compile({"seen": JOINS["seen"]})
    profiles.documents.extend([{"brand": "Apex"}])
    assert written(spark, match(profiles, sales, columns=["id"]), tmp_path)[3] == [3, ["seen"]]
    frame = match(profiles, sales, "pairs", ["id"], documents=spark.sql("SELECT 'Acme' AS brand"))
    assert written(spark, frame, tmp_path) == [[0, "seen"], [2, "seen"]]


def test_what_does_not_fit_a_stream_is_told_before_it_starts(spark: Any, sales: Any) -> None:
    with pytest.raises(SparkMatchError, match="no column provides colour; the columns are id, price, brand"):
        match(profilec.compile({"red": "colour = 'red'"}), sales, missing="error")
    with pytest.raises(SparkMatchError, match="SCHEMA declares price as STRING, and the column is INT"):
        match(profilec.compile({"red": "price = 'red'"}, schema={"price": "STRING"}), sales)


def test_a_rate_source(spark: Any, tmp_path: Path) -> None:
    profiles = profilec.compile({"odd": "value % 2 = 1", "late": "timestamp > TIMESTAMP '2020-01-01 00:00:00'"})
    profilec.spark.register(spark, profiles, "match_rate", replace=True)
    rate = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
    rows: list[Any] = []
    frame = match(profiles, rate).selectExpr("value", "profiles", "match_rate(struct(value, timestamp)) AS again")
    query = frame.writeStream.foreachBatch(lambda batch, _: rows.extend(batch.collect())).start()
    deadline = time.monotonic() + 60
    while len(rows) < 100 and query.exception() is None and time.monotonic() < deadline:
        time.sleep(0.2)
    query.stop()
    assert len(rows) >= 100
    for row in rows:
        assert row.profiles == row.again == (["odd", "late"] if row.value % 2 else ["late"])


def test_what_comes_from_kafka(spark: Any, tmp_path: Path) -> None:
    """Without a broker: files of the columns that Kafka's source has."""
    texts = [json.dumps(row) for row in itertools.chain(*FILES)]
    rows = [(str(n).encode(), text.encode(), "sales", n % 2, n // 2, 0) for n, text in enumerate(texts)]
    columns = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestampType INT"
    frame = spark.createDataFrame([*rows, (b"5", None, "sales", 1, 2, 0)], columns)
    frame.selectExpr("*", "timestamp'2024-01-01 00:00:00' AS timestamp").write.parquet(str(tmp_path / "kafka"))
    records = spark.readStream.schema(spark.read.parquet(str(tmp_path / "kafka")).schema)
    records = records.parquet(str(tmp_path / "kafka"))
    profiles = profilec.compile(PROFILES)
    profilec.spark.register(spark, profiles, "match_kafka", replace=True)
    expected = [[str(n), ids] for n, ids in [*EXPECTED.items(), (5, [])]]
    text, key = "CAST(value AS STRING)", "CAST(key AS STRING) AS key"
    for document in (text, f"from_json({text}, '{SCHEMA}')", f"parse_json({text})"):
        frame = records.selectExpr(key, f"match_kafka({document}) AS profiles")
        assert written(spark, frame, tmp_path) == expected, document
    frame = match(profiles, records.selectExpr(key, f"from_json({text}, '{SCHEMA}') AS row").select("key", "row.*"))
    assert written(spark, frame.select("key", "profiles"), tmp_path) == expected
    for document, options in ((text, {"json": ["sale"]}), (f"parse_json({text})", {})):
        nested = profilec.compile({"cheap": "sale.price < 10", "offset": "partition = 0 AND offset >= 1"})
        frame = match(nested, records.selectExpr("*", f"{document} AS sale"), columns=["offset"], **options)
        assert written(spark, frame, tmp_path) == [
            [0, []], [0, ["cheap"]], [1, ["cheap"]], [1, ["offset"]], [2, []], [2, ["cheap", "offset"]],
        ]  # fmt: skip


def test_records_that_are_no_json(spark: Any) -> None:
    """As docs/spark.md says."""
    profilec.spark.register(spark, profilec.compile({"none": "price IS NULL"}), "match_texts", replace=True)
    for document in ("from_json(value, 'price INT')", "try_parse_json(value)"):
        assert spark.sql(f"SELECT match_texts({document}) FROM VALUES ('oops') AS t(value)").collect() == [(["none"],)]
    for document in ("value", "parse_json(value)"):
        with pytest.raises(Exception, match=r"is no JSON object|MALFORMED_RECORD_IN_PARSING"):
            spark.sql(f"SELECT match_texts({document}) FROM VALUES ('oops') AS t(value)").collect()


def test_another_image_at_the_path_is_used_from_the_next_micro_batch_on(spark: Any, tmp_path: Path) -> None:
    path, source = tmp_path / "set.image", tmp_path / "in"
    profilec.compile({"one": "price < 10"}).save(path)
    put(source, 0, FILES[0])
    query = process_stream(
        path, streamed(spark, source), output=tmp_path / "out", checkpoint=tmp_path / "at", columns=["id"]
    )
    try:
        query.processAllAvailable()
        profilec.compile({"two": "price > 10"}).save(path)
        put(source, 1, FILES[1])
        query.processAllAvailable()
    finally:
        query.stop()
    assert found_in(spark, tmp_path / "out") == {0: ["one"], 1: [], 2: ["two"]}


@pytest.mark.parametrize("mode", ["array", "explode", "pairs"])
def test_earlier_micro_batches_are_the_documents(spark: Any, sales: Any, tmp_path: Path, mode: str) -> None:
    profiles = profilec.compile(JOINS)
    process_stream(
        profiles, sales, output=tmp_path / "out", checkpoint=tmp_path / "at", documents=tmp_path / "documents",
        mode=mode, columns=["id"], trigger=NOW, query_name=f"joins_{mode}",
    ).awaitTermination()  # fmt: skip
    assert len(profiles.documents) == 0
    expected = processed(profiles, FILES)
    out = spark.read.parquet(str(tmp_path / "out"))
    if mode == "array":
        assert {row.id: row.profiles for row in out.collect()} == expected
    else:
        pairs = sorted((id_, name) for id_, names in expected.items() for name in names)
        assert sorted((row.id, row.profile) for row in out.collect()) == pairs
    documents = spark.read.parquet(str(tmp_path / "documents"))
    assert documents.columns == ["id", "price", "brand", "batch"]
    assert sorted(documents.select("batch", "id").collect()) == [(0, 0), (0, 1), (1, 2), (2, 3), (2, 4)]


def test_micro_batches_without_rows(spark: Any, sales: Any, tmp_path: Path) -> None:
    process_stream(
        profilec.compile(JOINS), sales.where("id > 2"), output=tmp_path / "out", checkpoint=tmp_path / "at",
        documents=tmp_path / "documents", trigger=NOW,
    ).awaitTermination()  # fmt: skip
    assert found_in(spark, tmp_path / "out") == {3: ["low", "cheap"], 4: ["low", "cheap"]}


def test_documents_that_are_read_anew_for_each_micro_batch(spark: Any, sales: Any, tmp_path: Path) -> None:
    known, found = [["Nobody"], ["Acme"], ["Apex"]], {}

    def output(matches: Any, batch: int) -> None:
        found[batch] = {row.id: row.profiles for row in matches.collect()}

    def documents(session: Any) -> Any:
        return session.createDataFrame([known[len(found)]], "brand STRING")

    profiles = profilec.compile({"seen": JOINS["seen"]})
    arguments: dict[str, Any] = {"output": output, "trigger": NOW}
    process_stream(
        profiles, sales, checkpoint=tmp_path / "at", documents=documents, **arguments
    ).awaitTermination()  # fmt: skip
    assert found == {0: {0: [], 1: []}, 1: {2: ["seen"]}, 2: {3: ["seen"], 4: []}}
    frame = documents_of_set = spark.createDataFrame([["Apex"]], "brand STRING")
    profiles.documents.extend(documents_of_set.toArrow())
    for number, given in enumerate((frame, None)):
        found.clear()
        checkpoint = tmp_path / f"at_{number}"
        process_stream(profiles, sales, checkpoint=checkpoint, documents=given, **arguments).awaitTermination()
        assert found == {0: {0: [], 1: []}, 1: {2: []}, 2: {3: ["seen"], 4: []}}


@pytest.fixture
def start(spark: Any, sales: Any, tmp_path: Path) -> Callable[..., Any]:
    """Runs a query over all that there is; its folders and checkpoint can be named otherwise."""

    def run(profiles: Any = JOINS, frame: Any = sales, **arguments: Any) -> None:
        given = {name: tmp_path / name for name in ("output", "checkpoint", "documents")} | arguments
        process_stream(profilec.compile(profiles), frame, trigger=NOW, **given).awaitTermination()

    return run


def test_folders_belong_to_a_checkpoint(start: Callable[..., Any], tmp_path: Path) -> None:
    start()
    start()  # goes on
    other, not_empty = tmp_path / "other", tmp_path / "not empty"
    with pytest.raises(SparkMatchError, match=r"the matches at .*/output are of the query \S+, and .* has begun none"):
        start(checkpoint=other)
    with pytest.raises(SparkMatchError, match=r"the documents at .*/documents are of the query .* has begun none"):
        start(checkpoint=other, output=tmp_path / "output 2")
    start(checkpoint=other, output=tmp_path / "output 2", documents=tmp_path / "documents 2")
    with pytest.raises(SparkMatchError, match=r"the matches at .*/output are of the query \S+, and .* is of \S+: name"):
        start(checkpoint=other)
    not_empty.mkdir()
    (not_empty / "file").touch()
    with pytest.raises(SparkMatchError, match="not empty, is not empty, and no query has begun it"):
        start(checkpoint=tmp_path / "third", output=not_empty, documents=None)


def test_documents_that_are_not_those_of_the_checkpoint_stop_the_query(
    start: Callable[..., Any], source: Path, tmp_path: Path
) -> None:
    from pyspark.errors import StreamingQueryException

    start(output=print)
    put(source, 3, FILES[0])
    with pytest.raises(
        StreamingQueryException, match="lacks the documents of the micro-batch 2, and the query is at 3"
    ):
        start(output=print, documents=tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "documents" / "batch=7").mkdir()
    with pytest.raises(
        StreamingQueryException, match="documents of the micro-batch 7, and the query is at 3: the chec"
    ):
        start(output=print)
    (tmp_path / "documents" / "batch=7").rmdir()
    start(output=print)
    assert sorted(path.name for path in (tmp_path / "documents").glob("batch=*"))[-1] == "batch=3"


def test_documents_can_be_put_together_while_the_query_is_stopped(
    spark: Any, start: Callable[..., Any], source: Path, tmp_path: Path
) -> None:
    """As docs/spark.md says."""
    start()
    documents = tmp_path / "documents"
    spark.read.parquet(str(documents)).drop("batch").coalesce(1).write.parquet(str(documents / "_compacted"))
    for name in ("batch=2", "batch=1", "batch=0"):
        shutil.rmtree(documents / name)
    put(source, 3, FILES[1])
    with pytest.raises(Exception, match="lacks the documents of the micro-batch 2"):
        start()
    (documents / "_compacted").rename(documents / "batch=2")
    start()
    assert sorted(path.name for path in documents.glob("batch=*")) == ["batch=2", "batch=3"]
    last = spark.read.parquet(str(tmp_path / "output" / "batch=3")).collect()
    assert [row.profiles for row in last] == [["seen"]]


def test_arguments(spark: Any, sales: Any, start: Callable[..., Any], tmp_path: Path) -> None:
    def refused(message: str, **arguments: Any) -> None:
        with pytest.raises((SparkMatchError, ValueError), match=re.escape(message)):
            start(**arguments)

    refused("df is no stream, as spark.readStream gives", frame=spark.sql("SELECT 1 AS price"))
    refused("a profile asks for LAST n documents", profiles={"p": "EXISTS d LAST 2 (d.price = price)"})
    loop = {"p": "EXISTS d (d.price < price AND d.id > id)"}
    schema = "SCHEMA (price NUMBER); PROFILE p WHERE EXISTS d (d.price = price);"
    tables = {"folder": tmp_path / "documents", "frame": spark.sql("SELECT 1 AS id, 2 AS price")}
    for documents in (*tables.values(), lambda spark: tables["frame"]):
        refused("several comparisons without an equality of the two documents are", profiles=loop, documents=documents)
    last = {"p": "EXISTS d LAST 2 (d.price = price)"}
    refused("LAST needs an order of documents", profiles=last, documents=tables["frame"])
    texts = spark.sql("SELECT '1' AS price")
    refused("documents: SCHEMA declares price as NUMBER, and the", profiles=schema, documents=texts)
    refused("documents: no column provides price", profiles=schema, documents=spark.sql("SELECT 1"), missing="error")
    refused("the matches have a column 'batch'", frame=sales.withColumn("Batch", sales.id))
    refused("the documents have a column 'batch'", frame=sales.withColumn("Batch", sales.id), columns=["id"])
    refused("share a folder: name two", documents=tmp_path / "output")
    refused("share a folder: name two", documents=tmp_path / "output" / "documents")
    refused("mode takes 'array', 'explode', 'pairs', not 'list'", mode="list")
    refused("no column provides colour", profiles={"red": "colour = 'red'"}, missing="error")
    refused("df has a column 'id' already", output_column="id")
    assert not (tmp_path / "checkpoint").exists()
