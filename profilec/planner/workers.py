"""Worker processes that parse and normalize conditions of shapes not seen before.

In: batches of (id, condition text). Out: for each its normal form, or None where anything is to be said of it.

A worker is this interpreter running this module, fed through pipes: it neither forks threads nor
imports the caller's `__main__`, so a script needs no guard. Only the order of batches matters to
the caller, and that is kept. It is in a process group of its own, so that Ctrl-C is the parent's to answer.

    parent --(settings), (batch), (batch)…--> stdin   worker   stdout --READY, (answers)…--> parent

Invariant: the answers are the same without workers, and so they are where none can be started: in a frozen program,
or one that embeds Python, `sys.executable` is no interpreter.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from profilec.grammar import ir
from profilec.grammar.diagnostics import Diagnostic
from profilec.grammar.limits import Limits
from profilec.grammar.statements import parse_where
from profilec.planner.normalize import normalize
from profilec.values.types import Schema

LEAST_BATCH = 1_000
"""Conditions that make it worth starting workers."""
READY = b"ready\n"
"""What a worker answers to its settings, so that another program is not taken for one."""
_SECONDS_TO_END = 5
_SERVE = "import sys; sys.path[:] = {path!r}; from profilec.planner.workers import serve; serve()"


class WorkerPool:
    """Workers for one compilation, started when there is enough to do. A context manager: they end with it.

    `normal_forms` remembers which conditions of its latest answer are normal forms already.
    """

    def __init__(self, schema: Schema | None, limits: Limits, rules: frozenset[str] | None) -> None:
        self._settings = (schema, limits, rules)
        self._workers: list[subprocess.Popen[bytes]] = []
        self._threads: ThreadPoolExecutor | None = None
        self._may_start = True
        self.latest: set[ir.Condition] = set()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            for worker in self._workers:
                worker.kill()  # nobody waits for its answers any more
        if self._threads is not None:
            self._threads.shutdown()
        self._end()

    def _end(self) -> None:
        for worker in self._workers:
            for pipe in (worker.stdin, worker.stdout):
                if pipe is not None:
                    with suppress(OSError):  # as when it is dead, and has not read all
                        pipe.close()
            worker.wait()
        self._workers.clear()

    def normal_forms(self, batch: Sequence[tuple[str, str]]) -> list[ir.Condition | None]:
        """The normal form of each (id, condition), in order; None where a condition has any diagnostic.

        >>> with WorkerPool(None, Limits(), None) as pool:
        ...     pool.normal_forms([("p", "a < 1 AND b BETWEEN 5 AND 1"), ("q", "a < 1 AND a < 2")])
        [None, Compare('<', Attribute(0, ('a',)), Constant(<class 'int'>, 1))]

        Raises:
            ChildProcessError: a worker died (of lack of memory, most likely).
        """
        if self._may_start and len(batch) >= LEAST_BATCH:
            self._may_start = False
            self._start()
        if self._threads is None:
            answers = [normal_form(id_, where, *self._settings) for id_, where in batch]
        else:
            size = -(-len(batch) // len(self._workers))
            shares = [batch[start : start + size] for start in range(0, len(batch), size)] if size else []
            parts = self._threads.map(_ask, self._workers[: len(shares)], shares)
            answers = [answer for part in parts for answer in part]
        self.latest = {answer for answer in answers if answer is not None}
        return answers

    def _start(self) -> None:
        """Starts workers, one a processor; leaves none where one of them does not answer as a worker does."""
        interpreter = _interpreter()
        if interpreter is None:
            return
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        command = [interpreter, "-c", _SERVE.format(path=sys.path)]
        try:
            for _ in range(count):
                worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)
                self._workers.append(worker)
                _send(worker.stdin, self._settings)
            are_ready = all(_open(worker.stdout).read(len(READY)) == READY for worker in self._workers)
        except OSError:
            are_ready = False
        if are_ready:
            self._threads = ThreadPoolExecutor(count)
            return
        for worker in self._workers:
            worker.kill()
        self._end()


def _interpreter() -> str | None:
    """This Python's program; None where the process was started by another."""
    name = Path(sys.executable or "").name.casefold()
    is_python = name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)
    return sys.executable if is_python else None


def serve() -> None:
    """A worker's life: settings, then batches until standard input ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing printed may get into the answers
    try:
        schema, limits, rules = pickle.load(requests)
        answers.write(READY)
        answers.flush()
        while True:
            batch = pickle.load(requests)
            _send(answers, [normal_form(id_, where, schema, limits, rules) for id_, where in batch])
    except (EOFError, BrokenPipeError):  # the parent has ended, or needs no more
        os._exit(0)


def normal_form(
    id_: str, where: str, schema: Schema | None, limits: Limits, rules: frozenset[str] | None
) -> ir.Condition | None:
    """What a worker answers for one condition."""
    condition, found = read_condition(id_, where, schema, limits, rules)
    return None if found else condition


def read_condition(
    id_: str, where: str, schema: Schema | None, limits: Limits, rules: frozenset[str] | None
) -> tuple[ir.Condition | None, list[Diagnostic]]:
    """The normal form of a condition, None where it has an error, and all that is to be said of it."""
    found: list[Diagnostic] = []
    condition = parse_where(id_, where, schema=schema, limits=limits, report=found.append)
    return None if condition is None else normalize(condition, rules=rules), found


def _ask(worker: subprocess.Popen[bytes], share: Sequence[tuple[str, str]]) -> list[ir.Condition | None]:
    try:
        _send(worker.stdin, share)
        answers: list[ir.Condition | None] = pickle.load(_open(worker.stdout))
    except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
        raise ChildProcessError(f"a worker process of the compiler died{_how(worker)}") from error
    return answers


def _how(worker: subprocess.Popen[bytes]) -> str:
    """How a worker that has closed its pipe ended."""
    try:
        status = worker.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        return ""
    return f" of signal {-status}; memory may have run out" if status < 0 else f" with status {status}"


def _send(pipe: IO[bytes] | None, message: Any) -> None:
    stream = _open(pipe)
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ChildProcessError("a worker process of the compiler has no pipe")
    return pipe
