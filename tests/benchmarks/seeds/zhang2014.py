"""The figures of OpIndex (Zhang, Chan, Tan, PVLDB 7(8), 2014): 1, 7 to 10, 13 and 14, for 2 cores and 24 GB.

Scale: a tenth of the paper's subscriptions and of its attributes at the defaults, 100,000 and 2,000, so that lists are
as long as the paper's; where it goes from 1 to 40 million subscriptions, this goes from 20,000 to 800,000. Figures 1
and 7 are about many attributes, and have the paper's, with 200,000 subscriptions. Workloads are `opindex`'s. `contests`
says what is timed and how.

    OpIndex, OpIndex-BS   the product's matcher, and the same without segments and signatures
    k-index, BE-Tree      baselines; the first enumerates values, the second inserts entry by entry, leaf capacity 5
    betree                the product's default tree, for comparison: it is in none of the paper's figures

Construction is from the image (of the k-index from the columns of predicates), without making the image, which all but
the k-index share. Memory is the bytes of the arrays that matching reads. The AOL and eBay data of Figures 11 and 12
are not to be had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import opindex
from seeds.chart import Axis, Chart
from seeds.contests import QUICK, WHOLE, Load, made, n_documents, seconds
from seeds.extensions import by_clauses, by_prefixes

_NAMES = {"k-index": "k-index", "BE-Tree": "BE", "OpIndex": "OpIndex", "OpIndex-BS": "OpIndex-BS", "betree": "betree"}
"""By the paper's legend, the names of `contests`."""
_CAPACITY = 5
"""The leaf capacity of BE-Tree (7.2)."""


class Measured(NamedTuple):
    """Of one matcher: seconds to make it, bytes, and seconds a document."""

    construction: float
    n_bytes: int
    match: float


Point = tuple[float, dict[str, Measured]]

_SWEEPS: dict[str, tuple[str, Sequence[float], Sequence[float]]] = {
    "N": ("n_profiles", (20_000, 200_000, 400_000, 600_000, 800_000), (500, 1_000)),
    "d": ("d", (20_000, 30_000, 40_000, 50_000, 60_000), (200, 400)),
    "gamma": ("gamma_max", (4, 8, 12, 16, 20), (4, 8)),
    "m": ("m", (20, 40, 60, 80, 100, 120), (20, 40)),
    "theta": ("theta_1", (0.2, 0.4, 0.6, 0.8, 1.0), (0.2, 1.0)),
    "sigma": ("sigma", (50, 200, 800, 3_200, 12_800), (50, 200)),
    "zipf": ("zipf", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (0.0, 1.0)),
}
"""What varies: the field of `opindex.Parameters`, and its values, of --quick too."""
_AXES = {
    "N": Axis("number of subscriptions"),
    "d": Axis("number of attributes"),
    "gamma": Axis("maximum subscription size"),
    "m": Axis("event size"),
    "theta": Axis("share of the operator ="),
    "sigma": Axis("value space", is_log=True),
    "zipf": Axis("Zipf exponent"),
}
_CONSTRUCTION = Axis("index construction (s)", is_log=True)
_MATCH = Axis("event matching (us)", is_log=True)
_MEMORY = Axis("memory (MB)", is_log=True)


def _defaults(quick: bool, with_all_attributes: bool = False) -> opindex.Parameters:
    if quick:
        return opindex.Parameters(n_profiles=500, d=200)
    n_profiles, d = (200_000, 20_000) if with_all_attributes else (100_000, 2_000)
    return opindex.Parameters(n_profiles=n_profiles, d=d)


@cache
def _swept(parameter: str, quick: bool) -> list[Point]:
    """All matchers, for each value."""
    field, whole, small = _SWEEPS[parameter]
    if not quick:
        _swept(parameter, True)  # compiles the kernels
    defaults = _defaults(quick, with_all_attributes=parameter == "d")
    return [(value, _measured(replace(defaults, **{field: value}), quick)) for value in (small if quick else whole)]


def _measured(parameters: opindex.Parameters, quick: bool) -> dict[str, Measured]:
    load = Load.of(opindex.profiles(parameters), opindex.documents(parameters, n_documents(quick)))
    matchers = made(list(_NAMES.values()), load, _CAPACITY)
    took = seconds(matchers, QUICK if quick else WHOLE)
    return {name: Measured(own.seconds, own.matcher.n_bytes, took[name]) for name, own in matchers.items()}


