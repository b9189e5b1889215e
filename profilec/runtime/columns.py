"""Columns: what an attribute is in an Arrow table or a pandas frame, as ranks or as values.

In: a `pyarrow.Table`, `RecordBatch` or `pandas.DataFrame`. Out: for an attribute, the ranks of
all rows at once (numbers by `thresholds`, strings by their distinct values), or the rows as
documents. A row is the document {column: value}; see `arrow_values`.

Invariant: a row gives the ranks that its document gives, `Ranking.rank_of(lookup(document, parts))`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
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
    truths_of,
    words,
)
from profilec.runtime.image import Constants, Int32
from profilec.runtime.ranking import Ranking
from profilec.runtime.thresholds import float_thresholds, integer_thresholds
from profilec.values.kinds import DocumentError, Kind
from profilec.values.paths import lookup

Column: TypeAlias = Any
"""A `pyarrow.Array`, or a list of Python objects where Arrow has no exact type for them."""


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
    columns: dict[str, Column] = {}
    repeated: set[str] = set()
    for number, name in enumerate(table.schema.names if arrow else table.columns):
        if not isinstance(name, str) or (names is not None and name not in names):
            continue
        if name in columns:
            repeated.add(name)
        if arrow:
            column = table.column(number)
            columns[name] = plain_array(column if stop - start == len(column) else column.slice(start, stop - start))
        else:
            columns[name] = _from_pandas(table.iloc[start:stop, number])
    return Frame(stop - start, columns, frozenset(repeated))


def rows_at(table: Any, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Some rows of a table that `n_rows_of` knows, as documents; reads no others.

    Raises:
        DocumentError: a column has a type that no document's value can have.
    """
    chosen = table.take(list(numbers)) if hasattr(table, "schema") else table.iloc[list(numbers)]
    frame = frame_of(chosen, 0, len(numbers))
    return frame.rows(frame.columns)


def rows_of(documents: Any) -> Sequence[Any]:
    """Documents one by one: a table's rows, or what is one by one already."""
    n_rows = n_rows_of(documents)
    return documents if n_rows is None else rows_at(documents, range(n_rows))


def columns_of(table: Any, names: Container[str]) -> Any:
    """A table that `n_rows_of` knows with these of its columns only."""
    is_arrow = hasattr(table, "schema")
    places = [place for place, name in enumerate(table.schema.names if is_arrow else table.columns) if name in names]
    return table.select(places) if is_arrow else table.iloc[:, places]


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


def rank_column(column: Column, ranking: Ranking, ranks: Int32) -> None:
    """Fills `ranks` with the rank of each row's value."""
    import pyarrow as pa

    if isinstance(column, list):
        ranks[:] = np.fromiter(map(ranking.rank_of, column), np.int32, len(column))
        return
    constants, kind = ranking.constants, column.type
    numbers = None
    if pa.types.is_null(kind):
        ranks[:] = 0
        return
    if pa.types.is_dictionary(kind):
        dictionary, positions = _dictionary(column)
        of_entry = np.zeros(len(dictionary) + 1, np.int32)
        rank_column(dictionary, ranking, of_entry[:-1])
        np.take(of_entry, positions, out=ranks)
        return
    if is_nested(kind):
        ranks[:] = constants.first(Kind.OPAQUE)
    elif pa.types.is_boolean(kind):
        of_truth = np.array([constants.rank(False), constants.rank(True)], np.int32)
        truths = truths_of(column.fill_null(False) if column.null_count else column)
        np.take(of_truth, truths.view(np.uint8), out=ranks)
    elif is_string(kind) or (numbers := words(column)) is None:
        values, positions = distinct(column)
        np.take(np.fromiter(map(ranking.rank_of, values), np.int32, len(values)), positions, out=ranks)
    else:
        known = ranking.thresholds.get(str(kind))
        if known is None:
            block, thresholds = _thresholds(kind, numbers.dtype, constants)
            known = ranking.thresholds[str(kind)] = block, _one_type(thresholds)
        _rank_numbers(numbers, known, ranking, ranks)
    if column.null_count:
        ranks[null_mask(column)] = 0


