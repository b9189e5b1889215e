"""`make bench`: runs the benchmarks of this folder, prints a table for each, writes CSV and PNG.

In: modules `bench_NAME.py`, each with `TITLE` and `rows(quick) -> Iterator[Row | Skipped]`, or `rows(quick, large)`.
Out: tables on standard output and `bench-results/NAME.csv` and `.png` (the picture where matplotlib is there); of
--quick, in `bench-results/quick/`.

    python tests/benchmarks/run.py [--quick | --large] [NAME …]
"""

from __future__ import annotations

import argparse
import csv
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from figures import Row, Skipped, results_folder  # noqa: E402  (the folder is no package)


def main() -> None:
    names = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    parser = argparse.ArgumentParser(description="Runs the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(names)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the sizes: to see that they run")
    parser.add_argument("--large", action="store_true", help="ten million profiles as well, where that is a size")
    options = parser.parse_args()
    unknown = set(options.names) - set(names)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    results = results_folder(options.quick)
    for name in options.names or names:
        module = importlib.import_module(f"bench_{name}")
        print(f"\n{module.TITLE}")
        takes_large = "large" in inspect.signature(module.rows).parameters
        measured = module.rows(options.quick, **({"large": options.large} if takes_large else {}))
        rows = list(_shown(measured))
        _write_csv(results / f"{name}.csv", rows)
        _write_picture(results / f"{name}.png", module.TITLE, rows)


def _shown(rows: Iterator[Row | Skipped]) -> Iterator[Row]:
    """Passes rows on, each printed as soon as it is measured; of what is skipped the reason is printed, and no more."""
    for row in rows:
        if isinstance(row, Skipped):
            print(f"  {row.name}: skipped, {row.reason}", flush=True)
            continue
        told = f"  {row.name:<58} {row.value:12,.2f} {row.unit:<4}{_ratio(row)}{_verdict(row)}"
        print(told.rstrip(), flush=True)
        yield row


def _ratio(row: Row) -> str:
    if row.baseline is None:
        return ""
    if row.times is not None:
        return f"   {row.baseline / row.value:8.3g} times as fast as {row.against}"
    return f"   {row.value / row.baseline:8.2f} x {row.against}"


def _verdict(row: Row) -> str:
    if row.times is not None and row.baseline is not None:
        return f"   {'met' if row.baseline / row.value >= row.times else 'MISSED'}: {row.times:.3g} times"
    return "" if row.target is None else f"   {'met' if row.value <= row.target else 'MISSED'}: {row.target:g}"


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
    # Long tables have several units: what has a baseline is what they are about.
    rows = rows if len(rows) <= 40 else [row for row in rows if row.baseline is not None]
    figure = Figure(figsize=(9, 1 + 0.4 * len(rows)), layout="constrained")
    axes = figure.subplots()
    names = [f"{row.name} ({row.unit})" for row in rows]
    axes.barh(names, [row.value for row in rows], label="measured")
    compared = [(name, row.baseline) for name, row in zip(names, rows, strict=True) if row.baseline is not None]
    if compared:
        axes.plot([baseline for _, baseline in compared], [name for name, _ in compared], "kd", label="baseline")
        axes.legend()
    axes.invert_yaxis()
    axes.set_xscale("log")
    figure.suptitle(title)
    figure.savefig(path)


if __name__ == "__main__":
    main()
