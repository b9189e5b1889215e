"""`profilec bench` and `profilec calibrate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import profilec
from profilec import bench as timing
from profilec import calibrate as measuring
from profilec import calibrate_patterns
from profilec.cli.app import app
from profilec.planner.calibration import default_units
from profilec.planner.costs import MATCHERS
from profilec.runtime.execute import Executor


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.prof").write_text("".join(f"PROFILE p{n} WHERE a = {n % 50} AND b < {n};\n" for n in range(300)))
    (tmp_path / "docs.ndjson").write_text("".join(json.dumps({"a": n % 60, "b": n}) + "\n" for n in range(100)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(timing, "_SLICE_NS", 1_000_000)
    return tmp_path


def run(*arguments: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == status, result.output
    return result.stdout if status == 0 else result.output + result.stderr


def test_every_matcher_is_timed(folder: Path) -> None:
    found = json.loads(run("bench", "a.prof", "docs.ndjson", "--rounds", "2", "--format", "json"))
    assert {one["matcher"] for one in found} == set(MATCHERS)
    assert [one["planned"] for one in found] == [True] + [False] * (len(MATCHERS) - 1)
    assert all(one["least_ns"] <= one["ns"] <= one["most_ns"] for one in found)
    assert found[0]["times_planned"] == 1
    assert all(one["expected_ns"] > 0 for one in found)
    text = run("bench", "a.prof", "docs.ndjson", "--rounds", "1", "--format", "text")
    assert "betree, as planned" in text
    run("compile", "a.prof", "-o", "a.prfi")
    assert json.loads(run("bench", "a.prfi", "docs.ndjson", "--rounds", "1", "--format", "json"))


def test_a_small_set_is_timed(folder: Path) -> None:
    """Its tree is not made yet when it is compiled."""
    Path("small.prof").write_text("PROFILE x WHERE a = 1; PROFILE y WHERE b > 3 AND a < 9;")
    found = json.loads(run("bench", "small.prof", "docs.ndjson", "--rounds", "1", "--format", "json"))
    assert {one["matcher"] for one in found} == set(MATCHERS)


def test_what_cannot_be_timed(folder: Path) -> None:
    Path("empty.ndjson").write_text("")
    assert "no documents" in run("bench", "a.prof", "empty.ndjson", status=2)
    assert "no profiles" in run("bench", "docs.ndjson", status=2)


def test_matchers_that_disagree_are_not_timed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Executor.match

    def forgets(self: Executor, document: object, store: object = None) -> object:
        found = whole(self, document, store)  # type: ignore[arg-type]
        return found[:-1] if type(self.matcher).__name__ == "CandidateMatcher" else found

    monkeypatch.setattr(Executor, "match", forgets)
    profiles = profilec.compile(Path("a.prof"))
    with pytest.raises(timing.DisagreementError, match="and the plan disagree"):
        timing.bench(profiles, [{"a": 1, "b": 5}], rounds=1)


def test_units_are_measured(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_SHAPES", measuring._SHAPES[:2])
    monkeypatch.setattr(measuring, "_N_DOCUMENTS", 5)
    monkeypatch.setattr(measuring, "INDEXES", {"interval": measuring.INDEXES["interval"]})
    monkeypatch.setattr(calibrate_patterns, "_SIZES", (3,))
    monkeypatch.setattr(calibrate_patterns, "N_TEXTS", 2)
    run("calibrate", "-o", "machine.json")
    units = json.loads(Path("machine.json").read_text())["units"]
    assert set(units) <= set(default_units())
    assert {name.partition("_")[0] for name in units} >= {*MATCHERS, "encode", "interval"}
    assert all(ns >= 0 for ns in units.values())
    assert profilec.compile(Path("a.prof"), calibration=Path("machine.json")).match({"a": 1, "b": 250}) == ["p251"]


def test_every_unit_has_a_default() -> None:
    """So that a formula never asks for one that there is not."""
    assert {f"{name}_probe" for name in measuring.INDEXES} <= set(default_units())
    assert {f"{name}_document" for name in MATCHERS} <= set(default_units())
