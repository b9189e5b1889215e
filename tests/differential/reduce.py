"""A case that fails, made smaller as long as it still fails: fewer profiles, documents, changes, and keys.

In: the case, and the world that it was made from, whose conditions a judge decides anew. Out: a
case that fails too. Mostly it is one profile, one document, and the store as it was then; where
that does not fail, the store's history or the other profiles are needed, and what is not goes.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

import judge
from engines import Case, check
from history import spans
from pools import TYPES
from structures import World

SECONDS = 60
MANY = 10
"""Documents of which no longer each is made smaller."""


def reduced(case: Case, world: World) -> Case:
    """The smallest case that is found in time."""
    limit = time.monotonic() + SECONDS
    how = failure_of(case)

    def in_time(_: object) -> bool:
        return time.monotonic() < limit

    def is_alike(small: _Part) -> bool:
        return failure_of(small.case()) is how

    found = next(filter(is_alike, _first(case, world)), None)
    if found is None:
        return case
    while smaller := next(filter(is_alike, takewhile(in_time, found.smaller())), None):
        found = smaller
    return found.case()


def failure_of(case: Case) -> type[Exception] | None:
    """What is raised: a smaller case that fails otherwise, since a document is no longer kept, is another case."""
    try:
        check(case, explained=True)
    except Exception as failure:  # a wrong answer, or none
        return type(failure)
    return None


@dataclasses.dataclass(frozen=True)
class _Part:
    """Some profiles of a case, by their places, with a world of their own."""

    whole: Case
    places: list[int]
    world: World

    def case(self) -> Case:
        world = self.world
        return dataclasses.replace(
            self.whole,
            profiles=[self.whole.profiles[place] for place in self.places],
            truths=judge.judged(world, TYPES if world.schema else None),
            **{name: getattr(world, name) for name in ("documents", "earlier", "changes", "processed", "refused")},
        )

    def having(self, **parts: Any) -> _Part:
        return _Part(self.whole, self.places, dataclasses.replace(self.world, **parts))

    def of(self, places: list[int]) -> _Part:
        conditions = dict(zip(self.places, self.world.conditions, strict=True))
        world = dataclasses.replace(self.world, conditions=tuple(conditions[place] for place in places))
        return _Part(self.whole, places, world)

    def smaller(self) -> Iterator[_Part]:
        """This part with less of one thing, the most that can go first."""
        world = self.world
        yield from (self.of(places) for places in _fewer(self.places) if places)
        yield from (self.having(earlier=tuple(earlier)) for earlier in _fewer(list(world.earlier)))
        for place, change in enumerate(world.changes):
            before, after = world.changes[:place], world.changes[place + 1 :]
            yield self.having(changes=before + after)
            less = [dataclasses.replace(change, added=tuple(added)) for added in _fewer(list(change.added))]
            less += [dataclasses.replace(change, deleted=tuple(deleted)) for deleted in _fewer(list(change.deleted))]
            yield from (self.having(changes=(*before, smaller, *after)) for smaller in less)
        if world.processed:
            yield self.having(processed=world.processed - 1)
        for place in range(len(world.documents) if len(world.documents) > 1 else 0):
            changes = tuple(dataclasses.replace(c, before=c.before - (c.before > place)) for c in world.changes)
            yield self.having(documents=world.documents[:place] + world.documents[place + 1 :], changes=changes)
        for name in ("documents", "earlier"):
            documents = list(getattr(world, name))
            for place, document in enumerate(documents if len(documents) <= MANY else ()):
                for small in _smaller_values(document):
                    yield self.having(**{name: (*documents[:place], small, *documents[place + 1 :])})


def _first(case: Case, world: World) -> Iterator[_Part]:
    """Where to begin: one profile and document; one profile, whatever happened to the store; all of it."""
    whole = _Part(case, list(range(len(case.profiles))), world)
    alone = [whole.of([place]) for place in whole.places]
    for span in spans(case):
        for document in span.documents:
            now = {"documents": (document,), "earlier": tuple(span.store), "changes": (), "processed": 0, "refused": ()}
            yield from (part.having(**now) for part in alone)
    yield from alone
    yield whole


def _fewer(listed: list[Any]) -> Iterator[list[Any]]:
    """The list without all, without a half, a quarter, …, without each one."""
    width = len(listed)
    while width:
        for first in range(0, len(listed), width):
            yield listed[:first] + listed[first + width :]
        width //= 2


def _smaller_values(value: Any) -> Iterator[Any]:
    """The value with one key or one element less, at any depth."""
    match value:
        case Mapping():
            for name, inner in value.items():
                yield {other: value[other] for other in value if other != name}
                for smaller in _smaller_values(inner):
                    yield {**value, name: smaller}
        case list():
            for place, inner in enumerate(value):
                yield value[:place] + value[place + 1 :]
                for smaller in _smaller_values(inner):
                    yield [*value[:place], smaller, *value[place + 1 :]]
