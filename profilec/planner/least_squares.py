"""Least squares with coefficients that are not negative.

In: rows of sizes and what each was measured to cost. Out: the unit costs whose sums miss the measured costs least,
relative to these.

The best solution is an ordinary one over some of the columns, the others being 0 (Lawson and Hanson, Solving Least
Squares Problems, chapter 23). For as few columns as an operator has, all choices of columns are tried, so that it is
found for sure.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def unit_costs(sizes: Floats, measured: Floats) -> Floats:
    """The units x >= 0 for which `sizes @ x` is nearest to `measured`.

    >>> unit_costs(np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 6.0]]), np.array([7.0, 13.0, 19.0])).round(6).tolist()
    [1.0, 3.0]
    """
    rows = sizes / measured[:, np.newaxis]
    scale = np.maximum(np.abs(rows).max(axis=0), 1e-300)
    rows = rows / scale
    ones = np.ones(len(measured))
    best: Any = np.zeros(rows.shape[1])
    least = float(np.square(ones).sum())
    for n in range(1, rows.shape[1] + 1):
        for columns in combinations(range(rows.shape[1]), n):
            found = np.linalg.lstsq(rows[:, columns], ones, rcond=None)[0]
            if (found < 0).any():
                continue
            missed = float(np.square(rows[:, columns] @ found - ones).sum())
            if missed < least - 1e-12:
                least, best = missed, np.zeros(rows.shape[1])
                best[list(columns)] = found
    units: Floats = best / scale
    return units