def distinct(column: Column) -> tuple[list[Any], NDArray[np.int64]]:
    """Values, and each row's position among them: the distinct ones where Arrow can tell, else those of the rows."""
    import pyarrow as pa

    if not isinstance(column, list) and not is_nested(column.type):
        with suppress(pa.ArrowNotImplementedError):
            encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
            dictionary, positions = _dictionary(encoded)
            return [*array_values(dictionary), None], positions
    values = column if isinstance(column, list) else array_values(column)
    return values, np.arange(len(values))


def _dictionary(encoded: Any) -> tuple[Any, NDArray[np.int64]]:
    """The dictionary of a dictionary array and each row's position in it; that of NULL is one past the last."""
    import pyarrow as pa

    dictionary, indices = plain_array(encoded.dictionary), encoded.indices.cast(pa.int64())
    n = len(dictionary)
    positions = words(indices.fill_null(n) if indices.null_count else indices)
    assert positions is not None
    if n <= len(encoded):
        return dictionary, positions
    # PERF: the dictionary may be that of a column of which this is a small part.
    used, positions = np.unique(positions, return_inverse=True)
    return dictionary.take(pa.array(used, mask=used == n)), positions


def rank_words(numbers: NDArray[Any], ranking: Ranking, ranks: Int32) -> None:
    """As `rank_column`, of an array of int64 or float64; NaN is NULL. Needs no Arrow."""
    _rank_numbers(numbers, (Kind.NUMBER, word_thresholds(ranking, numbers.dtype)), ranking, ranks)


def word_thresholds(ranking: Ranking, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The thresholds of numbers that are int64 or float64."""
    name = str(dtype)
    known = ranking.thresholds.get(name)
    if known is None:
        known = ranking.thresholds[name] = Kind.NUMBER, _one_type(_number_thresholds(dtype, ranking.constants))
    return known[1]


def _rank_numbers(numbers: NDArray[Any], known: tuple[Kind, NDArray[Any]], ranking: Ranking, ranks: Int32) -> None:
    from profilec.runtime.encode_kernels import rank_numbers

    block, thresholds = known
    rank_numbers(_one_type(numbers), thresholds, ranking.constants.first(block), ranks)


def _one_type(numbers: NDArray[Any]) -> NDArray[Any]:
    """PERF: a kernel is compiled for each type of array that it is given; so floats are doubles, and all read-only."""
    if numbers.dtype.kind == "f":
        numbers = numbers.astype(np.float64, copy=False)
    if numbers.flags.writeable:
        numbers = numbers.view()
        numbers.flags.writeable = False
    return numbers


def _thresholds(kind: Any, dtype: np.dtype[Any], constants: Constants) -> tuple[Kind, NDArray[Any]]:
    import pyarrow as pa

    if pa.types.is_date(kind):
        return Kind.DATE, integer_thresholds(constants.column(Kind.DATE), dtype)
    if pa.types.is_timestamp(kind):
        return Kind.TIMESTAMP, integer_thresholds(
            constants.column(Kind.TIMESTAMP), dtype, per=NANOS_PER_UNIT[kind.unit]
        )
    if pa.types.is_decimal(kind):
        scale = kind.scale
        numbers = constants.column(Kind.NUMBER)
        return Kind.NUMBER, integer_thresholds(numbers, dtype, per=10 ** max(-scale, 0), of=10 ** max(scale, 0))
    return Kind.NUMBER, _number_thresholds(dtype, constants)


def _number_thresholds(dtype: np.dtype[Any], constants: Constants) -> NDArray[Any]:
    numbers = constants.column(Kind.NUMBER)
    return float_thresholds(numbers, dtype) if dtype.kind == "f" else integer_thresholds(numbers, dtype)


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
    if plain and dtype.kind == "O":
        return _from_objects(series)
    if plain and (dtype.kind in "cVSU" or dtype.itemsize > 8):
        return list(series)
    try:
        return plain_array(pa.array(series.to_numpy() if plain else series))
    except (pa.ArrowException, TypeError, ValueError):
        return list(series)


def _from_objects(series: Any) -> Column:
    """An array of strings where the objects are strings and missing values, else the objects."""
    import pandas as pd
    import pyarrow as pa

    if pd.api.types.infer_dtype(series, skipna=True) == "string":
        try:
            return pa.array(series.to_numpy(), pa.large_string(), from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):  # a lone surrogate has no UTF-8
            pass
    return list(series)
