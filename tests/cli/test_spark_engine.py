"""`--engine spark`: the same lines as without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from profilec.spark.errors import SparkMatchError
from profilec.spark.session import expect_java

pytest.importorskip("pyspark", reason="PySpark is not installed; it comes with the extra `test`")
ROOT = Path(__file__).parents[2]
PROFILES = """
SCHEMA (price NUMBER, brand STRING, at TIMESTAMP);
PROFILE cheap WHERE price < 10;
PROFILE acme WHERE brand = 'Acme';
PROFILE late WHERE at > TIMESTAMP '2020-01-01 00:00:00';
PROFILE seen WHERE EXISTS d (d.brand = brand);
"""
ROWS = [
    {"price": 1, "brand": "Acme", "at": "2021-01-01T00:00:00Z"},
    {"price": 12345678901234567890, "brand": None},
    {"price": 9.5, "brand": "Böse, \"Alte\" & Söhne", "at": "1999-01-01"},
    {},
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spark_engine")
    (folder / "all.prof").write_text(PROFILES)
    lines = [json.dumps(row, ensure_ascii=False) for row in ROWS]
    (folder / "rows.ndjson").write_text("\n".join([*lines[:2], "", *lines[2:]]) + "\n")
    (folder / "earlier.ndjson").write_text('{"brand": "Acme"}\n')
    (folder / "broken.ndjson").write_text('{"price": 1}\n{"price": }\n')
    table = pa.table({"price": pa.array(range(10_000)), "brand": pa.array(["Acme", None] * 5_000)})
    pq.write_table(table, folder / "rows.parquet", row_group_size=1_000)
    (folder / "rows.csv").write_text("price,brand\n1,Acme\n20,\n3,Other\n")
    return folder


def run(folder: Path, *arguments: str, verb: str = "match") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "profilec", verb, "all.prof", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(autouse=True)
def _with_java() -> None:
    try:
        expect_java()
    except SparkMatchError as error:
        pytest.skip(str(error))


def test_the_same_lines_for_every_format(folder: Path) -> None:
    files = ["rows.ndjson", "rows.parquet", "rows.csv", "--join-documents", "earlier.ndjson"]
    by_spark = run(folder, *files, "--engine", "spark", "--master", "local[2]")
    assert by_spark.returncode == 0, by_spark.stderr
    assert by_spark.stdout == run(folder, *files).stdout
    assert by_spark.stdout.startswith('{"document": 0, "profiles": ["cheap", "acme", "late", "seen"]}\n')


def test_plans_of_both(folder: Path) -> None:
    arguments = ["--engine", "spark", "--documents", "rows.parquet", "--join-documents", "earlier.ndjson"]
    told = run(folder, *arguments, "--master", "local[1]", verb="explain")
    assert told.returncode == 0, told.stderr
    for part in ("Plan for 4 profiles", "Joins with documents: 1 by key", "== Physical Plan ==", "LeftOuter"):
        assert part in told.stdout
    for wrong in (["--engine", "spark"], ["--documents", "rows.csv"], [*arguments, "--id", "cheap"]):
        assert run(folder, *wrong, verb="explain").returncode == 2


def test_a_nested_loop_is_allowed_as_the_command_line_says_it(folder: Path) -> None:
    (folder / "loop.prof").write_text("PROFILE loop WHERE EXISTS d (d.price < price AND d.brand > brand);\n")
    arguments = ["loop.prof", "--engine", "spark", "--documents", "rows.parquet", "--join-documents", "rows.parquet"]
    arguments += ["--master", "local[1]"]
    refused = run(folder, *arguments, verb="explain")
    assert refused.returncode == 2
    assert "or pass --allow-nested-loop, which collects the documents" in refused.stderr
    assert "allow_nested_loop" not in refused.stderr
    told = run(folder, *arguments, "--allow-nested-loop", verb="explain")
    assert told.returncode == 0, told.stderr
    assert "nested loop over the documents, collected" in told.stdout
    wrong = run(folder, "--allow-nested-loop", verb="explain")
    assert "--allow-nested-loop is of the engine spark: add --engine spark" in wrong.stderr


def test_a_broken_row_and_a_wrong_master_are_told(folder: Path) -> None:
    broken = run(folder, "broken.ndjson", "--engine", "spark", "--master", "local[1]")
    assert broken.returncode == 2
    assert "partition 0, row 1 (from 0): '{\"price\": }' is no JSON object: expecting value" in broken.stderr
    wrong = run(folder, "rows.csv", "--engine", "spark", "--master", "nowhere")
    assert wrong.returncode == 2
    assert "Spark does not start with --master nowhere" in wrong.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rows.csv", "--engine", "cloud"], "--engine"),
        (["rows.csv", "--master", "local[2]"], "--master is of the engine spark: add --engine spark"),
        (["rows.csv", "--engine", "spark", "--process"], "--process goes with the engine local alone"),
        (["-", "--engine", "spark"], "--engine spark reads files, and no standard input"),
        (["all.txt", "--engine", "spark"], "--engine spark reads NDJSON, CSV and Parquet"),
    ],
)
def test_arguments_that_do_not_go_together(folder: Path, arguments: list[str], message: str) -> None:
    refused = run(folder, *arguments)
    assert refused.returncode == 2
    assert message in refused.stderr


def test_without_java(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAVA_HOME": str(folder)}
    command = [sys.executable, "-m", "profilec", "match", "all.prof", "rows.csv", "--engine", "spark"]
    refused = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "Spark needs Java 17 or newer: JAVA_HOME is" in refused.stderr
