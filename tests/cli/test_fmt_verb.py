"""`profilec fmt`: in place, or only told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def test_a_file_with_errors_stays_as_it_is(profilec: Runs, write: Writes) -> None:
    bad, good = write("bad.prof", "profile a where x <;"), write("good.prof", UGLY)
    run = profilec("fmt", "bad.prof", "good.prof")
    assert run.status == 2
    assert "bad.prof:1:" in run.err
    assert bad.read_text() == "profile a where x <;"
    assert good.read_text() != UGLY
