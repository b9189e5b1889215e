"""Which documents a store with a SCHEMA keeps: the judges' own word on it.

In: a world as it was drawn. Out: the same with earlier documents that its store keeps, and some of those that it
refuses, which each engine is given too.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from judge import Judge
from pools import TYPES
from structures import Document, World

_JUDGE = Judge()
_CLASSES: dict[Any, tuple[type, ...]] = {
    "NUMBER": (Fraction, float),
    "STRING": (str,),
    "BOOLEAN": (bool,),
    "TIMESTAMP": (datetime.datetime,),
}
_MOST_REFUSED = 3


def with_store_kept(world: World) -> World:
    """The world in which every document that comes to be an earlier one is as SCHEMA says."""
    if not world.schema:
        return world
    n_matched = len(world.documents) - world.processed
    changes = tuple(dataclasses.replace(change, added=tuple(map(kept, change.added))) for change in world.changes)
    return dataclasses.replace(
        world,
        earlier=tuple(map(kept, world.earlier)),
        changes=changes,
        documents=(*world.documents[:n_matched], *map(kept, world.documents[n_matched:])),
        refused=tuple(document for document in world.earlier if kept(document) != document)[:_MOST_REFUSED],
    )


def kept(document: Document) -> Document:
    """The document without the attributes that contradict the schema; the same one where none does."""
    contradicting = [name for name, type_ in TYPES.items() if not is_as_declared(document.get(name), type_)]
    if not contradicting:
        return document
    return {name: value for name, value in document.items() if name not in contradicting}


def is_as_declared(value: Any, type_: Any) -> bool:
    value = _JUDGE.plain(_JUDGE.read(value, type_))
    if value is None:
        return True
    if isinstance(type_, list):
        return isinstance(value, list) and all(is_as_declared(item, type_[0]) for item in value)
    if isinstance(type_, Mapping):
        return isinstance(value, Mapping) and all(is_as_declared(value.get(name), t) for name, t in type_.items())
    if type_ == "INTEGER":
        return isinstance(value, Fraction | float) and value % 1 == 0
    if type_ == "DATE":
        return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
    return isinstance(value, _CLASSES[type_])
