"""The command itself: help, version, and what is wrong with its arguments."""

from collections.abc import Callable
from typing import Any

import pytest

Runs = Callable[..., Any]

VERBS = ["check", "fmt", "test", "match", "explain", "import", "export"]


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
