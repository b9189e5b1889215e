"""The set on disk, and how it and the set in memory follow one another.

In: changes and merges of this process; commits of others. Out: a `LivingSet` that has seen the last commit.

    meta      format, schema, options, moment, next place, next segment, merges
    segments  number to its places and the ordinals that are dead, as of the last merge
    log       moment to the change that made it, of all moments since that merge

A process that sees another's commit applies the changes of the log that it has not; after a merge by another it begins
again with the segments that it finds, of which it maps those that it has not.

Invariant: what is in the segments' files and in the log is the set, at every commit. A file that no commit names is
nothing, and the next merge removes it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from profilec.compiled_set import CompiledSet
from profilec.living.delta import ALIVE
from profilec.living.living_set import Keeper, LivingSet, Prepared
from profilec.living.prepare import prepared_again
from profilec.living.records import (
    Change,
    bytes_of,
    change_of,
    key_of,
    number_of,
    sealed,
    statement_of,
    stored_of,
    unsealed,
)
from profilec.living.segment import Segment
from profilec.planner.calibration import default_units
from profilec.planner.options import Options
from profilec.runtime.imagefile.container import ImageError, ImageFile, sync_folder
from profilec.runtime.imagefile.tokens import dumps
from profilec.saved_set import options_of, options_text, schema_of
from profilec.store.documents import StoredDocuments
from profilec.store.environment import RESCUE, Environment, StoreError, opened, told
from profilec.values.types import Schema

FORMAT = 1
"""Goes up whenever a store of before would be read wrongly; `_MIGRATIONS` lead from each format to the next."""
_MIGRATIONS: dict[int, Any] = {}


_ATTEMPTS = 5


class _GoneError(Exception):
    """A segment's file is not there."""


