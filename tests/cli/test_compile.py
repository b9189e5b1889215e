"""`profilec compile`, and the verbs that take what it writes."""

import json
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
    subprocess.run(command, shell=True, cwd=image.parent, env=ENVIRONMENT, check=True)


@pytest.mark.parametrize(
    "arguments", [["match", "-", "d.ndjson"], ["explain", "-"], ["test", "-"], ["check", "-"], ["verify", "-"]], ids=str
)
def test_an_image_may_come_through_a_pipe(profilec: Runs, write: Writes, image: Path, arguments: list[str]) -> None:
    write("d.ndjson", DOCUMENTS)
    named = ["a.prfi" if argument == "-" else argument for argument in arguments]
    piped = profilec(*arguments, stdin=image.read_bytes())
    assert piped.out.replace("/dev/stdin", "a.prfi") == profilec(*named).out
    assert piped.status == 0


def test_a_pipe_of_any_name_may_hold_profiles_or_an_image(write: Writes, image: Path) -> None:
    write("d.ndjson", DOCUMENTS)
    for name in ("a.prfi", "a.prof"):
        command = f"{sys.executable} -m profilec match <(cat {name}) d.ndjson"
        run = subprocess.run(
            ["bash", "-c", command], cwd=image.parent, env=ENVIRONMENT, capture_output=True, check=True
        )
        assert run.stdout.startswith(b'{"document": 0, "profiles": ["cheap"]}\n'), run.stderr


@pytest.mark.parametrize(
    "verb", [["fmt", "-"], ["compile", "-", "-o", "b.prfi"], ["import", "--dialect", "duckdb", "-"]]
)
def test_what_takes_text_says_that_this_is_an_image(profilec: Runs, image: Path, verb: list[str]) -> None:
    run = profilec(*verb, stdin=image.read_bytes())
    assert (run.status in (1, 2), run.out) == (True, "")
    assert "image, " in run.err
    assert "and this takes the text of profiles" in run.err


def test_the_image_goes_to_standard_output(profilec: Runs, write: Writes, image: Path) -> None:
    command = f"{sys.executable} -m profilec compile a.prof -o - | cmp - {image.name}"
    subprocess.run(command, shell=True, cwd=image.parent, env=ENVIRONMENT, check=True)
    subprocess.run(
        command.replace("| cmp -", "> out; cmp out"), shell=True, cwd=image.parent, env=ENVIRONMENT, check=True
    )
    full = command.partition("|")[0] + "> /dev/full"
    run = subprocess.run(full, shell=True, cwd=image.parent, env=ENVIRONMENT, capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (2, b"error: standard output: No space left on device\n")
    run = profilec("compile", "a.prof", "-o", "-", "--format", "json")
    assert (run.status, run.out) == (2, "")
    assert not image.with_name("-").exists()


def test_a_terminal_gets_no_image(write: Writes) -> None:
    path = write("a.prof", PROFILES)
    parent, child = os.openpty()
    try:
        command = [sys.executable, "-m", "profilec", "compile", "a.prof", "-o", "-"]
        run = subprocess.run(
            command, cwd=path.parent, env=ENVIRONMENT, stdout=child, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(parent)
        os.close(child)
    assert (run.returncode, run.stderr.count(b"\n")) == (2, 1)
    assert b"an image is no text for a terminal" in run.stderr


@pytest.mark.parametrize("outputs", [["max_cap=8"], ["max_cap=8", "b.prfi"], ["b.prfi", "rules=none"]], ids=str)
def test_an_option_that_is_taken_for_the_output(profilec: Runs, image: Path, outputs: list[str]) -> None:
    run = profilec("compile", "a.prof", *(word for output in outputs for word in ("-o", output)))
    (option,) = [output for output in outputs if "=" in output]
    assert run.status == 2
    assert run.err == f"error: -o names the file to write; an option of compile is given as --option {option}\n"
    assert sorted(os.listdir(image.parent)) == ["a.prfi", "a.prof"]


def test_one_output_is_one(profilec: Runs, write: Writes) -> None:
    write("a.prof", PROFILES)
    run = profilec("compile", "a.prof", "-o", "b=c.prfi", "-o", "d.prfi")
    assert (run.status, run.err) == (2, "error: one image is written, and -o names 2: b=c.prfi, d.prfi\n")
    assert profilec("compile", "a.prof", "-o", "b=c.prfi").status == 0


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("a.prof", "it is read here, and would be lost"),
        ("link", "it is read here, and would be lost"),
        ("hard", "it is read here, and would be lost"),
        ("schema.txt", "it is read here, and would be lost"),
        ("d.ndjson", "it is read here, and would be lost"),
        ("samples/e.ndjson", "it is read here, and would be lost"),
        ("other.prof", "it has profiles as text, which would be lost"),
        ("other.txt", "it has profiles as text, which would be lost"),
    ],
)
def test_no_text_is_lost(profilec: Runs, write: Writes, output: str, reason: str) -> None:
    source = write("a.prof", PROFILES)
    source.with_name("link").symlink_to(source)
    source.with_name("hard").hardlink_to(source)
    write("schema.txt", "SCHEMA (price NUMBER, day DATE);")
    write("d.ndjson", DOCUMENTS)
    write("samples/e.ndjson", DOCUMENTS)
    write("other.prof", "-- nothing yet\n")
    write("other.txt", "-- rules\n\n  profile q where x = 1;\n")
    before = (source.parent / output).read_bytes()
    inputs = ["--schema", "schema.txt", "--statistics", "d.ndjson", "--statistics", "samples"]
    run = profilec("compile", "a.prof", *inputs, "-o", output)
    assert (run.status, run.err) == (2, f"error: {output}: {reason}; name another file with -o\n")
    assert (source.parent / output).read_bytes() == before


@pytest.mark.parametrize("before", [b"", b"no image, and no profiles", None], ids=["empty", "other", "image"])
def test_what_is_no_text_of_profiles_is_replaced(
    profilec: Runs, write: Writes, image: Path, before: bytes | None
) -> None:
    write("b.prfi", image.read_bytes() if before is None else before)
    assert profilec("compile", "a.prof", "-o", "b.prfi").status == 0
    assert profilec("match", "b.prfi", stdin='{"price": 3}').out == '{"document": 0, "profiles": ["cheap"]}\n'


def test_what_was_found_when_an_image_was_compiled_is_counted(profilec: Runs, write: Writes) -> None:
    write("w.prof", "".join(f"PROFILE p{n} WHERE x BETWEEN 5 AND {n};\n" for n in range(4)) + "PROFILE bad WHERE x <;")
    compiled = profilec("compile", "w.prof", "-o", "w.prfi", "--skip-errors")
    assert compiled.err.count("PC607") == 4
    for arguments in (["match", "w.prfi", "-"], ["explain", "w.prfi"], ["test", "w.prfi"]):
        run = profilec(*arguments, stdin="{}")
        said = "w.prfi: compiled with 1 error and 4 warnings, which `profilec check w.prfi` shows"
        assert run.err == f"warning: {said}\n"
    checked = profilec("check", "w.prfi")
    assert (checked.err.count("PC607"), len(checked.lines), checked.status) == (4, 5, 1)
    assert profilec("match", "w.prfi", stdin="{}").status == profilec("match", "w.prof", "--skip-errors").status == 1
