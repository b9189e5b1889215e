"""`process_stream`: a streaming query that matches, and whose earlier micro-batches can be the documents of joins.

In: a set, and a streaming DataFrame. Out: a query, which for each micro-batch

    1. reads the documents: those of the micro-batches with smaller ids, or what a function gives
    2. matches the rows against them: never against rows of its own micro-batch, nor of a failed attempt at one
    3. writes the matches, in the place of what a failed attempt wrote
    4. adds the rows to the documents, likewise

Invariant: Spark begins a micro-batch again, with the same id and the same rows, unless its end is in the checkpoint;
since 3 and 4 write by the id, and 1 reads below it, the state after the end does not depend on how often it was begun.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from profilec.profileset import ProfileSet
from profilec.runtime.imagefile.container import is_image
from profilec.spark.batch_folders import BATCH, BatchFolder, query_of
from profilec.spark.data_frame import match as match_rows
from profilec.spark.errors import SparkMatchError
from profilec.spark.images import opened
from profilec.spark.join_frames import expect_joins
from profilec.spark.schemas import images_of
from profilec.spark.session import expect_session
from profilec.spark.sharded_set import ShardedSet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    Output: TypeAlias = str | os.PathLike[str] | Callable[[DataFrame, int], Any]
    Documents: TypeAlias = str | os.PathLike[str] | DataFrame | Callable[[SparkSession], DataFrame]


def process_stream(
    profiles: Any,
    df: DataFrame,
    *,
    output: Output,
    checkpoint: str | os.PathLike[str],
    documents: Documents | None = None,
    mode: str = "array",
    columns: Sequence[str] | None = None,
    output_column: str | None = None,
    missing: str = "warn",
    returns: str = "ids",
    json: Collection[str] = (),
    ship_by: str = "auto",
    directory: str | None = None,
    allow_nested_loop: bool = False,
    phase_order: str | None = None,
    trigger: Mapping[str, Any] | None = None,
    query_name: str | None = None,
) -> StreamingQuery:
    """Starts a query that matches the rows of a stream, each once, also where it is ended and started again.

    Args:
        df: a streaming DataFrame whose source can be read again: files, Kafka, a table.
        output: where matches go: a folder of Parquet, in which each micro-batch is a folder `batch=ID`; or a function
            of the matches of a micro-batch and its id, which may be called again for an id after a failure.
        checkpoint: the query's checkpoint, which with the same folders goes on where it ended.
        documents: the earlier documents that quantified joins range over. A folder: the rows of all earlier
            micro-batches, which are kept there as Parquet, each exactly once. A function of the session that gives a
            DataFrame: called for each micro-batch. A DataFrame: that. None: those of the set, as they are now.
        mode, columns, missing, returns, json, ship_by, directory, allow_nested_loop, phase_order: as of `match`;
            `output_column`: its `output`.
        trigger: as of `DataStreamWriter.trigger`: {"processingTime": "10 seconds"}, {"availableNow": True}.
        query_name: the query's name.

    Raises:
        SparkMatchError: `df` is no stream, or does not fit the set; or a folder is not that of the checkpoint.
        ValueError, ProfileError, ImageError, OSError: as of `match`.
    """
    spark = expect_session(df.sparkSession)
    if not df.isStreaming:
        raise SparkMatchError("df is no stream, as spark.readStream gives: profilec.spark.match matches it")
    if isinstance(profiles, str | os.PathLike) and not is_image(profiles):
        profiles = opened(profiles)  # text is compiled once
    options: dict[str, Any] = {
        "mode": mode, "columns": columns, "output": output_column, "returns": returns, "json": json,
        "ship_by": ship_by, "directory": directory, "allow_nested_loop": allow_nested_loop, "phase_order": phase_order,
    }  # fmt: skip
    matched = match_rows(profiles, df, missing=missing, **options)
    if documents is not None:
        _expect_joins(opened(profiles), df, documents, missing, json, allow_nested_loop)
    checkpoint = os.fspath(checkpoint)
    writes = None if callable(output) else _folder(spark, output, "matches", matched)
    keeps = _folder(spark, documents, "documents", df) if isinstance(documents, str | os.PathLike) else None
    if writes is not None and keeps is not None:
        _expect_apart(writes.path, keeps.path)
    query = query_of(spark, checkpoint)
    for folder in filter(None, (writes, keeps)):
        folder.expect_of(query, checkpoint)
    process = _Process(profiles, options, checkpoint, writes or output, keeps or documents)
    writer = (matched if documents is None else df).writeStream.foreachBatch(process)
    writer = writer.option("checkpointLocation", checkpoint)
    if trigger is not None:
        writer = writer.trigger(**trigger)
    if query_name is not None:
        writer = writer.queryName(query_name)
    return writer.start()


@dataclass(slots=True)
class _Process:
    """What is done with each micro-batch. Without documents, it has been matched."""

    profiles: Any
    options: Mapping[str, Any]
    checkpoint: str
    output: Any
    """A `BatchFolder`, or a function."""
    documents: Any
    """A `BatchFolder`, a function, a DataFrame, or None."""
    has_begun: bool = False

    def __call__(self, rows: DataFrame, id_: int) -> None:
        if not self.has_begun:
            self._begin(rows.sparkSession, id_)
        match self.documents:
            case None:
                self._write(rows, id_)
            case BatchFolder() as folder:
                earlier = folder.before(id_, rows)
                aside = folder.write_aside(rows, id_)
                kept = rows.sparkSession.read.schema(rows.schema).parquet(aside)  # the source is read once
                self._write(self._matched(kept, earlier), id_)
                folder.publish(aside, id_)
            case documents:
                known = documents(rows.sparkSession) if callable(documents) else documents
                self._write(self._matched(rows, known), id_)

    def _begin(self, spark: SparkSession, id_: int) -> None:
        """Raises SparkMatchError where a folder is not that of the query, or not of this point of it."""
        query = query_of(spark, self.checkpoint)
        if query is None:
            raise SparkMatchError(f"the checkpoint at {self.checkpoint} names no query: it has no file `metadata`")
        if isinstance(self.documents, BatchFolder):
            self.documents.expect_before(id_)  # ahead of the first word that is written
        for folder in (self.output, self.documents):
            if isinstance(folder, BatchFolder):
                folder.begin(query, self.checkpoint, id_)
        self.has_begun = True

    def _matched(self, rows: DataFrame, documents: DataFrame) -> DataFrame:
        profiles = opened(self.profiles)
        if isinstance(self.documents, BatchFolder):
            _expect_no_order(profiles)  # the image at a path may have become another
        return match_rows(profiles, rows, documents=documents, missing="null", **self.options)

    def _write(self, matches: DataFrame, id_: int) -> None:
        if isinstance(self.output, BatchFolder):
            self.output.publish(self.output.write_aside(matches, id_), id_)
        else:
            self.output(matches, id_)


def _folder(spark: SparkSession, path: str | os.PathLike[str], what: str, rows: DataFrame) -> BatchFolder:
    """Raises SparkMatchError where a column has the name that the folder's readers have for the micro-batch."""
    if BATCH in map(str.lower, rows.columns):
        raise SparkMatchError(
            f"the {what} have a column {BATCH!r}, and so names their folder the micro-batch: rename it"
        )
    return BatchFolder(spark, os.fspath(path), what)


def _expect_apart(output: str, documents: str) -> None:
    if f"{output}/".startswith(f"{documents}/") or f"{documents}/".startswith(f"{output}/"):
        raise SparkMatchError(f"output={output!r} and documents={documents!r} share a folder: name two")


def _expect_joins(
    profiles: ProfileSet | ShardedSet,
    df: DataFrame,
    documents: Documents,
    missing: str,
    json: Collection[str],
    allow_nested_loop: bool,
) -> None:
    """Raises SparkMatchError where joins will not range over documents, as far as that is known ahead of the first
    micro-batch: of what a function gives no column is."""
    known: DataFrame | None = None
    if isinstance(documents, str | os.PathLike):
        _expect_no_order(profiles)
        known = df
    elif not callable(documents):
        known = documents
    expect_joins(profiles, df, known, missing=missing, json=json, allow_nested_loop=allow_nested_loop)


def _expect_no_order(profiles: ProfileSet | ShardedSet) -> None:
    """Raises SparkMatchError where a profile asks for the last documents: rows of a micro-batch have no order."""
    if any(join.last is not None for image in images_of(profiles) for join in image.joins):
        raise SparkMatchError("a profile asks for LAST n documents, and rows of a stream have no order: use WITHIN")
