"""A living set: segments and deltas as one set of profiles, in versions.

In: profiles to insert, replace and delete; documents. Out: the ids that a document matches, in the set's order.

    segment 0      1,000,000 profiles   places 0 .. 999,999      some died
    segment 1      20,000               places above, and those of replaced ones
    delta          what came since

A profile has a place, which orders the set: a replaced one keeps that of the one before, and what is inserted goes
last. A change has a moment, the next number. Who matches takes one `State` and asks everything for its moment, so that
he sees one version from start to end, whatever comes meanwhile; nobody waits for him, and he waits for nobody but the
delta's tree.

What is merged is copied aside, and swapped in by one assignment (`merging.py`). Who still reads the old state goes on
with the old segments, in which everything stays that was there.

Invariant: of an id at most one profile is alive. What `State` names is never changed, but for what is born or dies
after its moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from profilec.compilation import How
from profilec.compiled_set import compile_segment
from profilec.grammar.statements import ProfileStatement
from profilec.living.conjunctions import Form
from profilec.living.delta import ALIVE, Delta, Record
from profilec.living.segment import Int32, Int64, Segment
from profilec.runtime.columns import n_rows_of, rows_of
from profilec.runtime.imagefile.columns import Strings
from profilec.runtime.rows import Rows
from profilec.runtime.sort_kernels import sorted_order
from profilec.runtime.store.documents import DocumentStore
from profilec.values.kinds import expect_mapping
from profilec.values.locks import new_lock

MOST_IN_DELTA = 32_768
"""Profiles of a delta, from which on it is made a segment."""
MOST_UNDECIDED = 256
"""Entries of a delta that every document finds, from which on it is."""


class Prepared(NamedTuple):
    """A profile that is going to be taken: nothing can be wrong with it any more."""

    statement: ProfileStatement
    form: Form
    has_joins: bool


class State(NamedTuple):
    """All that a reader sees. `deltas`: those that are being made segments, then the one that takes what is inserted.
    `waiting`: records that no delta takes, to be compiled before the next document."""

    segments: tuple[Segment, ...]
    deltas: tuple[Delta, ...]
    waiting: tuple[Record, ...]
    moment: int


class Keeper:
    """Where changes are kept. This one keeps none; `profilec.store` has one that does."""

    @contextmanager
    def changing(self, living: LivingSet) -> Iterator[None]:
        """Within, the caller is the only one who changes the set, in all processes, and the set is up to date; what he
        keeps is kept when it ends well. The caller holds `living.writing`."""
        yield

    def keep_change(self, moment: int, gone: Sequence[str], come: Sequence[tuple[int, Prepared]]) -> None:
        """Keeps a change; within `changing`."""

    @contextmanager
    def merging(self, *, wait: bool = False) -> Iterator[bool]:
        """Within, the caller is the only one who merges; False where another process does, unless he waits for it."""
        yield True

    @contextmanager
    def new_segment(self) -> Iterator[tuple[int, Path | None]]:
        """The number of a segment that is not of the set yet, and where its image is to be written, within; None for
        nowhere."""
        yield 0, None

    def keep_merge(self, segments: Sequence[Segment], merged_until: int, appended: Iterable[str] = ()) -> None:
        """Keeps which segments there are, of those that have a number, and no changes up to a moment: these are in
        them. Nor does a change that stays tell of ids `appended`, which a segment brings: those that had them are dead,
        and who goes through the changes again would end the new ones. Within `changing`."""

    def lost_track(self) -> None:
        """A change that was kept may not be in the set in memory: the next look begins from what is kept."""

    def close(self) -> None:
        """Ends keeping."""

    def catch_up(self, living: LivingSet) -> None:
        """Brings the set up to date with what other processes changed."""


class LivingSet:
    """See the module. `documents` are those that joins range over."""

    def __init__(
        self, segments: Sequence[Segment], how: How, documents: DocumentStore, keeper: Keeper | None = None
    ) -> None:
        self.how = how
        self.keeper = Keeper() if keeper is None else keeper
        self._documents = documents
        self.writing = new_lock()
        """Held by whoever changes the set."""
        self.merging = new_lock()
        """Held by whoever merges."""
        self._reading = new_lock()
        self._n_reading = 0
        self.begin(segments, moment=0, next_place=0)

    def begin(self, segments: Sequence[Segment], moment: int, next_place: int) -> None:
        """These segments and nothing else, as of a moment. `next_place`: at least the one behind all places."""
        self._to_bury: list[tuple[Delta, Record]] = []
        self._next_place = max([next_place, *(one.last + 1 for one in segments)])
        self.state = State(tuple(segments), (self.new_delta(),), (), moment)

    def new_delta(self) -> Delta:
        """An empty one."""
        return Delta(self.how.schema, self.how.options.limits)

    # Changes: the caller holds `writing`, and has seen that the ids fit.

    def known_places(self, prepared: Sequence[Prepared]) -> list[int | None]:
        """The places of what has the ids of some profiles now; None where nothing has."""
        ids = [one.statement.id for one in prepared]
        state = self.state
        known: list[int | None] = [None] * len(ids)
        loose = [delta.records for delta in state.deltas]
        if state.waiting:
            loose.append({one.id: one for one in state.waiting if one.is_seen(state.moment + 1)})
        for records in loose:
            if not records.keys().isdisjoint(ids):
                known = [records[id].place if id in records else place for id, place in zip(ids, known, strict=True)]
        for segment in state.segments:
            for number, ordinal in segment.find_many(ids):
                known[number] = int(segment.places[ordinal])
        return known

    def new_places(self, known: Sequence[int | None]) -> list[int]:
        """The places that profiles are going to have: those of what they replace, or the next ones."""
        after = count(self._next_place)
        return [next(after) if place is None else place for place in known]

    def change(self, gone: Iterable[str], come: Iterable[tuple[int, Prepared]]) -> None:
        """Ids that go, all alive; then profiles that come, whose ids are free then, with their places. Seen as one."""
        moment = self.state.moment + 1
        killed: list[tuple[Any, Any]] = []
        plain: list[Record] = []
        forms: list[Form] = []
        arrived: list[Record] = []
        try:
            for id in gone:
                self._kill(id, moment, killed)
            for place, prepared in come:
                record = Record(prepared.statement, place, moment)
                self._next_place = max(self._next_place, place + 1)
                if prepared.has_joins:
                    arrived.append(record)
                else:
                    plain.append(record)
                    forms.append(prepared.form)
            if plain:
                self.state.deltas[-1].add(plain, forms)
            state = self.state
            self.state = state._replace(moment=moment, waiting=(*state.waiting, *arrived) if arrived else state.waiting)
        except BaseException:  # an interrupt may come anywhere: what is done so far is undone
            if self.state.moment < moment:
                self._undo(killed, plain)
            self.keeper.lost_track()
            raise
        self._to_bury += [(where, one) for where, one in killed if isinstance(where, Delta)]
        self._bury()

    def append(self, segment: Segment) -> None:
        """Profiles that come as a segment. The caller holds `writing`."""
        self._next_place = max(self._next_place, segment.last + 1)
        self.state = self.state._replace(segments=(*self.state.segments, segment))

    def _undo(self, killed: list[tuple[Any, Any]], come: list[Record]) -> None:
        for record in come:
            self.state.deltas[-1].kill(record, record.born)
        for where, one in killed:
            if where is None:
                one.died = ALIVE
            else:
                where.revive(one)

    def _kill(self, id: str, moment: int, killed: list[tuple[Any, Any]]) -> None:
        """Ends what is alive under an id, and says what that was."""
        found = self._find(id)
        if found is None:
            raise KeyError(id)
        killed.append(found)
        where, one = found
        if where is None:
            one.died = moment
        else:
            where.kill(one, moment)

    def _bury(self) -> None:
        """What died leaves the trees, where nobody can see it any more."""
        if len(self._to_bury) < 64:
            return
        with self._reading:
            if self._n_reading:
                return
            dead, self._to_bury = self._to_bury, []
            for delta in {id(delta): delta for delta, _ in dead}.values():
                delta.bury([record for of, record in dead if of is delta])

    def retire(self, deltas: Sequence[Delta]) -> None:
        """These are not of the set any more: what died in them is of no account. The caller holds `writing`."""
        with self._reading:
            self._to_bury = [one for one in self._to_bury if one[0] not in deltas]

    # Reading

    @contextmanager
    def _seen(self) -> Iterator[State]:
        """The state that one reader sees."""
        self.keeper.catch_up(self)
        with self._reading:
            self._n_reading += 1
            state = self.state
        try:
            yield self._without_waiting() if state.waiting else state
        finally:
            with self._reading:
                self._n_reading -= 1

    def _without_waiting(self) -> State:
        """Compiles what waits, for this reader and all to come."""
        with self.writing:
            if self.state.waiting:
                self.compile_waiting()
            return self.state

    def compile_waiting(self) -> None:
        """What waits becomes a segment. The caller holds `writing`."""
        state = self.state
        alive = sorted([one for one in state.waiting if one.is_seen(state.moment)], key=lambda one: one.place)
        segments = state.segments
        if alive:
            compiled = compile_segment([one.statement for one in alive], self.how)
            places = np.array([one.place for one in alive], np.int64)
            segments = (*segments, Segment(compiled, places, number=None))
        self.state = state._replace(segments=segments, waiting=())

    def match(self, document: Mapping[str, Any]) -> list[str]:
        """The ids that a document matches, in the set's order.

        Raises:
            DocumentError: it is no mapping, or an attribute that profiles ask for holds a value of no kind.
        """
        expect_mapping(document)
        ids: list[str] = []
        parts: list[tuple[Segment | None, Any]] = []
        last, are_in_order = -1, True
        with self._seen() as state:
            for segment in state.segments:
                ordinals = segment.match(document, self._documents, state.moment)
                if len(ordinals):
                    ids += segment.compiled.ids.take(ordinals)
                    parts.append((segment, ordinals))
                    are_in_order &= last < segment.first
                    last = segment.last
            for delta in state.deltas:
                records = delta.match(document, state.moment)
                if records:
                    records.sort(key=_place)
                    ids += [record.id for record in records]
                    parts.append((None, records))
                    are_in_order &= last < records[0].place
                    last = records[-1].place
        if are_in_order:  # PERF: what is inserted goes last, and then places are not looked at
            return ids
        places = [list(map(_place, own)) if segment is None else segment.places[own] for segment, own in parts]
        order = np.argsort(np.concatenate(places), kind="stable")
        return [ids[at] for at in order.tolist()]

    def match_batch(self, documents: Any, threads: int) -> tuple[Int64, Int32, Sequence[str]]:
        """The same of many: CSR of numbers into some ids, those of a document in the set's order."""
        found: list[_Found] = []
        ids = _Ids()
        is_table = n_rows_of(documents) is not None
        if not is_table:
            documents = Rows(documents)
        with self._seen() as state:
            for segment in state.segments:
                offsets, ordinals = segment.match_batch(documents, self._documents, threads, state.moment)
                numbers = ids.add(segment.compiled.ids, ordinals)
                found.append(_Found(offsets, numbers, segment.places, ordinals, (segment.first, segment.last)))
            of_deltas = [delta for delta in state.deltas if delta.all]
            rows = Rows(rows_of(documents)) if is_table and of_deltas else documents
            for delta in of_deltas:
                owner, places, records = delta.match_batch(rows, state.moment)
                order = _order(owner, places)
                offsets = np.zeros(len(documents) + 1, np.int64)
                np.cumsum(np.bincount(owner, minlength=len(documents)), out=offsets[1:])
                numbers = ids.add(_IdsOfRecords(delta.all), records[order].astype(np.int32))
                bounds = int(places.min(initial=_LAST)), int(places.max(initial=-1))
                found.append(_Found(offsets, numbers, places, order, bounds))
        offsets, numbers = _together(found, len(documents))
        return offsets, numbers, ids.only()

    # What is in the set

    def __len__(self) -> int:
        state = self.state
        of_records = sum(map(len, state.deltas)) + len([one for one in state.waiting if one.is_seen(state.moment)])
        return sum(map(len, state.segments)) + of_records

    def find(self, id: str) -> ProfileStatement | None:
        """The profile of an id."""
        found = self._find(id)
        if found is None:
            return None
        where, one = found
        return where.compiled.statement(one) if isinstance(where, Segment) else one.statement

    def contains(self, id: str) -> bool:
        """Whether an id is there."""
        return self._find(id) is not None

    def _find(self, id: str) -> tuple[Any, Any] | None:
        """Where an id is alive: a segment and an ordinal, a delta and a record, or None and a record that waits."""
        state = self.state
        for delta in state.deltas:
            record = delta.records.get(id)
            if record is not None:
                return delta, record
        for record in state.waiting:
            if record.id == id and record.is_seen(state.moment + 1):
                return None, record
        for segment in reversed(state.segments):
            ordinal = segment.find(id)
            if ordinal is not None:
                return segment, ordinal
        return None

    def ids(self) -> list[str]:
        """All ids, in the set's order."""
        return [statement_id for _, statement_id in self._placed(self.state)]

    def _placed(self, state: State) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        for segment in state.segments:
            alive = segment.alive(state.moment)
            found += zip(segment.places[alive].tolist(), segment.compiled.ids.take(alive), strict=True)
        for records in (*(delta.all for delta in state.deltas), state.waiting):
            found += [(one.place, one.id) for one in list(records) if one.is_seen(state.moment)]
        return sorted(found)


