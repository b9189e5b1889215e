"""`profilec store`: a set that changes, kept in a folder, and the verbs that take one in place of files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runs = Callable[..., Any]
Writes = Callable[..., Path]

PROFILES = """-- why
PROFILE "a b" WITH (priority = 5) WHERE price < 10 ACCEPTS {"price": 1};
PROFILE c WHERE brand = 'x' OR EXISTS d (d.brand = brand);
"""


@pytest.fixture
def store(profilec: Runs, write: Writes) -> str:
    write("schema.prof", "SCHEMA (price NUMBER, brand STRING);")
    write("p.prof", PROFILES)
    assert profilec("store", "init", "store", "--schema", "schema.prof").status == 0
    run = profilec("store", "import", "store", "p.prof")
    assert (run.status, run.out, run.err) == (0, "", "store: 2 profiles more, 2 in all\n")
    return "store"


def ids(profilec: Runs) -> list[str]:
    return [json.loads(line)["profile"] for line in profilec("store", "list", "store").lines]


def test_add_and_remove(profilec: Runs, store: str) -> None:
    assert profilec("store", "add", store, "d", "price > 1", "--sync", "batch").status == 0
    taken = profilec("store", "add", store, "d", "price > 2")
    assert taken.status == 2
    assert "error PC216 in profile d: the id 'd' is taken" in taken.err
    assert profilec("store", "add", store, "a b", "price > 2", "--replace").status == 0
    assert profilec("store", "add", store, "e", "price >").status == 2
    warned = profilec("store", "add", store, "e", "price = NULL")
    assert warned.status == 0
    assert "warning" in warned.err
    assert ids(profilec) == ["a b", "c", "d", "e"]
    gone = profilec("store", "remove", store, "d", "nothing")
    assert (gone.status, gone.err) == (2, "error: store: no profile 'nothing'\n")
    assert profilec("store", "remove", store, "d", "c").status == 0
    assert ids(profilec) == ["a b", "e"]


def test_import_is_all_or_nothing(profilec: Runs, write: Writes, store: str) -> None:
    write("q.prof", "PROFILE d WHERE price = 1; PROFILE c WHERE price = 2;")
    assert profilec("store", "import", store, "q.prof").status == 2
    write("r.prof", "PROFILE d WHERE price = 1; PROFILE e WHERE price =;")
    assert "PC101" in profilec("store", "import", store, "r.prof", "--replace").err
    assert ids(profilec) == ["a b", "c"]
    run = profilec("store", "import", store, "q.prof", "--replace")
    assert (run.status, run.err) == (0, "store: 1 profile more, 3 in all\n")
    assert ids(profilec) == ["a b", "c", "d"]
    write("s.prof", "SCHEMA (other DATE); PROFILE f WHERE price = 1;")
    other = profilec("store", "import", store, "s.prof")
    assert other.status == 2
    assert "keeps the SCHEMA" in other.err
    assert "declares more: other; give it when the set is made" in other.err


def test_list_as_it_was_written(profilec: Runs, write: Writes, store: str) -> None:
    assert profilec("store", "list", store, "--format", "text").lines == [
        "a b  price < 10",
        "c  brand = 'x' OR EXISTS d (d.brand = brand)",
    ]
    first = profilec("store", "list", store).lines[0]
    assert json.loads(first) == {
        "profile": "a b", "where": "price < 10", "properties": {"priority": 5}, "comment": "why",
    }  # fmt: skip
    text = profilec("store", "list", store, "--format", "prof").out
    write("again.prof", text)
    assert profilec("store", "init", "again", "--schema", "again.prof").status == 0
    assert profilec("store", "import", "again", "again.prof").status == 0
    assert profilec("store", "list", "again", "--format", "prof").out == text


def test_figures(profilec: Runs, store: str) -> None:
    told = json.loads(profilec("store", "stat", store, "--format", "json").out)
    assert [told[name] for name in ("n_profiles", "n_changes", "moment", "segments")] == [2, 1, 1, []]
    assert profilec("store", "compact", store).err == "store: 2 profiles\n"
    told = json.loads(profilec("store", "stat", store, "--format", "json").out)
    assert (told["n_profiles"], told["n_changes"], told["segments"][0]["n_profiles"]) == (2, 0, 2)
    lines = profilec("store", "stat", store).lines
    assert lines[0].startswith("store: 2 profiles, ")
    assert lines[4].startswith("  segment 1  2 profiles, 0 dead, ")
    profilec("store", "add", store, "d", "price = 3")
    profilec("store", "add", store, "c", "price = 3", "--replace")
    assert json.loads(profilec("store", "stat", store, "--format", "json").out)["n_profiles"] == 3


def test_figures_tell_what_it_was_made_with(profilec: Runs, store: str) -> None:
    assert profilec("store", "stat", store).lines[-1] == "  schema     price NUMBER, brand STRING"
    assert profilec("store", "init", "other", "-o", "memory=1 MB", "-o", "matcher=access").status == 0
    assert profilec("store", "stat", "other").lines[-1] == "  options    matcher access, memory 1000000"
    told = json.loads(profilec("store", "stat", "other", "--format", "json").out)
    assert (told["schema"], told["options"]) == ({}, {"matcher": "access", "memory": "1000000"})


@pytest.mark.parametrize("verb", [["fmt"], ["compile", "-o", "x.prfi"]])
def test_verbs_that_take_text_say_what_a_store_is(profilec: Runs, store: str, verb: list[str]) -> None:
    run = profilec(*verb, store)
    assert run.status == 2
    assert "it is a store, and this takes the text of profiles, as `profilec store list store --format prof`" in run.err
    checked = profilec("verify", store)
    assert checked.status == 1
    assert "it is a store, and an image is a file" in checked.err


def test_verbs_that_take_profiles_take_a_store(profilec: Runs, store: str) -> None:
    documents = '{"price": 5, "brand": "x"}\n{"price": 50, "brand": "y"}\n{"brand": "y"}\n'
    run = profilec("match", "--process", store, "-", stdin=documents)
    assert run.status == 0
    assert [json.loads(line)["profiles"] for line in run.lines] == [["a b", "c"], [], ["c"]]
    assert profilec("match", store, "--format", "csv", stdin=documents).lines == [
        "document,profile", "0,a b", "0,c", "1,c", "2,c",
    ]  # fmt: skip
    assert "price < 10" in profilec("explain", store, "--id", "a b").out
    assert profilec("explain", store).out.startswith("Plan for 2 profiles")
    assert profilec("explain", store, "--why", '{"price": 1}', "--id", "a b").lines[0] == "a b: TRUE"
    assert profilec("test", store).status == 0
    assert profilec("export", "--dialect", "duckdb", store).lines[:2] == ["-- id: a b", "WHERE price < 10;"]


def test_a_store_is_a_set_of_its_own(profilec: Runs, store: str) -> None:
    assert "name no other profiles beside it" in profilec("match", store, "p.prof", "-").err
    run = profilec("match", store, "--matcher", "scan")
    assert run.status == 2
    assert "its options were chosen by `profilec store init`" in run.err


def test_options_of_a_store(profilec: Runs) -> None:
    assert profilec("store", "init", "store", "--option", "max_size=5").status == 0
    assert profilec("store", "init", "store").err == "error: store: it is a store already\n"
    assert "PC" in profilec("store", "add", "store", "a", "price > 1000").err
    assert "--sync is one of commit, batch, off" in profilec("store", "compact", "store", "--sync", "never").err


@pytest.mark.parametrize("verb", ["list", "compact", "stat", "verify"])
def test_what_is_no_store(profilec: Runs, write: Writes, verb: str) -> None:
    write("folder/a.txt", "x")
    for path in ("folder", "nothing"):
        run = profilec("store", verb, path)
        assert (run.status, run.out) == (2, "")
        assert run.err.startswith(f"error: {path}")
        assert run.err.count("\n") == 1
    assert profilec("store", "init", "folder").err.startswith("error: folder is no store, and not empty")


def test_backup(profilec: Runs, store: str) -> None:
    profilec("store", "compact", store)
    assert profilec("store", "backup", store, "copy").status == 0
    assert profilec("store", "list", "copy").out == profilec("store", "list", store).out
    run = profilec("store", "backup", store, "copy")
    assert (run.status, run.err) == (2, "error: copy is there already; name a folder that is to be made\n")


def test_a_damaged_store(profilec: Runs, write: Writes, tmp_path: Path, store: str) -> None:
    profilec("store", "compact", store)
    profilec("store", "add", store, "d", "brand = 'some text'")
    assert profilec("store", "verify", store).out.startswith("store: sound: 3 profiles in 1 segment and 1 change, ")
    data = (tmp_path / "store" / "data.mdb").read_bytes()
    write("store/data.mdb", data.replace(b"some text", b"same text"))
    run = profilec("store", "verify", store)
    assert run.status == 1
    assert run.err == "error: store: change 2: a change that cannot be read: the checksum is wrong\n"
    assert "`profilec store salvage store -o FILE.prof`" in run.out
    assert json.loads(profilec("store", "verify", store, "--format", "json").out)["sound"] is False
    for command in (["match", store, "-"], ["explain", store], ["store", "list", store]):
        refused = profilec(*command)
        assert (refused.status, refused.out) == (2, "")
        assert refused.err.startswith("error: store is damaged: change 2: ")
        assert refused.err.count("\n") == 1
    run = profilec("store", "salvage", store, "-o", "out.prof")
    assert run.status == 1
    assert run.err.splitlines() == [
        "warning: lost: change 2: a change that cannot be read: the checksum is wrong", "out.prof: 2 profiles",
    ]  # fmt: skip
    assert (tmp_path / "out.prof").read_text().count("PROFILE") == 2
    assert profilec("test", "out.prof").status == 0
    assert profilec("store", "salvage", store, "-o", "out.prof").status == 2
    assert "within the store" in profilec("store", "salvage", store, "-o", "store/out.prof").err


def test_salvage_without_the_data_file(profilec: Runs, tmp_path: Path, store: str) -> None:
    profilec("store", "compact", store)
    (tmp_path / "store" / "data.mdb").unlink()
    run = profilec("match", store, "-")
    assert run.status == 2
    assert "data.mdb is not there, and segments are" in run.err
    run = profilec("store", "salvage", store, "-o", "out.prof")
    assert run.status == 1
    assert "out.prof: 2 profiles" in run.err
    text = (tmp_path / "out.prof").read_text()
    assert text.startswith(
        "SCHEMA (\n  price NUMBER,\n  brand STRING\n);\n\n-- why\nPROFILE 'a b'\n  WITH (priority = 5)\n"
    )
