"""What a store holds, read from its pages without opening it: nothing is made, changed or compiled.

In: the pages of a commit. Out: what the store says of itself, the places of its segments, its changes; how many
profiles that comes to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from profilec.living.records import Change, change_of, number_of
from profilec.planner.options import Options
from profilec.profile_table import ProfileTable
from profilec.runtime.imagefile.container import ImageError, ImageFile
from profilec.saved_set import options_of, read_set, schema_of
from profilec.store.environment import DATA, RESCUE, StoreError, expect_last, seen
from profilec.store.pages import PageError, Pages
from profilec.store.store import arrays_of, facts_of, segment_file


class Contents(NamedTuple):
    """`segments`: number to places and dead ordinals. `changes`: by moment, from the last merge on."""

    facts: dict[str, Any]
    segments: dict[int, tuple[Any, Any]]
    changes: dict[int, Change]


@dataclass(frozen=True, slots=True)
class SegmentStat:
    """A segment: its profiles, those that are dead, and the bytes of its file."""

    number: int
    n_profiles: int
    n_dead: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class StoreStat:
    """A store in figures. `n_changes`: those since the last merge; `bytes_used`: up to the last page of
    `data.mdb`, which has `data_bytes`; `schema`: attributes to types; `options`: those that were given."""

    path: str
    format: int
    moment: int
    n_profiles: int
    n_changes: int
    segments: tuple[SegmentStat, ...]
    data_bytes: int
    bytes_used: int
    schema: dict[str, str]
    options: dict[str, str]


def contents_of(path: Path, pages: Pages) -> Contents:
    """All records of a commit.

    Raises:
        StoreError: one is damaged.
        PageError: a page is.
    """
    facts = facts_of(path, dict(pages.records(b"meta")).get(b"facts"))
    segments = {}
    for key, value in pages.records(b"segments"):
        number = number_of(key)
        segments[number] = arrays_of(path, number, value)
    changes = {}
    for key, value in pages.records(b"log"):
        moment = number_of(key)
        try:
            changes[moment] = change_of(value)
        except ValueError as error:
            raise StoreError(f"{path} is damaged: change {moment}: {error}; {RESCUE}") from None
    return Contents(facts, segments, changes)


def n_profiles_of(contents: Contents, tables: Mapping[int, ProfileTable]) -> int:
    """How many profiles a set has, given the tables of its segments."""
    dead = {number: set(ordinals.tolist()) for number, (_, ordinals) in contents.segments.items()}
    come: set[str] = set()
    for _, change in sorted(contents.changes.items()):
        for id in change.gone:
            if id in come:
                come.remove(id)
                continue
            for number, table in tables.items():
                ordinal = table.ordinal(id)
                if ordinal is not None:
                    dead[number].add(ordinal)
        come.update(one.id for one in change.come)
    return len(come) + sum(len(places) - len(dead[number]) for number, (places, _) in contents.segments.items())


def _given(facts: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The schema and the options with which a store was made."""
    declared = () if facts["schema"] is None else schema_of(facts["schema"]).fields
    own, default = options_of(facts["options"]), Options()
    options = {}
    for name in (one.name for one in fields(own)):
        value = getattr(own, name)
        if value != getattr(default, name):
            options[name] = str(sorted(value) if isinstance(value, frozenset) else value)
    return {one.name: str(one.type) for one in declared}, options


def stat_store(path: Path) -> StoreStat:
    """A store in figures.

    Raises:
        StoreError: it is none, or damaged.
    """
    try:
        with seen(path) as pages:
            pages.expect_sound()
            expect_last(pages)
            contents = contents_of(path, pages)
            tables, segments = {}, []
            for number, (places, dead) in sorted(contents.segments.items()):
                file = segment_file(path, number)
                tables[number] = read_set(image := ImageFile.open(file)).table
                segments.append(SegmentStat(number, len(places), len(dead), len(image.data)))
            return StoreStat(
                str(path), contents.facts["format"], contents.facts["moment"], n_profiles_of(contents, tables),
                len(contents.changes), tuple(segments), (path / DATA).stat().st_size,
                (pages.meta.last_page + 1) * pages.size, *_given(contents.facts),
            )  # fmt: skip
    except PageError as error:
        raise StoreError(f"{path / DATA} is damaged: {error}; {RESCUE}") from None
    except (ImageError, OSError) as error:
        raise StoreError(f"{path} is damaged: {error}; {RESCUE}") from None
