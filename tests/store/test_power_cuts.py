"""The power goes: of what was written to the store's file since the last sync, any pages may be missing.

`power.c`, preloaded, writes down what a child writes and syncs; a cut is played by writing a file anew up to some
moment, all that was synced by then, and half of the pages that were not, by chance. Segments' files are synced before
any commit names them, and are not removed here. PROFILEC_STORE_CUTS says how many times, for a long run.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.store.test_survival import ROOT, Model, held

CUTS = int(os.environ.get("PROFILEC_STORE_CUTS", "20"))
N_OPERATIONS = 12 + CUTS
PAGE = 4_096
_HEAD = struct.Struct("<cBQQ")
CODE = """
import json, os, random, sys
sys.path.insert(0, os.path.dirname(sys.argv[4]))
import profilec
from store_child import do, operation
from profilec.living import living_set, merging
from profilec.store.store import Store
living_set.MOST_IN_DELTA = merging.MOST_IN_DELTA = 30
Store._remove_files = lambda self: None
log = os.open(os.environ["POWER_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def tell(what):
    data = json.dumps(what).encode()
    os.write(log, b"O" + b"\\0" + bytes(8) + len(data).to_bytes(8, "little") + data)
draw, next_id = random.Random(int(sys.argv[2])), 1
profiles = profilec.open(sys.argv[1])
tell(["ready"])
for _ in range(int(sys.argv[3])):
    action, argument = operation(draw, list(profiles.ids), len(profiles.documents), next_id)
    tell(["try", [action, argument]])
    do(profiles, action, argument)
    tell(["done"])
    next_id += len(argument) if action == "insert" else 0
"""


class Record(NamedTuple):
    what: str
    is_synced: bool
    offset: int
    data: bytes


def records(log: Path) -> Iterator[Record]:
    data, at = log.read_bytes(), 0
    while at < len(data):
        what, is_synced, offset, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield Record(what.decode(), bool(is_synced), offset, data[at : at + length])
        at += length


def cut(written: list[Record], draw: random.Random) -> bytes:
    """The file as it is after the power went behind these records."""
    last_sync = max((place for place, record in enumerate(written) if record.what == "S"), default=-1)
    content = bytearray()
    for place, record in enumerate(written):
        if record.what == "T":
            content = content[: record.offset].ljust(record.offset, b"\0")
        if record.what != "W":
            continue
        for start in range(0, len(record.data), PAGE):
            if place < last_sync or record.is_synced or draw.random() < 0.5:
                page = record.data[start : start + PAGE]
                first = record.offset + start
                content = content.ljust(first + len(page), b"\0")
                content[first : first + len(page)] = page
    return bytes(content)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it preloads a library as Linux does")
def test_a_power_cut_takes_nothing_that_was_acknowledged(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    library, log, path = tmp_path / "power.so", tmp_path / "log", tmp_path / "store"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(Path(__file__).with_name("power.c")), "-ldl"],
        check=True,
    )
    given = os.environ.get("PROFILEC_STORE_SEED") or str(random.SystemRandom().randrange(2**32))
    draw = random.Random(given)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LD_PRELOAD": str(library), "POWER_LOG": str(log)}
    subprocess.run(
        [sys.executable, "-c", CODE, str(path), given, str(N_OPERATIONS), str(Path(__file__).resolve())],
        env=environment,
        check=True,
    )
    everything = list(records(log))
    writes = [place for place, record in enumerate(everything) if record.what in "WST"]
    begun = next(place for place, record in enumerate(everything) if record.what == "O")
    assert len(writes) > 2 * N_OPERATIONS
    n_unsure = 0
    for number in range(CUTS):
        place = draw.choice([one for one in writes if one > begun])
        copy = tmp_path / f"copy{number}"
        copy.mkdir()
        shutil.copytree(path / "segments", copy / "segments")
        (copy / "data.mdb").write_bytes(cut([one for one in everything[: place + 1] if one.what != "O"], draw))
        told = [json.loads(one.data) for one in everything[: place + 1] if one.what == "O"]
        tried = [one[1] for one in told if one[0] == "try"]
        n_done = sum(one[0] == "done" for one in told)
        model = Model()
        for operation in tried[:n_done]:
            model = model.do(*operation)
        choices = [model, *(model.do(*operation) for operation in tried[n_done:])]
        found = held(copy)
        matching = [one for one in choices if (one.profiles, one.documents) == found]
        assert matching, f"PROFILEC_STORE_SEED={given}, cut {number} at record {place} of {len(everything)}"
        n_unsure += len(choices) > 1 and matching[0] is not model
        shutil.rmtree(copy)
    record_property("told", f"{CUTS} power cuts in {N_OPERATIONS} operations; {n_unsure} not acknowledged were there")
