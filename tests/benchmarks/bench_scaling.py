"""How matching scales: over the columns of BE-Tree's Table 3 and of OpIndex's, one parameter at a time.

In: nothing. Out: rows, and `bench-results/scaling_<parameter>.png`, one plot for each parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import begen
import opindex
from figures import Row, results_folder
from loads import Load, begen_load, opindex_load
from measure import QUICK, SWEEP, Figures, measured

TITLE = "Scaling: one parameter at a time, the others at their defaults"

_LINES = {
    "scan": "the scan",
    "single": "one document",
    "batched": "in batches",
    "two_threads": "in batches, two threads",
}


def rows(quick: bool, large: bool = False) -> Iterator[Row]:
    for parameter, points in _sweeps(quick, large).items():
        measured_points: list[tuple[float, Figures]] = []
        for x, load in points:
            figures = measured(load, QUICK if quick else SWEEP)
            measured_points.append((x, figures))
            yield Row(f"{load.name}: one document", figures.single, "us", figures.scan, "scan")
            yield Row(f"{load.name}: in batches", figures.batched, "us", figures.scan, "scan")
            if figures.matches:
                yield Row(f"{load.name}: candidates a match", figures.candidates, "")
            yield Row(f"{load.name}: bytes a profile", figures.bytes_a_profile, "B")
        _plot(parameter, measured_points, results_folder(quick))


def _sweeps(quick: bool, large: bool) -> dict[str, list[tuple[float, Load]]]:
    """Parameter to points: its value, and the load."""
    n = 1_000 if quick else 100_000
    sizes = (1_000, 3_000) if quick else (10_000, 100_000, 1_000_000, *((10_000_000,) if large else ()))
    begen_sweeps: dict[str, Iterable[tuple[float, dict[str, Any]]]] = {
        "profiles": [(size, {"n_profiles": size}) for size in sizes],
        "dimensions": [(d, {"n_attributes": d}) for d in (50, 200, 400, 800, 1_400)],
        "cardinality": [(c, {"cardinality": c}) for c in (48, 1_000, 150_000)],
        "predicate selectivity (%)": [(share, {"range_share": share / 100}) for share in (6, 12, 25, 50)],
        "dimension selectivity": [
            (c, {"cardinality": c, "equality": 1.0, "operators": "min"}) for c in (2, 4, 6, 8, 10)
        ],
        "profile size": [
            (size, {"profile_size": size, "document_size": of}) for size, of in ((5, 13), (17, 26), (36, 51), (66, 81))
        ],
        "equality (%)": [(share, {"equality": share / 100}) for share in (20, 40, 60, 80, 100)],
        "match probability (%)": [(share, {"match_probability": share / 100}) for share in (0.01, 0.1, 1, 9, 50)],
        "match probability of class high (%)": [
            (share, {"match_probability": share / 100, "operators": "high"}) for share in (0.01, 0.1, 1, 9)
        ],
        "Zipf": [(exponent, {"zipf": exponent}) for exponent in (0.0, 0.5, 1.0)],
    }
    opindex_sweeps: dict[str, Iterable[tuple[float, dict[str, Any]]]] = {
        "OpIndex d": [(d, {"d": d}) for d in (20_000, 40_000, 60_000)],
        "OpIndex gamma_max": [(size, {"gamma_max": size}) for size in (4, 8, 12, 16, 20)],
        "OpIndex m": [(m, {"m": m}) for m in (20, 40, 80, 120)],
        "OpIndex theta_1 (%)": [(share, {"theta_1": share / 100}) for share in (20, 60, 100)],
        "OpIndex sigma": [(sigma, {"sigma": sigma}) for sigma in (50, 800, 12_800)],
        "OpIndex Zipf": [(exponent, {"zipf": exponent}) for exponent in (0.0, 0.4, 0.8, 1.0)],
    }
    sweeps: dict[str, list[tuple[float, Load]]] = {}
    for parameter, points in begen_sweeps.items():
        sweeps[parameter] = [
            (x, begen_load(f"{parameter} {x:,}", begen.Parameters(**{"n_profiles": n, **changed})))
            for x, changed in points
        ]
    for parameter, points in opindex_sweeps.items():
        sweeps[parameter] = [
            (x, opindex_load(f"{parameter} {x:,}", opindex.Parameters(**{"n_profiles": n, **changed})))
            for x, changed in points
        ]
    return sweeps


def _plot(parameter: str, points: list[tuple[float, Figures]], folder: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    xs = [x for x, _ in points]
    for field, label in _LINES.items():
        axes.plot(xs, [getattr(figures, field) for _, figures in points], marker="o", label=label)
    if min(xs) > 0 and max(xs) / min(xs) >= 8:
        axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(parameter)
    axes.set_ylabel("us a document")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(folder / f"scaling_{_file_name(parameter)}.png")


def _file_name(parameter: str) -> str:
    return "_".join("".join(c if c.isalnum() else " " for c in parameter.lower()).split())
