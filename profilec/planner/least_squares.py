"""Least squares with coefficients that are not negative.

In: rows of sizes and what each was measured to cost. Out: the unit costs whose sums miss the measured costs least,
relative to these.

Lawson and Hanson, Solving Least Squares Problems, chapter 23: columns are taken one after another, the one first by
which most is to be gained, and those that would get a negative coefficient go back. What is found is the best.
"""

from __future__ import annotations

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
    found = np.zeros(rows.shape[1])
    taken = np.zeros(rows.shape[1], np.bool_)
    while not taken.all():
        gain = np.where(taken, -np.inf, rows.T @ (ones - rows @ found))
        if gain.max() <= _NOTHING * len(measured):
            break
        taken[gain.argmax()] = True
        best = _over(rows, ones, taken)
        while (best[taken] <= 0).any():
            falls = taken & (best <= 0)
            found += (found[falls] / (found[falls] - best[falls])).min() * (best - found)
            taken &= found > _NOTHING
            best = _over(rows, ones, taken)
        found = best
    units: Floats = found / scale
    return units


_NOTHING = 1e-12
"""Of numbers about 1, what rounding makes of 0."""


def _over(rows: Floats, ones: Floats, taken: NDArray[np.bool_]) -> Floats:
    """The ordinary solution over some columns; 0 in the others."""
    best = np.zeros(rows.shape[1])
    best[taken] = np.linalg.lstsq(rows[:, taken], ones, rcond=None)[0]
    return best
