"""Columns: what an attribute is in an Arrow table or a pandas frame, as ranks or as values.

In: a `pyarrow.Table`, `RecordBatch` or `pandas.DataFrame`. Out: for an attribute, the ranks of
all rows at once (numbers by `thresholds`, strings by their distinct values), or the rows as
documents. A row is the document {column: value}; see `arrow_values`.

Invariant: a row gives the ranks that its document gives, `Constants.rank(lookup(document, parts))`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.arrow_values import (
    NANOS_PER_UNIT,
    array_values,
    is_array,
    is_nested,
    is_string,
    is_supported,
    null_mask,
    plain_array,
    words,
)
from profilec.runtime.image import Constants, Int32
from profilec.runtime.thresholds import float_thresholds, integer_thresholds
from profilec.values.kinds import DocumentError, Kind, Value, from_document
from profilec.values.paths import lookup
from profilec.values.types import Type, read_as

Column: TypeAlias = Any
"""A `pyarrow.Array`, or a list of Python objects where Arrow has no exact type for them."""
Thresholds: TypeAlias = "dict[str, tuple[Kind, NDArray[Any]]]"
"""The thresholds of one slot, by the Arrow type of the column; filled as columns are met."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Some rows of a table: its columns by name, in order."""

    n_rows: int
    columns: dict[str, Column]
    duplicates: frozenset[str] = frozenset()

    def column(self, name: str) -> Column | None:
        """The column of that name; None where there is none.

        Raises:
            DocumentError: two columns have the name, or its type is none that a document's value can have.
        """
        if name in self.duplicates:
            raise DocumentError(f"two columns are named {name!r}")
        column = self.columns.get(name)
        if column is not None and not isinstance(column, list):
            _require_supported(column, name)
        return column

    def rows(self, names: Iterable[str]) -> list[dict[str, Any]]:
        """The rows as documents of the columns named, in the order of the names."""
        columns = {name: column for name in names if (column := self.column(name)) is not None}
        if not columns:
            return [{} for _ in range(self.n_rows)]
        lists = [column if isinstance(column, list) else array_values(column) for column in columns.values()]
        return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def n_rows_of(table: Any) -> int | None:
    """The number of rows of an Arrow table, a record batch or a pandas frame; None where it is none of these."""
    module = type(table).__module__.partition(".")[0]
    if module == "pyarrow" and hasattr(table, "num_rows") and hasattr(table, "schema"):
        return int(table.num_rows)
    if module == "pandas" and hasattr(table, "iloc") and hasattr(table, "columns"):
        return len(table)
    return None


def frame_of(table: Any, start: int, stop: int, names: Container[str] | None = None) -> Frame:
    """The rows `start` to `stop` of a table that `n_rows_of` knows; only the columns named, unless None."""
    arrow = hasattr(table, "schema")
    part = table.slice(start, stop - start) if arrow else table.iloc[start:stop]
    columns: dict[str, Column] = {}
    repeated: set[str] = set()
    for number, name in enumerate(table.schema.names if arrow else table.columns):
        if not isinstance(name, str) or (names is not None and name not in names):
            continue
        if name in columns:
            repeated.add(name)
        columns[name] = plain_array(part.column(number)) if arrow else _from_pandas(part.iloc[:, number])
    return Frame(stop - start, columns, frozenset(repeated))


def find(frame: Frame, parts: tuple[str, ...]) -> list[Column]:
    """The columns that hold the attribute, the one that goes first first: a column of that very name, then a path.

    A path through an array of records, or one that only Python can follow, is a list of values.
    """
    flat = frame.column(".".join(parts))
    found = [] if flat is None else [flat]
    if len(parts) > 1:
        column = frame.column(parts[0])
        path = None if column is None else _follow(column, parts)
        if path is not None:
            found.append(path)
    return found


