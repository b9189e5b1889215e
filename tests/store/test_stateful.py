"""Any interleaving of what handles and processes do to one store gives what a set compiled of what is left gives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import profilec
from profilec.living import living_set, merging
from tests.store.models import held
from tests.store.store_worker import SMALL, answer
from tests.store.test_survival import ROOT

CONDITIONS = (
    "a = 1", "a > 2 AND b = 'x'", "b IN ('x', 'y')", "a BETWEEN 2 AND 3 OR b = 'y'", "b LIKE 'x%'", "a IS NULL",
    "EXISTS d (d.a = a)", "FORALL d (d.a != a) AND b = 'x'", "EXISTS d (d.a > a AND d.b < b)",
)  # fmt: skip
N_HANDLES, N_PROCESSES = 2, 2
some = st.integers(0, N_HANDLES + N_PROCESSES - 1)
conditions = st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=4)
documents = st.lists(
    st.fixed_dictionaries({"a": st.sampled_from((None, 1, 2, 3, 4)), "b": st.sampled_from((None, "x", "y", "xx"))}),
    min_size=1,
    max_size=3,
)
_workers: list[subprocess.Popen[str]] = []


class Worker:
    """A process that has the store open; the same for one store after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, action: str, argument: Any) -> Any:
        """Of `store_worker`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([action, argument]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


class Handle:
    """One that this process has open."""

    def __init__(self) -> None:
        self._profiles: Any = None

    def ask(self, action: str, argument: Any) -> Any:
        """The same."""
        if action == "open":
            self._profiles = profilec.open(argument)
        elif action == "close":
            self._profiles.close()
        else:
            return answer(self._profiles, action, argument)
        return None


class OneStore(RuleBasedStateMachine):
    """See the module."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.path = str(self.folder / "store")
        self.left: dict[str, str] = {}
        self.documents: list[dict[str, Any]] = []
        self.most: int | None = None
        self.n_made = 0
        self.usual = living_set.MOST_IN_DELTA
        living_set.MOST_IN_DELTA = merging.MOST_IN_DELTA = SMALL
        self.actors = [*[Handle() for _ in range(N_HANDLES)], *map(Worker, _workers)]
        for actor in self.actors:
            actor.ask("open", self.path)

    def _keep(self) -> None:
        if self.most is not None:
            self.documents = self.documents[-self.most :]

    def _compiled(self) -> Any:
        again = profilec.compile(self.left)
        again.documents.extend(self.documents)
        return again

    @rule(who=some, texts=conditions)
    def insert(self, who: int, texts: list[str]) -> None:
        new = {f"p{self.n_made + number}": text for number, text in enumerate(texts)}
        self.n_made += len(new)
        self.actors[who].ask("insert", new)
        self.left |= new

    @rule(who=some, texts=conditions, data=st.data())
    def put(self, who: int, texts: list[str], data: st.DataObject) -> None:
        ids = data.draw(st.lists(st.sampled_from([*self.left, "q0", "q1", "q2"]), min_size=1, unique=True))
        new = dict(zip(ids, texts, strict=False))
        self.actors[who].ask("put", new)
        self.left |= new

    @rule(who=some, data=st.data())
    def delete(self, who: int, data: st.DataObject) -> None:
        if self.left:
            gone = data.draw(st.lists(st.sampled_from(list(self.left)), min_size=1, unique=True))
            self.actors[who].ask("delete", gone)
            for id in gone:
                del self.left[id]

    @rule(who=some)
    def compact(self, who: int) -> None:
        self.actors[who].ask("compact", None)

    @rule(who=some, new=documents)
    def add(self, who: int, new: list[dict[str, Any]]) -> None:
        self.actors[who].ask("add", new)
        self.documents += new
        self._keep()

    @rule(who=some, data=st.data())
    def forget(self, who: int, data: st.DataObject) -> None:
        if self.documents:
            position = data.draw(st.integers(0, len(self.documents) - 1))
            self.actors[who].ask("forget", [position])
            del self.documents[position]

    @rule(who=some, most=st.integers(1, 4))
    def retain(self, who: int, most: int) -> None:
        self.actors[who].ask("retain", most)
        self.most = most
        self._keep()

    @rule(who=some, new=documents)
    def process(self, who: int, new: list[dict[str, Any]]) -> None:
        assert self.actors[who].ask("process", new[0]) == self._compiled().match(new[0])
        self.documents.append(new[0])
        self._keep()

    @rule(who=some, new=documents, how=st.sampled_from(["match", "match_batch"]))
    def match(self, who: int, new: list[dict[str, Any]], how: str) -> None:
        assert self.actors[who].ask(how, new) == list(self._compiled().match_batch(new))

    @rule(who=some)
    def look(self, who: int) -> None:
        assert self.actors[who].ask("documents", None) == [self.documents, len(self.documents)]

    @rule(who=some)
    def open_again(self, who: int) -> None:
        self.actors[who].ask("close", None)
        self.actors[who].ask("open", self.path)

    @rule(who=some)
    def ids(self, who: int) -> None:
        """No invariant: who looks after each step has seen the last commit before the next one."""
        assert self.actors[who].ask("ids", None) == [list(self.left), len(self.left)]

    def teardown(self) -> None:
        if hasattr(self, "actors"):
            for who, actor in enumerate(self.actors):
                self.ids(who)
                actor.ask("close", None)
            living_set.MOST_IN_DELTA = merging.MOST_IN_DELTA = self.usual
            found = held(Path(self.path))
            shutil.rmtree(self.folder)
            assert (list(found.profiles.items()), found.documents) == (list(self.left.items()), self.documents)


TestOneStore = OneStore.TestCase
TestOneStore.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)


@pytest.fixture(autouse=True, scope="module")
def _processes() -> Iterator[None]:
    command = [sys.executable, str(Path(__file__).with_name("store_worker.py"))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    _workers.extend(
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(N_PROCESSES)
    )
    yield
    for one in _workers:
        one.communicate()
