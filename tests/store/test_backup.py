"""Copies of stores."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import cast

import pytest

import profilec
from profilec.store import backup
from profilec.store.backup import backup_store
from profilec.store.environment import StoreError
from profilec.store.store import Store
from profilec.store.verify import verify_store
from tests.store.stores import fill

ROOT = Path(__file__).parents[2]


def store_of(profiles: profilec.ProfileSet) -> Store:
    return cast(Store, profiles.keeper)


@pytest.mark.parametrize("link", [False, True])
def test_a_copy_is_a_store(tmp_path: Path, link: bool) -> None:
    held = fill(tmp_path / "store")
    with profilec.open(tmp_path / "store", sync="off") as profiles:
        backup_store(store_of(profiles), tmp_path / "copy", link=link)
        ids = list(profiles.ids)
        profiles.delete("p0")
        profiles.compact()
    assert verify_store(tmp_path / "copy").faults == ()
    with profilec.open(tmp_path / "copy") as copied:
        assert list(copied.ids) == ids
        assert {id: copied[id].where for id in copied.ids} == held
        copied.insert("more", "a = 1")
        copied.compact()
    with profilec.open(tmp_path / "store") as profiles:
        assert "more" not in profiles
    assert sorted(os.listdir(tmp_path)) == ["copy", "store"]


def test_what_is_there_stays(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    (tmp_path / "copy").mkdir()
    with profilec.open(tmp_path / "store", sync="off") as profiles, pytest.raises(StoreError, match="is there already"):
        backup_store(store_of(profiles), tmp_path / "copy")
    assert not list((tmp_path / "copy").iterdir())


def test_a_merge_is_waited_for(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    with profilec.open(tmp_path / "store", sync="off") as profiles:
        with (tmp_path / "store" / "merge.lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            copying = threading.Thread(target=backup_store, args=(store_of(profiles), tmp_path / "copy"))
            copying.start()
            time.sleep(0.2)
            assert not (tmp_path / "copy").exists()
        copying.join()
    assert verify_store(tmp_path / "copy").faults == ()


def test_while_others_change_and_merge(tmp_path: Path) -> None:
    """Each copy holds what was there at one commit: numbers that follow one another."""
    with profilec.open(tmp_path / "store", sync="off") as profiles:
        ends = threading.Event()

        def change() -> None:
            number = 0
            while not ends.is_set():
                profiles.insert(f"{number}", f"a = {number}")
                if number >= 20:
                    profiles.delete(f"{number - 20}")
                if number % 37 == 0:
                    profiles.compact()
                number += 1

        writer = threading.Thread(target=change)
        writer.start()
        try:
            for number in range(8):
                time.sleep(0.05)
                backup_store(store_of(profiles), tmp_path / f"copy{number}")
        finally:
            ends.set()
            writer.join()
    for number in range(8):
        copy = tmp_path / f"copy{number}"
        assert verify_store(copy).faults == ()
        with profilec.open(copy, sync="off") as copied:
            ids = [int(id) for id in copied.ids]
            assert ids == list(range(ids[0], ids[0] + len(ids)))
            assert len(ids) <= 21


def test_a_killed_one_leaves_no_copy(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    program = (
        "import os, sys, profilec\n"
        "from pathlib import Path\n"
        "from profilec.store import backup\n"
        "backup._write_through = lambda path: os._exit(9)\n"
        "with profilec.open(sys.argv[1], sync='off') as profiles:\n"
        "    backup.backup_store(profiles.keeper, Path(sys.argv[2]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, str(tmp_path / "store"), str(tmp_path / "copy")]
    assert subprocess.run(command, env=environment, check=False).returncode == 9
    assert not (tmp_path / "copy").exists()
    with profilec.open(tmp_path / "store", sync="off") as profiles:
        backup_store(store_of(profiles), tmp_path / "copy")


def test_a_failed_one_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "store")

    def fails(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "_write_through", fails)
    with profilec.open(tmp_path / "store", sync="off") as profiles, pytest.raises(StoreError, match="the disk is full"):
        backup_store(store_of(profiles), tmp_path / "copy")
    assert os.listdir(tmp_path) == ["store"]
