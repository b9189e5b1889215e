"""`profilec compile`, and the verbs that take what it writes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runs = Callable[..., Any]
Writes = Callable[..., Path]

PROFILES = """\
PROFILE cheap WHERE price < 10 ACCEPTS {"price": 9} REJECTS {"price": 10};
PROFILE "dear; ä" WHERE price > 100 OR day > DATE '2024-01-01';
"""
DOCUMENTS = '{"price": 3}\n{"price": 300, "day": "2024-01-01"}\n{}\n'


@pytest.fixture
def image(profilec: Runs, write: Writes) -> Path:
    path = write("a.prof", PROFILES)
    assert profilec("compile", "a.prof", "-o", "a.prfi").status == 0
    return path.with_suffix(".prfi")


def test_it_says_what_it_wrote(profilec: Runs, write: Writes) -> None:
    path = write("a.prof", PROFILES)
    run = profilec("compile", "a.prof", "--output", "a.prfi")
    size = path.with_suffix(".prfi").stat().st_size
    assert (run.status, run.out) == (0, "")
    assert run.err.startswith(f"a.prfi: 2 profiles, {size:,} bytes; a profile takes ")
    assert len(run.err.splitlines()) == 1
    run = profilec("compile", "a.prof", "-o", "a.prfi", "--format", "json")
    told = json.loads(run.out)
    assert (told["image"], told["profiles"], told["bytes"]) == ("a.prfi", 2, size)
    assert sum(section["bytes"] for section in told["sections"]) < size


@pytest.mark.parametrize("options", [[], ["--only-matches"], ["--process"], ["--format", "csv"]], ids=str)
def test_an_image_matches_as_its_text_does(profilec: Runs, write: Writes, image: Path, options: list[str]) -> None:
    write("d.ndjson", DOCUMENTS)
    of_text = profilec("match", "a.prof", "d.ndjson", *options)
    of_image = profilec("match", "a.prfi", "d.ndjson", *options)
    assert of_image == of_text
    assert of_image.status == 0
    assert "cheap" in of_image.out


def test_an_image_is_told_by_how_it_begins_and_not_by_its_name(profilec: Runs, write: Writes, image: Path) -> None:
    for name in ("a.ndjson", "b.prof", "plain"):
        write(name, image.read_bytes())
        assert profilec("match", name, "-", stdin=DOCUMENTS).lines[0] == '{"document": 0, "profiles": ["cheap"]}'
    image.with_name("a.prof").unlink()
    assert profilec("match", "a.prfi", stdin=DOCUMENTS).lines[0] == '{"document": 0, "profiles": ["cheap"]}'


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain"],
        ["explain", "--all", "--form", "cnf"],
        ["explain", "--why", '{"price": 3}'],
        ["test"],
        ["check"],
        ["check", "--format", "text"],
        ["export", "--dialect", "duckdb"],
    ],
    ids=str,
)
def test_other_verbs_take_an_image_for_its_text(profilec: Runs, image: Path, arguments: list[str]) -> None:
    verb, *options = arguments
    of_text, of_image = profilec(verb, "a.prof", *options), profilec(verb, "a.prfi", *options)
    assert of_image == of_text
    assert of_image.status == 0


def test_an_example_that_fails_is_told_though_its_file_is_gone(profilec: Runs, write: Writes) -> None:
    path = write("a.prof", 'PROFILE a WHERE x = 1\n  ACCEPTS {"x": 2};\n')
    profilec("compile", "a.prof", "-o", "a.prfi")
    assert profilec("test", "a.prfi") == profilec("test", "a.prof")
    path.unlink()
    run = profilec("test", "a.prfi")
    assert run.status == 1
    assert "a.prof:2:11: error PC401" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["match", "a.prfi", "--matcher", "scan"], "its options (matcher) were chosen by `profilec compile`"),
        (["match", "a.prfi", "a.prof", "-"], "is a set of its own: name no other profiles beside it"),
        (["fmt", "a.prfi"], "it is an image, and this takes the text of profiles"),
        (["compile", "a.prfi", "-o", "b.prfi"], "it is an image, and this takes the text of profiles"),
        (["compile", "a.prof", "-o", "none/b.prfi"], "none/b.prfi: No such file or directory"),
        (["compile", "a.prof", "-o", "/dev/full"], "/dev/full: No space left on device"),
        (["compile", "a.prof", "-o", "."], ".: Is a directory"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_told(profilec: Runs, image: Path, arguments: list[str], message: str) -> None:
    run = profilec(*arguments)
    assert (run.status, run.out) == (2, "")
    assert message in run.err
    assert sorted(os.listdir(image.parent)) == ["a.prfi", "a.prof"]


def test_errors_leave_what_was_there(profilec: Runs, write: Writes, image: Path) -> None:
    before = image.read_bytes()
    write("bad.prof", "PROFILE a WHERE x <;\nPROFILE b WHERE x = 1;")
    run = profilec("compile", "bad.prof", "-o", "a.prfi")
    assert run.status == 2
    assert "bad.prof:1:20: error PC101" in run.err
    assert image.read_bytes() == before
    run = profilec("compile", "bad.prof", "-o", "a.prfi", "--skip-errors")
    assert run.status == 1
    assert "a.prfi: 1 profile," in run.err
    assert profilec("match", "a.prfi", stdin='{"x": 1}').out == '{"document": 0, "profiles": ["b"]}\n'


def test_a_schema_may_stand_in_another_file(profilec: Runs, write: Writes) -> None:
    write("a.prof", "PROFILE late WHERE day > DATE '2024-01-01';")
    write("schema.prof", "SCHEMA (day DATE);")
    assert profilec("compile", "a.prof", "--schema", "schema.prof", "-o", "a.prfi").status == 0
    assert profilec("match", "a.prfi", stdin='{"day": "2024-05-05"}').out == '{"document": 0, "profiles": ["late"]}\n'
    write("a.prof", "PROFILE late WHERE date > DATE '2024-01-01';")
    run = profilec("compile", "a.prof", "--schema", "schema.prof", "-o", "a.prfi")
    assert run.status == 2
    assert "PC214" in run.err


def test_options_go_into_the_image(profilec: Runs, write: Writes) -> None:
    write("a.prof", PROFILES)
    run = profilec("compile", "a.prof", "-o", "a.prfi", "--matcher", "scan", "--option", "max_depth=50")
    assert run.status == 0
    assert "matcher scan: as the options say" in profilec("explain", "a.prfi").out


def test_an_image_goes_through_a_pipe_as_bytes(image: Path) -> None:
    command = f"{sys.executable} -m profilec compile a.prof -o /dev/stdout | cmp - {image.name}"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run(command, shell=True, cwd=image.parent, env=environment, check=True)
