"""The figures of BE-Tree (Sadoghi and Jacobsen, SIGMOD 2011): 4 to 13, and Table 5.

Scale: a million subscriptions are 40,000 (in Figure 5 and Table 5 a tenth of the paper's), 100,000 are 20,000; all
other rows of Table 3 are as they are there. Workloads are `begen`'s; those on the left are uniform, on the right Zipf
with exponent 1. `contests` says what is timed and how.

    BE, BE-B         baselines: the paper's tree, entries inserted one by one, and all known beforehand (7.2)
    SIFT             the product's `counting`: ranges are not enumerated, as the paper's are
    GR               Gryphon, where all predicates are equalities in its specialized form
    k-ind, P, SCAN   baselines; the k-index enumerates values
    betree           the product's tree as it is planned; `betree:list` and `betree:matrix` have all leaves of one form
                     and the capacity of BE: they are in none of the paper's figures

The leaf capacity is Table 4's. DBLP cannot be had: what Figure 12 and Table 5 take from it is here public product
titles (`titles`), the shorter ones, types of products, in place of authors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import begen
from seeds.adapting import adapting
from seeds.chart import Axis, Chart
from seeds.contests import QUICK, WHOLE, Load, made, n_documents, seconds
from seeds.titles import documents_of_texts, profiles_of, titles, types

from profilec.planner.lower.betree.costs import max_cap

Maker = Callable[[bool], Chart]
_OF_MILLION, _OF_HUNDRED_THOUSAND, _SMALL = 40_000, 20_000, 300
_MATCH = Axis("matching time (us)", is_log=True)
_OURS = {"betree": "betree", "betree:list": "betree:list", "betree:matrix": "betree:matrix"}
_TREES = {"BE": "BE", "BE-B": "BE-B", **_OURS}
_ALL = {"SCAN": "SCAN", "SIFT": "SIFT", "k-ind": "k-index", "GR": "Gryphon", "P": "Propagation", **_TREES}
_INEQUALITIES = {"SCAN": "SCAN", "GR": "Gryphon", **_TREES}
"""Those that 7.2 considers where there are inequalities."""
_EQUALITIES = {**_ALL, "GR": "Gryphon, equality"}
"""By the paper's legend, the names of `contests`."""
_WORKLOADS = {"a": ("uniform", 0.0), "b": ("Zipf", 1.0)}

_Points = Sequence[tuple[float, dict[str, Any]]]


def _sweep(
    name: str,
    title: str,
    axis: Axis,
    defaults: begen.Parameters,
    points: _Points,
    quick: bool,
    legend: dict[str, str] | None = None,
) -> Chart:
    """A chart of matching times; each point changes some of the parameters. Of --quick the first and the last."""
    series: dict[str, list[tuple[float | str, float]]] = {}
    for x, changed in (points[0], points[-1]) if quick else points:
        own = replace(defaults, **changed)
        if quick:
            own = replace(own, n_profiles=_SMALL, cardinality=min(own.cardinality, 480))
        names = legend or (_EQUALITIES if own.equality == 1 else _ALL)
        load = _generated(own, quick)
        for label, value in _times(names, load, max_cap(own.match_probability), quick).items():
            series.setdefault(label, []).append((x, value))
    return Chart(name, title, axis, _MATCH, series)


def _generated(parameters: begen.Parameters, quick: bool) -> Load:
    return Load.of(begen.profiles(parameters), begen.documents(parameters, n_documents(quick)))


def _written(texts: list[str], quick: bool) -> Load:
    return Load.of(profiles_of(texts), documents_of_texts(texts[: n_documents(quick)]))


def _times(names: dict[str, str], load: Load, capacity: int, quick: bool) -> dict[str, float]:
    """Microseconds a document, by the legend's names."""
    took = seconds(made(list(names.values()), load, capacity), QUICK if quick else WHOLE)
    return {label: took[own] * 1e6 for label, own in names.items() if own in took}


def _swept(figure: str, title: str, axis: Axis, defaults: begen.Parameters, points: _Points) -> Iterator[Any]:
    """The two charts of a figure, uniform and Zipf, whose halves are the letters of `figure`: "08cd"."""
    number, halves = figure[:2], figure[2:] or "ab"
    for half, (workload, zipf) in zip(halves, _WORKLOADS.values(), strict=True):
        name = f"sadoghi2011_fig{number}{half}"
        own = replace(defaults, zipf=zipf)
        yield name, partial(_sweep, name, f"{title}, {workload}", axis, own, points)


def _capacities(half: str, quick: bool) -> Chart:
    """Figure 4: BE by leaf capacity, for several match probabilities."""
    workload, zipf = _WORKLOADS[half]
    series: dict[str, list[tuple[float | str, float]]] = {}
    for probability in (0.01,) if quick else (0.0001, 0.001, 0.01, 0.09):
        n = _SMALL if quick else _OF_MILLION
        own = begen.Parameters(n, zipf=zipf, match_probability=probability)
        load = _generated(own, quick)
        for capacity in (5, 160) if quick else (5, 10, 20, 40, 80, 160):
            (value,) = _times({"BE": "BE"}, load, capacity, quick).values()
            series.setdefault(f"match probability {probability:.2%}", []).append((capacity, value))
    axis = Axis("leaf capacity", is_log=True)
    return Chart(f"sadoghi2011_fig04{half}", f"Varying the leaf capacity of BE, {workload}", axis, _MATCH, series)


