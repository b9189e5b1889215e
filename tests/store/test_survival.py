"""A process that changes a store is killed within an operation: nothing acknowledged is lost, nothing else half there.

PROFILEC_STORE_KILLS says how many times, for a long run.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import profilec
from profilec.store.verify import verify_store
from tests.store.models import EMPTY, Model, held, held_by_copy
from tests.store.store_child import ACTIONS

CHILD = Path(__file__).with_name("store_child.py")
KILLS = int(os.environ.get("PROFILEC_STORE_KILLS", len(ACTIONS)))
ROOT = Path(profilec.__file__).parents[1]
ATTEMPTS = 20
"""Kills for one that is to come within an operation, before its end."""

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no such signal")


class Killed(NamedTuple):
    """The operations that a child acknowledged, and the one during which it was killed; None where none was under
    way."""

    done: list[list[Any]]
    last: list[Any] | None


class Killer:
    """Kills children that change the store of a folder, each at some moment of an operation of some action."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.store, self.copies, self._scratch = folder / "store", folder / "copies", folder / "scratch"
        for made in (self.copies, self._scratch):
            made.mkdir()
        self._draw = draw
        self._took: dict[str, list[float]] = {action: [0.003] for action in ACTIONS}

    def kill(self, aim: str, seed: int) -> Killed:
        """See the class."""
        child = subprocess.Popen(
            [sys.executable, str(CHILD), str(self.store), str(seed), aim, str(self.copies)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(self._scratch)},
            text=True,
        )
        assert child.stdout is not None
        said = [json.loads(child.stdout.readline())]
        assert said == [["ready"]]
        to_pass = self._draw.randrange(1, 4)
        for line in child.stdout:
            said.append(json.loads(line))
            if said[-1][0] == "try" and said[-1][1][0] == aim:
                to_pass -= 1
                if to_pass < 0:
                    break
        time.sleep(self._draw.uniform(0, 1.05) * statistics.median(self._took[aim][-5:]))
        child.send_signal(signal.SIGKILL)
        said += [json.loads(line) for line in child.stdout if line.endswith("]\n")]
        assert child.wait() == -signal.SIGKILL
        tried = [one[1] for one in said if one[0] == "try"]
        took = [one[1] for one in said if one[0] == "done"]
        for (action, _), seconds in zip(tried, took, strict=False):
            self._took[action].append(seconds)
        assert len(tried) - len(took) in (0, 1)
        return Killed(tried[: len(took)], tried[-1] if len(tried) > len(took) else None)

    def expect_copies(self, acknowledged: dict[str, Model], last: str | None, model: Model) -> int:
        """A copy that was acknowledged holds what the store held; one that was not, and what else is left of it, holds
        that, too, or is no store at all. Returns how many such there are that are not whole."""
        n_refused = 0
        for name, then in acknowledged.items():
            found = held_by_copy(self.copies / name)
            assert found is not None, f"{name} was acknowledged"
            assert found.is_same(then), name
        for left in self.copies.iterdir():
            if left.name not in acknowledged:
                assert last is not None, left.name
                assert last in left.name
                found = held_by_copy(left)
                assert found is None or found.is_same(model), left.name
                n_refused += found is None
        shutil.rmtree(self.copies)
        self.copies.mkdir()
        return n_refused


