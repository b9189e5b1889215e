"""One of many who work on a store at once, each on profiles and documents of his own, of which he knows what is true.

    python soak.py PATH NAME SEED SECONDS COPIES

A process prints {"profiles": id to condition, "documents": […], "done": action to number} at its end.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import profilec
from profilec.store.backup import backup_store
from profilec.store.verify import verify_store

Document = dict[str, Any]


class Condition(NamedTuple):
    """A profile's text, and whether it is true of a document, given those that its owner added."""

    text: str
    holds: Callable[[Document, Sequence[Document]], bool]


def condition(draw: random.Random, owner: str) -> Condition:
    """Any."""
    n, x = draw.randrange(60), f"x{draw.randrange(5)}"
    made: list[Condition] = [
        Condition(f"a = {n}", lambda new, _: new["a"] == n),
        Condition(f"a > {n} AND b = '{x}'", lambda new, _: new["a"] is not None and new["a"] > n and new["b"] == x),
        Condition(f"b IN ('{x}', 'y')", lambda new, _: new["b"] in (x, "y")),
        Condition(f"a <= {n} OR b = 'y'", lambda new, _: (new["a"] is not None and new["a"] <= n) or new["b"] == "y"),
        Condition(f"b LIKE '{x}%'", lambda new, _: (new["b"] or "").startswith(x)),
        Condition(f"b LIKE '%{x}'", lambda new, _: (new["b"] or "").endswith(x)),
        Condition(f"a IS NULL AND b != '{x}'", lambda new, _: new["a"] is None and new["b"] not in (None, x)),
        Condition(
            f"EXISTS d (d.owner = '{owner}' AND d.a = a AND a != {n})",
            lambda new, earlier: new["a"] not in (None, n) and any(one["a"] == new["a"] for one in earlier),
        ),
    ]
    return draw.choices(made, weights=[4, 4, 4, 4, 4, 4, 4, 1])[0]


def document(draw: random.Random, owner: str = "") -> Document:
    """One to match, or, with an owner, to add."""
    b = draw.choice(("x0", "x1", "x2", "x3x1", "y", None))
    return {"a": draw.choice((None, *range(60))), "b": b, "owner": owner or None}


