"""DataFrames of joins: new rows with what the earlier documents tell of them.

In: a set, new rows and earlier documents. Out: new rows with a column for each lookup, what its relation has for them.

    MapInArrow  matches                                    (`data_frame`)
      BroadcastHashJoin or SortMergeJoin, LeftOuter        by key, one for each lookup
        MapInArrow  keys of the new rows
        SortAggregate  by key                              one for each relation; an Exchange between its halves
          MapInArrow  rows of the relation
            the documents, of them the columns that are read

A relation without a key is a scalar subquery. One with keys has a row for each, so that no join adds or loses new rows.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from profilec.planner.lower.describe import describe_join
from profilec.profileset import ProfileSet
from profilec.runtime.joins.literals import Literals
from profilec.runtime.joins.order import CONSTANT_FIRST, JOIN_FIRST
from profilec.spark.binding import Binding, bind
from profilec.spark.errors import RowError, SparkMatchError
from profilec.spark.images import Shipped, ship
from profilec.spark.join_plan import COMPARED, JoinPlan
from profilec.spark.join_tasks import JoinedSet, KeysTask, RelationTask, earlier_paths
from profilec.spark.places import by_place, names_of
from profilec.spark.relations import Relation
from profilec.spark.schemas import arrow_schema_of, check_documents
from profilec.spark.sharded_set import ShardedSet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_UNSHIPPED = Shipped("", "", "", False, "")


class Joins(NamedTuple):
    """A set whose joins range over `documents`, as it was shipped, and how they are asked."""

    profiles: ProfileSet
    joined: JoinedSet
    plan: JoinPlan
    documents: DataFrame
    phase_order: str


def join_plan_of(
    profiles: ProfileSet, df: DataFrame, documents: DataFrame, missing: str, json: Collection[str]
) -> tuple[JoinedSet, JoinPlan]:
    """How the joins of a set, not shipped yet, range over a DataFrame of earlier documents.

    Raises:
        SparkMatchError: it does not fit the set.
    """
    earlier = arrow_schema_of(df.sparkSession, documents)
    earlier_json = tuple(name for name in json if name in earlier.names)
    json = tuple(name for name in json if name in df.columns or name not in earlier_json)
    check_documents(profiles, earlier, earlier_json, missing)
    joined = JoinedSet(_UNSHIPPED, arrow_schema_of(df.sparkSession, df), earlier, json, earlier_json)
    return joined, joined.plan(profiles._image)


def plan_joins(
    profiles: ProfileSet,
    df: DataFrame,
    documents: DataFrame,
    *,
    missing: str,
    json: Collection[str],
    ship_by: str,
    directory: str | None,
    allow_nested_loop: bool,
    phase_order: str | None,
) -> Joins:
    """The same, shipped. Where joins are left to a nested loop, and that is allowed, the documents are collected.

    Raises:
        SparkMatchError: joins are left, or the DataFrames do not fit the set.
    """
    joined, plan = join_plan_of(profiles, df, documents, missing, json)
    _expect_decided(profiles, plan, allow_nested_loop)
    own = ProfileSet(profiles._parts)
    if plan.left:
        paths = earlier_paths(own._image)
        _collect(own, documents, bind(paths, joined.earlier, joined.earlier_json))
    _, shipped = ship(df.sparkSession, own, "match", ship_by, directory)
    order = phase_order or default_order(profiles)
    return Joins(own, joined._replace(shipped=shipped), plan, documents, order)


def expect_joins(
    profiles: ProfileSet | ShardedSet,
    df: DataFrame,
    documents: DataFrame | None,
    *,
    missing: str,
    json: Collection[str],
    allow_nested_loop: bool,
) -> None:
    """What `match` refuses of joins, while there are no documents yet. `documents`: a DataFrame with their columns,
    None where these are not known.

    Raises:
        SparkMatchError: joins are left, or the DataFrames do not fit the set.
    """
    if isinstance(profiles, ShardedSet):  # matches with documents that are collected
        return
    if not profiles.plan.n_joins:
        return
    if documents is None:
        plan = JoinPlan(profiles._image, lambda _: COMPARED, lambda _: COMPARED)  # what is left, kinds do not tell
    else:
        _, plan = join_plan_of(profiles, df, documents, missing, json)
    _expect_decided(profiles, plan, allow_nested_loop)


def default_order(profiles: ProfileSet) -> str:
    """The phase that goes first where the caller does not say: as the set's options say, else the constants, where some
    entry with joins has any."""
    image = profiles._image
    asks = np.diff(Literals.of_image(image).of(np.arange(image.n_entries, dtype=np.int32))[1]) > 0
    has_constants = bool((np.diff(image.entry_off)[asks] > 0).any())
    return profiles.plan.phase_order or (CONSTANT_FIRST if has_constants else JOIN_FIRST)


def _expect_decided(profiles: ProfileSet, plan: JoinPlan, allow_nested_loop: bool) -> None:
    for left in plan.left:
        if left.can_loop and allow_nested_loop:
            continue
        term = int(plan.rows[left.row].terms[0])
        remedy = "add an equality, as in d.user = user, or pass allow_nested_loop=True, which collects the documents"
        if not left.can_loop:
            remedy = "say WITHIN, or give the last documents alone: documents.orderBy(...).limit(n), and no LAST"
        raise SparkMatchError(
            f"profile {_profile_of(profiles, term)!r}: {describe_join(profiles._image, term)}: {left.reason}; {remedy}"
        )


def _profile_of(profiles: ProfileSet, term: int) -> str:
    """The id of the first profile that has the term."""
    image = profiles._image
    numbers, cut = Literals.of_image(image).of(np.arange(image.n_entries, dtype=np.int32))
    entries = np.searchsorted(cut, np.flatnonzero(numbers >> 1 == term), side="right") - 1
    off, found = image.entry_profile_off, image.entry_profiles
    return profiles.ids[min(int(one) for entry in entries for one in found[off[entry] : off[entry + 1]])]


def with_documents(
    profiles: ProfileSet | ShardedSet, documents: DataFrame, missing: str, json: Collection[str]
) -> ProfileSet | ShardedSet:
    """The set with these earlier documents, all of which are collected.

    Raises:
        SparkMatchError: they do not fit the set.
    """
    known = ShardedSet(profiles.manifest) if isinstance(profiles, ShardedSet) else ProfileSet(profiles._parts)
    schema = arrow_schema_of(documents.sparkSession, documents)
    json = tuple(name for name in json if name in schema.names)
    _collect(known, documents, check_documents(profiles, schema, json, missing))
    return known


def _collect(profiles: ProfileSet | ShardedSet, documents: DataFrame, binding: Binding) -> None:
    """Gives the set the documents. `binding`: of all that it reads of them."""
    numbers = list(binding.columns)
    own, names = binding.among(numbers), names_of(documents.columns, numbers)
    for batch in by_place(documents, numbers).toArrow().to_batches():
        try:
            rows = own.documents(batch.columns, names, batch.num_rows)
        except RowError as error:
            raise SparkMatchError(f"documents, row {error.row:,} of a batch: {error}") from None
        profiles.documents.extend(rows)


def with_lookups(joins: Joins, own: DataFrame, names: tuple[str, ...]) -> DataFrame:
    """New rows, their columns by number, and a column for each lookup. `names`: of these columns before."""
    from pyspark.sql.functions import col
    from pyspark.sql.types import BinaryType, StructField, StructType

    columns, frame, lookups = own.columns, own, joins.plan.lookups
    if any(lookup.keys for lookup in lookups):
        fields = [StructField(f"k{number}", BinaryType()) for number, lookup in enumerate(lookups) if lookup.keys]
        task = KeysTask(joins.joined, names, joins.phase_order == CONSTANT_FIRST)
        frame = frame.mapInArrow(task, StructType([*frame.schema.fields, *fields]))
    relations = [_aggregated(joins, number) for number in range(len(joins.plan.relations))]
    for number, lookup in enumerate(lookups):
        relation = relations[lookup.relation]
        if not lookup.keys:
            frame = frame.withColumn(f"l{number}", relation.select("found").scalar())
            continue
        renamed = relation.select(col("key").alias(f"g{number}"), col("found").alias(f"l{number}"))
        frame = frame.join(renamed, col(f"k{number}") == col(f"g{number}"), "left_outer")
    return frame.select(*columns, *(f"l{number}" for number in range(len(lookups))))


def _aggregated(joins: Joins, number: int) -> DataFrame:
    """A relation: its key, if it has one, and a struct, `found`."""
    from pyspark.sql.functions import expr, struct

    relation = joins.plan.relations[number]
    read = by_place(joins.documents, list(joins.joined.binding(joins.profiles._image, relation).columns))
    rows = read.mapInArrow(RelationTask(joins.joined, number), _schema_of(relation, read))
    aggregates = {
        **{f"w{place}": f"bit_or(w{place})" for place in range(relation.n_words)},
        **{f"e{place}": f"{one.function}(v{one.values})" for place, one in enumerate(relation.extremes)},
        **{f"d{place}": f"collect_list(d{place})" for place in range(len(relation.walked))},
    }
    columns = [expr(aggregate).alias(name) for name, aggregate in aggregates.items()]
    if relation.keys:
        return rows.groupBy("key").agg(*columns).select("key", struct(*aggregates).alias("found"))
    return rows.agg(*columns).select(struct(*aggregates).alias("found"))


def _schema_of(relation: Relation, read: DataFrame) -> Any:
    """Of the rows of a relation; see `join_rows.relation_columns`."""
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    return StructType(
        [
            *([StructField("key", BinaryType())] if relation.keys else []),
            *(StructField(f"w{place}", LongType()) for place in range(relation.n_words)),
            *(StructField(f"v{place}", BinaryType()) for place in range(len(relation.values))),
            *(StructField(f"d{place}", StructType(read.schema.fields)) for place in range(len(relation.walked))),
        ]
    )
