"""`--engine spark`: documents are read and matched by Spark, in a session of this command's own.

In: a set, and files of documents. Out: what each document matches, in the order of the input: files one after the
other, and within one in the order of its rows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from profilec.cli import terminal
from profilec.cli.sources import STDIN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from profilec.profileset import ProfileSet

ENGINES = ("local", "spark")
MASTER = "local[*]"
_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".csv": "csv",
    ".tsv": "csv",
}


def expect_engine(engine: str, of_local: Mapping[str, object], of_spark: Mapping[str, object]) -> None:
    """Ends the verb where there is no such engine, or where an option is given, by name, that goes with the other."""
    terminal.expect_choice("--engine", engine, ENGINES)
    if engine == "local":
        for name in [name for name, given in of_spark.items() if given is not None]:
            terminal.stop(f"{name} is of the engine spark: add --engine spark")
    else:
        for name in [name for name, given in of_local.items() if given]:
            terminal.stop(f"{name} goes with the engine local alone")


@contextmanager
def session(master: str) -> Iterator[SparkSession]:
    """A session that says nothing but errors; ends the verb where Spark cannot be had, or a job fails."""
    from profilec.spark.errors import SparkMatchError
    from profilec.spark.session import expect_java, expect_pyspark

    try:
        expect_pyspark()
        expect_java()
    except SparkMatchError as error:
        terminal.stop(str(error))
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
    builder = SparkSession.builder.master(master).appName("profilec")
    for name, value in quiet.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:  # what Spark raises for a wrong master is of py4j, or has no class of its own
        terminal.stop(f"Spark does not start with --master {master}: {_first_line(error)}")
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    except (SparkMatchError, PySparkException, Py4JError) as error:
        terminal.stop(_reason(error))
    finally:
        spark.stop()


def matched(
    spark: SparkSession, profiles: ProfileSet, paths: Sequence[str], input_format: str | None
) -> Iterator[tuple[int, list[int]]]:
    """Number, and indices of the profiles that match, of each document."""
    from pyspark.sql.functions import col, struct

    from profilec.spark import register

    match = register(spark, profiles, "match_documents", returns="ordinals")
    number = 0
    for path in paths:
        frame, is_text = _read(spark, path, input_format)
        document = col("value") if is_text else struct("*")
        for row in frame.select(match(document)).toLocalIterator(prefetchPartitions=True):
            yield number, row[0]
            number += 1


def explained(
    spark: SparkSession, profiles: ProfileSet, documents: str, earlier: Sequence[str], allow_nested_loop: bool
) -> str:
    """The set's plan, and Spark's for documents like those of a file, with the earlier ones of others."""
    from functools import reduce

    from profilec.spark import SparkMatchError, explain

    frames = [_columns(spark, path) for path in (documents, *earlier)]
    joined = (
        reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames[1:]) if earlier else None
    )
    try:
        return explain(profiles, frames[0], joined, allow_nested_loop=allow_nested_loop)
    except SparkMatchError as error:  # which names options as Python writes them
        raise SparkMatchError(str(error).replace("allow_nested_loop=True", "--allow-nested-loop")) from None


def _columns(spark: SparkSession, path: str) -> DataFrame:
    """Documents as columns, those of JSON too."""
    frame, is_text = _read(spark, path, None)
    return spark.read.json(path) if is_text else frame


def _read(spark: SparkSession, path: str, input_format: str | None) -> tuple[DataFrame, bool]:
    """The documents of a file or folder; whether they are lines of JSON in the column `value`."""
    if path == STDIN:
        terminal.stop("--engine spark reads files, and no standard input")
    format_ = input_format or _FORMATS.get(Path(path).suffix.lower())
    if format_ is None and Path(path).is_dir():
        format_ = next(
            (_FORMATS[file.suffix] for file in sorted(Path(path).iterdir()) if file.suffix in _FORMATS), None
        )
    if format_ not in ("parquet", "ndjson", "csv"):
        terminal.stop(f"{path}: --engine spark reads NDJSON, CSV and Parquet; --input-format says which this is")
    if format_ == "parquet":
        return spark.read.parquet(path), False
    if format_ == "csv":
        separator = "\t" if path.endswith(".tsv") else ","
        return spark.read.csv(path, header=True, inferSchema=True, sep=separator, multiLine=True, escape='"'), False
    return spark.read.text(path).where("trim(value) <> ''"), True


def _reason(error: Exception) -> str:
    """Of what a worker raised, the message alone."""
    marker = "SparkMatchError: "
    text = str(error)
    if marker in text:
        return text.rpartition(marker)[2].strip().partition("\n")[0]
    return _first_line(error)


def _first_line(error: Any) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
