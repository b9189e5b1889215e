"""Many documents of Python's own, encoded key by key.

In: a sequence of mappings. Out: `sparse` documents. The values of a key are gathered from all
documents, so that each distinct string is told of once, whole numbers and floats are ranked by a
kernel, and what a slot needs stays in the processor's cache.

Invariant: a document gives what it gives alone (`encode`). Values are taken for the same only where
they are strings or missing, or all are integers: `True == 1 == 1.0` are three kinds of value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.columns import rank_words
from profilec.runtime.image import Int32
from profilec.runtime.program import Document, Parts
from profilec.runtime.ranking import MatchingEach, PreparedSlot, Ranking, Told, joined_matching
from profilec.runtime.sparse import Sparse
from profilec.values.kinds import expect_mapping
from profilec.values.paths import elements_of, lookup

_FEW = 24
"""PERF: so many values are told of one by one; to make arrays of them takes longer."""
_TEXT = frozenset({str, type(None)})
_NO_ARRAY = frozenset({str, type(None), bool, int, float})


Rest: TypeAlias = tuple[tuple[PreparedSlot, ...], tuple[PreparedSlot, ...], tuple[Parts, ...]]
"""More that a key decides: slots that nothing else decides, slots that others decide too, attributes of terms."""
Use: TypeAlias = tuple[int, Ranking | None, Rest | None]
"""What a key of a document decides: the number and ranking of a slot that is its value, without patterns; and more.

PERF: no class of its own, for to take a plain tuple apart costs a quarter; what most keys have comes first.
"""
_Column: TypeAlias = tuple[list[int], list[Any]]
"""The documents that have a key, by number, ascending; and its value in each."""


def items_of(document: Document, keys: Collection[str]) -> Iterable[tuple[str, Any]]:
    """The items of the document, among them all that have one of the keys.

    Raises:
        DocumentError: it is no mapping.
    """
    expect_mapping(document)
    if len(document) <= len(keys):
        return document.items()
    return [(key, document[key]) for key in keys if key in document]


def encode_rows(rows: Sequence[Document], uses: Mapping[str, Use], always: Iterable[PreparedSlot]) -> Sparse:
    """The documents; `always` are the slots that have a rank where nothing that they read is there.

    Raises:
        DocumentError: in one of the documents; which, it does not say.
    """
    columns = _columns(rows, uses)
    scattered = _Scattered(len(rows))
    shared: dict[PreparedSlot, None] = {}
    not_text: set[str] = set()
    for key, (numbers, values) in columns.items():
        slot_number, ranking, rest = uses[key]
        single, more, checked = rest or ((), (), ())
        shared.update(dict.fromkeys(more))
        kinds = set(map(type, values))
        if not kinds <= _TEXT:
            not_text.add(key)
        if checked and not kinds <= _NO_ARRAY:
            for number in numbers:
                for parts in checked:
                    elements_of(lookup(rows[number], parts))
        if len(values) < _FEW:
            for number, value in zip(numbers, values, strict=True):
                if ranking is not None:
                    scattered.tell(number, slot_number, (ranking.rank_of(value), ()))
                for slot in single:
                    scattered.tell(number, slot.number, slot.tell(value))
        else:
            plain = None if ranking is None else (slot_number, ranking)
            _encode_column(np.array(numbers, np.int32), values, kinds, plain, single, scattered)
    for slot in shared:
        if slot.compares is not None and not_text.isdisjoint(slot.compares):
            numbers = _in_both(*slot.compares, columns)
        else:
            numbers = _present(slot, columns)
        _encode_shared(slot, rows, numbers, scattered)
    for slot in always:
        absent = np.setdiff1d(np.arange(len(rows), dtype=np.int32), np.array(_present(slot, columns), np.int32))
        rank, matching = slot.tell_absent()
        scattered.add(absent, slot.number, np.full(len(absent), rank, np.int32))
        off = np.array([0, len(matching)], np.int64)
        scattered.add_matching(absent, np.zeros(len(absent), np.int64), MatchingEach(off, np.array(matching, np.int32)))
    return scattered.sparse()


def _columns(rows: Sequence[Document], uses: Mapping[str, Use]) -> dict[str, _Column]:
    columns: dict[str, _Column] = {}
    known = columns.get
    for number, document in enumerate(rows):
        for key, value in items_of(document, uses):
            column = known(key)
            if column is None:
                if key not in uses:
                    continue
                column = columns[key] = ([], [])
            column[0].append(number)
            column[1].append(value)
    return columns


def _present(slot: PreparedSlot, columns: Mapping[str, _Column]) -> list[int]:
    """The documents that have a key that decides the slot."""
    found = [columns[key][0] for key in slot.keys if key in columns]
    return found[0] if len(found) == 1 else sorted(set(chain.from_iterable(found)))


def _in_both(left: str, right: str, columns: Mapping[str, _Column]) -> list[int]:
    """The documents that have both keys. NULL: a string and nothing at all do not compare."""
    if left not in columns or right not in columns:
        return []
    return sorted(set(columns[left][0]).intersection(columns[right][0]))


def _encode_column(
    numbers: Int32,
    values: list[Any],
    kinds: set[type],
    plain: tuple[int, Ranking] | None,
    single: Iterable[PreparedSlot],
    scattered: _Scattered,
) -> None:
    words = _words(values, kinds)
    if plain is not None and words is not None:
        ranks = np.empty(len(values), np.int32)
        rank_words(words, plain[1], ranks)
        scattered.add(numbers, plain[0], ranks)
        plain = None
    if plain is None and not single:
        return
    distinct: Collection[Any] = values
    codes: NDArray[np.int64] | None = None
    if kinds <= _TEXT or kinds == {int}:
        distinct = dict.fromkeys(values)
        codes = _codes(values, distinct) if single else None
    if plain is not None:
        rank_of = plain[1].rank_of
        if distinct is not values:
            rank_of = dict(zip(distinct, map(rank_of, distinct), strict=True)).__getitem__
        scattered.add(numbers, plain[0], np.fromiter(map(rank_of, values), np.int32, len(values)))
    for slot in single:
        told, matching = slot.tell_each(distinct, only_text=kinds <= _TEXT)
        ranks = np.array(told, np.int32)
        scattered.add(numbers, slot.number, ranks if codes is None else ranks[codes])
        scattered.add_matching(numbers, codes, matching)


def _words(values: list[Any], kinds: set[type]) -> NDArray[Any] | None:
    """The values as machine words, where all of them are of one type that has some."""
    if kinds == {float}:
        return np.array(values, np.float64)
    if kinds == {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return None
    return None


def _encode_shared(slot: PreparedSlot, rows: Sequence[Document], numbers: list[int], scattered: _Scattered) -> None:
    """Adds a slot that several keys decide, of the documents that have one of them."""
    columns = [[rows[number].get(key) for number in numbers] for key in slot.keys]
    if len(numbers) < _FEW or not all(_TEXT.issuperset(map(type, column)) for column in columns):
        for number in numbers:
            scattered.tell(number, slot.number, slot.tell_of(rows[number]))
        return
    rows_of_slot = np.array(numbers, np.int32)
    if slot.compares is not None:
        lefts, rights = (columns[slot.keys.index(key)] for key in slot.compares)
        signs = [
            None if left is None or right is None else (left > right) - (left < right)
            for left, right in zip(lefts, rights, strict=True)
        ]
        rank_of = {sign: slot.ranking.rank_of(sign) for sign in (None, -1, 0, 1)}
        scattered.add(rows_of_slot, slot.number, np.fromiter(map(rank_of.__getitem__, signs), np.int32, len(signs)))
        return
    texts = list(zip(*columns, strict=True))
    example = dict(zip(texts, numbers, strict=True))
    codes = _codes(texts, example)
    told = [slot.tell_of(rows[number]) for number in example.values()]
    scattered.add(rows_of_slot, slot.number, np.array([rank for rank, _ in told], np.int32)[codes])
    if slot.has_patterns:
        matching = [slots for _, slots in told]
        off = np.cumsum([0, *map(len, matching)], dtype=np.int64)
        slots = np.fromiter(chain.from_iterable(matching), np.int32, int(off[-1]))
        scattered.add_matching(rows_of_slot, codes, MatchingEach(off, slots))


def _codes(values: list[Any], distinct: Iterable[Any]) -> NDArray[np.int64]:
    """Each value's place among the distinct ones."""
    places = {value: place for place, value in enumerate(distinct)}
    return np.fromiter(map(places.__getitem__, values), np.int64, len(values))