class Actor:
    """See the module. `handles` are of one store, and any is used."""

    MOST = 80
    """Profiles of one actor."""
    MOST_DOCUMENTS = 400

    def __init__(self, name: str, handles: Sequence[Any], seed: int, copies: Path, n_large: int = 0) -> None:
        self.name, self.handles, self._draw, self._copies = name, handles, random.Random(seed), copies
        self.own: dict[str, Condition] = {}
        self.documents: list[Document] = []
        self.done: Counter[str] = Counter()
        self._n_made = 0
        self._n_large = n_large
        self._actions: dict[Callable[[Any], None], int] = {
            self.insert: 10, self.insert_many: 6, self.replace: 8, self.put_many: 4, self.delete: 10, self.take_id: 2,
            self.compact: 1, self.match: 30, self.match_batch: 10, self.ids: 4, self.process: 3, self.extend: 1,
            self.look: 2, self.backup: 1, **({self.insert_large: 1} if n_large else {}),
        }  # fmt: skip

    def work(self, seconds: float) -> None:
        """Does one thing after the other, all of them at least once."""
        end = time.monotonic() + seconds
        for action in self._actions:
            self._do(action)
        while time.monotonic() < end:
            self._do(*self._draw.choices(list(self._actions), weights=list(self._actions.values())))

    def _do(self, action: Callable[[Any], None]) -> None:
        action(self._draw.choice(self.handles))
        self.done[action.__name__] += 1
        if len(self.own) > self.MOST:
            self._delete(self._draw.choice(self.handles), self.MOST // 2)

    def _some(self, n: int) -> list[str]:
        return self._draw.sample(list(self.own), min(n, len(self.own)))

    def _new(self, n: int) -> dict[str, Condition]:
        first, self._n_made = self._n_made, self._n_made + n
        return {f"{self.name}-{first + number}": condition(self._draw, self.name) for number in range(n)}

    def _conditions_of(self, ids: list[str]) -> dict[str, Condition]:
        return {id: condition(self._draw, self.name) for id in ids}

    def insert(self, profiles: Any) -> None:
        """One profile."""
        ((id, one),) = self._new(1).items()
        profiles.insert(id, one.text)
        self.own[id] = one

    def insert_many(self, profiles: Any) -> None:
        """Several."""
        self._insert(profiles, self._draw.randrange(2, 8))

    def insert_large(self, profiles: Any) -> None:
        """So many that they are a segment at once."""
        self._insert(profiles, self._n_large)

    def _insert(self, profiles: Any, n: int) -> None:
        new = self._new(n)
        profiles.insert_many({id: one.text for id, one in new.items()})
        self.own |= new

    def replace(self, profiles: Any) -> None:
        """One that is there."""
        for id, one in self._conditions_of(self._some(1)).items():
            profiles.replace(id, one.text)
            self.own[id] = one

    def put_many(self, profiles: Any) -> None:
        """New ones, and some that are there."""
        put = self._conditions_of(self._some(3)) | self._new(2)
        profiles.put_many({id: one.text for id, one in put.items()})
        self.own |= put

    def delete(self, profiles: Any) -> None:
        """A few."""
        self._delete(profiles, self._draw.randrange(1, 6))

    def _delete(self, profiles: Any, n: int) -> None:
        gone = self._some(n)
        profiles.delete_many(gone)
        for id in gone:
            del self.own[id]

    def take_id(self, profiles: Any) -> None:
        """A change with an id that is taken, which is refused whole."""
        taken = self._some(1)
        if taken:
            new = {**self._new(2), **self._conditions_of(taken)}
            with pytest.raises(profilec.ProfileError, match="taken"):
                profiles.insert_many({id: one.text for id, one in new.items()})
            self.ids(profiles)

    def compact(self, profiles: Any) -> None:
        """A merge of everything, of all actors."""
        profiles.compact()

    def ids(self, profiles: Any) -> None:
        """The own ids are there, in order."""
        assert self._mine(profiles.ids) == list(self.own), self.name

    def match(self, profiles: Any) -> None:
        """One document."""
        self._expect([document(self._draw)], profiles.match)

    def match_batch(self, profiles: Any) -> None:
        """Several."""
        asked = [document(self._draw) for _ in range(5)]
        found = iter(profiles.match_batch(asked))
        self._expect(asked, lambda _: next(found))

    def process(self, profiles: Any) -> None:
        """A document that is matched, then added."""
        if len(self.documents) < self.MOST_DOCUMENTS:
            new = document(self._draw, self.name)
            self._expect([new], profiles.process)
            self.documents.append(new)

    def extend(self, profiles: Any) -> None:
        """Documents that are added."""
        if len(self.documents) < self.MOST_DOCUMENTS:
            new = [document(self._draw, self.name) for _ in range(3)]
            profiles.documents.extend(new)
            self.documents += new

    def look(self, profiles: Any) -> None:
        """The own documents are there, in order."""
        assert [one for one in profiles.documents if one["owner"] == self.name] == self.documents, self.name

    def backup(self, profiles: Any) -> None:
        """A copy holds what is there."""
        copy = self._copies / f"{self.name}-{self.done['backup']}"
        backup_store(profiles.keeper, copy)
        assert verify_store(copy).faults == ()
        with profilec.open(copy, sync="off") as copied:
            self.ids(copied)
            self.look(copied)
            self.match_batch(copied)
        shutil.rmtree(copy)

    def _mine(self, ids: Sequence[str]) -> list[str]:
        return [id for id in ids if id.startswith(f"{self.name}-")]

    def _expect(self, asked: list[Document], answer: Callable[[Document], list[str]]) -> None:
        for new in asked:
            wanted = [id for id, one in self.own.items() if one.holds(new, self.documents)]
            found = self._mine(answer(new))
            other = {id: self.own[id].text if id in self.own else None for id in {*found} ^ {*wanted}}
            assert found == wanted, f"{self.name}, after {self.done.total()} actions, of {new}: {other}"

    def told(self) -> dict[str, Any]:
        """What is there of him, and what he did."""
        texts = {id: one.text for id, one in self.own.items()}
        return {"profiles": texts, "documents": self.documents, "done": self.done}


def main(path: str, name: str, seed: str, seconds: str, copies: str) -> None:
    """A process of one actor; the first compiles what is large in a process of its own."""
    from profilec.living import aside, living_set, merging

    living_set.MOST_IN_DELTA = merging.MOST_IN_DELTA = 120
    n_large = 60 if name.endswith("0") else 0
    aside.LARGE = n_large or aside.LARGE
    with profilec.open(path) as profiles:
        actor = Actor(name, [profiles], int(seed), Path(copies), n_large)
        actor.work(float(seconds))
    print(json.dumps(actor.told()))


if __name__ == "__main__":
    main(*sys.argv[1:])
