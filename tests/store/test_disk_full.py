"""A disk that is full: a clear error, and a store in which everything acknowledged is."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import profilec
from tests.store.test_survival import held

DOCUMENT = {"a": 1, "b": "y" * 500}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root mounts a file system")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=False)


def test_a_full_disk_loses_nothing(small_disk: Path) -> None:
    ballast, path = small_disk / "ballast", small_disk / "store"
    ballast.write_bytes(bytes(6_500_000))
    wanted: dict[str, str] = {}
    n_documents: list[int] = []
    with profilec.open(path) as profiles:

        def insert() -> None:
            for number in range(10_000):
                more = {f"p{number}-{place}": f"a = {place} AND b != 'x{number}'" for place in range(50)}
                profiles.insert_many(more)
                wanted.update(more)

        def extend() -> None:
            for _ in range(10_000):
                profiles.documents.extend([DOCUMENT] * 50)
                n_documents.append(50)

        with pytest.raises(profilec.StoreError, match="the disk is full; nothing of this change was kept"):
            insert()
        with pytest.raises(profilec.StoreError, match="the disk is full"):
            extend()
        assert len(profiles) == len(wanted)
        assert len(profiles.documents) == sum(n_documents)
        with pytest.raises((profilec.StoreError, OSError)):  # there is no room for a segment either
            profiles.compact()
        assert profiles.match({"a": 3, "b": "x1"}) == [id for id in wanted if id.endswith("-3") and id != "p1-3"]
    assert held(path) == (wanted, [DOCUMENT] * sum(n_documents))
    ballast.unlink()
    with profilec.open(path) as profiles:
        profiles.insert("last", "a = 3")
        profiles.documents.add({"a": 2})
        profiles.compact()
        assert profiles.match({"a": 3, "b": "x1"})[-1] == "last"
    assert list(held(path)[0]) == [*wanted, "last"]


def test_the_same_handle_goes_on_once_there_is_room(small_disk: Path) -> None:
    ballast, path = small_disk / "ballast", small_disk / "store"
    wanted: dict[str, str] = {}
    with profilec.open(path) as profiles, profilec.open(path) as other:
        profiles.insert("first", "a = 3")
        ballast.write_bytes(bytes(7_500_000))

        def insert() -> None:
            for number in range(10_000):
                more = {f"p{number}-{place}": f"a = {place} AND b != 'x{number}'" for place in range(50)}
                profiles.insert_many(more)
                wanted.update(more)

        with pytest.raises(profilec.StoreError, match="the disk is full"):
            insert()
        ballast.unlink()
        other.insert("other", "a = 3")
        other.documents.add({"a": 3})
        matched = ["first", *(id for id in wanted if id.endswith("-3")), "other"]
        assert profiles.match({"a": 3, "b": ""}) == matched
        profiles.insert("last", "a = 3")
        assert other.match({"a": 3, "b": ""}) == profiles.match({"a": 3, "b": ""}) == [*matched, "last"]
        assert list(profiles.documents) == [{"a": 3}]
        profiles.compact()
    assert list(held(path)[0]) == ["first", *wanted, "other", "last"]
