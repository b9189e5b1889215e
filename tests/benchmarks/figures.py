"""One measured figure of a benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Row(NamedTuple):
    """`value` in `unit`; `baseline` is the same figure of `against`, from the same run; `target` is its limit."""

    name: str
    value: float
    unit: str
    baseline: float | None = None
    against: str | None = None
    target: float | None = None


def seconds(run: Callable[[], Any], repeat: int = 1) -> float:
    """The best of some runs, by the clock on the wall."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best
