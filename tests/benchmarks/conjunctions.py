"""Conjunctions over integer attributes, as columns: what every generator gives and every baseline reads.

Attributes are numbered; `a7` is number 7. A value is an integer from 1 to the cardinality, and 0
stands for an attribute that a document does not have. One predicate is one row:

    op        EQUAL  NOT_EQUAL  LESS    AT_MOST  AT_LEAST  GREATER  BETWEEN  IN        NOT_IN    IS_NULL
    text      = 5    != 5       < 5     <= 5     >= 5      > 5      3 AND 9  (3, 5)    (3, 5)
    low       5      5          1       1        5         6        3        3         3         0
    high      5      5          4       5        card      card     9        5         5         0

`low..high` are the values accepted, or for NOT_EQUAL those refused; of a list they are its ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

MAX_MASKED = 63
"""The largest cardinality whose values, and absence, have a bit each in 64."""
_BELOW = np.array([(1 << bit) - 1 for bit in range(65)], np.uint64)


class Op(IntEnum):
    """What a predicate asks; those from IN to NOT_IN have a list of values."""

    EQUAL = 0
    NOT_EQUAL = 1
    LESS = 2
    AT_MOST = 3
    AT_LEAST = 4
    GREATER = 5
    BETWEEN = 6
    IN = 7
    NOT_IN = 8
    IS_NULL = 9


@dataclass(frozen=True, slots=True)
class Conjunctions:
    """Profiles, each an AND of predicates: profile i has the rows `off[i] .. off[i + 1]`.

    `list_off, list_values`: the ascending values of the rows with a list, in the order of these rows.
    `mask`: bit v is set where value v is accepted (bit 0: absence); None where the cardinality exceeds 63.
    """

    n_attributes: int
    cardinality: int
    off: NDArray[np.int64]
    op: NDArray[np.uint8]
    slot: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    list_off: NDArray[np.int64]
    list_values: NDArray[np.int32]
    mask: NDArray[np.uint64] | None

    def __len__(self) -> int:
        return len(self.off) - 1

    def accepted(self) -> NDArray[np.int64]:
        """How many of an attribute's values each row accepts."""
        width = (self.high - self.low + 1).astype(np.int64)
        has_list = has_list_of(self.op)
        width[has_list] = np.diff(self.list_off)
        refuses = (self.op == Op.NOT_EQUAL) | (self.op == Op.NOT_IN)
        width[refuses] = self.cardinality - width[refuses]
        return width


def has_list_of(op: NDArray[np.uint8]) -> NDArray[np.bool_]:
    has_list: NDArray[np.bool_] = (op == Op.IN) | (op == Op.NOT_IN)
    return has_list


def masks_of(
    op: NDArray[np.uint8],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    list_off: NDArray[np.int64],
    list_values: NDArray[np.int32],
    cardinality: int,
) -> NDArray[np.uint64] | None:
    """Per row the values it accepts, a bit each; None where 64 bits do not hold them."""
    if cardinality > MAX_MASKED:
        return None
    mask = _BELOW[high + 1] & ~_BELOW[low]
    listed = np.flatnonzero(has_list_of(op))
    if len(listed):
        mask[listed] = np.bitwise_or.reduceat(np.uint64(1) << list_values.astype(np.uint64), list_off[:-1])
    refuses = (op == Op.NOT_EQUAL) | (op == Op.NOT_IN)
    mask[refuses] = ~mask[refuses] & (_BELOW[cardinality + 1] - np.uint64(1))
    return mask


def with_masks(
    n_attributes: int,
    cardinality: int,
    off: NDArray[np.int64],
    op: NDArray[np.uint8],
    slot: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    list_off: NDArray[np.int64],
    list_values: NDArray[np.int32],
) -> Conjunctions:
    """The columns, and the masks that follow from them."""
    mask = masks_of(op, low, high, list_off, list_values, cardinality)
    return Conjunctions(n_attributes, cardinality, off, op, slot, low, high, list_off, list_values, mask)


def concatenated(parts: Iterable[Conjunctions]) -> Conjunctions:
    """The profiles of all parts, in order."""
    all_parts = list(parts)
    first = all_parts[0]
    if len(all_parts) == 1:
        return first
    masks = [part.mask for part in all_parts if part.mask is not None]
    return Conjunctions(
        first.n_attributes,
        first.cardinality,
        joined_offsets([part.off for part in all_parts]),
        np.concatenate([part.op for part in all_parts]),
        np.concatenate([part.slot for part in all_parts]),
        np.concatenate([part.low for part in all_parts]),
        np.concatenate([part.high for part in all_parts]),
        joined_offsets([part.list_off for part in all_parts]),
        np.concatenate([part.list_values for part in all_parts]),
        np.concatenate(masks) if masks else None,
    )


def joined_offsets(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The offsets of CSR arrays laid one after the other."""
    return offsets_of(np.concatenate([np.diff(part) for part in parts]))


def offsets_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """n sizes to n + 1 offsets."""
    off = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=off[1:])
    return off
