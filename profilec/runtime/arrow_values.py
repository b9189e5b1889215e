"""Arrow arrays as the values of documents.

In: a `pyarrow.Array`. Out: its elements as `values.kinds.from_document` would give them, or the
machine words under them. Structs are records, lists arrays, maps records; timestamps keep their
nanoseconds, 16- and 32-bit floats their own width (the shortest decimal).

Invariant: nothing is rounded, and no element takes part that is NULL.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.values.kinds import Date, DocumentError, Timestamp, from_document

NANOS_PER_UNIT = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_MILLIS_PER_DAY = 86_400_000


def plain_array(array: Any) -> Any:
    """The array, or one of the same values whose type is not a wrapping: run-end encoding, string view, extension."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType) and _is_known_extension(kind):
        array = array.storage.cast(pa.bool_()) if kind.extension_name == "arrow.bool8" else array.storage
    elif pa.types.is_run_end_encoded(kind):
        from pyarrow.compute import run_end_decode

        array = run_end_decode(array)
    elif pa.types.is_string_view(kind):
        array = array.cast(pa.large_string())
    else:
        return array
    return plain_array(array)


def arrow_of(numbers: NDArray[Any]) -> Any:
    """An Arrow array over the memory of an array of int32 or int64. PERF: `pyarrow.array` loads pandas, of 30 MB."""
    import pyarrow as pa

    kind = pa.int32() if numbers.dtype == np.int32 else pa.int64()
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


@lru_cache(256)
def is_supported(kind: Any) -> bool:
    """Whether the values of an Arrow type are values of documents (what is inside of lists and structs is asked later).

    >>> import pyarrow as pa
    >>> is_supported(pa.decimal128(9, 2)), is_supported(pa.binary()), is_supported(pa.time32("s"))
    (True, False, False)
    """
    import pyarrow as pa

    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _is_known_extension(kind)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return is_supported(kind.value_type)
    return (
        is_nested(kind)
        or is_string(kind)
        or any(
            test(kind)
            for test in (
                types.is_null,
                types.is_boolean,
                types.is_integer,
                types.is_floating,
                types.is_decimal,
                types.is_date,
                types.is_timestamp,
            )
        )
    )