class Store(Keeper):
    """See the module. Made by `open_store`."""

    def __init__(
        self, environment: Environment, facts: dict[str, Any], schema: Schema | None, options: Options
    ) -> None:
        self.environment = environment
        self.path = environment.path
        self.schema = schema
        self.options = options
        self.documents = StoredDocuments(environment, schema)
        self._is_open = True
        self._has_merged = False
        self._moment = -1
        self._merges = int(facts["merges"])
        self._seen = 0
        self._transaction: Any = None
        self._known: dict[int, CompiledSet] = {}
        """The segments of the last commit seen, by number."""

    # What others changed

    def catch_up(self, living: LivingSet) -> None:
        """See `Keeper`. PERF: where nobody changed anything, half a microsecond."""
        if self._transaction is not None or self.environment.last_commit() == self._seen:
            return
        with living.writing:
            self._follow(living)

    def _follow(self, living: LivingSet) -> None:
        for _ in range(_ATTEMPTS):
            with self.environment.reading() as transaction:
                try:
                    self._read_changes(living, transaction)
                except _GoneError as gone:  # merged by another process, since this commit
                    found = gone
                    continue
                self._seen = transaction.id()  # and not before: other threads go on by it
                return
        raise StoreError(f"{self.path} is damaged: {found} is not there; {RESCUE}")

    def _read_changes(self, living: LivingSet, transaction: Any) -> None:
        self.documents.follow(transaction)
        facts = self._facts(transaction)
        if facts["merges"] != self._merges or self._moment < 0:
            living.begin(self._segments(transaction), facts["merged"], facts["place"])
            self._merges, self._moment = facts["merges"], facts["merged"]
        if facts["moment"] == self._moment:
            return
        cursor = transaction.cursor(db=self.environment.log)
        there = cursor.set_range(key_of(self._moment + 1))
        while there:
            moment = number_of(cursor.key())
            self._apply(living, moment, self._change(moment, cursor.value()))
            self._moment = moment
            there = cursor.next()
        if self._moment != facts["moment"]:
            raise StoreError(f"{self.path} is damaged: change {self._moment + 1} is not there; {RESCUE}")

    def _apply(self, living: LivingSet, moment: int, change: Change) -> None:
        """A change of the log. What a merge saw dead already is not there any more."""
        if living.state.moment != moment - 1:
            raise StoreError(f"{self.path} is damaged: change {living.state.moment + 1} is not there; {RESCUE}")
        prepared = prepared_again(map(statement_of, change.come), self.schema, self.options)
        gone = [id for id in change.gone if living.contains(id)]
        living.change(gone, zip([one.place for one in change.come], prepared, strict=True))

    def _change(self, moment: int, data: Any) -> Change:
        try:
            return change_of(bytes(data))
        except ValueError as error:
            raise StoreError(f"{self.path} is damaged: change {moment}: {error}; {RESCUE}") from None

    def _facts(self, transaction: Any) -> dict[str, Any]:
        return facts_of(self.path, transaction.get(b"facts", db=self.environment.meta))

    def _segments(self, transaction: Any) -> list[Segment]:
        found = []
        for key, value in transaction.cursor(db=self.environment.segments):
            number = number_of(key)
            places, dead = arrays_of(self.path, number, value)
            known = self._known.get(number)
            compiled = self._compiled(number) if known is None else known
            if len(compiled.ids) != len(places):
                raise StoreError(f"{self.path} is damaged: segment {number} is not the one of its places; {RESCUE}")
            died = np.full(len(places), ALIVE, np.int64)
            died[dead] = 0
            found.append(Segment(compiled, places, died, number))
        self._know(found)
        return sorted(found, key=len, reverse=True)

    def _compiled(self, number: int) -> CompiledSet:
        file = segment_file(self.path, number)
        try:
            if self._moment < 0:  # what another process has written since is as it left it
                for damage in ImageFile.open(file).damage():
                    raise StoreError(f"{self.path} is damaged: segment {number}: {damage}; {RESCUE}")
            return CompiledSet.read(file, default_units(), is_kept=True)
        except FileNotFoundError:
            raise _GoneError(file.name) from None
        except (ImageError, OSError) as error:
            raise StoreError(f"segment {number} of {self.path} cannot be read: {error}; {RESCUE}") from None

    # What this process changes

    @contextmanager
    def changing(self, living: LivingSet) -> Iterator[None]:
        """See `Keeper`."""
        kept: tuple[int, int] | None = None
        try:
            with self.environment.writing() as transaction:
                self._read_changes(living, transaction)
                kept = self._moment, self._merges
                self._transaction, seen = transaction, transaction.id()
                try:
                    yield
                finally:
                    self._transaction = None
        except BaseException:
            if (self._moment, self._merges) != kept:  # what was to be kept is not
                self.lost_track()
            raise
        self._seen = seen if (self._moment, self._merges) != kept else seen - 1  # with nothing to keep, none was made
        if self._has_merged:
            self._has_merged = False
            self._remove_files()

    def keep_change(self, moment: int, gone: Sequence[str], come: Sequence[tuple[int, Prepared]]) -> None:
        """See `Keeper`."""
        transaction = self._transaction
        stored = tuple([stored_of(place, one.statement) for place, one in come])
        facts = self._facts(transaction)
        place = max([facts["place"], *(place + 1 for place, _ in come)])
        transaction.put(key_of(moment), bytes_of(Change(tuple(gone), stored)), db=self.environment.log)
        self._put_facts(transaction, {**facts, "moment": moment, "place": place})
        self._moment = moment

    @contextmanager
    def merging(self, *, wait: bool = False) -> Iterator[bool]:
        """See `Keeper`: a lock on a file, which the system frees should the process die."""
        with told(self.path), (self.path / "merge.lock").open("wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            yield True

    @contextmanager
    def new_segment(self) -> Iterator[tuple[int, Path | None]]:
        """See `Keeper`."""
        with self.environment.writing() as transaction:
            facts = self._facts(transaction)
            number: int = facts["segment"]
            self._put_facts(transaction, {**facts, "segment": number + 1})
        with told(self.path):
            yield number, segment_file(self.path, number)

    def keep_merge(self, segments: Sequence[Segment], merged_until: int, appended: Iterable[str] = ()) -> None:
        """See `Keeper`."""
        transaction, environment = self._transaction, self.environment
        kept = {segment.number: segment for segment in segments if segment.number is not None}
        transaction.drop(environment.segments, delete=False)
        for number, segment in kept.items():
            transaction.put(key_of(number), bytes_of_arrays(segment), db=environment.segments)
        cursor = transaction.cursor(db=environment.log)
        there = cursor.first()
        while there and number_of(cursor.key()) <= merged_until:
            there = cursor.delete()
        self._forget(set(appended))
        facts = self._facts(transaction)
        self._merges = facts["merges"] + 1
        place = max([facts["place"], *(segment.last + 1 for segment in kept.values())])
        merged = max(facts["merged"], merged_until)
        self._put_facts(transaction, {**facts, "merges": self._merges, "merged": merged, "place": place})
        self._know(kept.values())
        self._has_merged = True

    def _forget(self, ids: set[str]) -> None:
        """Takes ids out of the changes of the log."""
        if not ids:
            return
        changed: dict[Any, Change] = {}
        for key, value in self._transaction.cursor(db=self.environment.log):
            change = self._change(number_of(key), value)
            if not (ids.isdisjoint(change.gone) and ids.isdisjoint([one.id for one in change.come])):
                gone = tuple([one for one in change.gone if one not in ids])
                come = tuple([one for one in change.come if one.id not in ids])
                changed[bytes(key)] = Change(gone, come)
        for key, change in changed.items():
            self._transaction.put(key, bytes_of(change), db=self.environment.log)

    def _know(self, segments: Iterable[Segment]) -> None:
        self._known = {segment.number: segment.compiled for segment in segments if segment.number is not None}

    def _remove_files(self) -> None:
        """Files that the last commit does not name, and that no other process is about to have named: there is one that
        merges. Whoever has mapped one goes on with it; who opens the commit before begins again."""
        with self.environment.reading() as committed:
            named = {number_of(key) for key, _ in committed.cursor(db=self.environment.segments)}
        for file in (self.path / "segments").iterdir():
            if not file.stem.isdigit() or int(file.stem) not in named:
                with suppress(OSError):
                    file.unlink()

    def _put_facts(self, transaction: Any, facts: dict[str, Any]) -> None:
        transaction.put(b"facts", sealed(json.dumps(facts).encode()), db=self.environment.meta)

    def lost_track(self) -> None:
        """See `Keeper`."""
        self._merges = self._moment = self._seen = -1

    def close(self) -> None:
        """Writes all through, and closes; once."""
        if self._is_open:
            self._is_open = False
            self.environment.close()


def open_store(path: str | os.PathLike[str], sync: str, schema: Schema | None, options: Options | None) -> Store:
    """The store of a folder, which is made where it is not there.

    Raises:
        StoreError: it is no store, damaged, of another format, or cannot be written to.
        ValueError: it has another schema, or other options, than those given.
    """
    folder = Path(path)
    environment = opened(folder, sync)
    try:
        facts = _facts_at_first(folder, environment, schema, options)
        own_schema = None if facts["schema"] is None else schema_of(facts["schema"])
        own_options = options_of(facts["options"])
        if schema is not None and schema != own_schema:
            raise ValueError(f"{folder} was made with another schema; open it without one, or make another store")
        if options is not None and options_text(options) != options_text(own_options):
            raise ValueError(f"{folder} was made with other options; open it without any, or make another store")
        return Store(environment, facts, own_schema, own_options)
    except BaseException:
        environment.close()
        raise


def _facts_at_first(
    folder: Path, environment: Environment, schema: Schema | None, options: Options | None
) -> dict[str, Any]:
    """What a store says of itself; of a new one, which says it then, what is given."""
    with environment.writing() as transaction:
        found = transaction.get(b"facts", db=environment.meta)
        if found is not None:
            return _migrated(folder, facts_of(folder, found), transaction, environment)
        databases = (environment.meta, environment.segments, environment.log, environment.documents)
        if any(transaction.stat(one)["entries"] for one in databases):
            raise StoreError(f"{folder} is damaged: what it says of itself is not there; {RESCUE}")
        facts: dict[str, Any] = {
            "format": FORMAT, "schema": None if schema is None else dumps(schema),
            "options": options_text(options or Options()), "moment": 0,
            "merged": 0, "merges": 0, "place": 0, "segment": 1,
        }  # fmt: skip
        for made in (folder, *folder.resolve().parents):  # a change is on disk only where the folders' names are
            sync_folder(made)
        transaction.put(b"facts", sealed(json.dumps(facts).encode()), db=environment.meta)
        return facts


def facts_of(path: Path, data: Any) -> dict[str, Any]:
    """What a store says of itself.

    Raises:
        StoreError: that cannot be read.
    """
    try:
        facts: dict[str, Any] = json.loads(unsealed(bytes(data or b"")))
        return facts
    except ValueError as error:
        raise StoreError(f"{path} is damaged: what it says of itself cannot be read ({error}); {RESCUE}") from None


def segment_file(path: Path, number: int) -> Path:
    """Where a segment's image is."""
    return path / "segments" / f"{number}.image"


def bytes_of_arrays(segment: Segment) -> bytes:
    """The places of a segment's profiles, and the ordinals of those that are dead."""
    dead = np.flatnonzero(segment.died != ALIVE).astype(np.int32)
    return sealed(len(segment.places).to_bytes(8, "little") + segment.places.tobytes() + dead.tobytes())


def arrays_of(path: Path, number: int, data: Any) -> tuple[Any, Any]:
    """What `bytes_of_arrays` wrote.

    Raises:
        StoreError: it is not that.
    """
    try:
        payload = unsealed(bytes(data))
    except ValueError as error:
        raise StoreError(f"{path} is damaged: the places of segment {number}: {error}; {RESCUE}") from None
    n = int.from_bytes(payload[:8], "little")
    return np.frombuffer(payload, np.int64, n, 8), np.frombuffer(payload, np.int32, -1, 8 + 8 * n)


def _migrated(path: Path, facts: dict[str, Any], transaction: Any, environment: Environment) -> dict[str, Any]:
    """The facts of a store of this format, to which one of an earlier format is brought."""
    if facts["format"] > FORMAT:
        raise StoreError(f"{path} is of format {facts['format']}, and this profilec reads up to {FORMAT}: upgrade it")
    while facts["format"] < FORMAT:
        facts = _MIGRATIONS[facts["format"]](facts, transaction, environment)
        transaction.put(b"facts", sealed(json.dumps(facts).encode()), db=environment.meta)
    return facts
