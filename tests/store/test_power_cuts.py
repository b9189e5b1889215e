"""The power goes within an operation: of what was not synced, any pages and any names may be missing (`power.py`).

PROFILEC_STORE_CUTS says how many times, for a long run.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from tests.store.models import EMPTY, Model, held, held_by_copy
from tests.store.power import Record, cut, records
from tests.store.store_child import ACTIONS
from tests.store.test_survival import ROOT

CUTS = int(os.environ.get("PROFILEC_STORE_CUTS", "20"))
N_OPERATIONS = 2 * len(ACTIONS) + CUTS
CODE = """
import os, random, shutil, sys
import profilec
from pathlib import Path
from profilec.living import living_set, merging
from tests.store.power import said
from tests.store.store_child import ACTIONS, any_operation, do, operation
living_set.MOST_IN_DELTA = merging.MOST_IN_DELTA = 30
shutil._USE_CP_SENDFILE = False  # of which nothing would be written down
disk, seed, n = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
(disk / "copies").mkdir()
os.fsync(os.open(disk, os.O_RDONLY))
log = os.open(os.environ["POWER_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def tell(*what):
    import json
    os.write(log, said(json.dumps(what).encode()))
draw, next_id = random.Random(seed), 1
profiles = profilec.open(disk / "store")
for number in range(n):
    aimed = operation(draw, ACTIONS[number // 2 % len(ACTIONS)], list(profiles.ids), len(profiles.documents), next_id)
    action, argument = aimed if number % 2 else any_operation(draw, profiles, next_id)
    tell("try", [action, argument])
    do(profiles, str(disk / "store"), str(disk / "copies"), action, argument)
    tell("done")
    next_id += len(argument) if action == "insert" else 0
profiles.close()
"""


def contents(folder: Path) -> dict[str, bytes | None]:
    """The files of a folder, and the folders in it."""
    files = {str(one.relative_to(folder)): one for one in folder.rglob("*") if not one.name.endswith(".lock")}
    return {name: one.read_bytes() if one.is_file() else None for name, one in files.items() if "lock.mdb" not in name}


def written_by_child(folder: Path, seed: str) -> list[Record]:
    """What a child does on `folder / "disk"`. With all of it, the disk is as it is."""
    library, log, disk = folder / "power.so", folder / "log", folder / "disk"
    disk.mkdir()
    source = str(Path(__file__).with_name("power.c"))
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), source, "-ldl"], check=True)
    told = {"PYTHONPATH": str(ROOT), "LD_PRELOAD": str(library), "POWER_LOG": str(log), "POWER_ROOT": str(disk)}
    command = [sys.executable, "-c", CODE, str(disk), seed, str(N_OPERATIONS)]
    subprocess.run(command, env={**os.environ, **told}, check=True, stderr=subprocess.DEVNULL)
    everything = list(records(log))
    cut(everything, random.Random(seed), folder / "all", share=1.0)
    assert contents(folder / "all") == contents(disk)
    shutil.rmtree(disk)
    return everything


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it preloads a library as Linux does")
def test_a_power_cut_takes_nothing_that_was_acknowledged(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    given = os.environ.get("PROFILEC_STORE_SEED") or str(random.SystemRandom().randrange(2**32))
    draw = random.Random(given)
    everything = written_by_child(tmp_path, given)
    told = [(place, json.loads(one.data)) for place, one in enumerate(everything) if one.what == "O"]
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for (start, (_, (action, _))), (end, _) in zip(told[::2], told[1::2], strict=True):
        if end > start + 1:  # else it had nothing to do
            spans[action].append((start, end))
    assert set(spans) == set(ACTIONS)
    n_unsure = n_refused = 0
    within: Counter[str] = Counter()
    for number, action in enumerate(islice(cycle(ACTIONS), CUTS)):
        place = draw.randrange(*draw.choice(spans[action])) + 1
        where = f"PROFILEC_STORE_SEED={given}, cut {number} behind {place} of {len(everything)} records, in {action}"
        disk = tmp_path / f"cut{number}"
        cut([one for one in everything[:place] if one.what != "O"], draw, disk)
        done: list[list[Any]] = [one for at, (what, *rest) in told[::2] for one in rest if at < place and what == "try"]
        last = done.pop()
        model, copies = EMPTY, dict[str, Model]()
        for one in done:
            model = model.do(*one)
            if one[0].startswith("backup"):
                copies[one[1]] = model
        found = held(disk / "store")
        then = model.do(*last)
        assert found.is_same(model) or found.is_same(then), where
        n_unsure += not found.is_same(model)
        there = {left.name for left in (disk / "copies").iterdir()}
        assert there >= set(copies), where
        for name in [*(there - set(copies)), *draw.sample(list(copies), min(len(copies), 3))]:
            whole = held_by_copy(disk / "copies" / name)
            if name in copies:
                assert whole is not None, where
                assert whole.is_same(copies[name]), where
            else:
                assert name == last[1] or name.startswith(f".{last[1]}."), where
                assert whole is None or whole.is_same(model), where
                n_refused += whole is None
        within[action] += 1
        shutil.rmtree(disk)
    record_property(
        "told",
        f"{CUTS} power cuts in {N_OPERATIONS} operations: "
        + ", ".join(f"{within[action]} {action}" for action in ACTIONS)
        + f"; {n_unsure} not acknowledged were there, whole; {n_refused} copies that were not are refused",
    )
