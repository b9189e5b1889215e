"""Many documents of Python's own, encoded key by key.

In: a sequence of mappings. Out: `sparse` documents. The values of a key are gathered from all
documents, so that each distinct string is told of once, whole numbers and floats are ranked by a
kernel, and what a slot needs stays in the processor's cache.

Invariant: a document gives what it gives alone (`encode`). Values are taken for the same only where
they are strings or missing, or all of one of the other types: `True == 1 == 1.0` are three kinds of value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.columns import rank_words
from profilec.runtime.image import Int32
from profilec.runtime.program import Document, Parts
from profilec.runtime.ranking import MatchingEach, PreparedSlot, Ranking, Told, joined_matching
from profilec.runtime.rows import ABSENT, Absent, Rows, words_of
from profilec.runtime.sparse import Sparse
from profilec.values.kinds import expect_mapping
from profilec.values.paths import elements_of, lookup

_FEW = 24
"""PERF: so many values are told of one by one; to make arrays of them takes longer."""
_DENSE = 2
"""Keys, for each key that documents have, up to which it is looked for each of them in each document."""
_TEXT = frozenset({str, type(None)})
_NO_ARRAY = frozenset({str, type(None), bool, int, float})


Rest: TypeAlias = tuple[tuple[PreparedSlot, ...], tuple[PreparedSlot, ...], tuple[Parts, ...]]
"""More that a key decides: slots that nothing else decides, slots that others decide too, attributes of terms."""
Use: TypeAlias = tuple[int, Ranking | None, Rest | None]
"""What a key of a document decides: the number and ranking of a slot that is its value, without patterns; and more.

PERF: no class of its own, for to take a plain tuple apart costs a quarter; what most keys have comes first.
"""


class _Column(NamedTuple):
    """A key of documents: of those that have it the numbers, ascending, and the values; the types of these."""

    numbers: list[int]
    values: list[Any]
    kinds: set[type]


def items_of(document: Document, keys: Collection[str]) -> Iterable[tuple[str, Any]]:
    """The items of the document, among them all that have one of the keys.

    Raises:
        DocumentError: it is no mapping.
    """
    expect_mapping(document)
    if len(document) <= len(keys):
        return document.items()
    return [(key, document[key]) for key in keys if key in document]


def encode_rows(rows: Rows, uses: Mapping[str, Use], always: Iterable[PreparedSlot]) -> Sparse:
    """The documents; `always` are the slots that have a rank where nothing that they read is there.

    Raises:
        DocumentError: in one of the documents; which, it does not say.
    """
    columns = _columns(rows, uses)
    scattered = _Scattered(len(rows))
    shared: dict[PreparedSlot, None] = {}
    not_text: set[str] = set()
    everyone = np.arange(len(rows), dtype=np.int32)
    for key, (numbers, values, kinds) in columns.items():
        slot_number, ranking, rest = uses[key]
        single, more, checked = rest or ((), (), ())
        shared.update(dict.fromkeys(more))
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
            in_all = len(numbers) == len(rows)
            own = everyone if in_all else np.array(numbers, np.int32)
            words = None if plain is None else rows.words(key) if in_all and rows.are_dicts else words_of(values, kinds)
            _encode_column(own, values, words, kinds, plain, single, scattered)
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


def _columns(rows: Rows, uses: Mapping[str, Use]) -> dict[str, _Column]:
    if rows.are_dicts and len(uses) * len(rows) <= _DENSE * rows.n_items:
        return _columns_by_key(rows, uses)
    found: dict[str, tuple[list[int], list[Any]]] = {}
    known = found.get
    for number, document in enumerate(rows):
        for key, value in items_of(document, uses):
            column = known(key)
            if column is None:
                if key not in uses:
                    continue
                column = found[key] = ([], [])
            column[0].append(number)
            column[1].append(value)
    return {key: _Column(numbers, values, set(map(type, values))) for key, (numbers, values) in found.items()}


def _columns_by_key(rows: Rows, keys: Iterable[str]) -> dict[str, _Column]:
    """PERF: of dicts with most of the keys, in a quarter of the time."""
    columns: dict[str, _Column] = {}
    everyone = list(range(len(rows)))
    for key in keys:
        values, kinds = rows.values(key)
        numbers = everyone
        if Absent in kinds:
            numbers = [number for number, value in enumerate(values) if value is not ABSENT]
            values, kinds = [values[number] for number in numbers], kinds - {Absent}
        if numbers:
            columns[key] = _Column(numbers, values, kinds)
    return columns


def _present(slot: PreparedSlot, columns: Mapping[str, _Column]) -> list[int]:
    """The documents that have a key that decides the slot."""
    found = [columns[key].numbers for key in slot.keys if key in columns]
    return found[0] if len(found) == 1 else sorted(set(chain.from_iterable(found)))


def _in_both(left: str, right: str, columns: Mapping[str, _Column]) -> list[int]:
    """The documents that have both keys. NULL: a string and nothing at all do not compare."""
    if left not in columns or right not in columns:
        return []
    return sorted(set(columns[left].numbers).intersection(columns[right].numbers))


def _encode_column(
    numbers: Int32,
    values: list[Any],
    words: NDArray[Any] | None,
    kinds: set[type],
    plain: tuple[int, Ranking] | None,
    single: Iterable[PreparedSlot],
    scattered: _Scattered,
) -> None:
    if plain is not None and words is not None:
        ranks = np.empty(len(values), np.int32)
        rank_words(words, plain[1], ranks)
        scattered.add(numbers, plain[0], ranks)
        plain = None
    if plain is not None:
        scattered.add(numbers, plain[0], _ranks(values, kinds, plain[1]))
    if not single:
        return
    distinct: Collection[Any] = values
    codes: NDArray[np.int64] | None = None
    if _has_equals(kinds):
        distinct = dict.fromkeys(values)
        codes = _codes(values, distinct)
    for slot in single:
        told, matching = slot.tell_each(distinct, only_text=kinds <= _TEXT)
        ranks = np.array(told, np.int32)
        scattered.add(numbers, slot.number, ranks if codes is None else ranks[codes])
        scattered.add_matching(numbers, codes, matching)


def _has_equals(kinds: set[type]) -> bool:
    """Whether values of these types are the same where they are equal."""
    return kinds <= _TEXT or kinds in ({int}, {bool})


def _ranks(values: list[Any], kinds: set[type], ranking: Ranking) -> Int32:
    rank_of: Callable[[Any], int] = ranking.rank_of
    if kinds == {str} and ranking.is_ready:
        rank_of = ranking.of_string.__getitem__
    elif _has_equals(kinds):
        rank_of = {value: rank_of(value) for value in set(values)}.__getitem__
    return np.fromiter(map(rank_of, values), np.int32, len(values))


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
