"""Four threads and four processes work on one store; each sees his own profiles at any moment, and no others of his.

PROFILEC_STORE_SECONDS says for how long.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import profilec
from profilec.living import living_set, merging
from tests.store.models import held
from tests.store.soak import Actor
from tests.store.test_survival import ROOT

SECONDS = float(os.environ.get("PROFILEC_STORE_SECONDS", "4"))
N = 4


def test_threads_and_processes_work_on_one_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    for module in (living_set, merging):
        monkeypatch.setattr(module, "MOST_IN_DELTA", 120)
    given = int(os.environ.get("PROFILEC_STORE_SEED") or random.SystemRandom().randrange(2**32))
    path, copies = tmp_path / "store", tmp_path / "copies"
    copies.mkdir()
    handles = [profilec.open(path), profilec.open(path)]
    program = str(Path(__file__).with_name("soak.py"))
    processes = [
        subprocess.Popen(
            [sys.executable, program, str(path), f"process{number}", str(given + number), str(SECONDS), str(copies)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(N)
    ]
    actors = [Actor(f"thread{number}", handles, given - 1 - number, copies) for number in range(N)]
    failed: list[BaseException] = []

    def work(actor: Actor) -> None:
        try:
            actor.work(SECONDS)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(actor,)) for actor in actors]
    for thread in threads:
        thread.start()
    said = [process.communicate() for process in processes]
    for thread in threads:
        thread.join()
    for handle in handles:
        handle.close()
    if failed:
        raise AssertionError(f"PROFILEC_STORE_SEED={given}") from failed[0]
    for process, (_, errors) in zip(processes, said, strict=True):
        assert process.returncode == 0, f"PROFILEC_STORE_SEED={given}\n{errors}"
    told: list[dict[str, Any]] = [json.loads(out) for out, _ in said] + [actor.told() for actor in actors]
    done: Counter[str] = sum((Counter(one["done"]) for one in told), Counter())
    expect_all(path, told)
    with profilec.open(path) as profiles:
        profiles.compact()
    expect_all(path, told)
    assert not list(copies.iterdir())
    counts = ", ".join(f"{n:,} {action}" for action, n in done.most_common())
    record_property("told", f"{N} threads and {N} processes, {SECONDS:g} s, seed {given}: {counts}")


def expect_all(path: Path, told: list[dict[str, Any]]) -> None:
    """The store holds what all actors say, and answers as a set does that is compiled of that."""
    found = held(path)
    for one in told:
        owners = {id.partition("-")[0] for id in one["profiles"]} or {""}
        (owner,) = owners
        assert [item for item in found.profiles.items() if item[0].partition("-")[0] == owner] == list(
            one["profiles"].items()
        )
    assert len(found.profiles) == sum(len(one["profiles"]) for one in told)
    by_owner = [[new for new in found.documents if new["owner"] == one["documents"][0]["owner"]] for one in told]
    assert by_owner == [one["documents"] for one in told]
    assert len(found.documents) == sum(map(len, by_owner))
