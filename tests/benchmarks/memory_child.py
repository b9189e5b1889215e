"""A process that matches documents with an image, in a group or in none, and says how that went.

    python memory_child.py PROCESSES|- TINY IMAGE N_PASSES

PROCESSES is the file by which a group is entered. Documents come as JSON on standard input. They are matched with TINY
first, so that what matching needs besides the image's pages is there. Out: the answers' digest, and of each pass over
the documents with IMAGE: microseconds a document, pages that came from the disk, and faults, large and small.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and sys.argv[1] != "-":
    with open(sys.argv[1], "w") as processes:
        processes.write(str(os.getpid()))

import ctypes
import hashlib
import json
import resource
import time
from typing import Any

import profilec

_NO_HUGE_PAGES = 41
"""Of prctl: a huge page holds as much as 512 that were asked for."""


def match_all(profiles: Any, documents: list[dict[str, Any]]) -> str:
    """The digest of all answers."""
    digest = hashlib.sha256()
    for document in documents:
        digest.update(",".join(profiles.match(document)).encode() + b";")
    return digest.hexdigest()


def pages_read() -> int:
    """What this process has had read from disks, in pages."""
    with open("/proc/self/io") as told:
        fields = dict(line.split(": ") for line in told.read().splitlines())
    return int(fields["read_bytes"]) // resource.getpagesize()


def main(tiny: str, image: str, n_passes: int) -> None:
    """See the module."""
    ctypes.CDLL(None).prctl(_NO_HUGE_PAGES, 1, 0, 0, 0)
    documents: list[dict[str, Any]] = json.load(sys.stdin)
    small = profilec.load(tiny)
    for _ in range(3):
        match_all(small, documents)
    profiles = profilec.load(image)
    answers, passes = "", []
    for _ in range(n_passes):
        before, read, start = resource.getrusage(resource.RUSAGE_SELF), pages_read(), time.perf_counter()
        answers = match_all(profiles, documents)
        took = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_SELF)
        faults = after.ru_majflt - before.ru_majflt, after.ru_minflt - before.ru_minflt
        passes.append((took / len(documents) * 1e6, pages_read() - read, *faults))
    print(json.dumps({"answers": answers, "passes": passes}))


if __name__ == "__main__":
    main(sys.argv[2], sys.argv[3], int(sys.argv[4]))
