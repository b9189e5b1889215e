"""What the differential test once found stays found. See `tests/differential/regressions.py`."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "differential"))
import regressions
from engines import check

FILES = sorted(regressions.FOLDER.glob("*.json"))


@pytest.mark.parametrize("rules", ["as found", "all", "none"])
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_failure_that_was_found_once(path: Path, rules: str) -> None:
    case = regressions.load(path)
    check(case if rules == "as found" else dataclasses.replace(case, rules=rules), explained=True)


def test_a_case_survives_its_file(tmp_path: Path) -> None:
    case = regressions.load(FILES[0]) if FILES else None
    if case is not None:
        assert regressions.load(regressions.save(case, "a round trip", tmp_path)) == case
