"""Wu, Chen, Yu, Mei 2004 (IBM Research Report RC23063): storage by L (Fig. 5), and event matching time (Fig. 6) and
storage (Fig. 7) of virtual construct intervals, by the number of predicates, with Dlist and IS-lists.

In: intervals of integers as in 5.2: starts are uniform in 1..R-1, lengths in 1..W, what goes beyond R is cut off there.
Out: the paper's figures, of the package's indexes as `seeds.construct_schemes` builds them and of the baselines, all
of which give the same answers. "lci:table" is the package's own index, as it builds it for itself.

Fig. 6 is measured in two ways. The paper's times of VCI indexing hardly grow with n while the answers do, so that they
end where the lists of the answer are known; its IS-lists are another's code, which gives ids. `fig06` does likewise:
activated constructs, the list of Dlist, the ids of IS-lists. `fig06_answers` is the time to the whole answer, a bit
vector, for all of them.

Left open by the paper and decided here: W and L where R is 250,000 are those where it is 5,000. The package's indexes
are searched by Python and numpy calls, the baselines by kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from baselines.dlist import DirectListing
from baselines.is_list import IntervalSkipList
from measure import FULL, QUICK
from seeds.chart import Axis, Chart
from seeds.construct_schemes import Intervals, activated, build, stored_bytes
from seeds.footprint import n_bytes_of
from seeds.turns import in_turn, seconds_by_size

from profilec.runtime.indexes.by_name import INDEXES
from profilec.runtime.indexes.virtual_constructs import VirtualConstructIndex

SEED = 2004
MODERATE, LARGE = 5_000, 250_000
"""R."""
LENGTH = 128
"""L of Figures 6 and 7."""
WIDTH = 200
"""W of Figures 6 and 7."""
N_EVENTS = 1_000
N_COMPARED = 20
OWN = "lci:table"
PREDICATES = Axis("Number of predicates", True)
STORAGE = Axis("Storage (MB)", True)
TIME = Axis("Average event matching time (us)", True)


def _intervals(n: int, n_values: int, width: int) -> Intervals:
    rng = np.random.default_rng((SEED, n))
    low = rng.integers(1, n_values, n)
    high = np.minimum(low + rng.integers(1, width + 1, n), n_values)
    return Intervals(n_values, low.astype(np.int32), high.astype(np.int32))


def _by_length(quick: bool) -> Chart:
    intervals = _intervals(1_000 if quick else 10_000, MODERATE, 500)
    series: dict[str, list[tuple[float, float]]] = {}
    for scheme in ("SCI", "SCI-BC", "LCI", "LCI-BC", "LCI-BV"):
        lengths = [2**power for power in range(1, 5 if quick else 9)]
        series[scheme] = [(length, stored_bytes(build(scheme, intervals, length)) / 1e6) for length in lengths]
    return Chart("wu2004_fig05", "Total storage by L", Axis("L", True), STORAGE, series)


@cache
def _measured(n_values: int, quick: bool) -> Mapping[str, Mapping[str, Sequence[tuple[int, float]]]]:
    """Series of Figures 6 and 7: "lists" and "answers" in microseconds to these, "storage" in megabytes."""
    events: list[int] = np.random.default_rng((SEED, 1)).integers(1, n_values + 1, N_EVENTS).tolist()
    to_lists, to_answers = {}, {}
    storage: dict[str, list[tuple[int, float]]] = {}
    for n in (1_000, 4_000) if quick else [1_000 * 4**step for step in range(6)]:
        intervals = _intervals(n, n_values, WIDTH)
        for name, index in _competitors(intervals, events[:N_COMPARED]).items():
            is_listed = isinstance(index, VirtualConstructIndex)
            to_lists[name, n] = in_turn(activated(index) if is_listed else index.stab, events)
            to_answers[name, n] = in_turn(index.entries_at, events)
            n_bytes = stored_bytes(index) if is_listed else n_bytes_of(index)
            storage.setdefault(name, []).append((n, n_bytes / 1e6))
    effort = QUICK if quick else FULL
    measured: dict[str, dict[str, list[tuple[int, float]]]] = {"storage": storage}
    for what, runs in (("lists", to_lists), ("answers", to_answers)):
        seconds = seconds_by_size(runs, effort)
        measured[what] = {name: [(n, taken * 1e6) for n, taken in points] for name, points in seconds.items()}
    return measured


def _competitors(intervals: Intervals, events: Sequence[int]) -> dict[str, Any]:
    """The indexes by name; LCI and Dlist where R is moderate, as in the paper.

    Raises:
        AssertionError: one gives another answer to an event than the definition.
    """
    is_moderate = intervals.n_values == MODERATE
    schemes = ("LCI",) * is_moderate + ("LCI-BC", "LCI-BV", "LCI-BV(DT)")
    built: dict[str, Any] = {scheme: build(scheme, intervals, LENGTH) for scheme in schemes}
    if is_moderate:
        built["Dlist"] = DirectListing(*intervals.arrays())
    built["IS-lists"] = IntervalSkipList(*intervals.arrays())
    built[OWN] = INDEXES[OWN](*intervals.arrays())
    for event in events:
        expected = np.flatnonzero((intervals.low <= event) & (event <= intervals.high)).tolist()
        for name, index in built.items():
            assert list(index.entries_at(event)) == expected, (name, event)
    return built


class _Figure(NamedTuple):
    """`what`: the series of `_measured` that it shows."""

    what: str
    n_values: int
    title: str
    y: Axis


_TO_LISTS = "Event matching time, to the lists of the answer"
_TO_ANSWER = "Event matching time, to the answer"
_FIGURES = {
    "wu2004_fig06a": _Figure("lists", MODERATE, _TO_LISTS, TIME),
    "wu2004_fig06b": _Figure("lists", LARGE, _TO_LISTS, TIME),
    "wu2004_fig06a_answers": _Figure("answers", MODERATE, _TO_ANSWER, TIME),
    "wu2004_fig06b_answers": _Figure("answers", LARGE, _TO_ANSWER, TIME),
    "wu2004_fig07a": _Figure("storage", MODERATE, "Storage", STORAGE),
    "wu2004_fig07b": _Figure("storage", LARGE, "Storage", STORAGE),
}


def _by_number(name: str, quick: bool) -> Chart:
    figure = _FIGURES[name]
    series = _measured(figure.n_values, quick)[figure.what]
    return Chart(name, f"{figure.title}, R = {figure.n_values:,}", PREDICATES, figure.y, series)


CHARTS: dict[str, Callable[[bool], Chart]] = {
    "wu2004_fig05": _by_length,
    **{name: partial(_by_number, name) for name in _FIGURES},
}
