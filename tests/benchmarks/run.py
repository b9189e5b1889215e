"""`make bench`: runs the benchmarks of this folder, prints a table for each, writes CSV and PNG.

In: modules `bench_NAME.py`, each with `TITLE` and `rows(quick) -> Iterator[Row]`. Out: tables on
standard output and `bench-results/NAME.csv` and `.png` (the picture where matplotlib is there).

    python tests/benchmarks/run.py [--quick] [NAME …]
"""

from __future__ import annotations

import argparse
import csv
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "bench-results"
sys.path.insert(0, str(HERE))

from figures import Row  # noqa: E402  (the folder is no package)


def main() -> None:
    names = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    parser = argparse.ArgumentParser(description="Runs the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(names)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the sizes: to see that they run")
    options = parser.parse_args()
    unknown = set(options.names) - set(names)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    RESULTS.mkdir(exist_ok=True)
    for name in options.names or names:
        module = importlib.import_module(f"bench_{name}")
        print(f"\n{module.TITLE}")
        rows = list(_shown(module.rows(options.quick)))
        _write_csv(RESULTS / f"{name}.csv", rows)
        _write_picture(RESULTS / f"{name}.png", module.TITLE, rows)


def _shown(rows: Iterator[Row]) -> Iterator[Row]:
    """Passes rows on, each printed as soon as it is measured."""
    for row in rows:
        ratio = "" if row.baseline is None else f"   {row.value / row.baseline:8.2f} x {row.against}"
        target = "" if row.target is None else f"   {'met' if row.value <= row.target else 'MISSED'}: {row.target:g}"
        print(f"  {row.name:<58} {row.value:12,.2f} {row.unit:<4}{ratio}{target}", flush=True)
        yield row


def _write_csv(path: Path, rows: list[Row]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Row._fields)
        writer.writerows(rows)


def _write_picture(path: Path, title: str, rows: list[Row]) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(9, 1 + 0.4 * len(rows)), layout="constrained")
    axes = figure.subplots()
    axes.barh([f"{row.name} ({row.unit})" for row in rows], [row.value for row in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_title(title)
    figure.savefig(path)


if __name__ == "__main__":
    main()
