"""Images that are larger than memory: matched with all pages there, with none at first, and in a group of processes
that holds a quarter of what matching reads, beside what a process needs for a small set.

Few different documents touch few pages, many touch many: what a page costs is to be the same.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from figures import Row, Skipped
from memory import (
    PAGE,
    NoGroupError,
    Run,
    documents_of,
    evict,
    few_constants,
    group,
    matching_bytes,
    peak_alone,
    resident,
    run,
)

import profilec

TITLE = "Larger than memory: a new process each time, one document at a time"


def rows(quick: bool) -> Iterator[Row | Skipped]:
    n_profiles = 100_000 if quick else 1_000_000
    sizes = (20, 100) if quick else (20, 100, 500)
    with tempfile.TemporaryDirectory(dir=Path(__file__).parents[2]) as name:  # a disk, which /tmp may not be
        tiny, image = Path(name) / "tiny", Path(name) / "image"
        profilec.compile(few_constants(3_000)).save(tiny)
        profilec.compile(few_constants(n_profiles)).save(image)
        quarter = matching_bytes(image) // 4
        yield Row(f"what matching reads of the image of {n_profiles:,}", 4 * quarter / 1e6, "MB")
        try:
            alone = peak_alone(tiny, documents_of(sizes[-1]))
        except NoGroupError as error:
            yield Skipped("within a quarter", str(error))
            alone = 0
        yield Row("memory of a process with a small set", alone / 1e6, "MB")
        for n in sizes:
            yield from _compared(image, tiny, n, quarter, alone)


def _compared(image: Path, tiny: Path, n: int, quarter: int, alone: int) -> Iterator[Row]:
    documents = documents_of(n)
    image.read_bytes()
    there = run(image, tiny, documents, 2)
    warm = there.passes[-1].us
    yield Row(f"{n} documents, all pages there", warm, "us")
    evict(image)
    cold = run(image, tiny, documents, 1)
    yield from _told(f"{n} documents, no pages at first", cold, 0, n, warm)
    yield Row(f"{n} documents: pages there then, of {image.stat().st_size // PAGE:,}", resident(image), "")
    if alone:
        evict(image)
        with group() as limited:
            limited.limit(alone + quarter)
            within = run(image, tiny, documents, 2, limited)
        for number, when in enumerate(("no pages at first", "again")):
            yield from _told(f"{n} documents within a quarter, {when}", within, number, n, warm)
        assert within.answers == there.answers == cold.answers


def _told(name: str, run: Run, number: int, n: int, warm: float) -> Iterator[Row]:
    one = run.passes[number]
    yield Row(name, one.us, "us", warm, "all pages there")
    yield Row(f"{name}: pages read", one.pages_read / n, "a document")
    yield Row(f"{name}: faults, large", one.major_faults / n, "a document")
    if one.pages_read > n:
        yield Row(f"{name}: time for a page", (one.us - warm) * n / one.pages_read, "us")
