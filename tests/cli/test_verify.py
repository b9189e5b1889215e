"""`profilec verify`: which images are sound, and what they hold."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runs = Callable[..., Any]
Writes = Callable[..., Path]


@pytest.fixture
def image(profilec: Runs, write: Writes) -> Path:
    path = write("a.prof", "PROFILE a WHERE x = 'some text';\nPROFILE b WHERE y > 1;")
    assert profilec("compile", "a.prof", "-o", "a.prfi").status == 0
    return path.with_suffix(".prfi")


def test_a_sound_image(profilec: Runs, image: Path) -> None:
    run = profilec("verify", "a.prfi")
    assert (run.status, run.err) == (0, "")
    (line,) = run.lines
    told = json.loads(line)
    assert (told["sound"], told["profiles"], told["bytes"]) == (True, 2, image.stat().st_size)
    sections = {section["name"]: section for section in told["sections"]}
    assert sections["entry_tests"]["matching"]
    assert not sections["wheres.data"]["matching"]
    assert sections["wheres.data"]["bytes"] == len("x = 'some text'y > 1")


def test_as_text(profilec: Runs, image: Path) -> None:
    run = profilec("verify", "a.prfi", "--format", "text")
    assert run.lines[0].startswith("a.prfi: 2 profiles, ")
    assert run.lines[1] == "  matching reads"
    assert [line.split() for line in run.lines if "wheres.data" in line] == [
        ["wheres.data", "20", "bytes", "10.0", "a", "profile"]
    ]


def test_a_body_that_changed_is_found_and_named(profilec: Runs, image: Path) -> None:
    image.write_bytes(image.read_bytes().replace(b"some text", b"same text"))
    run = profilec("verify", "a.prfi")
    assert run.status == 1
    assert "section constants.texts.data does not have the bytes that were written" in run.err
    assert "section wheres.data does not" in run.err
    assert json.loads(run.out)["sound"] is False
    assert profilec("match", "a.prfi", stdin='{"x": "same text"}').status == 0  # loading does not read the bodies


def test_every_image_is_looked_at(profilec: Runs, write: Writes, image: Path) -> None:
    write("cut.prfi", image.read_bytes()[:-1])
    run = profilec("verify", "a.prof", "cut.prfi", "a.prfi", "--format", "json")
    assert run.status == 1
    assert [told["sound"] for told in json.loads(run.out)] == [False, False, True]
    assert "a.prof: it is no image; make one with `profilec compile`" in run.err
    assert "cut.prfi: it is cut off: it has" in run.err


def test_a_file_that_cannot_be_read_is_an_error(profilec: Runs, image: Path) -> None:
    run = profilec("verify", "none.prfi", "a.prfi")
    assert run.status == 2
    assert "none.prfi: No such file or directory" in run.err
    assert json.loads(run.out)["sound"] is True


@pytest.mark.parametrize("verb", ["match", "explain", "check", "test"])
def test_no_verb_uses_a_damaged_header(profilec: Runs, image: Path, verb: str) -> None:
    data = bytearray(image.read_bytes())
    data[100] ^= 1
    image.write_bytes(data)
    run = profilec(verb, "a.prfi")
    assert (run.status, run.out) == (2, "")
    assert "error: a.prfi: its header is damaged (the checksum differs); copy it again, or compile" in run.err


def test_one_that_comes_through_a_pipe(profilec: Runs, image: Path) -> None:
    by_name, piped = profilec("verify", "a.prfi"), profilec("verify", "-", stdin=image.read_bytes())
    assert json.loads(piped.out) == {**json.loads(by_name.out), "image": "/dev/stdin"}
    run = profilec("verify", "-", stdin=image.read_bytes()[:-1])
    assert run.status == 1
    assert "/dev/stdin: it is cut off" in run.err
    assert "/dev/stdin: it is no image" in profilec("verify", "-", stdin="PROFILE a WHERE TRUE;").err
