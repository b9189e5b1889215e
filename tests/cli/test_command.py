"""The command itself: help, version, and what is wrong with its arguments."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
Runs = Callable[..., Any]
Writes = Callable[..., Path]

VERBS = ["check", "fmt", "test", "match", "explain", "compile", "verify", "import", "export"]


def test_help_names_every_verb(profilec: Runs) -> None:
    run = profilec("--help")
    assert run.status == 0
    assert [line.split()[0] for line in run.lines if line[:2] == "  " and line.split()[0] in VERBS] == VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_help(profilec: Runs, verb: str) -> None:
    assert profilec(verb, "--help").status == 0


def test_version(profilec: Runs) -> None:
    run = profilec("--version")
    assert (run.status, run.lines[0].split()[0]) == (0, "profilec")


@pytest.mark.parametrize(
    "arguments", [["chek", "a.prof"], ["check"], ["check", "--no-such", "a.prof"], ["import", "a.sql"]]
)
def test_wrong_arguments(profilec: Runs, arguments: list[str]) -> None:
    run = profilec(*arguments)
    assert (run.status, run.out) == (2, "")
    assert "Usage:" in run.err


@pytest.mark.parametrize(
    ("redirect", "message"),
    [
        (">/dev/full", "No space left on device"),
        (">&-", "standard output is closed"),
        ("<&-", "standard input is closed"),
    ],
)
def test_streams_that_cannot_be_used_end_it_with_2_and_a_word(redirect: str, message: str, write: Writes) -> None:
    path = write("a.prof", "PROFILE a WHERE TRUE;")
    documents = "" if redirect.startswith("<") else write("d.ndjson", "{}\n").name
    command = f"exec {sys.executable} -m profilec match {path.name} {documents} {redirect}"
    run = subprocess.run(command, shell=True, cwd=path.parent, env=ENVIRONMENT, capture_output=True, check=False)
    assert (run.returncode, run.stderr.decode()) == (2, f"error: {message}\n")
