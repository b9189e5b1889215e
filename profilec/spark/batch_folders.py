"""Folders of Parquet that a streaming query writes, one micro-batch after the other.

In: micro-batches by their ids. Out: each as a folder `batch=ID`, which is there whole or not at all:

    documents/
      _query-5f0c…      of which query they are, as its checkpoint says
      _temporary/…      what is being written, or was when a query ended; readers of Parquet pass it over
      batch=0/part-…    the rows of the micro-batch 0
      batch=1/part-…

A micro-batch is written aside and then renamed, in the place of what an earlier attempt at it left. Any file system of
Spark's will do; where renaming is no single step, as in object stores, others than the query may see a part of the
newest micro-batch.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from profilec.spark.errors import SparkMatchError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BATCH = "batch"
_QUERY = "_query-"
_TEMPORARY = "_temporary"


class BatchFolder:
    """The micro-batches of one query at a path. `what`: what they are, for messages."""

    def __init__(self, spark: SparkSession, path: str, what: str) -> None:
        self._what = what
        self._files = _file_system(spark, path)
        self._hadoop = _hadoop(spark)
        self._path_of = self._hadoop.Path
        self.path = str(self._files.makeQualified(self._path_of(path)))

    def expect_of(self, query: str | None, checkpoint: str) -> None:
        """Raises SparkMatchError where the folder is not that of the checkpoint's query. `query`: the id of this; None
        where it has not begun."""
        names = self._names()
        others = _owners(names) - {query}
        if others:
            is_of = "has begun none" if query is None else f"is of {query}"
            raise SparkMatchError(
                f"the {self._what} at {self.path} are of the query {min(others)}, and the checkpoint at {checkpoint} "
                f"{is_of}: name the checkpoint that they were written with, or another folder"
            )
        if not _owners(names) and not all(name.startswith(("_", ".")) for name in names):
            raise SparkMatchError(
                f"the folder of {self._what}, {self.path}, is not empty, and no query has begun it: name another"
            )

    def begin(self, query: str, checkpoint: str, batch: int) -> None:
        """Looks whether the query can be at this micro-batch, and writes down that the folder is of it.

        Raises:
            SparkMatchError: the folder is of another query, or holds micro-batches after this one.
        """
        self.expect_of(query, checkpoint)
        names = self._names()
        if not _owners(names):
            self._files.createNewFile(self._path_of(self.path, _QUERY + query))
        last = max(_ids(names), default=-1)
        if last > batch:
            raise SparkMatchError(
                f"{self.path} holds {self._what} of the micro-batch {last}, and the query is at {batch}: the "
                f"checkpoint is older; to go back to it, remove the folders from {BATCH}={batch} to {BATCH}={last}"
            )

    def expect_before(self, batch: int) -> None:
        """Raises SparkMatchError where the micro-batch before this one is not there."""
        if batch > 0 and not self._exists(self._at(batch - 1)):
            raise SparkMatchError(
                f"{self.path} lacks the {self._what} of the micro-batch {batch - 1}, and the query is at {batch}: put "
                f"the folder back that belongs to the checkpoint, or begin anew with another checkpoint"
            )

    def before(self, batch: int, like: DataFrame) -> DataFrame:
        """The rows of the micro-batches before this one, with the columns of `like`.

        Raises:
            SparkMatchError: the one before is not there.
        """
        self.expect_before(batch)
        from pyspark.sql.types import LongType, StructType

        schema = StructType([*like.schema.fields]).add(BATCH, LongType())
        return like.sparkSession.read.schema(schema).parquet(self.path).where(f"{BATCH} < {batch}").drop(BATCH)

    def write_aside(self, rows: DataFrame, batch: int) -> str:
        """Writes a micro-batch where no reader looks; the path."""
        aside = self._aside(batch)
        rows.write.parquet(aside)
        return aside

    def publish(self, aside: str, batch: int) -> None:
        """Makes what was written aside the micro-batch of this id, and removes what else was left aside.

        Raises:
            SparkMatchError: it is there no longer, or the file system does not rename it.
        """
        if not self._exists(aside):
            raise SparkMatchError(f"{aside} is gone: a query that was started with the same checkpoint removed it")
        if self._exists(self._at(batch)):
            self._rename(self._at(batch), self._aside(batch))
        self._rename(aside, self._at(batch))
        self._files.delete(self._path_of(self.path, _TEMPORARY), True)

    def _rename(self, source: str, target: str) -> None:
        if not self._files.rename(self._path_of(source), self._path_of(target)):
            raise SparkMatchError(f"{source} could not be renamed to {target}")

    def _at(self, batch: int) -> str:
        return f"{self.path}/{BATCH}={batch}"

    def _aside(self, batch: int) -> str:
        return f"{self.path}/{_TEMPORARY}/{batch}-{uuid4().hex}"

    def _exists(self, path: str) -> bool:
        return bool(self._files.exists(self._path_of(path)))

    def _names(self) -> list[str]:
        """PERF: each takes two calls of Java's, and there may be thousands: once for each start is enough."""
        if not self._exists(self.path):
            return []
        statuses = self._files.listStatus(self._path_of(self.path))
        return [path.getName() for path in self._hadoop.FileUtil.stat2Paths(statuses)]


def query_of(spark: SparkSession, checkpoint: str) -> str | None:
    """The id of the query that a checkpoint is of, which it keeps for good; None where it has not begun."""
    path = _hadoop(spark).Path(checkpoint, "metadata")
    files = _file_system(spark, checkpoint)
    if not files.exists(path):
        return None
    java: Any = spark._jvm
    reader = java.java.io.BufferedReader(java.java.io.InputStreamReader(files.open(path), "UTF-8"))
    try:
        return str(json.loads(reader.readLine())["id"])
    finally:
        reader.close()


def _hadoop(spark: SparkSession) -> Any:
    java: Any = spark._jvm
    return java.org.apache.hadoop.fs


def _file_system(spark: SparkSession, path: str) -> Any:
    session: Any = spark._jsparkSession
    return _hadoop(spark).Path(path).getFileSystem(session.sessionState().newHadoopConf())


def _owners(names: list[str]) -> set[str]:
    return {name.removeprefix(_QUERY) for name in names if name.startswith(_QUERY)}


def _ids(names: list[str]) -> list[int]:
    parts = [name.partition("=") for name in names]
    return [int(id_) for key, _, id_ in parts if key == BATCH and id_.isdigit()]
