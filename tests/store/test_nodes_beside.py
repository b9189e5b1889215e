"""A store whose memory is limited keeps the nodes of its indexes beside its segments: found again, never trusted more
than they are, and gone with their segment."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import profilec
from profilec.runtime.matchers import access
from profilec.runtime.store import node_file
from profilec.store.backup import backup_store
from profilec.store.verify import verify_store

CONDITIONS = {f"p{number}": f"a < {number} AND b = 'y{number % 9}'" for number in range(400)}
DOCUMENT = {"a": 390, "b": "y3"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of one segment."""
    path = tmp_path / "store"
    with profilec.open(path, sync="off", options={"memory": 1}) as profiles:
        profiles.insert_many(CONDITIONS)
        profiles.compact()
        assert "of memory, more than the 1 B" in profiles.explain()
    return path


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were filled."""
    filled: list[str] = []
    fill = node_file._fill

    def counted(path: Path, *given: Any) -> None:
        filled.append(path.name)
        fill(path, *given)

    monkeypatch.setattr(node_file, "_fill", counted)
    return filled


def nodes_of(path: Path) -> list[Path]:
    return sorted((path / "segments").glob("*.nodes-*"))


def right(profiles: profilec.ProfileSet) -> None:
    assert profiles.match(DOCUMENT) == [id for id in profiles if id in EXPECTED]


EXPECTED = [f"p{number}" for number in range(391, 400) if number % 9 == 3]


def test_they_are_made_once(path: Path, made: list[str]) -> None:
    assert not nodes_of(path)
    for _ in range(3):
        with profilec.open(path) as profiles:
            right(profiles)
    assert [file.name.partition("-")[0] for file in nodes_of(path)] == ["1.nodes"]
    assert len(made) == 1
    assert sorted(file.name.partition(".")[2][:5] for file in (path / "segments").iterdir()) == ["image", "nodes"]


def test_a_segment_that_was_just_merged_is_mapped(tmp_path: Path) -> None:
    with profilec.open(tmp_path / "store", options={"memory": 1}) as profiles:
        profiles.insert_many(CONDITIONS)
        profiles.compact()
        right(profiles)
        assert len(nodes_of(tmp_path / "store")) == 1
        assert profiles._living is not None
        image = profiles._living.state.segments[0].compiled.parts.image
        assert image.entry_tests.base is not None  # of the file


def test_they_go_with_their_segment(path: Path) -> None:
    with profilec.open(path) as profiles:
        right(profiles)
        (before,) = nodes_of(path)
        profiles.insert("more", "a = 1")
        profiles.compact()
        right(profiles)
        assert [file.name.partition("-")[0] for file in nodes_of(path)] == ["2.nodes"]
        assert not before.exists()


@pytest.mark.parametrize("damage", ["a byte", "cut", "empty", "of another"])
def test_damaged_ones_are_made_again(path: Path, tmp_path: Path, made: list[str], damage: str) -> None:
    with profilec.open(path) as profiles:
        right(profiles)
    (file,) = nodes_of(path)
    data = file.read_bytes()
    other = data.replace(b"PB+1", b"PB+2")
    assert other != data
    damaged = {"a byte": data[:7_000] + bytes([data[7_000] ^ 1]) + data[7_001:], "cut": data[:-4_096], "empty": b""}
    file.write_bytes({**damaged, "of another": other}[damage])
    with profilec.open(path) as profiles:
        right(profiles)
    assert len(made) == 2
    assert nodes_of(path) == [file]
    assert file.read_bytes() == data


def test_those_of_an_earlier_profilec_are_not_read(
    path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with profilec.open(path) as profiles:
        right(profiles)
    monkeypatch.setattr(access, "_FORMAT", access._FORMAT + 1)
    with profilec.open(path) as profiles:
        right(profiles)
    assert len(made) == 2


def test_what_a_killed_process_left_is_removed_by_the_next_merge(path: Path) -> None:
    (path / "segments" / "making-0123456789abcdef").write_bytes(b"half")
    with profilec.open(path) as profiles:
        right(profiles)
        profiles.insert("more", "a = 1")
        profiles.compact()
    assert not list((path / "segments").glob("making-*"))


def test_verify_and_backup_see_the_store_alone(path: Path, tmp_path: Path, made: list[str]) -> None:
    with profilec.open(path) as profiles:
        right(profiles)
        assert verify_store(path).faults == ()
        assert profiles.keeper is not None
        backup_store(profiles.keeper, tmp_path / "copy")
        backup_store(profiles.keeper, tmp_path / "linked", link=True)
    for copy in ("copy", "linked"):
        assert not nodes_of(tmp_path / copy)
        assert verify_store(tmp_path / copy).faults == ()
        with profilec.open(tmp_path / copy) as profiles:
            right(profiles)
    assert len(made) == 3
    shutil.copytree(path, tmp_path / "copied")
    with profilec.open(tmp_path / "copied") as profiles:
        right(profiles)
    assert len(made) == 3


def test_two_handles_map_one_file(path: Path, made: list[str]) -> None:
    with profilec.open(path) as one, profilec.open(path) as other:
        right(one)
        right(other)
    assert len(made) == 1


def test_without_a_limit_there_are_none(tmp_path: Path) -> None:
    with profilec.open(tmp_path / "store") as profiles:
        profiles.insert_many(CONDITIONS)
        profiles.compact()
        right(profiles)
    assert not nodes_of(tmp_path / "store")
