"""`collect_statistics`: planner statistics of a DataFrame, as an aggregation.

In: a DataFrame of documents. Out: `Statistics`. Each partition is sampled where it is; the samples, which are bounded
in documents and in bytes, are merged by workers, some partitions at a time, and the rest of them by the driver.

Invariant: the same rows in the same partitions give the same statistics; one partition gives those of
`Statistics.extend` with its rows.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from profilec.planner.statistics import Statistics
from profilec.planner.statistics.sample import CAPACITY
from profilec.runtime.arrow_values import is_supported
from profilec.runtime.columns import rows_at
from profilec.spark.any_values import is_variant
from profilec.spark.binding import Binding, Names, bind, expect_provided, expect_supported
from profilec.spark.errors import RowError, SparkMatchError
from profilec.spark.images import opened
from profilec.spark.places import by_place, names_of
from profilec.spark.schemas import arrow_schema_of, paths_of
from profilec.spark.session import expect_same_version, expect_session, own_version
from profilec.spark.sql_function import expect_one_of
from profilec.spark.type_names import type_of
from profilec.values.kinds import DocumentError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNSUPPORTED = ("warn", "error", "skip")
_MERGED_TOGETHER = 32
"""Partitions whose samples one worker merges: of 16 MiB each at most."""
_SAMPLE = pa.schema({"number": pa.int64(), "sample": pa.binary()})


def collect_statistics(
    df: DataFrame,
    *,
    profiles: Any = None,
    json: Collection[str] = (),
    unsupported: str = "warn",
    capacity: int = CAPACITY,
) -> Statistics:
    """What is known of the documents to come, of those of a DataFrame: for `statistics=` of `profilec.compile`, of
    `profilec.spark.compile` and of `ProfileSet.replan`. The same rows in the same partitions give the same statistics.

    Args:
        profiles: a set, or the path of one, as `match` takes it: only the columns that its profiles ask for are read,
            and they are named as profiles name them. Without, all columns are, by their own names: write these in
            profiles as the columns are written, for statistics know attributes by case.
        json: names of columns that hold JSON objects as text.
        unsupported: what to do where a column has a type that no document's value has, as BINARY: "warn" (it is left
            out), "error", or "skip". Columns that profiles ask for are refused always.
        capacity: how many documents are kept at most.

    Raises:
        SparkMatchError: a column is refused, or a row is no document; the message names it.
        ValueError: an argument is none of those named.
    """
    spark = expect_session(df.sparkSession)
    expect_one_of("unsupported", unsupported, UNSUPPORTED)
    Statistics(capacity)  # refuses what is no capacity
    if profiles is None:
        df = _supported(spark, df, unsupported)
    schema = arrow_schema_of(spark, df)
    if profiles is None:
        binding = _all_columns(schema, json)
    else:
        binding = bind(paths_of(opened(profiles)), schema, json)
        expect_supported(binding, schema)
        expect_provided(binding, schema.names, "warn")
    numbers = list(binding.columns)
    task = _Sample(binding.among(numbers), names_of(df.columns, numbers), capacity)
    samples = by_place(df, numbers).mapInArrow(task, "number bigint, sample binary")
    by_some = samples.groupBy((samples.number / _MERGED_TOGETHER).cast("int"))
    found = by_some.applyInArrow(_merged_together, "number bigint, sample binary").toArrow()
    return _merged(found) if found.num_rows else Statistics(capacity)


def _all_columns(schema: pa.Schema, json: Collection[str]) -> Binding:
    """Each column by its own name.

    Raises:
        SparkMatchError: as `bind`.
    """
    named = bind([(name,) for name in schema.names], schema, json)
    return Binding({number: Names() for number in named.columns}, (), {}, named.is_json, named.variants)


def _supported(spark: SparkSession, df: DataFrame, unsupported: str) -> DataFrame:
    """The columns that documents can have."""
    from pyspark.sql.types import StructType

    left_out = {}
    for number, field in enumerate(df.schema.fields):
        fault = _fault(arrow_schema_of(spark, StructType([field])).field(0))
        if fault is not None:
            left_out[number] = f"{field.name} ({fault})"
    if left_out and unsupported != "skip":
        text = f"no value of a document has the type of {', '.join(left_out.values())}"
        if unsupported == "error":
            raise SparkMatchError(f"{text}; CAST what is needed, or pass unsupported='skip', which leaves it out")
        warnings.warn(f"{text}: left out; CAST what is needed", stacklevel=3)
    kept = [number for number in range(len(df.columns)) if number not in left_out]
    return by_place(df, kept).toDF(*names_of(df.columns, kept)) if left_out else df


def _fault(field: pa.Field) -> str | None:
    """The type of a column, or within it, that no value of a document has."""
    kind = field.type
    if is_variant(kind):
        return None
    if not is_supported(kind):
        return type_of(field)
    return next(filter(None, (_fault(kind.field(number)) for number in range(kind.num_fields))), None)


class _Sample:
    """The statistics of one partition, as a row."""

    def __init__(self, binding: Binding, names: tuple[str, ...], capacity: int) -> None:
        self._binding, self._names = binding, names
        self._capacity = capacity
        self._version = own_version()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        expect_same_version(self._version)
        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        statistics = Statistics(self._capacity)
        try:
            for batch in batches:
                statistics.extend(batch.num_rows, partial(self._documents, batch, statistics.n_documents))
        except DocumentError as error:
            raise SparkMatchError(f"collect_statistics, partition {number}: {error}") from None
        if statistics.n_documents:
            yield _row(number, statistics)

    def _documents(self, batch: pa.RecordBatch, n_before: int, numbers: list[int]) -> Sequence[Any]:
        chosen = batch.take(pa.array(numbers, pa.int64()))
        try:
            documents = self._binding.documents(chosen.columns, self._names, len(numbers))
        except RowError as error:
            raise DocumentError(f"document {n_before + numbers[error.row]}: {error}") from None
        return documents if isinstance(documents, list) else rows_at(documents, range(len(numbers)))


def _row(number: int, statistics: Statistics) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"number": [number], "sample": [pickle.dumps(statistics)]}, schema=_SAMPLE)


def _merged_together(samples: pa.Table) -> pa.Table:
    """The samples of some partitions as one."""
    return pa.Table.from_batches([_row(min(samples.column("number").to_pylist()), _merged(samples))])


def _merged(samples: pa.Table) -> Statistics:
    """In the order of partitions, whichever came first."""
    ordered = samples.sort_by("number").column("sample")
    statistics: Iterator[Statistics] = (pickle.loads(sample.as_buffer()) for sample in ordered)
    return reduce(Statistics.merged, statistics)
