"""Documents to ranks: one integer per slot.

In: an image, and a document or a batch of them (list of dicts, Arrow table or record batch,
pandas frame). Out: `int32[n_slots]`, or `int32[n_documents, n_slots]` in chunks, with what is
needed to decide the rest (patterns, terms, joins).

PERF: one document costs its own keys, not the image's slots: a slot none of whose keys is in
the document keeps the rank it has for the empty one. A batch goes column by column.

Invariant: every way gives `slot.constants.rank(run(slot.program, document))`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.columns import Column, Frame, Thresholds, column_ranks, distinct, find, frame_of, n_rows_of
from profilec.runtime.image import Image, Int32, Slot
from profilec.runtime.program import Document, Parts, attributes_read, run
from profilec.values.kinds import DocumentError, Value, from_document
from profilec.values.paths import elements_of, lookup
from profilec.values.types import read_as

_Distinct: TypeAlias = "tuple[list[Value], NDArray[np.int64]]"
"""Values, and each row's position among them."""
_MAX_CELLS = 4_000_000
_MAX_ROWS = 16_384


class Encoded:
    """Some documents in rank space: `ranks[i]` are those of document `first + i`."""

    __slots__ = ("_names", "_rows", "_values", "first", "ranks")

    def __init__(
        self, ranks: Int32, rows: Sequence[Document] | Frame, first: int, values: dict[int, _Distinct], names: list[str]
    ) -> None:
        self.ranks = ranks
        self.first = first
        self._rows = rows
        self._values = values
        self._names = names

    def document(self, number: int) -> Document:
        """The document; of a table's row, the columns that profiles use."""
        if isinstance(self._rows, Frame):
            self._rows = self._rows.rows(self._names)
        return self._rows[number]

    def value(self, number: int, slot: Slot, slot_number: int) -> Value:
        """The slot's value in document `first + number`."""
        column = self._values.get(slot_number)
        if column is None:
            value: Value = run(slot.program, self.document(number))
            return value
        values, positions = column
        return values[int(positions[number])]


class _Use(NamedTuple):
    """What one key of a document decides: plain slots, derived slots, attributes of terms and joins."""

    plain: list[tuple[int, Slot]]
    derived: list[int]
    others: list[Parts]