def column_ranks(column: Column, constants: Constants, type_: Type | None, cache: Thresholds) -> Int32:
    """The rank of each row's value, read as `type_`. `cache` belongs to the constants."""
    import pyarrow as pa

    if isinstance(column, list):
        ranks = (constants.rank(read_as(from_document(value), type_)) for value in column)
        return np.fromiter(ranks, np.int32, len(column))
    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column), np.int32)
    if pa.types.is_dictionary(kind):
        of_dictionary = column_ranks(plain_array(column.dictionary), constants, type_, cache)
        return np.append(of_dictionary, np.int32(0))[_positions(column)]
    numbers = None
    if is_nested(kind):
        ranks_of = np.full(len(column), constants.first(Kind.OPAQUE), np.int32)
    elif pa.types.is_boolean(kind):
        of_truth = np.array([constants.rank(False), constants.rank(True)], np.int32)
        ranks_of = of_truth[column.fill_null(False).to_numpy(zero_copy_only=False).astype(np.intp)]
    elif is_string(kind) or (numbers := words(column)) is None:
        values, positions = distinct(column) or (array_values(column), np.arange(len(column)))
        return column_ranks(values, constants, type_, cache)[positions]
    else:
        if str(kind) not in cache:
            cache[str(kind)] = _thresholds(kind, numbers.dtype, constants)
        block, thresholds = cache[str(kind)]
        ranks_of = (constants.first(block) + np.searchsorted(thresholds, numbers, side="right")).astype(np.int32)
        if numbers.dtype.kind == "f":
            ranks_of[np.isnan(numbers)] = 0
    ranks_of[null_mask(column)] = 0
    return ranks_of


def distinct(column: Column) -> tuple[list[Value], NDArray[np.int64]] | None:
    """The distinct values of a column and NULL, and each row's position among them; None where Arrow cannot tell."""
    import pyarrow as pa

    if isinstance(column, list) or is_nested(column.type):
        return None
    try:
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    except pa.ArrowNotImplementedError:
        return None
    return [*array_values(encoded.dictionary), None], _positions(encoded)


def _positions(encoded: Any) -> NDArray[np.int64]:
    """The indices of a dictionary array; NULL is one past the dictionary's last."""
    import pyarrow as pa

    indices = encoded.indices.cast(pa.int64()).fill_null(len(encoded.dictionary))
    return np.asarray(indices.to_numpy(zero_copy_only=False), np.int64)


def _thresholds(kind: Any, dtype: np.dtype[Any], constants: Constants) -> tuple[Kind, NDArray[Any]]:
    import pyarrow as pa

    if pa.types.is_date(kind):
        return Kind.DATE, integer_thresholds(constants.dates, dtype)
    if pa.types.is_timestamp(kind):
        return Kind.TIMESTAMP, integer_thresholds(constants.timestamps, dtype, per=NANOS_PER_UNIT[kind.unit])
    if pa.types.is_decimal(kind):
        scale = kind.scale
        return Kind.NUMBER, integer_thresholds(
            constants.numbers, dtype, per=10 ** max(-scale, 0), of=10 ** max(scale, 0)
        )
    if dtype.kind == "f":
        return Kind.NUMBER, float_thresholds(constants.numbers, dtype)
    return Kind.NUMBER, integer_thresholds(constants.numbers, dtype)


def _follow(column: Column, parts: tuple[str, ...]) -> Column | None:
    import pyarrow as pa

    for depth in range(1, len(parts)):
        if isinstance(column, list) or pa.types.is_map(column.type) or is_array(column.type):
            rest = parts[depth - 1 :]
            values = column if isinstance(column, list) else array_values(column)
            return [lookup({rest[0]: value}, rest) for value in values]
        if not pa.types.is_struct(column.type):
            return None
        names = [column.type.field(number).name for number in range(column.type.num_fields)]
        if parts[depth] not in names:
            return None
        last = len(names) - 1 - names[::-1].index(parts[depth])
        column = plain_array(column.flatten()[last])
        _require_supported(column, ".".join(parts[: depth + 1]))
    return column


def _require_supported(column: Any, name: str) -> None:
    if not is_supported(column.type):
        kinds = "number, string, boolean, date, timestamp, array or record"
        raise DocumentError(f"column {name!r} has the type {column.type}, which is no {kinds}")


def _from_pandas(series: Any) -> Column:
    """An Arrow array where it holds the very values, else the Python objects."""
    import pyarrow as pa

    dtype = series.dtype
    categories = getattr(dtype, "categories", None)
    if categories is not None and categories.dtype == object:
        values = [*categories, None]  # the code of a missing value is -1
        return [values[code] for code in series.cat.codes]
    plain = isinstance(dtype, np.dtype)
    if plain and (dtype.kind in "OcVSU" or dtype.itemsize > 8):
        return list(series)
    try:
        return plain_array(pa.array(series.to_numpy() if plain else series))
    except (pa.ArrowException, TypeError, ValueError):
        return list(series)
