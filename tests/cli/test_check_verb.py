"""`profilec check`: all findings of all files, on standard error for people and as NDJSON for programs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runs = Callable[..., Any]
Writes = Callable[..., Path]


def test_clean_files(profilec: Runs, write: Writes) -> None:
    write("a.prof", "PROFILE a WHERE x < 1;")
    write("sub/b.prof", "\ufeffPROFILE b WHERE x < 2;\r\n")
    run = profilec("check", "a.prof", "sub")
    assert (run.status, run.out, run.err) == (0, "", "")
    run = profilec("check", ".", "--format", "text")
    assert (run.status, run.out) == (0, "2 profiles compile: 0 errors, 0 warnings\n")


def test_every_error_of_every_file_is_reported(profilec: Runs, write: Writes) -> None:
    write("a.prof", "PROFILE a WHERE x <;\nPROFILE b WHERE x = 1;\nPROFILE c WHERE y IN ();\n")
    write("b.prof", "PROFILE b WHERE x = 2;\n")
    run = profilec("check", "a.prof", "b.prof")
    found = [json.loads(line) for line in run.lines]
    assert [(d["severity"], d["file"], d["line"], d["profile"]) for d in found] == [
        ("error", "a.prof", 1, "a"),
        ("error", "a.prof", 3, "c"),
        ("error", "b.prof", 1, "b"),
    ]
    assert found[2]["code"] == "PC216"
    assert "a.prof:2" in found[2]["hint"]
    assert "a.prof:1:" in run.err
    assert "^" in run.err
    assert run.status == 1


def test_warnings_are_findings_only_where_strict(profilec: Runs, write: Writes) -> None:
    write("a.prof", "PROFILE a WHERE x = NULL;")
    run = profilec("check", "a.prof")
    assert (run.status, json.loads(run.out)["severity"]) == (0, "warning")
    assert profilec("check", "a.prof", "--strict").status == 1


def test_json_is_one_document(profilec: Runs, write: Writes) -> None:
    write("a.prof", "PROFILE a WHERE x = NULL; PROFILE b WHERE x = NULL;")
    assert len(json.loads(profilec("check", "a.prof", "--format", "json").out)) == 2


def test_standard_input(profilec: Runs) -> None:
    run = profilec("check", "-", stdin="PROFILE a WHERE;")
    assert run.status == 1
    assert "/dev/stdin:1:" in run.err


def test_one_schema_for_all_files(profilec: Runs, write: Writes) -> None:
    write("schema.prof", "SCHEMA (price NUMBER);")
    write("a.prof", "PROFILE a WHERE prise < 1;")
    run = profilec("check", ".")
    assert run.status == 1
    assert "did you mean `price`?" in run.err


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"PROFILE a WHERE x = '\xff';", "PC107"),
        ("PROFILE 'a\x07b' WHERE x = 1;", "PC217"),
        ("PROFILE a WHERE " + "(" * 10_000 + "x = 1" + ")" * 10_000 + ";", "PC301"),
        ("PROFILE a WHERE x = " + "9" * 5_000 + ";", "PC304"),
        ("PROFILE a WHERE x MATCHES '(?=a)';", "PC210"),
    ],
)
def test_bad_input(profilec: Runs, write: Writes, content: str | bytes, code: str) -> None:
    write("bad.prof", content)
    write("good.prof", "PROFILE good WHERE x = 1;")
    run = profilec("check", "bad.prof", "good.prof")
    assert [json.loads(line)["code"] for line in run.lines] == [code]
    assert run.status == 1
    assert len(run.err) < 2_000


def test_limits_are_options(profilec: Runs, write: Writes) -> None:
    write("a.prof", "PROFILE a WHERE x = 1 OR x = 2 OR y = 3;")
    run = profilec("check", "a.prof", "-o", "max_terms=2")
    assert (run.status, json.loads(run.out)["code"]) == (1, "PC302")


@pytest.mark.parametrize("argument", ["none.prof", "empty"])
def test_what_is_not_there(profilec: Runs, tmp_path: Path, argument: str) -> None:
    (tmp_path / "empty").mkdir()
    run = profilec("check", argument)
    assert run.status == 2
    assert run.err.startswith(f"error: {argument}: no ")
