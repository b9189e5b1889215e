"""A process that changes a store is killed: nothing acknowledged is lost, nothing else is half there.

PROFILEC_STORE_KILLS says how many times, for a long run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import profilec

CHILD = Path(__file__).with_name("store_child.py")
KILLS = int(os.environ.get("PROFILEC_STORE_KILLS", "6"))
ROOT = Path(profilec.__file__).parents[1]

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no such signal")


class Model:
    """What a store should hold: the profiles in order, and the documents."""

    def __init__(self) -> None:
        self.profiles: dict[str, str] = {}
        self.documents: list[dict[str, Any]] = []

    def do(self, action: str, argument: Any) -> Model:
        """The model after an operation of `store_child`."""
        then = Model()
        then.profiles, then.documents = dict(self.profiles), list(self.documents)
        match action:
            case "insert" | "replace":
                then.profiles.update(argument)
            case "delete":
                for id in argument:
                    del then.profiles[id]
            case "document":
                then.documents += argument
            case "forget":
                del then.documents[0]
        return then


def killed(path: Path, seed: int, seconds: float) -> list[list[Any]]:
    """The operations that a child did, until it was killed, and the last one that it may have done; that is None where
    nothing was under way."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(
        [sys.executable, str(CHILD), str(path), str(seed)], stdout=subprocess.PIPE, env=environment, text=True
    )
    assert child.stdout is not None
    assert json.loads(child.stdout.readline()) == ["ready"]
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    lines = [json.loads(line) for line in child.stdout.read().splitlines() if line.endswith("]")]
    child.wait()
    tried = [line[1] for line in lines if line[0] == "try"]
    n_done = sum(line[0] == "done" for line in lines)
    assert len(tried) - n_done in (0, 1)
    return [*tried[:n_done], tried[n_done] if len(tried) > n_done else None]


def held(path: Path) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """What a store holds, once it is opened again; its answers are those of a set compiled from that."""
    with profilec.open(path) as profiles:
        found = {id: profiles[id].where for id in profiles.ids}
        documents = list(profiles.documents)
        again = profilec.compile(found)
        again.documents.extend(documents)
        asked = [{"a": a, "b": b} for a in (None, 3, 30, 59) for b in ("x3", "y", "x30")]
        assert list(profiles.match_batch(asked)) == list(again.match_batch(asked))
        assert [profiles.match(one) for one in asked[:4]] == [again.match(one) for one in asked[:4]]
    return found, documents


def test_a_killed_process_loses_nothing_that_it_acknowledged(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    draw = random.Random(os.environ.get("PROFILEC_STORE_SEED") or random.SystemRandom().randrange(2**32))
    path, model = tmp_path / "store", Model()
    n_operations = n_unsure = 0
    for number in range(KILLS):
        seed = draw.randrange(2**32)
        *done, last = killed(path, seed, draw.uniform(0.0, 0.4))
        for operation in done:
            model = model.do(*operation)
        n_operations += len(done)
        found = held(path)
        choices = [model] if last is None else [model, model.do(*last)]
        matching = [one for one in choices if (one.profiles, one.documents) == found]
        assert matching, f"kill {number}, seed {seed}, after {len(done)} operations, at {last}"
        assert list(found[0]) == list(matching[0].profiles), "the order is another one"
        n_unsure += len(choices) > 1 and matching[0] is not model
        model = matching[0]
    assert n_operations
    record_property(
        "told",
        f"{KILLS} kills after {n_operations:,} operations; {n_unsure} that were not acknowledged are there, whole",
    )


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
    assert len(held(path)[0]) == 104


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