def is_string(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_array(kind: Any) -> bool:
    """Whether an element is an array of the document (a list of any of Arrow's sorts)."""
    import pyarrow as pa

    types = pa.types
    return any(
        test(kind)
        for test in (
            types.is_list,
            types.is_large_list,
            types.is_fixed_size_list,
            types.is_list_view,
            types.is_large_list_view,
        )
    )


def is_nested(kind: Any) -> bool:
    """Whether an element is an array or a record."""
    import pyarrow as pa

    return bool(is_array(kind) or pa.types.is_struct(kind) or pa.types.is_map(kind))


def null_mask(array: Any) -> NDArray[np.bool_]:
    return truths_of(array.is_null())


def truths_of(array: Any) -> NDArray[np.bool_]:
    """Those of a boolean array without NULLs. PERF: `to_numpy` loads pandas."""
    if not len(array):
        return np.zeros(0, np.bool_)
    bits = np.frombuffer(array.buffers()[1], np.uint8)
    first = array.offset // 8
    end = -(-(array.offset + len(array)) // 8)
    start = array.offset - 8 * first
    return np.unpackbits(bits[first:end], bitorder="little")[start : start + len(array)].view(np.bool_)


def words(array: Any) -> NDArray[Any] | None:
    """The numbers under an array of integers, floats, decimals, dates (days) or timestamps (units); 0 where NULL.

    Integers come as int64, or uint64 where the array is of that; decimals without their scale.
    None where a decimal does not fit 64 bits. Where nothing is to be changed, the words are the array's own memory.
    """
    import pyarrow as pa

    dtype, n_words, is_decimal = _word_of(array.type)
    mask = null_mask(array) if array.null_count else None
    if is_decimal:
        raw = _buffer(array, dtype, n_words)
        if mask is not None:
            raw = np.where(mask[:, None], raw.dtype.type(0), raw)
        low = raw[:, 0].astype(np.int64)
        fits = bool((raw[:, 1:] == (low >> 63)[:, None]).all())
        return low if fits else None
    numbers = _buffer(array, dtype, 1)[:, 0]
    if dtype.kind in "iu" and dtype != np.uint64:
        numbers = numbers.astype(np.int64, copy=False)
    if mask is not None:
        numbers = np.where(mask, numbers.dtype.type(0), numbers)
    return numbers // _MILLIS_PER_DAY if pa.types.is_date64(array.type) else numbers


def array_values(array: Any) -> list[Any]:
    """The elements; those whose type is not supported as Python has them (`from_document` refuses them when asked).

    >>> import pyarrow as pa
    >>> array_values(pa.array([{"day": 1}, None], pa.struct([("day", pa.date32())])))
    [{'day': Date(days=1)}, None]
    """
    import pyarrow as pa

    array = plain_array(array)
    kind = array.type
    types = pa.types
    if types.is_dictionary(kind):
        values = [*array_values(array.dictionary), None]
        return [values[-1 if position is None else position] for position in array.indices.to_pylist()]
    if types.is_struct(kind):
        names = [kind.field(number).name for number in range(kind.num_fields)]
        fields = [array_values(field) for field in array.flatten()]
        records = [dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)]
        return _with_nulls(array, records or [{} for _ in range(len(array))])
    if types.is_map(kind):
        keys, items = array_values(array.keys), array_values(array.items)
        ends = array.offsets.to_pylist()
        return _with_nulls(array, [dict(zip(keys[a:b], items[a:b], strict=True)) for a, b in pairwise(ends)])
    if is_array(kind):
        import pyarrow.compute as pc

        elements = array_values(array.flatten())
        lengths = words(pc.list_value_length(array).fill_null(0))
        assert lengths is not None
        ends = [0, *np.cumsum(lengths).tolist()]
        return _with_nulls(array, [elements[a:b] for a, b in pairwise(ends)])
    if types.is_date(kind):
        return _with_nulls(array, [Date(days) for days in _listed(array)])
    if types.is_timestamp(kind):
        nanos = NANOS_PER_UNIT[kind.unit]
        return _with_nulls(array, [Timestamp(count * nanos) for count in _listed(array)])
    if types.is_float16(kind) or types.is_float32(kind):
        numbers = words(array)
        assert numbers is not None
        return _with_nulls(array, [from_document(number) for number in numbers])
    try:
        return array.to_pylist()  # type: ignore[no-any-return]
    except UnicodeDecodeError as error:
        raise DocumentError(f"a string is no UTF-8: {error}") from None


def _is_known_extension(kind: Any) -> bool:
    return kind.extension_name in {"arrow.json", "arrow.bool8"}


@lru_cache(256)
def _word_of(kind: Any) -> tuple[np.dtype[Any], int, bool]:
    """The words of an element of that type, and how many; and whether they are those of a decimal."""
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return np.dtype(f"<i{min(kind.byte_width, 8)}"), max(kind.byte_width // 8, 1), True
    if pa.types.is_date32(kind):
        return np.dtype("int32"), 1, False
    if pa.types.is_date64(kind) or pa.types.is_timestamp(kind):
        return np.dtype("int64"), 1, False
    name = {"halffloat": "float16", "float": "float32", "double": "float64"}.get(str(kind), str(kind))
    return np.dtype(name), 1, False


def _buffer(array: Any, dtype: np.dtype[Any], n_words: int) -> NDArray[Any]:
    """The fixed-width elements, `n_words` of `dtype` each, without the validity of the array."""
    if len(array) == 0:
        return np.zeros((0, n_words), dtype)
    flat = np.frombuffer(array.buffers()[1], dtype)
    return flat[array.offset * n_words : (array.offset + len(array)) * n_words].reshape(-1, n_words)


def _listed(array: Any) -> list[int]:
    numbers = words(array)
    assert numbers is not None
    return numbers.tolist()  # type: ignore[no-any-return]


def _with_nulls(array: Any, values: list[Any]) -> list[Any]:
    if array.null_count:
        for position in np.flatnonzero(null_mask(array)).tolist():
            values[position] = None
    return values