def _chart(
    name: str,
    title: str,
    parameter: str,
    y: Axis,
    value: Callable[[Measured], float],
    legend: Sequence[str],
    quick: bool,
) -> Chart:
    """One value of each point, for the matchers of the legend; a matcher that could not be made has no point there."""
    points = _swept(parameter, quick)
    series = {
        label: [(x, value(of_all[_NAMES[label]])) for x, of_all in points if _NAMES[label] in of_all]
        for label in legend
    }
    return Chart(name, title, _AXES[parameter], y, series)


def _node_capacity(name: str, title: str, y: Axis, value: Callable[[Measured], float], quick: bool) -> Chart:
    """Figure 7: one workload, and BE-Trees of several leaf capacities, the product's lists too."""
    points = _capacities(quick)
    series = {label: [(x, value(of_all[own])) for x, of_all in points] for label, own in _CAPACITY_NAMES.items()}
    return Chart(name, title, Axis("node capacity"), y, series)


_CAPACITY_NAMES = {"BE-Tree": "BE", "betree:list": "betree:list"}


@cache
def _capacities(quick: bool) -> list[Point]:
    if not quick:
        _capacities(True)
    parameters = _defaults(quick, with_all_attributes=True)
    load = Load.of(opindex.profiles(parameters), opindex.documents(parameters, n_documents(quick)))
    points: list[Point] = []
    for capacity in (5, 50) if quick else (5, 10, 25, 50, 100, 150, 200, 250):
        matchers = made(list(_CAPACITY_NAMES.values()), load, capacity)
        took = seconds(matchers, QUICK if quick else WHOLE)
        own = {name: Measured(one.seconds, one.matcher.n_bytes, took[name]) for name, one in matchers.items()}
        points.append((capacity, own))
    return points


def _construction(measured: Measured) -> float:
    return measured.construction


def _match(measured: Measured) -> float:
    return measured.match * 1e6


def _memory(measured: Measured) -> float:
    return measured.n_bytes / 1e6


_FIRST = ("k-index", "BE-Tree", "OpIndex", "betree")
_ALL = tuple(_NAMES)

Maker = Callable[[bool], Chart]


def _charts() -> Iterable[tuple[str, Maker]]:
    def swept(figure: str, title: str, parameter: str, y: Axis, value: Any, legend: Sequence[str]) -> Any:
        name = f"zhang2014_fig{figure}"
        return name, partial(_chart, name, title, parameter, y, value, legend)

    yield swept("01a", "Index construction by attributes", "d", _CONSTRUCTION, _construction, _FIRST)
    yield swept("01b", "Event matching by attributes", "d", _MATCH, _match, _FIRST)
    for half, title, y, value in (
        ("a", "Index construction by node capacity of BE-Tree", _CONSTRUCTION, _construction),
        ("b", "Event matching by node capacity of BE-Tree", _MATCH, _match),
    ):
        name = f"zhang2014_fig07{half}"
        yield name, partial(_node_capacity, name, title, y, value)
    yield swept("08a", "Memory by subscriptions", "N", _MEMORY, _memory, _ALL)
    yield swept("08b", "Memory by value space", "sigma", _MEMORY, _memory, _ALL)
    yield swept("09a", "Index insertion by subscriptions", "N", _CONSTRUCTION, _construction, _ALL)
    yield swept("09b", "Index insertion by subscription size", "gamma", _CONSTRUCTION, _construction, _ALL)
    for half, parameter in zip("abcdef", ("N", "gamma", "m", "theta", "sigma", "zipf"), strict=True):
        title = f"Event matching by {_AXES[parameter].label}"
        yield swept(f"10{half}", title, parameter, _MATCH, _match, _ALL)
    yield "zhang2014_fig13a", partial(by_clauses, "N")
    yield "zhang2014_fig13b", partial(by_clauses, "clauses")
    yield "zhang2014_fig14a", partial(by_prefixes, "share")
    yield "zhang2014_fig14b", partial(by_prefixes, "length")


CHARTS: dict[str, Maker] = dict(_charts())
