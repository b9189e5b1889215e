"""Columns of a DataFrame by place, which names may not tell: two may have one name, or one with dots, or none.

In: a DataFrame, and the numbers of columns. Out: these, named c0, c1, …; and in workers batches with the names that
they had.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NOTHING = ""
"""The name of the one column where none is asked for: Spark sends no rows without columns. No attribute has it."""


def by_place(df: DataFrame, numbers: Sequence[int]) -> DataFrame:
    """The columns with these numbers, in their order; a constant where there are none."""
    from pyspark.sql.functions import col, lit

    if not numbers:
        return df.select(lit(True).alias("c0"))
    named = df.toDF(*(f"c{number}" for number in range(len(df.columns))))
    return named.select(*(col(f"c{number}").alias(f"c{place}") for place, number in enumerate(numbers)))


def names_of(names: Sequence[str], numbers: Sequence[int]) -> tuple[str, ...]:
    """The names of the columns that `by_place` gives, as they were before."""
    return tuple(names[number] for number in numbers) or (NOTHING,)


def named(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """The first columns of a batch, with these names."""
    return pa.RecordBatch.from_arrays(batch.columns[: len(names)], names=list(names))
