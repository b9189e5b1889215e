"""`compile`: the profiles of a DataFrame as a set; `check`: what is wrong with them, as a DataFrame.

In: a DataFrame with a row for each profile. Out: a `ProfileSet`, or rows of diagnostics. Workers parse and normalize;
what they send back, a normal form or diagnostics for each row, is what the compiler's own worker processes answer, and
the driver lowers it.

Invariant: the set is that of `profilec.compile` of the same ids and conditions in the same order.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from profilec.compilation import Compilation, collector_paused
from profilec.grammar.diagnostics import Diagnostic, ProfileError
from profilec.grammar.statements import ProfileStatement
from profilec.planner.calibration import default_units
from profilec.planner.options import Options
from profilec.planner.schema import schema_from
from profilec.planner.sources import Parsed
from profilec.planner.workers import read_condition
from profilec.profileset import ProfileSet
from profilec.profileset import compile as compile_profiles
from profilec.spark.declared import declared
from profilec.spark.errors import SparkMatchError
from profilec.spark.places import by_place
from profilec.spark.session import expect_same_version, expect_session, own_version
from profilec.spark.sql_function import expect_one_of
from profilec.values.types import Schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ANSWER = pa.schema([("ids", pa.list_(pa.string())), ("wheres", pa.list_(pa.string())), ("answers", pa.binary())])
_DIAGNOSTIC = {
    "code": pa.string(),
    "severity": pa.string(),
    "message": pa.string(),
    "line": pa.int32(),
    "column": pa.int32(),
    "hint": pa.string(),
}
_CHECKED = pa.schema(
    {
        "id": pa.string(),
        "condition": pa.string(),
        "place": pa.int64(),
        "is_good": pa.bool_(),
        "found": pa.list_(pa.struct(_DIAGNOSTIC)),
    }
)


def compile(
    df: DataFrame,
    *,
    id: str = "id",
    condition: str = "condition",
    schema: Any = None,
    statistics: Any = None,
    calibration: Any = None,
    options: Mapping[str, Any] | None = None,
    on_error: str = "raise",
) -> ProfileSet:
    """The profiles of a DataFrame, a row for each, as a set. Conditions are parsed and normalized by Spark's workers.

    The order of the set is that of the rows as `df.collect()` gives them: where it matters, sort `df`. All ids and
    conditions come to the driver, which `spark.driver.maxResultSize` bounds.

    Args:
        id: the name of the column of ids. They are strings; whole numbers are cast to strings.
        condition: that of the column of conditions, text as after WHERE. All other columns are ignored.
        schema: as of `profilec.compile`, or a StructType or a DataFrame, of the documents to come.
        statistics, calibration, options, on_error: as of `profilec.compile`. With on_error="skip", `diagnostics` of the
            set has what is wrong with the profiles that were left out, in the order of the rows; `check` gives it as a
            DataFrame.

    Raises:
        ProfileError: some row has an error: its condition cannot be compiled, its id is taken, or one of the two is
            NULL. `.diagnostics` has those of all rows, in their order.
        SparkMatchError: `df` has no such columns, or they are of other types.
        ValueError, TypeError: as of `profilec.compile`.
    """
    expect_session(df.sparkSession)
    expect_one_of("on_error", on_error, ("raise", "skip"))
    chosen = Options.read(options)
    schema = declared(schema)
    rows = _profiles(df, id, condition)
    task = _Parse(_Settings(schema_from(schema, lambda found: None), chosen))  # the driver tells what is wrong with it
    answers = rows.mapInArrow(task, _spark_schema(_ANSWER)).toArrow()
    with collector_paused():
        return compile_profiles(
            list(_parsed(answers)),
            schema=schema,
            statistics=statistics,
            calibration=calibration,
            options=options,
            on_error=on_error,
        )


def check(
    df: DataFrame,
    *,
    id: str = "id",
    condition: str = "condition",
    schema: Any = None,
    options: Mapping[str, Any] | None = None,
) -> DataFrame:
    """What is wrong with the profiles of a DataFrame: a row for each diagnostic, warnings too, in no order, with the
    columns id, condition, code, severity, message, line, column and hint. Nothing comes to the driver.

    Where several good rows have one id, all but the first of them are told, as `compile` leaves them out.

    Args:
        id, condition, schema, options: as of `compile`.

    Raises:
        ProfileError: `schema` is none.
        SparkMatchError, ValueError, TypeError: as of `compile`.
    """
    from pyspark.sql import Window
    from pyspark.sql.functions import array_append, col, explode, monotonically_increasing_id, when
    from pyspark.sql.functions import min as least

    expect_session(df.sparkSession)
    wrong: list[Diagnostic] = []
    settings = _Settings(schema_from(declared(schema), wrong.append), Options.read(options))
    if wrong:
        raise ProfileError(wrong)
    rows = _profiles(df, id, condition).withColumn("place", monotonically_increasing_id())
    checked = rows.mapInArrow(_Check(settings), _spark_schema(_CHECKED))
    first = least(when(col("is_good"), col("place"))).over(Window.partitionBy("id"))
    is_taken = col("is_good") & (col("place") > col("first"))
    found = when(is_taken, array_append(col("found"), _taken())).otherwise(col("found"))
    told = checked.withColumn("first", first).select("id", "condition", explode(found).alias("one"))
    return told.select("id", "condition", "one.*")


def _spark_schema(schema: pa.Schema) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _taken() -> Column:
    """The diagnostic of a row whose id another one has."""
    from pyspark.sql.functions import col, concat, lit, struct

    values = {
        "code": lit("PC216"),
        "severity": lit("error"),
        "message": concat(lit("the id '"), col("id"), lit("' is taken")),
        "line": lit(1),
        "column": lit(1),
        "hint": lit("an earlier row has this id; ids are unique in a set"),
    }
    return struct(*(value.alias(name) for name, value in values.items()))


def _profiles(df: DataFrame, id: str, condition: str) -> DataFrame:
    """The two columns, as strings named id and condition."""
    from pyspark.sql.types import IntegralType, StringType

    places = []
    for option, name in {"id": id, "condition": condition}.items():
        numbers = [number for number, own in enumerate(df.columns) if own == name]
        numbers = numbers or [number for number, own in enumerate(df.columns) if own.casefold() == name.casefold()]
        if len(numbers) != 1:
            problem = "there are several" if numbers else f"df has {', '.join(df.columns)}"
            raise SparkMatchError(f"no one column is named {name!r}: {problem}; name it with {option}=")
        field = df.schema.fields[numbers[0]]
        is_fine = isinstance(field.dataType, StringType) or (
            option == "id" and isinstance(field.dataType, IntegralType)
        )
        if not is_fine:
            wanted = "a STRING or a whole number" if option == "id" else "a STRING"
            raise SparkMatchError(
                f"the column {name!r} is {field.dataType.simpleString().upper()}, and {option}= takes {wanted}: "
                f"CAST it, or name another"
            )
        places.append(numbers[0])
    chosen = by_place(df, places)
    return chosen.select(chosen.c0.cast("string").alias("id"), chosen.c1.cast("string").alias("condition"))


class _Settings:
    """What workers parse by."""

    def __init__(self, schema: Schema | None, options: Options) -> None:
        self.schema = schema
        self.options = options
        self.version = own_version()

    def read(self, id_: str | None, where: str | None) -> Parsed:
        """A row, parsed and normalized."""
        if id_ is None or where is None:
            return Parsed(id_ or "", where or "", None, [_null(id_, where)])
        return Parsed(id_, where, *read_condition(id_, where, self.schema, self.options.limits, self.options.rules))


def _null(id_: str | None, where: str | None) -> Diagnostic:
    if id_ is None:
        line = None if where is None else where.partition("\n")[0]
        hint = "give the row an id, or filter it out"
        return Diagnostic("PC217", "error", "the id is NULL", None, 1, 1, hint=hint, source_line=line)
    hint = "a condition that always holds is TRUE"
    return Diagnostic("PC120", "error", "the condition is NULL", None, 1, 1, hint=hint, profile=id_)


class _Parse:
    """A row for each batch of profiles: their ids and conditions, and what was made of them."""

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        expect_same_version(self._settings.version)
        for batch in batches:
            with collector_paused():
                answer = self._answer(batch)
            yield answer

    def _answer(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        ids, wheres = (column.to_pylist() for column in batch.columns)
        rows = [self._settings.read(id_, where) for id_, where in zip(ids, wheres, strict=True)]
        said = {number: row.diagnostics for number, row in enumerate(rows) if row.diagnostics}
        answers = pickle.dumps(([row.normal_form for row in rows], said), pickle.HIGHEST_PROTOCOL)
        values = {"ids": [[row.id for row in rows]], "wheres": [[row.where for row in rows]], "answers": [answers]}
        return pa.RecordBatch.from_pydict(values, schema=_ANSWER)


def _parsed(answers: pa.Table) -> Iterator[Parsed]:
    """The rows that `_Parse` answered for."""
    for ids, wheres, answer in zip(*(column for column in answers.columns), strict=True):
        forms, said = pickle.loads(answer.as_buffer())
        for number, (id_, where, form) in enumerate(zip(ids.as_py(), wheres.as_py(), forms, strict=True)):
            yield Parsed(id_, where, form, said.get(number, ()))


class _Check:
    """A row for each profile, with its diagnostics, and whether it can be compiled."""

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settings = self._settings
        expect_same_version(settings.version)
        for batch in batches:
            ids, wheres = (batch.column(name).to_pylist() for name in ("id", "condition"))
            compiled = Compilation(settings.schema, settings.options, default_units(), [])
            found: list[list[dict[str, Any]]] = []
            is_good: list[bool] = []
            for number, (id_, where) in enumerate(zip(ids, wheres, strict=True)):
                row = settings.read(id_, where)
                compiled.diagnostics = list(row.diagnostics)
                if row.normal_form is not None:  # under an id that no other has: whose is taken, is asked of all rows
                    own = ProfileStatement(str(number), row.where, row.normal_form, {}, (), None, 1, 1, 0, None)
                    compiled.take(own, is_normal=True)
                found.append([{name: getattr(one, name) for name in _DIAGNOSTIC} for one in compiled.diagnostics])
                is_good.append(all(one.severity != "error" for one in compiled.diagnostics))
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, pa.array(is_good, pa.bool_()), pa.array(found, _CHECKED.field("found").type)],
                schema=_CHECKED,
            )
