"""Workers: without them where none can be started, and none left behind by an interrupt."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from profilec.grammar.limits import Limits
from profilec.planner import workers
from profilec.planner.workers import WorkerPool

BATCH = [(f"p{n}", f"a{n} < {n} AND b{n} = 1") for n in range(4)] + [("bad", "a <")]


@pytest.fixture(autouse=True)
def _worth_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LEAST_BATCH", 1)


def expected() -> list[object]:
    return [workers.normal_form(id_, where, None, Limits(), None) for id_, where in BATCH]


def program(folder: Path, name: str, body: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_workers_answer() -> None:
    with WorkerPool(None, Limits(), None) as pool:
        assert pool.normal_forms(BATCH) == expected()
        assert pool._workers
    assert not pool._workers


@pytest.mark.parametrize("name", ["python-that-ends", "python-that-talks", "python-that-is-not-there", "other", ""])
def test_without_an_interpreter_this_process_parses(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "python-that-ends", "exit 3")
    program(tmp_path, "python-that-talks", "echo hello there; cat > /dev/null")
    program(tmp_path, "other", f'echo >> {tmp_path}/started; exec {sys.executable} "$@"')
    monkeypatch.setattr(sys, "executable", str(tmp_path / name) if name else "")
    with WorkerPool(None, Limits(), None) as pool:
        assert pool.normal_forms(BATCH) == expected()
        assert pool.normal_forms(BATCH) == expected()
        assert not pool._workers
    assert not (tmp_path / "started").exists()  # it would be this very program, once more


def test_where_no_process_can_be_started_this_one_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(workers.subprocess, "Popen", refuse)
    with WorkerPool(None, Limits(), None) as pool:
        assert pool.normal_forms(BATCH) == expected()


def test_ctrl_c_reaches_no_worker_and_the_parent_ends_them() -> None:
    with pytest.raises(KeyboardInterrupt), WorkerPool(None, Limits(), None) as pool:  # noqa: PT012
        pool.normal_forms(BATCH)
        started = list(pool._workers)
        assert [os.getpgid(worker.pid) == os.getpgrp() for worker in started] == [False] * len(started)
        raise KeyboardInterrupt
    assert [worker.returncode for worker in started] == [-signal.SIGKILL] * len(started)


def test_one_that_dies_is_told() -> None:
    with pytest.raises(ChildProcessError) as died, WorkerPool(None, Limits(), None) as pool:  # noqa: PT012
        pool.normal_forms(BATCH)
        for worker in pool._workers:
            worker.kill()
        pool.normal_forms(BATCH)
    assert str(died.value) == "a worker process of the compiler died of signal 9; memory may have run out"