_NONE = np.zeros(0, np.int64)
_LAST = 2**63 - 1
_place = attrgetter("place")


class _Found(NamedTuple):
    """What a part of a set found. CSR: of each document the numbers of the ids that it matches, by place, ascending;
    number i has place `places[at[i]]`. `bounds`: no place is below or above these."""

    offsets: Int64
    numbers: Int32
    places: Int64
    at: Int64 | Int32
    bounds: tuple[int, int]


def _together(found: list[_Found], n_documents: int) -> tuple[Int64, Int32]:
    """What the parts found, in the set's order."""
    found = [one for one in found if len(one.numbers)]
    if not found:
        return np.zeros(n_documents + 1, np.int64), np.zeros(0, np.int32)
    offsets, numbers, places, at, _ = found[0]
    # PERF: what is inserted goes last, and then no places are looked at.
    are_in_order = all(before.bounds[1] < behind.bounds[0] for before, behind in pairwise(found))
    places = _NONE if are_in_order else places[at]
    for other in found[1:]:
        if are_in_order:
            at = np.repeat(offsets[1:], np.diff(other.offsets))
        else:
            more = other.places[other.at]
            keys = _keys(_owners(offsets), places, more)
            at = np.searchsorted(keys, _keys(_owners(other.offsets), more, places))
            places = np.insert(places, at, more)
        numbers = np.insert(numbers, at, other.numbers)
        offsets = offsets + other.offsets
    return offsets, numbers


