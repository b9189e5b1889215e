"""Generated profiles as WHERE texts: what users would write, by the million.

In: `Conjunctions`. Out: Arrow tables of the columns `id` (`p0`, `p1`, …) and `condition`, and
Parquet files of them, a row group a chunk. All of it is string work on whole columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from conjunctions import Conjunctions, Op, has_list_of
from numpy.typing import NDArray

_SIMPLE = {
    Op.EQUAL: (" = ", "low", 0),
    Op.NOT_EQUAL: (" != ", "low", 0),
    Op.LESS: (" < ", "high", 1),
    Op.AT_MOST: (" <= ", "high", 0),
    Op.AT_LEAST: (" >= ", "low", 0),
    Op.GREATER: (" > ", "low", -1),
}
"""Operator to its sign, and the constant: which bound, and how far from it."""
SCHEMA = pa.schema([("id", pa.string()), ("condition", pa.string())])


def tables(chunks: Iterable[Conjunctions]) -> Iterator[pa.Table]:
    """A table for each chunk of profiles; the ids go on from chunk to chunk."""
    return profile_tables(conditions(chunk) for chunk in chunks)


def profile_tables(chunks: Iterable[pa.StringArray]) -> Iterator[pa.Table]:
    """The conditions given, with ids."""
    first = 0
    for texts in chunks:
        numbers = pa.array(np.arange(first, first + len(texts))).cast(pa.string())
        yield pa.table({"id": pc.binary_join_element_wise("p", numbers, ""), "condition": texts}, SCHEMA)
        first += len(texts)


def write_parquet(path: Path, parts: Iterable[pa.Table]) -> int:
    """Writes the tables as they come; returns the number of profiles."""
    n = 0
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for part in parts:
            writer.write_table(part)
            n += part.num_rows
    return n


def conditions(profiles: Conjunctions) -> pa.StringArray:
    """The WHERE text of each profile."""
    return joined(predicates(profiles), profiles.off, " AND ")


def joined(parts: pa.StringArray, off: NDArray[np.int64], between: str) -> pa.StringArray:
    """Each row's parts as one text."""
    return pc.binary_join(pa.ListArray.from_arrays(off.astype(np.int32), parts), between)


def predicates(profiles: Conjunctions) -> pa.StringArray:
    """The text of each predicate."""
    names = pc.binary_join_element_wise("a", pa.array(np.arange(profiles.n_attributes)).cast(pa.string()), "")
    texts: list[pa.StringArray] = []
    rows: list[NDArray[np.int64]] = []
    for op, (sign, bound, shift) in _SIMPLE.items():
        chosen = np.flatnonzero(profiles.op == op)
        constants = getattr(profiles, bound)[chosen] + shift
        texts.append(_written(names, profiles.slot[chosen], sign, _text(constants)))
        rows.append(chosen)
    chosen = np.flatnonzero(profiles.op == Op.BETWEEN)
    ends = pc.binary_join_element_wise(_text(profiles.low[chosen]), _text(profiles.high[chosen]), " AND ")
    texts.append(_written(names, profiles.slot[chosen], " BETWEEN ", ends))
    rows.append(chosen)
    lists = joined(_text(profiles.list_values), profiles.list_off, ", ")
    with_list = np.flatnonzero(has_list_of(profiles.op))
    for op, sign in ((Op.IN, " IN ("), (Op.NOT_IN, " NOT IN (")):
        mine = profiles.op[with_list] == op
        closed = pc.binary_join_element_wise(lists.filter(pa.array(mine)), "", ")")
        texts.append(_written(names, profiles.slot[with_list[mine]], sign, closed))
        rows.append(with_list[mine])
    chosen = np.flatnonzero(profiles.op == Op.IS_NULL)
    texts.append(pc.binary_join_element_wise(names.take(pa.array(profiles.slot[chosen])), "IS NULL", " "))
    rows.append(chosen)
    place = np.empty(len(profiles.op), np.int64)
    place[np.concatenate(rows)] = np.arange(len(place))
    return pa.concat_arrays(texts).take(pa.array(place))


def _written(names: pa.StringArray, slots: NDArray[np.int32], sign: str, constants: pa.StringArray) -> pa.StringArray:
    return pc.binary_join_element_wise(names.take(pa.array(slots)), constants, sign)


def _text(numbers: NDArray[np.int32]) -> pa.StringArray:
    return pa.array(numbers).cast(pa.string())
