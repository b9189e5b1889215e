"""The bytes of an index: of the arrays that its searches read.

In: an index of `profilec.runtime.indexes`, or one of `baselines.stabbing`, which say theirs as `n_bytes`. Out: the
bytes of its arrays, each piece of memory once; the bit vector `constrained`, which all have alike, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pyroaring import BitMap


def n_bytes_of(index: Any) -> int:
    """The bytes of the arrays that an index holds, itself or in its parts.

    >>> column = np.zeros(10, np.int32)
    >>> n_bytes_of([column, column.data, {"again": column}, (np.zeros(3, np.uint8),)])
    43
    """
    if hasattr(index, "n_bytes"):
        return int(index.n_bytes)
    return sum({array.__array_interface__["data"][0]: array.nbytes for array in _arrays(index)}.values())


def _arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    match value:
        case np.ndarray():
            yield value
        case memoryview():
            yield np.asarray(value)
        case list() | tuple():
            for part in value:
                yield from _arrays(part)
        case dict():
            yield from _arrays(list(value.values()))
        case BitMap():
            return
        case _:
            for name in getattr(type(value), "__slots__", ()):
                yield from _arrays(getattr(value, name))
