"""Cells: aligned ranges of 2**n keys, the buckets of a cluster directory (BE-Tree, 4.3).

A cell (low, mask) has the keys k with (k ^ low) & mask = 0; the mask is ones, then n zeros. Its halves are the cells
with one bit more in the mask, so they are disjoint; all cells come of halving the int64 domain. That numbers have a
sign plays no part: all keys of an interval have the bits that its ends share, and the sign is the first of these.

An interval's *home* is the smallest cell that encloses it. Before a bucket is cut it gets the smallest cell that
encloses its entries ("best-effort-smallest", the paper says), so that keys that differ in their last bits alone
(strings of one prefix, dates) are told apart by the first cut. What the paper's directory would have between a bucket
and a half of it, each with all entries in one of its halves, is not there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined
from profilec.runtime.matchers.dynamic_betree.tree import LOW, MASK

_SHIFTS = tuple(np.uint64(n) for n in (1, 2, 4, 8, 16, 32))
_S1, _S2, _S4, _S8, _S16, _S32 = _SHIFTS


@inlined
def mask_above(differing: int) -> Any:
    """Ones above the highest bit that is set."""
    bits = np.uint64(differing)
    bits |= bits >> _S1
    bits |= bits >> _S2
    bits |= bits >> _S4
    bits |= bits >> _S8
    bits |= bits >> _S16
    bits |= bits >> _S32
    return np.int64(~bits)


@inlined
def home_mask(low: int, high: int) -> Any:
    return mask_above(low ^ high)


@inlined
def common_mask(low: int, mask: int, other_low: int, other_high: int) -> Any:
    """Of the smallest cell that encloses a cell and an interval."""
    return mask_above((low ^ other_low) | (low ^ other_high) | ~mask)


@inlined
def encloses(pool: Any, node: int, low: int, high: int) -> bool:
    at = pool[node + LOW]
    return (((at ^ low) | (at ^ high)) & pool[node + MASK]) == 0


@inlined
def middle(mask: int) -> Any:
    """The bit that tells the halves apart; 0 for a single key."""
    rest = np.uint64(~mask)
    return np.int64(rest ^ (rest >> _S1))


@inlined
def half_of(pool: Any, node: int, low: int, high: int) -> Any:
    """Which half, 0 or 1, of a bucket encloses an interval that the bucket does; -1: neither."""
    bit = middle(pool[node + MASK])
    if (low ^ high) & bit:
        return -1
    return np.int64((low & bit) != 0)