def test_a_killed_process_loses_nothing_that_it_acknowledged(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    draw = random.Random(os.environ.get("PROFILEC_STORE_SEED") or random.SystemRandom().randrange(2**32))
    killer, model = Killer(tmp_path, draw), EMPTY
    within: Counter[str] = Counter()
    n_kills = n_operations = n_unsure = n_refused = 0
    for aim in islice(cycle(ACTIONS), KILLS):
        for _ in range(ATTEMPTS):
            seed, n_kills = draw.randrange(2**32), n_kills + 1
            done, last = killer.kill(aim, seed)
            copies: dict[str, Model] = {}
            for action, argument in done:
                model = model.do(action, argument)
                if action.startswith("backup"):
                    copies[argument] = model
            n_operations += len(done)
            n_refused += killer.expect_copies(
                copies, last[1] if last is not None and last[0].startswith("backup") else None, model
            )
            found = held(killer.store)
            matching = [one for one in [model, *([model.do(*last)] if last else [])] if one.is_same(found)]
            assert matching, f"kill {n_kills}, seed {seed}, after {len(done)} operations, at {last}"
            n_unsure += matching[0] is not model
            model = matching[0]
            if last is not None:
                within[last[0]] += 1
                if last[0] == aim:
                    break
    assert set(within) >= set(ACTIONS[:KILLS])
    assert within.total() >= KILLS
    with profilec.open(killer.store) as profiles:
        profiles.compact()
    assert len(list((killer.store / "segments").iterdir())) == 1, "what was left of merges is gone with the next one"
    record_property(
        "told",
        f"{n_kills} kills after {n_operations:,} operations, {within.total()} of them within one: "
        + ", ".join(f"{within[action]} {action}" for action in ACTIONS)
        + f"; {n_unsure} that were not acknowledged are there, whole; {n_refused} copies that were not are refused",
    )


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell processes by /proc")
def test_a_process_that_compiles_aside_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profilec.living.aside.LARGE", 2)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path, then = tmp_path / "store", {f"p{number}": f"a = {number}" for number in range(40)}
    with profilec.open(path) as profiles:
        for id, where in then.items():
            profiles.insert(id, where)
        for seconds in (0.0, 0.05, 0.1, 0.15):
            said: list[str] = []

            def compact(said: list[str] = said) -> None:
                with pytest.raises(RuntimeError, match=r"ended by signal 9") as raised:
                    profiles.compact()
                said.append(str(raised.value))

            merging = threading.Thread(target=compact)
            merging.start()
            while not (children := processes_aside()):
                time.sleep(0.001)
            time.sleep(seconds)
            for child in children:
                os.kill(child, signal.SIGKILL)
            merging.join()
            assert said
            assert verify_store(path).faults == ()
            assert profiles.match({"a": 7}) == ["p7"]
        assert sorted(one.name for one in tmp_path.iterdir()) == ["store"]
        profiles.compact()
        assert profiles.match({"a": 7}) == ["p7"]
    assert held(path).profiles == then


def processes_aside() -> list[int]:
    """Processes of this one that compile a segment."""
    found = []
    for one in Path("/proc").iterdir():
        try:
            if one.name.isdigit() and b"profilec.living.aside" in (one / "cmdline").read_bytes():
                parent = (one / "stat").read_text().rpartition(")")[2].split()[1]
                found += [int(one.name)] if int(parent) == os.getpid() else []
        except OSError:
            pass  # it has ended
    return found


@pytest.mark.parametrize("seed", range(2))
def test_two_processes_change_one_store(tmp_path: Path, seed: int) -> None:
    """Both write at once; what both acknowledged is there, and each sees what the other did."""
    path = tmp_path / "store"
    code = (
        "import sys, profilec\n"
        "profiles = profilec.open(sys.argv[1])\n"
        "from profilec.living import living_set, merging\n"
        "living_set.MOST_IN_DELTA = merging.MOST_IN_DELTA = 20\n"
        "for n in range(60):\n"
        "    profiles.insert(f'{sys.argv[2]}{n}', f'a = {n}')\n"
        "    if n % 7 == 6: profiles.delete(f'{sys.argv[2]}{n - 3}')\n"
        "    if n % 25 == 24:\n"
        "        try: profiles.compact()\n"
        "        except RuntimeError: pass\n"
        "profiles.close()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    children = [subprocess.Popen([sys.executable, "-c", code, str(path), name], env=environment) for name in "pq"]
    with profilec.open(path) as profiles:
        while any(child.poll() is None for child in children):
            found = profiles.match({"a": 5})
            assert set(found) <= {"p5", "q5"}
        assert [child.returncode for child in children] == [0, 0]
        gone = {n - 3 for n in range(60) if n % 7 == 6}
        assert set(profiles.ids) == {f"{name}{n}" for name in "pq" for n in range(60) if n not in gone}
        assert set(profiles.match({"a": 5})) == {"p5", "q5"}
        assert profiles.match({"a": 3}) == []
    assert len(held(path).profiles) == 104


def test_a_writer_that_dies_holding_the_lock_frees_it(tmp_path: Path) -> None:
    path = tmp_path / "store"
    code = (
        "import os, sys, profilec\n"
        "profiles = profilec.open(sys.argv[1])\n"
        "profiles.insert('a', 'x = 1')\n"
        "store = profiles._living.keeper\n"
        "with profiles._living.writing, store.changing(profiles._living):\n"
        "    store.keep_change(2, (), ())\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    with profilec.open(path) as profiles:
        profiles.insert("b", "x = 1")
        assert profiles.match({"x": 1}) == ["a", "b"]
