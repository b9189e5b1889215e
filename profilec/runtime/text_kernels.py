"""Kernel of sorted texts: where one stands among them.

order    int32 [n], the texts' places in ascending order, read-only
off      int64 [n + 1], into data, uint8: their UTF-8, read-only
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from profilec.runtime.kernels import kernel


@kernel
def find_text(order: NDArray[Any], off: NDArray[Any], data: NDArray[Any], text: NDArray[Any]) -> int:
    """The place of a text, -1 where it is none of them."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) >> 1
        place = int(order[middle])
        start = off[place]
        length = off[place + 1] - start
        shared = min(length, len(text))
        i = 0
        while i < shared and data[start + i] == text[i]:
            i += 1
        if i < shared:
            is_below = data[start + i] < text[i]
        elif length == len(text):
            return place
        else:
            is_below = length < len(text)
        if is_below:
            low = middle + 1
        else:
            high = middle
    return -1