def _expressiveness(half: str, operators: str, workload: str, zipf: float, quick: bool) -> Chart:
    """Figure 11: by match probability."""
    defaults = begen.Parameters(_OF_MILLION, zipf=zipf, operators=operators)
    points = [(share, {"match_probability": share / 100}) for share in (0.01, 0.1, 1.0, 3.0, 9.0)]
    legend = _INEQUALITIES if operators == "high" else _ALL
    title = f"Varying match probability, {workload}, operators of class {operators}"
    axis = Axis("match probability (%)", is_log=True)
    return _sweep(f"sadoghi2011_fig11{half}", title, axis, defaults, points, quick, legend)


_TEXTS = {"a": ("types", types, (500, 1_000, 1_500, 2_000)), "b": ("titles", titles, (2_000, 6_000, 12_000, 18_000))}


def _texts(half: str, quick: bool) -> Chart:
    """Figure 12: 3-grams of product titles; events are texts of the same sort."""
    what, texts, sizes = _TEXTS[half]
    series: dict[str, list[tuple[float | str, float]]] = {}
    for n in (100, 200) if quick else sizes:
        chosen = texts()[:n]
        load = _written(chosen, quick)
        for label, value in _times(_EQUALITIES, load, max_cap(0), quick).items():
            series.setdefault(label, []).append((n, value))
    title = f"Varying the workload size, 3-grams of product {what}"
    return Chart(f"sadoghi2011_fig12{half}", title, Axis("subscriptions"), _MATCH, series)


@cache
def _built(quick: bool) -> dict[str, dict[str, tuple[float, float]]]:
    """Table 5: of each data set, seconds and megabytes of each tree."""
    if not quick:
        _built(True)  # compiles the kernels
    n = _SMALL if quick else 100_000
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for name, load, capacity in (
        (f"Unif ({n:,})", _generated(begen.Parameters(n), quick), max_cap(0.01)),
        (f"Zipf ({n:,})", _generated(begen.Parameters(n, zipf=1.0), quick), max_cap(0.01)),
        ("types", _written(types()[:n], quick), max_cap(0)),
        ("titles", _written(titles()[:n], quick), max_cap(0)),
    ):
        trees = made(list(_TREES.values()), load, capacity)
        found[name] = {tree: (own.seconds, own.matcher.n_bytes / 1e6) for tree, own in trees.items()}
    return found


def _table(which: str, quick: bool) -> Chart:
    y, place = (Axis("construction (s)", True), 0) if which == "time" else (Axis("index size (MB)", True), 1)
    sets = _built(quick)
    series = {tree: [(name, of_all[tree][place]) for name, of_all in sets.items()] for tree in _TREES}
    return Chart(f"sadoghi2011_table5_{which}", "BE-Tree construction", Axis("data set"), y, series)


def _charts() -> Iterator[tuple[str, Maker]]:
    million, less = begen.Parameters(_OF_MILLION), begen.Parameters(_OF_HUNDRED_THOUSAND)
    for half in "ab":
        yield f"sadoghi2011_fig04{half}", partial(_capacities, half)
    sizes = [(n, {"n_profiles": n}) for n in (10_000, 25_000, 50_000, 75_000, 100_000)]
    yield from _swept("05", "Varying workload size", Axis("subscriptions"), million, sizes)
    dimensions = [(d, {"n_attributes": d}) for d in (50, 200, 400, 800, 1_400)]
    yield from _swept("06", "Varying space dimensionality", Axis("dimensions"), million, dimensions)
    lengths = [
        (size, {"profile_size": size, "document_size": of})
        for size, of in ((5, 13), (14, 23), (30, 45), (50, 65), (66, 81))
    ]
    yield from _swept("07", "Varying subscription and event size", Axis("predicates a subscription"), less, lengths)
    cardinalities = [(c, {"cardinality": c}) for c in (48, 480, 6_000, 48_000, 150_000)]
    yield from _swept("08", "Varying cardinality", Axis("cardinality", is_log=True), less, cardinalities)
    ranges = [(share, {"range_share": share / 100}) for share in (6, 12, 25, 50)]
    yield from _swept("08cd", "Varying range size", Axis("range size (% of the domain)"), less, ranges)
    equal = replace(less, equality=1.0, operators="min")
    selectivities = [(1 - 1 / c, {"cardinality": c}) for c in (2, 3, 4, 6, 10)]
    yield from _swept("09", "Varying dimension selectivity", Axis("dimension selectivity"), equal, selectivities)
    equalities = [(share, {"equality": share / 100}) for share in (20, 40, 60, 80, 100)]
    yield from _swept("10", "Varying share of equality predicates", Axis("equality (%)"), million, equalities)
    for halves, operators in (("ab", "low"), ("cd", "med"), ("ef", "high")):
        for half, (workload, zipf) in zip(halves, _WORKLOADS.values(), strict=True):
            yield f"sadoghi2011_fig11{half}", partial(_expressiveness, half, operators, workload, zipf)
    for half in _TEXTS:
        yield f"sadoghi2011_fig12{half}", partial(_texts, half)
    for half in "ab":
        yield f"sadoghi2011_fig13{half}", partial(adapting, half)
    for which in ("time", "size"):
        yield f"sadoghi2011_table5_{which}", partial(_table, which)


CHARTS: dict[str, Maker] = dict(_charts())
