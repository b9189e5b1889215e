"""`profilec test`: ACCEPTS and REJECTS, with GIVEN as the earlier documents."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Runs = Callable[..., Any]
Writes = Callable[..., Path]

PROFILES = """
PROFILE new
  WHERE NOT EXISTS d (d.isbn = isbn)
  ACCEPTS {"isbn": 1}
  GIVEN [{"isbn": 1}]
  ACCEPTS {"isbn": 2}
  REJECTS {"isbn": 1};
PROFILE cheap WHERE price < 10
  ACCEPTS {"price": 9},
          {"price": 11}
  REJECTS {"price": 9.5};
PROFILE untested WHERE TRUE;
"""


def test_each_example_has_a_result(profilec: Runs, write: Writes) -> None:
    write("a.prof", PROFILES)
    run = profilec("test", "a.prof")
    found = [json.loads(line) for line in run.lines]
    assert [(r["profile"], r["example"], r["line"], r["passed"]) for r in found] == [
        ("new", "ACCEPTS", 4, True),
        ("new", "ACCEPTS", 6, True),
        ("new", "REJECTS", 7, True),
        ("cheap", "ACCEPTS", 9, True),
        ("cheap", "ACCEPTS", 10, False),
        ("cheap", "REJECTS", 11, False),
    ]
    assert run.status == 1


def test_failures_say_where_and_why(profilec: Runs, write: Writes) -> None:
    write("a.prof", PROFILES)
    run = profilec("test", "a.prof", "--format", "text")
    assert run.out == "6 examples: 4 hold, 2 fail\n"
    assert "a.prof:10:11: error PC401: the profile 'cheap' does not match this document" in run.err
    assert "a.prof:11:11: error PC402: the profile 'cheap' matches this document" in run.err
    assert "price is 11" in run.err


def test_all_hold(profilec: Runs, write: Writes) -> None:
    write("a.prof", 'PROFILE p WHERE x = 1 ACCEPTS {"x": 1};')
    run = profilec("test", "a.prof")
    assert (run.status, run.err) == (0, "")


def test_profiles_with_errors_are_an_error_and_the_others_are_tested(profilec: Runs, write: Writes) -> None:
    write("a.prof", 'PROFILE bad WHERE ;\nPROFILE p WHERE x = 1 ACCEPTS {"x": 1};')
    run = profilec("test", "a.prof")
    assert (run.status, len(run.lines)) == (2, 1)
    assert "a.prof:1:" in run.err


def test_an_infinite_number_hides_no_other_example(profilec: Runs, write: Writes) -> None:
    write("a.prof", 'PROFILE p WHERE a > 1 REJECTS {"a": 1e999}; PROFILE q WHERE b = 1 ACCEPTS {"b": 2};')
    run = profilec("test", "a.prof", "--format", "text")
    assert (run.status, run.out) == (1, "2 examples: 0 hold, 2 fail\n")
    assert "a is Infinity" in run.err
    assert "b is 2" in run.err
