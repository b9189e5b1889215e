"""Searches of several structures and sizes, measured in turn by `measure.interleaved`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TypeVar

from measure import Effort, Run, interleaved

T = TypeVar("T")


def in_turn(search: Callable[[T], object], values: Sequence[T]) -> Run:
    """Searches for one value after the other, and goes on where the last run ended.

    >>> found = []
    >>> run = in_turn(found.append, "abc")
    >>> run(2), run(2), found
    (None, None, ['a', 'b', 'c', 'a'])
    """
    turns = cycle(values)

    def search_some(n: int) -> None:
        for _ in range(n):
            search(next(turns))

    return search_some


def seconds_by_size(runs: Mapping[tuple[str, int], Run], effort: Effort) -> dict[str, list[tuple[int, float]]]:
    """The median seconds of a search, as points by series. `runs`: by series and size.

    All sizes take turns, too: what else the machine does falls on all of them alike, and spoils no growth.
    """
    keys = {f"{name}, {size}": (name, size) for name, size in runs}
    seconds = interleaved({text: runs[key] for text, key in keys.items()}, whole={}, effort=effort)
    series: dict[str, list[tuple[int, float]]] = {}
    for text, (name, size) in keys.items():
        series.setdefault(name, []).append((size, seconds[text]))
    return series
