"""Documents to ranks: of each document the slots whose rank is not 0, and the patterns that match.

In: an image, and a document or a batch of them (list of dicts, Arrow table or record batch,
pandas frame). Out: *sparse documents*, what kernels read (`sparse`).

PERF: one document costs its own keys, not the image's slots: a slot none of whose keys is in
the document keeps the rank it has for the empty one. Documents of one shape are encoded alike
(`document_shapes`). A table goes column by column.

Invariant: every way gives `slot.constants.rank(run(slot.program, document))`, and exactly the patterns that match.
"""

from __future__ import annotations

import struct
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import getitem
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from profilec.runtime.columns import Frame, frame_of, n_rows_of
from profilec.runtime.document_shapes import MOST_KEYS, Shape, Shapes, Words
from profilec.runtime.encode_rows import Use, encode_rows, items_of
from profilec.runtime.image import Image, Int32, Pattern
from profilec.runtime.indexes.patterns_by_name import pattern_index_of
from profilec.runtime.program import Document, Parts, attributes_read
from profilec.runtime.ranking import PreparedSlot, Told, keys_of
from profilec.runtime.rows import Rows
from profilec.runtime.sparse import Sparse, concatenate, encode_frame
from profilec.values.kinds import DocumentError
from profilec.values.paths import elements_of, lookup

SparseDocument: TypeAlias = tuple[Int32, Int32, int]
"""Slots, their ranks, and how many of each count."""
_MAX_CELLS = 4_000_000
_MAX_ROWS = 16_384
_FEW_ROWS = 1_000
_MOST_REMEMBERED = 16_384
_MAX_REMEMBERED = 200
"""PERF: of so many strings in all, up to so many characters, it is remembered which patterns of a key match them."""


class SparseBatch:
    """Some documents in rank space: CSR arrays (`sparse`). Document i of them is document `first + i` of all."""

    __slots__ = ("_documents", "_names", "_rows", "doc_off", "doc_ranks", "doc_slots", "first")

    def __init__(self, sparse: Sparse, rows: Sequence[Document] | Frame, first: int, names: Iterable[str]) -> None:
        self.doc_off, self.doc_slots, self.doc_ranks = sparse
        self.first = first
        self._rows = rows
        self._names = names
        self._documents: Sequence[Document] | None = None

    def __len__(self) -> int:
        return len(self.doc_off) - 1

    def document(self, number: int) -> Document:
        """The document; of a table's row, the columns that profiles use."""
        if self._documents is None:
            self._documents = self._rows.rows(self._names) if isinstance(self._rows, Frame) else self._rows
        return self._documents[number]

    def frame(self, start: int, stop: int) -> Frame | None:
        """Some documents as the table they are of; None where they are mappings."""
        if not isinstance(self._rows, Frame):
            return None
        if start == 0 and stop == self._rows.n_rows:
            return self._rows
        columns = {name: column[start:stop] for name, column in self._rows.columns.items()}
        return Frame(stop - start, columns, self._rows.duplicates)

    def rows(self, names: Iterable[str]) -> Sequence[Document]:
        """The documents; of a table's rows, those of the columns named that it has."""
        return self._rows.rows(names) if isinstance(self._rows, Frame) else self._rows


class _Arrays(NamedTuple):
    """`data` is the memory of `words`. PERF: to write into it takes less time than into an array."""

    slots: Int32
    ranks: Int32
    words: Words
    data: bytearray


class _Own(threading.local):
    """Each thread's own arrays for one document."""

    def __init__(self, n: int) -> None:
        data = bytearray(8 * max(1, n))
        self.arrays = _Arrays(np.empty(n, np.int32), np.empty(n, np.int32), np.frombuffer(data, np.int64), data)


class _Packers(dict[int, Callable[..., None]]):
    """What writes n integers into an array. PERF: half the time that assigning a list to its slice takes."""

    def __missing__(self, n: int) -> Callable[..., None]:
        packer = self[n] = struct.Struct(f"={n}i").pack_into
        return packer


_PACKERS = _Packers()


