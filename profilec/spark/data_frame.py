"""`match`: the profiles that each row of a DataFrame matches, as a DataFrame.

In: a set, and a DataFrame. Out: its rows with their matches, by `mapInArrow`: nothing is shuffled, and only the columns
that profiles ask for, or that are kept, are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from profilec.runtime.arrow_values import arrow_of
from profilec.runtime.batch import MatchBatch
from profilec.runtime.joins.order import PHASE_ORDERS
from profilec.runtime.program import Parts
from profilec.spark.calls import MatchCall, lists_of
from profilec.spark.errors import SparkMatchError
from profilec.spark.images import ONLY, Shipped, opened, ship
from profilec.spark.join_frames import plan_joins, with_documents, with_lookups
from profilec.spark.join_tasks import JoinedTask
from profilec.spark.places import by_place, named, names_of
from profilec.spark.schemas import arrow_schema_of, check_schema
from profilec.spark.session import expect_session
from profilec.spark.sharded_set import ShardedSet
from profilec.spark.sql_function import MISSING, RETURNS, expect_one_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MODES = ("array", "explode", "pairs")


def match(
    profiles: Any,
    df: DataFrame,
    mode: str = "array",
    columns: Sequence[str] | None = None,
    *,
    documents: DataFrame | None = None,
    allow_nested_loop: bool = False,
    phase_order: str | None = None,
    output: str | None = None,
    missing: str = "warn",
    returns: str = "ids",
    json: Collection[str] = (),
    ship_by: str = "auto",
    directory: str | None = None,
    shards: int | None = None,
) -> DataFrame:
    """The rows of a DataFrame, with the profiles that they match.

    Args:
        profiles: a `ProfileSet`, or the path of an image, of .prof files, or of the folder that `shard` made.
        mode: "array": a row for each row, with the column `profiles`, an array; "explode": a row for each match, with
            the column `profile`; "pairs": as "explode", of the columns that are named alone.
        columns: those of `df` that are kept; None for all, with "pairs" for an error: there they say which row it is.
        documents: the earlier documents that quantified joins range over, aggregated and joined by Spark (rows may then
            come in another order; with shards, they are collected); None for those of the set.
        allow_nested_loop: let what no equality of `documents` and `df` narrows down be asked of each pair: the
            documents are collected, and sent to all workers.
        phase_order: with `documents`, "constant_first" to join only rows whose constants hold for some profile with
            joins, "join_first" for all rows; None for the first where some of these profiles have constants.
        output: the name of the new column, where it is to be another.
        missing, returns, json, ship_by, directory, shards: as of `register`.

    Raises:
        SparkMatchError: the DataFrame lacks a column, or has one that contradicts the set.
        ValueError: an argument is none of those named.
        ProfileError, ImageError, OSError: the profiles cannot be compiled or loaded.
    """
    from pyspark.sql.types import StructField, StructType

    spark = expect_session(df.sparkSession)
    expect_one_of("mode", mode, MODES)
    expect_one_of("missing", missing, MISSING)
    expect_one_of("returns", returns, tuple(RETURNS))
    if phase_order is not None:
        expect_one_of("phase_order", phase_order, PHASE_ORDERS)
    if mode == "pairs" and columns is None:
        raise ValueError("mode='pairs' needs columns=[...], those that say which row it is")
    joins = None
    if documents is not None:
        profiles = opened(profiles)
        if shards is not None or isinstance(profiles, ShardedSet):
            profiles = with_documents(profiles, documents, missing, json)
            json = [name for name in json if name in df.columns or name not in documents.columns]
        elif profiles.plan.n_joins:
            joins = plan_joins(
                profiles,
                df,
                documents,
                missing=missing,
                json=json,
                ship_by=ship_by,
                directory=directory,
                allow_nested_loop=allow_nested_loop,
                phase_order=phase_order,
            )
    if joins is None:
        profile_set, shipped = ship(spark, profiles, "match", ship_by, directory, shards)
    else:
        profile_set, shipped, json = joins.profiles, joins.joined.shipped, joins.joined.json
    binding = check_schema(profile_set, arrow_schema_of(spark, df), json, missing)
    kept = _kept(df.columns, columns)
    output = output or ("profiles" if mode == "array" else "profile")
    if output.lower() in [df.columns[number].lower() for number in kept]:
        raise SparkMatchError(f"df has a column {output!r} already: name the new one with output=, or leave that out")
    read = sorted({*binding.columns, *kept})
    array = StructType.fromDDL(f"found {RETURNS[returns]}").fields[0].dataType
    new = StructField(output, array if mode == "array" else array.elementType)
    schema = StructType([*(df.schema.fields[number] for number in kept), new])
    own, names = by_place(df, read), names_of(df.columns, read)
    answer = _Answer(returns, mode == "array", tuple(read.index(number) for number in kept))
    if joins is None:
        task = _Task(shipped, names, tuple(json), binding.missing, answer)
        return own.mapInArrow(task, schema)
    return with_lookups(joins, own, names).mapInArrow(JoinedTask(joins.joined, names, answer), schema)


class _Answer:
    """What is given of a batch: a list of matches for each row, or a row for each match; with the columns `kept`."""

    def __init__(self, returns: str, is_array: bool, kept: tuple[int, ...]) -> None:
        self.returns, self._is_array, self._kept = returns, is_array, kept

    def __call__(self, batch: pa.RecordBatch, found: MatchBatch) -> pa.RecordBatch:
        kept = [batch.column(number) for number in self._kept]
        answers = lists_of(found, self.returns)
        if not self._is_array:
            rows = arrow_of(np.repeat(np.arange(batch.num_rows), np.diff(found.offsets)))
            kept, answers = [column.take(rows) for column in kept], answers.flatten()
        columns = [*kept, answers]  # Spark takes them by place
        return pa.RecordBatch.from_arrays(columns, names=[f"c{number}" for number in range(len(columns))])


class _Task:
    """What runs in a worker for one partition."""

    def __init__(
        self,
        shipped: Shipped,
        names: tuple[str, ...],
        json: tuple[str, ...],
        missing: tuple[Parts, ...],
        answer: _Answer,
    ) -> None:
        """`names`: of the columns; `missing`: the paths that none of them provides."""
        self._call = MatchCall("match", {ONLY: shipped}, json, missing, answer.returns)
        self._names, self._answer = names, answer

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in self._call.blocks(ONLY, (named(given, self._names) for given in batches)):
            found = self._call.asked(ONLY, batch, lambda opened, documents: opened.match(documents))
            self._call.passed(batch.num_rows)
            yield self._answer(batch, found)


def _kept(names: Sequence[str], wanted: Sequence[str] | None) -> list[int]:
    """The numbers of the columns that are kept."""
    if wanted is None:
        return list(range(len(names)))
    if isinstance(wanted, str):
        raise TypeError(f"columns takes a list of names, not {wanted!r}")
    for name in wanted:
        if list(names).count(name) != 1:
            problem = "two columns have that name" if name in names else f"df has {', '.join(names)}"
            raise SparkMatchError(f"columns= names {name!r}: {problem}")
    return [list(names).index(name) for name in wanted]
