"""Sorting for batches: what documents come to, one part of a tree after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.kernels import kernel

_DIGIT = 11


def sorted_order(
    keys: NDArray[np.int32] | NDArray[np.int64], order: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """The order in which keys >= 0 ascend, equal ones as they stand, or stand in an order: a radix sort, digit by
    digit."""
    order = np.arange(len(keys), dtype=np.int32) if order is None else order.copy()
    sorted_ = np.empty(len(keys), np.int32)
    counts = np.empty((1 << _DIGIT) + 1, np.int64)
    shift = 0
    while int(keys.max(initial=0)) >> shift:
        by_digit(keys, order, sorted_, counts, shift)
        order, sorted_ = sorted_, order
        shift += _DIGIT
    return order


@kernel
def by_digit(keys: Any, order: Any, sorted_: Any, counts: Any, shift: int) -> None:
    """Sorts by one digit and keeps the order of equal ones."""
    counts[:] = 0
    for i in range(len(order)):
        counts[((keys[order[i]] >> shift) & ((1 << _DIGIT) - 1)) + 1] += 1
    for digit in range(1, len(counts)):
        counts[digit] += counts[digit - 1]
    for i in range(len(order)):
        digit = (keys[order[i]] >> shift) & ((1 << _DIGIT) - 1)
        sorted_[counts[digit]] = order[i]
        counts[digit] += 1
