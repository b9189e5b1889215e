"""A hash table in two flat arrays, for kernels: open addressing, linear probing, at most half full.

    keys       -1  17  -1   4  21  -1  -1   9       int64, a power of two of them, -1: nothing there
    values          2       0   1           3       int32, the place of the key among those that it was made of

In: distinct keys, not negative. Out: `find`, what kernels call: the place of a key, or -1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class FlatHash(NamedTuple):
    """See the module. A named tuple of arrays goes to a kernel as it is."""

    keys: NDArray[np.int64]
    values: NDArray[np.int32]

    @property
    def n_bytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes


def flat_hash(keys: NDArray[Any]) -> FlatHash:
    """The table of distinct keys.

    >>> table = flat_hash(np.array([4, 21, 17, 9]))
    >>> [find(table, key) for key in (17, 9, 5)]
    [2, 3, -1]
    """
    size = 1 << max(1, 2 * len(keys) - 1).bit_length()
    table = FlatHash(np.full(size, -1, np.int64), np.zeros(size, np.int32))
    insert(table, keys.astype(np.int64))
    return table


@njit(nogil=True, cache=True)
def insert(table: Any, keys: Any) -> None:
    mask = len(table.keys) - 1
    for number in range(len(keys)):
        place = np.int64((np.uint64(keys[number]) * _GOLDEN) >> np.uint64(32)) & mask
        while table.keys[place] != -1:
            place = (place + 1) & mask
        table.keys[place] = keys[number]
        table.values[place] = number


@njit(nogil=True, cache=True, inline="always")
def find(table: Any, key: Any) -> Any:
    mask = len(table.keys) - 1
    place = np.int64((np.uint64(key) * _GOLDEN) >> np.uint64(32)) & mask
    while table.keys[place] != key and table.keys[place] != -1:
        place = (place + 1) & mask
    return np.int64(table.values[place]) if table.keys[place] == key else np.int64(-1)
