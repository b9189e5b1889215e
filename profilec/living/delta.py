"""The delta: profiles inserted since the last merge, in a dynamic BE-Tree over keys.

In: profiles one by one, documents one by one. Out: the records of the profiles that a document matches.

A profile is as many entries of the tree as it has conjunctions; the first FEW of a delta are looked at one by one,
since the tree's kernels take longer to load. What the tree finds and does not decide is decided by the profile's
condition, which is compiled when that happens first.

Profiles with quantified expressions wait: they are compiled to a segment, all that came since the last match together,
before the next document is matched (`LivingSet`).

Invariant: whoever matches sees the records that were born by the moment he asks for, and had not died by then. A record
that died stays in the tree while somebody may still see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.compilation import parsed_again
from profilec.grammar.limits import Limits
from profilec.grammar.statements import ProfileStatement
from profilec.living.axes import Axes
from profilec.living.conjunctions import Form, Lowering, Test
from profilec.runtime.program import Program, run
from profilec.values.kinds import DocumentError, expect_mapping
from profilec.values.locks import new_lock
from profilec.values.types import Schema

if TYPE_CHECKING:
    from profilec.runtime.matchers.dynamic_betree import DynamicBETree

FEW = 64
"""Entries of a delta without a tree."""
UNTIL_ADJUSTED = 10_000
"""Documents between two looks at the tree; twice as many as there are records, where that is more."""
ALIVE = 2**63 - 1
"""When what is alive dies."""


def _nothing_more() -> list[Any]:
    return [{}, (), None, 1, 1, 0, None]


_NOTHING_MORE = _nothing_more()


class Record:
    """A profile of the delta. `place`: where it stands in the set; `born` and `died`: by the change that did it.

    PERF: one object, of strings and numbers: what Python's collector finds here it walks through again and again. So
    the condition is let go, and `more`, which is all else that a statement has, is None where that is nothing.
    """

    __slots__ = (
        "born",
        "died",
        "entries",
        "id",
        "is_decided",
        "is_exact",
        "more",
        "number",
        "place",
        "program",
        "where",
    )

    def __init__(self, statement: ProfileStatement, place: int, born: int) -> None:
        self.id, self.where, _, *more = statement
        self.more: list[Any] | None = None if more == _NOTHING_MORE else more
        self.place = place
        self.number = -1
        self.born = born
        self.died = ALIVE
        self.entries: tuple[int, ...] = ()
        self.is_exact = True
        self.is_decided = True
        """Whether it matches where the tree finds it, and is found but once."""
        self.program: Program | None = None

    @property
    def statement(self) -> ProfileStatement:
        """The profile; its condition is to be parsed again."""
        return ProfileStatement(self.id, self.where, None, *(self.more or _nothing_more()))

    def is_seen(self, moment: int) -> bool:
        """Whether it was there at that moment."""
        return self.born <= moment < self.died


class Matched(NamedTuple):
    """What documents match: the number of the document, the place of the profile, and its record's place in
    `Delta.all`, each time."""

    owner: NDArray[np.int64]
    places: NDArray[np.int64]
    numbers: NDArray[np.int64]


def _matched(owner: list[int], records: list[Record]) -> Matched:
    columns = (owner, [record.place for record in records], [record.number for record in records])
    return Matched(*(np.array(column, np.int64) for column in columns))


PLACE, NUMBER, BORN, DIED, IS_DECIDED = range(5)
"""What a row of an entry says of its record. PERF: what many documents find is looked at by column; a row is a line of
the cache."""


def _with_room(rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """The rows, with more for at least n entries."""
    if n <= len(rows):
        return rows
    longer = np.zeros((max(n, 2 * len(rows)), rows.shape[1]), np.int64)
    longer[: len(rows)] = rows
    return longer


class Delta:
    """Records, and the tree that finds them. One writer at a time; any number of readers."""

    def __init__(self, schema: Schema | None, limits: Limits) -> None:
        self._schema, self._limits = schema, limits
        self._axes = Axes()
        self._lowering = Lowering(self._axes, schema)
        self._tree: DynamicBETree | None = None
        self._tests_of: dict[int, list[Test]] = {}
        """By entry, while there is no tree."""
        self._record_of: list[Record | None] = []
        """By entry of the tree."""
        self._of_entry = np.zeros((1_024, IS_DECIDED + 1), np.int64)
        self._free: list[int] = []
        self._lock = new_lock()
        self._room = np.zeros(1_024, np.int32)
        self._axes_before: tuple[list[int], NDArray[np.int32]] = [], np.zeros(0, np.int32)
        self.records: dict[str, Record] = {}
        """By id, those alive."""
        self.all: list[Record] = []
        """In the order in which they came, those that died too."""
        self._n_matched = 0
        self.n_undecided = 0
        """Entries that every document finds."""

    def __len__(self) -> int:
        return len(self.records)

    def objects(self) -> list[list[Any] | dict[Any, Any]]:
        """What has an object of Python's for each record."""
        return [self._record_of, self.records, self.all]

    def add(self, records: Sequence[Record], forms: Sequence[Form]) -> None:
        """Takes records without quantified expressions; each is seen from the moment at which it was born."""
        lowered = [self._lowering.lowered(form) for form in forms]
        with self._lock:
            # First: whoever undoes what was interrupted says that these entries died.
            n_new = sum(len(own.conjunctions) for own in lowered)
            self._of_entry = _with_room(self._of_entry, len(self._record_of) + n_new)
            if len(self._room) < len(self._of_entry):
                self._room = np.zeros(len(self._of_entry), np.int32)
            entries: list[int] = []
            conjunctions: list[list[Test]] = []
            for number, (record, own) in enumerate(zip(records, lowered, strict=True), len(self.all)):
                record.number = number
                record.is_exact = own.is_exact
                record.entries = tuple([self._new_entry(record) for _ in own.conjunctions])
                record.is_decided = own.is_exact and len(record.entries) == 1
                entries += record.entries
                conjunctions += own.conjunctions
            self._describe(records)
            self.n_undecided += conjunctions.count([])
            self._file(entries, conjunctions)
        self.records.update({record.id: record for record in records})
        self.all += records

    def _new_entry(self, record: Record) -> int:
        if self._free:
            entry = self._free.pop()
            self._record_of[entry] = record
            return entry
        self._record_of.append(record)
        return len(self._record_of) - 1

    def _describe(self, records: Sequence[Record]) -> None:
        """Writes down what the entries of some records are of."""
        entries = [entry for record in records for entry in record.entries]
        if entries:
            self._of_entry[entries] = [
                (record.place, record.number, record.born, ALIVE, record.is_decided)
                for record in records
                for _ in record.entries
            ]

    def _file(self, entries: list[int], conjunctions: list[list[Test]]) -> None:
        """Entries, each with its tests, for documents to find."""
        if self._tree is None:
            self._tests_of.update(zip(entries, conjunctions, strict=True))
            if len(self._tests_of) <= FEW:
                return
            from profilec.runtime.matchers.dynamic_betree import DynamicBETree

            self._tree = DynamicBETree()
            entries, conjunctions = list(self._tests_of), list(self._tests_of.values())
            self._tests_of = {}
        self._tree.insert_many(np.array(entries, np.int32), *_arrays(conjunctions))

    def kill(self, record: Record, moment: int) -> None:
        """The record is not seen from this moment on."""
        self._end(record, moment)
        if self.records.get(record.id) is record:
            del self.records[record.id]

    def revive(self, record: Record) -> None:
        """It did not die, after all: nobody has seen that it did."""
        self._end(record, ALIVE)
        self.records[record.id] = record

    def _end(self, record: Record, moment: int) -> None:
        record.died = moment
        for entry in record.entries:
            self._of_entry[entry, DIED] = moment

    def bury(self, records: list[Record]) -> None:
        """Takes dead records out of the tree. Nobody may see them any more."""
        with self._lock:
            for record in records:
                for entry in record.entries:
                    if self._tree is None:
                        del self._tests_of[entry]
                    else:
                        self._tree.delete(entry)
                    self._record_of[entry] = None
                    self._free.append(entry)
                record.entries = ()

    def match(self, document: Mapping[str, Any], moment: int) -> list[Record]:
        """The records that a document matches, of those seen at a moment, in no order.

        Raises:
            DocumentError: it is no mapping, or an attribute that profiles ask for holds a value of no kind.
        """
        if not self.all:
            return []
        axes, keys, is_exact = self._axes.keyed(document)
        if not is_exact:
            return self._all_that_hold(document, moment)
        with self._lock:
            found = [self._record_of[entry] for entry in self._entries(axes, keys)]
        return self._decided(found, document, moment)

    def match_batch(self, documents: Sequence[Mapping[str, Any]], moment: int) -> Matched:
        """The same of many documents. What is wrong with one names it."""
        if not self.all:
            return _matched([], [])
        try:
            return self._matched_together(documents, moment)
        except DocumentError:
            for number, document in enumerate(documents):
                try:
                    expect_mapping(document)
                    self.match(document, moment)
                except DocumentError as error:
                    raise DocumentError(f"document {number}: {error}") from None
            raise

    def _matched_together(self, documents: Sequence[Mapping[str, Any]], moment: int) -> Matched:
        if self._tree is None:
            for document in documents:
                expect_mapping(document)
            each = [self.match(document, moment) for document in documents]
            return _matched([number for number, own in enumerate(each) for _ in own], list(chain.from_iterable(each)))
        keyed = self._axes.keyed_batch(documents)
        with self._lock:
            self._look_again(len(documents))
            owner, entries = self._tree.match_batch(keyed.off, keyed.axes, keyed.keys)
            rows = self._of_entry.take(entries, axis=0)
            is_seen = (rows[:, BORN] <= moment) & (rows[:, DIED] > moment) & keyed.is_exact[owner]
            is_decided = is_seen & (rows[:, IS_DECIDED] > 0)
            is_open = np.flatnonzero(is_seen & ~is_decided)
            is_open = is_open[np.argsort(owner[is_open])]
            record_of = self._record_of
            undecided = [record_of[entry] for entry in entries[is_open].tolist()]
        found_owner, found = self._decided_each(owner[is_open].tolist(), undecided, documents, moment)
        for number in np.flatnonzero(~keyed.is_exact).tolist():
            own = self._all_that_hold(documents[number], moment)
            found_owner += [number] * len(own)
            found += own
        decided = Matched(owner[is_decided], rows[is_decided, PLACE], rows[is_decided, NUMBER])
        if not found:
            return decided
        return Matched(*map(np.concatenate, zip(decided, _matched(found_owner, found), strict=True)))

    def _decided_each(
        self, owner: list[int], found: list[Record | None], documents: Sequence[Mapping[str, Any]], moment: int
    ) -> tuple[list[int], list[Record]]:
        """As `_decided`, of documents each; their numbers ascend."""
        owners: list[int] = []
        records: list[Record] = []
        for number, own in groupby(zip(owner, found, strict=True), key=itemgetter(0)):
            matched = self._decided([record for _, record in own], documents[number], moment)
            owners += [number] * len(matched)
            records += matched
        return owners, records

    def _decided(self, found: list[Record | None], document: Mapping[str, Any], moment: int) -> list[Record]:
        """Of the records that the tree found, those seen at a moment that hold, each once."""
        matched = []
        known: set[int] = set()
        for record in found:
            if record is None or not record.born <= moment < record.died:
                continue
            if not record.is_decided:
                if len(record.entries) != 1:  # several conjunctions may hold
                    if id(record) in known:
                        continue
                    known.add(id(record))
                if not record.is_exact and not self._holds(record, document):
                    continue
            matched.append(record)
        return matched

    def _all_that_hold(self, document: Mapping[str, Any], moment: int) -> list[Record]:
        """Of all records: where keys do not tell a document's values."""
        return [one for one in list(self.all) if one.is_seen(moment) and self._holds(one, document)]

    def _entries(self, axes: list[int], keys: list[int]) -> list[int]:
        """The entries all of whose tests hold."""
        if self._tree is None:
            key_on = dict(zip(axes, keys, strict=True))
            return [entry for entry, tests in self._tests_of.items() if all(_holds(test, key_on) for test in tests)]
        self._look_again(1)
        if axes != self._axes_before[0]:  # PERF: documents of one shape follow one another
            self._axes_before = axes, np.array(axes, np.int32)
        n = self._tree.match(self._axes_before[1], np.array(keys, np.int64), self._room)
        found: list[int] = self._room[:n].tolist()
        return found

    def _look_again(self, n_documents: int) -> None:
        """Now and then entries are placed anew, as the documents since the last time tell."""
        assert self._tree is not None
        if not self._n_matched:
            self._tree.prepare()
        self._n_matched += n_documents
        if self._n_matched >= UNTIL_ADJUSTED and self._n_matched >= 2 * len(self.all):
            self._n_matched = 0
            self._tree.adjust()

    def _holds(self, record: Record, document: Mapping[str, Any]) -> bool:
        if record.program is None:
            condition = parsed_again(record.statement, self._schema, self._limits)
            record.program = self._lowering.programs.program(condition)
        return run(record.program, document) is True


def _holds(test: Test, key_on: dict[int, int]) -> bool:
    axis, intervals = test
    key = key_on.get(axis)
    return key is not None and any(low <= key <= high for low, high in intervals)


def _arrays(conjunctions: list[list[Test]]) -> tuple[Any, ...]:
    """Conjunctions as the tree takes them: where each one's tests begin, their axes, where their intervals begin, and
    these."""
    test_off, axes, off = [0], [], [0]
    lows: list[int] = []
    highs: list[int] = []
    for tests in conjunctions:
        for axis, intervals in tests:
            axes.append(axis)
            for low, high in intervals:
                lows.append(low)
                highs.append(high)
            off.append(len(lows))
        test_off.append(len(axes))
    lists = ((test_off, np.int32), (axes, np.int32), (off, np.int32), (lows, np.int64), (highs, np.int64))
    return tuple(np.array(values, type_) for values, type_ in lists)