class Encoder:
    """Encodes documents for one image. Safe to share between threads."""

    def __init__(self, image: Image) -> None:
        self._slots = image.slots
        self._with_patterns = {pattern.slot for pattern in image.patterns}
        self._reads = [attributes_read(slot.program) for slot in image.slots]
        others: dict[Parts, None] = {}
        for program in (*image.terms, *((("exists", join),) for join in image.joins)):
            others.update(attributes_read(program))
        self._others = tuple(others)
        self._uses: dict[str, _Use] = {}
        for number, slot in enumerate(image.slots):
            if slot.parts is not None and len(slot.parts) == 1:
                self._use(slot.parts[0]).plain.append((number, slot))
            else:
                for key in dict.fromkeys(key for parts in self._reads[number] for key in _keys(parts)):
                    self._use(key).derived.append(number)
        for parts in others:
            for key in _keys(parts):
                self._use(key).others.append(parts)
        self._names = list(self._uses)
        self._thresholds: list[Thresholds] = [{} for _ in image.slots]
        self._absent = np.array([slot.constants.rank(run(slot.program, {})) for slot in image.slots], np.int32)

    def _use(self, key: str) -> _Use:
        return self._uses.setdefault(key, _Use([], [], []))

    def encode(self, document: Document) -> Int32:
        """The ranks of one document.

        Raises:
            DocumentError: it is no mapping, or an attribute that a profile uses holds a value of no kind.
        """
        if not isinstance(document, Mapping):
            raise DocumentError(f"a document is a mapping of attribute to value, not {type(document).__name__}")
        ranks = self._absent.copy()
        derived: dict[int, None] = {}
        uses = self._uses
        for key in document if len(document) <= len(uses) else uses:
            use = uses.get(key)
            if use is None or key not in document:
                continue
            if use.plain:
                value = lookup(document, (key,))
                for number, slot in use.plain:
                    ours = value if slot.type_ is None else read_as(value, slot.type_)
                    ranks[number] = slot.constants.rank(ours)
            if use.derived:
                derived.update(dict.fromkeys(use.derived))
            for parts in use.others:
                elements_of(lookup(document, parts))
        for number in derived:
            slot = self._slots[number]
            ranks[number] = slot.constants.rank(run(slot.program, document))
        return ranks

    def chunk_size(self, n_documents: int, n_parts: int) -> int:
        """Documents per chunk: few enough for memory, and for each of the parts to have its own."""
        by_memory = min(_MAX_ROWS, _MAX_CELLS // max(1, len(self._slots)))
        return max(1, min(by_memory, -(-n_documents // max(1, n_parts))))

    def encode_part(self, documents: Any, start: int, stop: int) -> Encoded:
        """The documents `start` to `stop` of a batch: a sequence of documents, or a table that `n_rows_of` knows.

        Raises:
            DocumentError: as `encode` does, naming the document; or a column that a profile uses has a type that
                no document's value can have, naming the column.
        """
        if n_rows_of(documents) is not None:
            return self._encode_frame(frame_of(documents, start, stop, self._uses), start)
        rows = documents[start:stop]
        ranks = np.empty((len(rows), len(self._slots)), np.int32)
        for number, document in enumerate(rows):
            try:
                ranks[number] = self.encode(document)
            except DocumentError as error:
                raise DocumentError(f"document {start + number}: {error}") from None
        return Encoded(ranks, rows, start, {}, self._names)

    def _encode_frame(self, frame: Frame, first: int) -> Encoded:
        ranks = np.empty((frame.n_rows, len(self._slots)), np.int32)
        values: dict[int, _Distinct] = {}
        rows: list[dict[str, Any]] | None = None
        reads = dict.fromkeys((*(parts for read in self._reads for parts in read), *self._others))
        found = {parts: find(frame, parts) for parts in reads}
        for parts in self._others:
            _check_values(parts, found[parts])
        for number, slot in enumerate(self._slots):
            columns = {parts: found[parts] for parts in self._reads[number]}
            if not any(columns.values()):
                ranks[:, number] = self._absent[number]
            elif slot.parts is not None and number not in self._with_patterns:
                ranks[:, number] = self._plain_ranks(columns[slot.parts], number, slot)
            elif (told := _by_distinct(slot, columns)) is not None:
                of_value = np.array([slot.constants.rank(value) for value in told[0]], np.int32)
                ranks[:, number] = of_value[told[1]]
                values[number] = told
            else:
                rows = frame.rows(self._names) if rows is None else rows
                ranks[:, number] = [slot.constants.rank(run(slot.program, row)) for row in rows]
        return Encoded(ranks, frame if rows is None else rows, first, values, self._names)

    def _plain_ranks(self, columns: list[Column], number: int, slot: Slot) -> Int32:
        """NULL: where the column of that very name is NULL, the path is asked."""
        cache = self._thresholds[number]
        try:
            ranks = column_ranks(columns[0], slot.constants, slot.type_, cache)
            for column in columns[1:]:
                ranks = np.where(ranks == 0, column_ranks(column, slot.constants, slot.type_, cache), ranks)
        except DocumentError as error:
            raise DocumentError(f"attribute {slot.name!r}: {error}") from None
        return ranks


def _by_distinct(slot: Slot, columns: dict[Parts, list[Column]]) -> _Distinct | None:
    """The slot's value for each distinct value of the one column it depends on; None where that is not how it is."""
    if len(columns) != 1:
        return None
    ((parts, found),) = columns.items()
    told = distinct(found[0]) if len(found) == 1 else None
    if told is None:
        return None
    name = ".".join(parts)
    return [run(slot.program, {name: value}) for value in told[0]], told[1]


def _check_values(parts: Parts, columns: list[Column]) -> None:
    """A value of no kind is an error whether or not a term comes to be asked about it."""
    for column in columns:
        if isinstance(column, list):
            try:
                for value in column:
                    elements_of(from_document(value))
            except DocumentError as error:
                raise DocumentError(f"attribute {'.'.join(parts)!r}: {error}") from None


def _keys(parts: Parts) -> tuple[str, ...]:
    """The keys of a document that decide the attribute."""
    return tuple(dict.fromkeys((parts[0], ".".join(parts))))