def _owners(offsets: Int64) -> Int64:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _keys(owner: Int64, places: Int64, others: Int64) -> Int64:
    """One key of owner and place; the places are below 2**40, and documents are fewer than 2**22 at a time."""
    return owner * (1 + max(int(places.max()), int(others.max()))) + places


def _order(owner: Int64, places: Int64) -> Int32:
    """The order by owner, then by place."""
    return sorted_order(owner, sorted_order(places - places.min(initial=_LAST)))


class _Ids(Sequence[str]):
    """Sequences of ids, one behind the other."""

    def __init__(self) -> None:
        self._parts: list[Strings | _IdsOfRecords] = []
        self._starts: list[int] = []
        self._n = 0

    def add(self, ids: Strings | _IdsOfRecords, numbers: Int32) -> Int32:
        """Appends a sequence; returns what numbers into it are now."""
        start = self._n
        self._parts.append(ids)
        self._starts.append(start)
        self._n += len(ids)
        return numbers + np.int32(start) if start else numbers

    def only(self) -> Sequence[str]:
        """The sequence that was appended; these, where there are none or several."""
        return self._parts[0] if len(self._parts) == 1 else self

    def take(self, numbers: Int64) -> list[str]:
        """Those at some places."""
        part = np.searchsorted(self._starts, numbers, "right") - 1
        taken = np.empty(len(numbers), object)
        for number in np.unique(part).tolist():
            own = part == number
            taken[own] = self._parts[number].take(numbers[own] - self._starts[number])
        ids: list[str] = taken.tolist()
        return ids

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(self._n))]
        if not -self._n <= number < self._n:
            raise IndexError(number)
        number %= self._n
        part = int(np.searchsorted(self._starts, number, "right")) - 1
        return self._parts[part][number - self._starts[part]]


class _IdsOfRecords(Sequence[str]):
    """The ids of records, of which more may come. PERF: those that nobody asks for are not looked up."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records
        self._n = len(records)

    def take(self, numbers: Int64) -> list[str]:
        """Those at some places."""
        return [self._records[number].id for number in numbers.tolist()]

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, number: Any) -> Any:
        return self._records[number].id