class _Scattered:
    """Ranks and patterns of documents, in any order."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._few: tuple[list[int], list[int], list[int]] = ([], [], [])
        self._parts: list[tuple[Int32, int, Int32]] = []
        self._code_parts: list[tuple[Int32, NDArray[np.int64]]] = []
        self._matching: list[MatchingEach] = []
        self._n_codes = 0

    def tell(self, number: int, slot_number: int, told: Told) -> None:
        rank, matching = told
        if rank:
            rows, slots, ranks = self._few
            rows.append(number)
            slots.append(slot_number)
            ranks.append(rank)
            for pseudo_slot in matching:
                rows.append(number)
                slots.append(pseudo_slot)
                ranks.append(1)

    def add(self, numbers: Int32, slot_number: int, ranks: Int32) -> None:
        self._parts.append((numbers, slot_number, ranks))

    def add_matching(self, numbers: Int32, codes: NDArray[np.int64] | None, matching: MatchingEach) -> None:
        """Document `numbers[j]` has the pseudo-slots of value `codes[j]`, or j, of `matching`."""
        if len(matching.slots):
            codes = np.arange(len(numbers)) if codes is None else codes
            self._code_parts.append((numbers, codes + self._n_codes))
            self._matching.append(matching)
            self._n_codes += len(matching.off) - 1

    def sparse(self) -> Sparse:
        from profilec.runtime.encode_kernels import count_scattered, fill_scattered

        rows, slots, ranks = (np.array(part, np.int32) for part in self._few)
        lengths = [len(rows), *(len(part[0]) for part in self._parts)]
        rows = np.concatenate([rows, *(part[0] for part in self._parts)])
        slots = np.concatenate([slots, np.repeat(np.array([part[1] for part in self._parts], np.int32), lengths[1:])])
        ranks = np.concatenate([ranks, *(part[2] for part in self._parts)])
        code_rows = np.concatenate([np.empty(0, np.int32), *(part[0] for part in self._code_parts)])
        codes = np.concatenate([np.empty(0, np.int64), *(part[1] for part in self._code_parts)])
        code_off, code_slots = joined_matching(self._matching)
        doc_off = np.empty(self._n_rows + 1, np.int64)
        count_scattered(rows, ranks, code_rows, codes, code_off, doc_off)
        doc_slots, doc_ranks = np.empty(doc_off[-1], np.int32), np.empty(doc_off[-1], np.int32)
        ends = doc_off[:-1].copy()
        fill_scattered(rows, slots, ranks, code_rows, codes, code_off, code_slots, ends, doc_slots, doc_ranks)
        return Sparse(doc_off, doc_slots, doc_ranks)