class Encoder:
    """Encodes documents for one image. Safe to share between threads."""

    def __init__(self, image: Image, pattern_index: Mapping[str, str] | None = None) -> None:
        """`pattern_index`: names of pattern indexes by attribute (`indexes.patterns_by_name`)."""
        n_slots = len(image.slots)
        patterns: dict[int, list[tuple[int, Pattern]]] = {}
        for number, pattern in enumerate(image.patterns):
            patterns.setdefault(pattern.slot, []).append((n_slots + number, pattern))
        names = pattern_index or {}
        self._slots = [
            PreparedSlot(number, slot, patterns.get(number, ()), pattern_index_of(slot, names))
            for number, slot in enumerate(image.slots)
        ]
        self._own = _Own(n_slots + len(image.patterns))
        self._always = tuple(slot for slot in self._slots if slot.absent)
        checked: dict[Parts, None] = {}
        for program in (*image.terms, *((("exists", join),) for join in image.joins)):
            checked.update(attributes_read(program))
        self._checked = tuple(checked)
        self._uses = self._uses_of_keys()
        self._remembered: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
        self._shapes = Shapes(self._uses, self._always)

    def _uses_of_keys(self) -> dict[str, Use]:
        plain: dict[str, PreparedSlot] = {}
        single: dict[str, list[PreparedSlot]] = {}
        shared: dict[str, list[PreparedSlot]] = {}
        checked: dict[str, list[Parts]] = {}
        for slot in self._slots:
            if len(slot.keys) == 1:
                (key,) = slot.keys
                is_plain = slot.slot.parts is not None and not slot.has_patterns
                if is_plain and plain.setdefault(key, slot) is slot:
                    continue
                single.setdefault(key, []).append(slot)
            else:
                for key in slot.keys:
                    shared.setdefault(key, []).append(slot)
        for parts in self._checked:
            for key in keys_of(parts):
                checked.setdefault(key, []).append(parts)
        uses: dict[str, Use] = {}
        for key in dict.fromkeys((*plain, *single, *shared, *checked)):
            rest = tuple(single.get(key, ())), tuple(shared.get(key, ())), tuple(checked.get(key, ()))
            slot_of_key = plain.get(key)
            number, ranking = (-1, None) if slot_of_key is None else (slot_of_key.number, slot_of_key.ranking)
            uses[key] = number, ranking, rest if any(rest) else None
        return uses

    def prepare_as(self, other: Encoder) -> None:
        """Prepares what the documents that another encoder met made it prepare, so that none has to wait for it."""
        ready = {slot.slot.name for slot in other._slots if slot.ranking.is_ready}
        for slot in self._slots:
            if slot.slot.name in ready:
                slot.ranking.prepared()
        for key, shape in list(other._shapes.known.items()):
            if type(shape) is Shape:
                self._shapes.meet(key, 0)

    def encode_sparse(self, document: Document) -> SparseDocument:
        """One document. The arrays are this thread's own, and hold until it encodes the next one.

        Raises:
            DocumentError: it is no mapping, or an attribute that a profile uses holds a value of no kind.
        """
        if type(document) is dict and len(document) <= MOST_KEYS:
            encoded = self._encode_by_shape(document)
            if encoded is not None:
                return encoded
        return self._packed(*self._told(document), 0)

    def _encode_by_shape(self, document: dict[str, Any]) -> SparseDocument | None:
        """None where the general way is to be gone."""
        values = tuple(document.values())
        key = tuple(document), tuple(map(type, values))
        shapes = self._shapes
        try:
            shape = shapes.known.get(key)
        except TypeError:  # a class of classes may be without a hash
            return None
        if type(shape) is not Shape and (shape := shapes.meet(key, shape)) is None:
            return None
        own = self._own.arrays
        try:
            shape.pack(own.data, 0, *shape.numbers(values), *map(getitem, shape.tables, shape.looked_up(values)))
        except struct.error:  # an integer of more than 64 bits
            return None
        if not shape.rank(own.words, shape.steps, shapes.thresholds, own.ranks):
            return None
        if not shape.other_keys:
            return shape.slots, own.ranks, shape.n_slots
        own.slots[: shape.n_slots] = shape.slots
        slots: list[int] = []
        ranks: list[int] = []
        self._tell(document, zip(shape.other_keys, shape.others(values), strict=True), shape.uses, slots, ranks)
        return self._packed(slots, ranks, shape.n_slots)

    def _packed(self, slots: list[int], ranks: list[int], start: int) -> SparseDocument:
        """These, after the `start` that are in this thread's arrays already."""
        own = self._own.arrays
        pack = _PACKERS[len(slots)]
        pack(own.slots, 4 * start, *slots)
        pack(own.ranks, 4 * start, *ranks)
        return own.slots, own.ranks, start + len(slots)

    def encode_batch(self, documents: Any, start: int, stop: int) -> SparseBatch:
        """The documents `start` to `stop` of a batch: a sequence of documents, or a table that `n_rows_of` knows.

        Raises:
            DocumentError: as `encode_sparse` does, naming the document; or a column that a profile uses has a type that
                no document's value can have, naming the column.
        """
        if n_rows_of(documents) is None:
            rows = documents.part(start, stop) if isinstance(documents, Rows) else Rows(documents[start:stop])
            return SparseBatch(self._encode_rows(rows, start), rows, start, ())
        frame = frame_of(documents, start, stop, self._uses)
        touched = set(self._always)
        for number, ranking, rest in map(self._uses.__getitem__, frame.columns):
            if ranking is not None:
                touched.add(self._slots[number])
            if rest is not None:
                touched.update(*rest[:2])
        slots = sorted(touched, key=lambda slot: slot.number)
        checked = [parts for parts in self._checked if not frame.columns.keys().isdisjoint(keys_of(parts))]
        n_rows = max(1, _MAX_CELLS // max(1, len(slots)))
        frames = [frame]
        if frame.n_rows > n_rows:
            frames = [frame_of(documents, at, min(at + n_rows, stop), self._uses) for at in range(start, stop, n_rows)]
        parts = [encode_frame(part, slots, self._uses, checked) for part in frames]
        return SparseBatch(concatenate(parts), frame, start, self._uses)

    def chunk_size(self, n_documents: int, n_parts: int) -> int:
        """Documents per chunk: few enough for memory, and for each of the parts to have its own."""
        return max(1, min(_MAX_ROWS, -(-n_documents // max(1, n_parts))))

    def _encode_rows(self, rows: Rows, first: int) -> Sparse:
        try:
            if len(rows) <= _FEW_ROWS and "profilec.runtime.kernels" not in sys.modules:
                return self._encode_few(rows)
            return encode_rows(rows, self._uses, self._always)
        except DocumentError:
            for number, document in enumerate(rows):
                try:
                    self.encode_sparse(document)
                except DocumentError as error:
                    raise DocumentError(f"document {first + number}: {error}") from None
            raise

    def _encode_few(self, rows: Sequence[Document]) -> Sparse:
        """One by one. PERF: a few documents take less time so than Numba takes to be loaded."""
        all_slots: list[int] = []
        all_ranks: list[int] = []
        off = [0]
        for row in rows:
            slots, ranks = self._told(row)
            all_slots += slots
            all_ranks += ranks
            off.append(len(all_slots))
        return Sparse(np.array(off, np.int64), np.array(all_slots, np.int32), np.array(all_ranks, np.int32))

    def _told(self, document: Document) -> tuple[list[int], list[int]]:
        """One document's slots and their ranks."""
        slots: list[int] = []
        ranks: list[int] = []
        self._tell(document, items_of(document, self._uses), self._uses, slots, ranks)
        for slot in self._always:
            if not any(key in document for key in slot.keys):
                _add(slot.number, slot.tell_absent(), slots, ranks)
        return slots, ranks

    def _told_alone(self, key: str, value: Any, single: Iterable[PreparedSlot]) -> tuple[list[int], list[int]]:
        """What the slots are that nothing but the value of a key decides: those that have a rank, and the ranks."""
        to_remember = type(value) is str and len(value) <= _MAX_REMEMBERED
        told = self._remembered.get((key, value)) if to_remember else None
        if told is None:
            told = [], []
            for slot in single:
                _add(slot.number, slot.tell(value), *told)
            if to_remember:
                if len(self._remembered) >= _MOST_REMEMBERED:
                    self._remembered.clear()
                self._remembered[key, value] = told
        return told

    def _tell(
        self,
        document: Document,
        items: Iterable[tuple[str, Any]],
        uses: Mapping[str, Use],
        slots: list[int],
        ranks: list[int],
    ) -> None:
        """Adds the slots that items of the document decide.

        PERF: most keys are one slot's value, without patterns. Of these, strings that are constants and integers near
        constants are ranked here, since a call of Python's takes longer than that does.
        """
        find = uses.get
        shared: dict[PreparedSlot, None] | None = None
        for key, value in items:
            use = find(key)
            if use is None:
                continue
            number, ranking, rest = use
            if ranking is not None:
                kind = type(value)
                rank = None
                if kind is str:
                    rank = ranking.of_string[value]
                elif kind is int:
                    least, n_table, table = ranking.table
                    if 0 <= value - least < n_table:
                        rank = table[value - least]
                if rank is None:
                    try:
                        rank = ranking.rank_of(value)
                    except DocumentError as error:
                        raise DocumentError(f"attribute {key!r}: {error}") from None
                if rank:
                    slots.append(number)
                    ranks.append(rank)
            if rest is not None:
                single, more, checked = rest
                if single:
                    told = self._told_alone(key, value, single)
                    slots += told[0]
                    ranks += told[1]
                if more:
                    shared = {} if shared is None else shared
                    shared.update(dict.fromkeys(more))
                for parts in checked:
                    elements_of(lookup(document, parts))
        for slot in shared or ():
            _add(slot.number, slot.tell_of(document), slots, ranks)


def _add(number: int, told: Told, slots: list[int], ranks: list[int]) -> None:
    """Adds a slot that has a rank, and the pseudo-slots of its patterns."""
    rank, matching = told
    if rank:
        slots.append(number)
        ranks.append(rank)
        slots += matching
        ranks += [1] * len(matching)
