"""What an interrupt leaves: right answers afterwards, and a living process; and a fork, whatever other threads do."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Event, Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import profilec

SHARED = {f"p{number}": f"a = {number % 60} AND b > {number % 7}" for number in range(2_000)}
"""So many that are equal that the tree has entries of several profiles."""
FULL, OTHER = {"a": 3, "b": 99}, {"a": 4, "b": 99}

needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")


class TimeOutError(Exception):
    pass


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Raises TimeOutError after so many seconds, wherever the program is then."""

    def stop(*_: object) -> None:
        raise TimeOutError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ask(profiles: profilec.ProfileSet, how: str, document: dict[str, Any]) -> Any:
    if how == "batch":
        return profiles.match_batch([document])[0]
    return profiles.match(document) if how == "match" else profiles.count(document)


@needs_timer
@pytest.mark.parametrize("matcher", ["access", "betree", "betree:list", "bitmap", "counting", "opindex", "scan"])
@pytest.mark.parametrize("how", ["match", "count", "batch"])
def test_the_next_answer_is_right(matcher: str, how: str) -> None:
    profiles = profilec.compile(SHARED, options={"matcher": matcher})
    right = ask(profiles, how, OTHER)
    assert ask(profiles, how, FULL)
    rng = random.Random(2)
    n_interrupted = 0
    for _ in range(1_000):
        try:
            with interrupted_after(rng.uniform(1e-5, 3e-4)):
                for _ in range(100):
                    ask(profiles, how, FULL)
        except TimeOutError:
            n_interrupted += 1
        assert ask(profiles, how, OTHER) == right
        if n_interrupted == 150:
            break
    assert n_interrupted >= 50


def test_kernels_that_python_calls_return_no_arrays() -> None:
    """But for those that are called `apart`: Numba makes an array by calling Python, where a waiting signal raises."""
    profiles = profilec.compile({f"p{n}": f"(a = {n} OR b = {n % 7}) AND c > {n}" for n in range(3_000)})
    profiles.match_batch(pa.table({"a": np.arange(10), "c": np.arange(10)}))
    profiles.match({"a": 1})
    profiles.count({"a": 1})
    for matcher in ("access", "counting", "opindex"):
        profilec.compile(SHARED, options={"matcher": matcher}).match_batch([FULL])
    called = {
        "profilec.planner.lower.betree.grow": ("grow",),
        "profilec.runtime.encode_kernels": ("fill_sparse", "count_sparse"),
        "profilec.runtime.matchers.betree.batch": (
            "reach",
            "check_pairs",
            "most_found",
            "read_all",
            "forget",
        ),
        "profilec.runtime.matchers.betree.match": (
            "match_and_take",
            "match_document",
            "take_profiles",
            "count_profiles",
        ),
        "profilec.runtime.matchers.access": ("check_candidates",),
        "profilec.runtime.matchers.betree.settle": ("settle_document",),
        "profilec.runtime.matchers.counting": ("count_documents",),
        "profilec.runtime.matchers.opindex.match": ("match_documents",),
        "profilec.runtime.sort_kernels": ("by_digit",),
    }
    seen = 0
    for module, names in called.items():
        for name in names:
            for signature in getattr(import_module(module), name).nopython_signatures:
                assert "array" not in str(signature.return_type).lower(), name
                seen += 1
    assert seen >= 11


@needs_fork
@pytest.mark.parametrize("guarded", ["preparing", "documents", "parsing"])
def test_a_child_forked_while_a_thread_holds_a_lock(guarded: str) -> None:
    profiles = profilec.compile(SHARED)
    lock = {
        "preparing": lambda: profiles._compiled.preparing,
        "documents": lambda: profiles.documents._lock,
        "parsing": lambda: import_module("profilec.grammar.parse")._LOCK,
    }[guarded]()

    def child() -> bool:
        profiles.documents.add({"a": 1})
        return len(profilec.compile("PROFILE p WHERE a = 1;").match({"a": 1})) == 1 and len(profiles.match(FULL)) > 0

    assert answered_by_child(child, lock)


@needs_fork
def test_a_child_forked_while_threads_match_batches() -> None:
    profiles = profilec.compile(SHARED, options={"matcher": "betree"})
    batch = [FULL, OTHER] * 50
    right = profiles.match_batch(batch, threads=2).indices.tolist()
    stop = Event()

    def go_on() -> None:
        while not stop.is_set():
            profiles.match_batch(batch, threads=2)

    threads = [Thread(target=go_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(8):
            assert answered_by_child(lambda: profiles.match_batch(batch, threads=2).indices.tolist() == right)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def answered_by_child(question: Callable[[], bool], lock: Any = None) -> bool:
    """Whether a forked child says yes, within some seconds; meanwhile a thread of the parent holds the lock."""
    held, done = Event(), Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait(30)

    holder = None
    if lock is not None:
        holder = Thread(target=hold)
        holder.start()
        held.wait(30)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # by default it ends the process
        answer = False
        try:
            answer = question()
        finally:
            os._exit(0 if answer else 1)
    done.set()
    if holder is not None:
        holder.join()
    return os.waitpid(child, 0)[1] == 0
