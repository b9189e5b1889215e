"""`make bench-seeds`: measures the figures and tables of the papers again, and writes each as CSV and PNG.

In: modules `seeds/AUTHORYEAR.py`, each with CHARTS: by name a function `chart(quick) -> Chart`.
Out: `bench-results/seeds/NAME.csv` and `.png` (the picture where matplotlib is there); of --quick, in
`bench-results/quick/seeds/`. RESULTS.md compares them with what the papers say.

    python tests/benchmarks/run_seeds.py [--quick] [NAME …]

A NAME is that of a chart, or of a module for all of its charts.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import sys
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from figures import results_folder  # noqa: E402  (the folder is no package)
from seeds.chart import Axis, Chart  # noqa: E402


def main() -> None:
    found = charts()
    parser = argparse.ArgumentParser(description="Measures the figures and tables of the papers again.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(found)}; default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that they run")
    options = parser.parse_args()
    chosen = {name: measure for name, measure in found.items() if not options.names or _is_asked(name, options.names)}
    unknown = [name for name in options.names if not any(_is_asked(chart, [name]) for chart in found)]
    if unknown:
        parser.error(f"no chart {', '.join(unknown)}; there are {', '.join(found)}")
    results = results_folder(options.quick) / "seeds"
    results.mkdir(exist_ok=True)
    for name, measure in chosen.items():
        start = time.perf_counter()
        chart = measure(options.quick)
        print(f"\n{name}: {chart.title} ({time.perf_counter() - start:.0f} s)\n{_table(chart)}", flush=True)
        _write_csv(results / f"{name}.csv", chart)
        _write_picture(results / f"{name}.png", chart)


def charts() -> dict[str, Callable[[bool], Chart]]:
    """What measures each chart, by its name."""
    found: dict[str, Callable[[bool], Chart]] = {}
    for path in sorted((HERE / "seeds").glob("*[0-9].py")):
        found |= importlib.import_module(f"seeds.{path.stem}").CHARTS
    return found


def _is_asked(chart: str, names: list[str]) -> bool:
    return chart in names or chart.partition("_")[0] in names


def _table(chart: Chart) -> str:
    width = max(len(name) for name in chart.series)
    lines = [f"  {chart.y.label}, by {chart.x.label}"]
    for name, points in chart.series.items():
        lines.append(f"  {name:<{width}}  " + "  ".join(f"{x}: {y:.4g}" for x, y in points))
    return "\n".join(lines)


def _write_csv(path: Path, chart: Chart) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("series", chart.x.label, chart.y.label))
        writer.writerows((name, x, y) for name, points in chart.series.items() for x, y in points)


def _write_picture(path: Path, chart: Chart) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for (name, points), marker in zip(chart.series.items(), cycle("osD^v<>p*X")):
        # Hollow markers of several shapes: series may lie on one another.
        axes.plot([x for x, _ in points], [y for _, y in points], marker=marker, fillstyle="none", label=name)
    _draw_axis(axes.set_xlabel, axes.set_xscale, chart.x)
    _draw_axis(axes.set_ylabel, axes.set_yscale, chart.y)
    figure.legend(loc="outside right upper")
    figure.suptitle(chart.title)
    figure.savefig(path)


def _draw_axis(set_label: Callable[[str], object], set_scale: Callable[[str], object], axis: Axis) -> None:
    set_label(axis.label)
    if axis.is_log:
        set_scale("log")


if __name__ == "__main__":
    main()
