"""Vectorised draws that the generators share: distinct attributes, distinct values, Zipf, inferred predicates.

Everything takes a `numpy.random.Generator` and is reproducible from its seed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from conjunctions import Op, offsets_of
from numpy.typing import NDArray

MAX_LISTED = 6
"""The longest list of IN and NOT IN (BE-Tree, 7.1)."""

CLASSES: dict[str, tuple[Op, ...]] = {
    "min": (Op.EQUAL,),
    "low": (Op.EQUAL, Op.IN),
    "med": (Op.LESS, Op.AT_MOST, Op.EQUAL, Op.AT_LEAST, Op.GREATER, Op.IN, Op.BETWEEN),
    "high": (
        Op.LESS, Op.AT_MOST, Op.EQUAL, Op.NOT_EQUAL, Op.AT_LEAST, Op.GREATER, Op.IN, Op.NOT_IN, Op.BETWEEN,
    ),
    "unequal": (Op.EQUAL, Op.NOT_EQUAL),
}  # fmt: skip
"""The operators of each level of expressiveness (BE-Tree, Table 2(a)), and a class of our own."""


def zipf_weights(n: int, exponent: float) -> NDArray[np.float64]:
    """The probabilities of n things, the first most likely; exponent 0 is uniform."""
    weights = np.arange(1, n + 1, dtype=np.float64) ** -exponent
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def weighted(rng: np.random.Generator, weights: NDArray[np.float64], size: int | tuple[int, ...]) -> NDArray[np.int32]:
    """Indices drawn with the given probabilities."""
    cumulated = np.cumsum(weights)
    drawn = np.searchsorted(cumulated, rng.random(size) * cumulated[-1], side="right")
    indices: NDArray[np.int32] = np.minimum(drawn, len(weights) - 1).astype(np.int32)
    return indices


def distinct_weighted(rng: np.random.Generator, weights: NDArray[np.float64], n: int, k: int) -> NDArray[np.int32]:
    """int32[n, k]: rows of k distinct indices, drawn one after the other with the given probabilities.

    What a row has already is drawn again: the order within a row is that of drawing.
    """
    rows = weighted(rng, weights, (n, k))
    if k > len(weights):
        raise ValueError(f"{k} distinct of {len(weights)}")
    if k > len(weights) // 4:
        # Many of few: the k smallest of exponential times, one for each index, are such a draw.
        step = max(1, 4_000_000 // len(weights))
        for start in range(0, n, step):
            part = rows[start : start + step]
            times = rng.exponential(size=(len(part), len(weights))) / weights
            part[:] = np.argsort(times, axis=1)[:, :k]
        return rows
    pending = np.arange(n)
    while len(pending):
        part = rows[pending]
        order = np.argsort(part, axis=1, kind="stable")
        ordered = np.take_along_axis(part, order, axis=1)
        again = np.zeros(part.shape, np.bool_)
        np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
        part[again] = weighted(rng, weights, int(again.sum()))
        rows[pending] = part
        pending = pending[again.any(axis=1)]
    return rows


def distinct_values(rng: np.random.Generator, n: int, k: int, below: int) -> NDArray[np.int32]:
    """int32[n, k]: rows of k distinct integers from 0 to below - 1, all sets equally likely (Floyd's algorithm)."""
    chosen = np.empty((n, k), np.int32)
    for column, top in enumerate(range(below - k, below)):
        drawn = rng.integers(0, top + 1, n)
        taken = (chosen[:, :column] == drawn[:, None]).any(axis=1)
        chosen[:, column] = np.where(taken, top, drawn)
    return chosen


class Inferred(NamedTuple):
    """Predicates that hold for one value each: columns as in `Conjunctions`."""

    op: NDArray[np.uint8]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    list_off: NDArray[np.int64]
    list_values: NDArray[np.int32]


def inferred(
    rng: np.random.Generator,
    values: NDArray[np.int32],
    cardinality: int,
    operators: tuple[Op, ...],
    p_transformed: float,
    range_share: float,
) -> Inferred:
    """For each value a predicate that it satisfies (BE-Tree, Table 2(b)).

    With probability `p_transformed` it is one of `operators` but EQUAL, each as likely as any other, else EQUAL.
    BETWEEN accepts `range_share` of the values on average; a list has 2 to 6 values; other constants are
    uniform among those that the value satisfies. (The table lets `i < v` stand for `i = v`; here it is `i < v + 1`
    at least, since what is derived must follow.)
    """
    n = len(values)
    others = np.array([op for op in operators if op is not Op.EQUAL and (cardinality > 1 or op is Op.IN)], np.uint8)
    op = np.full(n, Op.EQUAL, np.uint8)
    if len(others):
        chosen = rng.random(n) < p_transformed
        op[chosen] = others[rng.integers(0, len(others), int(chosen.sum()))]
    low, high = values.astype(np.int32), values.astype(np.int32)
    for which in (Op.LESS, Op.AT_MOST):
        rows = np.flatnonzero(op == which)
        low[rows] = 1
        high[rows] = rng.integers(values[rows], cardinality + 1)
    for which in (Op.AT_LEAST, Op.GREATER):
        rows = np.flatnonzero(op == which)
        low[rows] = rng.integers(1, values[rows] + 1)
        high[rows] = cardinality
    rows = np.flatnonzero(op == Op.NOT_EQUAL)
    drawn = rng.integers(1, cardinality, len(rows))
    low[rows] = high[rows] = drawn + (drawn >= values[rows])
    rows = np.flatnonzero(op == Op.BETWEEN)
    low[rows], high[rows] = _ranges(rng, values[rows], cardinality, range_share)
    return Inferred(op, low, high, *_lists(rng, op, values, cardinality, low, high))


def _ranges(
    rng: np.random.Generator, values: NDArray[np.int32], cardinality: int, share: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Ranges around the values, at least 2 wide; widths are uniform with the mean `share * cardinality`."""
    mean = share * cardinality
    width = np.floor(rng.uniform(2, max(2 * mean - 1, 2.5), len(values))).astype(np.int32)
    width = np.minimum(width, cardinality)
    first = np.maximum(1, values - width + 1)
    last = np.minimum(values, cardinality - width + 1)
    low = rng.integers(first, last + 1).astype(np.int32)
    return low, low + width - 1


def _lists(
    rng: np.random.Generator,
    op: NDArray[np.uint8],
    values: NDArray[np.int32],
    cardinality: int,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The lists of IN (with the value) and NOT IN (without), ascending; their ends go to low and high."""
    listed = np.flatnonzero((op == Op.IN) | (op == Op.NOT_IN))
    is_in = op[listed] == Op.IN
    # A list has at most all values (IN) or all but one (NOT IN).
    most = np.minimum(MAX_LISTED, np.where(is_in, cardinality, cardinality - 1))
    sizes = rng.integers(np.minimum(2, most), most + 1)
    list_off = offsets_of(sizes)
    list_values = np.empty(int(list_off[-1]), np.int32)
    for size in range(1, MAX_LISTED + 1):
        for with_value in (True, False):
            mine = np.flatnonzero((sizes == size) & (is_in == with_value))
            if not len(mine):
                continue
            own = values[listed[mine]]
            drawn = distinct_values(rng, len(mine), size - with_value, cardinality - 1) + 1
            drawn += drawn >= own[:, None]  # all values but the own one
            if with_value:
                drawn = np.concatenate((drawn, own[:, None]), axis=1)
            drawn.sort(axis=1)
            list_values[list_off[mine][:, None] + np.arange(size)] = drawn
    low[listed], high[listed] = list_values[list_off[:-1]], list_values[list_off[1:] - 1]
    return list_off, list_values
