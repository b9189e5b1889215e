"""Documents to ranks: of each document the slots whose rank is not 0, and the patterns that match.

In: an image, and a document or a batch of them (list of dicts, Arrow table or record batch,
pandas frame). Out: *sparse documents*, what kernels read (`sparse`).

PERF: one document costs its own keys, not the image's slots: a slot none of whose keys is in
the document keeps the rank it has for the empty one. A table goes column by column.

Invariant: every way gives `slot.constants.rank(run(slot.program, document))`, and exactly the patterns that match.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from profilec.runtime.columns import Frame, frame_of, n_rows_of
from profilec.runtime.encode_rows import Use, encode_rows, items_of
from profilec.runtime.image import Image, Int32, Pattern
from profilec.runtime.program import Document, Parts, attributes_read
from profilec.runtime.ranking import PreparedSlot, Told, keys_of
from profilec.runtime.sparse import Sparse, concatenate, encode_frame
from profilec.values.kinds import DocumentError
from profilec.values.paths import elements_of, lookup

SparseDocument: TypeAlias = tuple[Int32, Int32, int]
"""Slots, their ranks, and how many of each count."""
_MAX_CELLS = 4_000_000
_MAX_ROWS = 16_384
_FEW_ROWS = 1_000
_NOTHING = np.empty(0, np.int32)


class SparseBatch:
    """Some documents in rank space: CSR arrays (`sparse`). Document i of them is document `first + i` of all."""

    __slots__ = ("_names", "_rows", "doc_off", "doc_ranks", "doc_slots", "first")

    def __init__(self, sparse: Sparse, rows: Sequence[Document] | Frame, first: int, names: Iterable[str]) -> None:
        self.doc_off, self.doc_slots, self.doc_ranks = sparse
        self.first = first
        self._rows = rows
        self._names = names

    def __len__(self) -> int:
        return len(self.doc_off) - 1

    def document(self, number: int) -> Document:
        """The document; of a table's row, the columns that profiles use."""
        if isinstance(self._rows, Frame):
            self._rows = self._rows.rows(self._names)
        return self._rows[number]


class _Buffers(threading.local):
    """Each thread's own arrays for one document, and what writes into them.

    PERF: to set an element through a memoryview takes half the time of an array's own way.
    """

    def __init__(self, n: int) -> None:
        slots, ranks = np.empty(n, np.int32), np.empty(n, np.int32)
        self.arrays = slots, ranks, slots.data, ranks.data


class Encoder:
    """Encodes documents for one image. Safe to share between threads."""

    def __init__(self, image: Image) -> None:
        n_slots = len(image.slots)
        patterns: dict[int, list[tuple[int, Pattern]]] = {}
        for number, pattern in enumerate(image.patterns):
            patterns.setdefault(pattern.slot, []).append((n_slots + number, pattern))
        self._slots = [PreparedSlot(number, slot, patterns.get(number, ())) for number, slot in enumerate(image.slots)]
        self._width = n_slots + len(image.patterns)
        self._buffers = _Buffers(self._width)
        self._always = tuple(slot for slot in self._slots if slot.absent)
        checked: dict[Parts, None] = {}
        for program in (*image.terms, *((("exists", join),) for join in image.joins)):
            checked.update(attributes_read(program))
        self._checked = tuple(checked)
        self._uses = self._uses_of_keys()

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

    def encode_sparse(self, document: Document) -> SparseDocument:
        """One document. The arrays are this thread's own, and hold until it encodes the next one.

        Raises:
            DocumentError: it is no mapping, or an attribute that a profile uses holds a value of no kind.
        """
        slots_array, ranks_array, slots, ranks = self._buffers.arrays
        return slots_array, ranks_array, self._write(document, slots, ranks)

    def encode_batch(self, documents: Any, start: int, stop: int) -> SparseBatch:
        """The documents `start` to `stop` of a batch: a sequence of documents, or a table that `n_rows_of` knows.

        Raises:
            DocumentError: as `encode_sparse` does, naming the document; or a column that a profile uses has a type that
                no document's value can have, naming the column.
        """
        if n_rows_of(documents) is None:
            rows = documents[start:stop]
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

    def _encode_rows(self, rows: Sequence[Document], first: int) -> Sparse:
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
        slots, ranks, sizes = [_NOTHING], [_NOTHING], [0]
        for row in rows:
            own_slots, own_ranks, k = self.encode_sparse(row)
            slots.append(own_slots[:k].copy())
            ranks.append(own_ranks[:k].copy())
            sizes.append(k)
        return Sparse(np.cumsum(sizes, dtype=np.int64), np.concatenate(slots), np.concatenate(ranks))

    def _write(self, document: Document, slots: memoryview, ranks: memoryview) -> int:
        """Writes one document; returns the number of its slots."""
        uses = self._uses
        k = 0
        shared: dict[PreparedSlot, None] | None = None
        for key, value in items_of(document, uses):
            use = uses.get(key)
            if use is None:
                continue
            number, ranking, rest = use
            if ranking is not None:
                try:
                    rank = ranking.rank_of(value)
                except DocumentError as error:
                    raise DocumentError(f"attribute {key!r}: {error}") from None
                if rank:
                    slots[k] = number
                    ranks[k] = rank
                    k += 1
            if rest is not None:
                single, more, checked = rest
                for slot in single:
                    k = _write_slot(slot.number, slot.tell(value), slots, ranks, k)
                if more:
                    shared = {} if shared is None else shared
                    shared.update(dict.fromkeys(more))
                for parts in checked:
                    elements_of(lookup(document, parts))
        if shared is not None:
            for slot in shared:
                k = _write_slot(slot.number, slot.tell_of(document), slots, ranks, k)
        if self._always:
            k = self._write_absent(document, slots, ranks, k)
        return k

    def _write_absent(self, document: Document, slots: memoryview, ranks: memoryview, k: int) -> int:
        """Writes the slots that have a rank though nothing that they read is in the document."""
        for slot in self._always:
            if not any(key in document for key in slot.keys):
                k = _write_slot(slot.number, slot.tell_absent(), slots, ranks, k)
        return k


def _write_slot(number: int, told: Told, slots: memoryview, ranks: memoryview, k: int) -> int:
    """Writes a slot's rank and the pseudo-slots of its patterns from position k on; returns where they end."""
    rank, matching = told
    if rank:
        slots[k] = number
        ranks[k] = rank
        k += 1
        for pseudo_slot in matching:
            slots[k] = pseudo_slot
            ranks[k] = 1
            k += 1
    return k
