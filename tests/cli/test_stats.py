"""`profilec stats`, and the verbs that take what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import profilec
from profilec.cli.app import app

ROWS = [{"price": number % 20, "brand": "Acme"} for number in range(100)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs.ndjson").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "docs.parquet")
    (tmp_path / "deals.prof").write_text("PROFILE cheap WHERE price < 10;\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == status, result.output
    return result.output


@pytest.mark.parametrize("name", ["docs.ndjson", "docs.parquet"])
def test_text_and_json(folder: Path, name: str) -> None:
    lines = run("stats", name, "--format", "text").splitlines()
    assert lines[0] == "100 of 100 documents"
    assert [line.split()[:2] for line in lines[1:]] == [["attribute", "present"], ["brand", "100%"], ["price", "100%"]]
    facts = json.loads(run("stats", name))
    assert facts["documents"] == len(facts["sample"]) == 100
    assert facts["attributes"]["price"]["distinct"] == 20
    assert facts["attributes"]["brand"]["most_common"] == [{"value": "Acme", "share": 1}]
    assert facts["attributes"]["brand"]["string_length"] == {"min": 4, "mean": 4, "max": 4}


def test_files_are_merged(folder: Path) -> None:
    run("stats", "docs.ndjson", "-o", "one.stats", "--sample", "40")
    run("stats", "docs.parquet", "-o", "other.stats", "--sample", "40")
    facts = json.loads(run("stats", "one.stats", "other.stats"))
    assert (facts["documents"], len(facts["sample"])) == (200, 40)
    facts = json.loads(run("stats", "one.stats", "docs.ndjson", "--sample", "50"))
    assert (facts["documents"], len(facts["sample"])) == (200, 40)
    run("stats", "one.stats", "docs.ndjson", "-o", "one.stats")
    assert json.loads(Path("one.stats").read_text())["documents"] == 200


def test_statistics_for_a_set(folder: Path) -> None:
    run("stats", "docs.ndjson", "-o", "docs.stats")
    for name in ("docs.stats", "docs.ndjson"):
        run("compile", "deals.prof", "-o", f"{name}.prfi", "--statistics", name)
    assert Path("docs.stats.prfi").read_bytes() == Path("docs.ndjson.prfi").read_bytes()
    informed = profilec.compile(Path("deals.prof"), statistics=Path("docs.stats"))
    assert informed.match({"price": 5}) == ["cheap"]


def test_what_cannot_be(folder: Path) -> None:
    assert "would be lost" in run("stats", "docs.ndjson", "-o", "docs.ndjson", status=2)
    assert "has no statistics" in run("stats", "docs.ndjson", "-o", "deals.prof", status=2)
    assert Path("deals.prof").read_text().startswith("PROFILE")
    assert "none.ndjson" in run("stats", "none.ndjson", status=2)
    Path("bad.stats").write_text('{"profilec_statistics": 1, "documents": 7}')
    assert "bad.stats: damaged" in run("stats", "bad.stats", status=2)
    assert "bad.stats: damaged" in run("compile", "deals.prof", "-o", "a.prfi", "--statistics", "bad.stats", status=2)
    Path("half.ndjson").write_text('{"a": 1}\n{"a": \n')
    assert "half.ndjson:2" in run("stats", "half.ndjson", status=1)
    run("stats", "half.ndjson", "--strict", status=2)
    with pytest.raises(profilec.StatisticsError, match=r"bad\.stats"):
        profilec.compile("PROFILE p WHERE a = 1;", statistics=Path("bad.stats"))
