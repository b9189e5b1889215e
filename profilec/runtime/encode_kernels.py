"""Kernels of encoding: ranks of a column of numbers, and columns of ranks as sparse documents.

Arrays are those of one batch of n documents.

    numbers      int64, uint64 or float64 [n], read-only
    thresholds   of the same type, ascending (`thresholds`), read-only
    cells        int32 [columns, n]: ranks; column c holds those of slot `column_slots[c]`
    codes        int32 [lists, n]: which row of a CSR array, `code_off` and `code_slots`, each document has
    doc_off      int64 [n + 1], into `doc_slots` and `doc_ranks`, int32
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.kernels import kernel

_BLOCK = 256
N_STEP = 4
"""Elements of a step: what the word is, where its thresholds begin, their number, and the rank below them."""
WORD_IS_RANK, WORD_IS_INTEGER, WORD_IS_FLOAT, NO_WORD = 0, 1, 2, 3
_INFINITY = 0x7FF0_0000_0000_0000
_MAGNITUDE = 0x7FFF_FFFF_FFFF_FFFF


@kernel
def rank_numbers(numbers: NDArray[Any], thresholds: NDArray[Any], first: int, ranks: NDArray[Any]) -> None:
    """`ranks[i]` becomes `first` and the number of thresholds up to number i; 0 for NaN.

    PERF: a block of numbers takes each step of its binary searches together, without a branch: the steps of
    several numbers are one vector instruction, and nothing is guessed wrong.
    """
    for start in range(0, len(numbers), _BLOCK):
        end = min(start + _BLOCK, len(numbers))
        for i in range(start, end):
            ranks[i] = 0
        n = len(thresholds)
        while n > 1:
            half = np.int32(n >> 1)
            for i in range(start, end):
                low = ranks[i]
                # Unsigned: Numba would otherwise ask of each index whether it counts from the end.
                is_above = np.int32(thresholds[np.uint32(low + half - 1)] <= numbers[i])
                ranks[i] = low + (half & -is_above)
            n -= n >> 1
        if n == 1:
            for i in range(start, end):
                ranks[i] += np.int32(thresholds[np.uint32(ranks[i])] <= numbers[i])
        for i in range(start, end):
            ranks[i] = first + ranks[i] if numbers[i] == numbers[i] else 0


@kernel
def rank_document(words: NDArray[Any], steps: NDArray[Any], thresholds: NDArray[Any], ranks: NDArray[Any]) -> bool:
    """Fills `ranks` from the words of one document, int64; whether none of them is 0, as that of NaN is.

    `steps`, int64, has N_STEP elements a rank, and `thresholds`, int64, all that they speak of. Those of a float are
    `float_keys`, which ascend as floats do; `words` has the bits of the float itself. The last steps may have no word.
    """
    whole = True
    for i in range(len(steps) // N_STEP):
        sort, start, n, rank = steps[N_STEP * i], steps[N_STEP * i + 1], steps[N_STEP * i + 2], steps[N_STEP * i + 3]
        if sort == NO_WORD:
            ranks[i] = rank
            continue
        word = words[i]
        if sort == WORD_IS_RANK:
            ranks[i] = word
            continue
        if sort == WORD_IS_FLOAT:
            magnitude = word & _MAGNITUDE
            if magnitude > _INFINITY:
                whole = False
                continue
            word = word if word >= 0 else -magnitude
        low = start
        while n > 1:
            half = n >> 1
            low += half & -np.int64(thresholds[np.uint64(low + half - 1)] <= word)
            n -= half
        if n == 1:
            low += np.int64(thresholds[np.uint64(low)] <= word)
        ranks[i] = rank + low - start
    return whole


def float_keys(floats: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers in the order of the floats, none of which is NaN.

    >>> float_keys(np.array([-1.0, -5e-324, -0.0, 0.0, 5e-324])).tolist()
    [-4607182418800017408, -1, 0, 0, 1]
    """
    bits = np.ascontiguousarray(floats, np.float64).view(np.int64)
    return np.where(bits < 0, -(bits & _MAGNITUDE), bits)


@kernel
def count_sparse(cells: NDArray[Any], codes: NDArray[Any], code_off: NDArray[Any], doc_off: NDArray[Any]) -> None:
    """Fills `doc_off`: a document has its ranks > 0, and the slots of its codes."""
    doc_off[0] = 0
    for i in range(len(doc_off) - 1):
        n = 0
        for c in range(cells.shape[0]):
            n += cells[c, i] != 0
        for c in range(codes.shape[0]):
            n += code_off[codes[c, i] + 1] - code_off[codes[c, i]]
        doc_off[i + 1] = doc_off[i] + n


@kernel
def fill_sparse(
    cells: NDArray[Any],
    column_slots: NDArray[Any],
    codes: NDArray[Any],
    code_off: NDArray[Any],
    code_slots: NDArray[Any],
    doc_slots: NDArray[Any],
    doc_ranks: NDArray[Any],
) -> None:
    """Fills what `count_sparse` counted; the slots of codes have rank 1. `doc_slots`, `doc_ranks`: one element more.

    PERF: an element is written whether or not it counts, and overwritten by the next where it does not.
    """
    place = 0
    for i in range(cells.shape[1]):
        for c in range(cells.shape[0]):
            doc_slots[place] = column_slots[c]
            doc_ranks[place] = cells[c, i]
            place += cells[c, i] != 0
        for c in range(codes.shape[0]):
            code = codes[c, i]
            for j in range(code_off[code], code_off[code + 1]):
                doc_slots[place] = code_slots[j]
                doc_ranks[place] = 1
                place += 1


@kernel
def count_scattered(
    rows: NDArray[Any], ranks: NDArray[Any], code_rows: NDArray[Any], codes: NDArray[Any], code_off: NDArray[Any],
    doc_off: NDArray[Any],
) -> None:  # fmt: skip
    """As `count_sparse`, of ranks in any order: `ranks[j]` is one of document `rows[j]`, and so with the codes."""
    for i in range(len(doc_off)):
        doc_off[i] = 0
    for j in range(len(rows)):
        doc_off[rows[j] + 1] += ranks[j] != 0
    for j in range(len(code_rows)):
        doc_off[code_rows[j] + 1] += code_off[codes[j] + 1] - code_off[codes[j]]
    for i in range(len(doc_off) - 1):
        doc_off[i + 1] += doc_off[i]


@kernel
def fill_scattered(
    rows: NDArray[Any], slots: NDArray[Any], ranks: NDArray[Any], code_rows: NDArray[Any], codes: NDArray[Any],
    code_off: NDArray[Any], code_slots: NDArray[Any], ends: NDArray[Any], doc_slots: NDArray[Any],
    doc_ranks: NDArray[Any],
) -> None:  # fmt: skip
    """Fills what `count_scattered` counted. `ends`, int64 [n]: where each document begins; becomes where it ends."""
    for j in range(len(rows)):
        if ranks[j] != 0:
            place = ends[rows[j]]
            doc_slots[place] = slots[j]
            doc_ranks[place] = ranks[j]
            ends[rows[j]] = place + 1
    for j in range(len(code_rows)):
        place = ends[code_rows[j]]
        for element in range(code_off[codes[j]], code_off[codes[j] + 1]):
            doc_slots[place] = code_slots[element]
            doc_ranks[place] = 1
            place += 1
        ends[code_rows[j]] = place
