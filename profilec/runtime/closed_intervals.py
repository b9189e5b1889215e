"""Closed intervals of whole numbers, ascending and disjoint: of ranks, or of keys."""

from __future__ import annotations

Intervals = list[tuple[int, int]]


def intersection(left: Intervals, right: Intervals) -> Intervals:
    """What two of them have in common.

    >>> intersection([(1, 4), (6, 9)], [(3, 7)])
    [(3, 4), (6, 7)]
    """
    found: Intervals = []
    i = j = 0
    while i < len(left) and j < len(right):
        low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if low <= high:
            found.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return found
