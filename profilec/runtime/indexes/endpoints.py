"""The distinct endpoints of intervals.

In: where intervals start and where they end. Out: the numbers among these, ascending, each once.

PERF: `np.unique` of NumPy 2.3 and later hashes integers and sorts what is left, which takes ten times as long as a
sort where most are distinct; a stable sort of what is in order already is a merge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def distinct(starts: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any]:
    """The numbers in either array, of one dtype, ascending.

    >>> distinct(np.array([3, 4, 7]), np.array([7, 9, 4])).tolist()
    [3, 4, 7, 9]
    """
    points = np.concatenate((starts, ends))
    points.sort(kind="stable")
    is_first = np.ones(len(points), np.bool_)
    is_first[1:] = points[1:] != points[:-1]
    return points[is_first]
