"""`profilec fmt`: in place, or only told."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from profilec.cli import fmt

Runs = Callable[..., Any]
Writes = Callable[..., Path]

UGLY = "profile a where x<1 and y=2 -- why\n;"


def test_formats_in_place_and_is_then_content(profilec: Runs, write: Writes) -> None:
    path = write("a.prof", UGLY)
    run = profilec("fmt", "a.prof")
    assert (run.status, run.out, run.err) == (0, "", "formatted a.prof\n")
    formatted = path.read_text()
    assert formatted != UGLY
    assert "-- why" in formatted
    run = profilec("fmt", "a.prof")
    assert (run.status, run.err, path.read_text()) == (0, "", formatted)
    assert profilec("fmt", "--check", "a.prof").status == 0


def test_check_and_diff_write_nothing(profilec: Runs, write: Writes) -> None:
    path = write("a.prof", UGLY)
    run = profilec("fmt", "--check", ".")
    assert (run.status, run.out) == (1, "a.prof\n")
    run = profilec("fmt", "--diff", ".")
    assert run.status == 1
    assert run.lines[:2] == ["--- a.prof (as it is)", "+++ a.prof (formatted)"]
    assert path.read_text() == UGLY


def test_standard_input_goes_to_standard_output(profilec: Runs, write: Writes) -> None:
    path = write("a.prof", UGLY)
    run = profilec("fmt", "-", stdin=UGLY)
    profilec("fmt", "a.prof")
    assert (run.status, run.out) == (0, path.read_text())


def test_statements_with_errors_stay_as_they_are_and_the_others_are_formatted(profilec: Runs, write: Writes) -> None:
    bad, good = write("bad.prof", f"profile bad where x <;\n{UGLY}"), write("good.prof", UGLY)
    run = profilec("fmt", "bad.prof", "good.prof")
    assert run.status == 2
    assert "bad.prof:1:" in run.err
    assert bad.read_text().startswith("profile bad where x <;\n")
    assert "PROFILE a WHERE x < 1" in bad.read_text()
    assert good.read_text() != UGLY


def test_a_link_and_its_file_s_permissions_stay(profilec: Runs, write: Writes, tmp_path: Path) -> None:
    path = write("a.prof", UGLY)
    path.chmod(0o640)
    (tmp_path / "link.prof").symlink_to("a.prof")
    assert profilec("fmt", "link.prof").status == 0
    assert (tmp_path / "link.prof").is_symlink()
    assert path.read_text() != UGLY
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.prof", "link.prof"]


def test_a_read_only_file_is_left_alone(write: Writes, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.prof", UGLY)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError):
        fmt._replace(path, b"PROFILE a WHERE b;")
    assert [file.read_text() for file in path.parent.iterdir()] == [UGLY]
