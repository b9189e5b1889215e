"""What trials with odd input found in plans, statistics and adaptation; each stays mended."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import profilec
from profilec.observed import Observed
from profilec.planner.calibration import CalibrationError, read_calibration
from profilec.planner.statistics import Statistics, StatisticsError
from profilec.values.kinds import DocumentError

HUGE = 10**5_000


@pytest.mark.parametrize(
    "batch",
    [
        pa.table({"a": [1], "z": pa.array([b"x"])}),
        pa.table([[1], [2], [3]], names=["a", "z", "z"]),
        pa.table({"z": [1]}),
        pd.DataFrame([[1, 2, 3]], columns=["a", "z", "z"]),
        pd.DataFrame({"a": [1], "z": [pd.Timedelta(1)]}),
        pd.Series([{"a": 1}], index=[5]),
        {1: {"a": 1}}.values(),
        ({"a": 1} for _ in range(1)),
    ],
    ids=["binary", "two columns of a name", "no column", "pandas", "timedelta", "Series", "values", "generator"],
)
def test_a_batch_is_matched_whatever_is_observed_of_it(batch: Any) -> None:
    found = profilec.compile({"p": "a = 1", "q": "a IS NULL"}, options={"replan": 2}).match_batch(batch)
    assert list(found) in ([["p"]], [["q"]])


def test_threads_observe_batches() -> None:
    observed = Observed()
    failed: list[BaseException] = []

    def saw() -> None:
        try:
            for n in range(1, 400):
                observed.saw_many(n, lambda places, n=n: [list(range(n))[place] for place in places])  # type: ignore[misc]
        except BaseException as error:
            failed.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=saw) for _ in range(6)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    finally:
        sys.setswitchinterval(interval)
    assert failed == []


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("odd", [HUGE, _nested(100_000)], ids=["digits", "nested"])
def test_a_document_that_cannot_be_kept_stops_no_adaptation(odd: Any) -> None:
    profiles = profilec.compile({"x": "a = 1"}, options={"replan": 1.5})
    assert profiles.match({"a": 1, "z": odd}) == ["x"]
    for number in range(200):
        profiles.match({"a": number % 5})
    assert profiles.replan().n_sampled > 0
    for take in (Statistics.of, lambda documents: profilec.compile({"x": "a = 1"}, statistics=documents)):
        with pytest.raises(DocumentError, match="document 1: "):
            take([{"a": 1}, {"a": 1, "z": odd}])


@pytest.mark.parametrize("name", ["x y", "`x y`"])
def test_groups_are_named_with_back_quotes_or_without(name: str) -> None:
    compiled = profilec.compile(
        {"1": "`x y` = 1", "2": "b = 2"}, options={"matcher": {name: "access", "*": "counting"}}
    )
    assert compiled.plan.groups == (("`x y`", "access"),)


def test_an_attribute_may_be_called_like_all_others() -> None:
    compiled = profilec.compile({"1": "`*` = 1", "2": "b = 2"}, options={"matcher": {"`*`": "access", "*": "counting"}})
    assert compiled.plan.groups == (("`*`", "access"),)


def test_a_group_without_entries_is_told() -> None:
    plan = profilec.compile({"1": "price + 1 = 2", "2": "b = 2"}, options={"matcher": {"price": "access"}}).plan
    assert plan.reason == "as the options say, but price finds no entries"


def test_many_expressions_of_joins_are_planned_soon() -> None:
    conditions = {str(i): f"EXISTS d (d.a + {i} = a AND d.b * {i} < b AND d.c = 'x')" for i in range(300)}
    known = [{"a": i, "b": i % 7, "c": "x"} for i in range(1_000)]

    def seconds(run: Callable[[], object]) -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    without = seconds(lambda: profilec.compile(conditions))
    informed = seconds(lambda: profilec.compile(conditions, statistics=known))
    assert informed < 5 * without + 1


@pytest.mark.parametrize(
    "text",
    [
        '{"profilec_calibration":1,"units":{"betree_row":' + "9" * 400 + "}}",
        '{"profilec_calibration":true,"units":{}}',
    ],
)
def test_calibrations_that_are_none(text: str, tmp_path: Any) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(CalibrationError):
        read_calibration(path)


@pytest.mark.parametrize(
    "change",
    [{"sample": [{"a": {"$date": None}}]}, {"documents": 10**4_000}, {"profilec_statistics": True}],
    ids=["date", "documents", "version"],
)
def test_statistics_that_are_none(change: dict[str, Any]) -> None:
    facts = json.loads(Statistics.of([{"a": 1}]).to_json()) | change
    with pytest.raises(StatisticsError):
        Statistics.from_json(json.dumps(facts))


def test_a_threshold_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="replan takes a number above 1"):
        profilec.compile({"x": "a = 1"}, options={"replan": 10**400})


@pytest.mark.parametrize("format_", ["text", "dot", "mermaid", "html"])
def test_no_drawing_has_what_a_terminal_obeys(format_: str) -> None:
    compiled = profilec.compile(
        {"c": "`\x1b[31mred\u202e` = 1", "d": "b = 1"}, options={"matcher": {"\x1b[31mred\u202e": "access"}}
    )
    drawn = compiled.explain(format=format_)
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    assert "red" in drawn
