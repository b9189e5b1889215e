"""Memory that is short: groups of processes that get so much and no more, and which pages of a file are there.

In: a limit, a file. Out: a group that a process enters by its file of processes (control groups of Linux, version 1 or
2); the pages of the file that the system holds; what a child tells that matches with an image so.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from profilec.runtime.imagefile.container import ImageFile

PAGE = mmap.PAGESIZE
_ROOT = Path("/sys/fs/cgroup")


class NoGroupError(Exception):
    """No group of processes can be made here; the message says why."""


class Group:
    """A group of processes. `processes`: the file that takes the number of one that enters."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._is_first_version = (folder / "memory.limit_in_bytes").exists()
        self.processes = folder / "cgroup.procs"

    def limit(self, n_bytes: int) -> None:
        """The most that its processes hold from now on, with the pages of files that they were the first to touch."""
        name = "memory.limit_in_bytes" if self._is_first_version else "memory.max"
        (self._folder / name).write_text(str(n_bytes))
        if not self._is_first_version:
            with suppress(OSError):  # the system has no swap
                (self._folder / "memory.swap.max").write_text("0")

    def peak(self) -> int:
        """The most that its processes held at once."""
        name = "memory.max_usage_in_bytes" if self._is_first_version else "memory.peak"
        return int((self._folder / name).read_text())


@contextmanager
def group() -> Iterator[Group]:
    """A group without a limit, until no process is in it any more.

    Raises:
        NoGroupError: none can be made.
    """
    version_1 = _ROOT / "memory"
    folder = (version_1 if version_1.is_dir() else _ROOT) / f"profilec-{secrets.token_hex(8)}"
    try:
        folder.mkdir()
    except OSError as error:
        raise NoGroupError(f"no control group can be made: {error}") from None
    try:
        missing = [
            names
            for names in (("memory.limit_in_bytes", "memory.max"), ("memory.max_usage_in_bytes", "memory.peak"))
            if not any((folder / name).exists() for name in names)
        ]
        if missing:
            raise NoGroupError(f"control groups have no {' and no '.join(missing[0])} here")
        yield Group(folder)
    finally:
        for attempt in range(100):  # a process that has ended may be in it for a moment
            try:
                folder.rmdir()
                break
            except OSError:
                if attempt == 99:
                    raise
                time.sleep(0.02)


def evict(path: Path) -> None:
    """The system holds no page of a file any more, unless a process has touched some that it maps."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def resident(path: Path) -> int:
    """The pages of a file that the system holds."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        pages = np.zeros(-(-len(mapped) // PAGE), np.uint8)
        start = np.frombuffer(mapped, np.uint8)
        libc = ctypes.CDLL(None, use_errno=True)
        arguments = ctypes.c_void_p(start.ctypes.data), ctypes.c_size_t(len(mapped)), ctypes.c_void_p(pages.ctypes.data)
        del start  # which keeps the mapping from being closed
        if libc.mincore(*arguments):
            raise OSError(ctypes.get_errno(), "mincore")
    return int(np.count_nonzero(pages & 1))


def matching_bytes(path: Path) -> int:
    """The bytes of an image's sections that matching reads."""
    return sum(one.length for one in ImageFile.open(path).sections.values() if one.matching)


class Pass(NamedTuple):
    """One pass over the documents, as `memory_child` tells it."""

    us: float
    pages_read: int
    major_faults: int
    minor_faults: int


class Run(NamedTuple):
    """What a child said."""

    answers: str
    passes: list[Pass]


def run(image: Path, tiny: Path, documents: list[dict[str, Any]], n_passes: int, within: Group | None = None) -> Run:
    """A child of its own matches all documents, several times.

    Raises:
        CalledProcessError, TimeoutExpired: it did not get the memory that it needs.
    """
    processes = "-" if within is None else str(within.processes)
    command = [sys.executable, str(Path(__file__).with_name("memory_child.py")), processes, str(tiny), str(image)]
    done = subprocess.run(
        [*command, str(n_passes)], input=json.dumps(documents), text=True, capture_output=True, check=True, timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    told = json.loads(done.stdout)
    return Run(told["answers"], [Pass(*one) for one in told["passes"]])


def peak_alone(tiny: Path, documents: list[dict[str, Any]]) -> int:
    """The most bytes that a process holds that matches with a small set only. The less of two: one that is the first to
    touch a file, or to compile a kernel, is charged for that, too.

    Raises:
        NoGroupError, CalledProcessError, TimeoutExpired: as `group` and `run`.
    """
    peaks = []
    for _ in range(2):
        with group() as unlimited:
            run(tiny, tiny, documents, 1, unlimited)
            peaks.append(unlimited.peak())
    return min(peaks)


def few_constants(n: int, seed: int = 11) -> dict[str, str]:
    """Conditions of a shop whose constants are few: what a process makes of them for itself does not grow with the
    set, and nearly all that matching reads are pages of the image."""
    draw, found = random.Random(seed), {}
    for number in range(n):
        brand, category, seller = (draw.randrange(300) for _ in range(3))
        price, stars = draw.randrange(500), draw.randrange(1, 6)
        found[f"p{number}"] = (
            f"brand = 'brand{brand}' AND category = 'category{category}' AND price < {price} AND stars >= {stars}",
            f"category = 'category{category}' AND {price} <= price <= {price + 20} AND seller != {seller}",
            f"seller = {seller} AND brand IN ('brand{brand}', 'brand{category}') AND price > {price}",
        )[number % 3]
    return found


def documents_of(n: int, seed: int = 12) -> list[dict[str, Any]]:
    """Documents for these."""
    draw = random.Random(seed)
    return [
        {
            "brand": f"brand{draw.randrange(300)}", "category": f"category{draw.randrange(300)}",
            "price": draw.randrange(500), "stars": draw.randrange(1, 6), "seller": draw.randrange(300),
        }
        for _ in range(n)
    ]  # fmt: skip
