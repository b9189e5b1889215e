"""What the differential test once found stays found. See `tests/differential/regressions.py`."""

from __future__ import annotations

import dataclasses
import datetime
import sys
from decimal import Decimal
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "differential"))
import regressions
from engines import Case, check
from structures import Change

FILES = sorted(regressions.FOLDER.glob("*.json"))


@pytest.mark.parametrize("rules", ["as found", "all", "none"])
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_failure_that_was_found_once(path: Path, rules: str) -> None:
    case = regressions.load(path)
    check(case if rules == "as found" else dataclasses.replace(case, rules=rules), explained=True)


STORE_CHANGES = Case(
    ["EXISTS d (d.a = a)"],
    [{"a": Decimal("0.10")}, {"a": datetime.date(2024, 1, 31)}],
    [[True], [False]],
    [{"a": 0.1}],
    changes=[Change(1, (-1,), ({"a": datetime.datetime(2024, 1, 31)}, {}))],
    processed=1,
)


@pytest.mark.parametrize("case", [*map(regressions.load, FILES), STORE_CHANGES])
def test_a_case_survives_its_file(case: Case, tmp_path: Path) -> None:
    check(case, explained=True)
    assert regressions.load(regressions.save(case, "a round trip", tmp_path)) == case
