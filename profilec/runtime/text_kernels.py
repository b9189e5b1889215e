"""Kernels of sorted texts: where some stand among them.

order    int32 [n], the texts' places in ascending order, read-only
off      int64 [n + 1], into data, uint8: their UTF-8, read-only
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from profilec.runtime.kernels import kernel


@kernel
def find_texts(
    order: NDArray[Any],
    off: NDArray[Any],
    data: NDArray[Any],
    wanted_off: NDArray[Any],
    wanted: NDArray[Any],
    found: NDArray[Any],
) -> None:
    """Writes the places of some texts, which are given as the others are; -1 where one is none of them."""
    for i in range(len(found)):
        found[i] = find_text(order, off, data, wanted[wanted_off[i] : wanted_off[i + 1]])


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
