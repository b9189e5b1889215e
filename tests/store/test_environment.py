"""Opening and closing stores."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import profilec
from profilec.store.environment import StoreError

ROOT = Path(__file__).parents[2]


def test_a_closed_store_is_opened_again(tmp_path: Path) -> None:
    first = profilec.open(tmp_path / "store")
    first.insert("a", "x = 1")
    first.close()
    first.close()
    with profilec.open(tmp_path / "store") as second:
        assert second.match({"x": 1}) == ["a"]
    with pytest.raises(StoreError):
        first.match({"x": 1})


def test_each_who_opened_it_closes_it(tmp_path: Path) -> None:
    first, second = profilec.open(tmp_path / "store"), profilec.open(tmp_path / "store")
    first.insert("a", "x = 1")
    first.close()
    first.close()
    second.insert("b", "x = 1")
    assert second.match({"x": 1}) == ["a", "b"]
    second.close()


def test_many_make_one_store(tmp_path: Path) -> None:
    program = (
        "import os, sys, time, profilec\n"
        "time.sleep(max(0, float(sys.argv[2]) - time.time()))\n"
        "with profilec.open(sys.argv[1], sync='off') as profiles: profiles.insert(str(os.getpid()), 'x = 1')\n"
    )
    for number in range(2):
        path = tmp_path / f"store{number}"
        command = [sys.executable, "-c", program, str(path), str(time.time() + 2)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        made = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) for _ in range(4)]
        for one in made:
            _, err = one.communicate()
            assert one.returncode == 0, err.decode()
        with profilec.open(path) as profiles:
            assert len(profiles) == 4


def test_a_making_that_was_cut_short(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "data.mdb").touch()
    with profilec.open(tmp_path / "store") as profiles:
        profiles.insert("a", "x = 1")


def test_processes_that_were_killed_keep_no_places(tmp_path: Path) -> None:
    """LMDB has places for 1,024 readers, and does not ask whether they live."""
    with profilec.open(tmp_path / "store", sync="off") as profiles:
        profiles.insert("a", "x = 1")
        program = "import os, sys, profilec; profilec.open(sys.argv[1], sync='off').match({'x': 1}); os._exit(9)"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        for _ in range(3):
            subprocess.run([sys.executable, "-c", program, str(tmp_path / "store")], env=environment, check=False)
        readers = profiles.keeper.environment._env.readers()  # type: ignore[union-attr]
        assert len(readers.splitlines()) <= 3, readers  # a heading, this process, and the last one


def test_an_open_store_compacts_while_another_process_does(tmp_path: Path) -> None:
    """Who asks for it waits."""
    with profilec.open(tmp_path / "store", sync="off") as profiles:
        profiles.insert_many({f"{number}": f"x = {number}" for number in range(300)})
        program = (
            "import sys, profilec\n"
            "with profilec.open(sys.argv[1], sync='off') as profiles:\n"
            "    for number in range(4): profiles.insert(f'm{number}', 'x = 1'); profiles.compact()\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", program, str(tmp_path / "store")]
        other = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
        for number in range(20):
            profiles.insert(f"n{number}", "x = 1")
            profiles.compact()
        _, err = other.communicate()
        assert other.returncode == 0, err.decode()
        assert profiles.count({"x": 1}) == 1 + 4 + 20
