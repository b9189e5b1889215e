"""One measured figure of a benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parents[2] / "bench-results"


def results_folder(quick: bool) -> Path:
    """Where tables and pictures go; those of small sizes stay apart."""
    folder = RESULTS / "quick" if quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Row(NamedTuple):
    """`value` in `unit`; `baseline` is the same figure of `against`, from the same run; `target` is its limit.

    `times`: the baseline is to be at least so many times the value.
    """

    name: str
    value: float
    unit: str
    baseline: float | None = None
    against: str | None = None
    target: float | None = None
    times: float | None = None


class Skipped(NamedTuple):
    """A figure that is not measured, and why."""

    name: str
    reason: str


def seconds(run: Callable[[], Any], repeat: int = 1) -> float:
    """The best of some runs, by the clock on the wall."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best
