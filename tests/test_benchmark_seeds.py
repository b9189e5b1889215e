"""The charts of the papers run at small sizes; what counts evaluations counts them."""

from __future__ import annotations

import csv
import doctest
import math
import operator
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent / "benchmarks"))

import run_seeds
from seeds import evaluations, footprint, tatbul2001, turns, wang2003
from seeds.construct_schemes import SCHEMES, Intervals, activated, build, stored_bytes
from seeds.evaluations import CountedRank, Evaluations, searched_as_in_the_paper

from profilec.runtime.indexes.interval import IntervalIndex


@pytest.mark.parametrize("name", run_seeds.charts())
def test_chart_is_measured_and_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_seeds, "results_folder", lambda quick: tmp_path)
    chart = run_seeds.charts()[name](True)
    assert chart.name == name
    monkeypatch.setattr(run_seeds, "charts", lambda: {name: lambda quick: chart})
    monkeypatch.setattr(sys, "argv", ["run_seeds.py", "--quick", name])
    run_seeds.main()
    assert chart.series
    for series, points in chart.series.items():
        assert points, series
        assert all(math.isfinite(y) and y > 0 for _, y in points), series
    with (tmp_path / "seeds" / f"{name}.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["series", chart.x.label, chart.y.label]
    assert {series: sum(row[0] == series for row in rows) for series in chart.series} == {
        series: len(points) for series, points in chart.series.items()
    }
    if find_spec("matplotlib"):
        assert (tmp_path / "seeds" / f"{name}.png").stat().st_size


def test_a_name_is_that_of_a_chart_or_of_its_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_seeds, "results_folder", lambda quick: tmp_path)
    asked: list[str] = []

    def measure(name: str) -> run_seeds.Chart:
        asked.append(name)
        axis = run_seeds.Axis("x")
        return run_seeds.Chart(name, name, axis, axis, {"only": [("category", 1.0)]})

    names = ["a2001_fig1", "a2001_fig2", "b2002_fig1"]
    monkeypatch.setattr(run_seeds, "charts", lambda: {name: lambda quick, name=name: measure(name) for name in names})
    for given, expected in (([], names), (["a2001"], names[:2]), (["a2001_fig2", "b2002"], names[1:])):
        asked.clear()
        monkeypatch.setattr(sys, "argv", ["run_seeds.py", *given])
        run_seeds.main()
        assert asked == expected
    monkeypatch.setattr(sys, "argv", ["run_seeds.py", "a2001_fig3"])
    with pytest.raises(SystemExit):
        run_seeds.main()


N_CELLS = 15


def _chain() -> IntervalIndex:
    """Intervals of one rank each that follow one another: the tree of cells is complete."""
    low = np.arange(N_CELLS, dtype=np.int32)
    return IntervalIndex(low, np.arange(N_CELLS + 1, dtype=np.int32), low, low)


def test_walking_a_tree_of_cells_compares_one_of_each_level() -> None:
    index = _chain()
    depths = []
    with searched_as_in_the_paper():
        for rank in range(N_CELLS):
            counted = Evaluations()
            assert list(index.entries_at(CountedRank(rank, counted))) == [rank]
            depths.append(counted.n)
        assert not index.entries_at(-1)
        assert not index.entries_at(N_CELLS)
    assert depths == [4, 3, 4, 2, 4, 3, 4, 1, 4, 3, 4, 2, 4, 3, 4]


def test_bisecting_the_same_cells_goes_to_the_end() -> None:
    index = _chain()
    for rank in range(N_CELLS):
        counted = Evaluations()
        assert list(index.entries_at(CountedRank(rank, counted))) == [rank]
        assert counted.n in (4, 5), "of 16 cuts"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_schemes_have_a_cell_for_each_value_and_the_bytes_of_the_paper(scheme: str) -> None:
    """An interval of 7 values, of L = 4: constructs of lengths 4 and 3, or 4, 2 and 1."""
    intervals = Intervals(20, np.array([3], np.int32), np.array([9], np.int32))
    index = build(scheme, intervals, 4)
    found = [value for value in range(21) if list(index.entries_at(value))]
    assert found == list(range(3, 10))
    assert [len(activated(index)(value)) for value in range(22)] == [int(3 <= value <= 9) for value in range(22)]
    kind, form = SCHEMES[scheme]
    g = len(kind(4).lengths)
    headers = 4 * (20 * g + 1) + 4 * 20 * g
    entries = 4 * (2 if g == 4 else 3)
    bits = {"plain": 20 * ((20 * g + 7) // 8), "clipped": 20 * ((3 * g + 1 + 7) // 8), "virtual": 0}
    table = 8 * int(kind(4).lengths.sum())
    lengths, cuts = 8 * g, 4 * 21
    assert stored_bytes(index) == headers + entries + bits.get(form, table) + lengths + cuts


OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@pytest.mark.parametrize(("workload", "least", "most"), [("L fixed", 40, 41), ("L = n/2", 480, 720)])
def test_predicates_of_wang_are_what_their_operators_say(workload: str, least: int, most: int) -> None:
    predicates = wang2003.WORKLOADS[workload](1_200)
    assert set(predicates.ops.tolist()) == set(OPERATORS)
    pairs = list(zip(predicates.ops.tolist(), predicates.operands.tolist(), strict=True))
    assert len(pairs) == 1_200
    index = IntervalIndex(*predicates.arrays())
    n_satisfied = []
    for event in predicates.events:
        expected = [number for number, (op, operand) in enumerate(pairs) if OPERATORS[op](event, operand)]
        assert list(index.entries_at(event)) == expected
        n_satisfied.append(len(expected))
    assert least <= np.mean(n_satisfied) <= most


def test_overlap_is_the_share_of_pairs_with_a_value_in_common() -> None:
    low, high = np.array([[0, 5, 9], [0, 1, 2]]), np.array([[5, 8, 9], [0, 1, 2]])
    assert tatbul2001.Profiles(low, high).overlap == round(100 / 6, 1)


@pytest.mark.parametrize("module", [evaluations, footprint, turns])
def test_examples_of_helpers_run(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed
