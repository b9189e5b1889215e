"""The profiles of a damaged store whose text can be read.

In: the folder of a store that `open` refuses. Out: its profiles, in the set's order as far as that is known, and what
was lost.

Where the pages of `data.mdb` can be followed, its segments and changes are those of the last commit, but for those
whose checksum is wrong. Where they cannot, all images of the folder are read, the latest first, and whatever records
are left in the file (`raw.py`): then there may be profiles among them that had been deleted or replaced.

Invariant: nothing is changed. What is given was inserted once, but for texts of sections whose checksum is wrong, which
`lost` names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from profilec.living.records import Change, Stored, change_of
from profilec.profile_table import examples_of
from profilec.runtime.imagefile.columns import Strings
from profilec.runtime.imagefile.container import ImageError, ImageFile
from profilec.runtime.imagefile.tokens import loads
from profilec.saved_set import schema_of
from profilec.store.environment import DATA, StoreError, expect_last, is_store, seen
from profilec.store.pages import PageError, Pages
from profilec.store.raw import left_in
from profilec.store.store import arrays_of, facts_of
from profilec.values.types import Schema


def salvage(path: str | os.PathLike[str]) -> Salvage:
    """What can be read of a store.

    Raises:
        StoreError: the folder is no store.
    """
    folder = Path(path)
    if not is_store(folder):
        raise StoreError(f"{folder} is no store: it has no {DATA}, and no images of segments")
    return Salvage(folder)


class Salvage:
    """Profiles, by iterating; `schema` of them, and what was `lost`, all known when that has ended."""

    def __init__(self, folder: Path) -> None:
        self.lost: list[str] = []
        self.schema: Schema | None = None
        self._folder = folder
        self._facts: dict[str, Any] = {}
        self._dead: dict[int, list[tuple[Any, Any]]] = {}
        """By segment: the places and the dead that it may have."""
        self._changes: dict[int, Change] = {}
        self._are_known = False
        """Whether the segments of `_dead` are those of the set, and no others are."""
        try:
            with seen(folder) as pages:
                pages.expect_sound()
                expect_last(pages)
                self._take(pages)
        except (PageError, StoreError) as error:
            self._take_what_is_left(str(error).partition("; `profilec")[0])
        self._segments = [_Rows(folder, number, self.lost) for number in self._numbers()]
        self.schema = self._find_schema()

    def __iter__(self) -> Iterator[Stored]:
        """The profiles, by place."""
        changed: dict[str, Stored | None] = {}
        merged = self._facts.get("merged", 0)
        for moment, change in sorted(self._changes.items()):
            if moment > merged:
                changed.update(dict.fromkeys(change.gone))
                changed.update((one.id, one) for one in change.come)
        known = set(changed)
        rows: list[tuple[int, int, int]] = []  # place, number of the segment in the list, ordinal
        for number, segment in enumerate(self._segments):
            places = self._places(segment)
            for ordinal in self._alive(segment):
                id = segment.id(ordinal)
                if id is not None and id not in known:
                    known.add(id)
                    rows.append((places[ordinal], number, ordinal))
        after = sorted([one for one in changed.values() if one is not None], key=lambda one: one.place)
        rows.sort()
        at = 0
        for place, number, ordinal in rows:
            while at < len(after) and after[at].place < place:
                yield after[at]
                at += 1
            row = self._segments[number].row(ordinal, place)
            if row is not None:
                yield row
        yield from after[at:]
        self.lost += [segment.told for segment in self._segments if segment.n_lost]

    def _take(self, pages: Pages) -> None:
        self._are_known = True
        for _, value in pages.records(b"meta"):
            with suppress(StoreError):
                self._facts = facts_of(self._folder, value)
        if not self._facts:
            self.lost.append("what the store says of itself: its SCHEMA is that of a segment")
        for key, value in pages.records(b"segments"):
            number = int.from_bytes(key, "big")
            try:
                self._dead[number] = [arrays_of(self._folder, number, value)]
            except StoreError:
                self._dead[number] = []
                self.lost.append(f"segment {number}: which of its profiles were deleted or replaced")
        for key, value in pages.records(b"log"):
            moment = int.from_bytes(key, "big")
            try:
                self._changes[moment] = change_of(value)
            except ValueError as error:
                self.lost.append(f"change {moment}: {error}")

    def _take_what_is_left(self, reason: str) -> None:
        self._are_known = False
        self.lost.append(
            f"{reason}. What follows is put together from what is left: profiles that had been deleted or replaced may "
            "be among it"
        )
        with suppress(OSError):
            left = left_in(self._folder / DATA)
            self._facts, self._dead, self._changes = left.facts, left.segments, left.changes
            if left.n_changes_lost:
                self.lost.append(f"{left.n_changes_lost:,} changes: their checksums are wrong")

    def _numbers(self) -> list[int]:
        """The segments to be read, the latest first."""
        files = (self._folder / "segments").glob("*.image")
        numbers = set(self._dead) if self._are_known else {int(file.stem) for file in files if file.stem.isdigit()}
        return sorted(numbers, reverse=True)

    def _find_schema(self) -> Schema | None:
        if self._facts:
            return None if self._facts["schema"] is None else schema_of(self._facts["schema"])
        return next((found for segment in self._segments if (found := segment.schema()) is not None), None)

    def _known_of(self, segment: _Rows) -> tuple[Any, Any] | None:
        """The latest that is known of a segment: more and more of it dies."""
        fitting = [one for one in self._dead.get(segment.number, ()) if len(one[0]) == len(segment)]
        return max(fitting, key=lambda one: len(one[1]), default=None)

    def _places(self, segment: _Rows) -> list[int]:
        known = self._known_of(segment)
        places: list[int] = list(range(len(segment))) if known is None else known[0].tolist()
        return places

    def _alive(self, segment: _Rows) -> list[int]:
        known = self._known_of(segment)
        alive = np.ones(len(segment), bool)
        if known is not None:
            dead = known[1]
            alive[dead[(dead >= 0) & (dead < len(alive))]] = False
        ordinals: list[int] = np.flatnonzero(alive).tolist()
        return ordinals


class _Rows:
    """The profiles of an image, one by one, as far as they can be read."""

    def __init__(self, folder: Path, number: int, lost: list[str]) -> None:
        self.number = number
        self.n_lost = 0
        self._image: ImageFile | None = None
        self._ids = self._wheres = Strings([])
        self._more: dict[str, dict[int, str]] = {}
        file = folder / "segments" / f"{number}.image"
        try:
            try:
                self._image = ImageFile.open(file)
            except ImageError as error:
                lost.append(f"segment {number}: {error}")
                self._image = ImageFile.open_damaged(file)
            self._ids, self._wheres = (Strings.read(self._image, name) for name in ("ids", "wheres"))
        except FileNotFoundError:
            lost.append(f"segment {number}: its file is not there")
            return
        except (ImageError, OSError) as error:
            lost.append(f"segment {number}: none of its profiles can be read: {error}")
            self._ids = Strings([])
            return
        damaged = [one for one in self._image.damage() if one.partition(" ")[2].startswith(_OF_PROFILES)]
        lost += [f"segment {number}, {one}: profiles may read as they were not" for one in damaged]
        for name in ("properties", "comments", "examples"):
            try:
                ordinals = self._image.array(f"{name}.profile", np.int32).tolist()
                texts = Strings.read(self._image, name)
            except ImageError as error:
                lost.append(f"segment {number}: {name}: {error}")
                continue
            self._more[name] = {ordinal: text for at, ordinal in enumerate(ordinals) if (text := _at(texts, at))}

    def __len__(self) -> int:
        return min(len(self._ids), len(self._wheres))

    @property
    def told(self) -> str:
        """How many profiles could not be read."""
        return f"segment {self.number}: {self.n_lost:,} of {len(self):,} profiles, which cannot be read"

    def id(self, ordinal: int) -> str | None:
        """The id of a row; None, and counted, where it cannot be read."""
        found = _at(self._ids, ordinal)
        self.n_lost += not found
        return found or None

    def row(self, ordinal: int, place: int) -> Stored | None:
        """A profile; None, and counted, where it cannot be read. What else it has is left out where that cannot be."""
        id, where = _at(self._ids, ordinal), _at(self._wheres, ordinal)
        if not id or not where:
            self.n_lost += 1
            return None
        properties: dict[str, Any] = {}
        examples: tuple[Any, ...] = ()
        with suppress(ValueError, TypeError, KeyError):
            properties = dict(loads(self._text("properties", ordinal) or '[["dict",0]]'))
        with suppress(ValueError, TypeError, KeyError):
            examples = examples_of(self._text("examples", ordinal) or "[[],[]]")
        return Stored(place, id, where, properties, examples, None, 1, 1, self._text("comments", ordinal))

    def _text(self, name: str, ordinal: int) -> str | None:
        return self._more.get(name, {}).get(ordinal)

    def schema(self) -> Schema | None:
        """What the image says that documents have."""
        if self._image is None:
            return None
        with suppress(ImageError, ValueError, TypeError):
            texts = Strings.read(self._image, "schema")
            return schema_of(texts[0]) if len(texts) else None
        return None


_OF_PROFILES = ("ids", "wheres", "properties", "comments", "examples")


def _at(texts: Strings, place: int) -> str | None:
    """A text, or None where it cannot be read."""
    try:
        return texts[place]
    except (ImageError, IndexError, ValueError):
        return None
