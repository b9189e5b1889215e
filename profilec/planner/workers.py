"""Worker processes that parse and normalize conditions of shapes not seen before.

In: batches of (id, condition text). Out: for each its normal form, or None where anything is to be said of it.

A worker is this interpreter running this module, fed through pipes: it neither forks threads nor
imports the caller's `__main__`, so a script needs no guard. Only the order of batches matters to
the caller, and that is kept.

    parent --(settings), (batch), (batch)…--> stdin   worker   stdout --(answers)…--> parent
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from profilec.grammar import ir
from profilec.grammar.diagnostics import Diagnostic
from profilec.grammar.limits import Limits
from profilec.grammar.statements import parse_where
from profilec.planner.normalize import normalize
from profilec.values.types import Schema

LEAST_BATCH = 1_000
"""Conditions that make it worth starting workers."""
_SERVE = "import sys; sys.path[:] = {path!r}; from profilec.planner.workers import serve; serve()"


class WorkerPool:
    """Workers for one compilation, started when there is enough to do. A context manager: they end with it.

    `normal_forms` remembers which conditions of its latest answer are normal forms already.
    """

    def __init__(self, schema: Schema | None, limits: Limits, rules: frozenset[str] | None) -> None:
        self._settings = (schema, limits, rules)
        self._workers: list[subprocess.Popen[bytes]] = []
        self._threads: ThreadPoolExecutor | None = None
        self.latest: set[ir.Condition] = set()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._threads is not None:
            self._threads.shutdown()
        for worker in self._workers:
            for pipe in (worker.stdin, worker.stdout):
                if pipe is not None:
                    pipe.close()
            worker.wait()

    def normal_forms(self, batch: Sequence[tuple[str, str]]) -> list[ir.Condition | None]:
        """The normal form of each (id, condition), in order; None where a condition has any diagnostic.

        >>> with WorkerPool(None, Limits(), None) as pool:
        ...     pool.normal_forms([("p", "a < 1 AND b BETWEEN 5 AND 1"), ("q", "a < 1 AND a < 2")])
        [None, Compare('<', Attribute(0, ('a',)), Constant(<class 'int'>, 1))]

        Raises:
            ChildProcessError: a worker died (of lack of memory, most likely).
        """
        if not self._workers and len(batch) >= LEAST_BATCH:
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
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        command = [sys.executable, "-c", _SERVE.format(path=sys.path)]
        self._threads = ThreadPoolExecutor(count)
        for _ in range(count):
            worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._workers.append(worker)
            _send(worker.stdin, self._settings)


def serve() -> None:
    """A worker's life: settings, then batches until standard input ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing printed may get into the answers
    schema, limits, rules = pickle.load(requests)
    while True:
        try:
            batch = pickle.load(requests)
        except EOFError:
            return
        _send(answers, [normal_form(id_, where, schema, limits, rules) for id_, where in batch])


def normal_form(
    id_: str, where: str, schema: Schema | None, limits: Limits, rules: frozenset[str] | None
) -> ir.Condition | None:
    """What a worker answers for one condition."""
    found: list[Diagnostic] = []
    condition = parse_where(id_, where, schema=schema, limits=limits, report=found.append)
    return None if condition is None or found else normalize(condition, rules=rules)


def _ask(worker: subprocess.Popen[bytes], share: Sequence[tuple[str, str]]) -> list[ir.Condition | None]:
    try:
        _send(worker.stdin, share)
        answers: list[ir.Condition | None] = pickle.load(_open(worker.stdout))
    except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
        raise ChildProcessError(f"a worker process of the compiler died (status {worker.poll()})") from error
    return answers


def _send(pipe: IO[bytes] | None, message: Any) -> None:
    stream = _open(pipe)
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ChildProcessError("a worker process of the compiler has no pipe")
    return pipe
