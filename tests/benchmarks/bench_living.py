"""Sets that change: how fast they do, what matching costs meanwhile, and how long it stands still.

The profiles are templated, and what is inserted has the same shapes. A thread that matches one document again and again
keeps the longest time between two answers; a control does as much counting, beside no merge.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from figures import Row, seconds
from workloads import BRANDS, CATEGORIES, templated

import profilec

TITLE = "Sets that change"
BATCH = 100


def rows(quick: bool) -> Iterator[Row]:
    n, n_new = (20_000, 2_000) if quick else (1_000_000, 20_000)
    texts = _texts(n + 2 * n_new + n // 10)
    base, new = dict(texts[:n]), texts[n:]
    start = time.perf_counter()
    profiles = profilec.compile(base)
    built = time.perf_counter() - start
    profiles.insert_many(dict(new[:500]))  # kernels are loaded, shapes are known
    profiles.delete_many([id for id, _ in new[:500]])
    yield from _merging(profiles, built, "first merge, of what was compiled in memory")
    yield from _changes(profiles, new[500:], n_new, "in memory", 20_000)
    profiles.compact()
    yield from _matching(profiles, new, n)
    yield from _merging(profiles, built, "merge")
    with tempfile.TemporaryDirectory() as folder:
        yield from _durable(Path(folder) / "store", base, new, n_new)


def _texts(n: int) -> list[tuple[str, str]]:
    """Ids and conditions."""
    found = []
    for statement in templated(n):
        head, _, where = statement.partition(" WHERE ")
        found.append((head.removeprefix("PROFILE "), where.rstrip(";\n")))
    return found


def _documents(n: int) -> list[dict[str, Any]]:
    draw = random.Random(9)
    return [
        {
            "brand": draw.choice(BRANDS), "category": draw.choice(CATEGORIES), "price": draw.randrange(50_000) / 100,
            "stars": draw.randrange(1, 6), "in_stock": True, "seller": draw.randrange(100_000),
            "discount": draw.random(), "product_id": draw.randrange(2_000_000),
        }
        for _ in range(n)
    ]  # fmt: skip


def _changes(profiles: Any, new: list[tuple[str, str]], n: int, where: str, target: float) -> Iterator[Row]:
    """Per second: one by one, in batches, and deletions, of profiles that are not there yet."""

    def one_by_one() -> None:
        for id, condition in new[:n]:
            profiles.insert(id, condition)

    def in_batches() -> None:
        for start in range(n, 2 * n, BATCH):
            profiles.insert_many(dict(new[start : start + BATCH]))

    def delete() -> None:
        for start in range(0, 2 * n, BATCH):
            profiles.delete_many([id for id, _ in new[start : start + BATCH]])

    if where == "in memory":
        yield Row(f"inserts {where}, one by one", seconds(one_by_one) / n * 1e6, "us")
    else:
        profiles.insert_many(dict(new[:n]))
    for name, change, n_changed in (("inserts", in_batches, n), ("deletes", delete, 2 * n)):
        per_second = n_changed / seconds(change)
        yield Row(f"{name} {where}, {BATCH} at once", 1e6 / per_second, "us", 1e6 / target, "asked", times=1.0)


def _matching(profiles: Any, new: list[tuple[str, str]], n: int) -> Iterator[Row]:
    """With a tenth of the set in the delta, and then also a tenth dead, against the compacted set."""
    documents = _documents(2_000)

    def each() -> float:
        return seconds(lambda: [profiles.match(document) for document in documents], 5) / len(documents) * 1e6

    def batch() -> float:
        return seconds(lambda: profiles.match_batch(documents), 5) / len(documents) * 1e6

    before, before_batch = each(), batch()
    with profiles._living.merging:  # nothing is merged meanwhile
        for start in range(0, n // 10, 10_000):  # so many at once are no segment of their own yet
            profiles.insert_many(dict(new[start : min(start + 10_000, n // 10)]))
        name = "matching with a tenth of the set in the delta"
        yield Row(name, each(), "us", before, "compacted", target=1.5 * before)
        yield Row(f"{name}, batch", batch(), "us", before_batch, "compacted", target=1.5 * before_batch)
        profiles.delete_many(random.Random(4).sample(list(profiles.ids)[:n], n // 10))
        yield Row("the same, and a tenth dead", each(), "us", before, "compacted", target=1.5 * before)
        yield Row("the same, batch", batch(), "us", before_batch, "compacted", target=1.5 * before_batch)


def _merging(profiles: Any, built: float, name: str) -> Iterator[Row]:
    """The merge of the whole set, beside a thread that matches; a control counts as long, beside a process that does,
    too."""
    documents = _documents(100)
    took: list[float] = []

    def match_some() -> None:
        for document in documents[:10]:
            profiles.match(document)

    for _ in range(300):  # what is prepared for many documents is
        match_some()
    stall = _longest_stall(lambda: profiles.match(documents[0]), lambda: took.append(seconds(profiles.compact)))
    busy = subprocess.Popen([sys.executable, "-c", "while True: sum(range(1000))"])
    try:
        control = _longest_stall(lambda: sum(range(200)), lambda: time.sleep(took[0]))
    finally:
        busy.kill()
        busy.wait()
    yield Row(f"{name}: {len(profiles):,} profiles", took[0], "s", built, "compiling them", target=built)
    yield Row(f"{name}: longest stall of a matching thread", stall * 1e3, "ms", target=control * 1e3 + 50)
    yield Row(f"{name}: of a control that counts, beside a busy process", control * 1e3, "ms")


def _longest_stall(spin: Callable[[], object], beside: Callable[[], object]) -> float:
    """The longest time between two ends of `spin`, in seconds, in a thread of its own."""
    longest, stop = [0.0], threading.Event()

    def run() -> None:
        last = time.perf_counter()
        while not stop.is_set():
            spin()
            now = time.perf_counter()
            longest[0] = max(longest[0], now - last)
            last = now

    thread = threading.Thread(target=run)
    thread.start()
    try:
        beside()
    finally:
        stop.set()
        thread.join()
    return longest[0]


def _durable(path: Path, base: dict[str, str], new: list[tuple[str, str]], n: int) -> Iterator[Row]:
    with profilec.open(path) as profiles:
        start = time.perf_counter()
        profiles.insert_many(base)
        profiles.compact()
        yield Row(f"importing {len(base):,} into a store, and compacting", time.perf_counter() - start, "s")
        yield from _changes(profiles, new, n, "durable", 5_000)
        profiles.compact()
    opened = []
    for _ in range(5):
        start = time.perf_counter()
        with profilec.open(path) as profiles:
            profiles.match({"product_id": 1, "price": 1})
            opened.append(time.perf_counter() - start)
    yield Row(f"opening a store of {len(base):,}, to the first answer", statistics.median(opened), "s", target=1.0)


if __name__ == "__main__":
    sys.exit("run it by run.py")
