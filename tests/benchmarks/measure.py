"""Product and baseline, measured in turn: A B A B …, medians, since a machine is never quite idle.

In: a load. Out: its figures. Before anything is timed, product and baseline have to give the same matches.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle

import numpy as np
from figures import Row
from images import cached_image
from loads import Load, baseline_of
from subjects import build, encoded

N_DOCUMENTS = 1_000
_N_COMPARED = 30

Run = Callable[[int], object]
"""Does its work for that many documents."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: rounds, the seconds of a run in each, and the most for a run that is not to be cut."""

    rounds: int = 9
    slice: float = 0.08
    longest: float = 2.0


FULL = Effort()
SWEEP = Effort(rounds=5)
QUICK = Effort(rounds=1, slice=0.005, longest=0.02)


@dataclass(frozen=True, slots=True)
class Figures:
    """Microseconds a document, and what else there is to tell of one load."""

    scan: float
    single: float
    batched: float
    two_threads: float
    candidates: float
    matches: float
    build_seconds: float
    bytes_a_profile: float


def measured(load: Load, effort: Effort = FULL, matcher: str | None = None) -> Figures:
    """All figures of a load.

    Raises:
        AssertionError: product and baseline do not give the same matches.
    """
    scan = baseline_of(load.profiles())
    documents = load.documents(N_DOCUMENTS)
    built = cached_image(load.parameters, load.profiles)
    start = time.perf_counter()
    subject = build(built.image) if matcher is None else build(built.image, matcher)
    build_seconds = built.seconds + time.perf_counter() - start
    batch, codes = encoded(built.image, documents), documents.dense()
    sparse = [batch.document(number) for number in range(len(batch))]
    out = np.empty(len(scan), np.int32)
    n_matches = n_candidates = 0
    for number in range(min(_N_COMPARED, len(batch))):
        ours, theirs = subject.match_kernel(*sparse[number]), scan.match(codes[number])
        if not np.array_equal(ours, theirs):
            raise AssertionError(f"{load.name}: document {number}: {len(ours)} matches, the scan has {len(theirs)}")
        n_matches += len(theirs)
        n_candidates += subject.candidates(*sparse[number])
    turns, start_at = cycle(range(len(sparse))), 0

    def scan_some(n: int) -> None:
        for _ in range(n):
            scan.match_into(codes[next(turns)], out)

    def match_some(n: int) -> None:
        nonlocal start_at
        subject.match_each(batch, start_at, n)
        start_at += n

    seconds = interleaved(
        {
            "scan": scan_some,
            "single": match_some,
            "batched": lambda n: subject.match_batch_kernel(batch.first(n), 1),
            "two threads": lambda n: subject.match_batch_kernel(batch.first(n), 2),
        },
        whole={"batched": len(batch), "two threads": len(batch)},
        effort=effort,
    )
    return Figures(
        scan=seconds["scan"] * 1e6,
        single=seconds["single"] * 1e6,
        batched=seconds["batched"] * 1e6,
        two_threads=seconds["two threads"] * 1e6,
        candidates=n_candidates / max(1, n_matches),
        matches=n_matches / min(_N_COMPARED, len(batch)),
        build_seconds=build_seconds,
        bytes_a_profile=subject.n_bytes / load.n_profiles,
    )


def interleaved(
    runs: dict[str, Run],
    *,
    whole: dict[str, int],
    effort: Effort,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The median seconds a document of each run, one run after the other in each round.

    `whole`: the documents of runs that are not to be cut; those that would take too long get fewer all the same.
    `clock`: what tells seconds.
    """
    n_of: dict[str, int] = {}
    for name, run in runs.items():
        run(1)  # what is compiled or loaded on first use
        one = _timed(run, 1, clock)
        longest = effort.longest if name in whole else effort.slice
        n_of[name] = max(1, min(whole.get(name, 1_000), int(longest / one)))
    took: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(effort.rounds):
        for name, run in runs.items():
            took[name].append(_timed(run, n_of[name], clock) / n_of[name])
    return {name: statistics.median(times) for name, times in took.items()}


def _timed(run: Run, n: int, clock: Callable[[], float]) -> float:
    start = clock()
    run(n)
    return clock() - start


@dataclass(frozen=True, slots=True)
class Targets:
    """How many times faster than the scan; None where nothing is asked."""

    single: float | None = None
    batched: float | None = None
    threads: float | None = None
    candidates: float | None = None
    build_seconds: float | None = None
    bytes_a_profile: float | None = None


def rows_of(load: Load, figures: Figures, targets: Targets = Targets()) -> Iterator[Row]:
    """The figures as rows."""
    name, against = load.name, "scan"
    yield Row(f"{name}: one document", figures.single, "us", figures.scan, against, times=targets.single)
    yield Row(f"{name}: in batches", figures.batched, "us", figures.scan, against, times=targets.batched)
    yield Row(f"{name}: two threads", figures.two_threads, "us", figures.batched, "thread alone", times=targets.threads)
    yield Row(f"{name}: matches", figures.matches, "")
    if figures.matches:
        yield Row(f"{name}: candidates a match", figures.candidates, "", target=targets.candidates)
    yield Row(f"{name}: plan and build", figures.build_seconds, "s", target=targets.build_seconds)
    yield Row(f"{name}: bytes a profile", figures.bytes_a_profile, "B", target=targets.bytes_a_profile)
