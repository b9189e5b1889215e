"""Rows in workers, on both sides of a join: documents become rows of a relation, and new rows get their keys.

In: batches of rows. Out: batches of keys, and of what is aggregated or compared; see `relations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from profilec.runtime.columns import frame_of
from profilec.runtime.joins.conjuncts import Comparison
from profilec.runtime.joins.new import NewDocuments
from profilec.runtime.program import Instruction, Program
from profilec.runtime.store.columns import OTHER
from profilec.spark.join_keys import Key, joined_key, key_of, keys_of
from profilec.spark.relations import BITS_OF_WORD, Filter, Relation
from profilec.values.compare import sign_satisfies
from profilec.values.kinds import kind_of

_SALTS = 4_096


def new_documents(documents: Any) -> NewDocuments:
    """Documents, as `Binding.documents` gives them, as expressions are asked of them."""
    if isinstance(documents, list):
        return NewDocuments(len(documents), None, documents.__getitem__)
    frame = frame_of(documents, 0, documents.num_rows)
    rows: list[dict[str, Any]] = []

    def row(number: int) -> dict[str, Any]:
        if not rows:
            rows.extend(frame.rows(frame.columns))
        return rows[number]

    return NewDocuments(frame.n_rows, frame, row)


def holding(documents: NewDocuments, condition: Program) -> NDArray[np.bool_]:
    """The documents of which a condition is TRUE."""
    values, positions = documents.distinct(condition)
    found = np.array([value is True for value in values], np.bool_)
    return found if positions is None else found[positions]


def lookup_keys(documents: NewDocuments, keys: Sequence[Key], asked: NDArray[np.bool_]) -> pa.Array:
    """The keys of new rows. What equals nothing, or is not asked, gets some key that no document has: keys of NULL
    would all be sent to one task."""
    columns = [key.of(documents) for key in keys]
    found: list[bytes | None] = [joined_key(row) for row in zip(*columns, strict=True)]
    return pa.array(
        [
            _salt(number) if key is None or not is_asked else key
            for number, (key, is_asked) in enumerate(zip(found, asked.tolist(), strict=True))
        ],
        pa.binary(),
    )


def _salt(number: int) -> bytes:
    return b"\xff" + (number % _SALTS).to_bytes(2, "big")


class _Coded(NamedTuple):
    """Keys as numbers of the distinct ones."""

    numbers: dict[bytes | None, int]
    codes: NDArray[np.int64]

    def satisfying(self, comparison: Comparison, other: bytes | None) -> NDArray[np.bool_]:
        """Of which documents `value operator other` holds."""
        if comparison.operator == "=" and not comparison.or_other:
            equal: NDArray[np.bool_] = self.codes == (-1 if other is None else self.numbers.get(other, -1))
            return equal
        return np.array([keys_satisfy(comparison, key, other) for key in self.numbers], np.bool_)[self.codes]


def _coded(keys: list[bytes | None]) -> _Coded:
    numbers: dict[bytes | None, int] = {}
    codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    return _Coded(numbers, codes)


class RelationRows:
    """Makes rows of a relation from documents."""

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        own: dict[int, Program] = {id(program): _alone(program) for program in relation.programs}
        self._alone = own
        """The programs as such over one document. (By identity: `relation` keeps them.)"""
        self._keys = [key._replace(program=own[id(key.program)]) for key in relation.keys]

    def rows(self, documents: NewDocuments, given: pa.StructArray | None) -> pa.RecordBatch:
        """`given`: the documents, where some are collected. Documents that tell nothing have no row."""
        relation = self._relation
        coded: dict[int, _Coded] = {}
        passing = [self._passing(documents, one, coded) for one in relation.filters]
        kinds: dict[int, NDArray[np.int8]] = {}
        keys: dict[int, list[bytes | None]] = {}
        words = np.zeros((relation.n_words, documents.n), np.int64)
        for number, bit in enumerate(relation.bits):
            holds = passing[bit.filter]
            if bit.operand is not None:
                if id(bit.operand) not in kinds:
                    kinds[id(bit.operand)] = self._kinds(documents, bit.operand)
                holds = holds & (kinds[id(bit.operand)] == bit.kind)
            words[number // BITS_OF_WORD] |= holds.astype(np.int64) << number % BITS_OF_WORD
        columns = [pa.array(word) for word in words]
        told = words.any(axis=0)
        for values in relation.values:
            if id(values.operand) not in keys:
                keys[id(values.operand)] = keys_of(documents, self._alone[id(values.operand)])
            column = [
                key if passes and key is not None and key[0] == values.kind else None
                for key, passes in zip(keys[id(values.operand)], passing[values.filter].tolist(), strict=True)
            ]
            columns.append(pa.array(column, pa.binary()))
            told |= np.array([key is not None for key in column], np.bool_)
        for asked in relation.walked:
            assert given is not None
            fields = [given.type.field(number) for number in range(given.type.num_fields)]
            mask = pa.array(~passing[asked])
            columns.append(pa.StructArray.from_arrays(given.flatten(), fields=fields, mask=mask))
            told |= passing[asked]
        if self._keys:
            found = [joined_key(row) for row in zip(*(key.of(documents) for key in self._keys), strict=True)]
            columns.insert(0, pa.array(found, pa.binary()))
            told &= np.array([key is not None for key in found], np.bool_)
        batch = pa.RecordBatch.from_arrays(columns, names=relation_columns(relation))
        return batch if told.all() else batch.filter(pa.array(told))

    def _passing(self, documents: NewDocuments, one: Filter, coded: dict[int, _Coded]) -> NDArray[np.bool_]:
        holds = np.ones(documents.n, np.bool_)
        if one.condition is not None:
            holds = holding(documents, self._alone[id(one.condition)])
        for comparison, constant in one.constants:
            assert comparison.old is not None
            program = self._alone[id(comparison.old)]
            if id(program) not in coded:
                coded[id(program)] = _coded(keys_of(documents, program))
            holds = holds & coded[id(program)].satisfying(comparison, key_of(constant))
        return holds

    def _kinds(self, documents: NewDocuments, operand: Program) -> NDArray[np.int8]:
        values, positions = documents.distinct(self._alone[id(operand)])
        kinds = np.array([kind_of(value) for value in values], np.int8)
        return kinds if positions is None else kinds[positions]


def relation_columns(relation: Relation) -> list[str]:
    """The names of the columns of its rows."""
    return [
        *(["key"] if relation.keys else []),
        *(f"w{number}" for number in range(relation.n_words)),
        *(f"v{number}" for number in range(len(relation.values))),
        *(f"d{number}" for number in range(len(relation.walked))),
    ]


def keys_satisfy(comparison: Comparison, old: bytes | None, other: bytes | None) -> bool:
    """Whether `old operator other` holds of the values that have these keys."""
    if old is None or other is None or old[0] != other[0]:
        return comparison.or_other
    if comparison.operator == OTHER:
        return False
    return sign_satisfies(comparison.operator, (old > other) - (old < other))


def _alone(program: Program) -> Program:
    """A program over the earlier document as one over the only document there is."""
    return tuple(_alone_step(step) for step in program)


def _alone_step(step: Instruction) -> Instruction:
    if step[0] == "attribute" and step[1] == 1:
        return (step[0], 0, *step[2:])
    return (step[0], _alone(step[1])) if step[0] in ("some", "every") else step
