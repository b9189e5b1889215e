"""Whether a store is whole: all of it is read.

In: the folder of a store, open elsewhere or not. Out: what is wrong with it, each with its place, and what it holds.

The pages of `data.mdb` are looked at without LMDB (`pages.py`), which a damaged one would end with the process.

Invariant: nothing is made or changed; where no fault is found, `open` gives the profiles that were kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from profilec.grammar.limits import Limits
from profilec.grammar.statements import parse_where
from profilec.living.records import change_of, unsealed
from profilec.profile_table import ProfileTable
from profilec.runtime.imagefile.container import ImageError, ImageFile
from profilec.saved_set import options_of, read_set, schema_of, verify_file
from profilec.store.contents import Contents, n_profiles_of
from profilec.store.environment import DATA, StoreError, expect_last, seen
from profilec.store.pages import PageError, Pages
from profilec.store.store import FORMAT, arrays_of, facts_of, segment_file
from profilec.values.types import Schema


@dataclass(frozen=True, slots=True)
class StoreReport:
    """What was found. The counts are those of what can be read; `n_profiles` is None where there are faults."""

    path: str
    faults: tuple[str, ...]
    n_profiles: int | None
    n_segments: int
    n_changes: int
    n_bytes: int


def verify_store(path: str | os.PathLike[str]) -> StoreReport:
    """Reads all of a store.

    Raises:
        StoreError: the folder is no store.
    """
    folder = Path(path)
    found = _Verified(folder)
    try:
        with seen(folder) as pages:
            found.read(pages)
    except PageError as error:
        found.faults.append(f"{DATA}: {error}")
        found.look_at_files()
    except StoreError:
        if (folder / DATA).is_file() or not any((folder / "segments").glob("*.image")):
            raise
        found.faults.append(f"{DATA}: it is not there")
        found.look_at_files()
    held = found.held
    n_profiles = None if found.faults else n_profiles_of(held, found.tables)
    return StoreReport(
        str(folder), tuple(found.faults), n_profiles, len(held.segments), len(held.changes), _n_bytes(folder)
    )


@dataclass
class _Verified:
    folder: Path
    faults: list[str] = field(default_factory=list)
    held: Contents = field(default_factory=lambda: Contents({}, {}, {}))
    tables: dict[int, ProfileTable] = field(default_factory=dict)

    def read(self, pages: Pages) -> None:
        """All that a commit names."""
        try:
            pages.expect_sound()
            expect_last(pages)
        except PageError as error:
            self.faults.append(f"{DATA}: {error}")
        for name, take in (
            ("meta", self._take_facts), ("segments", self._take_segment), ("log", self._take_change),
            ("documents", self._take_document),
        ):  # fmt: skip
            try:
                for key, value in pages.records(name.encode()):
                    take(key, value)
            except PageError as error:
                self.faults.append(f"{DATA}: the pages of `{name}` cannot be read: {error}")
        if not self.held.facts:
            self.faults.append(f"{DATA}: what the store says of itself cannot be read")
        else:
            self._look_at_moments()
        for number, (places, dead) in sorted(self.held.segments.items()):
            self._look_at_segment(number, places, dead)
        self._look_at_ids()

    def look_at_files(self) -> None:
        """The images, where nothing tells which of them are of the set."""
        for file in sorted((self.folder / "segments").glob("*.image")):
            if file.stem.isdigit():
                self._table(int(file.stem))

    def _take_facts(self, key: bytes, value: bytes) -> None:
        if key != b"facts":
            self.faults.append(f"{DATA}: a record {key!r} of `meta`, which stores have not")
            return
        with suppress(StoreError):
            facts = facts_of(self.folder, value)
            try:
                _schema_of(facts)
                options_of(facts["options"])
                whole = all(type(facts[name]) is int for name in ("moment", "merged", "merges", "place", "segment"))
            except (ValueError, TypeError, KeyError):
                whole = False
            if whole:
                self.held.facts.update(facts)
            if not whole or facts["format"] != FORMAT:
                self.faults.append(f"{DATA}: what the store says of itself is of another format")

    def _take_segment(self, key: bytes, value: bytes) -> None:
        number = int.from_bytes(key, "big")
        try:
            self.held.segments[number] = arrays_of(self.folder, number, value)
        except StoreError:
            self.faults.append(f"segment {number}: the checksum of its places is wrong")

    def _take_change(self, key: bytes, value: bytes) -> None:
        moment = int.from_bytes(key, "big")
        try:
            self.held.changes[moment] = change_of(value)
        except ValueError as error:
            self.faults.append(f"change {moment}: {error}")
            return
        self.faults += [f"change {moment}: {fault}" for fault in self._condition_faults(moment)]

    def _condition_faults(self, moment: int) -> Iterator[str]:
        """What open would not read again; `meta` was read before."""
        if not self.held.facts:
            return
        schema, limits = _schema_of(self.held.facts), _limits_of(self.held.facts)
        for one in self.held.changes[moment].come:
            if parse_where(one.id, one.where, schema=schema, limits=limits, report=_not_told) is None:
                yield f"the condition of {one.id!r} cannot be read"

    def _take_document(self, key: bytes, value: bytes) -> None:
        try:
            unsealed(value)
        except ValueError as error:
            self.faults.append(f"document {int.from_bytes(key, 'big')}: {error}")

    def _look_at_moments(self) -> None:
        facts, changes = self.held.facts, self.held.changes
        wanted = range(facts["merged"] + 1, facts["moment"] + 1)
        known = {fault.partition(":")[0] for fault in self.faults}
        self.faults += [
            f"change {moment}: it is not there"
            for moment in wanted
            if moment not in changes and f"change {moment}" not in known
        ]
        self.faults += [f"change {moment}: it is of no moment" for moment in changes if moment not in wanted]

    def _look_at_segment(self, number: int, places: Any, dead: Any) -> None:
        name = f"segment {number}"
        if (np.diff(places) <= 0).any():
            self.faults.append(f"{name}: its places do not ascend")
        if len(dead) and (dead[0] < 0 or dead[-1] >= len(places) or (np.diff(dead) <= 0).any()):
            self.faults.append(f"{name}: profiles are dead that it has not")
        table = self._table(number)
        if table is not None and len(table.ids) != len(places):
            self.faults.append(f"{name}: it has {len(table.ids):,} profiles, and {len(places):,} places")
            del self.tables[number]

    def _table(self, number: int) -> ProfileTable | None:
        """The profiles of a segment whose image is sound."""
        name = f"segment {number}"
        try:
            image = ImageFile.open(segment_file(self.folder, number))
            damage = list(image.damage())
            self.faults += [f"{name}, {one}" for one in damage]
            if damage:
                return None
            verify_file(image)
            table = self.tables[number] = read_set(image).table
            return table
        except FileNotFoundError:
            self.faults.append(f"{name}: its file is not there")
        except (ImageError, OSError) as error:
            self.faults.append(f"{name}: {error}")
        return None

    def _look_at_ids(self) -> None:
        """An id is alive once."""
        where: dict[str, int] = {}
        for number, table in self.tables.items():
            places, dead = self.held.segments[number]
            alive = np.ones(len(places), bool)
            if len(dead) and (dead.min() < 0 or dead.max() >= len(places)):
                continue
            alive[dead] = False
            for id in table.ids.take(np.flatnonzero(alive)):
                first = where.setdefault(id, number)
                if first != number:
                    self.faults.append(f"segment {number}: {id!r} is alive in it, and in segment {first}")
        for moment, change in sorted(self.held.changes.items()):
            for id in change.gone:
                where.pop(id, None)
            for one in change.come:
                if one.id in where:
                    self.faults.append(f"change {moment}: {one.id!r} comes, and is there")
                where[one.id] = 0


def _schema_of(facts: dict[str, Any]) -> Schema | None:
    return None if facts["schema"] is None else schema_of(facts["schema"])


def _limits_of(facts: dict[str, Any]) -> Limits:
    return options_of(facts["options"]).limits


def _not_told(diagnostic: object) -> None:
    """What is wrong with a condition is told as one fault."""


def _n_bytes(folder: Path) -> int:
    files = [folder / DATA, *(folder / "segments").glob("*.image")]
    return sum(file.stat().st_size for file in files if file.is_file())
