"""A query that fails, or is killed, and started again leaves what one that was never disturbed does.

`test_killed_and_started_again` kills 3 times, or as often as PROFILEC_STREAM_KILLS says: with 24 it takes some six
minutes, and each step of a micro-batch has its turn. Half of the kills are at random times; a failure prints the seed,
and PROFILEC_STREAM_SEED repeats it.
"""

from __future__ import annotations

import itertools
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

import pyarrow.parquet
import pytest

import profilec
from profilec.spark import process_stream
from profilec.spark.batch_folders import BatchFolder

CHILD = Path(__file__).with_name("stream_child.py")
PROFILES = {
    "seen": "EXISTS d (d.user = user)",
    "new": "user IS NOT NULL AND NOT EXISTS d (d.user = user)",
    "lowest": "FORALL d (amount < d.amount)",
    "again": "EXISTS d (d.user = user AND d.amount > amount)",
    "later": "FORALL d (d.id < id)",
    "high": "amount > 50",
}
STEPS = [
    ("publish", "documents", "before"),
    ("publish", "matches", "after"),
    ("publish", "documents", "after"),
    ("write_aside", "matches", "before"),
    ("publish", "matches", "before"),
    ("write_aside", "documents", "after"),
    ("write_aside", "documents", "before"),
    ("write_aside", "matches", "after"),
]
"""What a micro-batch does, in an order in which the first few tell most."""

Rows = list[dict[str, Any]]


class Source:
    """A folder of files, which make a micro-batch each."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.batches, self._chance = folder, list[Rows](), chance
        (folder / "in").mkdir()

    def grow(self, n_files: int) -> None:
        for number in range(len(self.batches), len(self.batches) + n_files):
            rows = [
                {
                    "id": number * 10 + k,
                    "user": self._chance.choice([None, *"abcdefghijkl"]),
                    "amount": self._chance.randrange(100),
                }
                for k in range(self._chance.randrange(1, 8))
            ]
            self.batches.append(rows)
            part = self.folder / "in" / f".{number}.part"
            part.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            os.utime(part, (1e9 + number, 1e9 + number))
            part.rename(part.with_name(f"{number}.json"))

    def expect_whole_batches(self) -> int:
        """Each micro-batch that a reader finds is whole; how many documents' there are."""
        for name in ("documents", "output"):
            for folder in (self.folder / name).glob("batch=*"):
                ids = [row["id"] for row in self.batches[int(folder.name.partition("=")[2])]]
                assert sorted(pyarrow.parquet.read_table(folder)["id"].to_pylist()) == ids, folder
        return len(list((self.folder / "documents").glob("batch=*")))

    def expect_all(self) -> None:
        """Matches and documents are those of the set, micro-batch after micro-batch; nothing is left over."""
        profiles = profilec.compile(PROFILES)
        for number, rows in enumerate(self.batches):
            expected = {row["id"]: profiles.match(row) for row in rows}
            found = pyarrow.parquet.read_table(self.folder / "output" / f"batch={number}").to_pylist()
            assert {row["id"]: row["profiles"] for row in found} == expected, f"micro-batch {number}"
            kept = pyarrow.parquet.read_table(self.folder / "documents" / f"batch={number}").to_pylist()
            assert sorted(kept, key=lambda row: row["id"]) == rows
            profiles.documents.extend(rows)
        assert self.expect_whole_batches() == len(self.batches)
        for name in ("documents", "output"):
            assert not (self.folder / name / "_temporary").exists()


def test_it_fails_at_each_step_and_is_started_again(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(tmp_path, random.Random(7))
    source.grow(1)
    for number, (step, what, when) in enumerate(STEPS):
        source.grow(1)
        batch = number // 2 + 1
        with monkeypatch.context() as patch:
            patch.setattr(BatchFolder, step, failing(getattr(BatchFolder, step), what, batch, when))
            query = query_over(spark, tmp_path)
            with pytest.raises(Exception, match="failed on purpose"):
                query.awaitTermination()
        source.expect_whole_batches()
        if (step, when) == ("write_aside", "after"):
            assert not (tmp_path / ("output" if what == "matches" else what) / f"batch={batch}").exists()
    source.grow(1)
    query_over(spark, tmp_path).awaitTermination()
    source.expect_all()


def failing(step: Callable[..., Any], what: str, number: int, when: str) -> Callable[..., Any]:
    """The step, which raises before or after it is taken for the micro-batch of this number."""

    def fail(folder: BatchFolder, given: Any, batch: int) -> Any:
        is_here = folder._what == what and batch == number
        if is_here and when == "before":
            raise RuntimeError("failed on purpose")
        result = step(folder, given, batch)
        if is_here:
            raise RuntimeError("failed on purpose")
        return result

    return fail


def query_over(spark: Any, folder: Path) -> Any:
    rows = spark.readStream.schema("id INT, user STRING, amount INT").option("maxFilesPerTrigger", 1)
    return process_stream(
        profilec.compile(PROFILES), rows.json(str(folder / "in")), output=folder / "output",
        checkpoint=folder / "checkpoint", documents=folder / "documents", trigger={"availableNow": True},
    )  # fmt: skip


def test_killed_and_started_again(spark: Any, tmp_path: Path) -> None:
    seed = os.environ.get("PROFILEC_STREAM_SEED") or str(random.randrange(10**6))
    print(f"PROFILEC_STREAM_SEED={seed}")
    chance = random.Random(seed)
    source = Source(tmp_path, chance)
    profilec.compile(PROFILES).save(tmp_path / "set.image")
    steps = itertools.cycle(STEPS)
    kills: list[str] = []
    while len(kills) < int(os.environ.get("PROFILEC_STREAM_KILLS") or 3):
        source.grow(2)
        if len(kills) % 2:
            kill, whom = "", chance.choice(["all", "driver"])
            ended = run(tmp_path, after=chance.uniform(3, 8), whom=whom)
        else:
            step, what, when = next(steps)
            kill = f"{step} {what} {source.expect_whole_batches() + 1} {when}"  # the second of this run, or the third
            ended = run(tmp_path, kill)
            assert ended == -signal.SIGKILL, kill
        n = source.expect_whole_batches()
        print(f"{kill or 'at random, ' + whom}: {ended}, {n} of {len(source.batches)} micro-batches", flush=True)
        if ended:
            kills.append(kill)
    source.grow(1)
    assert run(tmp_path) == 0
    source.expect_all()


def run(folder: Path, kill: str = "", after: float | None = None, whom: str = "all") -> int:
    """Runs the program to its end, or `after` seconds of its query, when it is killed: "all" of it, or only its
    "driver", whose JVM then sees to its own end; the status of its end."""
    child = subprocess.Popen(
        [sys.executable, str(CHILD), str(folder), *kill.split()],
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    try:
        if after is not None:
            assert child.stdout is not None
            assert child.stdout.readline() == "started\n"
            time.sleep(after)
            if child.poll() is None:
                (os.killpg if whom == "all" else os.kill)(child.pid, signal.SIGKILL)
        return child.wait(timeout=120)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
