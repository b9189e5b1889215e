"""Kernel of `suffix_trie`: which literals of a trie stand anywhere in a text.

    codes        uint32: the text's code points; read-only
    heads, off   uint32, int32 [n_nodes + 1]: the first code points of edges, ascending in each node, and their cuts
    labels       uint32: the other code points of edges
    label_off    int32 [n_nodes + 1]: cuts these by the node to which an edge leads
    literal      int32 [n_nodes]: the literal that ends at a node, or -1

`indexes.literal_trie` draws the trie.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from profilec.runtime.kernels import kernel


@kernel
def find_literals(
    codes: NDArray[Any], start: int, heads: NDArray[Any], off: NDArray[Any], labels: NDArray[Any],
    label_off: NDArray[Any], literal: NDArray[Any], longest: int, hits: NDArray[Any],
) -> int:  # fmt: skip
    """Looks up the suffixes of the text from `start` on, and gives the first for which there is no room.

    `hits`, int64 of more than `longest` elements, is filled from place 1 on with `2 * literal`, and one more where the
    literal ends with the text, each as often as it is met; their number is at place 0. No literal is longer than
    `longest`.
    """
    n = len(codes)
    n_hits = 0
    first = start
    while first < n and n_hits + longest < len(hits):
        node, at = 0, first
        while True:
            low, high = label_off[node], label_off[node + 1]
            if at + high - low > n:
                break
            place = low
            while place < high and labels[place] == codes[at + place - low]:
                place += 1
            if place < high:
                break
            at += high - low
            if literal[node] >= 0:
                n_hits += 1
                hits[n_hits] = 2 * literal[node] + (1 if at == n else 0)
            if at == n:
                break
            low, last = off[node], off[node + 1]
            high = last
            while low < high:
                middle = (low + high) >> 1
                if heads[middle] < codes[at]:
                    low = middle + 1
                else:
                    high = middle
            if low == last or heads[low] != codes[at]:
                break
            node = low + 1
            at += 1
        first += 1
    hits[0] = n_hits
    return first
